"""Licenses: how many a machine needs under a vendor's rules, and what they cost."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.formula import Formula
from sizeup.sizing.keys import KEYS
from sizeup.sizing.rules import FactorEntry, LimitEntry, MetricEntry, Pack, ProductEntry, Rules, short
from sizeup.sizing.sheet import Calculation, Inputs, MissingError, Sheet
from sizeup.text import nearest
from sizeup.units import base_unit, format_in

_NAMES = {
    "cores": "machine.cores",
    "sockets": "machine.sockets",
    "socket_capacity": "machine.socket_capacity",
    "threads_per_core": "machine.threads_per_core",
    "vcpus": "machine.vcpus",
    "memory_gib": "machine.memory_gib",
    "servers": "cluster.nodes",
    "users": "license.users",
    "pinned_cores": "license.pinned_cores",
    "host_cores": "license.host_cores",
    "host_sockets": "license.host_sockets",
}
"""What formulas of packs call the keys."""

_SCALES = {"memory_gib": 2.0**30}
_POOLED = frozenset({"cores", "sockets", "vcpus", "pinned_cores"})
_OF_HOST = {
    "cores": "license.host_cores",
    "sockets": "license.host_sockets",
    "socket_capacity": "license.host_sockets",
}
"""Names that count hardware, and the key that answers for them where this machine shows virtual hardware."""

CORES_PRODUCT = "machine.sockets x machine.cores_per_socket"
"""Source of ``machine.cores`` where it was worked out."""
"""Names that a pool adds up over its servers before rounding."""

End = Literal["value", "low", "high"]


class _Choice(Struct, frozen=True):
    """What is being licensed, and what of the machine counts."""

    pack: Pack
    scope: str
    pooled: bool
    visible: bool = False
    """Count what the instance sees, virtual or not, as limits of a product do."""


class _HostUnknownError(MissingError):
    """A count of hardware is asked for where this machine shows, or may show, virtual hardware."""


def _is_detected(inputs: Inputs, name: str) -> bool:
    """Whether a count comes from this machine, wholly or in part, rather than from the user."""
    keys = [_NAMES[name]]
    cores = inputs.get("machine.cores")
    if name == "cores" and isinstance(cores, Quantity) and cores.source == CORES_PRODUCT:
        keys = ["machine.sockets", "machine.cores_per_socket"]
    return any(isinstance(value := inputs.get(key), Quantity) and value.origin is Origin.DETECTED for key in keys)


def _physical(sheet: Sheet, name: str) -> Quantity:
    """Cores or sockets of hardware; a guest's own never stand for those of its host."""
    guest = sheet.optional_words("machine.guest")
    if guest == "no" or not _is_detected(sheet.inputs, name):
        return sheet.number(_NAMES[name])
    stated = sheet.optional(_OF_HOST[name])
    if stated is not None:
        return stated
    if guest == "yes":
        raise _HostUnknownError(_OF_HOST[name])
    # Who states some of the counts means another machine, and must state this one too.
    others = [
        key for key in ("cores", "sockets") if _NAMES[key] in sheet.inputs and not _is_detected(sheet.inputs, key)
    ]
    raise _HostUnknownError(_NAMES[name] if others else "machine.guest")


class _Names:
    """Names of a formula to numbers, at one end of their ranges."""

    def __init__(self, sheet: Sheet, choice: _Choice, end: End) -> None:
        self._sheet = sheet
        self._choice = choice
        self._end = end

    def __call__(self, name: str) -> float:
        pack = self._choice.pack
        if name in _NAMES:
            hardware = name in _OF_HOST and not self._choice.visible
            quantity = _physical(self._sheet, name) if hardware else self._sheet.number(_NAMES[name])
            servers = self._sheet.number("cluster.nodes").value if self._choice.pooled and name in _POOLED else 1
            return _end(quantity, self._end) / _SCALES.get(name, 1) * servers
        if name == "threads":
            return self("cores") * self("threads_per_core")
        if name.startswith("price."):
            _, product, metric = name.split(".")
            entry = pack.find_product(product)
            assert entry is not None, name
            return price(self._sheet, entry, metric).value
        metric_entry = pack.find_metric(name)
        if metric_entry is not None:
            return _end(_count(self._sheet, self._choice, metric_entry), self._end)
        return _end(factor(self._sheet, f"{pack.prefix}.{name}", pack), self._end)


