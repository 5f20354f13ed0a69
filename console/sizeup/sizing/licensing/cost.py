"""What the licenses of a machine cost: list price, price after discount, support, and their sum over years."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Iterator
from datetime import date

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import chosen_contract, chosen_options, chosen_pack, is_chosen, licensed_servers
from sizeup.sizing.licensing.count import End, count_range, format_usd, price, range_end, ranged, usd_range
from sizeup.sizing.licensing.required import ForbiddenError, licenses_required
from sizeup.sizing.pack import MetricEntry, ProductEntry, short
from sizeup.sizing.rules import MAXIMUM_AGE_DAYS, Rules
from sizeup.sizing.sheet import Assumption, Calculation, Inputs, MissingError, Sheet
from sizeup.units import base_unit, format_in


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
    if "license.list_usd" in inputs or not any(one.id == "license.cost.list" for one in advice):
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


class LicenseCost(Struct, frozen=True):
    """What licenses and support cost over the term."""

    text: str
    """The cost and what it consists of, else why it is unknown."""
    total: Quantity | None = None
    """USD; None where the cost is unknown."""
    years: int = 0
    assumptions: tuple[Assumption, ...] = ()
    left_out: str = ""
    """The option of clusters that a list of others leaves out, and what it costs; empty where none is."""

    @property
    def term(self) -> str:
        """What ends a text with the cost: `` over 3 years``."""
        return f" over {self.years} years"


def _costs(sheet: Sheet) -> Iterator[Advice]:
    try:
        quantity, metric, product = licenses_required(sheet)
    except ForbiddenError:  # license.allowed says so
        return
    if not product.price and "license.list_usd" not in sheet.inputs:
        sheet.cite(product.source)
        keys = f"{KEYS['license.list_usd'].flag} {KEYS['license.support_percent'].assignment}"
        text = f"{product.title} has no public price. Use {keys}"
        sheet.facts.append(LicenseCost(text))
        yield sheet.advice("license.cost.list", "List price", f"list price: {text}", decision="unknown")
        raise MissingError("license.list_usd")
    total = list_price(sheet)
    name = f"{price_name(total)}{a_year(product)}"
    of_day = f"before discount ({dated(sheet, product, metric)})"
    verdict = f"{name}: {usd_range(total)} for {count_range(quantity, metric.unit)}, {of_day}"
    yield sheet.advice("license.cost.list", name, verdict, total, "USD")
    yield from _over_years(sheet, metric)


def list_price(sheet: Sheet) -> Quantity:
    """List price of all licenses with their options, USD; for a subscription, of one year."""
    quantity, metric, product = licenses_required(sheet)
    pack, _ = chosen_contract(sheet)
    stated = sheet.optional("license.list_usd")
    if stated is None:
        parts = (product, *chosen_options(sheet, pack, product))
        prices = [price(sheet, part, short(metric.id)) for part in parts]
        for part, one in zip(parts, prices, strict=True):
            sheet.line(f"{part.title}: {usd_range(one)} each")
    else:
        prices = [stated]
    each, beside = _over_range(lambda end: sum(range_end(one, end) for one in prices)), 0.0
    written = f"{count_range(quantity, metric.unit)} x {usd_range(each)}"
    if metric.beside and stated is None:
        servers, one = licensed_servers(sheet, pack, product), price(sheet, product, metric.beside)
        beside = servers * one.value
        written += f" + {format_in(servers, f'{metric.beside} licenses')} x {format_usd(one.value)}"
    found = _over_range(lambda end: range_end(quantity, end) * range_end(each, end) + beside)
    origin = Origin.USER if any(one.origin is Origin.USER for one in prices) else Origin.RULE
    found = replace(found, source=product.id, origin=origin)
    sheet.line(f"{written} = {usd_range(found)}{a_year(product)}")
    return found


def price_name(price: Quantity) -> str:
    """Return what the sum of the prices is called: the user's own are no list."""
    return "price" if price.origin is Origin.USER else "list price"


def a_year(product: ProductEntry) -> str:
    """Return the period of a price: empty for licenses that are bought once."""
    return " a year" if product.yearly else ""


