"""How many licenses a machine requires under a vendor's rules."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Literal

from sizeup.errors import UsageError
from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.formula import Formula
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import CountBasis, chosen_metric, chosen_pack, chosen_product, count_basis
from sizeup.sizing.pack import FactorEntry, MetricEntry, Pack, ProductEntry
from sizeup.sizing.sheet import Calculation, Inputs, MissingError, Sheet
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
    "pinned_cores": "license.pinned_cores",
    "host_cores": "license.host_cores",
    "host_sockets": "license.host_sockets",
}
"""What formulas of packs call the keys."""

_SCALES = {"memory_gib": 2.0**30}
_POOLED = frozenset({"cores", "sockets", "vcpus", "pinned_cores"})
"""Names that a pool adds up over its servers before rounding."""

OF_HOST = {
    "cores": "license.host_cores",
    "sockets": "license.host_sockets",
    "socket_capacity": "license.host_sockets",
}
"""Names that count hardware, and the key that answers for them where this machine shows virtual hardware."""

CORES_PRODUCT = "machine.sockets x machine.cores_per_socket"
"""Source of ``machine.cores`` where it was worked out."""

End = Literal["value", "low", "high"]


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
    if guest == "no" or not _is_detected(sheet.inputs, name):
        return sheet.number(NAMES[name])
    stated = sheet.optional(OF_HOST[name])
    if stated is not None:
        return stated
    if guest == "yes":
        raise HostUnknownError(OF_HOST[name])
    # A user who sets some of the counts means another machine, and must set this one too.
    others = [key for key in ("cores", "sockets") if NAMES[key] in sheet.inputs and not _is_detected(sheet.inputs, key)]
    raise HostUnknownError(NAMES[name] if others else "machine.guest")


class _FormulaNames:
    """Names of a formula to numbers, at one end of their ranges."""

    def __init__(self, sheet: Sheet, basis: CountBasis, end: End) -> None:
        self._sheet = sheet
        self._basis = basis
        self._end = end

    def __call__(self, name: str) -> float:
        pack = self._basis.pack
        if name in NAMES:
            hardware = name in OF_HOST and not self._basis.visible
            quantity = physical_count(self._sheet, name) if hardware else self._sheet.number(NAMES[name])
            servers = self._sheet.number("cluster.nodes").value if self._basis.pooled and name in _POOLED else 1
            return range_end(quantity, self._end) / _SCALES.get(name, 1) * servers
        if name == "threads":
            return self("cores") * self("threads_per_core")
        if name.startswith("price."):
            _, product, metric = name.split(".")
            entry = pack.find_product(product)
            assert entry is not None, name
            return price(self._sheet, entry, metric).value
        metric_entry = pack.find_metric(name)
        if metric_entry is not None:
            return range_end(count_units(self._sheet, self._basis, metric_entry), self._end)
        return range_end(factor(self._sheet, f"{pack.prefix}.{name}", pack), self._end)


def range_end(quantity: Quantity, end: End) -> float:
    """One end of a quantity's range, which is the value where there is no range."""
    bound = None if end == "value" else quantity.low if end == "low" else quantity.high
    return quantity.value if bound is None else bound


def factor(sheet: Sheet, table: str, pack: Pack) -> Quantity:
    """Return the factor of one core in a table, by the processor's name; an ambiguous name gives a range."""
    model = sheet.optional_words("machine.cpu_model") or ""
    entry = _match(pack, table, model, _sockets_for(sheet, pack, table, model))
    sheet.cite(entry.source)
    if entry.note:
        sheet.caveat(f"{model or 'no processor name'}: {entry.note}")
    text = format_in(entry.value, "")
    if entry.low is not None and entry.high is not None:
        text = f"{format_in(entry.low, '')} to {format_in(entry.high, '')}"
    sheet.line(f"{table}: {model or 'unknown processor'} is {entry.title}: {text}")
    quantity = Quantity(entry.value, "1", Origin.RULE, entry.id, low=entry.low, high=entry.high)
    return sheet.given(entry.id, sheet.rules.marked(quantity, f"factor.{entry.id}"))


def _sockets_for(sheet: Sheet, pack: Pack, table: str, model: str) -> float:
    """Sockets of the hardware, where the table counts a core differently by them; else any number does."""
    if _match(pack, table, model, 1) is _match(pack, table, model, math.inf):
        return 1
    if "machine.sockets" in sheet.inputs:
        return physical_count(sheet, "sockets").value
    sheet.caveat(
        f"the number of sockets is unknown and assumed to be 1; cores count more on larger servers. "
        f"Set it with {KEYS['machine.sockets'].flag}"
    )
    return 1


def _match(pack: Pack, table: str, model: str, sockets: float) -> FactorEntry:
    return next(
        entry
        for entry in pack.factor
        if entry.table == table
        and sockets > entry.sockets_above
        and (entry.model is None or re.search(entry.model, model, re.IGNORECASE))
    )


def price(sheet: Sheet, product: ProductEntry, metric: str) -> Quantity:
    """USD a unit before discount; the calculation ends where no price is public."""
    if metric not in product.price:
        raise MissingError("license.list_usd")
    sheet.cite(product.source)
    quantity = Quantity(
        product.price[metric],
        "USD",
        Origin.RULE,
        product.id,
        low=product.price_low.get(metric),
        high=product.price_high.get(metric),
        caveats=(product.note,) if product.note and metric in product.price_high else (),
    )
    return sheet.given(f"{product.id}.price.{metric}", sheet.rules.marked(quantity, f"product.{product.id}"), "USD")