def _end(quantity: Quantity, end: End) -> float:
    bound = None if end == "value" else quantity.low if end == "low" else quantity.high
    return quantity.value if bound is None else bound


def factor(sheet: Sheet, table: str, pack: Pack) -> Quantity:
    """What one core counts in a table, by the processor's name; a name that settles nothing gives a range."""
    model = sheet.optional_words("machine.cpu_model") or ""
    entry = _match(pack, table, model, _sockets_for(sheet, pack, table, model))
    sheet.cite(entry.source)
    if entry.note:
        sheet.caveat(f"{model or 'no processor name'}: {entry.note}")
    text = format_in(entry.value, "")
    if entry.low is not None and entry.high is not None:
        text = f"{format_in(entry.low, '')} to {format_in(entry.high, '')}"
    sheet.line(f"{table}: {model or 'unknown processor'} is {entry.title}: {text}")
    quantity = Quantity(entry.value, "1", Origin.RULE, entry.id, low=entry.low, high=entry.high)
    return sheet.given(entry.id, sheet.rules.marked(quantity, f"factor.{entry.id}"))


def _sockets_for(sheet: Sheet, pack: Pack, table: str, model: str) -> float:
    """Sockets of the hardware, where the table counts a core differently by them; else any number does."""
    if _match(pack, table, model, 1) is _match(pack, table, model, math.inf):
        return 1
    if "machine.sockets" in sheet.inputs:
        return _physical(sheet, "sockets").value
    sheet.caveat("machine.sockets is unknown and taken as 1; a core counts more on larger servers")
    return 1


def _match(pack: Pack, table: str, model: str, sockets: float) -> FactorEntry:
    return next(
        entry
        for entry in pack.factor
        if entry.table == table
        and sockets > entry.sockets_above
        and (entry.model is None or re.search(entry.model, model, re.IGNORECASE))
    )


def price(sheet: Sheet, product: ProductEntry, metric: str) -> Quantity:
    """USD a unit before discount; the calculation ends where no price is public."""
    if metric not in product.price:
        raise MissingError("license.list_usd")
    sheet.cite(product.source)
    quantity = Quantity(
        product.price[metric],
        "USD",
        Origin.RULE,
        product.id,
        low=product.price_low.get(metric),
        high=product.price_high.get(metric),
        caveats=(product.note,) if product.note and metric in product.price_high else (),
    )
    return sheet.given(f"{product.id}.price.{metric}", sheet.rules.marked(quantity, f"product.{product.id}"), "USD")


def _evaluated(sheet: Sheet, choice: _Choice, formula: Formula, title: str, unit: str) -> tuple[float, float, float]:
    """Value, low and high of a formula, with the working written down."""
    value, low, high = (formula.evaluate(_Names(sheet, choice, end)) for end in ("value", "low", "high"))
    written = formula.working(_Names(sheet, choice, "value"))
    spelled = format_in(value * base_unit(unit)[1], unit)
    steps = dict.fromkeys((formula.text, written, spelled))
    sheet.line(f"{title}: {' = '.join(steps)}")
    return value, min(low, high), max(low, high)


