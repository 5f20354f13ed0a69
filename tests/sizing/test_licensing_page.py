"""The page about licenses shows what the commands print."""

import re
import shlex
from pathlib import Path

import pytest

from sizeup import cli

PAGE = Path(__file__).parents[2] / "docs" / "licensing.md"
SHOWN = re.findall(r"```\n\$ (sizeup [^\n]*)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_page_has_its_examples() -> None:
    assert len(SHOWN) == 4


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=range(len(SHOWN)))
def test_an_example_of_the_page_begins_as_the_command_prints_it(
    command: str, output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out.startswith(output)
