"""Every key of the console, as ``actions.toml`` lists them: for bindings, footer, help and palette."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Collection, Mapping

from msgspec import Struct
from msgspec.structs import replace
from textual.binding import Binding
from textual.keys import KEY_NAME_REPLACEMENTS, Keys

from sizeup.decoding import read_beside
from sizeup.errors import UsageError
from sizeup.text import nearest, one_line
from sizeup.views.inputs.option_text import by_names
from sizeup.views.result.summary import Summary


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


_SCOPES = read_beside(__file__, "actions.toml")
SCOPES: dict[str, str] = {name: scope["heading"] for name, scope in _SCOPES.items()}
"""Where actions hold, with the heading that help gives them."""
ACTIONS = {name: tuple(Action(**each) for each in scope["actions"]) for name, scope in _SCOPES.items()}
FOOTERS: dict[str, list[str]] = {name: scope["last_line"] for name, scope in _SCOPES.items() if "last_line" in scope}
"""What the last line shows in each scope, the most important first; less what is idle, and never more than fit."""
del _SCOPES
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
    for name, listed_keys in plain.items():
        scope, _ = actions[name]
        for key in listed_keys.split(","):
            if not _is_key(key):
                raise UsageError(
                    f"[keys] {name}: unknown key {one_line(key, 30)!r}; a key is one character or a name such as "
                    "f5, ctrl+r, space, question_mark, with commas between several"
                )
            for where, listed in ACTIONS.items():
                pair = frozenset((where, scope))
                together = len(pair) == 1 or "app" in pair or (pair & _WIDGETS and pair not in _APART)
                for other in listed if together else ():
                    keys = plain.get(other.id, other.keys).split(",")
                    if other.id != name and _named(key) in map(_named, keys):
                        raise UsageError(
                            f"[keys] {name}: the key {key_text(_named(key))} is that of {other.id} too "
                            f"({other.help}); give one of them another key"
                        )
    return plain


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


def by_keys(text: str, keymap: Mapping[str, str], *, in_sizing: bool = False) -> str:
    """Return a text with keys and names of inputs in place of ``--set``: ``enter Cores (4, then a)``.

    ``in_sizing`` is whether it is shown there, where one key is enough.
    """
    known = dict(keymap)
    keys = first_key_of("sizing.add", known)
    return by_names(text, keys if in_sizing else f"{first_key_of('mode.sizing', known)}, then {keys}")


def in_console(shown: Summary, keymap: Mapping[str, str]) -> Summary:
    """Return what is shown with keys of the console in place of options of the command line."""
    verdict = shown.verdict
    cards = tuple(replace(card, decides=by_keys(card.decides, keymap)) for card in shown.given.cards)
    return replace(
        shown,
        given=replace(shown.given, cards=cards),
        verdict=replace(verdict, statement=by_keys(verdict.statement, keymap), fix=by_keys(verdict.fix, keymap)),
        findings=tuple(
            (key, replace(finding, remedy=by_keys(finding.remedy, keymap))) for key, finding in shown.findings
        ),
    )
