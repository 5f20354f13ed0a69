"""The same machine licensed otherwise: in a cloud, by another metric, with another product."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Words
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import OF_ONE_PACK, chosen_metric, chosen_pack, chosen_product, count_basis
from sizeup.sizing.licensing.cost import format_usd, list_price
from sizeup.sizing.licensing.count import count_units, evaluated, licenses_required, physical_count
from sizeup.sizing.pack import Pack, ProductEntry, short
from sizeup.sizing.sheet import Calculation, Sheet
from sizeup.units import format_in


def _cloud(sheet: Sheet) -> Iterator[Advice]:
    """The same cores as an instance of a cloud, where vendors count virtual CPUs and no core factors."""
    pack = chosen_pack(sheet)
    product = chosen_product(sheet, pack)
    metric = chosen_metric(sheet, pack, product)
    if count_basis(sheet, pack, metric).scope != "bare" or "cloud" not in metric.formulas:
        return
    cores, threads = sheet.number("machine.cores"), sheet.number("machine.threads_per_core")
    here = count_units(sheet, count_basis(sheet, pack, metric), metric)
    vcpus = replace(cores, value=cores.value * threads.value, source="machine.cores x machine.threads_per_core")
    scope = Words("cloud", Origin.RULE, "the same cores in a cloud")
    cloud = Sheet({**sheet.inputs, "machine.vcpus": vcpus, "license.scope": scope}, sheet.rules)
    there = count_units(cloud, count_basis(cloud, pack, metric), metric)
    times = there.value / here.value
    compared = "as many as" if times == 1 else f"{times:.3g} times the {format_in(here.value, '')}"
    cloud.line(f"{format_in(there.value, metric.unit)} in the cloud, {format_in(here.value, metric.unit)} on premises")
    yield cloud.advice(
        "license.cloud",
        "Licenses of the same cores in an authorized cloud",
        f"authorized cloud: {format_in(there.value, metric.unit)} for these cores as "
        f"{format_in(vcpus.value, 'vCPUs')}, {compared} on premises",
        there,
        metric.unit,
    )


def _break_evens(sheet: Sheet) -> Iterator[Advice]:
    pack = chosen_pack(sheet)
    product = chosen_product(sheet, pack)
    for entry in pack.break_even:
        if entry.product != short(product.id):
            continue
        metric = chosen_metric(sheet, pack, product)
        basis = count_basis(sheet, pack, metric)
        sheet.cite(entry.source)
        value, _, _ = evaluated(sheet, basis, sheet.rules.formula(entry.formula), entry.title, entry.unit)
        users = sheet.number("license.users")
        decision = "users" if users.value < value else "machine"
        yield sheet.advice(
            f"license.break-even.{entry.id}",
            entry.title,
            f"{entry.title}: {format_in(value, entry.unit)}",
            sheet.answer(value, entry.unit, entry.id),
            entry.unit,
            decision=decision,
        )


def _instead(sheet: Sheet) -> Iterator[Advice]:
    """Products that only some servers may use, held against the vendor's first: why not here, or where they cost alike.

    A server of unknown capacity is built for at least the sockets that it has.
    """
    pack = chosen_pack(sheet)
    product = chosen_product(sheet, pack)
    here = count_basis(sheet, pack, chosen_metric(sheet, pack, product))
    if here.scope != "bare" or product is not pack.product[0]:
        return
    for other in pack.product:
        if not other.allowed_if or other.option_of:
            continue
        kept = {key: value for key, value in sheet.inputs.items() if key not in OF_ONE_PACK}
        kept["license.pack"] = Words(pack.pack, Origin.RULE, pack.pack)
        kept["license.product"] = Words(short(other.id), Origin.RULE, f"instead of {product.title}")
        capacity_known = "machine.socket_capacity" in kept
        if not capacity_known:
            kept["machine.socket_capacity"] = replace(physical_count(sheet, "sockets"), source="machine.sockets")
        theirs = Sheet(kept, sheet.rules)
        if not capacity_known:
            theirs.caveat(
                "empty sockets count too, and their number is unknown: only occupied sockets are assumed. "
                f"Set all of them with {KEYS['machine.socket_capacity'].flag}"
            )
        yield _alternative(sheet, theirs, pack, product, other)


def _alternative(sheet: Sheet, theirs: Sheet, pack: Pack, product: ProductEntry, other: ProductEntry) -> Advice:
    """The break-even of the chosen product against another, in licenses of the chosen one."""
    advice_id, title = f"license.break-even.{other.id}", f"{other.title} in place of {product.title}"
    metric = chosen_metric(theirs, pack, other)
    theirs.cite(other.source)
    theirs.cite(metric.source)
    allowed = theirs.rules.formula(other.allowed_if)
    fits, _, _ = evaluated(theirs, count_basis(theirs, pack, metric), allowed, "allowed where", "")
    if not fits:
        return theirs.advice(
            advice_id,
            title,
            f"{other.title} is not permitted on this server: {other.allowed_why}",
            decision="forbidden",
        )
    alone = list_price(theirs)
    count, chosen, _ = licenses_required(sheet)
    total = list_price(sheet)
    sheet.include(theirs)
    each = total.value / count.value
    turn = alone.value / each
    sheet.line(f"{format_usd(alone.value)} / {format_usd(each)} a license = {format_in(turn, chosen.unit)}")
    sheet.caveat(f"list prices only; {other.title} lacks features and options that {product.title} has")
    dearer = total.value > alone.value
    return sheet.advice(
        advice_id,
        title,
        f"list prices: {other.title} {format_usd(alone.value)}, {product.title} {format_usd(total.value)}. "
        f"{product.title} costs less only below {turn:.3g} {chosen.unit}",
        sheet.answer(turn, chosen.unit, other.id),
        chosen.unit,
        decision=short(other.id if dearer else product.id),
    )


CALCULATIONS = (
    Calculation("licenses in a cloud", _cloud, ("license.cloud",)),
    Calculation("alternative product", _instead, ("license.break-even.",)),
    Calculation("break-even of the metrics", _break_evens, ("license.break-even.",), about=("license.users",)),
)
