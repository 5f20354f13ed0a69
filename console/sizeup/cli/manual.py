"""Print the manual page; save it with: sizeup help man > sizeup.1."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime

from sizeup.errors import ExitStatus


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options: there are none."""
    del parser


def run(arguments: argparse.Namespace) -> int:
    """Print the page."""
    del arguments
    from sizeup import __version__

    print("\n".join(page(__version__, datetime.now(UTC).strftime("%Y-%m-%d"))))
    return ExitStatus.OK


def page(version: str, date: str) -> Iterator[str]:
    """The page in the language of man(7)."""
    from sizeup.cli import COMMANDS

    yield f'.TH SIZEUP 1 "{date}" "sizeup {version}" "User Commands"'
    yield ".SH NAME"
    yield r"sizeup \- judge a Linux server before a database goes on it"
    yield ".SH SYNOPSIS"
    yield from _verbatim("sizeup [OPTION]...\nsizeup COMMAND [OPTION]...")
    yield ".SH OPTIONS"
    yield from _verbatim(_help())
    yield ".SH COMMANDS"
    for name in COMMANDS:
        yield f'.SS "sizeup {name}"'
        yield from _verbatim(_help(name))
    yield ".SH EXIT STATUS"
    yield from _verbatim("\n".join(f"{status.value:<5}{status.meaning}" for status in ExitStatus))


def _help(path: str = "") -> str:
    """What ``sizeup COMMAND --help`` prints."""
    from sizeup.cli.parser import build_parser

    return build_parser(path).format_help()


def _verbatim(text: str) -> Iterator[str]:
    """Lines as they are: no filling, and nothing in them a request."""
    yield ".nf"
    for line in text.rstrip().splitlines():
        escaped = line.replace("\\", r"\e").replace("-", r"\-")
        yield rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped
    yield ".fi"
