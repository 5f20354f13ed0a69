"""What is licensed: the vendor's pack, the product, its options, the metric, and what of the machine counts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from sizeup.errors import UsageError
from sizeup.quantity import Origin, Words
from sizeup.sizing.input_value import Value
from sizeup.sizing.keys import KEYS
from sizeup.sizing.pack import ArchitectureEntry, FailoverEntry, MetricEntry, Pack, PartitionEntry, ProductEntry, short
from sizeup.sizing.sheet import Inputs, MissingError, Sheet
from sizeup.text import nearest

OF_ONE_PRODUCT = ("license.metric", "license.options", "license.list_usd", "license.support_percent")
"""Keys about the contract for one product."""
OF_ONE_PACK = (*OF_ONE_PRODUCT, "license.product", "license.version", "license.scope")
"""Keys about the contract with one vendor."""
SCOPE = "license.scope"
"""Key of what of the machine counts."""
PRODUCT = "license.product"
"""Key of the product, of which a vendor has several."""
PARTITION = "license.partition"
"""Key that distinguishes a hard partition from a soft one."""


class CountBasis(Struct, frozen=True):
    """What is being licensed, and what of the machine counts."""

    pack: Pack
    scope: str
    pooled: bool
    visible: bool = False
    """Count what the instance sees, virtual or not, as limits of a product do."""
    own_cores: bool = False
    """The cores that a partition shows are physical ones of its own."""


def _unknown_name(kind: str, name: str, known: list[str], packs: Iterable[Pack] = ()) -> UsageError:
    """Return the refusal of a name, with the known one that people mean by it, else the most similar one."""
    meant = [of for pack in packs for of, names in pack.aliases.items() if name.lower() in names and of in known]
    hint = f" (did you mean {meant[0]}?)" if meant else nearest(name, known)
    return UsageError(f"license.{kind}: expected one of {', '.join(known)}, found {name!r}{hint}")


def chosen_pack(sheet: Sheet) -> Pack:
    """The pack that ``license.pack`` names."""
    name = sheet.words("license.pack").lower()
    packs = {pack.pack: pack for pack in sheet.rules.license_packs()}
    if name not in packs:
        raise _unknown_name("pack", name, list(packs), packs.values())
    return packs[name]


def chosen_product(sheet: Sheet, pack: Pack) -> ProductEntry:
    """The product that ``license.product`` names, else the pack's first."""
    name = sheet.optional_words("license.product")
    product = pack.product[0] if name is None else pack.find_product(name.lower())
    if product is None:
        known = [short(entry.id) for entry in pack.product if not entry.option_of]
        raise _unknown_name("product", str(name), known, [pack])
    return product


def chosen_contract(sheet: Sheet) -> tuple[Pack, ProductEntry]:
    """Return the vendor's pack and the product that are chosen."""
    pack = chosen_pack(sheet)
    return pack, chosen_product(sheet, pack)


def assume_product(sheet: Sheet, pack: Pack, product: ProductEntry) -> None:
    """Write down that a product was chosen for the user, who named the vendor alone."""
    vendor, others = sheet.inputs.get("license.pack"), [one for one in pack.product if not one.option_of]
    stated = isinstance(vendor, Words) and vendor.origin is not Origin.RULE
    if PRODUCT not in sheet.inputs and stated and len(others) > 1:
        names = ", ".join(short(one.id) for one in others if one is not product)
        sheet.assume(f"{product.title}, as no product is set: {KEYS[PRODUCT].flag}, such as {names}", PRODUCT)


_PASSIVE = "a passive server takes over, and does not open the database together with the other"


