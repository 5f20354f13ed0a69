"""The verdict on a machine in three lines: what decides, what to do about it, and what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from sizeup.model.advice import Advice, AdviceSet, Card, StageUse
from sizeup.model.finding import Finding, Severity, gravity
from sizeup.quantity import Origin
from sizeup.sizing.cards import open_cards, overall, verdict
from sizeup.sizing.keys import OPTION_SOURCE, TYPED_SOURCE
from sizeup.sizing.verdict import RESOURCE_NAMES, ShareStatus, share_text
from sizeup.text import capitalized, listed
from sizeup.units import format_in
from sizeup.views.cards.cards import CardView, status_label, status_text
from sizeup.views.result.repair import repair_text

NO_VERDICT_YET = "NO VERDICT YET"
NO_VERDICT = "NO VERDICT"
_STATED = (Origin.USER, Origin.IMPORTED, Origin.PRESET)
_BAD = ("fail", "warn")
_RATES = ("db.growth_percent", "workload.growth_percent")
"""Keys of a growth per year, the more special one first."""
_CAPACITY_KEYS = ("capacity.", "path.", "array.")
_BY_LINKS = "capacity by its links, not measured"
_CAPACITY_FROM = {
    Origin.USER: "capacity as entered",
    Origin.PRESET: "capacity as published",
    Origin.MEASURED: "capacity measured",
    Origin.DETECTED: _BY_LINKS,
}
_TYPED = dict.fromkeys((TYPED_SOURCE, OPTION_SOURCE), "your inputs")
"""What a source is called that means nothing to a reader."""
_PERCENTILE = "workload.percentile"
"""Says nothing of the workload itself."""
_PARTS = {
    "cpu": ("affinity", "cpu"),
    "network": ("bond", "network"),
    "clock": ("clock",),
    "memory": ("memory", "numa", "swap"),
    "storage": ("fc", "io", "mount", "multipath", "nfs", "nvme", "storage"),
}
_OF_PARTS = {part: resource for resource, parts in _PARTS.items() for part in parts}
"""The resource that a finding is about, by the first part of its id."""


class VerdictText(Struct, frozen=True):
    """The verdict as it is shown."""

    status: str
    """``FAIL``, ``NO VERDICT`` where the capacity is unknown, ``NO VERDICT YET`` where there is no demand."""
    statement: str
    fix: str = ""
    """What to do about it; empty where nothing has to be done, or nothing is known."""
    basis: str = ""
    """What the verdict rests on."""
    assumed: bool = False
    """Whether it rests on a default that nobody chose."""

    @property
    def label(self) -> str:
        """The status with what it rests on: ``FAIL (assumed)``."""
        return status_label(self.status, assumed=self.assumed)


def verdict_text(
    given: AdviceSet,
    views: Sequence[CardView],
    findings: Iterable[Finding] = (),
    actions: Sequence[str] = (),
    *,
    without: str = "No workload",
    fix: str = "",
) -> VerdictText:
    """Return the verdict by the advice that is shown and its cards.

    Where there is none it begins with ``without``; ``actions`` are sentences with the key or the command that gives
    one, ``fix`` is one in a line of its own.
    """
    card = first_card(given.cards)
    if card is None:
        lacking = ""  # what the measurements lack beside the workload
        if not any(view.found.valid for view in views):
            void = [view for view in views if view.found.void]
            names = listed([RESOURCE_NAMES.get(view.resource, view.resource) for view in void])
            why = "did not converge" if all(view.found.open for view in void) else "not valid"
            lacking = f"; {names} measured, but {why}" if void else " and nothing measured"
        return VerdictText(NO_VERDICT_YET, " ".join((f"{without}{lacking}.", *actions)), fix)
    working = given.find(card.advice)
    return VerdictText(
        overall_text(given.cards),
        f"{card.statement}{unsettled_note(card, given.cards)}",
        _fix(card, working, given, findings) if card.status in _BAD else "",
        "" if working is None else _basis(card, working),
        assumed=bool(card.assumed),
    )


def overall_text(cards: Sequence[Card]) -> str:
    """Return the status of all resources together as it is shown."""
    status = overall(cards)
    return NO_VERDICT if status is ShareStatus.UNKNOWN else status_text(status.value)


def resource_of(finding: Finding) -> str:
    """Return the resource that a finding is about; empty where it is about the whole machine."""
    resource = finding.quantity.partition(".")[0]
    return resource if resource in _PARTS else _OF_PARTS.get(finding.id.partition(".")[0], "")


def in_order(resources: Sequence[str]) -> Callable[[Finding], tuple[int, int]]:
    """Return a key that sorts the gravest finding first, of equal ones that about the first of the resources."""
    places = {resource: place for place, resource in enumerate(resources)}
    return lambda finding: (gravity(finding), places.get(resource_of(finding), len(places)))


def first_card(cards: Sequence[Card]) -> Card | None:
    """Return the card that decides, else the one that keeps the verdict open; None where nothing has a demand."""
    return verdict(cards) or next(iter(open_cards(cards)), None)


def _fix(card: Card, working: Advice | None, given: AdviceSet, findings: Iterable[Finding]) -> str:
    """Return the first thing that would help: what is down, what a finding asks for, what to add, else what lacks."""
    inputs = {} if working is None else {entry.key: entry for entry in working.inputs}
    down = inputs.get("path.down")
    if card.resource == "storage" and down is not None and down.words is not None:
        return f"Bring up {down.words.value}"
    for finding in (one for one in findings if one.severity is not Severity.INFO and not one.id.endswith(".validity")):
        gives = card.resource not in _COUNTED or finding.id in _HIDDEN_PARTS
        if resource_of(finding) == card.resource and finding.remedy and gives:
            return finding.remedy
    if repair := repair_text(card, given):
        return capitalized(repair)
    lost = next((one.lost for one in card.failures if one.share is None), "")
    if lost and (card.share or 0.0) <= card.limit:
        return f"Add a second: the loss of {lost} is an outage"
    if card.resource == "license" or (card.facts is not None and card.facts.whole is not None):
        return "Choose another edition"
    return f"Provide at least {card.needs}" if card.needs else ""


_COUNTED = ("cpu", "memory", "license")
"""Resources of which no setting makes more: what lacks is cores or memory."""
_HIDDEN_PARTS = ("cpu.offline", "numa.missing-node")
"""Findings whose remedy brings back cores or memory."""


def _basis(card: Card, working: Advice) -> str:
    """Return where demand and capacity come from, and how the demand grows."""
    stated = [
        entry.quantity
        for entry in working.inputs
        if entry.quantity is not None
        and entry.quantity.origin in _STATED
        and entry.key.startswith(("workload.", "redo.", "sga.", "db."))
        and entry.key != _PERCENTILE
    ]
    parts = []
    if stated:
        sources = dict.fromkeys(_TYPED.get(one.source, one.source.partition(": ")[0]) for one in stated)
        parts.append(f"workload of {', '.join(sources)}")
    rates = {entry.key: entry.quantity for entry in working.inputs if entry.key in _RATES}
    growth = next((rates[key] for key in _RATES if rates.get(key) is not None), None)
    if growth is not None and card.horizon_years:
        year = "" if card.last_year is None else f": {share_text(card.last_year)} in year {card.horizon_years:g}"
        parts.append(f"+{format_in(growth.value, '%')} a year{year}")
    if card.resource == "storage" and card.share is not None:
        # Where the capacity that decides comes from: of links and drives that were named, where their names do.
        decides = card.stages[0] if card.stages else StageUse("", 0.0)
        keys = _CAPACITY_KEYS if decides.origin is None else ("path.stages",) if decides.path else ("array.",)
        values = [entry.quantity or entry.words for entry in working.inputs if entry.key.startswith(keys)]
        origins = {value.origin for value in values if value is not None}
        origins = {decides.origin} if decides.origin in _CAPACITY_FROM else origins
        parts.append(next((text for origin, text in _CAPACITY_FROM.items() if origin in origins), _BY_LINKS))
    return "; ".join(parts)


def unsettled_note(first: Card, cards: Sequence[Card]) -> str:
    """Return what a reader of the first sentence alone must know: what is assumed, and what was not judged."""
    assumed = [
        RESOURCE_NAMES[card.resource]
        for card in cards
        if card is not first and card.status == "assumed" and card.share is not None
    ]
    text = f"; {' and '.join(assumed)} assumed" if assumed and first.status == "pass" else ""
    failed = [one.resource for one in cards if one is not first and one.status == "fail" and one.share is not None]
    others = capitalized(listed([RESOURCE_NAMES[one] for one in failed]))
    text += f". {others} {'fails' if len(failed) == 1 else 'fail'} too" if failed else ""
    unclear = [
        one for one in cards if one is not first and one.status == "uncertain" and (one.share or 0.0) > one.limit
    ]
    text += "".join(f". {capitalized(RESOURCE_NAMES[one.resource])} not certain" for one in unclear)
    names = [RESOURCE_NAMES[card.resource] for card in open_cards(cards) if card is not first]
    names += [name for card in cards for name in card.unmeasured]
    if not names:
        return text
    return f"{text}. Not judged{' either' if first.share is None else ''}: {', '.join(names)}"
