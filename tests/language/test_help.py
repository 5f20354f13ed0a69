"""Every command, argument and option has one line of help in the same form."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import pytest

from sizeup.cli.parser import build_parser
from sizeup.errors import ExitStatus


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Return a parser with those of its commands and actions."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from parsers(child)


ALL = {parser.prog: parser for parser in parsers(build_parser())} | {"sizeup --batch": build_parser("start")}


@pytest.mark.parametrize("name", ALL)
def test_every_argument_has_one_line_of_help(name: str) -> None:
    commands = argparse._SubParsersAction
    lines = {
        action.metavar or action.dest: action.help for action in ALL[name]._actions if not isinstance(action, commands)
    }

    assert [argument for argument, line in lines.items() if not line] == []
    assert [line for line in lines.values() if line[0].isupper() and line.split()[0].isalpha() and line[1:2].islower()
            and line.split()[0] != "Markdown"] == []  # fmt: skip
    assert [line for line in lines.values() if line.endswith(".")] == []


@pytest.mark.parametrize("name", ALL)
def test_every_command_is_described_in_sentences(name: str) -> None:
    description = (ALL[name].description or "").strip()

    assert description[:1].isupper()
    assert "``" not in description
    assert description.partition("\n\n")[0].rstrip().endswith(".")


def test_the_help_prints_every_exit_status() -> None:
    """docs/reference/exit-statuses.md is compared with them by tests/docs."""
    printed = build_parser("start").format_help()

    assert [status for status in ExitStatus if f"  {status.value:<5}{status.meaning}" not in printed] == []
