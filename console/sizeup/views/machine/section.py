"""A heading with facts and a table: what a machine is shown as, section by section."""

from __future__ import annotations

from msgspec import Struct

from sizeup.charts.table import Table
from sizeup.units import format_bytes

UNKNOWN = "unknown"


class Section(Struct, frozen=True):
    """A heading with its facts, each a label and a text, and perhaps a table."""

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    table: Table | None = None


def size_or_unknown(size: int | None) -> str:
    """Return a size in binary units, or that it is unknown."""
    return UNKNOWN if size is None else format_bytes(size)
