"""The first screen's band: the verdict on the resource that decides, what to do, and its share as the large number."""

from __future__ import annotations

from collections.abc import Sequence

from sizeup.charts.share_bar import ShareBar
from sizeup.model.advice import Card
from sizeup.sizing.verdict import RESOURCE_NAMES, ShareStatus, capacity_text, demand_text, share_text
from sizeup.text import capitalized, plural
from sizeup.views.band import Band, NextStep, Number
from sizeup.views.cards.cards import OUTAGE
from sizeup.views.result.summary import SEVERITY_WORDS, Summary
from sizeup.views.result.verdict import first_card

STATUS_TOKENS = {"PASS": "ok", "WARN": "warn", "NOT CERTAIN": "warn", "ASSUMED": "warn", "FAIL": "bad"}
"""The color of a status; any other is neither good nor bad."""
_PERCENT = 100


def status_token(status: str) -> str:
    """Return the token of the color of a status."""
    return STATUS_TOKENS.get(status, "acc")


def card_bar(card: Card) -> ShareBar | None:
    """Return the share of a resource as a bar; None where it is unknown."""
    if card.share is None:
        return None
    best, worst = card.ends
    lost = [float("inf")] if card.outage else [] if card.n_plus_one is None else [card.n_plus_one]
    return ShareBar(best, worst, max(lost, default=None), card.last_year)


def summary_band(shown: Summary, steps: Sequence[NextStep], *, why: str = "", tries: str = "") -> Band:
    """Return the band of what is known so far; ``steps`` are what a reader can do while there is no verdict.

    ``why`` is the key that shows the working, ``tries`` the one that leads to other inputs.
    """
    verdict, card = shown.verdict, first_card(shown.given.cards)
    if card is None:
        return Band("NO WORKLOAD", "acc", _machine_sentence(shown), steps=tuple(steps[:2]))
    fix = verdict.fix or card.decides
    does = "tries it" if card.resource != "license" else "shows licenses"
    return Band(
        verdict.status,
        status_token(verdict.status),
        band_sentence(card),
        steps=(NextStep(f"{fix.rstrip('.')}.", tries, does),) if fix else tuple(steps[:1]),
        basis=" · ".join(filter(None, (shown.label, capitalized(verdict.basis), *_assumed(card)))),
        why=why,
        number=share_number(card),
    )


def _assumed(card: Card) -> list[str]:
    return [f"{len(card.assumed)} assumed"] if card.assumed else []


def _machine_sentence(shown: Summary) -> str:
    """Return what is known without a workload: warnings, and whether anything was measured."""
    warnings = sum(SEVERITY_WORDS[finding.severity] != "INFO" for _, finding in shown.findings)
    measured = any(card.found.texts for card in shown.cards)
    found = plural(warnings, "warning") if warnings else "No warnings"
    return f"{found}; {'measured, but nothing to compare with' if measured else 'no measurements yet'}."


def band_sentence(card: Card) -> str:
    """Return the verdict on a resource in one sentence of at most 80 characters."""
    name, facts = capitalized(RESOURCE_NAMES.get(card.resource, card.resource)), card.facts
    if facts is None or card.share is None:
        return f"{card.statement.partition('. ')[0].rstrip('.')}."
    demand, capacity = demand_text(facts), capacity_text(facts)
    best, worst = card.ends
    if card.status == ShareStatus.FAIL.value and card.share > card.limit:
        return f"{name} is too {_SMALL.get(card.resource, 'slow')}: {demand} wanted, {capacity} available."
    if card.status == ShareStatus.UNCERTAIN.value:
        span = f"up to {share_text(worst)}" if best == card.share else f"{share_text(best)} to {share_text(worst)}"
        span = f"at least {share_text(best)}" if worst == float("inf") else span
        return f"{name} is not certain: {demand} of {capacity}, {span}."
    share, when = worst_share(card)
    if share is None:
        return f"{name} stops{when}: {card.needs or 'there is no second'}."
    if card.status in (ShareStatus.FAIL.value, ShareStatus.WARN.value):
        return f"{name} reaches {share_text(share)}{when}: {demand} of {capacity} today."
    return f"{name} carries it: {demand} of {capacity}, at most {share_text(share)}{when}."


_SMALL = {"cpu": "small", "memory": "small", "space": "small"}
"""What a resource is too … for; the others are slow."""


def worst_share(card: Card) -> tuple[float | None, str]:
    """Return the share that a reader must know, and when it is reached: today's where that fails, else the worst."""
    today = card.share or 0.0
    if today > card.limit or card.outage:
        return (today, "") if today > card.limit else (None, " after a failure")
    shares = {
        "": today,
        " after a failure": card.n_plus_one or 0.0,
        f" in {card.horizon_years:g} years": card.last_year or 0.0,
    }
    when = max(shares, key=lambda key: shares[key])
    return shares[when], when


def share_number(card: Card) -> Number | None:
    """Return the large number of a resource and its name; None where its share is unknown."""
    if card.share is None:
        return None
    share, when = worst_share(card)
    name = RESOURCE_NAMES.get(card.resource, card.resource)
    if share is None:
        return Number("0", "", f"{OUTAGE}{when}")
    return Number(f"{share * _PERCENT:.0f}", "%", f"of {name} capacity" if not when else f"{name}{when}")
