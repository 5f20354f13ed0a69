"""Options of the command line in texts for a screen or a page: names of inputs take their place, with their keys.

Texts of sizing, findings and sessions name an input by its option, ``--set KEY=VALUE ...``, with ``use`` or the command
before it or with nothing. Only this form with keys that exist is replaced; the rest of a sentence is left as it is.
"""

from __future__ import annotations

import re

from sizeup.sizing.keys import KEYS
from sizeup.text import capitalized
from sizeup.views.inputs.input_names import input_label

_ASSIGNMENT = r"[a-z]+\.[a-z0-9_]+=[^\s;)]*[^\s,;.)]"
_OPTION = re.compile(
    r"(?P<inside>(?<=\())?(?P<needed>(?<=needs ))?(?P<verb>[Uu]se |sizeup size )?"
    rf"--set (?P<settings>{_ASSIGNMENT}(?: {_ASSIGNMENT})*)"
)
_FURTHER = re.compile(rf"(?<!\S){_ASSIGNMENT}")
_SHOW = re.compile(r" \(--show [a-z.]+\)")
"""Where a command shows more, which a screen has on a key and a report in its chapters."""
_NAMED = re.compile(r"(?<=nter )[a-z]+\.[a-z0-9_]+(?![=\w])")
_OTHERS = {"add --workload-cores N": "workload.cpu_cores"}
"""Other options, and the input that the console has in their place."""


def by_names(text: str, keys: str = "") -> str:
    """Return a text with names of inputs in place of ``--set``: ``enter Cores (4, then a)``.

    ``keys`` are those that lead to the inputs; a report has none.
    """

    def entered(found: re.Match[str]) -> str:
        settings = [part.split("=", 1) for part in found["settings"].split()]
        if any(key not in KEYS for key, _ in settings):
            return found[0]
        if found["needed"] is not None:
            return " and ".join(input_label(key) for key, _ in settings)
        words = " and ".join(  # a placeholder is entered, a value is set
            f"enter {input_label(key)}" if _is_placeholder(value) else f"set {input_label(key)} to {value}"
            for key, value in settings
        )
        if keys:  # no parentheses inside parentheses
            words = f"{words}: {keys}" if found["inside"] is not None else f"{words} ({keys})"
        return capitalized(words) if (found["verb"] or "")[:1].isupper() else words

    def named(found: re.Match[str]) -> str:
        key, value = found[0].split("=", 1)
        if key not in KEYS:
            return found[0]
        return input_label(key) if _is_placeholder(value) else f"{input_label(key)}, such as {value}"

    text = _SHOW.sub("", text)
    for option, key in _OTHERS.items():
        text = text.replace(option, f"enter {input_label(key)}{f' ({keys})' if keys else ''}")
    text = _NAMED.sub(lambda found: input_label(found[0]) if found[0] in KEYS else found[0], text)
    changed = _OPTION.sub(entered, text)
    # Alternatives behind the first are named without the option.
    return changed if changed == text else _FURTHER.sub(named, changed)


def _is_placeholder(value: str) -> bool:
    return value.replace(",", "").isupper() or any(sign in value for sign in "[|")
