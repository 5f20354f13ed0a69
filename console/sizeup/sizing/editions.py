"""The same machines licensed otherwise: by another edition or metric, in a cloud, one of them as a passive server."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.model.advice import Advice, Card
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing import server_share
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import (
    OF_ONE_PACK,
    PRODUCT,
    SCOPE,
    chosen_contract,
    chosen_metric,
    chosen_options,
    count_basis,
    failover_rule,
    licensed_servers,
    shares_load,
    with_product,
)
from sizeup.sizing.licensing.cost import a_year, list_price, term_cost, term_years
from sizeup.sizing.licensing.count import count_range, count_units, evaluated, matching_factor, ranged, usd_range
from sizeup.sizing.licensing.limits import limits_of_chosen, open_limits, product_limits
from sizeup.sizing.licensing.required import Permission, licenses_required, permission, require_permission
from sizeup.sizing.pack import MetricEntry, Pack, ProductEntry, short
from sizeup.sizing.rules import Rules
from sizeup.sizing.sheet import Calculation, Inputs, MissingError, Sheet, figure, servers
from sizeup.sizing.verdict import ShareStatus
from sizeup.text import capitalized, listed, plural
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
    licensed = licensed_servers(sheet, pack, product)
    if licensed < servers:
        text = f"{plural(int(servers - licensed), 'passive server')} not counted"
        yield sheet.advice(*_SERVERS, f"{rule.why}: {text}", decision="passive")
        return
    sheet.caveat(rule.note)
    one = Quantity(1, "1", Origin.RULE, rule.id)
    flag, alike = KEYS[_PASSIVE].flag.replace("=N", "=1"), sheet.inputs
    try:
        options = chosen_options(Sheet(sheet.inputs, sheet.rules), pack, product)
        shared = [entry for entry in options if entry.shares_load]
        decision = "shared" if shared and "license.options" in sheet.inputs else "all-counted"
        if shared and servers == 2:
            names = ",".join(short(entry.id) for entry in options if entry not in shared) or "none"
            rest = Words(names, Origin.RULE, "without what a passive server does not need")
            alike = {**sheet.inputs, "license.options": rest}
            flag += f" license.options={names}" if "license.options" in sheet.inputs else ""
        fewer, of_all = Sheet({**alike, _PASSIVE: one}, sheet.rules), Sheet(sheet.inputs, sheet.rules)
        count, metric, _ = licenses_required(fewer)
        text, whole_count = count_range(count, metric.unit), licenses_required(of_all)[0]
        price, instead = usd_range(list_price(fewer)), usd_range(list_price(Sheet(alike, sheet.rules)))
        text += "" if count == whole_count else f" in place of {count_range(whole_count, '')}"
        text += ", which saves nothing" if price == instead else f", {price} in place of {instead}{a_year(product)}"
        if alike is not sheet.inputs:
            titles, whole = listed([entry.title for entry in shared]), usd_range(list_price(of_all))
            text += f"; {whole} with {titles}, which servers need that open one database together"
    except MissingError as missing:  # a product that is not permitted is one, too
        if missing.key != "license.list_usd":
            return
    yield sheet.advice(*_SERVERS, f"{rule.why}. With {flag}: {text}", decision=decision)


_NO_PRICE = "license.list_usd"
USERS = "license.users"
_CHEAPEST = "license.edition", "Cheapest permitted edition"
"""Id and title."""


class Edition(Struct, frozen=True):
    """One edition on this machine."""

    product: ProductEntry
    permission: Permission | None
    """None where it could not be judged."""
    cost: Quantity | None
    """USD over the term; None where it is not permitted, or where no price or not enough of the machine is known."""
    metric: MetricEntry
    """What it is counted in."""
    options: tuple[ProductEntry, ...]
    """What its cost has beside it."""
    missing: str = ""
    """The key that is missing where it could not be judged."""
    too_small: tuple[str, ...] = ()
    """That it does not carry the load, and its limits; empty where it does, or no load is given."""

    @property
    def brief(self) -> str:
        """Its short name, with those of its options."""
        return " + ".join(one.brief or one.title for one in (self.product, *self.options))

    @property
    def name(self) -> str:
        """Its short name, with the metric where that is not its usual one."""
        name = self.brief
        return name if short(self.metric.id) == self.product.metric else f"{name} by {self.metric.title}"

    @property
    def is_forbidden(self) -> bool:
        """Whether the vendor does not permit it here."""
        return self.permission is not None and self.permission.decision == "forbidden"


def related_editions(pack: Pack, product: ProductEntry) -> list[ProductEntry]:
    """Return the other editions of a product: the lesser and fuller ones of one another, at any distance."""
    names = {short(product.id)}
    while True:
        linked = {short(one.id) for one in pack.product if short(one.id) in names or one.lesser_of in names}
        linked |= {one.lesser_of for one in pack.product if short(one.id) in linked and one.lesser_of}
        if linked == names:
            return [one for one in pack.product if short(one.id) in names and one is not product]
        names = linked


def _edition(sheet: Sheet, pack: Pack, product: ProductEntry) -> Edition:
    """Judge one edition by the metric of the sheet; what cannot be judged without further inputs has no cost."""
    metric = chosen_metric(sheet, pack, product)
    found, cost, missing = None, None, ""
    try:
        found = permission(sheet, pack, product)
        if found.decision != "forbidden":
            cost = term_cost(sheet)
        if cost is not None and lacks_users(sheet):
            cost, missing = None, USERS
    except MissingError as error:
        missing = error.key
    small = too_small(sheet.inputs, sheet.rules, pack.pack, short(product.id))
    options = chosen_options(Sheet(sheet.inputs, sheet.rules), pack, product)
    return Edition(product, found, cost, metric, options, missing, small)


def lacks_users(sheet: Sheet) -> bool:
    """Return whether the chosen metric counts users whom nobody stated: the least that it asks for is no answer."""
    users, metric = sheet.inputs.get(USERS), chosen_metric(sheet, *chosen_contract(sheet))
    by_users = any("users" in sheet.rules.formula(text).names for text in metric.formulas.values())
    return by_users and (not isinstance(users, Quantity) or users.origin is Origin.RULE)


def too_small(inputs: Inputs, rules: Rules, pack: str, product: str) -> tuple[str, ...]:
    """Return that an edition does not carry the load, ``too few``, and its limits, ``16 threads``; empty if it does.

    What the whole server does not carry either is no fault of the edition, unless that uses too little of it for today.
    """
    named = {key: Words(name, Origin.USER, name) for key, name in (("license.pack", pack), (PRODUCT, product))}
    sheet = Sheet(with_product(inputs, *chosen_contract(Sheet(named, rules)), Origin.USER), rules)
    left_out = [key for key in OF_ONE_PACK if key != SCOPE or key not in sheet.inputs]  # a hard partition stays
    whole = Sheet({key: value for key, value in inputs.items() if key not in left_out}, rules)
    uses = [use for use in limits_of_chosen(sheet) if use.is_exceeded]
    cores = sheet.optional("machine.cores")
    alone = servers(sheet) > 1 and not shares_load(sheet)
    if not uses and not alone:
        return ()
    for calculation in server_share.CALCULATIONS:
        for one in (sheet, whole):
            with suppress(MissingError):
                list(calculation.work(one))
    own, without = ({card.resource: card for card in one.cards} for one in (sheet, whole))
    lacking = {one: _lacking(card, without[one]) for one, card in own.items() if one in without}
    resources = ((use, "memory" if use.entry.of == "memory_gib" else "cpu") for use in uses)
    over = {
        format_in(use.size.value, use.entry.unit): lacking[resource]
        for use, resource in resources
        if lacking.get(resource)
    }
    if not over and alone and cores is not None and lacking.get("cpu"):
        over[f"{format_in(cores.value, 'cores')} of one server"] = lacking["cpu"]
    return (_TOO_FEW if ShareStatus.FAIL.value in over.values() else PERHAPS, ", ".join(over)) if over else ()


def _lacking(own: Card, whole: Card) -> str:
    """Return the status of a resource of which an edition uses too little; empty where it is no fault of the edition.

    Of one that the whole server does not carry, with growth or after a failure, today's share decides.
    """
    if whole.status != ShareStatus.FAIL.value:
        return own.status if own.status in _NOT_CARRIED else ""
    best, worst = (of > max(own.limit, all_of) for of, all_of in zip(own.ends, whole.ends, strict=True))
    return ShareStatus.FAIL.value if best else ShareStatus.UNCERTAIN.value if worst else ""


PERHAPS = "perhaps too few"
_TOO_FEW = "too few"
_NOT_CARRIED = (ShareStatus.FAIL.value, ShareStatus.UNCERTAIN.value)


def _by_other_metrics(sheet: Sheet, pack: Pack, edition: Edition) -> Iterator[tuple[Edition, Sheet]]:
    """Yield an edition counted by the other metrics that it is sold by."""
    if "license.list_usd" in sheet.inputs:
        return
    for metric in pack.metric:
        name = short(metric.id)
        if name in edition.product.price and metric is not edition.metric:
            own = Sheet({**sheet.inputs, "license.metric": Words(name, Origin.RULE, metric.title)}, sheet.rules)
            try:
                yield _edition(own, pack, edition.product), own
            except UsageError:  # it has no rule for this scope
                continue


def _judged(sheet: Sheet, pack: Pack, product: ProductEntry) -> list[tuple[Edition, Sheet]]:
    """Return the chosen edition, the others, and each of them by its other metrics, with what each was judged from.

    The others are those that have every option which the user chose.
    """
    own = Sheet(sheet.inputs, sheet.rules)
    judged = [(_edition(own, pack, product), own)]
    stated = "license.options" in sheet.inputs
    options = chosen_options(Sheet(sheet.inputs, sheet.rules), pack, product) if stated else ()
    for other in related_editions(pack, product):
        if all(short(other.id) in option.option_of for option in options):
            theirs = Sheet(with_product(sheet.inputs, pack, other), sheet.rules)
            judged.append((_edition(theirs, pack, other), theirs))
    for one, theirs in tuple(judged):
        judged += _by_other_metrics(theirs, pack, one)
    return judged


class OtherContract(Struct, frozen=True):
    """What another edition or metric costs."""

    title: str
    """``Oracle SE2 by Named User Plus``."""
    setting: str
    """``license.product=se2 license.metric=se2_nup``."""
    cost: Quantity | None
    """USD over the term."""
    why: str = ""
    """Why there is no cost, or that it does not carry the load."""
    years: int = 0
    """The term."""


def other_contracts(inputs: Inputs, rules: Rules) -> tuple[OtherContract, ...]:
    """Return the cost over the term of the other editions and metrics; none where nothing is known to compare."""
    sheet = Sheet(inputs, rules)
    pack, product = chosen_contract(sheet)
    found = []
    for one, _ in _judged(sheet, pack, product)[1:]:
        parts = [] if one.product is product else [f"license.product={short(one.product.id)}"]
        if one.name != one.brief or one.product is product:
            parts.append(f"license.metric={short(one.metric.id)}")
        why = f"unknown without the {KEYS[one.missing].help} ({one.missing})" if one.missing else "unknown"
        if one.missing == _NO_PRICE:
            why = f"no public price ({_NO_PRICE})"
        if one.permission is not None and one.is_forbidden:
            why = f"not permitted: {one.permission.why}"
        why = ": ".join(one.too_small) if one.cost else why
        found.append(OtherContract(one.name, " ".join(parts), one.cost, why, term_years(sheet)))
    return tuple(found)


def _editions(sheet: Sheet) -> Iterator[Advice]:
    """The cheapest permitted edition and metric beside the chosen one."""
    pack, product = chosen_contract(sheet)
    judged = _judged(sheet, pack, product)
    chosen = judged[0][0]
    if len(judged) == 1:
        return
    for _, theirs in judged:
        sheet.include(theirs)
    rest = [one for one, _ in judged[1:]]
    by_key: dict[str, list[str]] = {}  # of those that were not judged, by the key that is missing
    for one in (one for one in rest if one.missing):
        by_key.setdefault(one.missing, []).append("licenses by users" if one.missing == USERS else one.brief)
    why = {key: "no public price" if key == _NO_PRICE else f"needs {KEYS[key].flag}" for key in by_key}
    named = [f"{' and '.join(dict.fromkeys(names))} ({why[key]})" for key, names in by_key.items()]
    if not product.yearly and any(one.yearly for one in pack.product):
        named.append("subscriptions (--show licenses)")
    open_ones = f". Not judged: {', '.join(named)}" if named else ""
    priced = [(one.cost, one, theirs) for one, theirs in judged if one.cost is not None]
    if not priced and chosen.is_forbidden and open_ones:
        verdict = f"{chosen.product.title} is not permitted, and which other edition is, is unknown{open_ones}"
        yield sheet.advice(*_CHEAPEST, verdict, decision="unknown")
        return
    if not priced or (chosen.cost is None and not chosen.is_forbidden):
        if chosen.missing and chosen.missing != _NO_PRICE:
            raise MissingError(chosen.missing)
        return
    carrying = [one for one in priced if _TOO_FEW not in one[1].too_small] or priced
    least, cheapest, of = min(carrying, key=lambda one: one[0].value)  # the chosen one, where two cost the same
    if cheapest.product is product and cheapest.metric is chosen.metric:
        verdict = _cheapest_is_chosen(chosen, rest, term_years(sheet))
    else:
        instead = "" if chosen.cost is None else f" in place of {usd_range(chosen.cost)}"
        few = f" ({': '.join(cheapest.too_small)})" if cheapest.too_small else ""
        kind = "whose limits carry the load" if _TOO_FEW in chosen.too_small and not few else "permitted"
        verdict = f"cheapest {kind}: {cheapest.name}{few}, {usd_range(least)}{instead} over {term_years(sheet)} years"
        verdict += _means(of, pack, cheapest)
    verdict += open_ones
    if "license.product" not in sheet.inputs:
        verdict = f"{product.brief or product.title} is assumed, as no edition is set. {capitalized(verdict)}"
    sheet.caveat("features differ beyond what is listed here")
    cost = sheet.answer(least.value, "USD", cheapest.product.id, low=least.low, high=least.high)
    yield sheet.advice(*_CHEAPEST, verdict, cost, "USD", decision=short(cheapest.product.id))


def _cheapest_is_chosen(chosen: Edition, rest: Sequence[Edition], years: int) -> str:
    others = [one for one in rest if one.product is not chosen.product]
    least: dict[str, Edition] = {}
    for one in others:
        known = least.setdefault(one.product.id, one)
        if one.cost is not None and (known.cost is None or one.cost.value < known.cost.value):
            least[one.product.id] = one
    what = "edition and metric" if not others else "edition"
    of = " of those that are judged" if any(one.missing for one in least.values()) else ""
    carries = _TOO_FEW not in chosen.too_small and any(one.cost and _TOO_FEW in one.too_small for one in least.values())
    enough = " whose limits carry the load" if carries else ""
    sentences = [f"{chosen.product.title} is the cheapest permitted {what}{enough}{of}"]
    sentences += [
        one.permission.refusal
        if one.cost is None
        else ", ".join(
            filter(None, (f"{one.name}: {usd_range(one.cost)} over {years} years", ": ".join(one.too_small)))
        )
        for one in least.values()
        if one.permission is not None and (one.cost is not None or one.is_forbidden)
    ]
    return ". ".join(sentences)


def _means(sheet: Sheet, pack: Pack, edition: Edition) -> str:
    """Return what an edition rests on, what it cannot use of the machine and what it lacks, as sentences."""
    lacks = edition.product.cluster_note if licensed_servers(sheet, pack, edition.product) > 1 else ""
    sentences = [lacks] if lacks else []  # first, as a text that is too long loses its end
    if edition.permission is not None and edition.permission.decision == "assumed":
        key = edition.permission.settled_by
        sentences.append(f"assumed: permitted {edition.permission.why}{f' ({KEYS[key].flag})' if key else ''}")
    limits = product_limits(Sheet(sheet.inputs, sheet.rules), pack, edition.product)
    exceeded = [use for use in limits if use.is_exceeded]
    if len(exceeded) == 1:
        [use] = exceeded
        number = format_in(use.usable, "")
        sentences.append(f"it uses {f'at most {number} of its' if use.perhaps else f'{number} of'} {use.has}")
    else:
        sentences += [use.clause for use in exceeded]
    busy = sheet.optional("workload.cpu_cores")
    if busy is not None and any(use.entry.unit in ("threads", "cores", "vCPUs") for use in exceeded):
        sentences[-1] += f"; {figure(busy.value)} cores are busy"
    sentences += [one.verdict for one in open_limits(Sheet(sheet.inputs, sheet.rules), pack, edition.product)]
    if edition.product.lacks and not lacks:
        sentences.append(f"it {edition.product.lacks}")
    return "".join(f". {capitalized(sentence)}" for sentence in sentences)


CALCULATIONS = (
    Calculation(
        "editions",
        _editions,
        ("license.edition",),
        nothing="nothing to compare: no other edition is known, or none has a public price (license.list_usd)",
    ),
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
