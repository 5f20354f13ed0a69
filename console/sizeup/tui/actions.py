"""Every key of the console, as ``actions.toml`` lists them: for bindings, footer, help and palette."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct
from textual.binding import Binding

from sizeup.decoding import data_beside


class Action(Struct, frozen=True):
    """One thing a user can do, with the keys that do it."""

    id: str
    """Stable: what a configuration file remaps."""
    keys: str
    """Comma-separated, in Textual's spelling; the first is the one shown."""
    call: str
    """Textual's action string, resolved where the binding stands."""
    label: str
    """A word or two for the footer."""
    help: str
    """What happens, as a sentence."""
    palette: bool = True
    """Moving about is no entry of the palette."""


_SCOPES = data_beside(__file__, "actions.toml")
SCOPES: dict[str, str] = {name: scope["heading"] for name, scope in _SCOPES.items()}
"""Where actions hold, with the heading that help gives them."""
ACTIONS = {name: tuple(Action(**each) for each in scope["actions"]) for name, scope in _SCOPES.items()}
FOOTERS: dict[str, list[str]] = {name: scope["last_line"] for name, scope in _SCOPES.items() if "last_line" in scope}
"""What the last line shows in each scope, the most important first; less what is idle, and never more than fit."""
_MOST_HERE = 6
"""Keys of a screen in the last line: nine with those of every screen."""


def bindings(*scopes: str) -> list[Binding]:
    """The bindings of some scopes, with ids so that a keymap can replace their keys."""
    return [
        Binding(action.keys, action.call, action.label, show=False, id=action.id)
        for scope in scopes
        for action in ACTIONS[scope]
    ]


CURSOR_KEYS = (
    Binding("down", "cursor_down", show=False),
    Binding("up", "cursor_up", show=False),
    Binding("pagedown", "page_down", show=False),
    Binding("pageup", "page_up", show=False),
    Binding("home", "first", show=False),
    Binding("end", "last", show=False),
)
"""What moves in a view of rows besides the keys of vi."""

_SIGNS = {"question_mark": "?", "colon": ":", "slash": "/", "plus": "+", "minus": "-", "equals_sign": "=",
          "greater_than_sign": ">", "less_than_sign": "<"}  # fmt: skip
_NAMED = ("enter", "space", "tab", "left", "right", "up", "down", "home", "end", "f1")
_SPELLINGS = {
    **_SIGNS,
    **{name: name.capitalize() for name in _NAMED},
    "escape": "Esc",
    "backspace": "Bksp",
    "delete": "Del",
}


def key_text(key: str) -> str:
    """A key as it is printed on keyboards: ``^p``, ``?``, ``Esc``."""
    if key.startswith("ctrl+"):
        return "^" + key.removeprefix("ctrl+")
    return _SPELLINGS.get(key, key)


def pressed_key(shown: str) -> str:
    """Return a key in Textual's spelling as it stands on the screen: the inverse of ``key_text``."""
    if len(shown) > 1 and shown.startswith("^"):
        return "ctrl+" + shown.removeprefix("^")
    return next((key for key, text in _SPELLINGS.items() if text == shown), shown)


def first_key(action: Action, keymap: dict[str, str]) -> str:
    """The key that the footer shows for an action."""
    return key_text(keymap.get(action.id, action.keys).split(",")[0])


def action_of(action_id: str) -> Action:
    """The action of this id."""
    return next(action for scope in ACTIONS.values() for action in scope if action.id == action_id)


def first_key_of(action_id: str, keymap: dict[str, str]) -> str:
    """The key that the footer shows for the action of this id."""
    return first_key(action_of(action_id), keymap)


def footer(scope: str, keymap: dict[str, str], without: Collection[str] = frozenset()) -> list[tuple[str, str]]:
    """Key and label of what the footer shows for a scope, but for the actions of some ids."""
    shown = [action_of(name) for name in FOOTERS[scope] if name not in without]
    return [(first_key(action, keymap), action.label) for action in shown[:_MOST_HERE]]


def modes(keymap: dict[str, str]) -> list[tuple[str, str]]:
    """Key and name of each mode, in their order."""
    return [
        (first_key(action, keymap), action.label) for action in ACTIONS["app"] if action.call.startswith("app.mode(")
    ]
