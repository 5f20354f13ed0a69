"""The card of the licenses: what is required and what it costs, assumed or not permitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sizeup.model.advice import Advice, Card
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.licensing.contract import NO_PRODUCT
from sizeup.sizing.licensing.count import PRICE_UNKNOWN
from sizeup.sizing.verdict import ShareStatus
from sizeup.text import capitalized
from sizeup.units import format_in


def license_card(given: Mapping[str, Advice]) -> Card:
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
    assumed = _assumptions(units, cost, allowed, editions="license.edition" in given)
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


def _assumptions(units: Advice, cost: Advice | None, allowed: Advice | None, *, editions: bool) -> tuple[str, ...]:
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