def evaluated(sheet: Sheet, basis: CountBasis, formula: Formula, title: str, unit: str) -> tuple[float, float, float]:
    """Value, low and high of a formula, with the working written down."""
    value, low, high = (formula.evaluate(_FormulaNames(sheet, basis, end)) for end in ("value", "low", "high"))
    written = formula.working(_FormulaNames(sheet, basis, "value"))
    result = format_in(value * base_unit(unit)[1], unit)
    steps = dict.fromkeys((formula.text, written, result))
    sheet.line(f"{title}: {' = '.join(steps)}")
    return value, min(low, high), max(low, high)


def count_units(sheet: Sheet, basis: CountBasis, metric: MetricEntry) -> Quantity:
    """Units of one metric over all servers."""
    text = metric.formulas.get(basis.scope)
    if text is None:
        raise UsageError(
            f"license.scope: {metric.title} has no rule for {basis.scope!r}: expected one of "
            f"{', '.join(metric.formulas)}"
        )
    sheet.cite(metric.source)
    if basis.scope in metric.notes:
        sheet.caveat(metric.notes[basis.scope])
    value, low, high = evaluated(sheet, basis, sheet.rules.formula(text), metric.title, metric.unit)
    servers = sheet.number("cluster.nodes").value
    if metric.per == "server" and not basis.pooled and servers > 1:
        sheet.line(
            f"{format_in(servers, 'servers')} x {format_in(value, metric.unit)} = {format_in(servers * value, '')}"
        )
        value, low, high = servers * value, servers * low, servers * high
    if value < metric.minimum_order:
        sheet.line(f"minimum order: {format_in(metric.minimum_order, metric.unit)}")
    least = metric.minimum_order
    value, low, high = max(value, least), max(low, least), max(high, least)
    return ranged(value, low, high, metric.unit, metric.id)


def ranged(value: float, low: float, high: float, unit: str, source: str) -> Quantity:
    """A quantity with its range, or without one where both ends are the value."""
    if low == value == high:
        return Quantity(value, unit, Origin.RULE, source)
    return Quantity(value, unit, Origin.RULE, source, low=low, high=high)


def licenses_required(sheet: Sheet) -> tuple[Quantity, MetricEntry, ProductEntry]:
    """Licenses of the chosen product on this machine, with the metric they are counted in."""
    pack = chosen_pack(sheet)
    product = chosen_product(sheet, pack)
    metric = chosen_metric(sheet, pack, product)
    return count_units(sheet, count_basis(sheet, pack, metric), metric), metric, product


_HOST_SETTINGS = {
    "license.host_cores": (
        "a guest cannot see the hosts that it may run on, and all their cores count",
        f"on a soft partition: {KEYS['license.host_cores'].flag}, the cores of all hosts that it may run on",
        "on a hard partition: --set license.scope=hard license.pinned_cores=N, the cores that it is pinned to",
        "in an authorized cloud: --set license.scope=cloud machine.vcpus=N, its virtual CPUs",
    ),
    "license.host_sockets": (
        "a guest sees virtual sockets",
        f"on a host: {KEYS['license.host_sockets'].flag}, the occupied sockets of the host that it runs on",
        "in an authorized cloud: --set license.scope=cloud machine.vcpus=N, its virtual CPUs",
    ),
    "machine.guest": (
        "nothing here proves a guest or bare metal, and the cores of a guest are virtual",
        "on bare metal: --set machine.guest=no, so that the detected cores and sockets count",
        "in a virtual machine: --set machine.guest=yes and the host's license.host_cores=N, license.host_sockets=N",
    ),
}
"""By missing key: why the license count is unknown, and which settings make it known."""


def _host_unknown(key: str) -> str:
    """What the license count requires, and the flag that sets it."""
    if key == "machine.guest":
        return (
            "license count: unknown until this machine is known to be bare metal or a guest. "
            "Use --set machine.guest=no or --set machine.guest=yes"
        )
    missing = {
        "license.host_cores": "number of cores of the physical host",
        "license.host_sockets": "number of sockets of the physical host",
    }
    return f"license count: unknown without the {missing.get(key, KEYS[key].help)}. Use {KEYS[key].flag}"


def _units(sheet: Sheet) -> Iterator[Advice]:
    try:
        quantity, metric, product = licenses_required(sheet)
    except MissingError as missing:
        if not isinstance(missing, HostUnknownError) and missing.key != "license.host_cores":
            raise
        for line in _HOST_SETTINGS.get(missing.key, ()):
            sheet.line(line)
        yield sheet.advice("license.units", "Licenses", _host_unknown(missing.key), decision="host-unknown")
        raise
    span = "" if quantity.low is None or quantity.high is None else f" ({quantity.low:g} to {quantity.high:g})"
    yield sheet.advice(
        "license.units",
        f"Licenses: {product.title}, {metric.title}",
        f"{product.title}: {format_in(quantity.value, metric.unit)} required{span}",
        quantity,
        metric.unit,
    )


CALCULATIONS = (Calculation("licenses", _units, ("license.units",), asks=True, about=("license.",)),)
