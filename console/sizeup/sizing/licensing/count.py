"""How many licenses a machine requires under a vendor's rules."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.formula import Formula
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import PARTITION, CountBasis, chosen_product, is_named, licensed_servers
from sizeup.sizing.pack import FactorEntry, MetricEntry, Pack, ProductEntry
from sizeup.sizing.sheet import Inputs, MissingError, Sheet, term, worked
from sizeup.units import base_unit, format_in

NAMES = {
    "cores": "machine.cores",
    "sockets": "machine.sockets",
    "socket_capacity": "machine.socket_capacity",
    "threads_per_core": "machine.threads_per_core",
    "vcpus": "machine.vcpus",
    "memory_gib": "machine.memory_gib",
    "servers": "cluster.nodes",
    "users": "license.users",
    "database_gb": "db.gb",
    "pinned_cores": "license.pinned_cores",
    "host_cores": "license.host_cores",
    "host_sockets": "license.host_sockets",
}
"""What formulas of packs call the keys."""

_SCALES = {"memory_gib": 2.0**30, "database_gb": 1e9}
_POOLED = {"cores": "cores", "sockets": "sockets", "vcpus": "vCPUs", "pinned_cores": "cores"}
"""Names that a pool adds up over its servers before rounding, with their units."""

OF_HOST = {"cores": "license.host_cores", "sockets": "license.host_sockets", "socket_capacity": "license.host_sockets"}
"""Names that count hardware, and the key that answers for them where this machine shows virtual hardware."""

CORES_PRODUCT = "machine.sockets x machine.cores_per_socket"
"""Source of ``machine.cores`` where it was worked out."""

SHARED = "license"
"""The pack whose tables all license packs share."""

End = Literal["value", "low", "high"]


class MinimumOrder(Struct, frozen=True):
    """An order holds more than the machine needs."""

    text: str
    """``minimum order: 25 users``."""


class HostUnknownError(MissingError):
    """A count of hardware is asked for where this machine shows, or may show, virtual hardware."""


def _is_detected(inputs: Inputs, name: str) -> bool:
    """Whether a count comes from this machine, wholly or in part, rather than from the user."""
    keys = [NAMES[name]]
    cores = inputs.get("machine.cores")
    if name == "cores" and isinstance(cores, Quantity) and cores.source == CORES_PRODUCT:
        keys = ["machine.sockets", "machine.cores_per_socket"]
    return any(isinstance(value := inputs.get(key), Quantity) and value.origin is Origin.DETECTED for key in keys)


def physical_count(sheet: Sheet, name: str) -> Quantity:
    """Return the physical cores or sockets; those of a guest never count as those of its host."""
    guest = sheet.optional_words("machine.guest")
    if guest == "no" or (not _is_detected(sheet.inputs, name) and (guest is None or name == "socket_capacity")):
        return sheet.number(NAMES[name])
    stated, shown = sheet.optional(OF_HOST[name]), sheet.inputs.get(NAMES[name])
    perhaps_bare = guest is None and isinstance(shown, Quantity) and stated is not None and stated.value < shown.value
    if stated is not None and not perhaps_bare:
        if name == "cores":
            _note_small_hosts(sheet, stated)
        return stated
    if guest == "yes":
        raise HostUnknownError(OF_HOST[name])
    # A user who sets some of the counts means another machine, and must set this one too.
    others = [key for key in ("cores", "sockets") if NAMES[key] in sheet.inputs and not _is_detected(sheet.inputs, key)]
    raise HostUnknownError(NAMES[name] if others else "machine.guest")


def _note_small_hosts(sheet: Sheet, hosts: Quantity) -> None:
    """Note that a guest shows more cores than all its hosts have: a mistake, unless these are threads of a host."""
    keys = ("machine.cores", "machine.vcpus")
    shown = next((one for key in keys if isinstance(one := sheet.inputs.get(key), Quantity)), None)
    if shown is not None and hosts.value < shown.value:
        sheet.assume(
            f"hosts with {format_in(hosts.value, 'cores')} in all run a guest that shows "
            f"{format_in(shown.value, '')}, so its CPUs are threads or share cores. Check {OF_HOST['cores']}",
            OF_HOST["cores"],
        )


def counted_hosts(sheet: Sheet) -> float:
    """Return the hosts whose hardware counts: for a guest those that it may run on, one where nobody stated them."""
    if sheet.optional_words("machine.guest") != "yes":
        return 1
    hosts = sheet.optional("license.hosts")
    if hosts is None:
        text = "the guest runs on one host only: where it may run on others, all of them count"
        sheet.assume(f"{text}. Use {KEYS['license.hosts'].flag}", "license.hosts")
    return 1 if hosts is None else hosts.value


class FormulaNames:
    """Names of a formula to numbers, at one end of their ranges."""

    def __init__(self, sheet: Sheet, basis: CountBasis, end: End = "value") -> None:
        self._sheet = sheet
        self._basis = basis
        self._end = end

    def __call__(self, name: str) -> float:
        """Return the number; the calculation ends where it is unknown."""
        pack = self._basis.pack
        if name == "pinned_cores":
            if self._basis.own_cores:  # the partition shows physical ones, whatever a guest's are
                cores = self._sheet.inputs.get("machine.cores")
                if not isinstance(cores, Quantity):
                    raise MissingError("machine.cores")
                return range_end(self._sheet.given("machine.cores", replace(cores, caveats=())), self._end)
            _refuse_more_than_there_are(self._sheet)
        if name == "host_cores":
            _note_small_hosts(self._sheet, self._sheet.number(NAMES[name]))
        if name == "servers":
            return self._servers()
        if name == "hosts":
            return 1 if self._basis.visible else counted_hosts(self._sheet)
        if name in NAMES:
            hardware = name in OF_HOST and not self._basis.visible
            quantity = physical_count(self._sheet, name) if hardware else self._sheet.number(NAMES[name])
            servers = self._servers() if self._basis.pooled and name in _POOLED else 1
            each_host = name == "sockets" and hardware and quantity is self._sheet.inputs.get(OF_HOST[name])
            hosts = counted_hosts(self._sheet) if each_host else 1
            value = range_end(quantity, self._end) / _SCALES.get(name, 1)
            return (math.ceil(value) if name == "pinned_cores" else value) * servers * hosts  # an LPAR may have 3.5
        if name == "threads":
            guest = self._basis.visible and self._sheet.optional_words("machine.guest") == "yes"
            vcpus = self._sheet.optional(NAMES["vcpus"]) if guest else None  # the threads that a guest sees
            return self("cores") * self("threads_per_core") if vcpus is None else range_end(vcpus, self._end)
        if name.startswith("price."):
            _, product, metric = name.split(".")
            entry = pack.find_product(product)
            assert entry is not None, name
            return price(self._sheet, entry, metric).value
        metric_entry = pack.find_metric(name)
        if metric_entry is not None:
            value = range_end(count_units(self._sheet, self._basis, metric_entry), self._end)
            server = self._sheet.optional("machine.server_cores") if metric_entry.unit == "cores" else None
            return value if server is None else min(value, server.value)  # no partition has more than its server
        table = f"{pack.prefix}.{name}"
        if not any(entry.table == table for entry in pack.factor):  # then it is one that all packs share
            table, pack = f"{SHARED}.{name}", self._sheet.rules.pack(SHARED) or pack
        return range_end(factor(self._sheet, table, pack), self._end)

    def _servers(self) -> float:
        pack = self._basis.pack
        return licensed_servers(self._sheet, pack, chosen_product(self._sheet, pack))


def _refuse_more_than_there_are(sheet: Sheet) -> None:
    """Refuse a hard partition with more cores than its server has, and an entitlement above the LPAR's processors."""
    pinned, cores = sheet.number("license.pinned_cores"), sheet.inputs.get("machine.cores")
    if pinned.origin is Origin.DETECTED:  # an entitlement that firmware states holds beside cores that are offline
        return
    guest, capped = sheet.optional_words("machine.guest") == "yes", sheet.has_used(PARTITION)
    if (capped or not guest) and isinstance(cores, Quantity) and pinned.value > cores.value:
        most, found = format_in(cores.value, "cores"), format_in(pinned.value, "")
        of = "LPAR" if capped else "server"
        raise UsageError(f"license.pinned_cores: expected at most the {most} of the {of}, found {found}")


