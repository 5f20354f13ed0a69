"""The command line as argparse knows it."""

from __future__ import annotations

import argparse
from typing import NoReturn

from sizeup import __version__
from sizeup.cli import COMMANDS, START, module
from sizeup.errors import UsageError


class _Parser(argparse.ArgumentParser):
    """Parser whose errors read like all others and exit with the documented status."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; try: {self.prog} --help")


def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """The whole command line; with the options of ``command`` only, where one is named."""
    parser = _Parser(
        prog="sizeup",
        description="What this Linux server is, what it should carry, and what it really does.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"sizeup {__version__}")
    if command is None or command == START:
        module(START).add_arguments(parser)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, summary in COMMANDS.items():
        wanted = module(name) if command in (None, name) else None
        text = wanted.__doc__ if wanted is not None else summary
        sub = commands.add_parser(name, help=summary, description=text, allow_abbrev=False)
        if wanted is not None:
            wanted.add_arguments(sub)
    return parser