def _count(sheet: Sheet, choice: _Choice, metric: MetricEntry) -> Quantity:
    """Units of one metric over all servers."""
    text = metric.formulas.get(choice.scope)
    if text is None:
        raise UsageError(
            f"license.scope: {metric.title} has no rule for {choice.scope!r}: expected one of "
            f"{', '.join(metric.formulas)}"
        )
    sheet.cite(metric.source)
    if choice.scope in metric.notes:
        sheet.caveat(metric.notes[choice.scope])
    value, low, high = _evaluated(sheet, choice, sheet.rules.formulas[text], metric.title, metric.unit)
    servers = sheet.number("cluster.nodes").value
    if metric.per == "server" and not choice.pooled and servers > 1:
        sheet.line(
            f"{format_in(servers, 'servers')} x {format_in(value, metric.unit)} = {format_in(servers * value, '')}"
        )
        value, low, high = servers * value, servers * low, servers * high
    if value < metric.minimum_order:
        sheet.line(f"one order holds at least {format_in(metric.minimum_order, metric.unit)}")
    least = metric.minimum_order
    value, low, high = max(value, least), max(low, least), max(high, least)
    return _ranged(value, low, high, metric.unit, metric.id)


def _ranged(value: float, low: float, high: float, unit: str, source: str) -> Quantity:
    """A quantity with its range, or without one where both ends are the value."""
    if low == value == high:
        return Quantity(value, unit, Origin.RULE, source)
    return Quantity(value, unit, Origin.RULE, source, low=low, high=high)


def _named(kind: str, name: str, known: list[str]) -> UsageError:
    return UsageError(f"license.{kind}: expected one of {', '.join(known)}, found {name!r}{nearest(name, known)}")


def chosen_pack(sheet: Sheet) -> Pack:
    """The pack that ``license.pack`` names."""
    name = sheet.words("license.pack")
    packs = {pack.pack: pack for pack in sheet.rules.license_packs()}
    if name not in packs:
        raise _named("pack", name, list(packs))
    return packs[name]


def chosen_product(sheet: Sheet, pack: Pack) -> ProductEntry:
    """The product that ``license.product`` names, else the pack's first."""
    name = sheet.optional_words("license.product")
    product = pack.product[0] if name is None else pack.find_product(name)
    if product is None:
        raise _named("product", str(name), [short(entry.id) for entry in pack.product if not entry.option_of])
    return product


def _options(sheet: Sheet, pack: Pack, product: ProductEntry) -> tuple[ProductEntry, ...]:
    text = sheet.optional_words("license.options")
    names = [] if text is None else [name.strip() for name in text.split(",")]
    known = {short(entry.id): entry for entry in pack.product if short(product.id) in entry.option_of}
    for name in names:
        if name not in known:
            raise _named("options", name, list(known) or [f"none for {short(product.id)}"])
    return tuple(known[name] for name in names)


def chosen_metric(sheet: Sheet, pack: Pack, product: ProductEntry) -> MetricEntry:
    """The metric that ``license.metric`` names, else the product's own."""
    name = sheet.optional_words("license.metric") or product.metric
    metric = pack.find_metric(name)
    if metric is None:
        raise _named("metric", name, [short(entry.id) for entry in pack.metric])
    return metric


def _choice(sheet: Sheet, pack: Pack, metric: MetricEntry) -> _Choice:
    """Scope: what the user said, else what a guest is to this vendor, else the bare machine.

    That a guest runs in an authorized cloud is for the user to say: fewer licenses are needed there.
    """
    scope = sheet.optional_words("license.scope")
    guest = sheet.optional_words("machine.guest") == "yes"
    if scope is None:
        scope = next((name for name in ("soft", "vm") if guest and name in metric.formulas), "bare")
        if guest:
            sheet.caveat(f"this is a guest, counted here as {scope!r}; license.scope says otherwise")
    if scope == "soft":
        sheet.cite_if_known("oracle-partitioning-policy")
    if scope == "cloud":
        sheet.cite_if_known("oracle-cloud-policy")
    return _Choice(pack, scope, sheet.optional_words("license.aggregate") == "pool")


def units(sheet: Sheet) -> tuple[Quantity, MetricEntry, ProductEntry]:
    """Licenses of the chosen product on this machine, with the metric they are counted in."""
    pack = chosen_pack(sheet)
    product = chosen_product(sheet, pack)
    metric = chosen_metric(sheet, pack, product)
    return _count(sheet, _choice(sheet, pack, metric), metric), metric, product