def range_end(quantity: Quantity, end: End) -> float:
    """One end of a quantity's range, which is the value where there is no range."""
    bound = None if end == "value" else quantity.low if end == "low" else quantity.high
    return quantity.value if bound is None else bound


def factor(sheet: Sheet, table: str, pack: Pack) -> Quantity:
    """Return the factor of one core in a table, by the processor's name; an ambiguous name gives a range."""
    model = sheet.optional_words("machine.cpu_model") or ""
    least, most = _socket_range(sheet, pack, table, model)
    entry, first = (matching_factor(pack, table, model, sockets) for sockets in (most, least))
    sheet.cite(entry.source)
    if entry.note:
        text = f"{model or 'no processor name'}: {entry.note}"
        sheet.assume(text, "machine.cpu_model") if entry.assumed else sheet.caveat(text)
    low, high, title = entry.low, entry.high, entry.title
    if first is not entry:
        low, high = first.low or first.value, entry.high or entry.value
        title = f"{first.title}, or {entry.title}"
    quantity = Quantity(entry.value, "1", Origin.RULE, entry.id, low=low, high=high)
    sheet.line(f"{table}: {model or 'unknown processor'} is {title}: {count_range(quantity, '')}")
    return sheet.given(entry.id, sheet.rules.marked(quantity, f"factor.{entry.id}"))


