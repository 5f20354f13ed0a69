"""The cards: what is known of each resource, and how its demand compares with its capacity."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from sizeup.charts.table import UNKNOWN
from sizeup.model.advice import Advice, AdviceSet, Card
from sizeup.quantity import Origin
from sizeup.sizing.advise import HEADLINE
from sizeup.sizing.verdict import ShareStatus, share_text
from sizeup.units import format_in
from sizeup.views.cards.measured_texts import MeasuredTexts

if TYPE_CHECKING:
    from sizeup.model.machine import Machine
    from sizeup.session.value import Session

_STATUS = {
    "pass": "PASS",
    "warn": "WARN",
    "fail": "FAIL",
    "uncertain": "NOT CERTAIN",
    "assumed": "ASSUMED",
    "unknown": "–",
}
TITLES = {
    "storage": "Storage",
    "space": "Space",
    "cpu": "CPU",
    "memory": "Memory",
    "network": "Network",
    "clock": "Clock",
    "license": "License",
}
"""The cards, in their order among those of one status."""
_WORST = ("FAIL", "WARN", "NOT CERTAIN", "ASSUMED", "PASS", "–")
_LIKE_FACTS = ("FAIL", "WARN")
"""Statuses that read like facts; one that rests on a default says so."""
VERDICT = "verdict."
"""What begins the ids of verdicts of a resource."""
OUTAGE = "outage"
"""What stands for the share after a failure that leaves nothing."""
_CAPACITY_KEYS = ("machine.cores", "machine.sockets", "machine.memory_gib", "capacity.", "path.", "array.", "device.")
"""What begins the keys of inputs that describe a capacity."""
USED, N_PLUS_ONE = "Used", "N+1"
"""Titles of columns: the share of the capacity that the demand takes, today and after the worst single failure."""


def share_cell(share: float | None) -> str:
    """Return a share as a cell of a table: a dash for none."""
    return UNKNOWN if share is None else share_text(share)


def share_columns(cards: Sequence[Card]) -> list[tuple[str, list[str]]]:
    """Return title and cells of shares: today, after the worst failure, in the last year; an empty text for none."""

    def texts(shares: Iterable[float | None]) -> list[str]:
        return ["" if share is None else share_text(share) for share in shares]

    lost = texts(card.n_plus_one for card in cards)
    columns = [
        (USED, texts(card.share for card in cards)),
        (N_PLUS_ONE, [OUTAGE if card.outage else text for card, text in zip(cards, lost, strict=True)]),
    ]
    years = max((card.horizon_years for card in cards), default=0.0)
    last = (f"Year {format_in(years, '')}", texts(card.last_year for card in cards))
    return [*columns, last] if years else columns


def card_status(card: Card) -> str:
    """Return the status of a card with what it rests on: ``FAIL (assumed)``."""
    status = "NO VERDICT" if card.status == ShareStatus.UNKNOWN.value else status_text(card.status)
    return status_label(status, assumed=bool(card.assumed))


def status_label(status: str, *, assumed: bool) -> str:
    """Return a status as it is shown, with what it rests on where it would read like a fact: ``FAIL (assumed)``."""
    return f"{status} (assumed)" if assumed and status.upper() in _LIKE_FACTS else status


def status_text(status: str) -> str:
    """Return a status as it is shown: ``PASS``, or a dash for none."""
    return _STATUS.get(status, status)


def verdicts_first(given: AdviceSet) -> list[tuple[Advice, str]]:
    """Return all advice, each with its line: verdicts of resources lead with their status, the one that decides first.

    The rest follows in its own order.
    """
    status: dict[str, str] = {}
    for card in given.cards:
        if card.advice.startswith(VERDICT):
            status.setdefault(card.advice, card_status(card))
    rank = {name: position for position, name in enumerate(status)}
    ordered = sorted(given.advice, key=lambda advice: rank.get(advice.id, len(rank)))
    return [
        (advice, f"{status[advice.id]}  {advice.verdict}" if advice.id in status else advice.verdict)
        for advice in ordered
    ]


def lacks_workload(given: AdviceSet) -> bool:
    """Return whether nothing is judged because no workload is given."""
    headline = given.find(HEADLINE)
    judged = any(advice.id.startswith(VERDICT) for advice in given.advice)
    return not judged and headline is not None and headline.decision == ShareStatus.UNKNOWN.value


class CardView(Struct, frozen=True):
    """One resource: what it is, what was measured of it, and how its demand compares with its capacity."""

    judged: Card
    detected: tuple[str, ...] = ()
    found: MeasuredTexts = MeasuredTexts()
    """What a session measured of it."""

    @property
    def resource(self) -> str:
        """``storage``, ``space``, ``cpu``, ``memory``, ``network``, ``clock`` or ``license``."""
        return self.judged.resource

    @property
    def title(self) -> str:
        """The resource as it is shown."""
        return TITLES[self.resource]

    @property
    def status(self) -> str:
        """``PASS``, ``WARN``, ``FAIL``, ``ASSUMED``, or a dash: demand or capacity is unknown."""
        return _STATUS.get(self.judged.status, UNKNOWN)

    @property
    def label(self) -> str:
        """The status with what it rests on: ``FAIL (assumed)``; ``NO VERDICT`` for a demand without a capacity."""
        if self.judged.demand and self.judged.status == ShareStatus.UNKNOWN.value and self.resource != "license":
            return card_status(self.judged)
        return status_label(self.status, assumed=bool(self.judged.assumed))


def card_views(given: AdviceSet, machine: Machine | None, session: Session | None = None) -> tuple[CardView, ...]:
    """Return the cards of a machine, worst first, those without a status last, the licenses at the end.

    ``given`` is the advice that is shown; ``session`` is what was measured.
    """
    judged = {card.resource: card for card in given.cards}
    shown = [resource for resource in TITLES if resource != "space" or (resource in judged and judged[resource].demand)]
    views = [_card_view(judged.get(name) or Card(name, "unknown"), given, machine, session) for name in shown]
    return tuple(sorted(views, key=lambda view: (view.resource == "license", _WORST.index(view.status))))


def _card_view(card: Card, given: AdviceSet, machine: Machine | None, session: Session | None) -> CardView:
    judging = given.find(card.advice)
    inputs = () if judging is None else judging.inputs
    of_user = (one.key for one in inputs if one.quantity is not None and one.quantity.origin is Origin.USER)
    entered = bool(card.detected) and any(key.startswith(_CAPACITY_KEYS) for key in of_user)
    view = CardView(card, (f"{card.detected}{' entered' if entered else ''}",) if card.detected else ())
    if machine is not None:
        from sizeup.views.cards.detected import detected_texts

        detected = detected_texts(machine, card.resource) or view.detected
        view = replace(view, detected=tuple(dict.fromkeys((*view.detected, *detected))) if entered else detected)
    if session is None or not session.steps:
        return view
    from sizeup.views.cards.measured import measured_texts  # which the first screen of a machine does without

    return replace(view, found=measured_texts(session, card.resource))


def cards_data(views: Sequence[CardView]) -> list[dict[str, Any]]:
    """Return cards as plain data; shares are fractions of the capacity, unknown ones null."""
    return [
        {
            "card": view.resource,
            "status": None if view.status == UNKNOWN else view.status,
            "certain": view.judged.status != ShareStatus.UNCERTAIN.value and not view.judged.assumed,
            "at_best_and_worst": [end if math.isfinite(end) else None for end in view.judged.ends],
            "assumed": list(view.judged.assumed),
            "detected": list(view.detected),
            "measured": list(view.found.texts),
            "measured_valid": view.found.valid,
            "demand": view.judged.demand,
            "capacity": "" if view.judged.share is None else view.judged.detected,
            "used": view.judged.share,
            "n_plus_one": view.judged.n_plus_one,
            "outage": view.judged.outage,
            "last_year": view.judged.last_year,
            "horizon_years": view.judged.horizon_years,
            "statement": view.judged.statement,
            "measured_notes": list(view.found.notes),
            "notes": list(view.judged.sentences),
            "steps": list(view.found.steps),
        }
        for view in views
    ]
