"""The page about the console against the console."""

from pathlib import Path

from sizeup.tui.actions import ACTIONS, spelled

_PAGE = Path(__file__).parents[2] / "docs" / "console.md"


def test_the_page_lists_every_action_with_its_keys() -> None:
    text = _PAGE.read_text()

    for actions in ACTIONS.values():
        for action in actions:
            keys = " ".join(f"`{spelled(key)}`" for key in action.keys.split(","))
            assert f"| {keys} | {action.help} | `{action.id}` |" in text
