"""What limits, fails and grows, and what is unknown, in a line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sizeup.model.advice import AdviceSet, Card, Failure
from sizeup.sizing.verdict import share_text
from sizeup.sizing.workload import YEAR_NS
from sizeup.text import capitalized
from sizeup.units import format_in
from sizeup.views.cards.cards import OUTAGE, TITLES
from sizeup.views.result.verdict import first_card

_GIVES = {
    "storage": "storage demand (--workload FILE or workload.iops)",
    "cpu": "CPU demand (workload.cpu_cores)",
    "memory": "memory demand (sga.mb or db.hot_gb)",
    "license": "licenses (machine.cores)",
}
"""What is unknown of a resource without a demand, and the keys that tell it."""


def answer_details(given: AdviceSet) -> Iterator[tuple[str, str]]:
    """Yield what is unknown, limits, fails and grows, each with its label."""
    if first_card(given.cards) is not None and (missing := _missing(given.cards)):
        yield "Unknown", capitalized(missing)
    storage = next((card for card in given.cards if card.resource == "storage"), None)
    if storage is not None and len(storage.stages) > 1:
        yield "Limit", "; ".join(f"{stage.name} at {share_text(stage.share)}" for stage in storage.stages)
    failures = _failure_lines(given.cards)
    if failures:
        yield from zip(["N+1", *[""] * (len(failures) - 1)], failures, strict=True)
    elif storage is not None and storage.share is not None:
        yield "N+1", "Storage: unknown, because neither paths nor drives are given (path.stages, array.disks)"
    grown = [card for card in given.cards if card.last_year is not None and card.last_year != card.share]
    if grown:
        yield "Growth", f"{_growth_text(grown)}{_data_growth_text(given, grown)}"
    if storage is not None and storage.share is None and (later := _later_demand(given)):
        yield later


def _missing(cards: Sequence[Card]) -> str:
    """Return what is unknown of the resources that have no demand, with what gives it; empty where nothing is."""
    bare = {card.resource for card in cards if not card.demand and not card.notes}
    return "; ".join(text for resource, text in _GIVES.items() if resource in bare)


def _failure_lines(cards: Sequence[Card]) -> list[str]:
    """Return a sentence for each failure with what it leaves: of the storage, or of each resource that it strikes."""
    struck: dict[str, list[tuple[Card, Failure]]] = {}
    for card in cards:
        for failure in card.failures:
            struck.setdefault(failure.lost, []).append((card, failure))
    lines = []
    for lost, parts in struck.items():
        alone = all(card.resource == "storage" for card, _ in parts)
        texts = dict.fromkeys(
            f"{'' if alone else f'{TITLES[card.resource]} '}{_left_text(card, one)}" for card, one in parts
        )
        lines.append(f"{lost} lost: {'; '.join(texts)}")
    return lines


def _left_text(card: Card, failure: Failure) -> str:
    """Return what a failure leaves, today and at the end of the horizon: ``64% used, 111% in year 3``."""
    left = OUTAGE if failure.share is None else f"{share_text(failure.share)} used"
    if failure.last_year is not None and failure.last_year != failure.share:
        left += f", {share_text(failure.last_year)} in {_year(card)}"
    return left


def _year(card: Card) -> str:
    return f"year {format_in(card.horizon_years, '')}"


def _later_demand(given: AdviceSet) -> tuple[str, str] | None:
    """Return what the storage has to carry in the last year, which no share tells while its capacity is unknown."""
    texts = []
    for name, unit in (("io.demand.measured-iops", "IOPS"), ("io.demand.measured", "MB/s")):
        advice = given.find(name)
        if advice is None or advice.quantity is None:
            continue
        rates = {entry.key: entry.quantity.value for entry in advice.inputs if entry.quantity is not None}
        years = rates.get("workload.horizon_years", 0.0) / YEAR_NS
        if not years:
            return None
        later = advice.quantity.value * (1 + rates.get("workload.growth_percent", 0.0)) ** years
        texts.append(format_in(float(f"{later:.4g}"), unit))
    return (f"Year {format_in(years, '')}", f"Storage must carry {', '.join(texts)}") if texts else None


def _data_growth_text(given: AdviceSet, cards: Sequence[Card]) -> str:
    """Return that the data is taken to grow like the load, where one of the resources rests on it."""
    used = [entry for card in cards if (one := given.find(card.advice)) is not None for entry in one.inputs]
    rates = [entry.quantity for entry in used if entry.key == "db.growth_percent" and entry.quantity is not None]
    like_load = any(rate.source == "workload.growth_percent" for rate in rates)
    return "; the data grows like the load" if like_load else ""


def _growth_text(cards: Sequence[Card]) -> str:
    """Return the year in which each resource exceeds its capacity; where none does, the highest share."""
    exceeded = [card for card in cards if card.exceeded_in is not None]
    if not exceeded:
        most = max(cards, key=lambda card: card.last_year or 0.0)
        return (
            f"Nothing judged passes {share_text(most.limit)} within {format_in(most.horizon_years, 'years')}; highest: "
            f"{TITLES[most.resource]}, {share_text(most.last_year or 0.0)} in {_year(most)}"
        )
    return "; ".join(
        f"{TITLES[card.resource]} is above {share_text(card.limit)} today"
        if card.exceeded_in == 0
        else f"{TITLES[card.resource]} passes {share_text(card.limit)} in year {card.exceeded_in}"
        for card in exceeded
    )