_WAYS_TO_STATE_HOST = {
    "license.host_cores": (
        "a guest cannot see the hosts it may run on, and all their cores count",
        "license.host_cores: the cores of all hosts that it may run on",
        "or license.scope=hard with license.pinned_cores, where the hypervisor pins it to cores",
        "or license.scope=cloud with machine.vcpus, where it is rented by the virtual CPU",
    ),
    "license.host_sockets": (
        "a guest sees sockets that its hypervisor made up",
        "license.host_sockets: the occupied sockets of the host that it runs on",
        "or license.scope=cloud with machine.vcpus, where it is rented by the virtual CPU",
    ),
    "machine.guest": (
        "nothing here proves a guest or bare metal, and the cores of a guest are virtual",
        "machine.guest=no: the cores and sockets that were found are the hardware's",
        "machine.guest=yes: they are virtual, and those of the host count (license.host_cores, license.host_sockets)",
    ),
}


def _host_unknown(key: str) -> str:
    """What is needed before licenses can be counted, and the flag that gives it."""
    needed = {
        "machine.guest": "whether this machine is a guest; set machine.guest=no for bare metal, machine.guest=yes else",
        "license.host_cores": "the cores of the physical host; set license.host_cores=N",
        "license.host_sockets": "the sockets of the physical host; set license.host_sockets=N",
    }
    return f"license count unknown: it needs {needed.get(key, f'{KEYS[key].help}; set {key}=N')}"


def _units(sheet: Sheet) -> Iterator[Advice]:
    try:
        quantity, metric, product = units(sheet)
    except MissingError as missing:
        if not isinstance(missing, _HostUnknownError) and missing.key != "license.host_cores":
            raise
        for line in _WAYS_TO_STATE_HOST.get(missing.key, ()):
            sheet.line(line)
        yield sheet.advice("license.units", "Licenses", _host_unknown(missing.key), decision="host-unknown")
        raise
    span = "" if quantity.low is None or quantity.high is None else f" ({quantity.low:g} to {quantity.high:g})"
    yield sheet.advice(
        "license.units",
        f"Licenses: {product.title}, {metric.title}",
        f"{product.title} needs {format_in(quantity.value, metric.unit)}{span}",
        quantity,
        metric.unit,
    )


def _allowed(sheet: Sheet) -> Iterator[Advice]:
    pack = chosen_pack(sheet)
    product = chosen_product(sheet, pack)
    if not product.allowed_if:
        return
    choice = _choice(sheet, pack, chosen_metric(sheet, pack, product))
    sheet.cite(product.source)
    value, _, _ = _evaluated(sheet, choice, sheet.rules.formulas[product.allowed_if], "allowed where", "")
    fits = value != 0
    yield sheet.advice(
        "license.allowed",
        f"May {product.title} be used here",
        f"{product.title} {'may' if fits else 'must not'} be used on this server: {product.allowed_why}",
        decision="allowed" if fits else "forbidden",
    )


def _costs(sheet: Sheet) -> Iterator[Advice]:
    quantity, metric, product = units(sheet)
    yield from (_list(sheet, quantity, metric, product), *_over_years(sheet))


def list_price(sheet: Sheet) -> Quantity:
    """List price of all licenses with their options, USD; for a subscription, of one year."""
    quantity, metric, product = units(sheet)
    return _list_price(sheet, quantity, metric, product)


def _list_price(sheet: Sheet, quantity: Quantity, metric: MetricEntry, product: ProductEntry) -> Quantity:
    pack = chosen_pack(sheet)
    stated = sheet.optional("license.list_usd")
    if stated is None:
        parts = (product, *_options(sheet, pack, product))
        prices = [price(sheet, part, short(metric.id)) for part in parts]
        for part, one in zip(parts, prices, strict=True):
            sheet.line(f"{part.title}: {_usd(one.value)} each")
    else:
        prices = [stated]
    each = sum(one.value for one in prices)
    low, high = sum(_end(one, "low") for one in prices), sum(_end(one, "high") for one in prices)
    total = quantity.value * each
    unit = "" if not product.yearly else " a year"
    sheet.line(f"{format_in(quantity.value, metric.unit)} x {_usd(each)} = {_usd(total)}{unit}")
    return _ranged(total, _end(quantity, "low") * low, _end(quantity, "high") * high, "USD", product.id)


