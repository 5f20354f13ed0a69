"""The cards: what is known of each resource, and how its demand compares with its capacity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from sizeup.charts.table import UNKNOWN
from sizeup.model.advice import Advice, AdviceSet, Card
from sizeup.sizing.advise import HEADLINE
from sizeup.sizing.verdict import ShareStatus, share_text

if TYPE_CHECKING:
    from sizeup.model.machine import Machine
    from sizeup.session.value import Session

_STATUS = {"pass": "PASS", "warn": "WARN", "fail": "FAIL", "assumed": "ASSUMED", "unknown": "–"}
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
_WORST = ("FAIL", "WARN", "ASSUMED", "PASS", "–")
_JUDGED = _WORST[:-1]
_LIKE_FACTS = ("FAIL", "WARN")
"""Statuses that read like facts; one that rests on a default says so."""
VERDICT = "verdict."
"""What begins the ids of verdicts of a resource."""
OUTAGE = "outage"
"""What stands for the share after a failure that leaves nothing."""


def share_cell(share: float | None) -> str:
    """Return a share as a cell of a table: a dash for none."""
    return UNKNOWN if share is None else share_text(share)


def card_status(card: Card) -> str:
    """Return the status of a card with what it rests on: ``FAIL (assumed)``."""
    return status_label(status_text(card.status), assumed=bool(card.assumed))


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
            unknown = card.status == ShareStatus.UNKNOWN.value
            status.setdefault(card.advice, "NO VERDICT" if unknown else card_status(card))
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
    """One resource as every screen and report shows it: detected, measured, demand and share of capacity.

    A text of several parts has the most important first; where room is short the last go first.
    """

    resource: str
    """``storage``, ``space``, ``cpu``, ``memory``, ``network``, ``clock`` or ``license``."""
    title: str
    status: str
    """``PASS``, ``WARN``, ``FAIL``, ``ASSUMED``, or a dash: demand or capacity is unknown."""
    detected: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    """Valid figures; where none is valid what became of the measurement, in a word."""
    measured_valid: bool = False
    """Whether ``measured`` holds figures that count."""
    measured_void: bool = False
    """Whether steps were measured to their end and none of their figures is valid."""
    measured_open: bool = False
    """Whether those figures only did not converge."""
    demand: str = ""
    capacity: str = ""
    """What the demand was held against, and what limits it; empty where nothing was judged."""
    used: float | None = None
    """Demand over capacity today."""
    n_plus_one: float | None = None
    """The same after the worst single failure."""
    outage: bool = False
    """Whether a single failure leaves nothing."""
    last_year: float | None = None
    """The same in the last year of the horizon."""
    years: float = 0.0
    """The horizon; 0 without one."""
    statement: str = ""
    """The verdict on it in a sentence; empty where nothing was judged."""
    measured_notes: tuple[str, ...] = ()
    """Which steps have no valid figure, and why: a sentence each."""
    notes: tuple[str, ...] = ()
    """What else a reader must know: what was not judged, and in which year the capacity is exceeded."""
    assumed: tuple[str, ...] = ()
    """The defaults that nobody chose and that the status rests on."""
    advice: str = ""
    """Id of the advice that holds the working; empty where there is none."""
    steps: tuple[str, ...] = ()
    """Ids of the session's steps that were measured about it; the first leads its chart."""

    @property
    def label(self) -> str:
        """The status with what it rests on: ``FAIL (assumed)``."""
        return status_label(self.status, assumed=bool(self.assumed))


def card_views(given: AdviceSet, machine: Machine | None, session: Session | None = None) -> tuple[CardView, ...]:
    """Return the cards of a machine, worst first, those without a status last, the licenses at the end.

    ``given`` is the advice that is shown; ``session`` is what was measured.
    """
    judged = {card.resource: card for card in given.cards}
    shown = [resource for resource in TITLES if resource != "space" or (resource in judged and judged[resource].demand)]
    views = [_card_view(judged.get(resource) or Card(resource, "unknown"), machine, session) for resource in shown]
    return tuple(sorted(views, key=lambda view: (view.resource == "license", _WORST.index(view.status))))


def _card_view(card: Card, machine: Machine | None, session: Session | None) -> CardView:
    judged = card.share is not None
    detected: tuple[str, ...] = (card.detected,) if card.detected else ()
    if machine is not None:
        from sizeup.views.cards.detected import detected_texts

        detected = detected_texts(machine, card.resource) or detected
    view = CardView(
        card.resource,
        TITLES[card.resource],
        _STATUS.get(card.status, _STATUS["unknown"]),
        detected,
        demand=card.demand,
        capacity=card.detected if judged else "",
        used=card.share,
        n_plus_one=card.n_plus_one,
        outage=card.outage,
        last_year=card.last_year,
        years=card.horizon_years,
        statement=card.statement,
        notes=card.sentences,
        assumed=card.assumed,
        advice=card.advice,
    )
    if session is None or not session.steps:
        return view
    from sizeup.views.cards.measured import measured_texts  # which the first screen of a machine does without

    found = measured_texts(session, card.resource)
    return replace(
        view,
        measured=found.texts,
        measured_valid=found.valid,
        measured_void=found.void,
        measured_open=found.open,
        measured_notes=found.notes,
        steps=found.steps,
    )


def cards_data(views: Sequence[CardView]) -> list[dict[str, Any]]:
    """Return cards as plain data; shares are fractions of the capacity, unknown ones null."""
    return [
        {
            "card": view.resource,
            "status": view.status if view.status in _JUDGED else None,
            "assumed": list(view.assumed),
            "detected": list(view.detected),
            "measured": list(view.measured),
            "measured_valid": view.measured_valid,
            "demand": view.demand,
            "capacity": view.capacity,
            "used": view.used,
            "n_plus_one": view.n_plus_one,
            "outage": view.outage,
            "last_year": view.last_year,
            "horizon_years": view.years,
            "statement": view.statement,
            "measured_notes": list(view.measured_notes),
            "notes": list(view.notes),
            "steps": list(view.steps),
        }
        for view in views
    ]
