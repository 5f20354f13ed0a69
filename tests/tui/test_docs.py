"""The page about the console against the console."""

import re
from collections import Counter
from pathlib import Path

from sizeup.tui.actions import ACTIONS, key_text

_DOCS = Path(__file__).parents[2] / "docs"
_PAGE = _DOCS / "reference" / "keys.md"


def test_the_page_lists_every_action_with_its_keys() -> None:
    text = _PAGE.read_text()

    for scope, actions in ACTIONS.items():
        for action in actions:
            keys = " ".join(f"`{key_text(key)}`" for key in action.keys.split(","))
            moves = scope in ("chart", "list", "tree", "dialog")  # what they do, their keys say
            assert (f"{keys} `{action.id}`" if moves else f"| {keys} | {action.label} | `{action.id}` |") in text


def test_the_page_describes_each_mode_once_and_in_order() -> None:
    text = _PAGE.read_text()
    modes = [f"{action.keys} {action.label}" for action in ACTIONS["app"] if action.id.startswith("mode.")][:5]

    assert re.findall(r"^- \*\*(\d \w+)\*\*:", text, re.MULTILINE) == modes


def test_no_page_says_the_same_twice() -> None:
    """What a merge that kept both sides leaves behind; tables and code may repeat."""
    for page in sorted(_DOCS.rglob("*.md")):
        if page.name == "commands.md":
            continue  # commands share options, each with the same words
        text = re.sub(r"^```.*?^```|^\|.*?$|^    .*?$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        words = text.split()
        spans = Counter(" ".join(words[at : at + 16]) for at in range(len(words) - 15))
        assert [span for span, count in spans.items() if count > 1] == [], page.name
