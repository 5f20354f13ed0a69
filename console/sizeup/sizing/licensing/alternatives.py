"""The same machines licensed otherwise: in a cloud, by another metric or product, one of them as a passive server."""

from __future__ import annotations

import math
from collections.abc import Iterator

from msgspec.structs import replace

from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import (
    OF_ONE_PACK,
    chosen_contract,
    chosen_metric,
    chosen_options,
    count_basis,
    failover_rule,
    licensed_servers,
)
from sizeup.sizing.licensing.cost import a_year, list_price
from sizeup.sizing.licensing.count import count_range, count_units, evaluated, matching_factor, ranged, usd_range
from sizeup.sizing.licensing.permission import permission, require_permission
from sizeup.sizing.licensing.required import licenses_required
from sizeup.sizing.pack import Pack, ProductEntry, short
from sizeup.sizing.sheet import Calculation, MissingError, Sheet
from sizeup.text import listed, plural
from sizeup.units import base_unit, format_in

_CLOUD = ("license.cloud", "Licenses of the same cores in a cloud")
"""Id and title."""


def _cloud(sheet: Sheet) -> Iterator[Advice]:
    """The same cores as an instance of a cloud, where vendors count virtual CPUs and no core factors."""
    pack, product = chosen_contract(sheet)
    metric = chosen_metric(sheet, pack, product)
    of_host = sheet.optional_words("machine.guest") == "yes"  # whose cores are not those that this machine shows
    if of_host or count_basis(sheet, pack, metric).scope != "bare" or "cloud" not in metric.formulas:
        return
    if metric.formulas["cloud"] == metric.formulas.get("bare"):  # the same count, wherever it runs
        return
    offer = Sheet(sheet.inputs, sheet.rules)
    if not _offered(offer):
        why = f"{pack.cloud}: not comparable, because none offers {offer.words('machine.cpu_model')}"
        yield offer.advice(*_CLOUD, why, decision="unavailable")
        return
    cores, threads = sheet.number("machine.cores"), sheet.number("machine.threads_per_core")
    here = count_units(sheet, count_basis(sheet, pack, metric), metric)
    if not here.value:
        return
    vcpus = replace(cores, value=cores.value * threads.value, source="machine.cores x machine.threads_per_core")
    these = f"these cores as {format_in(vcpus.value, 'vCPUs')}"
    scope = Words("cloud", Origin.RULE, "the same cores in a cloud")
    cloud = Sheet({**sheet.inputs, "machine.vcpus": vcpus, "license.scope": scope}, sheet.rules)
    cloud.include(offer)
    refused = permission(cloud, pack, product)
    if refused.decision == "forbidden":
        yield cloud.advice(*_CLOUD, f"{pack.cloud}, {these}: {refused.refusal}", decision="forbidden")
        return
    require_permission(sheet, pack, product)
    there = count_units(cloud, count_basis(cloud, pack, metric), metric)
    times = there.value / here.value
    compared = "as many as" if times == 1 else f"{times:.3g} times the {format_in(here.value, '')}"
    if here.low is not None:
        compared = f"in place of the {count_range(here, '')}"
    cloud.line(f"{format_in(there.value, metric.unit)} in the cloud, {count_range(here, metric.unit)} on premises")
    verdict = f"{pack.cloud}: {format_in(there.value, metric.unit)} for {these}, {compared} on premises"
    yield cloud.advice(*_CLOUD, verdict, there, metric.unit)


def _offered(sheet: Sheet) -> bool:
    """Whether clouds have instances with processors like this one; x86 is assumed where its name is unknown."""
    pack = sheet.rules.pack(_CLOUD_TABLE.partition(".")[0])
    model = sheet.optional_words("machine.cpu_model")
    if pack is None or model is None:
        return True
    entry = matching_factor(pack, _CLOUD_TABLE, model, 1)
    if entry.note:
        sheet.caveat(entry.note)
    sheet.cite(entry.source)
    return entry.value != 0


_CLOUD_TABLE = "license.cloud_processors"
"""Factors: 1 for a processor that authorized clouds offer, 0 for one that they do not."""


