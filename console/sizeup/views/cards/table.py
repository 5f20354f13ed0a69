"""The card table as lines of text: a line for each resource, at any width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

from msgspec import Struct

from sizeup.charts.table import UNKNOWN
from sizeup.model.advice import Card
from sizeup.text import cell_len, one_line
from sizeup.units import format_in
from sizeup.views.cards.cards import OUTAGE, CardView, share_cell

WIDE = 110
"""From this width on there is room for a meter and for the last year."""
_NAME = 10
_STATUS = 7
_SHARE = 6
_GAP = 2
_DEMAND = (6, 18)
"""The narrowest and the widest column of demands: ``12.3 to 24.6 cores``."""
_TEXT = (8, 44)
"""The same of what was detected, and of what was measured."""
_BOTH = 36
"""Columns from which on a table without a demand has both."""
_METER = 12
"""Cells of a meter up to the whole capacity; one more shows that the demand exceeds it."""
_USED, _N_PLUS_ONE = "Used", "N+1"


class CardLine(Struct, frozen=True):
    """One line of the table, with where its parts begin and end for a screen that colors them."""

    resource: str
    text: str
    """Without the status."""
    status: str
    label: str
    """The status as it is shown: ``FAIL (assumed)``."""
    meter: tuple[int, int] = (0, 0)
    """Characters of the meter; equal where there is none."""

    @property
    def whole(self) -> str:
        """The line with its status at the end."""
        return f"{self.text}{self.label}"


class CardTable(Struct, frozen=True):
    """The header and a line for each card."""

    header: str
    lines: tuple[CardLine, ...]
    later: tuple[str, ...] = ()
    """Shares that have no column here, a line or more for each: ``Year 3    Storage 226%, CPU 59%``."""

    def text(self) -> list[str]:
        """Return the table as lines."""
        return [self.header, *(line.whole for line in self.lines), *self.later]


class _CellColumn(Struct, frozen=True):
    title: str
    width: int
    cells: Sequence[str]
    """One for each card, no wider than the column."""
    right: bool = True

    def padded(self, text: str) -> str:
        return _padded(text, self.width, right=self.right)


def card_table(views: Sequence[CardView], width: int) -> CardTable:
    """Return the table in at most ``width`` columns, from 25 on; its lines are padded up to the status.

    The share after a failure has a column at every width from 33 on where it is known of any card; shares without a
    column have a line below. Without any demand its columns leave their room to what was detected and measured.
    """
    wide = width >= WIDE
    judged = [view for view in views if view.resource != "license"]
    every = _share_columns(views, wide=wide)
    shares = [column for column in every if wide or column[0] in (_USED, _N_PLUS_ONE)]
    demand = _between(_DEMAND, max((cell_len(view.judged.demand) for view in judged), default=0))
    numbers = [_CellColumn(title, _SHARE, cells) for title, cells in shares]
    meters = _CellColumn("", _METER + 2, ["" if view.judged.share is None else _meter(view.judged) for view in views])
    if wide and any(view.judged.share is not None for view in views):
        numbers.insert(0, meters)
    if any(view.judged.demand or view.judged.share is not None for view in judged):
        numbers.insert(0, _CellColumn("Demand", demand, [_clipped(view.judged.demand, demand) for view in views]))
    else:
        numbers = []
    status = max(_STATUS, *(cell_len(view.label) for view in views))
    texts_room = width - _NAME - _GAP - status - sum(_GAP + column.width for column in numbers)
    if texts_room < (2 * _TEXT[0] + _GAP if numbers else _TEXT[0]):
        return _share_table(views, every, demand if numbers else 0, width)
    told = _text_columns(views, texts_room, alone=not numbers and texts_room < _BOTH)
    columns = [*told, *numbers]
    gap = " " * _GAP
    lines = []
    for number, view in enumerate(views):
        cells = gap.join(column.padded(column.cells[number]) for column in columns)
        start = end = 0
        if view.resource == "license":
            cells = _padded(_clipped(view.judged.demand or UNKNOWN, cell_len(cells)), cell_len(cells))
        elif view.judged.share is not None and meters in columns:
            start = _NAME + sum(column.width + _GAP for column in columns[: columns.index(meters)])
            end = start + meters.width
        lines.append(
            CardLine(view.resource, f"{view.title:{_NAME}}{cells}{gap}", view.status, view.label, (start, end))
        )
    titles = gap.join(column.padded(column.title) for column in columns)
    left = [", ".join(view.found.further[_shown_further(view, told[-1].width) :]) or UNKNOWN for view in views]
    later = _later(views, [("Measured", left), *(every[len(shares) :] if numbers else ())], width)
    return CardTable(f"{'':{_NAME}}{titles}{gap}Status", tuple(lines), later)


def _text_columns(views: Sequence[CardView], free_columns: int, *, alone: bool) -> list[_CellColumn]:
    """Return what was detected and what was measured; ``alone``: only what was measured, where anything was."""
    judged = [view for view in views if view.resource != "license"]
    detected, measured = _text_widths(judged, free_columns - _GAP)
    if not alone:
        return [
            _CellColumn("Detected", detected, [fitted(view.detected, detected) for view in views], right=False),
            _CellColumn("Measured", measured, [fitted(view.found.texts, measured) for view in views], right=False),
        ]
    is_measured = any(view.found.texts for view in judged)
    title = "Measured" if is_measured else "Detected"
    texts = [view.found.texts if is_measured else view.detected for view in views]
    return [_CellColumn(title, free_columns, [fitted(text, free_columns) for text in texts], right=False)]


def _later(views: Sequence[CardView], columns: Sequence[tuple[str, list[str]]], width: int) -> tuple[str, ...]:
    """Return shares that have no column as lines, one or more for each kind."""
    lines = []
    for title, texts in columns:
        shares = (f"{view.title} {text}" for view, text in zip(views, texts, strict=True) if text != UNKNOWN)
        lines += wrap(", ".join(shares), width, initial_indent=f"{title:{_NAME}}", subsequent_indent=" " * _NAME)
    return tuple(lines)


def _share_columns(views: Sequence[CardView], *, wide: bool) -> list[tuple[str, list[str]]]:
    """Return title and cells of each column of shares: today, after the worst failure, in the last year."""
    columns = [(_USED, [share_cell(view.judged.share) for view in views])]
    if wide or any(view.judged.outage or view.judged.n_plus_one is not None for view in views):
        columns.append(
            (_N_PLUS_ONE, [OUTAGE if view.judged.outage else share_cell(view.judged.n_plus_one) for view in views])
        )
    years = max((view.judged.horizon_years for view in views), default=0.0)
    if years and any(view.judged.last_year is not None for view in views):
        columns.append((f"Year {format_in(years, '')}", [share_cell(view.judged.last_year) for view in views]))
    return columns


def _share_table(
    views: Sequence[CardView], every: Sequence[tuple[str, list[str]]], demand: int, width: int
) -> CardTable:
    """Return the shares alone, as many of their columns as fit, with the demand where that fits, too.

    A question mark stands for ``(assumed)`` where that is too wide.
    """
    status = max(_STATUS, *(cell_len(view.status) for view in views))
    free_columns = width - _NAME - _GAP - status
    shares = every[: max((free_columns + _GAP) // (_GAP + _SHARE), 1)]
    with_demand = demand and free_columns >= demand + (_GAP + _SHARE) * len(shares)
    columns = [(title, _SHARE, texts) for title, texts in shares]
    if with_demand:
        needed = ["" if view.resource == "license" else _clipped(view.judged.demand, demand) for view in views]
        columns.insert(0, ("Demand", demand, needed))
    gap = " " * _GAP
    header = gap.join(f"{title:>{wide}}" for title, wide, _ in columns)
    lines = []
    for number, view in enumerate(views):
        cells = gap.join(_padded(texts[number], wide, right=True) for _, wide, texts in columns)
        text = f"{view.title:{_NAME}}{cells}{gap}"
        label = view.label if cell_len(text) + cell_len(view.label) <= width else f"{view.status}?"
        label = label if view.judged.assumed else _clipped(view.status, max(width - cell_len(text), _STATUS))
        lines.append(CardLine(view.resource, text, view.status, label))
    return CardTable(f"{'':{_NAME}}{header}{gap}Status", tuple(lines), _later(views, every[len(shares) :], width))


def fitted(parts: Iterable[str], free_columns: int) -> str:
    """Return the first of these texts that fit into that many columns, commas between them; a dash for none."""
    texts = [one_line(part) for part in parts]
    shown = ", ".join(texts[: _fitting(texts, free_columns)])
    return shown or (_clipped(texts[0], free_columns) if texts else UNKNOWN)


def _fitting(texts: Sequence[str], free_columns: int) -> int:
    """Return how many of these texts fit into that many columns, commas between them."""
    return next((n for n in range(len(texts), 0, -1) if cell_len(", ".join(texts[:n])) <= free_columns), 0)


def _shown_further(view: CardView, free_columns: int) -> int:
    """Return how many of the figures that a card must show fit among its measured texts, whose last they are."""
    return max(0, _fitting(view.found.texts, free_columns) - len(view.found.texts) + len(view.found.further))


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


def _padded(text: str, width: int, *, right: bool = False) -> str:
    blanks = " " * max(width - cell_len(text), 0)
    return blanks + text if right else text + blanks


def _clipped(text: str, free_columns: int) -> str:
    text = one_line(text) or UNKNOWN
    return text if cell_len(text) <= free_columns else f"{text[: max(free_columns - 1, 0)]}…"
