"""The card table as lines of text: a line for each resource, at any width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from sizeup.charts.table import UNKNOWN
from sizeup.sizing.verdict import share_text
from sizeup.text import cell_len, one_line
from sizeup.units import format_in
from sizeup.views.cards import OUTAGE, CardView

WIDE = 110
"""From so many columns on there is room for a meter and for the last year."""
_NAME = 10
_STATUS = 7
_SHARE = 6
_GAP = 2
_DEMAND = (6, 14)
"""The narrowest and the widest column of demands."""
_TEXT = (8, 44)
"""The same of what was detected, and of what was measured."""
_METER = 12
"""Cells of a meter up to the whole capacity; one more shows that the demand exceeds it."""


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

    def text(self) -> list[str]:
        """Return the table as lines."""
        return [self.header, *(line.whole for line in self.lines)]


def card_table(views: Sequence[CardView], width: int) -> CardTable:
    """Return the table in at most ``width`` columns, from 25 on; its lines are padded up to the status.

    The share after a failure has a column at every width from 33 on where it is known of any card.
    """
    wide = width >= WIDE
    judged = [view for view in views if view.resource != "license"]
    shares = _share_columns(views, wide=wide)
    demand = _between(_DEMAND, max((cell_len(view.demand) for view in judged), default=0))
    meter = wide and any(view.used is not None for view in views)
    status = max(_STATUS, *(cell_len(view.label) for view in views))
    tail = (_GAP + _METER + 2) * meter + (_GAP + _SHARE) * len(shares) + _GAP + status
    texts_room = width - _NAME - _GAP - _GAP - demand - tail
    if texts_room < 2 * _TEXT[0]:
        return _share_table(views, shares, demand, width)
    detected, measured = _text_widths(judged, texts_room)
    meter_title = " " * (_GAP + _METER + 2) if meter else ""
    titles = "".join(f"{'':{_GAP}}{title:>{_SHARE}}" for title, _ in shares)
    header = (
        f"{'':{_NAME}}{'Detected':{detected}}  {'Measured':{measured}}  {'Demand':>{demand}}{meter_title}{titles}"
        f"{'':{_GAP}}Status"
    )
    lines = []
    for number, view in enumerate(views):
        name = f"{view.title:{_NAME}}"
        free_columns = detected + measured + demand + 2 * _GAP
        if view.resource == "license":
            whole = free_columns + tail - _GAP - status
            text = f"{name}{_padded(_clipped(view.demand or UNKNOWN, whole), whole)}{'':{_GAP}}"
            lines.append(CardLine(view.resource, text, view.status, view.label))
            continue
        needed = _padded(_clipped(view.demand, demand), demand, right=True)
        texts = (_padded(fitted(view.detected, detected), detected), _padded(fitted(view.measured, measured), measured))
        text = name + "  ".join((*texts, needed))
        start = len(text) + _GAP
        bar = _meter(view.used) if meter and view.used is not None else ""
        text += f"{'':{_GAP}}{bar:{_METER + 2}}" if meter else ""
        cells = "".join(f"{'':{_GAP}}{values[number]:>{_SHARE}}" for _, values in shares)
        lines.append(
            CardLine(
                view.resource,
                f"{text}{cells}{'':{_GAP}}",
                view.status,
                view.label,
                (start, start + len(bar)) if bar else (0, 0),
            )
        )
    return CardTable(header, tuple(lines))


def _share_columns(views: Sequence[CardView], *, wide: bool) -> list[tuple[str, list[str]]]:
    """Return title and cells of each column of shares: today, after the worst failure, in the last year."""
    columns = [("Used", [_share(view.used) for view in views])]
    if wide or any(view.outage or view.n_plus_one is not None for view in views):
        columns.append(("N+1", [OUTAGE if view.outage else _share(view.n_plus_one) for view in views]))
    years = max((view.years for view in views), default=0.0)
    if wide and years:
        columns.append((f"Year {format_in(years, '')}", [_share(view.last_year) for view in views]))
    return columns


def _share_table(
    views: Sequence[CardView], shares: Sequence[tuple[str, list[str]]], demand: int, width: int
) -> CardTable:
    """Return the shares alone, as many of their columns as fit, with the demand where that fits, too.

    A question mark stands for ``(assumed)`` where that is too wide.
    """
    free_columns = width - _NAME - _GAP - _STATUS
    shares = shares[: max((free_columns + _GAP) // (_GAP + _SHARE), 1)]
    with_demand = free_columns >= demand + (_GAP + _SHARE) * len(shares)
    columns = [(title, _SHARE, texts) for title, texts in shares]
    if with_demand:
        needed = ["" if view.resource == "license" else _clipped(view.demand, demand) for view in views]
        columns.insert(0, ("Demand", demand, needed))
    gap = " " * _GAP
    header = gap.join(f"{title:>{wide}}" for title, wide, _ in columns)
    lines = []
    for number, view in enumerate(views):
        cells = gap.join(_padded(texts[number], wide, right=True) for _, wide, texts in columns)
        text = f"{view.title:{_NAME}}{cells}{gap}"
        label = view.label if cell_len(text) + cell_len(view.label) <= width else f"{view.status}?"
        lines.append(CardLine(view.resource, text, view.status, label))
    return CardTable(f"{'':{_NAME}}{header}{gap}Status", tuple(lines))


def fitted(parts: Iterable[str], free_columns: int) -> str:
    """Return the first of these texts that fit into so many columns, commas between them; a dash for none."""
    text = ""
    for part in map(one_line, parts):
        longer = f"{text}, {part}" if text else part
        if cell_len(longer) > free_columns:
            return text or _clipped(longer, free_columns)
        text = longer
    return text or UNKNOWN


def _text_widths(views: Sequence[CardView], free_columns: int) -> tuple[int, int]:
    """Return the widths of what was detected and measured: as wide as their texts, or each its part of the room."""
    wanted = [
        _between(_TEXT, max((cell_len(", ".join(parts)) for parts in column), default=0))
        for column in ([view.detected for view in views], [view.measured for view in views])
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


def _meter(share: float) -> str:
    """Return a share as a bar with a mark at the whole capacity: ``███·········│·``."""
    full = min(max(round(share * _METER), 1 if share > 0 else 0), _METER)
    return f"{'█' * full}{'·' * (_METER - full)}│{'█' if share > 1 else '·'}"


def _share(share: float | None) -> str:
    return UNKNOWN if share is None else share_text(share)


def _padded(text: str, width: int, *, right: bool = False) -> str:
    blanks = " " * max(width - cell_len(text), 0)
    return blanks + text if right else text + blanks


def _clipped(text: str, free_columns: int) -> str:
    text = one_line(text) or UNKNOWN
    return text if cell_len(text) <= free_columns else f"{text[: max(free_columns - 1, 0)]}…"
