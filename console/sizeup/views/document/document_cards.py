"""The cards of a document: their table, and what of them stands in notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sizeup.charts.table import UNKNOWN, Column, Table
from sizeup.sizing.verdict import share_text
from sizeup.units import format_in
from sizeup.views.cards.cards import OUTAGE, CardView

DEMAND = "Demand"
SHARE = "Used"
"""The column with the share of the capacity that the demand takes."""


def cards_table(cards: Sequence[CardView]) -> Table:
    """Return the cards as a table; values that no card has are left out."""
    judged = [title for title, value in _judged(cards) if any(value(card) for card in cards)]
    columns = (
        *(Column(title) for title in ("Resource", "Detected", "Measured")),
        *(Column(title, numeric=True) for title in judged),
        Column("Status"),
    )
    rows = (
        (
            card.title,
            ", ".join(card.detected) or UNKNOWN,
            ", ".join(card.measured) or UNKNOWN,
            *(value(card) or UNKNOWN for title, value in _judged(cards) if title in judged),
            card.label,
        )
        for card in cards
    )
    return Table("", columns, tuple(rows))


def _judged(cards: Sequence[CardView]) -> tuple[tuple[str, Callable[[CardView], str]], ...]:
    """The columns of demand and shares, each with how it is read from a card; empty where a card has none."""
    years = max((card.years for card in cards), default=0.0)
    return (
        (DEMAND, lambda card: card.demand),
        (SHARE, lambda card: _share(card.used)),
        ("N+1", lambda card: OUTAGE if card.outage else _share(card.n_plus_one)),
        (f"Year {format_in(years, '')}", lambda card: _share(card.last_year)),
    )


def _share(share: float | None) -> str:
    return "" if share is None else share_text(share)


def card_notes(cards: Sequence[CardView]) -> list[str]:
    """Return what the cards have beside their figures, each with the name of its card."""
    return [note if note.startswith(card.title) else f"{card.title}: {note}" for card in cards for note in card.notes]
