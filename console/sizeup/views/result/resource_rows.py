"""A row for each resource: what it is, what the workload takes of it, and how it stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from sizeup.charts.share_bar import ShareBar
from sizeup.charts.table import UNKNOWN
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.sizing.verdict import share_text
from sizeup.text import plural
from sizeup.views.cards.balance import Balance, delivers
from sizeup.views.cards.cards import OUTAGE, CardView
from sizeup.views.result.band import card_bar, status_token
from sizeup.views.result.summary import SEVERITY_WORDS
from sizeup.views.result.verdict import resource_of


class ResourceRow(Struct, frozen=True):
    """One row; an empty text is a blank cell."""

    resource: str
    title: str
    status: str
    """``FAIL``, ``not judged``; without any workload the health: ``ok``, ``1 WARN``."""
    token: str
    """Of the color of the status; empty where it has none."""
    detected: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    delivers: str = ""
    """The most that it can deliver."""
    demand: str = ""
    bar: ShareBar | None = None
    used: str = ""
    n_plus_one: str = ""
    last_year: str = ""


def resource_rows(
    views: Sequence[CardView], findings: Sequence[Finding], found: Balance | None, machine: Machine | None
) -> tuple[ResourceRow, ...]:
    """Return the rows, worst first; without a workload in the order of the cards, with their health as status."""
    shown = [view for view in views if view.resource != "license"]
    judged = any(view.judged.share is not None or view.judged.demand for view in shown)
    shown = [view for view in shown if view.resource != "clock" or not judged]  # which no workload asks
    return tuple(_row(view, findings, found, machine, judged=judged) for view in shown)


def _row(
    view: CardView, findings: Sequence[Finding], found: Balance | None, machine: Machine | None, *, judged: bool
) -> ResourceRow:
    card, clock = view.judged, ""
    if view.resource == "cpu" and machine is not None and machine.base_clock is not None and machine.core_count:
        total = machine.core_count * machine.base_clock.value / 1e9
        clock = f"{total:,.0f} GHz in all" if total >= 1000 else f"{total:.3g} GHz in all"
    if not judged:
        grave = _counts(one for one in findings if resource_of(one) == view.resource)
        healthy = ("ok", "ok") if view.detected or view.found.texts else ("unknown", "")
        status, token = next(((f"{number} {word}", status_token(word)) for number, word in grave), healthy)
    elif view.status != UNKNOWN:
        status, token = view.label, status_token(view.status)
    else:
        status, token = ("NO VERDICT", "acc") if card.is_open else ("no demand", "")
    return ResourceRow(
        view.resource,
        view.title,
        status,
        token,
        view.detected,
        view.found.texts,
        clock if view.resource == "cpu" else delivers(found, view.resource),
        card.demand,
        card_bar(card),
        "" if card.share is None else share_text(card.share),
        OUTAGE if card.outage else "" if card.n_plus_one is None else share_text(card.n_plus_one),
        "" if card.last_year is None else share_text(card.last_year),
    )


def _counts(findings: Iterable[Finding]) -> list[tuple[int, str]]:
    """Return how many findings are grave, the worst first: 1 ``FAIL``, 3 ``WARN``."""
    number = Counter(one.severity for one in findings)
    grave = (Severity.CRITICAL, Severity.WARNING)
    return [(number[severity], SEVERITY_WORDS[severity]) for severity in grave if number[severity]]


def license_text(views: Sequence[CardView]) -> str:
    """Return what is licensed and costs, in one line; empty where nothing is counted."""
    return next((view.judged.demand for view in views if view.resource == "license"), "")


def warnings_text(findings: Sequence[Finding]) -> str:
    """Return how many findings are grave: ``1 FAIL, 3 WARN``; or how many there are."""
    grave = ", ".join(f"{number} {word}" for number, word in _counts(findings))
    return grave or (plural(len(findings), "note") if findings else "")
