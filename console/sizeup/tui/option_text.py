"""Options of the command line in texts that the console shows: a key and a field take their place."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sizeup.sizing.keys import KEYS
from sizeup.text import capitalized
from sizeup.tui.actions import first_key_of
from sizeup.views.input_names import input_label

_KEY = r"[a-z]+\.[a-z_]+"
_SETTING = re.compile(
    r"(?P<inside>(?<=\())?(?P<also>and its [a-z]+ with )?"
    r"(?P<use>[Uu]se |[Ss]et (?:[a-z]+ )+?with |sizeup size )?"
    rf"--set (?P<settings>{_KEY}=[^\s,;.)]+(?: {_KEY}=[^\s,;.)]+)*)"
)
_FIELD = re.compile(r"--set [a-z_.]+\.(?P<field>[a-z_]+)=\.\.\.")
_ASKED = re.compile(rf"(?P<enter>[Ee]nter) it as (?P<key>{_KEY})")
_FURTHER = re.compile(rf"\b(?P<key>{_KEY})=(?P<value>[^\s,;.)]+)")


def by_keys(text: str, keymap: Mapping[str, str], *, in_sizing: bool = False) -> str:
    """Return a text with keys and names of inputs in place of ``--set``: ``enter Cores (4, then a)``.

    ``in_sizing`` is whether it is shown there, where one key is enough.
    """
    known = dict(keymap)
    keys = first_key_of("sizing.add", known)
    if not in_sizing:
        keys = f"{first_key_of('mode.sizing', known)}, then {keys}"

    def typed(found: re.Match[str]) -> str:
        words = " and ".join(_entered(*part.split("=", 1)) for part in found["settings"].split())
        # No parentheses inside parentheses.
        words = f"{words}: {keys}" if found["inside"] is not None else f"{words} ({keys})"
        if found["also"]:
            return f"and {words}"
        return capitalized(words) if (found["use"] or "")[:1].isupper() else words

    def asked(found: re.Match[str]) -> str:
        return f"{found['enter']} {_label(found['key'])} ({keys})"

    text = text.replace("add --workload-cores N", f"enter {_label('workload.cpu_cores')} ({keys})")
    text = text.replace("figures given with --set", "figures that were entered")
    changed, count = _SETTING.subn(typed, text)
    if count:  # alternatives to the first are named without the option
        changed = _FURTHER.sub(_further, changed)
    return _ASKED.sub(asked, changed)


def by_fields(text: str) -> str:
    """Return why a probe cannot be planned with the field of its form in place of ``--set PROBE.FIELD=...``."""
    return _FIELD.sub(lambda found: f"enter {found['field'].replace('_', ' ')}", text)


def _entered(key: str, value: str) -> str:
    """Return what to do about one setting: a placeholder is entered, a value is set."""
    return f"enter {_label(key)}" if _is_placeholder(value) else f"set {_label(key)} to {value}"


def _further(found: re.Match[str]) -> str:
    label = _label(found["key"])
    return label if _is_placeholder(found["value"]) else f"{label}, such as {found['value']}"


def _is_placeholder(value: str) -> bool:
    return value.isupper() or any(sign in value for sign in "[|")


def _label(key: str) -> str:
    return input_label(key) if key in KEYS else key
