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


def license_table(sizing: Sizing, rules: Rules) -> Table:
    """Return every product of every vendor on this machine: licenses required, and the list price."""
    products = rows(sizing.inputs, rules)
    years = format_in(term_years(Sheet(sizing.inputs, rules)), "years")
    return Table(
        "Licenses",
        (
            *(Column("Vendor"), Column("Product")),
            *(Column(title, numeric=True) for title in ("Licenses", "List price", "Over the term")),
            Column("Status"),
        ),
        tuple((*_cells(row), _status(row, sizing.inputs, rules)) for row in products),
        note=f"List prices in USD before discount; over the term of {years} with support, less your discount. No legal "
        "advice. Licenses are counted for "
        f"{', '.join(_counted(sizing))}.{_lists(products)}{_assumed(products)}{_missing(products)}{_refused(products)}",
    )


def _cells(row: Row) -> tuple[str, ...]:
    term = "" if row.term_cost is None else _dollars(row.term_cost)
    return row.pack, row.title, _license_count(row), _license_price(row), term


def _lists(products: tuple[Row, ...]) -> str:
    """Return of which day the lists are that the prices are from, by vendor."""
    days: dict[str, list[str]] = {}
    for row in products:
        if row.list_date:
            days.setdefault(row.list_date, []).append(row.pack)
    texts = [f"{', '.join(dict.fromkeys(days[day]))} {day}" for day in sorted(days)]
    return f" Date of the lists: {'; '.join(texts)}." if texts else ""


def _status(row: Row, inputs: Inputs, rules: Rules) -> str:
    """Return whether the count rests on an assumption, and by which limits the product is too small for the load."""
    if row.forbidden or row.units is None:
        return "FAIL" if row.forbidden else "UNKNOWN"
    small = ": ".join(too_small(inputs, rules, row.pack, row.product))
    return "; ".join(filter(None, ("ASSUMED" if row.assumed else "" if small else "PASS", small)))


def _assumed(products: tuple[Row, ...]) -> str:
    """Return what shows the assumptions of a count, and why an order holds more than the machine has."""
    orders = dict.fromkeys(f" {row.title}: {row.note}." for row in products if row.note)
    rests = " What an assumed count rests on is in the working of that product."
    return "".join((rests if any(row.assumed for row in products) else "", *orders))


def _missing(products: tuple[Row, ...]) -> str:
    """What makes the unknown counts and prices known; empty where all are."""
    missing = dict.fromkeys(row.missing for row in products if row.missing not in ("", _NOT_PUBLIC))
    flags = [KEYS[name].flag for name in missing if name in KEYS]
    asked = f" For the unknown ones, use {', '.join(flags)}." if flags else ""
    return "".join((asked, *(f" {capitalized(name)}." for name in missing if name not in KEYS)))


def _refused(products: tuple[Row, ...]) -> str:
    """Why products are not allowed, a sentence for each reason with its products."""
    reasons: dict[str, list[str]] = {}
    for row in products:
        if row.forbidden:
            reasons.setdefault(row.rule, []).append(row.title)
    return "".join(f" Not allowed: {'; '.join(titles)}: {why}." for why, titles in reasons.items())


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


def _license_count(row: Row) -> str:
    if row.forbidden:
        return "not allowed here"
    if row.free:
        return "none needed"
    if row.units is None:
        return "unknown"
    return count_range(row.units, row.units.unit)


def _license_price(row: Row) -> str:
    if row.forbidden:
        return ""
    if row.list_price is None:
        missing = "not public" if row.missing == _NOT_PUBLIC else "unknown"
        return "" if row.units is None else missing
    own = row.list_price.origin is Origin.USER
    return f"{_dollars(row.list_price)}{' a year' if row.yearly else ''}{', yours' if own else ''}"


def _dollars(price: Quantity) -> str:
    """Return a price in whole dollars, with both ends of its range."""
    return span(price, lambda usd: f"${usd:,.0f}")
