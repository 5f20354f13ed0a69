"""One problem of a plug-in: where, what is expected, what was found, what to do."""

from __future__ import annotations

import re

from msgspec import Struct

from sizeup.probing.manifest_file import Place
from sizeup.text import clean


class Problem(Struct, frozen=True):
    """What does not agree with the contract of a probe."""

    file: str
    """Below the folder of the plug-in; empty where the run of a probe has it."""
    line: int
    """From 1; 0 where no line has it."""
    key: str
    """The key of a manifest, or what of the code is meant."""
    expected: str
    found: str
    action: str = ""
    """What to do; empty where what is expected says it."""

    def __str__(self) -> str:
        where = self.file + (f":{self.line}" if self.line else "") + (": " if self.file else "")
        action = f"; {self.action}" if self.action else ""
        # A plug-in is of a stranger: its names must not control the terminal.
        return clean(f"{where}{self.key}: expected {self.expected}, found {self.found}{action}")


_HEADER = re.compile(r"\s*(\[\[?)\s*([\w.\" -]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"\s*\"?([\w-]+)\"?\s*[=.]")


def line_of(text: str, place: Place) -> int:
    """Return the line of a TOML text that has a place, or what is nearest above it; 0 if nothing of it is found.

    The first key of a table stands for the table if the key itself is missing.
    """
    best, depth = 0, 0
    counts: dict[tuple[str, ...], int] = {}
    current: Place = ()
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.match(line)
        if header is not None:
            current = _indexed(tuple(part.strip('" ') for part in header[2].split(".")), counts, each=header[1] == "[[")
            found = current
        else:
            key = _KEY.match(line)
            if key is None:
                continue
            found = (*current, key[1])
        if len(found) > depth and found == place[: len(found)]:
            best, depth = number, len(found)
    return best


def _indexed(names: tuple[str, ...], counts: dict[tuple[str, ...], int], *, each: bool) -> Place:
    """Return the place of a table, with the number of each list of tables in it."""
    if each:
        counts[names] = counts.get(names, -1) + 1
        for below in [known for known in counts if known[: len(names)] == names and known != names]:
            del counts[below]
    place: list[str | int] = []
    for length, name in enumerate(names, start=1):
        place.append(name)
        if names[:length] in counts:
            place.append(counts[names[:length]])
    return tuple(place)
