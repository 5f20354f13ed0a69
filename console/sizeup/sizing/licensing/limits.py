"""What a product's license permits of a machine: whether it may be used there, and how much of it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import (
    CountBasis,
    chosen_metric,
    chosen_pack,
    chosen_product,
    chosen_version,
    count_basis,
)
from sizeup.sizing.licensing.cost import a_year, list_price
from sizeup.sizing.licensing.count import NAMES, count_range, evaluated, formula_names, usd_range
from sizeup.sizing.licensing.permission import CAPACITY, permission
from sizeup.sizing.licensing.required import licenses_required
from sizeup.sizing.pack import LimitEntry, Pack, ProductEntry, short
from sizeup.sizing.sheet import Calculation, MissingError, Sheet
from sizeup.units import base_unit, format_in

_MEMORY = "machine.memory_gib"
_LARGE = 2.0**80
"""More memory than any limit, in bytes."""
THREADS = "machine.threads_per_core"
"""Key of the threads of a core, of which there is at least one."""


def _allowed(sheet: Sheet) -> Iterator[Advice]:
    pack = chosen_pack(sheet)
    product = chosen_product(sheet, pack)
    found = permission(sheet, pack, product)
    if found is None:
        return
    if found.decision == "forbidden":
        verdict = found.refusal(product.title)
    else:
        assumed = found.decision == "assumed"
        verdict = (
            f"{product.title} is {'assumed to be ' if assumed else ''}permitted on this {found.place}: {found.why}"
        )
        verdict += f". Use {KEYS[CAPACITY].flag}" if assumed else ""
    yield sheet.advice(
        "license.allowed",
        f"License terms of {product.title}",
        verdict,
        decision=found.decision,
    )


def _limits(sheet: Sheet) -> Iterator[Advice]:
    pack = chosen_pack(sheet)
    product = chosen_product(sheet, pack)
    yield from product_limits(sheet, pack, product)
    yield from open_limits(sheet, pack, product)


def product_limits(sheet: Sheet, pack: Pack, product: ProductEntry) -> Iterator[Advice]:
    """What a product uses of a machine, for each of its limits whose inputs are known."""
    basis = count_basis(sheet, pack, chosen_metric(sheet, pack, product))
    version = chosen_version(Sheet(sheet.inputs, sheet.rules), pack, product)
    for limit in pack.limit:
        applies = (
            limit.product == short(product.id)
            and (not limit.scopes or basis.scope in limit.scopes)
            and limit.version in ("", version)
        )
        if not applies:
            continue
        visible = replace(basis, visible=True)
        if _is_known(sheet, visible, limit):
            yield _limit(sheet, visible, limit, product)
        elif (exceeded := _exceeded_by_cores(sheet, visible, limit, product)) is not None:
            yield exceeded


def open_limits(sheet: Sheet, pack: Pack, product: ProductEntry) -> Iterator[Advice]:
    """Yield the limits of a product on memory where the memory of the server is unknown."""
    if _MEMORY in sheet.inputs:
        return
    basis = replace(count_basis(sheet, pack, chosen_metric(sheet, pack, product)), visible=True)
    version = chosen_version(sheet, pack, product)
    any_size = Sheet({**sheet.inputs, _MEMORY: Quantity(_LARGE, "B", Origin.RULE, "any")}, sheet.rules)
    for limit in pack.limit:
        if limit.product == short(product.id) and limit.of == "memory_gib" and limit.version in ("", version):
            most = sheet.rules.formula(limit.formula).evaluate(formula_names(any_size, basis))
            size = format_in(most * base_unit(limit.unit)[1], limit.unit)
            sheet.cite(limit.source)
            verdict = f"{limit.title}: at most {size}; the memory of the server is unknown ({KEYS[_MEMORY].flag})"
            yield sheet.advice(f"license.limit.{limit.id}", limit.title, verdict, decision="unknown")


def _exceeded_by_cores(sheet: Sheet, basis: CountBasis, limit: LimitEntry, product: ProductEntry) -> Advice | None:
    """Return a limit of threads that the cores alone exceed, where the threads of a core are unknown."""
    if limit.unit != "threads" or THREADS in sheet.inputs:
        return None
    fewest = Sheet({**sheet.inputs, THREADS: Quantity(1, "1", Origin.RULE, "at least one")}, sheet.rules)
    if not _is_known(fewest, basis, limit):
        return None
    advice = _limit(fewest, basis, limit, product, at_least="at least ")
    return advice if advice.decision == "exceeded" else None


def _is_known(sheet: Sheet, basis: CountBasis, limit: LimitEntry) -> bool:
    """Whether the inputs of this limit are known."""
    trial = Sheet(sheet.inputs, sheet.rules)
    try:
        for text in (limit.of, limit.formula):
            evaluated(trial, basis, sheet.rules.formula(text), "", limit.unit)
    except MissingError:
        return False
    return True


def _limit(sheet: Sheet, basis: CountBasis, limit: LimitEntry, product: ProductEntry, *, at_least: str = "") -> Advice:
    sheet.cite(limit.source)
    if limit.version:
        chosen_version(sheet, basis.pack, product)
    if limit.note:
        sheet.caveat(limit.note)
    usable, _, _ = evaluated(sheet, basis, sheet.rules.formula(limit.formula), "usable", limit.unit)
    present, _, _ = evaluated(sheet, basis, sheet.rules.formula(limit.of), "present", limit.unit)
    exceeded = present > usable
    scale = base_unit(limit.unit)[1]
    has = f"{at_least}{format_in(present * scale, limit.unit)}"
    verdict = f"{limit.title}: {format_in(usable * scale, limit.unit)} of {has}"
    if exceeded:
        verdict += f"; {at_least}{format_in((present - usable) * scale, limit.unit)} remain unused"
        verdict += _smaller(sheet, limit, usable, product)
    return sheet.advice(
        f"license.limit.{limit.id}",
        limit.title,
        verdict,
        sheet.answer(usable * scale, limit.unit, limit.id),
        limit.unit,
        decision="exceeded" if exceeded else "fits",
    )


def _smaller(sheet: Sheet, limit: LimitEntry, usable: float, product: ProductEntry) -> str:
    """What the licenses of a machine that is no larger than the limit cost; empty where they cost as much."""
    if limit.of not in ("cores", "vcpus"):
        return ""
    kept = {key: value for key, value in sheet.inputs.items() if key != "machine.cores_per_socket"}
    kept[NAMES[limit.of]] = Quantity(usable, "1", Origin.USER, f"limit of {limit.id}")
    text = ""
    small, present = Sheet(kept, sheet.rules), Sheet(sheet.inputs, sheet.rules)
    try:
        (fewer, metric, _), (count, _, _) = licenses_required(small), licenses_required(present)
        if fewer.value >= count.value:
            return ""
        text += f". {format_in(usable, limit.unit)} require {count_range(fewer, metric.unit)}"
        text += f" in place of {count_range(count, '')}"
        less, price = list_price(small), list_price(present)
    except MissingError as missing:
        return text if missing.key == "license.list_usd" else ""
    if not price.value:
        return ""
    return f"{text}, {usd_range(less)} in place of {usd_range(price)}{a_year(product)}"


CALCULATIONS = (
    Calculation(
        "license terms of the product",
        _allowed,
        ("license.allowed",),
        about=("license.product",),
        nothing="nothing restricts this product here: no rule that is known forbids it or asks for something",
    ),
    Calculation("limits of the product", _limits, ("license.limit.",), about=("license.product",)),
)
