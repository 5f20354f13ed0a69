"""Tables as values."""

from __future__ import annotations

from msgspec import Struct

UNKNOWN = "–"
"""Stands where there is no value."""


class Column(Struct, frozen=True):
    """One column; numbers are set flush right."""

    title: str
    numeric: bool = False


class Table(Struct, frozen=True):
    """Rows of finished text."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
