"""One card for each resource: what a reader decides from, worst first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from sizeup.model.advice import Advice, Card
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.licensing.contract import NO_PRODUCT
from sizeup.sizing.licensing.count import PRICE_UNKNOWN
from sizeup.sizing.sheet import Inputs, brief
from sizeup.sizing.verdict import WORST_FIRST, ShareStatus
from sizeup.text import capitalized
from sizeup.units import format_in

RESOURCES = ("storage", "space", "cpu", "memory", "network", "license")
"""The order among cards of one status."""
_WORST = [status.value for status in WORST_FIRST]


def resource_cards(inputs: Inputs, advice: Sequence[Advice], judged: Iterable[Card]) -> tuple[Card, ...]:
    """Return a card for every resource: those that were judged, and what is known of the others."""
    given = {one.id: one for one in advice}
    found = {card.resource: card for card in judged}
    found["license"] = _license(given)
    for resource in RESOURCES:
        card = found.get(resource, Card(resource, ShareStatus.UNKNOWN.value))
        found[resource] = replace(
            card, detected=card.detected or _detected(resource, inputs, given), measured=_measured(resource, inputs)
        )
    return tuple(sorted(found.values(), key=lambda card: (_WORST.index(card.status), RESOURCES.index(card.resource))))


def verdict(cards: Sequence[Card]) -> Card | None:
    """Return the card that decides; None where none has a demand, or where one of them stays open.

    What fails or warns decides all the same, licenses that are not permitted included; then the storage; then the
    worst of the rest.
    """
    bad = (ShareStatus.FAIL.value, ShareStatus.WARN.value)
    decides = next((card for card in cards if card.status in bad), None)
    if decides is not None or open_cards(cards):
        return decides
    judged = [card for card in cards if card.resource != "license" and card.status != ShareStatus.UNKNOWN.value]
    return next((card for card in judged if card.resource == "storage"), next(iter(judged), None))


def overall(cards: Sequence[Card]) -> ShareStatus:
    """Return the status of all resources together.

    A pass is one of all that have a demand, judged as a whole, and none of them assumed.
    """
    decides = verdict(cards)
    if decides is None:
        return ShareStatus.UNKNOWN
    judged = [card.status for card in cards if card.resource != "license"]
    if any(card.not_judged for card in cards):
        judged.append(ShareStatus.ASSUMED.value)
    return ShareStatus(min((decides.status, *judged), key=_WORST.index))


def open_cards(cards: Sequence[Card]) -> list[Card]:
    """Return the resources with a demand and an unknown capacity, which keep the whole from passing."""
    return [card for card in cards if card.is_open and card.resource != "license"]


def _detected(resource: str, inputs: Inputs, given: Mapping[str, Advice]) -> str:
    """Return what is known of the capacity of a resource that was not judged."""
    cores, memory, links = (inputs.get(key) for key in ("machine.cores", "machine.memory_gib", "net.links"))
    nodes = inputs.get("cluster.nodes")
    times = f"{nodes.value:g} x " if isinstance(nodes, Quantity) and nodes.value > 1 else ""
    if resource == "cpu" and isinstance(cores, Quantity):
        return f"{times}{format_in(cores.value, 'cores')}"
    if resource == "memory" and isinstance(memory, Quantity):
        return f"{times}{brief(memory, 'GiB')}"
    if resource == "network" and isinstance(links, Words):
        return f"{times}{links.value}"
    capacity = given.get("io.capacity")
    if resource == "storage" and capacity is not None and capacity.quantity is not None:
        return f"{brief(capacity.quantity, 'MB/s')} ({capacity.decision})"
    return ""


def _measured(resource: str, inputs: Inputs) -> str:
    """Return what was measured of a resource."""
    shown = {
        "storage": (("path.bandwidth_mb_s", "MB/s"), ("capacity.mb_s", "MB/s"), ("capacity.iops", "IOPS")),
        "memory": (("memory.local_ns", "ns"),),
    }
    values = ((inputs.get(key), unit) for key, unit in shown.get(resource, ()))
    return ", ".join(
        brief(value, unit) for value, unit in values if isinstance(value, Quantity) and value.origin is Origin.MEASURED
    )


def _license(given: Mapping[str, Advice]) -> Card:
    """Return the card of the licenses: assumed where nobody chose the vendor, failed where the terms forbid it."""
    units, cost, allowed = (given.get(name) for name in ("license.units", "license.cost.term", "license.allowed"))
    terms = tuple(one.verdict for one in (given.get("license.edition"), cost) if one is not None)
    if allowed is not None and allowed.decision == "forbidden":
        sentence = allowed.verdict
        short = sentence.partition(" on this ")[0]
        return Card("license", ShareStatus.FAIL.value, sentence, demand=short, advice=allowed.id, notes=terms)
    if units is None or units.quantity is None:
        why = () if units is None else (units.verdict,)
        return Card("license", ShareStatus.UNKNOWN.value, "".join(why), advice="license.units", notes=why)
    vendor, product = (_is_set(units, key) for key in ("license.pack", "license.product"))
    chosen = product or (vendor and "license.edition" not in given)
    status = ShareStatus.PASS if chosen else ShareStatus.ASSUMED
    statement = units.verdict
    assumed = _license_assumptions(units, cost, allowed, editions="license.edition" in given)
    if assumed:
        status = ShareStatus.ASSUMED
    price = "" if cost is None or cost.quantity is None else f", {_span(cost.quantity, _usd)}"
    years = "" if cost is None else cost.title.removeprefix("Cost")
    title = units.title.removeprefix("Licenses: ").partition(",")[0]
    count = _span(units.quantity, lambda number: format_in(float(f"{number:.4g}"), ""))
    demand = f"{count} x {title}{price}{years if price else ''}"
    if units.decision == "free":
        demand = f"{title}, no licenses needed"
    elif units.shown_in in _PEOPLE:
        counted = units.verdict.partition(": ")[2].removesuffix(" required")
        demand = f"{counted}, {title}{price}{years if price else ''}"
    why = (
        ()
        if chosen or "license.edition" in given
        else (f"assumed: {units.verdict.partition(':')[0]}, as no vendor is set",)
    )
    return Card(
        "license",
        status.value,
        statement,
        demand=demand,
        advice="license.units",
        assumptions=(*map(capitalized, why), *assumed),
        notes=terms,
    )


def _license_assumptions(
    units: Advice, cost: Advice | None, allowed: Advice | None, *, editions: bool
) -> tuple[str, ...]:
    """Return what keeps the licenses from passing, a sentence each; the editions say which of them is assumed."""
    found = [
        caveat for caveat in units.caveats if caveat.startswith("assumed: ") and not (editions and NO_PRODUCT in caveat)
    ]
    if allowed is not None and allowed.decision == "assumed":
        found.append(f"assumed: permitted {allowed.verdict.partition(': ')[2]}")
    priced = () if cost is None else cost.caveats
    found += [f"assumed: one of two prices; {caveat}" for caveat in priced if caveat.startswith(PRICE_UNKNOWN)]
    quantity = units.quantity
    if quantity is not None and _span(quantity, str) != str(quantity.value):
        count = _span(quantity, lambda number: format_in(number, ""))
        found.append(
            f"assumed: {count} {units.shown_in}, as an input of the count is a range (--explain license.units)"
        )
    return tuple(map(capitalized, found))


_PEOPLE = ("users", "CALs")
"""Units that are no licenses of a server."""


def _is_set(units: Advice, key: str) -> bool:
    """Whether a choice of words is somebody's, and no default."""
    return any(
        entry.key == key and entry.words is not None and entry.words.origin is not Origin.RULE for entry in units.inputs
    )


def _span(quantity: Quantity, text: Callable[[float], str]) -> str:
    """Return a figure with both ends of its range, where it has one: ``24 to 48``."""
    low, high = quantity.low, quantity.high
    return text(quantity.value) if low is None or high is None or low == high else f"{text(low)} to {text(high)}"


def _usd(value: float) -> str:
    """Return an amount in dollars, in millions from one on."""
    return f"${format_in(float(f'{value / 1e6:.3g}'), '')}M" if value >= 1e6 else f"${value:,.0f}"
