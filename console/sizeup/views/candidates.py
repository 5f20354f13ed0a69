"""Candidates side by side: the verdict on each, what limits it, its shares and what its licenses cost."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from sizeup.charts.table import UNKNOWN, Column, Table
from sizeup.model.advice import Card
from sizeup.sizing.advise import Sizing
from sizeup.sizing.cards import open_cards, overall, verdict
from sizeup.sizing.verdict import ShareStatus, share_text
from sizeup.units import format_in
from sizeup.views.cards import OUTAGE, TITLES, is_outage, status_label, status_text
from sizeup.views.verdict import NO_VERDICT, first_card, unsettled_note

_BEST_FIRST = ("PASS", "ASSUMED", "WARN", NO_VERDICT, "FAIL")
_PRICED = "license.cost.term"


class Candidate(Struct, frozen=True):
    """A server to choose from."""

    name: str
    sizing: Sizing

    @property
    def status(self) -> str:
        """The verdict on the whole: ``PASS``, or ``NO VERDICT`` where a demand or a capacity is unknown."""
        status = overall(self.sizing.cards)
        return NO_VERDICT if status is ShareStatus.UNKNOWN else status_text(status.value)

    @property
    def limit(self) -> Card | None:
        """What limits it: what decides where that is bad or open, else what has the least left; None for no demand."""
        decides = verdict(self.sizing.cards)
        bad = (ShareStatus.FAIL.value, ShareStatus.WARN.value)
        if decides is not None and decides.status in bad:
            return decides
        if open_cards(self.sizing.cards):
            return first_card(self.sizing.cards)
        judged = [card for card in self.sizing.cards if card.share is not None]
        return max(judged, key=lambda card: max(card.share or 0.0, card.last_year or 0.0), default=None)

    @property
    def cost(self) -> float | None:
        """Licenses and support over the term in dollars; None where it is unknown."""
        found = self.sizing.find(_PRICED)
        return None if found is None or found.quantity is None else found.quantity.value


def best_first(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates by their verdict, then by the cost of their licenses, unknown ones last."""
    return sorted(
        candidates, key=lambda one: (_BEST_FIRST.index(one.status), one.cost is None, one.cost or 0.0, one.name)
    )


def candidate_table(candidates: Sequence[Candidate]) -> Table:
    """Return a row for each candidate: the verdict, what limits it, its shares, and what its licenses cost."""
    rows = tuple(_row(one, name) for one, name in zip(candidates, short_names(candidates), strict=True))
    years = max((card.horizon_years for one in candidates for card in one.sizing.cards), default=0.0)
    later = (Column(f"Year {format_in(years, '')}", numeric=True),) if years else ()
    columns = (
        *(Column(title) for title in ("Candidate", "Verdict", "Limit")),
        *(Column(title, numeric=True) for title in ("Used", "N+1")),
        *later,
        Column("Licenses", numeric=True),
    )
    terms = {found.title.removeprefix("Cost") for one in candidates if (found := one.sizing.find(_PRICED)) is not None}
    note = f"Licenses and their support{terms.pop()}, by list prices" if len(terms) == 1 else ""
    return Table("", columns, rows if years else tuple((*row[:5], row[6]) for row in rows), note)


def candidate_sentences(candidates: Sequence[Candidate]) -> list[str]:
    """Return what limits each candidate and, where it has no verdict, what was judged; of some the same in one."""
    of_text: dict[str, list[str]] = {}
    for one, name in zip(candidates, short_names(candidates), strict=True):
        of_text.setdefault(_sentence(one), []).append(name)
    return [f"{', '.join(names)}: {text}" for text, names in of_text.items()]


def _sentence(one: Candidate) -> str:
    card = one.limit
    if card is None:
        return "no workload. Give one with --workload FILE"
    judged = [each for each in one.sizing.cards if each.share is not None] if one.status == NO_VERDICT else []
    known = ", ".join(f"{TITLES[each.resource]} {share_text(each.share or 0.0)}" for each in judged)
    return f"{card.statement}{unsettled_note(card, one.sizing.cards)}{f'. Judged: {known}' if known else ''}"


def _row(one: Candidate, name: str) -> tuple[str, ...]:
    """Return a row; its shares are the highest of all resources, now, after a failure and in the last year."""
    card, cards = one.limit, one.sizing.cards if one.status != NO_VERDICT else ()
    after = any(each.n_plus_one is not None for each in cards)
    of_each = (
        [each.share for each in cards],
        [each.share if each.n_plus_one is None else each.n_plus_one for each in cards if after],
        [each.last_year for each in cards],
    )
    shares = [[share for share in column if share is not None] for column in of_each]
    used, left, later = (share_text(max(column)) if column else UNKNOWN for column in shares)
    if any(is_outage(each) for each in cards):
        left = OUTAGE
    label = status_label(one.status, assumed=card is not None and bool(card.assumed))
    return (name, label, UNKNOWN if card is None else TITLES[card.resource], used, left, later, _cost(one))


def _cost(one: Candidate) -> str:
    """Return the cost of the licenses: ``$1.26M assumed`` where nobody chose the edition."""
    found = one.sizing.find(_PRICED)
    card = next(card for card in one.sizing.cards if card.resource == "license")
    if card.status == ShareStatus.FAIL.value:
        return "not permitted"
    if found is None or found.quantity is None:
        return UNKNOWN
    ends = dict.fromkeys(value for value in (found.quantity.low, found.quantity.high) if value is not None) or {
        found.quantity.value: None
    }
    text = " to ".join(
        f"${format_in(float(f'{value / 1e6:.3g}'), '')}M" if value >= 1e6 else f"${value:,.0f}" for value in ends
    )
    return f"{text} assumed" if card.status == ShareStatus.ASSUMED.value else text


def short_names(candidates: Sequence[Candidate]) -> list[str]:
    """Return the last part of each path that tells the names apart, else the names without what all of them share."""
    names = [one.name for one in candidates]
    parts = [name.rstrip("/").split("/") for name in names]
    shared = 0
    while (
        len(names) > 1 and all(len(part) > shared + 1 for part in parts) and len({part[shared] for part in parts}) == 1
    ):
        shared += 1
    parts = [part[shared:] for part in parts]
    while len(names) > 1 and all(len(part) > 1 for part in parts) and len({part[-1] for part in parts}) == 1:
        parts = [part[:-1] for part in parts]
    last = [part[-1] for part in parts]
    if len(set(last)) == len(last) and all(last):
        return last
    return ["/".join(part) or name for part, name in zip(parts, names, strict=True)]
