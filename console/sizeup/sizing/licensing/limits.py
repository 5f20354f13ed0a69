"""What a product's license permits of a machine: whether it may be used there, and how much of it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from sizeup.model.advice import Advice
from sizeup.sizing.licensing.contract import CountBasis, chosen_metric, chosen_pack, chosen_product, count_basis
from sizeup.sizing.licensing.count import NAMES, evaluated
from sizeup.sizing.pack import LimitEntry, short
from sizeup.sizing.sheet import Calculation, Sheet
from sizeup.units import base_unit, format_in


def _allowed(sheet: Sheet) -> Iterator[Advice]:
    pack = chosen_pack(sheet)
    product = chosen_product(sheet, pack)
    if not product.allowed_if:
        return
    basis = count_basis(sheet, pack, chosen_metric(sheet, pack, product))
    sheet.cite(product.source)
    value, _, _ = evaluated(sheet, basis, sheet.rules.formula(product.allowed_if), "allowed where", "")
    fits = value != 0
    yield sheet.advice(
        "license.allowed",
        f"License terms of {product.title}",
        f"{product.title} is {'' if fits else 'not '}permitted on this server: {product.allowed_why}",
        decision="allowed" if fits else "forbidden",
    )


def _limits(sheet: Sheet) -> Iterator[Advice]:
    pack = chosen_pack(sheet)
    product = chosen_product(sheet, pack)
    metric = chosen_metric(sheet, pack, product)
    basis = count_basis(sheet, pack, metric)
    for limit in pack.limit:
        if limit.product == short(product.id) and _known(sheet, limit):
            yield _limit(sheet, replace(basis, visible=True), limit)


def _known(sheet: Sheet, limit: LimitEntry) -> bool:
    """Whether the inputs of this limit are known; a limit in clouds does not apply to a bare server."""
    names = sheet.rules.formula(limit.of).names
    keys = [NAMES[name] for name in names if name in NAMES]
    if "threads" in names:
        keys += ["machine.cores", "machine.threads_per_core"]
    return all(key in sheet.inputs for key in keys)


def _limit(sheet: Sheet, basis: CountBasis, limit: LimitEntry) -> Advice:
    sheet.cite(limit.source)
    if limit.note:
        sheet.caveat(limit.note)
    usable, _, _ = evaluated(sheet, basis, sheet.rules.formula(limit.formula), "usable", limit.unit)
    present, _, _ = evaluated(sheet, basis, sheet.rules.formula(limit.of), "present", limit.unit)
    exceeded = present > usable
    scale = base_unit(limit.unit)[1]
    verdict = f"{limit.title}: {format_in(usable * scale, limit.unit)} of {format_in(present * scale, limit.unit)}"
    if exceeded:
        verdict += f"; {format_in((present - usable) * scale, limit.unit)} remain unused"
    return sheet.advice(
        f"license.limit.{limit.id}",
        limit.title,
        verdict,
        sheet.answer(usable * scale, limit.unit, limit.id),
        limit.unit,
        decision="exceeded" if exceeded else "fits",
    )


CALCULATIONS = (
    Calculation("license terms of the product", _allowed, ("license.allowed",), about=("license.product",)),
    Calculation("limits of the product", _limits, ("license.limit.",), about=("license.product",)),
)
