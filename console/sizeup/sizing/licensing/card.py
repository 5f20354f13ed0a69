"""The card of the licenses: what is required and what it costs, assumed or not permitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from sizeup.model.advice import Advice, Card
from sizeup.quantity import Origin
from sizeup.sizing.licensing.contract import PRODUCT
from sizeup.sizing.licensing.cost import LicenseCost
from sizeup.sizing.licensing.count import span, usd_brief
from sizeup.sizing.licensing.permission import CAPACITY, Permission
from sizeup.sizing.licensing.required import LicenseCount
from sizeup.sizing.sheet import Assumption, find_fact
from sizeup.sizing.verdict import ShareStatus
from sizeup.text import capitalized
from sizeup.units import format_in

_PEOPLE = ("users", "CALs")
"""Units that are no licenses of a server."""


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
        assumed.append(Assumption(f"assumed: permitted {permission.condition}", CAPACITY))
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
    required = f"{count.counted}, {count.brief}" if units.shown_in in _PEOPLE else f"{number} x {count.brief}"
    if price is None or price.total is None:
        return required
    return f"{required}, {usd_brief(price.total)}{price.term}"


def _is_set(units: Advice, key: str) -> bool:
    """Whether a choice of words is somebody's, and no default."""
    return any(
        entry.key == key and entry.words is not None and entry.words.origin is not Origin.RULE for entry in units.inputs
    )
