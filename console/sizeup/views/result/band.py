"""The first screen's band: the verdict on the resource that decides, what to do, and its share as the large number."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from sizeup.charts.share_bar import ShareBar
from sizeup.model.advice import Card
from sizeup.model.finding import Severity
from sizeup.model.machine import Machine
from sizeup.sizing.verdict import (
    RESOURCE_NAMES,
    ShareStatus,
    amount_text,
    capacity_text,
    demand_text,
    exactly,
    share_text,
)
from sizeup.text import capitalized, listed, plural
from sizeup.units import format_in
from sizeup.views.band import Band, NextStep, Number
from sizeup.views.cards.cards import OUTAGE, status_label
from sizeup.views.result.summary import Summary, critical
from sizeup.views.result.verdict import first_card, overall_text

STATUS_TOKENS = {"PASS": "ok", "WARN": "warn", "NOT CERTAIN": "warn", "ASSUMED": "warn", "FAIL": "bad"}
"""The color of a status; any other is neither good nor bad."""
_GOOD = (ShareStatus.PASS.value, ShareStatus.ASSUMED.value)
_MAIN = ("storage", "cpu", "memory")
"""Resources of which a pass says that they were not judged."""


def status_token(status: str) -> str:
    """Return the token of the color of a status."""
    return STATUS_TOKENS.get(status, "acc")


def card_bar(card: Card) -> ShareBar | None:
    """Return the share of a resource as a bar; None where it is unknown."""
    if card.share is None:
        return None
    best, worst = card.ends
    return ShareBar(best, worst, math.inf if card.outage else card.n_plus_one, card.last_year)


def summary_band(
    shown: Summary,
    steps: Sequence[NextStep],
    machine: Machine | None = None,
    *,
    why: str = "",
    tries: str = "",
    measures: str = "",
    number: Number | None = None,
) -> Band:
    """Return the band of what is known so far; ``steps`` are what a reader can do while there is no verdict.

    ``why`` is the key that shows the working, ``tries`` and ``measures`` those that lead to inputs and measurements.
    ``number`` stands in place of the cores.
    """
    verdict, card = shown.verdict, first_card(shown.given.cards)
    if card is None:
        number_of = Counter(finding.severity for _, finding in shown.findings)
        grave = ((Severity.CRITICAL, "critical finding"), (Severity.WARNING, "warning"))
        counts = [plural(number_of[severity], name) for severity, name in grave if number_of[severity]]
        results = [view.found for view in shown.cards if view.found.texts]
        measured = next((f"measured: {found.texts[0]}" for found in results if found.valid), "")
        measured = measured or ("no valid measurements yet" if results else "no measurements yet")
        is_guest = machine is not None and machine.pus and machine.platform.hypervisor
        what = "This virtual machine" if is_guest else "This server"
        short = f"{listed(counts) or 'no warnings'}; {measured}."
        if grave_ones := critical(finding for _, finding in shown.findings):
            found = plural(len(grave_ones), "critical finding")
            number = Number(str(len(grave_ones)), "", found.partition(" ")[2], "bad")
            steps = (NextStep(f"Mend {found} first: {grave_ones[0].title.rstrip('.')}.", why), *steps)
        elif number is None and machine is not None and machine.core_count:
            sockets = len(machine.packages)
            more = plural(sockets, "socket") if sockets else plural(machine.pu_counts.online, "thread")
            number = Number(str(machine.core_count), "", f"cores, {more}")
        return Band("NO WORKLOAD", "acc", f"{what} has {short}", capitalized(short), tuple(steps[:2]), number=number)
    assumed = f"{len(card.assumed)} assumed" if card.assumed else ""
    short, what = "", RESOURCE_NAMES.get(card.resource, card.resource)
    if card.facts is not None and card.share is not None:
        short = f"{capitalized(what)}: {demand_text(card.facts)} of {capacity_text(card.facts)}"
    parts = [one for one in shown.given.cards if one.resource in _MAIN and one.share is None and one is not card]
    names = ", ".join(RESOURCE_NAMES[one.resource] for one in parts)
    left_out = f" Not judged: {names}." if names and card.status in _GOOD else ""
    step = _step(shown, card, parts, why, tries, measures)
    elsewhere = NextStep(f"Measure {what}, or enter the capacity.", tries, "leads to the inputs")
    measure = next(iter(steps[1:]), elsewhere)  # a workload there is
    return Band(
        verdict.label,
        status_token(verdict.status),
        f"{band_sentence(card)}{left_out}",
        steps=(step or measure,),
        basis=" · ".join(filter(None, (capitalized(verdict.basis), assumed))),
        why=why,
        number=share_number(card),
        short=short,
    )


def _step(shown: Summary, card: Card, left: Sequence[Card], why: str, tries: str, measures: str) -> NextStep | None:
    """Return what to do about a verdict with its key: what a finding asks for, inputs, or a measurement.

    ``left`` are the main resources that were not judged.
    """
    fix = shown.verdict.fix
    grave = critical(finding for _, finding in shown.findings)
    if not fix and card.status in _GOOD and grave:
        number = plural(len(grave), "critical finding")
        return NextStep(f"Mend {number} first: {grave[0].title.rstrip('.')}.", why, "shows more")
    if not fix and card.status in _GOOD and left:
        asked = [RESOURCE_NAMES[one.resource] for one in left if not one.demand]
        known = listed([RESOURCE_NAMES[one.resource] for one in left])
        text = f"Enter the demand on {listed(asked)}." if asked else f"Measure {known}, or enter the capacity."
        return NextStep(text, tries, "leads to the inputs")
    if not fix and card.status in _GOOD:
        text = f"Settle what is assumed: {card.assumed[0]}." if card.assumed else "Nothing has to be done."
        return NextStep(text, tries, "tries other inputs")
    if not fix:
        return NextStep(f"{card.decides.rstrip('.')}.", measures, "measures") if card.decides else None
    of_finding = any(finding.remedy == fix for _, finding in shown.findings)
    return NextStep(f"{fix.rstrip('.')}.", why if of_finding else tries, "shows more" if of_finding else "tries it")


def changed_band(band: Band, base: Sequence[Card]) -> Band:
    """Return a band with the verdict before a change, by the cards before it; as it is where that is the same."""
    card = first_card(base)
    number = None if card is None else share_number(card)
    if card is None or number is None:
        return band
    status = overall_text(base)
    word = status_label(status, assumed=bool(card.assumed))
    before = (word, status_token(status), f"{number.text} {number.unit}")
    same = band.number is not None and (band.word, band.number.text) == (word, number.text)
    return band if same else replace(band, before=before)


def band_sentence(card: Card) -> str:
    """Return the verdict on a resource in one sentence of at most 80 characters."""
    name, facts = capitalized(RESOURCE_NAMES.get(card.resource, card.resource)), card.facts
    if facts is not None and card.share is None:
        return f"{name} is not certain: {demand_text(facts)} of {capacity_text(facts)}."
    if facts is None or card.share is None:
        return f"{card.statement.partition('. ')[0].rstrip('.')}."
    demand, capacity = demand_text(facts), capacity_text(facts)
    best, worst = card.ends
    if card.status == ShareStatus.FAIL.value and card.share > card.limit:
        return f"{name} is too {_SMALL.get(card.resource, 'slow')}: {demand} wanted, {capacity} available."
    if card.status == ShareStatus.UNCERTAIN.value:
        certain = amount_text(exactly(facts.capacity.low), facts.unit, 3) if facts.capacity.low else "none"
        if worst <= _READABLE:
            span = " to ".join(dict.fromkeys(map(share_text, (best, worst))))
            return f"{name} is not certain: {demand} take {span} of its capacity."
        return f"{name} is not certain: {demand} wanted, {capacity} measured, {certain} certain."
    share, when = worst_share(card)
    if share is None:
        return f"{name} stops{when}: {card.needs or 'there is no second'}."
    if card.status in (ShareStatus.FAIL.value, ShareStatus.WARN.value):
        most = f", at worst {share_text(worst)}" if share < worst <= _READABLE else ""
        return f"{name} reaches {share_text(share)}{when}{most}: {demand} of {capacity} today."
    return f"{name} carries it: {demand} of {capacity}, {share_text(share)}{when}."


_READABLE = 5.0
"""A share up to which a span says something."""
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
        f" in {format_in(card.horizon_years, 'years')}": card.last_year or 0.0,
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
        share, when = card.share, f", {OUTAGE}{when}"
    ending = ""
    if card.status == ShareStatus.UNCERTAIN.value:  # as the sentence says
        is_readable = card.share < card.ends[1] <= _READABLE
        share, when, ending = (card.ends[1], "", " at worst") if is_readable else (share, when, " as measured")
    digits = share_text(share).rstrip(" %")
    return Number(digits, "%", f"{name}{when}" if when else f"of {name} capacity{ending}")
