"""Every product of every vendor on one machine, as rows of a table."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.licensing.contract import OF_ONE_PACK, chosen_metric, count_basis
from sizeup.sizing.licensing.cost import list_price
from sizeup.sizing.licensing.count import evaluated, licenses_required, physical_count
from sizeup.sizing.pack import Pack, ProductEntry, short
from sizeup.sizing.rules import Rules
from sizeup.sizing.sheet import Inputs, MissingError, Sheet


class Row(Struct, frozen=True):
    """One product of one vendor on this machine."""

    pack: str
    product: str
    title: str
    units: Quantity | None
    """None where something is missing, which ``missing`` names."""
    list_price: Quantity | None
    """USD, of one year for a subscription; None where no price is public or something is missing."""
    yearly: bool
    missing: str = ""
    forbidden: str = ""
    """Where the product may be used at all, if that is not here."""


def rows(inputs: Inputs, rules: Rules) -> tuple[Row, ...]:
    """Return every product of every pack on this machine; keys about one contract hold for that vendor only."""
    chosen = inputs.get("license.pack")
    table = []
    for pack in rules.license_packs():
        ours = isinstance(chosen, Words) and chosen.value == pack.pack
        kept = {key: value for key, value in inputs.items() if ours or key not in OF_ONE_PACK}
        kept["license.pack"] = Words(pack.pack, Origin.RULE, pack.pack)
        for product in pack.product:
            if not product.option_of:
                kept["license.product"] = Words(short(product.id), Origin.RULE, product.id)
                table.append(_row(Sheet(kept, rules), pack, product))
    return tuple(table)


def _fits(sheet: Sheet, pack: Pack, product: ProductEntry) -> bool:
    """Whether a product may be used; a server of unknown capacity is built for at least the sockets that it has."""
    if not product.allowed_if:
        return True
    capacity = sheet.inputs.get("machine.socket_capacity")
    if capacity is None:
        try:
            capacity = physical_count(sheet, "sockets")
        except MissingError:
            return True
    own = Sheet({**sheet.inputs, "machine.socket_capacity": capacity}, sheet.rules)
    basis = count_basis(own, pack, chosen_metric(own, pack, product))
    value, _, _ = evaluated(own, basis, own.rules.formula(product.allowed_if), "allowed where", "")
    return value != 0


def _row(sheet: Sheet, pack: Pack, product: ProductEntry) -> Row:
    blank = Row(pack.pack, short(product.id), product.title, None, None, product.yearly)
    try:
        if not _fits(sheet, pack, product):
            blank = replace(blank, forbidden=product.allowed_why)
        count, _, _ = licenses_required(sheet)
    except MissingError as missing:
        return replace(blank, missing=missing.key)
    except UsageError as error:
        return replace(blank, missing=str(error))
    try:
        return replace(blank, units=count, list_price=list_price(sheet))
    except MissingError as missing:
        return replace(blank, units=count, missing=missing.key)
    except UsageError as error:
        return replace(blank, units=count, missing=str(error))
