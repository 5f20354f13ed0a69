"""The help: every key beside what it does, longer words below themselves."""

import pytest

from consoles import MakeConsole, settled
from sizeup.tui.actions import ACTIONS, SCOPES
from sizeup.tui.dialogs import help_text


def shown(scope: str, width: int) -> list[str]:
    """The lines of the help about one scope."""
    return [line.rstrip() for line in help_text([scope], {}, width).plain.splitlines()]


@pytest.mark.parametrize("width", [40, 60, 100])
@pytest.mark.parametrize("scope", ["summary", "topology", "measure", "sessions"])
def test_what_is_too_long_for_a_line_goes_on_below_its_own_words(scope: str, width: int) -> None:
    heading, *lines = shown(scope, width)
    columns = {len(line) - len(line.lstrip()) for line in lines}

    assert heading == SCOPES[scope]
    assert columns <= {2, 14}
    assert max(map(len, lines)) <= width
    assert " ".join(" ".join(lines).split()).count(ACTIONS[scope][0].help) == 1 or width < 100


def test_the_letters_of_a_form_are_explained() -> None:
    assert "Go to the field of the form" in " ".join(shown("measure", 100))


async def test_every_key_that_holds_is_in_the_help(make_console: MakeConsole) -> None:
    console = make_console()
    async with console.shown(80, 24) as pilot:
        await pilot.press("question_mark")
        await settled(pilot)
        text = console.says(".text")

        for scope in ("summary", "app", "list", "tree", "chart"):
            assert SCOPES[scope] in text
            assert all(one.help in text for one in ACTIONS[scope])
