"""What the chapters of a document consist of."""

from __future__ import annotations

from msgspec import Struct

from sizeup.charts.chart import Chart
from sizeup.charts.table import Table


class Heading(Struct, frozen=True):
    """A heading within a part."""

    text: str


class Paragraph(Struct, frozen=True):
    """Running text."""

    text: str


class Items(Struct, frozen=True):
    """A list of sentences."""

    lines: tuple[str, ...]


class Working(Struct, frozen=True):
    """Arithmetic, a line each, to be shown as typed."""

    lines: tuple[str, ...]


class Facts(Struct, frozen=True):
    """Names and their values."""

    pairs: tuple[tuple[str, str], ...]


Block = Heading | Paragraph | Items | Working | Facts | Table | Chart


class DocumentPart(Struct, frozen=True):
    """One chapter."""

    title: str
    blocks: tuple[Block, ...]
    open: bool = False
    """Shown from the start, where a page has its chapters folded."""
