"""The command line as argparse knows it."""

from __future__ import annotations

import argparse
import textwrap
from typing import NoReturn

from sizeup import __version__
from sizeup.cli import COMMANDS, START, module
from sizeup.errors import ExitStatus, UsageError


class _Formatter(argparse.HelpFormatter):
    """Fills each paragraph of a description; one that is aligned with double spaces keeps its lines."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = textwrap.dedent(text).strip("\n").split("\n\n")
        return "\n\n".join(
            textwrap.indent(paragraph, indent)
            if "  " in paragraph
            else super(_Formatter, self)._fill_text(paragraph, width, indent)
            for paragraph in paragraphs
        )


class _Parser(argparse.ArgumentParser):
    """Parser whose errors are ``UsageError``, with the documented exit status."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; try: {self.prog} --help")


def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the whole command line, or with the options of ``command`` only."""
    parser = _Parser(
        prog="sizeup",
        description="Judge a Linux server before a database goes on it. Without a command, start the console.",
        epilog=_exit_statuses(),
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version", action="version", version=f"sizeup {__version__}", help="print the version and exit"
    )
    if command is None or command == START:
        module(START).add_arguments(parser)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, summary in COMMANDS.items():
        wanted = module(name) if command in (None, name) else None
        text = wanted.__doc__ if wanted is not None else summary
        sub = commands.add_parser(name, help=summary, description=text, allow_abbrev=False, formatter_class=_Formatter)
        if wanted is not None:
            wanted.add_arguments(sub)
    return parser


def _exit_statuses() -> str:
    return "exit status:\n" + "\n".join(f"  {status.value:<5}{status.meaning}" for status in ExitStatus)
