"""The card table as lines of text: a line for each resource, at any width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

from msgspec import Struct

from sizeup.charts.table import UNKNOWN
from sizeup.model.advice import Card
from sizeup.sizing.io.share import DISKS, IOPS, PATHS, THROUGHPUT
from sizeup.text import cell_len, clipped, one_line, padded
from sizeup.views.cards.cards import N_PLUS_ONE, USED, CardView, share_columns

WIDE = 110
"""From this width on there is room for a meter."""
_NAME = 9
_STATUS = 7
_SHARE = 6
_GAP = "  "
_DEMAND = (6, 20)
"""The narrowest and the widest column of demands: ``12.3 to 24.6 cores``."""
_TEXT = 8
"""The narrowest column of what was detected, and of what was measured."""
_BOTH = 36
"""Columns from which on a table without a demand has both."""
_METER = 12
"""Cells of a meter up to the whole capacity; one more shows that the demand exceeds it."""
_JUDGED_PARTS = {DISKS: "Paths", PATHS: "Drives", IOPS: "MB/s", THROUGHPUT: "IOPS"}
"""What was judged of the storage, by what was not."""


class _Column(Struct, frozen=True):
    title: str
    width: int
    cells: Sequence[str]
    """One for each card, no wider than the column."""
    right: bool = True
    parts: Sequence[Sequence[str]] = ()
    """The texts of which each cell shows the first that fit."""

    def padded(self, text: str) -> str:
        return padded(text, self.width, right=self.right)


def card_table(views: Sequence[CardView], width: int) -> list[str]:
    """Return the header, a line for each card, and lines of what has no column, in ``width`` columns, from 25 on.

    Used and N+1 have columns at every width that has room for them, then the demand, then what the resource is.
    """
    labels = [view.label for view in views]
    most = width - _NAME - _SHARE - 2 * len(_GAP)
    if most < max(map(cell_len, labels)):  # a question mark stands for a word
        labels = [
            f"{view.status}?" if view.judged.assumed else clipped(view.status, max(most, _STATUS)) for view in views
        ]
    room = width - _NAME - max(_STATUS, *map(cell_len, labels))
    shares, demand, meter = _numbers(views, width)
    numbers: list[_Column] = []
    for column, least in [*((one, 0) for one in (*shares[:2], *demand)), *((one, _TEXT) for one in shares[2:] + meter)]:
        if room - len(_GAP) - column.width >= least:
            numbers.append(column)
            room -= len(_GAP) + column.width
    room -= len(_GAP)
    texts = _text_columns(views, room, judged=bool(shares)) if room >= _TEXT else []
    columns = [*texts, *(one for one in (*demand, *meter, *shares) if one in numbers)]
    lines = [f"{'':{_NAME}}{_GAP.join(one.padded(one.title) for one in columns)}{_GAP}Status"]
    for number, (view, label) in enumerate(zip(views, labels, strict=True)):
        cells = _GAP.join(column.padded(column.cells[number]) for column in columns)
        if view.resource == "license":
            text = _shortened(view.judged.demand or ("unknown" if shares else UNKNOWN), " over ", cell_len(cells))
            cells = padded(text, cell_len(cells))
        lines.append(f"{_JUDGED_PARTS.get(view.judged.not_judged, view.title):{_NAME}}{cells}{_GAP}{label}")
    parts = texts[-1].parts if texts else [view.found.texts for view in views]
    hidden = [one[_fitting(one, texts[-1].width if texts else 0) :] for one in parts]
    further = ([text for text in view.found.further if text in one] for view, one in zip(views, hidden, strict=True))
    left = [", ".join(one) for one in further]
    later = [_Column("Measured", 0, left), *(one for one in shares if one not in numbers)]
    return [*lines, *_later(views, later, width)]


def _numbers(views: Sequence[CardView], width: int) -> tuple[list[_Column], list[_Column], list[_Column]]:
    """Return the columns of shares, of the demand, and of meters where these have room; none without any demand."""
    judged = [view.judged for view in views if view.resource != "license"]
    if not any(card.demand or card.share is not None for card in judged):
        return [], [], []
    shares = [
        _Column(title, _SHARE, ["" if view.resource == "license" else text or UNKNOWN for view, text in found])
        for title, texts in share_columns([view.judged for view in views])
        if title == USED or any(texts) or (title == N_PLUS_ONE and width >= WIDE)
        for found in [list(zip(views, texts, strict=True))]
    ]
    needed = min(max(_DEMAND[0], *(cell_len(card.demand) for card in judged)), _DEMAND[1])
    demand = _Column("Demand", needed, [clipped(one_line(view.judged.demand) or UNKNOWN, needed) for view in views])
    bars = ["" if view.judged.share is None else _meter(view.judged) for view in views]
    return shares, [demand], [_Column("", _METER + 2, bars)] if any(bars) and width >= WIDE else []


def _text_columns(views: Sequence[CardView], room: int, *, judged: bool) -> list[_Column]:
    """Return what was detected and measured: beside a demand as one column, else as two where there is room."""
    if judged:
        known = ((*view.detected[:1], *view.found.texts, *view.detected[1:]) for view in views)
        return [_text_column("Capacity", room, [parts or ("unknown",) for parts in known])]
    shown = [view for view in views if view.resource != "license"]
    lengths = [max(cell_len(", ".join(view.found.texts)) for view in shown)]
    lengths += [max(cell_len(", ".join(view.detected)) for view in shown)]
    if room < _BOTH:
        found = [view.found.texts if lengths[0] else view.detected for view in views]
        return [_text_column("Measured" if lengths[0] else "Detected", room, found)]
    measured = min(max(lengths[0], _TEXT), max(room // 2, room - len(_GAP) - lengths[1]))
    detected = min(max(lengths[1], _TEXT), room - len(_GAP) - measured)
    if any(view.judged.demand for view in views):  # licenses take all columns
        measured = room - len(_GAP) - detected
    return [
        _text_column("Detected", detected, [view.detected for view in views]),
        _text_column("Measured", measured, [view.found.texts for view in views]),
    ]


def _text_column(title: str, width: int, parts: Sequence[Sequence[str]]) -> _Column:
    return _Column(title, width, [fitted(one, width) for one in parts], right=False, parts=parts)


def _later(views: Sequence[CardView], columns: Sequence[_Column], width: int) -> list[str]:
    """Return what has no column as lines, one or more for each kind: ``Year 3    Storage 226 %, CPU 59 %``."""
    lines = []
    for column in columns:
        found = zip(views, column.cells, strict=True)
        shown = (f"{view.title} {text}" for view, text in found if text not in ("", UNKNOWN))
        lines += wrap(", ".join(shown), width, initial_indent=f"{column.title:{_NAME}} ", subsequent_indent=" " * 10)
    return lines


def fitted(parts: Iterable[str], free_columns: int) -> str:
    """Return the first of these texts that fit into that many columns, commas between them; a dash for none."""
    texts = [one_line(part) for part in parts]
    shown = ", ".join(texts[: _fitting(texts, free_columns)])
    return shown or (_shortened(texts[0], " (", free_columns) if texts else UNKNOWN)


def _fitting(texts: Sequence[str], free_columns: int) -> int:
    """Return how many of these texts fit into that many columns, commas between them."""
    return next((n for n in range(len(texts), 0, -1) if cell_len(", ".join(texts[:n])) <= free_columns), 0)


def _shortened(text: str, end: str, free_columns: int) -> str:
    """Return a text without what begins with ``end`` where it is too long, and clipped where it still is."""
    text = one_line(text)
    return text if cell_len(text) <= free_columns else clipped(text.partition(end)[0], free_columns)


def _meter(card: Card) -> str:
    """Return a share as a bar with a mark at the whole capacity, pale up to its worst: ``██▒▒········│·``."""
    best, worst = card.ends
    full, most = (min(max(round(min(end, 2.0) * _METER), 1 if worst > 0 else 0), _METER) for end in (best, worst))
    beyond = "█" if best > 1 else "▒" if worst > 1 else "·"
    return f"{'█' * full}{'▒' * (most - full)}{'·' * (_METER - most)}│{beyond}"
