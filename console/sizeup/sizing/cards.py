"""One card for each resource: what a reader decides from, worst first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.advice import Advice, Card
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.licensing.contract import PRODUCT
from sizeup.sizing.licensing.cost import LicenseCost
from sizeup.sizing.licensing.count import span, usd_brief
from sizeup.sizing.licensing.required import LicenseCount, Permission
from sizeup.sizing.sheet import Assumption, Inputs, brief, find_fact
from sizeup.sizing.verdict import RESOURCES, WORST_FIRST, ShareStatus
from sizeup.text import capitalized
from sizeup.units import format_in

_WORST = [status.value for status in WORST_FIRST]


def resource_cards(
    inputs: Inputs, advice: Sequence[Advice], judged: Iterable[Card], facts: Sequence[Struct]
) -> tuple[Card, ...]:
    """Return a card for every resource: those that were judged, and what is known of the others."""
    given = {one.id: one for one in advice}
    found = {card.resource: card for card in judged}
    found["license"] = license_card(given, facts)
    for resource in RESOURCES:
        card = found.get(resource, Card(resource, ShareStatus.UNKNOWN.value))
        found[resource] = replace(
            card, detected=card.detected or _detected(resource, inputs, given), measured=_measured(resource, inputs)
        )
    return tuple(sorted(found.values(), key=_gravity))


def _gravity(card: Card) -> tuple[int, bool, float, int]:
    """Return what orders cards: the status, of those that may fail or warn what is certain, the share; the resource."""
    is_bad = card.status in ("fail", "warn", "uncertain")
    share = max(card.share or 0.0, card.last_year or 0.0) if is_bad else 0.0
    return _WORST.index(card.status), is_bad and bool(card.assumed), -share, RESOURCES.index(card.resource)


def verdict(cards: Sequence[Card]) -> Card | None:
    """Return the card that decides; None where none has a demand, or where one of them stays open.

    What fails or warns decides all the same, licenses that are not permitted included, and what is not certain unless
    the storage is unknown. Where all pass it is what is judged in part, else the one with the least left.
    """
    bad, unknown = [ShareStatus.FAIL.value, ShareStatus.WARN.value], open_cards(cards)
    if all(card.resource != "storage" for card in unknown):
        bad.append(ShareStatus.UNCERTAIN.value)
    decides = next((card for card in cards if card.status in bad), None)
    if decides is not None or unknown:
        return decides
    judged = [card for card in cards if card.resource != "license" and card.status != ShareStatus.UNKNOWN.value]
    return max(judged, key=lambda card: (bool(card.not_judged or card.unmeasured), highest_share(card)), default=None)


def highest_share(card: Card) -> float:
    """Return the highest of the shares of a card: today, after a failure, in the last year; 0 without any."""
    return max(share or 0.0 for share in (card.share, card.n_plus_one, card.last_year))


def overall(cards: Sequence[Card]) -> ShareStatus:
    """Return the status of all resources together.

    A pass is one of all that have a demand, judged as a whole, and none of them assumed. Where some pass and the
    capacity of another is unknown nothing is certain; without any that was judged there is no verdict.
    """
    decides = verdict(cards)
    judged = [card.status for card in cards if card.share is not None and card.resource != "license"]
    if decides is None:
        return ShareStatus.UNCERTAIN if judged else ShareStatus.UNKNOWN
    if any(card.not_judged or card.unmeasured for card in cards):
        judged.append(ShareStatus.ASSUMED.value)
    # A file may hold a status that this version does not know, which passes nothing.
    known = [one if one in _WORST else ShareStatus.UNCERTAIN.value for one in (decides.status, *judged)]
    return ShareStatus(min(known, key=_WORST.index))


def open_cards(cards: Sequence[Card]) -> list[Card]:
    """Return the resources with a demand and no share, which keep the whole from passing: the unknown ones first."""
    found = [card for card in cards if card.is_open and card.resource != "license"]
    return sorted(found, key=lambda card: card.status != ShareStatus.UNKNOWN.value)


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


def license_card(given: Mapping[str, Advice], facts: Sequence[Struct]) -> Card:
    """Return the card of the licenses: assumed where nobody chose the vendor, failed where the terms forbid it."""
    units, cost, edition = (given.get(f"license.{name}") for name in ("units", "cost.term", "edition"))
    terms = tuple(one.verdict for one in (edition, cost) if one is not None)
    permission, price = find_fact(facts, Permission), find_fact(facts, LicenseCost)
    count = find_fact(facts, LicenseCount)
    if permission is not None and permission.decision == "forbidden":
        demand, statement = permission.refused, capitalized(permission.refusal)
        return Card("license", ShareStatus.FAIL.value, statement, demand=demand, advice="license.allowed", notes=terms)
    if units is None or units.quantity is None or count is None:
        why = () if units is None else (units.verdict,)
        return Card("license", ShareStatus.UNKNOWN.value, "".join(why), advice="license.units", notes=why)
    assumed = [one for one in count.assumptions if edition is None or one.key != PRODUCT]  # else the edition says so
    if permission is not None and permission.decision == "assumed":
        assumed.append(Assumption(f"assumed: permitted {permission.condition}", permission.settled_by))
    if price is not None:
        assumed += [one for one in price.assumptions if one not in count.assumptions]
    if units.quantity.low != units.quantity.high:
        text = f"{span(units.quantity, lambda number: format_in(number, ''))} {units.shown_in}"
        assumed.append(Assumption(f"assumed: {text}, as an input of the count is a range (--show license.units)"))
    chosen = _is_set(units, PRODUCT) or (_is_set(units, "license.pack") and edition is None)
    if not chosen and edition is None:
        assumed.insert(0, Assumption(f"assumed: {count.product}, as no vendor is set", "license.pack"))
    return Card(
        "license",
        (ShareStatus.PASS if chosen and not assumed else ShareStatus.ASSUMED).value,
        units.verdict,
        demand=_demand(units, count, price),
        advice="license.units",
        assumptions=tuple(capitalized(one.text) for one in assumed),
        notes=terms,
    )


def _demand(units: Advice, count: LicenseCount, price: LicenseCost | None) -> str:
    """Return what is required and what it costs, in short: ``16 x EE, $1.26M over 3 years``."""
    if units.decision == "free":
        return f"{count.brief}, no licenses needed"
    assert units.quantity is not None
    number = span(units.quantity, lambda number: format_in(float(f"{number:.4g}"), ""))
    required = f"{count.counted}, {count.brief}" if units.shown_in in ("users", "CALs") else f"{number} x {count.brief}"
    if price is None or price.total is None:
        return required
    return f"{required}, {usd_brief(price.total)}{price.term}"


def _is_set(units: Advice, key: str) -> bool:
    """Whether a choice of words is somebody's, and no default."""
    return any(
        entry.key == key and entry.words is not None and entry.words.origin is not Origin.RULE for entry in units.inputs
    )
