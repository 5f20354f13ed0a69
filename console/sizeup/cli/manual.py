"""The manual page."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.cli import COMMANDS
from sizeup.cli.parser import build_parser
from sizeup.errors import ExitStatus


def page(version: str, date: str) -> Iterator[str]:
    """The page in the language of man(7)."""
    yield f'.TH SIZEUP 1 "{date}" "sizeup {version}" "User Commands"'
    yield ".SH NAME"
    yield r"sizeup \- judge a Linux server before a database goes on it"
    yield ".SH SYNOPSIS"
    yield from _verbatim("sizeup [OPTION]...\nsizeup COMMAND [OPTION]...")
    yield ".SH OPTIONS"
    yield from _verbatim(build_parser().format_help())
    yield ".SH COMMANDS"
    for name in COMMANDS:
        yield f'.SS "sizeup {name}"'
        yield from _verbatim(build_parser(name).format_help())
    yield ".SH EXIT STATUS"
    yield from _verbatim("\n".join(f"{status.value:<5}{status.meaning}" for status in ExitStatus))


def _verbatim(text: str) -> Iterator[str]:
    """Lines as they are: no filling, and nothing in them a request."""
    yield ".nf"
    for line in text.rstrip().splitlines():
        escaped = line.replace("\\", r"\e").replace("-", r"\-")
        yield rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped
    yield ".fi"
