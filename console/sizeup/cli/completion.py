"""Print the completion of commands and options for a shell.

bash:  sizeup help completion bash > ~/.local/share/bash-completion/completions/sizeup
zsh:   sizeup help completion zsh > DIR/_sizeup, where DIR is a directory of $fpath
fish:  sizeup help completion fish > ~/.config/fish/completions/sizeup.fish
"""

from __future__ import annotations

import argparse
import importlib.util

from sizeup.errors import ExitStatus, UsageError

_FILES = frozenset({"BASELINE", "FILE", "NEW", "OTHER", "OUT"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="shell to print the completion for")


def run(arguments: argparse.Namespace) -> int:
    """Print the completion."""
    if importlib.util.find_spec("shtab") is None:
        raise UsageError(
            "completion needs shtab, which is not installed; install it with: pip install 'sizeup[completion]'"
        )
    import shtab

    from sizeup.cli.parser import whole_parser

    parser = whole_parser()
    _mark_paths(parser)
    print(shtab.complete(parser, arguments.shell))
    return ExitStatus.OK


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
