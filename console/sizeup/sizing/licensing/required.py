"""How many licenses of the chosen product a machine requires."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from sizeup.decoding import data_beside
from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import (
    assume_product,
    chosen_contract,
    chosen_metric,
    chosen_options,
    chosen_pack,
    count_basis,
    licensed_servers,
)
from sizeup.sizing.licensing.count import HostUnknownError, count_range, count_units
from sizeup.sizing.licensing.permission import ForbiddenError, require_permission
from sizeup.sizing.pack import MetricEntry, ProductEntry
from sizeup.sizing.sheet import Assumption, Calculation, MissingError, Sheet
from sizeup.text import listed
from sizeup.units import format_in


class LicenseCount(Struct, frozen=True):
    """What is licensed, and what its count rests on."""

    product: str = ""
    """The title, with those of its options; empty where the count is unknown."""
    brief: str = ""
    """The same for narrow places."""
    counted: str = ""
    """``4 users and 2 server licenses``."""
    assumptions: tuple[Assumption, ...] = ()
    notes: tuple[str, ...] = ()
    """The other caveats."""


def licenses_required(sheet: Sheet) -> tuple[Quantity, MetricEntry, ProductEntry]:
    """Licenses of the chosen product on this machine, with the metric they are counted in."""
    pack, product = chosen_contract(sheet)
    require_permission(sheet, pack, product)
    metric = chosen_metric(sheet, pack, product)
    return count_units(sheet, count_basis(sheet, pack, metric), metric), metric, product


class _UnknownCount(Struct, frozen=True, forbid_unknown_fields=True):
    unknown: str
    """What ends "license count: unknown"."""
    working: tuple[str, ...] = ()
    """Why that is so, and which settings make it known."""


def _units(sheet: Sheet) -> Iterator[Advice]:
    try:
        quantity, metric, product = licenses_required(sheet)
    except ForbiddenError:  # license.allowed says so
        return
    except MissingError as missing:
        if not isinstance(missing, HostUnknownError) and not missing.key.startswith("license."):
            raise
        key = KEYS[missing.key]
        known = data_beside(__file__, "unknown_counts.toml", dict[str, _UnknownCount])
        why = known.get(key.name) or _UnknownCount(f"without the {key.help}. Use {key.flag}")
        for line in why.working:
            sheet.line(line)
        decision = "users-unknown" if key.name == "license.users" else "host-unknown"
        verdict = f"license count: unknown {why.unknown}"
        cores = sheet.optional("machine.server_cores") if key.name == "license.host_cores" else None
        if cores is not None:  # the least that the hosts of an LPAR have
            verdict += f"; the server that this LPAR runs on has {format_in(cores.value, 'cores')}"
        sheet.facts.append(LicenseCount(notes=sheet.notes))
        yield sheet.advice("license.units", "Licenses", verdict, decision=decision)
        raise
    for name in ("license.host_cores", "license.host_sockets", "license.hosts"):
        hosts = None if sheet.optional_words("machine.guest") == "yes" else sheet.inputs.get(name)
        if isinstance(hosts, Quantity) and hosts.origin is Origin.USER and not sheet.has_used(name):
            sheet.caveat(f"{name} changes nothing here: this is no guest ({KEYS['machine.guest'].flag})")
    pack = chosen_pack(sheet)
    assume_product(sheet, pack, product)
    options = chosen_options(sheet, pack, product)
    name = " with ".join(filter(None, (product.title, listed([option.title for option in options]))))
    narrow = bool(options) or quantity.low is not None  # a range takes room, too
    short_name = " + ".join(part.brief or part.title for part in (product, *options)) if narrow else product.title
    beside = ""
    if metric.beside:
        beside = f" and {format_in(licensed_servers(sheet, pack, product), f'{metric.beside} licenses')}"
    counted = f"{count_range(quantity, metric.unit)}{beside}{' of each' if options else ''}"
    sheet.facts.append(LicenseCount(name, short_name, counted, sheet.assumptions, sheet.notes))
    decision, verdict = "", f"{name}: {counted} required"
    users = sheet.inputs.get("license.users")
    if (
        metric.least
        and isinstance(users, Quantity)
        and users.origin is not Origin.RULE
        and quantity.value > users.value
    ):
        verdict += f" by the minimum of {metric.least}"
    if product.is_free and not options:
        decision, verdict = "free", f"{name}: no licenses needed"
    title = f"Licenses: {short_name}, {metric.title}"
    yield sheet.advice("license.units", title, verdict, quantity, metric.unit, decision=decision)


CALCULATIONS = (Calculation("licenses", _units, ("license.units",), asks=True, about=("license.",)),)