def _usd(value: float) -> str:
    return f"${value:,.2f}".removesuffix(".00")


def _list(sheet: Sheet, quantity: Quantity, metric: MetricEntry, product: ProductEntry) -> Advice:
    total = _list_price(sheet, quantity, metric, product)
    yearly = ", a year" if product.yearly else ""
    return sheet.advice(
        "license.cost.list",
        f"List price{yearly}",
        f"{format_in(quantity.value, metric.unit)} cost {_usd(total.value)}{yearly} before discount",
        total,
        "USD",
    )


def _over_years(sheet: Sheet) -> Iterator[Advice]:
    """Net price, support a year, and the sum over the term."""
    total = list_price(sheet)
    product = chosen_product(sheet, chosen_pack(sheet))
    sheet.condense(f"list price, as above: {_usd(total.value)}")
    discount = sheet.number("license.discount_percent")
    net = total.value * (1 - discount.value)
    sheet.line(f"{_usd(total.value)} less {format_in(discount.value, '%')} = {_usd(net)}")
    verdict = f"licenses cost {_usd(net)} after discount"
    yield sheet.advice("license.cost.net", "Price after discount", verdict, _cost(net), "USD")
    list_price(sheet)
    sheet.condense(f"price after discount, as above: {_usd(net)}")
    sheet.number("license.discount_percent")
    share = _support_share(sheet, product)
    support = 0.0 if product.yearly else net * share
    sheet.line(f"{format_in(share, '%')} of {_usd(net)} = {_usd(support)} a year")
    yield sheet.advice(
        "license.cost.support-year", "Support, first year", _support_verdict(product, support), _cost(support), "USD"
    )
    list_price(sheet)
    sheet.condense(f"price after discount and support, as above: {_usd(net)} and {_usd(support)} a year")
    sheet.number("license.discount_percent")
    _support_share(sheet, product)
    years = sheet.number("license.term_years")
    uplift = sheet.number("license.uplift_percent")
    supports = [support * (1 + uplift.value) ** year for year in range(_whole_years(years))]
    whole = net * _whole_years(years) if product.yearly else net + sum(supports)
    sheet.line(
        f"{_usd(net)} x {_whole_years(years)} years = {_usd(whole)}"
        if product.yearly
        else f"{_usd(net)} + {' + '.join(_usd(one) for one in supports)} = {_usd(whole)}"
    )
    yield sheet.advice(
        "license.cost.term",
        f"Cost over {_whole_years(years)} years",
        f"licenses and support cost {_usd(whole)} over {_whole_years(years)} years",
        _cost(whole),
        "USD",
    )


def _support_share(sheet: Sheet, product: ProductEntry) -> float:
    """Yearly support as a share of the net license: the user's, else the product's."""
    stated = sheet.optional("license.support_percent")
    if stated is not None:
        return stated.value
    ours = Quantity(product.support_percent / 100, "1", Origin.RULE, product.id)
    return sheet.given(f"{product.id}.support_percent", sheet.rules.marked(ours, f"product.{product.id}"), "%").value


def _support_verdict(product: ProductEntry, support: float) -> str:
    if product.yearly:
        return "support is part of the subscription"
    return f"support costs {_usd(support)} in the first year"


def _cost(value: float) -> Quantity:
    return Quantity(value, "USD", Origin.RULE, "license")


def _whole_years(years: Quantity) -> int:
    return round(years.value / base_unit("y")[1])


