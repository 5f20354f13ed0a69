"""The help: every key beside what it does, longer words below themselves."""

from io import StringIO

import pytest
from rich.console import Console as RichConsole

from sizeup.tui.actions import ACTIONS, SCOPES
from sizeup.tui.dialogs import help_text


def shown(scope: str, width: int) -> list[str]:
    """The lines of the help about one scope."""
    console = RichConsole(width=width, file=StringIO(), color_system=None)
    console.print(help_text([scope], {}))
    file = console.file
    assert isinstance(file, StringIO)
    return [line.rstrip() for line in file.getvalue().splitlines()]


@pytest.mark.parametrize("width", [40, 60, 100])
@pytest.mark.parametrize("scope", ["summary", "topology", "measure", "sessions"])
def test_what_is_too_long_for_a_line_goes_on_below_its_own_words(scope: str, width: int) -> None:
    heading, *lines = shown(scope, width)
    columns = {len(line) - len(line.lstrip()) for line in lines}

    assert heading == SCOPES[scope]
    assert columns <= {2, 14}
    assert " ".join(" ".join(lines).split()).count(ACTIONS[scope][0].help) == 1 or width < 100


def test_the_letters_of_a_form_are_explained() -> None:
    assert "Go to the field of the form" in " ".join(shown("measure", 100))
