"""The products of every vendor on a machine, as a table and as plain data: licenses required, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sizeup.charts.table import Column, Table
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.advise import Sizing
from sizeup.sizing.editions import too_small
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.cost import term_years
from sizeup.sizing.licensing.count import count_range, span
from sizeup.sizing.licensing.table import Row, rows
from sizeup.sizing.sheet import Inputs, Sheet
from sizeup.text import capitalized
from sizeup.units import format_in

if TYPE_CHECKING:
    from sizeup.sizing.rules import Rules

_NOT_PUBLIC = "license.list_usd"
"""What is missing where a vendor publishes no price."""
_COUNTED = {
    "cluster.nodes": "servers",
    "machine.sockets": "sockets",
    "machine.cores": "cores",
    "machine.vcpus": "vCPUs",
    "license.users": "users",
}


def priced_at(inputs: Inputs) -> str:
    """Return what a cost over the term rests on: list prices, less the discount of the contract."""
    discount = inputs.get("license.discount_percent")
    if isinstance(discount, Quantity) and discount.value:
        return f"list prices less {format_in(discount.value, '%')}"
    return "list prices"


def license_table(sizing: Sizing, rules: Rules) -> Table:
    """Return every product of every vendor on this machine: licenses required, and the list price."""
    products = rows(sizing.inputs, rules)
    days: dict[str, dict[str, None]] = {}
    reasons: dict[str, list[str]] = {}
    for row in products:
        if row.list_date:
            days.setdefault(row.list_date, {})[row.pack] = None
        if row.forbidden:
            reasons.setdefault(row.rule, []).append(row.title)
    lists = "; ".join(f"{', '.join(days[day])} {day}" for day in sorted(days))
    missing = dict.fromkeys(row.missing for row in products if row.missing not in ("", _NOT_PUBLIC))
    flags = ", ".join(KEYS[name].flag for name in missing if name in KEYS)
    notes = (
        f" Date of the lists: {lists}." if lists else "",
        # What an order holds beyond the machine is said once for each product.
        " What an assumed count rests on is in the working of that product." * any(row.assumed for row in products),
        *dict.fromkeys(f" {row.title}: {row.note}." for row in products if row.note),
        f" For the unknown ones, use {flags}." if flags else "",
        *(f" {capitalized(name)}." for name in missing if name not in KEYS),
        *(f" Not allowed: {'; '.join(titles)}: {why}." for why, titles in reasons.items()),
    )
    years = format_in(term_years(Sheet(sizing.inputs, rules)), "years")
    return Table(
        "Licenses",
        (
            *(Column("Vendor"), Column("Product")),
            *(Column(title, numeric=True) for title in ("Licenses", "List price", "Over the term")),
            Column("Status"),
        ),
        tuple(_cells(row, sizing.inputs, rules) for row in products),
        note=f"List prices in USD before discount; over the term of {years} with support, less your discount. No legal "
        f"advice. Licenses are counted for {', '.join(_counted(sizing))}.{''.join(notes)}",
    )


def _cells(row: Row, inputs: Inputs, rules: Rules) -> tuple[str, ...]:
    """Return a row; its status is whether the count rests on an assumption, and what the product is too small for."""
    price, term = "", "" if row.term_cost is None else _dollars(row.term_cost)
    if row.forbidden:
        return row.pack, row.title, "not allowed here", price, term, "FAIL"
    if row.list_price is not None:
        own = ", yours" if row.list_price.origin is Origin.USER else ""
        price = f"{_dollars(row.list_price)}{' a year' if row.yearly else ''}{own}"
    elif row.units is not None:
        price = "not public" if row.missing == _NOT_PUBLIC else "unknown"
    if row.units is None:
        return row.pack, row.title, "none needed" if row.free else "unknown", price, term, "UNKNOWN"
    small = ": ".join(too_small(inputs, rules, row.pack, row.product))
    status = "; ".join(filter(None, ("ASSUMED" if row.assumed else "" if small else "PASS", small)))
    count = "none needed" if row.free else count_range(row.units, row.units.unit)
    return row.pack, row.title, count, price, term, status


def _counted(sizing: Sizing) -> Iterator[str]:
    """What of the machine licenses are counted by."""
    guest, cores, hosts = (sizing.inputs.get(key) for key in ("machine.guest", "machine.cores", "license.host_cores"))
    in_guest = isinstance(guest, Words) and guest.value == "yes"
    shown = {"machine.sockets": "virtual sockets"} if in_guest else {"machine.vcpus": "threads"}
    for key, what in {**_COUNTED, **shown}.items():
        value = sizing.inputs.get(key)
        nobody = key == "license.users" and isinstance(value, Quantity) and value.origin is Origin.RULE
        yield format_in(value.value, what) if isinstance(value, Quantity) and not nobody else f"{what} unknown"
    if in_guest:
        number = format_in(hosts.value, "cores") if isinstance(hosts, Quantity) else "an unknown number of cores"
        yield f"in a guest of hosts with {number}"
    if guest is None and isinstance(cores, Quantity) and cores.origin is Origin.DETECTED:
        yield "perhaps in a guest, as nothing proves bare metal"


def _dollars(price: Quantity) -> str:
    """Return a price in whole dollars, with both ends of its range."""
    return span(price, lambda usd: f"${usd:,.0f}")
