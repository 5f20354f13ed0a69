"""Keys that the user's configuration gives to actions; refused where they mean nothing, or two things at once."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterator, Mapping

from textual.keys import KEY_NAME_REPLACEMENTS, Keys

from sizeup.errors import UsageError
from sizeup.text import nearest, one_line
from sizeup.tui.actions import ACTIONS, Action, key_text

_MODIFIERS = frozenset(("ctrl", "shift", "alt", "super", "hyper", "meta"))
_NAMES = frozenset(key.value for key in Keys) | frozenset(KEY_NAME_REPLACEMENTS.values())

_WIDGETS = frozenset(("list", "tree", "chart"))
"""Scopes that hold where the focus is, inside whichever mode is shown."""
_APART = frozenset((frozenset(("list", "chart")), frozenset(("tree", "chart")), frozenset(("dialog", "chart"))))
"""Scopes of which never both hold, besides any two modes."""


def checked(keymap: Mapping[str, str]) -> dict[str, str]:
    """The keys by action, without blanks; ``UsageError`` for an action or a key that there is none of, or a clash."""
    actions = {action.id: (scope, action) for scope, listed in ACTIONS.items() for action in listed}
    for name in keymap:
        if name not in actions:
            raise UsageError(
                f"[keys] {one_line(name, 60)}: unknown action{nearest(name, actions)}; it has: {', '.join(actions)}"
            )
    plain = {name: ",".join(key.strip() for key in keys.split(",")) for name, keys in keymap.items()}
    for name, keys in plain.items():
        scope, _ = actions[name]
        for key in keys.split(","):
            if not _is_key(key):
                raise UsageError(
                    f"[keys] {name}: unknown key {one_line(key, 30)!r}; a key is one character or a name such as "
                    "f5, ctrl+r, space, question_mark, with commas between several"
                )
            for other in _sharing(key, name, scope, plain):
                raise UsageError(
                    f"[keys] {name}: the key {key_text(_named(key))} is that of {other.id} too ({other.help}); "
                    "give one of them another key"
                )
    return plain


def _sharing(key: str, name: str, scope: str, keymap: Mapping[str, str]) -> Iterator[Action]:
    """The other actions that have the key where this one holds too."""
    for where, listed in ACTIONS.items():
        if where == scope or _together(where, scope):
            for action in listed:
                keys = keymap.get(action.id, action.keys).split(",")
                if action.id != name and _named(key) in map(_named, keys):
                    yield action


def _together(one: str, other: str) -> bool:
    """Whether two scopes can hold at the same time."""
    pair = frozenset((one, other))
    return "app" in pair or (bool(pair & _WIDGETS) and pair not in _APART)


def _named(key: str) -> str:
    """One spelling for a key that has two: ``?`` is ``question_mark``."""
    if len(key) != 1 or key.isalnum():
        return key
    name = unicodedata.name(key, key).lower().replace("-", "_").replace(" ", "_")
    return KEY_NAME_REPLACEMENTS.get(name, name)


def _is_key(key: str) -> bool:
    if len(key) == 1:
        return key.isprintable()
    *modifiers, base = key.split("+")
    if not base or not _MODIFIERS.issuperset(modifiers):
        return False
    if len(base) == 1 or key in _NAMES or base in _NAMES or base in map(_named, string.punctuation):
        return True
    try:
        return bool(unicodedata.lookup(base.replace("_", " ")))
    except KeyError:
        return False
