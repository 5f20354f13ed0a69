"""Editions of one product on the same machine: which are permitted, and what the cheapest of them costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from sizeup.errors import UsageError
from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing import cpu, memory_share
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.alternatives import for_edition
from sizeup.sizing.licensing.contract import (
    OF_ONE_PACK,
    chosen_contract,
    chosen_metric,
    chosen_options,
    licensed_servers,
)
from sizeup.sizing.licensing.cost import term_cost, term_years
from sizeup.sizing.licensing.count import usd_range
from sizeup.sizing.licensing.limits import limits_of_chosen, open_limits, product_limits
from sizeup.sizing.licensing.permission import CAPACITY, Permission, permission
from sizeup.sizing.pack import MetricEntry, Pack, ProductEntry, short
from sizeup.sizing.rules import Rules
from sizeup.sizing.sheet import Calculation, Inputs, MissingError, Sheet, figure
from sizeup.sizing.verdict import ShareStatus
from sizeup.text import capitalized
from sizeup.units import format_in

_NO_PRICE = "license.list_usd"
_USERS = "license.users"
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
        by_users = any("users" in sheet.rules.formula(text).names for text in metric.formulas.values())
        users = sheet.inputs.get(_USERS)
        if cost is not None and by_users and (not isinstance(users, Quantity) or users.origin is Origin.RULE):
            cost, missing = None, _USERS
    except MissingError as error:
        missing = error.key
    small = too_small(sheet.inputs, sheet.rules, pack.pack, short(product.id))
    options = chosen_options(Sheet(sheet.inputs, sheet.rules), pack, product)
    return Edition(product, found, cost, metric, options, missing, small)


def too_small(inputs: Inputs, rules: Rules, pack: str, product: str) -> tuple[str, ...]:
    """Return that an edition does not carry the load, ``too few``, and its limits, ``16 threads``; empty if it does."""
    kept = {key: value for key, value in inputs.items() if key not in OF_ONE_PACK}
    named = {"license.pack": Words(pack, Origin.USER, pack), "license.product": Words(product, Origin.USER, product)}
    sheet = Sheet({**kept, **named}, rules)
    if not limits_of_chosen(sheet):
        return ()
    for calculation in (*cpu.CALCULATIONS, *memory_share.CALCULATIONS):
        with suppress(MissingError):
            list(calculation.work(sheet))
    status, fails = {card.resource: card.status for card in sheet.cards}, ShareStatus.FAIL.value
    over = {
        format_in(use.size.value, use.entry.unit): found
        for use in limits_of_chosen(sheet)
        if (found := status.get("memory" if use.entry.of == "memory_gib" else "cpu", "")) in _NOT_CARRIED
        and use.is_exceeded
    }
    return ("too few" if fails in over.values() else "perhaps too few", ", ".join(over)) if over else ()


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
            theirs = for_edition(sheet, pack, product, other)
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
    open_ones = f". Not judged: {names}" if (names := _not_judged(rest)) else ""
    priced = [(one.cost, one, theirs) for one, theirs in judged if one.cost is not None]
    if not priced and chosen.is_forbidden and open_ones:
        verdict = f"{chosen.product.title} is not permitted, and which other edition is, is unknown{open_ones}"
        yield sheet.advice(*_CHEAPEST, verdict, decision="unknown")
        return
    if not priced or (chosen.cost is None and not chosen.is_forbidden):
        if chosen.missing and chosen.missing != _NO_PRICE:
            raise MissingError(chosen.missing)
        return
    least, cheapest, of = min(priced, key=lambda one: one[0].value)  # the chosen one, where two cost the same
    if cheapest.product is product and cheapest.metric is chosen.metric:
        verdict = _cheapest_is_chosen(chosen, rest, term_years(sheet))
    else:
        instead = "" if chosen.cost is None else f" in place of {usd_range(chosen.cost)}"
        verdict = f"cheapest permitted: {cheapest.name}, {usd_range(least)}{instead} over {term_years(sheet)} years"
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
    sentences = [f"{chosen.product.title} is the cheapest permitted {what}{of}"]
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


def _not_judged(rest: Sequence[Edition]) -> str:
    """Return the editions and metrics that were not judged, each with the flag of the key that is missing."""
    by_key: dict[str, list[str]] = {}
    for one in rest:
        if one.missing:
            by_key.setdefault(one.missing, []).append("licenses by users" if one.missing == _USERS else one.brief)
    why = {key: "no public price" if key == _NO_PRICE else f"needs {KEYS[key].flag}" for key in by_key}
    return ", ".join(f"{' and '.join(dict.fromkeys(names))} ({why[key]})" for key, names in by_key.items())


def _means(sheet: Sheet, pack: Pack, edition: Edition) -> str:
    """Return what an edition rests on, what it cannot use of the machine and what it lacks, as sentences."""
    lacks = edition.product.cluster_note if licensed_servers(sheet, pack, edition.product) > 1 else ""
    sentences = [lacks] if lacks else []  # first, as a text that is too long loses its end
    if edition.permission is not None and edition.permission.decision == "assumed":
        sentences.append(f"assumed: permitted {edition.permission.why} ({KEYS[CAPACITY].flag})")
    limits = product_limits(Sheet(sheet.inputs, sheet.rules), pack, edition.product)
    exceeded = [use for use in limits if use.is_exceeded]
    if len(exceeded) == 1:
        sentences.append(f"it uses {format_in(exceeded[0].usable, '')} of {exceeded[0].has}")
    else:
        sentences += [use.clause for use in exceeded]
    if edition.too_small:
        sentences[-1] += f", {edition.too_small[0]}"
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
)
