"""The page about licenses shows what the commands print."""

import pytest

from sizeup import cli
from transcripts import Transcript, transcripts

SHOWN = transcripts("reference/licensing.md")


def test_the_page_has_its_examples() -> None:
    assert len(SHOWN) == 3


@pytest.mark.parametrize("shown", SHOWN, ids=range(len(SHOWN)))
def test_an_example_of_the_page_begins_as_the_command_prints_it(
    shown: Transcript, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(shown.arguments) == 0
    assert capsys.readouterr().out.startswith(shown.output)
