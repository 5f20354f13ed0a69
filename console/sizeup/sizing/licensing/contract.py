"""What is licensed: the vendor's pack, the product, its options, the metric, and what of the machine counts."""

from __future__ import annotations

from msgspec import Struct

from sizeup.errors import UsageError
from sizeup.sizing.keys import KEYS
from sizeup.sizing.pack import MetricEntry, Pack, ProductEntry, short
from sizeup.sizing.sheet import Sheet
from sizeup.text import nearest

OF_ONE_PACK = ("license.product", "license.metric", "license.options", "license.list_usd", "license.scope")
"""Keys about the contract with one vendor."""


class CountBasis(Struct, frozen=True):
    """What is being licensed, and what of the machine counts."""

    pack: Pack
    scope: str
    pooled: bool
    visible: bool = False
    """Count what the instance sees, virtual or not, as limits of a product do."""


def _unknown_name(kind: str, name: str, known: list[str]) -> UsageError:
    return UsageError(f"license.{kind}: expected one of {', '.join(known)}, found {name!r}{nearest(name, known)}")


def chosen_pack(sheet: Sheet) -> Pack:
    """The pack that ``license.pack`` names."""
    name = sheet.words("license.pack")
    packs = {pack.pack: pack for pack in sheet.rules.license_packs()}
    if name not in packs:
        raise _unknown_name("pack", name, list(packs))
    return packs[name]


def chosen_product(sheet: Sheet, pack: Pack) -> ProductEntry:
    """The product that ``license.product`` names, else the pack's first."""
    name = sheet.optional_words("license.product")
    product = pack.product[0] if name is None else pack.find_product(name)
    if product is None:
        raise _unknown_name("product", str(name), [short(entry.id) for entry in pack.product if not entry.option_of])
    return product


def chosen_options(sheet: Sheet, pack: Pack, product: ProductEntry) -> tuple[ProductEntry, ...]:
    """The options of a product that ``license.options`` names."""
    text = sheet.optional_words("license.options")
    names = [] if text is None else [name.strip() for name in text.split(",")]
    known = {short(entry.id): entry for entry in pack.product if short(product.id) in entry.option_of}
    for name in names:
        if name not in known:
            raise _unknown_name("options", name, list(known) or [f"none for {short(product.id)}"])
    return tuple(known[name] for name in names)


def chosen_metric(sheet: Sheet, pack: Pack, product: ProductEntry) -> MetricEntry:
    """The metric that ``license.metric`` names, else the product's own."""
    name = sheet.optional_words("license.metric") or product.metric
    metric = pack.find_metric(name)
    if metric is None:
        raise _unknown_name("metric", name, [short(entry.id) for entry in pack.metric])
    return metric


def count_basis(sheet: Sheet, pack: Pack, metric: MetricEntry) -> CountBasis:
    """Scope: what the user set, else what a guest is to this vendor, else the bare machine.

    Only the user can set that a guest runs in an authorized cloud: fewer licenses are required there.
    """
    scope = sheet.optional_words("license.scope")
    guest = sheet.optional_words("machine.guest") == "yes"
    if scope is None:
        scope = next((name for name in ("soft", "vm") if guest and name in metric.formulas), "bare")
        if guest:
            sheet.caveat(
                f"this is a guest, so its license scope is assumed to be {scope}; to change it, "
                f"use {KEYS['license.scope'].flag}"
            )
    if scope == "soft":
        sheet.cite_if_known("oracle-partitioning-policy")
    if scope == "cloud":
        sheet.cite_if_known("oracle-cloud-policy")
    return CountBasis(pack, scope, sheet.optional_words("license.aggregate") == "pool")
