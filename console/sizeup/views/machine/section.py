"""A heading with facts and a table: what a machine is shown as, section by section."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from sizeup.charts.table import Column, Table
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


def table_section(
    title: str,
    rows: Sequence[Mapping[str, str | int | None]],
    numeric: Collection[str] = (),
    note: str = "",
    facts: tuple[tuple[str, str], ...] = (),
) -> Section | None:
    """Return a table of cells by their headings, ``-`` where one has no value; None without rows and facts."""
    if not rows:
        return Section(title, facts) if facts else None
    columns = tuple(Column(heading, numeric=heading in numeric) for heading in rows[0])
    cells = tuple(tuple("-" if cell in (None, "") else str(cell) for cell in row.values()) for row in rows)
    return Section(title, facts, Table("", columns, cells, note))
