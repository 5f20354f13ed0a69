"""What the user's keys may be."""

import pytest

from sizeup.errors import UsageError
from sizeup.tui.actions import ACTIONS, FOOTERS, _is_key, action_of, checked, first_key, footer


def test_keys_are_taken_without_their_blanks() -> None:
    assert checked({"run.start": "f5, ctrl+r", "app.help": "?"}) == {"run.start": "f5,ctrl+r", "app.help": "?"}


def test_every_key_of_the_registry_is_one() -> None:
    keys = {key for actions in ACTIONS.values() for action in actions for key in action.keys.split(",")}

    assert [key for key in keys if not _is_key(key)] == []


@pytest.mark.parametrize(
    ("keymap", "words"),
    [
        ({"run.strat": "f5"}, "unknown action (did you mean run.start?)"),
        ({"run.start": "ctlr+r"}, "unknown key 'ctlr+r'"),
        ({"run.start": "f5,"}, "unknown key ''"),
        ({"run.start": "F99"}, "unknown key 'F99'"),
        ({"run.start": "\x1b[2J"}, "unknown key"),
        ({"run.start": "x"}, "the key x is that of run.cancel too"),
        ({"run.start": "q"}, "the key q is that of app.quit too"),
        ({"run.start": "f5", "run.plan": "f5"}, "the key f5 is that of run.plan too"),
        ({"app.quit": "j"}, "the key j is that of chart.down too"),
        ({"run.start": "?"}, "the key ? is that of app.help too"),
        ({"topology.map": "h"}, "the key h is that of chart.left too"),
    ],
)
def test_what_cannot_work_is_said_with_its_place(keymap: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError) as refused:
        checked(keymap)

    assert words in str(refused.value)
    assert str(refused.value).startswith("[keys] ")
    assert "\x1b" not in str(refused.value)


def test_a_key_that_was_given_away_is_free_and_two_modes_may_share_one() -> None:
    keymap = {"app.quit": "f9", "run.start": "q", "summary.measure": "q"}

    assert checked(keymap) == keymap


def test_a_key_has_one_word_in_every_last_line() -> None:
    words: dict[str, set[str]] = {}
    for name in {name for names in FOOTERS.values() for name in names}:
        action = action_of(name)
        words.setdefault(first_key(action, {}), set()).add(action.label)

    assert {key: found for key, found in words.items() if len(found) > 1} == {
        "Enter": {"Why", "Open", "Details"},
        "t": {"Tree", "Table"},
        "s": {"Settings", "Save"},
    }


def test_w_is_the_workload_and_nothing_else() -> None:
    assert [one.id for listed in ACTIONS.values() for one in listed if "w" in one.keys.split(",")] == ["app.workload"]


@pytest.mark.parametrize("scope", FOOTERS)
def test_the_last_line_shows_at_most_nine_keys(scope: str) -> None:
    assert len(footer(scope, {})) + len(footer("app", {})) <= 9