def chosen_options(sheet: Sheet, pack: Pack, product: ProductEntry) -> tuple[ProductEntry, ...]:
    """The options of a product that ``license.options`` names; without it, the one that a cluster needs."""
    text = sheet.optional_words("license.options")
    known = {short(entry.id): entry for entry in pack.product if short(product.id) in entry.option_of}
    servers = licensed_servers(sheet, pack, product)
    shared = [entry for entry in known.values() if entry.for_clusters] if servers > 1 else []
    if text is None:
        for entry in shared[:1]:
            sheet.cite(entry.source)
            sheet.caveat(
                f"{servers:g} servers that open one database together need {entry.title}, so it is included; for "
                "servers with databases of their own, or one that takes over from another, use "
                "--set license.options=none"
            )
        passive = sheet.number("cluster.nodes").value > servers == 1
        for entry in [one for one in known.values() if passive and one.for_clusters][:1]:
            sheet.caveat(f"{entry.title} is not included: {_PASSIVE}")
        if servers > 1 and not shared and product.cluster_note:
            sheet.caveat(product.cluster_note)
        return tuple(shared[:1])
    names = () if text.strip() == "none" else tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in known:
            raise _unknown_name("options", name, ["none", *known] if known else [f"none for {short(product.id)}"])
    chosen = tuple(known[name] for name in names)
    for one in chosen:
        if missing := [other for other in one.requires if other not in names]:
            titles, setting = " and ".join(known[other].title for other in missing), ",".join((*missing, *names))
            raise UsageError(f"license.options: {one.title} requires {titles}; use --set license.options={setting}")
        if one.shares_load and sheet.number("cluster.nodes").value > servers == 1:
            without = ",".join(name for name in names if known[name] is not one) or "none"
            raise UsageError(
                f"license.passive_servers: expected 0 with {one.title}, found 1: {_PASSIVE}. Without it, use --set "
                f"license.options={without}; to license both, leave out license.passive_servers"
            )
    if shared and not any(entry.for_clusters for entry in chosen):
        titles = " or ".join(entry.title for entry in shared)
        sheet.caveat(f"without {titles}, these {servers:g} servers cannot open one database together")
    return chosen


def is_chosen(inputs: Inputs) -> bool:
    """Return whether somebody chose a vendor or a product."""
    stated = (inputs.get(key) for key in ("license.pack", PRODUCT))
    return any(isinstance(one, Words) and one.origin is not Origin.RULE for one in stated)


def shares_load(sheet: Sheet) -> bool:
    """Return whether all servers of a cluster carry the load, as they do unless a product is chosen that cannot."""
    if not is_chosen(sheet.inputs):
        return True
    judge = Sheet(sheet.inputs, sheet.rules)
    pack, product = chosen_contract(judge)
    return any(one.shares_load for one in (product, *chosen_options(judge, pack, product)))


def licensed_servers(sheet: Sheet, pack: Pack, product: ProductEntry) -> float:
    """Return the servers of a cluster that need licenses: all, without passive ones that the vendor leaves out."""
    servers, passive = sheet.number("cluster.nodes").value, sheet.optional("license.passive_servers")
    if passive is None or not passive.value:
        return servers
    rule = failover_rule(pack, product)
    if rule is None:
        sheet.caveat(f"no rule leaves out passive servers of {product.title}: all {servers:g} servers are counted")
        return servers
    most = min(rule.unlicensed, servers - 1)
    if passive.value > most:
        raise UsageError(
            f"license.passive_servers: expected at most {most:g} of {servers:g} servers for {product.title}, "
            f"found {passive.value:g}; all servers are counted by cluster.nodes"
        )
    support = sheet.optional("license.support_percent")
    if rule.with_support and support is not None and not support.value:
        raise UsageError(
            f"license.passive_servers: expected a support above 0 (license.support_percent), found 0 %: {rule.why}"
        )
    sheet.cite(rule.source)
    sheet.line(f"{servers:g} servers - {passive.value:g} passive = {servers - passive.value:g} to license")
    sheet.caveat(f"{passive.value:g} of {servers:g} servers not counted: {rule.why}; {rule.note}")
    return servers - passive.value


def failover_rule(pack: Pack, product: ProductEntry) -> FailoverEntry | None:
    """Return the rule by which passive servers need no licenses of a product; None where there is none."""
    return next((entry for entry in pack.failover if short(product.id) in entry.products), None)


