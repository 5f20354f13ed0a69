"""Tables as values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Column:
    """One column; numbers are set flush right."""

    title: str
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of finished text."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