def _socket_range(sheet: Sheet, pack: Pack, table: str, model: str) -> tuple[float, float]:
    """Return the fewest and the most sockets that the server may be built for, where a core counts by them.

    Occupied sockets are the least; the kernel knows of no empty ones.
    """
    if matching_factor(pack, table, model, 1) is matching_factor(pack, table, model, math.inf):
        return 1, 1
    capacity = sheet.optional(NAMES["socket_capacity"])
    if capacity is not None:
        return capacity.value, capacity.value
    try:
        least, occupied = physical_count(sheet, "sockets").value, "are occupied"
    except MissingError:
        least, occupied = 1.0, "is assumed at least"
    if matching_factor(pack, table, model, least) is not matching_factor(pack, table, model, math.inf):
        sheet.caveat(
            f"cores count by the number of sockets that the server is built for, which is unknown: "
            f"{format_in(least, '')} {occupied}. Set it with {KEYS[NAMES['socket_capacity']].flag}"
        )
    return least, math.inf


def matching_factor(pack: Pack, table: str, model: str, sockets: float) -> FactorEntry:
    """Return the entry of a table that a processor's name on a server for that many sockets matches first."""
    return next(
        entry
        for entry in pack.factor
        if entry.table == table
        and sockets > entry.sockets_above
        and (entry.model is None or is_named(entry.model, model))
    )


def price(sheet: Sheet, product: ProductEntry, metric: str) -> Quantity:
    """USD a unit before discount; the calculation ends where no price is public."""
    if metric not in product.price:
        raise MissingError("license.list_usd")
    quantity = _tiered(sheet, product, metric) or Quantity(
        product.price[metric],
        "USD",
        Origin.RULE,
        product.id,
        low=product.price_low.get(metric),
        high=product.price_high.get(metric),
        caveats=(product.note,) if product.note and metric in product.price_high else (),
    )
    quantity = sheet.rules.marked(quantity, f"product.{product.id}.price.{metric}")
    if quantity.origin is Origin.RULE:
        sheet.cite(product.source)
    return sheet.given(f"{product.id}.price.{metric}", quantity, "USD")


def _tiered(sheet: Sheet, product: ProductEntry, metric: str) -> Quantity | None:
    """The price by the number of sockets, a range where that is unknown; None where the price is one for all."""
    if not product.tier:
        return None
    least = product.price[metric]
    caveats = tuple(dict.fromkeys(tier.note for tier in product.tier if tier.note))
    try:
        sockets = physical_count(sheet, "sockets")
    except MissingError as missing:
        most = product.tier[-1].price[metric]
        for caveat in caveats:
            sheet.caveat(caveat)
        unknown = f"the price depends on the number of sockets, which is unknown: set it with {KEYS[missing.key].flag}"
        sheet.assume(f"one of two prices; {unknown}", missing.key, caveat=unknown)
        return Quantity(least, "USD", Origin.RULE, product.id, low=least, high=most, caveats=(*caveats, unknown))
    above = [tier for tier in product.tier if sockets.value > tier.sockets_above]
    each = above[-1].price[metric] if above else least
    sheet.line(f"{product.title}: {format_usd(each)} on a server of {format_in(sockets.value, 'sockets')}")
    return Quantity(each, "USD", Origin.RULE, product.id, caveats=caveats)