def chosen_version(sheet: Sheet, pack: Pack, product: ProductEntry) -> str:
    """The version that ``license.version`` names, else the latest that the limits of a product tell apart."""
    known = sorted({limit.version for limit in pack.limit if limit.product == short(product.id) and limit.version})
    name = sheet.optional_words("license.version")
    if name is None and known:
        others = ", ".join(known[:-1])
        sheet.caveat(f"version {known[-1]} is assumed; limits of {others} differ: --set license.version={known[-2]}")
    return name or max(known, default="")


def chosen_metric(sheet: Sheet, pack: Pack, product: ProductEntry) -> MetricEntry:
    """The metric that ``license.metric`` names, else the product's own: ``nup`` is ``se2_nup`` for SE2."""
    name = sheet.optional_words("license.metric") or product.metric
    sold = {product.metric, *product.metrics, *product.price}
    own = f"{short(product.id)}_{name}"
    metric = pack.find_metric(own if name not in sold and own in sold else name)
    if metric is None:
        raise _unknown_name("metric", name, [short(entry.id) for entry in pack.metric])
    if short(metric.id) not in sold and "license.list_usd" not in sheet.inputs:
        choices = ", ".join(short(entry.id) for entry in pack.metric if short(entry.id) in sold)
        raise UsageError(f"license.metric: {product.title} is licensed by {choices}, found {name!r}")
    return metric


def count_basis(sheet: Sheet, pack: Pack, metric: MetricEntry) -> CountBasis:
    """Scope: what the user set, else what a guest is to this vendor, else the bare machine.

    Only the user can set that a guest runs in an authorized cloud: fewer licenses are required there.
    """
    scope, own_cores = sheet.optional_words("license.scope"), False
    if scope is None:
        scope = "bare"
        if sheet.optional_words("machine.guest") == "yes":
            scope, own_cores = _scope_of_guest(sheet, pack, metric)
    elif scope == "hard":
        if (hypervisor := soft_hypervisor(sheet.inputs, pack)) and scope in metric.formulas:
            rule = next(one.notes[scope] for one in pack.metric if scope in one.notes)
            raise UsageError(
                f"license.scope: expected no hard partition under {hypervisor}, found 'hard': {pack.title}: {rule}. "
                f"Use --set license.scope=soft {KEYS['license.host_cores'].assignment}"
            )
        sheet.assume("the vendor accepts the hard partition, and it is capped at its cores")
    kind = sheet.inputs.get(PARTITION)
    if isinstance(kind, Words) and kind.origin is not Origin.DETECTED and not sheet.has_used(PARTITION):
        guest, packs = sheet.optional_words("machine.guest") == "yes", sheet.rules.license_packs()
        is_partition = guest and any(_partition(sheet, one) is not None for one in packs)
        why = "this license counts all LPARs alike" if is_partition else "this is no LPAR"
        sheet.caveat(f"{PARTITION} changes nothing here: {why}")
    if scope in ("soft", "hard"):
        sheet.cite_if_known("oracle-partitioning-policy")
    if scope == "cloud":
        sheet.cite_if_known("oracle-cloud-policy")
    return CountBasis(pack, scope, sheet.optional_words("license.aggregate") == "pool", own_cores=own_cores)


def soft_hypervisor(inputs: Inputs, pack: Pack) -> str:
    """Return what a guest runs under whose partitions the vendor never accepts as hard; empty for all others."""
    guest, hypervisor = inputs.get("machine.guest"), inputs.get("machine.hypervisor")
    if not isinstance(hypervisor, Words) or (isinstance(guest, Words) and guest.value == "no"):
        return ""
    soft = hypervisor.value.lower().replace("-", "").startswith(pack.soft_hypervisors)
    return hypervisor.value if soft else ""


