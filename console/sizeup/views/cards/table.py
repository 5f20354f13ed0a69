"""The card table as lines of text: a line for each resource, at any width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

from msgspec import Struct

from sizeup.charts.table import UNKNOWN
from sizeup.model.advice import Card
from sizeup.text import cell_len, clipped, one_line, padded
from sizeup.views.cards.cards import N_PLUS_ONE, USED, CardView, share_columns

WIDE = 110
"""From this width on there is room for a meter and for the last year."""
_NAME = 10
_STATUS = 7
_SHARE = 6
_GAP = "  "
_DEMAND = (6, 18)
"""The narrowest and the widest column of demands: ``12.3 to 24.6 cores``."""
_TEXT = (8, 44)
"""The same of what was detected, and of what was measured."""
_BOTH = 36
"""Columns from which on a table without a demand has both."""
_METER = 12
"""Cells of a meter up to the whole capacity; one more shows that the demand exceeds it."""


class _Column(Struct, frozen=True):
    title: str
    width: int
    cells: Sequence[str]
    """One for each card, no wider than the column."""
    right: bool = True

    def padded(self, text: str) -> str:
        return padded(text, self.width, right=self.right)


def card_table(views: Sequence[CardView], width: int) -> list[str]:
    """Return the header, a line for each card, and lines of what has no column, in ``width`` columns, from 25 on.

    The share after a failure has a column at every width from 33 on where it is known of any card. Without any demand
    its columns leave their room to what was detected and measured.
    """
    wide = width >= WIDE
    judged = [view for view in views if view.resource != "license"]
    every = [
        _Column(title, _SHARE, [text or UNKNOWN for text in texts])
        for title, texts in share_columns([view.judged for view in views])
        if title == USED or any(texts) or (wide and title == N_PLUS_ONE)
    ]
    shares = [column for column in every if wide or column.title in (USED, N_PLUS_ONE)]
    numbers = []
    if any(view.judged.demand or view.judged.share is not None for view in judged):
        needed = _between(_DEMAND, max(cell_len(view.judged.demand) for view in judged))
        demands = ["" if view.resource == "license" else _clipped(view.judged.demand, needed) for view in views]
        meters = ["" if view.judged.share is None else _meter(view.judged) for view in views]
        meter = [_Column("", _METER + 2, meters)] if wide and any(meters) else []
        numbers = [_Column("Demand", needed, demands), *meter, *shares]
    status = max(_STATUS, *(cell_len(view.label) for view in views))
    texts_room = width - _NAME - len(_GAP) - status - sum(len(_GAP) + column.width for column in numbers)
    if texts_room < (2 * _TEXT[0] + len(_GAP) if numbers else _TEXT[0]):
        return _share_table(views, every, numbers[:1], width)
    told = _text_columns(views, texts_room, alone=not numbers and texts_room < _BOTH)
    header, *rows = _rows([*told, *numbers], len(views))
    lines = [f"{'':{_NAME}}{header}{_GAP}Status"]
    for view, cells in zip(views, rows, strict=True):
        text = cells
        if view.resource == "license":
            text = padded(_clipped(view.judged.demand, cell_len(cells)), cell_len(cells))
        lines.append(f"{view.title:{_NAME}}{text}{_GAP}{view.label}")
    left = []  # of the figures that a card must show, which are the last of its measured texts, those that did not fit
    for view in views:
        texts = view.found.texts[_fitting(view.found.texts, told[-1].width) :]
        left.append(", ".join(view.found.further[-len(texts) :] if texts else ()) or UNKNOWN)
    return [*lines, *_later(views, [_Column("Measured", 0, left), *(every[len(shares) :] if numbers else ())], width)]


def _rows(columns: Sequence[_Column], count: int) -> list[str]:
    """Return the titles of columns, then the cells of each card, in a line each."""
    rows = [[column.title for column in columns], *([column.cells[at] for column in columns] for at in range(count))]
    return [_GAP.join(column.padded(cell) for column, cell in zip(columns, row, strict=True)) for row in rows]


def _text_columns(views: Sequence[CardView], free_columns: int, *, alone: bool) -> list[_Column]:
    """Return what was detected and what was measured; ``alone``: only what was measured, where anything was."""
    judged = [view for view in views if view.resource != "license"]
    detected, measured = _text_widths(judged, free_columns - len(_GAP))
    if not alone:
        return [
            _Column("Detected", detected, [fitted(view.detected, detected) for view in views], right=False),
            _Column("Measured", measured, [fitted(view.found.texts, measured) for view in views], right=False),
        ]
    is_measured = any(view.found.texts for view in judged)
    title = "Measured" if is_measured else "Detected"
    texts = [view.found.texts if is_measured else view.detected for view in views]
    return [_Column(title, free_columns, [fitted(text, free_columns) for text in texts], right=False)]


def _later(views: Sequence[CardView], columns: Sequence[_Column], width: int) -> list[str]:
    """Return what has no column as lines, one or more for each kind: ``Year 3    Storage 226%, CPU 59%``."""
    lines = []
    for column in columns:
        shown = (f"{view.title} {text}" for view, text in zip(views, column.cells, strict=True) if text != UNKNOWN)
        lines += wrap(", ".join(shown), width, initial_indent=f"{column.title:{_NAME}}", subsequent_indent=" " * _NAME)
    return lines


def _share_table(
    views: Sequence[CardView], every: Sequence[_Column], demand: Sequence[_Column], width: int
) -> list[str]:
    """Return the shares alone, as many of their columns as fit, with the demand where that fits, too.

    A question mark stands for ``(assumed)`` where that is too wide.
    """
    gap = len(_GAP)
    free_columns = width - _NAME - gap - max(_STATUS, *(cell_len(view.status) for view in views))
    shares = every[: max((free_columns + gap) // (gap + _SHARE), 1)]
    room = free_columns - (gap + _SHARE) * len(shares)
    header, *rows = _rows([*(one for one in demand if one.width <= room), *shares], len(views))
    lines = [f"{'':{_NAME}}{header}{_GAP}Status"]
    for view, cells in zip(views, rows, strict=True):
        text = f"{view.title:{_NAME}}{cells}{_GAP}"
        label = view.label if cell_len(text) + cell_len(view.label) <= width else f"{view.status}?"
        label = label if view.judged.assumed else _clipped(view.status, max(width - cell_len(text), _STATUS))
        lines.append(f"{text}{label}")
    return [*lines, *_later(views, every[len(shares) :], width)]


def fitted(parts: Iterable[str], free_columns: int) -> str:
    """Return the first of these texts that fit into that many columns, commas between them; a dash for none."""
    texts = [one_line(part) for part in parts]
    shown = ", ".join(texts[: _fitting(texts, free_columns)])
    return shown or (_clipped(texts[0], free_columns) if texts else UNKNOWN)


def _fitting(texts: Sequence[str], free_columns: int) -> int:
    """Return how many of these texts fit into that many columns, commas between them."""
    return next((n for n in range(len(texts), 0, -1) if cell_len(", ".join(texts[:n])) <= free_columns), 0)


def _text_widths(views: Sequence[CardView], free_columns: int) -> tuple[int, int]:
    """Return the widths of what was detected and measured: as wide as their texts, or each its part of the room."""
    wanted = [
        _between(_TEXT, max((cell_len(", ".join(parts)) for parts in column), default=0))
        for column in ([view.detected for view in views], [view.found.texts for view in views])
    ]
    if sum(wanted) <= free_columns:
        return wanted[0], wanted[1]
    half = free_columns // 2
    narrow = min(wanted)
    if narrow <= half:
        rest = max(free_columns - narrow, _TEXT[0])
        return (narrow, rest) if wanted[0] == narrow else (rest, narrow)
    return half, free_columns - half


def _between(limits: tuple[int, int], value: int) -> int:
    return min(max(value, limits[0]), limits[1])


def _meter(card: Card) -> str:
    """Return a share as a bar with a mark at the whole capacity, pale up to its worst: ``██▒▒········│·``."""
    best, worst = card.ends
    full, most = (min(max(round(min(end, 2.0) * _METER), 1 if worst > 0 else 0), _METER) for end in (best, worst))
    beyond = "█" if best > 1 else "▒" if worst > 1 else "·"
    return f"{'█' * full}{'▒' * (most - full)}{'·' * (_METER - most)}│{beyond}"


def _clipped(text: str, free_columns: int) -> str:
    return clipped(one_line(text) or UNKNOWN, free_columns)