def _over_years(sheet: Sheet, metric: MetricEntry) -> Iterator[Advice]:
    """Net price, support a year, and the sum over the term."""
    total = list_price(sheet)
    _, product = chosen_contract(sheet)
    sheet.condense(f"{price_name(total)}, as above: {usd_range(total)}")
    discount = sheet.number("license.discount_percent")
    net = _times(total, 1 - discount.value)
    sheet.line(f"{usd_range(total)} less {format_in(discount.value, '%')} = {usd_range(net)}")
    verdict = f"price after discount: {usd_range(net)}{a_year(product)}"
    yield sheet.advice("license.cost.net", "Price after discount", verdict, net, "USD")
    list_price(sheet)
    sheet.condense(f"price after discount, as above: {usd_range(net)}")
    sheet.number("license.discount_percent")
    share = _support_share(sheet, product)
    support = _times(net, 0.0 if product.yearly else share)
    sheet.line(f"{format_in(share, '%')} of {usd_range(net)} = {usd_range(support)} a year")
    said = "included in the subscription" if product.yearly else f"{usd_range(support)} in the first year"
    yield sheet.advice("license.cost.support-year", "Support, first year", f"support: {said}", support, "USD")
    list_price(sheet)
    sheet.condense(f"price after discount and support, as above: {usd_range(net)} and {usd_range(support)} a year")
    sheet.number("license.discount_percent")
    _support_share(sheet, product)
    whole, years = _term(sheet, product, net, support), term_years(sheet)
    less = f" after {format_in(discount.value, '%')} discount" if discount.value else ""
    supports = _over_range(lambda end: range_end(whole, end) - range_end(net, end))
    parts = f"{usd_range(net)}{less} + {usd_range(supports)} support"
    if product.yearly:
        parts = f"{years} x {usd_range(net)} a year{less}"
    rests_on = dated(sheet, product, metric)
    if not product.yearly and not product.support_percent and "license.support_percent" not in sheet.inputs:
        rests_on += f"; no support: {KEYS['license.support_percent'].flag}"
    cost = f"{usd_range(whole)} = {parts} ({rests_on})"
    if not total.value:
        cost = f"none for the licenses of {product.title}; support is a separate contract"
    said, left_out = f"{years} years: {cost}" if total.value else cost, left_out_option(sheet, whole)
    if not is_chosen(sheet.inputs):
        said = f"{product.brief or product.title} (no database is chosen), {said}"
    sheet.facts.append(
        LicenseCost(". ".join(filter(None, (said, left_out))), whole, years, sheet.assumptions, left_out)
    )
    cost += f". {left_out}" if left_out else ""
    term = f"cost over {years} years"
    yield sheet.advice("license.cost.term", term, f"{term}: {cost}", whole, "USD")


def left_out_option(sheet: Sheet, whole: Quantity) -> str:
    """Return which option of clusters a list of others leaves out, and what it costs; empty where none is."""
    if _OPTIONS not in sheet.inputs or "license.list_usd" in sheet.inputs:
        return ""
    own = {key: value for key, value in sheet.inputs.items() if key != _OPTIONS}
    pack, product = chosen_contract(sheet)
    options, needed = (chosen_options(Sheet(one, sheet.rules), pack, product) for one in (sheet.inputs, own))
    if not options or not needed or any(one.for_clusters for one in options):
        return ""
    names = ",".join(short(one.id) for one in (*needed, *options))
    dearer = term_cost(Sheet({**own, _OPTIONS: Words(names, Origin.RULE, needed[0].title)}, sheet.rules))
    more = usd_range(_over_range(lambda end: range_end(dearer, end) - range_end(whole, end)))
    servers = format_in(sheet.number("cluster.nodes").value, "servers")
    flag = KEYS[_OPTIONS].flag.partition("=")[0]
    why = f"which {servers} need to open one database together"
    return f"{needed[0].title}, {why}, is not in the list of options: {more} more with {flag}={names}"


_OPTIONS = "license.options"


def term_cost(sheet: Sheet) -> Quantity:
    """Return the cost of all licenses and their support over the term, USD."""
    _, product = chosen_contract(sheet)
    net = _times(list_price(sheet), 1 - sheet.number("license.discount_percent").value)
    return _term(sheet, product, net, _times(net, 0.0 if product.yearly else _support_share(sheet, product)))


def _term(sheet: Sheet, product: ProductEntry, net: Quantity, support: Quantity) -> Quantity:
    """Return the sum over the term of the net price and of the support, which starts at ``support`` a year."""
    years, uplift = term_years(sheet), sheet.number("license.uplift_percent").value
    if product.yearly:
        whole = _times(net, years)
        sheet.line(f"{usd_range(net)} x {years} years = {usd_range(whole)}")
        return whole
    supports = [_times(support, (1 + uplift) ** year) for year in range(years)]
    whole = _over_range(lambda end: sum(range_end(one, end) for one in (net, *supports)))
    sheet.line(f"{usd_range(net)} + {' + '.join(usd_range(one) for one in supports)} = {usd_range(whole)}")
    return whole


def term_years(sheet: Sheet) -> int:
    """Return the years over which costs are added up."""
    return round(sheet.number("license.term_years").value / base_unit("y")[1])


def _support_share(sheet: Sheet, product: ProductEntry) -> float:
    """Yearly support as a share of the net license: the user's, else the product's."""
    stated = sheet.optional("license.support_percent")
    if stated is not None:
        return stated.value
    name, ours = f"{product.id}.support_percent", Quantity(product.support_percent / 100, "1", Origin.RULE, product.id)
    return sheet.given(name, sheet.rules.marked(ours, f"product.{name}"), "%").value


def _times(quantity: Quantity, factor: float) -> Quantity:
    """Return a price with its range, multiplied."""
    return _over_range(lambda end: range_end(quantity, end) * factor)


def _over_range(amount: Callable[[End], float]) -> Quantity:
    """Return an amount in dollars that is worked out at each end of its range."""
    return ranged(amount("value"), amount("low"), amount("high"), "USD", "license")


CALCULATIONS = (Calculation("license costs", _costs, ("license.cost.",), about=("license.",)),)