def with_product(inputs: Inputs, pack: Pack, product: ProductEntry, origin: Origin = Origin.RULE) -> dict[str, Value]:
    """Return the inputs with a product in place of the chosen one; what was set about that one is left out.

    So is a scope that the product has no rule for, or that its vendor refuses: what one vendor licenses as a virtual
    machine is a guest to every other one.
    """
    scope, metric, before = inputs.get(SCOPE), pack.find_metric(product.metric), inputs.get("license.pack")
    kept = {key: value for key, value in inputs.items() if key not in OF_ONE_PACK}
    if isinstance(before, Words) and before.value == pack.pack and "license.version" in inputs:
        kept["license.version"] = inputs["license.version"]
    kept["license.pack"] = Words(pack.pack, origin, pack.pack)
    kept[PRODUCT] = Words(short(product.id), origin, product.id)
    if not isinstance(scope, Words) or metric is None:
        return kept
    if scope.value in metric.formulas and not (scope.value == "hard" and soft_hypervisor(inputs, pack)):
        return {**kept, SCOPE: scope}
    if scope.value in _SCOPES_OF_GUESTS and ("machine.guest" not in kept or "license.host_cores" in kept):
        kept["machine.guest"] = Words("yes", Origin.RULE, SCOPE)
    return kept


_SCOPES_OF_GUESTS = ("vm", "soft", "cloud")
"""Scopes of machines that are guests; a hard partition may be described by its server."""


def _scope_of_guest(sheet: Sheet, pack: Pack, metric: MetricEntry) -> tuple[str, bool]:
    """Return what a guest counts by whose scope is not set, and whether the cores that it shows are physical."""
    scope = next((name for name in ("soft", "vm") if name in metric.formulas), "bare")
    change = "license.scope"
    entry = _partition(sheet, pack) if "hard" in metric.formulas else None
    if entry is not None:
        kind = sheet.optional_words(PARTITION)
        if kind is None and scope == "soft" and "license.host_cores" not in sheet.inputs:
            raise MissingError(PARTITION)
        sheet.cite(entry.source)
        if kind in ("dedicated", "capped"):
            sheet.caveat(entry.note)
            return "hard", kind == "dedicated" and "license.pinned_cores" not in sheet.inputs
        if kind == "uncapped":
            return scope, False
        if scope == "soft":
            change = PARTITION
    if scope == "bare" or metric.formulas[scope] != metric.formulas.get("bare"):  # else a guest counts as a server does
        flag = f"--set {SCOPE}={'|'.join(metric.formulas)}" if change == SCOPE else KEYS[change].flag
        text = f"{_OF_GUESTS[scope]}; to change it, use {flag}" if len(metric.formulas) > 1 else _OF_GUESTS[scope]
        sheet.caveat(text) if scope == "bare" else sheet.assume(text, change)
    return scope, False


_OF_GUESTS = {
    "bare": "this is a guest, so the hardware of its hosts counts",
    "soft": "this guest is a soft partition, so all cores of its hosts count",
    "vm": "this guest is licensed by its virtual CPUs",
}
"""By scope, what a guest counts by whose scope is not set."""


def _partition(sheet: Sheet, pack: Pack) -> PartitionEntry | None:
    """Return the rule about the kind of partition that this guest is; None where the pack has none."""
    hypervisor = sheet.optional_words("machine.hypervisor")
    kind = architecture(sheet) if hypervisor is None else None
    name = None if kind is None else kind.id
    return next((one for one in pack.partition if hypervisor in one.hypervisors or name in one.architectures), None)


@lru_cache(maxsize=1024)  # the same few names, for every keystroke of the console
def is_named(pattern: str, model: str) -> bool:
    """Whether a pattern of a pack is found in a processor's name."""
    return re.search(pattern, model, re.IGNORECASE) is not None


def architecture(sheet: Sheet) -> ArchitectureEntry | None:
    """Return the processor's architecture, by its name; None where no pattern names it."""
    model = sheet.optional_words("machine.cpu_model") or ""
    kinds = (one for pack in sheet.rules.packs for one in pack.architecture)
    return next((one for one in kinds if is_named(one.model, model)), None)
