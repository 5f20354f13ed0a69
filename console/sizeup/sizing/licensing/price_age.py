"""How old the prices are that a license cost rests on."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from datetime import date

from sizeup.errors import UsageError
from sizeup.model.advice import Advice
from sizeup.sizing.licensing.contract import chosen_contract, chosen_options, chosen_pack
from sizeup.sizing.pack import MetricEntry, ProductEntry, short
from sizeup.sizing.rules import MAXIMUM_AGE_DAYS, Rules
from sizeup.sizing.sheet import Inputs, Sheet

COST = "license.cost.list"


def is_own_price(sheet: Sheet, product: ProductEntry) -> bool:
    """Return whether a price of a product is the user's, in place of the vendor's list."""
    return "license.list_usd" in sheet.inputs or sheet.rules.override_of(f"product.{product.id}.price") is not None


def dated(sheet: Sheet, product: ProductEntry, metric: MetricEntry) -> str:
    """Return a clause that dates the prices of a product and its options: the user's, and those of the list."""
    if "license.list_usd" in sheet.inputs:
        return "your price"
    options = chosen_options(Sheet(sheet.inputs, sheet.rules), chosen_pack(sheet), product)
    texts = []
    for part in (product, *options):
        own = sheet.rules.override_of(f"product.{part.id}.price.{short(metric.id)}")
        day = sheet.rules.sources[part.source].date
        listed = "undated list" if day is None else f"list of {day}"
        texts.append(listed if own is None else f"your price of {own.date}")
    return " and ".join(dict.fromkeys(texts))


def price_warnings(inputs: Inputs, rules: Rules, advice: tuple[Advice, ...], today: date) -> Iterator[str]:
    """A sentence for each product of the license cost whose price is older than a year, or has no date."""
    if "license.list_usd" in inputs or not any(one.id == COST for one in advice):
        return
    sheet = Sheet(inputs, rules)
    try:
        pack, product = chosen_contract(sheet)
        parts = (product, *chosen_options(sheet, pack, product))
    except UsageError:  # refused where the licenses were counted
        return
    for part in parts:
        day = rules.sources[part.source].date
        if is_own_price(sheet, part) or not any(part.price.values()):
            continue
        name = f"the list price of {part.title}"
        version = sheet.optional_words("license.version") or part.price_note_version
        if part.price_note and version == part.price_note_version:
            yield f"{name} {part.price_note}"
        if day is None:
            yield f"{name} has no date: compare it with the vendor's list"
        elif (today - last_day(day)).days > MAXIMUM_AGE_DAYS:
            yield f"{name} is of {day}, more than a year old: compare it with the vendor's list"


def last_day(text: str) -> date:
    """The last day of a year, month or day as in ISO 8601."""
    year, month, day = (*(int(part) for part in text.split("-")), 0, 0)[:3]
    month = month or 12
    return date(year, month, day or monthrange(year, month)[1])