def format_usd(value: float) -> str:
    """A price in dollars, with cents where there are any."""
    return f"${value:,.2f}".removesuffix(".00")


def usd_range(price: Quantity) -> str:
    """A price in dollars, with both ends of its range where it has one: ``$1,000 to $2,000``."""
    return span(price, format_usd)


def usd_brief(price: Quantity) -> str:
    """A price in whole dollars, in millions from one on, with both ends of its range where it has one."""
    return span(price, lambda usd: f"${format_in(float(f'{usd / 1e6:.3g}'), '')}M" if usd >= 1e6 else f"${usd:,.0f}")


def span(quantity: Quantity, text: Callable[[float], str]) -> str:
    """A figure with both ends of its range, where it has one: ``24 to 48``."""
    low, high = quantity.low, quantity.high
    return text(quantity.value) if low is None or high is None or low == high else f"{text(low)} to {text(high)}"


def count_range(count: Quantity, unit: str) -> str:
    """A number of licenses, with both ends of its range where it has one: ``24 to 48 licenses``."""
    if count.low is None or count.high is None:
        return format_in(count.value, unit)
    return f"{format_in(count.low, '')} to {format_in(count.high, unit)}"


def evaluated(sheet: Sheet, basis: CountBasis, formula: Formula, title: str, unit: str) -> tuple[float, float, float]:
    """Value, low and high of a formula, with the working written down."""
    value, low, high = (formula.evaluate(FormulaNames(sheet, basis, end)) for end in ("value", "low", "high"))
    written, result = formula.working(FormulaNames(sheet, basis)), format_in(value * base_unit(unit)[1], unit)
    steps = dict.fromkeys((formula.text, written, result))
    sheet.line(f"{title}: {' = '.join(steps)}")
    return value, min(low, high), max(low, high)


def count_units(sheet: Sheet, basis: CountBasis, metric: MetricEntry) -> Quantity:
    """Units of one metric over all servers."""
    text = metric.formulas.get(basis.scope)
    if text is None:
        known = ", ".join(metric.formulas)
        raise UsageError(f"license.scope: {metric.title} has no rule for {basis.scope!r}: expected one of {known}")
    sheet.cite(metric.source)
    if metric.per == "pool" and basis.scope != "cloud" and "license.aggregate" not in sheet.inputs:
        basis = replace(basis, pooled=True)
    if basis.scope in metric.notes:
        sheet.caveat(metric.notes[basis.scope])
    formula = sheet.rules.formula(text)
    servers = licensed_servers(sheet, basis.pack, chosen_product(sheet, basis.pack))
    if basis.pooled and servers > 1:
        for name in sorted(formula.names & _POOLED.keys()):
            each = FormulaNames(sheet, replace(basis, pooled=False))(name)
            worked(sheet, term(servers, "servers") * term(each, _POOLED[name]), _POOLED[name])
    value, low, high = evaluated(sheet, basis, formula, metric.title, metric.unit)
    if "users" in formula.names and sheet.number(NAMES["users"]).origin is Origin.RULE:  # which counts nobody
        if not value:
            raise MissingError(NAMES["users"])
        sheet.caveat(f"the number of users is unknown, so this is the least: set it with {KEYS[NAMES['users']].flag}")
    of_hosts = "host_cores" in formula.names or ("sockets" in formula.names and sheet.has_used("license.hosts"))
    whole = metric.per == "whole" or basis.pooled or of_hosts
    if servers > 1 and not whole:
        worked(sheet, term(servers, "servers") * term(value, metric.unit), "")
        value, low, high = (servers * end for end in (value, low, high))
    least = metric.minimum_order
    if value < least:
        order = MinimumOrder(f"minimum order: {format_in(least, metric.unit)}")
        sheet.facts.append(order)
        sheet.line(order.text)
    value, low, high = (max(end, least) for end in (value, low, high))
    return ranged(value, low, high, metric.unit, metric.id)


def ranged(value: float, low: float, high: float, unit: str, source: str) -> Quantity:
    """A quantity with its range, or without one where both ends are the value."""
    found = Quantity(value, unit, Origin.RULE, source)
    return found if low == value == high else replace(found, low=low, high=high)
