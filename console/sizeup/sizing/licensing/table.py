"""Every product of every vendor on one machine, as rows of a table."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.quantity import Quantity, Words
from sizeup.sizing.licensing.contract import OF_ONE_PRODUCT, PRODUCT, chosen_options, with_product
from sizeup.sizing.licensing.cost import is_own_price, list_price, term_cost
from sizeup.sizing.licensing.count import MinimumOrder
from sizeup.sizing.licensing.required import ForbiddenError, licenses_required, permission
from sizeup.sizing.pack import Pack, ProductEntry, short
from sizeup.sizing.rules import Rules
from sizeup.sizing.sheet import Inputs, MissingError, Sheet
from sizeup.text import listed


class Row(Struct, frozen=True):
    """One product of one vendor on this machine."""

    pack: str
    product: str
    title: str
    units: Quantity | None
    """None where something is missing, which ``missing`` names."""
    list_price: Quantity | None
    """USD, of one year for a subscription; None where no price is public or something is missing."""
    term_cost: Quantity | None
    """USD over the term, with support; None where the list price is."""
    yearly: bool
    list_date: str = ""
    """Of the list that the price is from, as in ISO 8601; empty where no price is known, or where it is the user's."""
    missing: str = ""
    assumed: bool = False
    """The count rests on something that nobody stated, or is a range."""
    note: str = ""
    """Why more is counted than the machine has."""
    free: bool = False
    """Its use costs nothing: no licenses are bought."""
    forbidden: str = ""
    """That the vendor does not permit the product here, and why; empty where it does."""
    rule: str = ""
    """Why alone: the rule that forbids it."""


def rows(inputs: Inputs, rules: Rules) -> tuple[Row, ...]:
    """Return every product of every pack on this machine; keys about one contract hold for what it is about."""
    chosen, stated = inputs.get("license.pack"), inputs.get(PRODUCT)
    table = []
    for pack in rules.license_packs():
        ours = isinstance(chosen, Words) and chosen.value == pack.pack
        bought = pack.find_product(stated.value) if isinstance(stated, Words) else pack.product[0]
        for product in (one for one in pack.product if not one.option_of):
            own: Inputs = with_product(inputs, pack, product)
            if ours:  # whose scope counts, with a rule or without
                kept = {key: value for key, value in inputs.items() if product is bought or key not in OF_ONE_PRODUCT}
                own = {**kept, PRODUCT: own[PRODUCT]}
            table.append(_row(Sheet(own, rules), pack, product))
    return tuple(table)


def _is_permitted(sheet: Sheet, pack: Pack, product: ProductEntry) -> bool:
    """Whether the vendor permits the product here as far as is known, and without an assumption."""
    try:
        return permission(sheet, pack, product).decision == "allowed"
    except MissingError:
        return False


def _row(sheet: Sheet, pack: Pack, product: ProductEntry) -> Row:
    """Return what is known of a product, as far as its inputs go."""
    row = Row(pack.pack, short(product.id), product.title, None, None, None, product.yearly, free=product.is_free)
    try:
        count, _, _ = licenses_required(sheet)
        least = next((one.text for one in sheet.facts if isinstance(one, MinimumOrder)), "")
        assumed = count.low is not None or bool(sheet.assumptions)
        assumed = assumed or not _is_permitted(Sheet(sheet.inputs, sheet.rules), pack, product)
        options = listed([option.title for option in chosen_options(sheet, pack, product)])
        title = f"{product.title} with {options}" if options else product.title
        row = replace(row, title=title, units=count, assumed=assumed, note=least)
        no_list = is_own_price(sheet, product) or not any(product.price.values())
        day = "" if no_list else sheet.rules.sources[product.source].date or ""
        row = replace(row, list_price=list_price(sheet), list_date=day)
        return replace(row, term_cost=term_cost(sheet))
    except ForbiddenError as forbidden:
        return replace(row, forbidden=forbidden.permission.refusal, rule=forbidden.permission.why)
    except (MissingError, UsageError) as error:
        return replace(row, missing=str(error))
