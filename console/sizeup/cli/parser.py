"""The command line as argparse knows it."""

from __future__ import annotations

import argparse
import textwrap
from typing import NoReturn

from sizeup import __version__
from sizeup.cli import COMMANDS, GROUPS, command
from sizeup.cli.arguments import ON_OFF, Argument, Arguments
from sizeup.errors import UsageError


class _Formatter(argparse.HelpFormatter):
    """Fills each paragraph of a description; one that is aligned with double spaces keeps its lines."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        from inspect import cleandoc  # which takes its time, for a text that few ask for

        paragraphs = cleandoc(text).split("\n\n")
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


class _FirstHelp(argparse.Action):
    """Print the commands and the options of the console, on one screen."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        listed = {
            name: GROUPS.get(name) or COMMANDS[name][1] for name in dict.fromkeys(path.split()[0] for path in COMMANDS)
        }
        print(_FIRST, *(f"  {name:<11}{summary}" for name, summary in listed.items()), _LAST, sep="\n")
        parser.exit()


def build_parser(path: str = "") -> argparse.ArgumentParser:
    """Return the parser of the arguments behind a command, by its path; ``""`` is the console."""
    wanted = command(path)
    parser = _Parser(
        prog=f"sizeup {path}".strip(),
        description=wanted.__doc__,
        formatter_class=_Formatter,
        allow_abbrev=False,
        add_help=bool(path),
    )
    if not path:
        parser.add_argument("-h", "--help", nargs=0, action=_FirstHelp, help="show this help message and exit")
        parser.add_argument(
            "--version", action="version", version=f"sizeup {__version__}", help="print the version and exit"
        )
    parser.register("action", ON_OFF, argparse.BooleanOptionalAction)
    _declare(parser, wanted.ARGUMENTS)
    return parser


def _declare(container: argparse._ActionsContainer, arguments: Arguments) -> None:
    for one in arguments:
        if isinstance(one, Argument):
            container.add_argument(*one.names, **one.options)
        elif one.title:
            _declare(container.add_argument_group(one.title), one.arguments)
        else:
            _declare(container.add_mutually_exclusive_group(), one.arguments)


_FIRST = """\
usage: sizeup [OPTIONS] [SESSION | CAPTURE]     the console
       sizeup COMMAND ...                       without it
"""
_LAST = """
options: --theme NAME --glyphs NAME --ascii --no-color --no-mouse
         --low-bandwidth --readonly --against OTHER --sysroot DIR --version
More: sizeup COMMAND --help, sizeup help commands, sizeup help exit-statuses"""


def group_help(group: str) -> str:
    """Return the help of a word that only stands before others."""
    paths = [path for path in COMMANDS if path.startswith(f"{group} ")]
    return "\n".join(
        [f"usage: sizeup {group} COMMAND ...", "", *(f"  {path:<18}{COMMANDS[path][1]}" for path in paths)]
    )
