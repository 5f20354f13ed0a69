"""Every command, argument and option has one line of help in the same form."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sizeup.cli.parser import build_parser
from sizeup.errors import ExitStatus

ROOT = Path(__file__).parents[2]


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


def test_the_exit_statuses_of_the_help_are_those_of_the_readme() -> None:
    table = re.findall(r"^\| (\d+(?:, \d+)*) \|", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    printed = build_parser("start").format_help()

    assert {int(number) for row in table for number in row.split(", ")} == set(ExitStatus)
    assert [status for status in ExitStatus if f"  {status.value:<5}{status.meaning}" not in printed] == []
