"""Completion of commands and options for a shell."""

from __future__ import annotations

import argparse
import importlib.util

from sizeup.cli import COMMANDS, GROUPS
from sizeup.cli.parser import build_parser
from sizeup.errors import UsageError

_FILES = frozenset({"BASELINE", "FILE", "MACHINE", "NEW", "OTHER", "OUT"})


def completion(shell: str) -> str:
    """Return the script for a shell."""
    if importlib.util.find_spec("shtab") is None:
        raise UsageError(
            "completion needs shtab, which is not installed; install it with: pip install 'sizeup[completion]'"
        )
    import shtab

    parser = whole_parser()
    _mark_paths(parser)
    return str(shtab.complete(parser, shell))


def whole_parser() -> argparse.ArgumentParser:
    """Return all commands as one parser."""
    parser = argparse.ArgumentParser(prog="sizeup", parents=[build_parser()], add_help=False)
    top = parser.add_subparsers(metavar="COMMAND")
    groups: dict[str, argparse._SubParsersAction[argparse.ArgumentParser]] = {}
    for path, (_, summary) in COMMANDS.items():
        first, _, second = path.partition(" ")
        if not second:
            sub = top.add_parser(first, help=summary, parents=[build_parser(path)], add_help=False)
        else:
            if first not in groups:
                group = top.choices.get(first) or top.add_parser(first, help=GROUPS[first])
                groups[first] = group.add_subparsers(metavar="COMMAND")
            sub = groups[first].add_parser(second, help=summary, parents=[build_parser(path)], add_help=False)
        sub.prog = f"sizeup {path}"
    return parser


def _mark_paths(parser: argparse.ArgumentParser) -> None:
    """Tell shtab which values are paths, by the names the help gives them."""
    import shtab

    for action in parser._actions:  # noqa: SLF001  argparse offers no other way to its options
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for sub in action.choices.values():
                _mark_paths(sub)
        elif action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # the attribute that shtab looks for
        elif action.metavar == "DIR":
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