def _break_evens(sheet: Sheet) -> Iterator[Advice]:
    pack, product = chosen_contract(sheet)
    for entry in pack.break_even:
        if entry.product != short(product.id):
            continue
        require_permission(sheet, pack, product)
        metric = chosen_metric(sheet, pack, product)
        basis = count_basis(sheet, pack, metric)
        sheet.cite(entry.source)
        ends = evaluated(sheet, basis, sheet.rules.formula(entry.formula), entry.title, entry.unit)
        decision = "users" if sheet.number("license.users").value < ends[0] else "machine"
        quantity = ranged(*ends, base_unit(entry.unit)[0], entry.id)
        value, low, high = (math.ceil(round(end, 6)) for end in ends)
        whole = ranged(value, low, high, quantity.unit, entry.id)
        verdict, advice_id = f"{entry.title}: {count_range(whole, entry.unit)}", f"license.break-even.{entry.id}"
        yield sheet.advice(advice_id, entry.title, verdict, quantity, entry.unit, decision=decision)


def for_edition(sheet: Sheet, pack: Pack, product: ProductEntry, other: ProductEntry) -> Sheet:
    """Return a sheet with another edition in place of the chosen one; what was set about that one is left out."""
    kept = {key: value for key, value in sheet.inputs.items() if key not in OF_ONE_PACK}
    kept["license.pack"] = Words(pack.pack, Origin.RULE, pack.pack)
    kept["license.product"] = Words(short(other.id), Origin.RULE, f"instead of {product.title}")
    if "license.version" in sheet.inputs:
        kept["license.version"] = sheet.inputs["license.version"]
    scope = sheet.inputs.get("license.scope")
    metric = pack.find_metric(other.metric)
    if isinstance(scope, Words) and metric is not None and scope.value in metric.formulas:
        kept["license.scope"] = scope
    return Sheet(kept, sheet.rules)


_PASSIVE = "license.passive_servers"
_SERVERS = "license.failover", "Failover servers"
"""Id and title."""


def _failover(sheet: Sheet) -> Iterator[Advice]:
    """The rule about passive servers, and what the licenses are with one of them."""
    pack, product = chosen_contract(sheet)
    rule, servers = failover_rule(pack, product), sheet.number("cluster.nodes").value
    if servers <= 1 or rule is None:
        return
    sheet.cite(rule.source)
    sheet.caveat(rule.note)
    licensed = licensed_servers(sheet, pack, product)
    if licensed < servers:
        text = f"{plural(int(servers - licensed), 'passive server')} not counted"
        yield sheet.advice(*_SERVERS, f"{rule.why}: {text}", decision="passive")
        return
    one = Quantity(1, "1", Origin.RULE, rule.id)
    fewer = Sheet({**sheet.inputs, _PASSIVE: one}, sheet.rules)
    flag = KEYS[_PASSIVE].flag.replace("=N", "=1")
    try:
        count, metric, _ = licenses_required(fewer)
        text = count_range(count, metric.unit)
        of_all = Sheet(sheet.inputs, sheet.rules)
        text += f" in place of {count_range(licenses_required(of_all)[0], '')}"
        options, kept = (chosen_options(Sheet(one.inputs, sheet.rules), pack, product) for one in (sheet, fewer))
        shared = [entry for entry in options if entry.for_clusters and entry not in kept]
        names = [short(entry.id) for entry in options if entry not in shared]
        rest = Words(",".join(names) or "none", Origin.RULE, "without what a passive server does not need")
        alike = Sheet({**sheet.inputs, "license.options": rest}, sheet.rules)
        price, instead = usd_range(list_price(fewer)), usd_range(list_price(alike if shared else of_all))
        text += f", {price} in place of {instead}{a_year(product)}"
        if shared:
            titles, whole = listed([entry.title for entry in shared]), usd_range(list_price(of_all))
            text += f"; {whole} with {titles}, which servers need that open one database together"
    except MissingError as missing:  # a product that is not permitted is one, too
        if missing.key != "license.list_usd":
            return
    yield sheet.advice(*_SERVERS, f"{rule.why}. With {flag}: {text}", decision="all-counted")


CALCULATIONS = (
    Calculation(
        "failover servers",
        _failover,
        ("license.failover",),
        about=(_PASSIVE,),
        nothing="no server is left out: this is one server (cluster.nodes), or no rule for this product is known",
    ),
    Calculation(
        "licenses in a cloud",
        _cloud,
        ("license.cloud",),
        nothing="nothing to compare: only the licenses of physical cores are compared with those of a cloud",
    ),
    Calculation("break-even of the metrics", _break_evens, ("license.break-even.",), about=("license.users",)),
)