def _limits(sheet: Sheet) -> Iterator[Advice]:
    pack = chosen_pack(sheet)
    product = chosen_product(sheet, pack)
    metric = chosen_metric(sheet, pack, product)
    choice = _choice(sheet, pack, metric)
    for limit in pack.limit:
        if limit.product == short(product.id) and _known(sheet, limit):
            yield _limit(sheet, replace(choice, visible=True), limit)


def _known(sheet: Sheet, limit: LimitEntry) -> bool:
    """Whether the machine says what this limit is about; a cloud's limit is not asked of a bare server."""
    names = sheet.rules.formulas[limit.of].names
    keys = [_NAMES[name] for name in names if name in _NAMES]
    if "threads" in names:
        keys += ["machine.cores", "machine.threads_per_core"]
    return all(key in sheet.inputs for key in keys)


def _limit(sheet: Sheet, choice: _Choice, limit: LimitEntry) -> Advice:
    sheet.cite(limit.source)
    if limit.note:
        sheet.caveat(limit.note)
    usable, _, _ = _evaluated(sheet, choice, sheet.rules.formulas[limit.formula], "usable", limit.unit)
    present, _, _ = _evaluated(sheet, choice, sheet.rules.formulas[limit.of], "present", limit.unit)
    exceeded = present > usable
    scale = base_unit(limit.unit)[1]
    verdict = f"{limit.title}: {format_in(usable * scale, limit.unit)} of {format_in(present * scale, limit.unit)}"
    if exceeded:
        verdict += f"; {format_in((present - usable) * scale, limit.unit)} stay idle"
    return sheet.advice(
        f"license.limit.{limit.id}",
        limit.title,
        verdict,
        sheet.answer(usable * scale, limit.unit, limit.id),
        limit.unit,
        decision="exceeded" if exceeded else "fits",
    )


