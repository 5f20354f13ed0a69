"""Whether the vendor permits the chosen product on a machine, and how many licenses of it that requires."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from sizeup.decoding import data_beside
from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import (
    architecture,
    assume_product,
    chosen_contract,
    chosen_metric,
    chosen_options,
    chosen_pack,
    count_basis,
    licensed_servers,
)
from sizeup.sizing.licensing.count import HostUnknownError, count_range, count_units, evaluated, physical_count
from sizeup.sizing.pack import ConditionEntry, MetricEntry, Pack, ProductEntry, short
from sizeup.sizing.sheet import Assumption, Calculation, MissingError, Sheet
from sizeup.text import listed
from sizeup.units import format_in

Decision = Literal["allowed", "assumed", "forbidden"]
CAPACITY = "machine.socket_capacity"
_MODEL = "machine.cpu_model"


class Permission(Struct, frozen=True):
    """What the conditions of a product say of a machine."""

    product: str
    """Its title."""
    decision: Decision
    """``assumed``: permitted, if the server has no empty sockets beyond the permitted ones, or if a source is right."""
    why: str
    """The rule that decides; empty where none restricts the product."""
    place: str
    """What the rule is about: a server, or an instance of a cloud."""
    runs: bool = True
    """Whether the product runs on the processor at all."""
    settled_by: str = ""
    """The key that settles a permission that is assumed; empty where none does."""

    @property
    def condition(self) -> str:
        """The rule, and what would settle a permission that is assumed."""
        return f"{self.why}. Use {KEYS[self.settled_by].flag}" if self.settled_by else self.why

    @property
    def refused(self) -> str:
        """That the product may not be used here."""
        return f"{self.product} {'is not permitted' if self.runs else 'does not run'}"

    @property
    def refusal(self) -> str:
        """That the product may not be used here, where, and why."""
        return f"{self.refused} on this {self.place}: {self.why}"


class ForbiddenError(MissingError):
    """The vendor does not permit the product here: nothing is counted, and another product is asked for."""

    def __init__(self, permission: Permission) -> None:
        super().__init__("license.product")
        self.permission = permission


def permission(sheet: Sheet, pack: Pack, product: ProductEntry) -> Permission:
    """Judge the processor and the conditions of a product, the strictest first."""
    kind = architecture(sheet)
    for platform in pack.platform:
        ours = not platform.products or short(product.id) in platform.products
        if ours and kind is not None and kind.id not in platform.architectures:
            sheet.cite(platform.source)
            return Permission(product.title, "forbidden", platform.why, "server", runs=False)
    scope = count_basis(sheet, pack, chosen_metric(sheet, pack, product)).scope
    place = "instance" if scope == "cloud" else "server"
    found = Permission(product.title, "allowed", "", place)
    for condition in pack.condition:
        if condition.product not in ("", short(product.id)) or (condition.scopes and scope not in condition.scopes):
            continue
        decision = _decision(sheet, pack, product, condition)
        if decision == "forbidden" or found.decision == "allowed":
            settled_by = CAPACITY if decision == "assumed" and not condition.sure else ""
            found = Permission(product.title, decision, condition.why, place, settled_by=settled_by)
        if decision == "forbidden":
            break
    return found


def require_permission(sheet: Sheet, pack: Pack, product: ProductEntry) -> None:
    """Raise where the product is not permitted; one whose conditions cannot be judged yet is."""
    judge = Sheet(sheet.inputs, sheet.rules)
    try:
        found = permission(judge, pack, product)
    except MissingError:
        return
    if found.decision == "forbidden":
        sheet.include(judge)
        raise ForbiddenError(found)


def _decision(sheet: Sheet, pack: Pack, product: ProductEntry, condition: ConditionEntry) -> Decision:
    """A server of unknown capacity is built for at least the sockets that it has."""
    sheet.cite(condition.source)
    formula = sheet.rules.formula(condition.formula)
    judged, is_assumed = sheet, "socket_capacity" in formula.names and CAPACITY not in sheet.inputs
    if is_assumed:
        occupied = replace(physical_count(sheet, "sockets"), source="occupied sockets")
        judged = Sheet({**sheet.inputs, CAPACITY: occupied}, sheet.rules)
    metric = chosen_metric(judged, pack, product)
    basis = count_basis(judged, pack, metric)
    value, _, _ = evaluated(judged, basis, formula, "allowed where", "")
    if is_assumed:
        sheet.include(judged)
    if not value:
        if is_assumed and basis.scope in metric.notes:
            sheet.caveat(f"{metric.notes[basis.scope]}. If not, use {KEYS[CAPACITY].flag}")
        return "forbidden"
    if is_assumed:
        sheet.caveat(
            "empty sockets count too, and their number is unknown: only occupied sockets are assumed. "
            f"Use {KEYS[CAPACITY].flag}, which sets all of them"
        )
    if condition.sure and not evaluated(judged, basis, sheet.rules.formula(condition.sure), "undisputed where", "")[0]:
        sheet.caveat(condition.why)
        is_assumed = True
    return "assumed" if is_assumed else "allowed"


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
    platforms = any(not one.products or short(product.id) in one.products for one in pack.platform)
    if platforms and architecture(Sheet(sheet.inputs, sheet.rules)) is None:
        sheet.assume(f"it runs on this processor, which is unknown. Use {KEYS[_MODEL].flag}", _MODEL)
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
