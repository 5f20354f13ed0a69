"""One mistake in a file of a plug-in."""

from __future__ import annotations

from msgspec import Struct

Place = tuple[str | int, ...]
"""Keys and indexes from the root of a TOML file: ``("probe", 0, "series", 2, "unit")``."""


class Mistake(Struct, frozen=True):
    """What is expected at a place of a manifest, and what was found there."""

    place: Place
    key: str
    """The place in words: ``unit of series time``."""
    expected: str
    found: str
    action: str = ""
    """What to do; empty where what is expected says it."""

    def __str__(self) -> str:
        action = f"; {self.action}" if self.action else ""
        return f"{self.key}: expected {self.expected}, found {self.found}{action}"