def _cloud(sheet: Sheet) -> Iterator[Advice]:
    """The same cores as an instance of a cloud, where vendors count virtual CPUs and no core factors."""
    pack = chosen_pack(sheet)
    product = chosen_product(sheet, pack)
    metric = chosen_metric(sheet, pack, product)
    if _choice(sheet, pack, metric).scope != "bare" or "cloud" not in metric.formulas:
        return
    cores, threads = sheet.number("machine.cores"), sheet.number("machine.threads_per_core")
    here = _count(sheet, _choice(sheet, pack, metric), metric)
    vcpus = replace(cores, value=cores.value * threads.value, source="machine.cores x machine.threads_per_core")
    scope = Words("cloud", Origin.RULE, "the same cores in a cloud")
    cloud = Sheet({**sheet.inputs, "machine.vcpus": vcpus, "license.scope": scope}, sheet.rules)
    there = _count(cloud, _choice(cloud, pack, metric), metric)
    times = there.value / here.value
    beside = "as many as" if times == 1 else f"{times:.3g} times the {format_in(here.value, '')}"
    cloud.line(
        f"{format_in(there.value, metric.unit)} against {format_in(here.value, metric.unit)} on a server of one's own"
    )
    yield cloud.advice(
        "license.cloud",
        "Licenses of the same cores in an authorized cloud",
        f"an authorized cloud counts {format_in(there.value, metric.unit)} for these cores as "
        f"{format_in(vcpus.value, 'vCPUs')}, {beside} on a server of one's own",
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
        choice = _choice(sheet, pack, metric)
        sheet.cite(entry.source)
        value, _, _ = _evaluated(sheet, choice, sheet.rules.formulas[entry.formula], entry.title, entry.unit)
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
    here = _choice(sheet, pack, chosen_metric(sheet, pack, product))
    if here.scope != "bare" or product is not pack.product[0]:
        return
    for other in pack.product:
        if not other.allowed_if or other.option_of:
            continue
        kept = {key: value for key, value in sheet.inputs.items() if key not in _OF_ONE_PACK}
        kept["license.pack"] = Words(pack.pack, Origin.RULE, pack.pack)
        kept["license.product"] = Words(short(other.id), Origin.RULE, f"beside {product.title}")
        capacity_known = "machine.socket_capacity" in kept
        if not capacity_known:
            kept["machine.socket_capacity"] = replace(_physical(sheet, "sockets"), source="machine.sockets")
        theirs = Sheet(kept, sheet.rules)
        if not capacity_known:
            theirs.caveat("machine.socket_capacity is unknown and taken as machine.sockets; empty sockets count too")
        yield _against(sheet, theirs, pack, product, other)


def _against(sheet: Sheet, theirs: Sheet, pack: Pack, product: ProductEntry, other: ProductEntry) -> Advice:
    """The break-even of the chosen product against another, in licenses of the chosen one."""
    advice_id, title = f"license.break-even.{other.id}", f"{other.title} in place of {product.title}"
    metric = chosen_metric(theirs, pack, other)
    theirs.cite(other.source)
    theirs.cite(metric.source)
    allowed = theirs.rules.formulas[other.allowed_if]
    fits, _, _ = _evaluated(theirs, _choice(theirs, pack, metric), allowed, "allowed where", "")
    if not fits:
        return theirs.advice(
            advice_id,
            title,
            f"{other.title} must not be used on this server: {other.allowed_why}",
            decision="forbidden",
        )
    alone = list_price(theirs)
    count, chosen, _ = units(sheet)
    total = list_price(sheet)
    sheet.include(theirs)
    each = total.value / count.value
    turn = alone.value / each
    sheet.line(f"{_usd(alone.value)} / {_usd(each)} a license = {format_in(turn, chosen.unit)}")
    sheet.caveat(f"list prices only; {other.title} lacks features and options that {product.title} has")
    dearer = total.value > alone.value
    return sheet.advice(
        advice_id,
        title,
        f"{other.title} costs {_usd(alone.value)} here, {product.title} {_usd(total.value)}: "
        f"{product.title} costs less only below {turn:.3g} {chosen.unit}",
        sheet.answer(turn, chosen.unit, other.id),
        chosen.unit,
        decision=short(other.id if dearer else product.id),
    )


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


_OF_ONE_PACK = ("license.product", "license.metric", "license.options", "license.list_usd", "license.scope")


def rows(inputs: Inputs, rules: Rules) -> tuple[Row, ...]:
    """Every product of every pack on this machine; what was said of one vendor's contract holds for that one only."""
    chosen = inputs.get("license.pack")
    table = []
    for pack in rules.license_packs():
        ours = isinstance(chosen, Words) and chosen.value == pack.pack
        kept = {key: value for key, value in inputs.items() if ours or key not in _OF_ONE_PACK}
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
            capacity = _physical(sheet, "sockets")
        except MissingError:
            return True
    own = Sheet({**sheet.inputs, "machine.socket_capacity": capacity}, sheet.rules)
    choice = _choice(own, pack, chosen_metric(own, pack, product))
    value, _, _ = _evaluated(own, choice, own.rules.formulas[product.allowed_if], "allowed where", "")
    return value != 0


def _row(sheet: Sheet, pack: Pack, product: ProductEntry) -> Row:
    blank = Row(pack.pack, short(product.id), product.title, None, None, product.yearly)
    try:
        if not _fits(sheet, pack, product):
            blank = replace(blank, forbidden=product.allowed_why)
        count, _, _ = units(sheet)
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


CALCULATIONS = (
    Calculation("licenses", _units, ("license.units",), asks=True, about=("license.",)),
    Calculation("whether the product may be used", _allowed, ("license.allowed",), about=("license.product",)),
    Calculation("license costs", _costs, ("license.cost.",), about=("license.",)),
    Calculation("limits of the product", _limits, ("license.limit.",), about=("license.product",)),
    Calculation("licenses in a cloud", _cloud, ("license.cloud",)),
    Calculation("another product in its place", _instead, ("license.break-even.",)),
    Calculation("break-even of the metrics", _break_evens, ("license.break-even.",), about=("license.users",)),
)
