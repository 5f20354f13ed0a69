"""The table of all resources that sizing answers with, as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from sizeup.model.advice import Card
from sizeup.sizing.io.share import DISKS, IOPS, PATHS, THROUGHPUT
from sizeup.sizing.verdict import ShareStatus, share_text
from sizeup.text import cell_len
from sizeup.units import format_in
from sizeup.views.cards.cards import OUTAGE, TITLES, card_status

_ONLY_KNOWN = frozenset({"space", "network"})
"""Resources without a line where nothing of them is known."""


def answer_table(cards: Sequence[Card], width: int) -> list[str]:
    """Return the table: a line for each resource, also where nothing of it is known."""
    rows = [card for card in cards if card.resource not in _ONLY_KNOWN or card.detected or card.demand]
    if not rows:
        return []
    last = [card for card in rows if card.resource == "license"]
    rows = [*(card for card in rows if card.resource != "license"), *last]
    years = max((card.horizon_years for card in rows), default=0.0)
    numbers = [("Used", [_share(card.share) for card in rows]), ("N+1", [_after_failure(card) for card in rows])]
    if years:
        numbers.append((f"Year {format_in(years, '')}", [_share(card.last_year) for card in rows]))
    statuses = [_table_status(card) for card in rows]
    end = max(7, *map(cell_len, statuses))
    tail = 2 + end + 8 * len(numbers)
    demand = min(max([6, *(cell_len(card.demand) for card in rows if card.resource != "license")]), 20)
    capacity_width = width - 9 - tail - demand - 2
    head = f"{'':9}{'Capacity':{capacity_width}}  {'Demand':>{demand}}"
    lines = [f"{head}{''.join(f'{title:>8}' for title, _ in numbers)}  Status".rstrip()]
    for number, card in enumerate(rows):
        name = f"{_row_name(card):9}"
        if card.resource == "license":
            text = card.demand or "unknown"
            text = text if cell_len(text) <= width - 11 - end else text.partition(" over ")[0]
            text = _clipped(text, width - 11 - end)
            lines.append(f"{name}{text:{width - 11 - end}}  {statuses[number]}")
            continue
        cells = "".join(f"{values[number]:>8}" for _, values in numbers)
        capacity = _fitted(", ".join(filter(None, (card.detected, card.measured))) or "unknown", capacity_width)
        needed = _clipped(card.demand or "–", demand)
        lines.append(f"{name}{capacity:{capacity_width}}  {needed:>{demand}}{cells}  {statuses[number]}")
    return lines


def _row_name(card: Card) -> str:
    """Return the resource of a row; of storage the part that was judged."""
    return _JUDGED_PARTS.get(card.not_judged, TITLES[card.resource])


_JUDGED_PARTS = {DISKS: "Paths", PATHS: "Drives", IOPS: "MB/s", THROUGHPUT: "IOPS"}
"""What was judged of the storage, by what was not."""


def _table_status(card: Card) -> str:
    """Return the status of a line; ``unknown`` where there is a demand, and a dash where there is none."""
    return "unknown" if card.demand and card.status == ShareStatus.UNKNOWN.value else card_status(card)


def _share(share: float | None) -> str:
    return "–" if share is None else share_text(share)


def _after_failure(card: Card) -> str:
    """Return the share after the worst single failure; ``outage`` where a failure leaves nothing."""
    return OUTAGE if card.outage else _share(card.n_plus_one)


def _fitted(text: str, width: int) -> str:
    """Return a capacity; where it is too wide without the words in brackets behind it."""
    return text if cell_len(text) <= width else _clipped(text.partition(" (")[0], width)


def _clipped(text: str, width: int) -> str:
    return text if cell_len(text) <= width else f"{text[: width - 1]}…"
