"""Editions of one product on the same machine: which are permitted, and what the cheapest of them costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from sizeup.model.advice import Advice
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.alternatives import for_edition
from sizeup.sizing.licensing.contract import chosen_pack, chosen_product
from sizeup.sizing.licensing.cost import term_cost, term_years
from sizeup.sizing.licensing.count import format_usd
from sizeup.sizing.licensing.limits import product_limits
from sizeup.sizing.licensing.permission import CAPACITY, Permission, permission
from sizeup.sizing.pack import Pack, ProductEntry, short
from sizeup.sizing.sheet import Calculation, MissingError, Sheet, figure
from sizeup.text import capitalized


class Edition(Struct, frozen=True):
    """One edition on this machine."""

    product: ProductEntry
    permission: Permission | None
    """None where no rule restricts it."""
    cost: float | None
    """USD over the term; None where it is not permitted, or where no price or not enough of the machine is known."""

    @property
    def title(self) -> str:
        """Its full name."""
        return self.product.title

    @property
    def decision(self) -> str:
        """Whether the vendor permits it here."""
        return "allowed" if self.permission is None else self.permission.decision

    def refusal(self) -> str:
        """Return that it is not permitted, and why."""
        assert self.permission is not None
        return self.permission.refusal(self.title)


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
    """Judge one edition; what of it cannot be judged without further inputs has no cost."""
    found = None
    try:
        found = permission(sheet, pack, product)
        cost = None if found is not None and found.decision == "forbidden" else term_cost(sheet).value
    except MissingError:
        cost = None
    return Edition(product, found, cost)


def _editions(sheet: Sheet) -> Iterator[Advice]:
    """The cheapest permitted edition beside the chosen one."""
    pack = chosen_pack(sheet)
    product = chosen_product(sheet, pack)
    others = related_editions(pack, product)
    if not others:
        return
    sheets = {product.id: Sheet(sheet.inputs, sheet.rules)}
    sheets |= {other.id: for_edition(sheet, pack, product, other) for other in others}
    chosen, *rest = (_edition(sheets[one.id], pack, one) for one in (product, *others))
    priced = [one for one in (chosen, *rest) if one.cost is not None]
    if not priced or (chosen.cost is None and chosen.decision != "forbidden"):
        return
    for one in sheets.values():
        sheet.include(one)
    cheapest = min(priced, key=lambda one: one.cost or 0.0)  # the chosen one, where two cost the same
    if cheapest is chosen:
        verdict = _cheapest_is_chosen(chosen, rest)
    else:
        verdict = _cheaper(chosen, cheapest, term_years(sheet)) + _means(sheets[cheapest.product.id], pack, cheapest)
    if "license.product" not in sheet.inputs:
        verdict = f"{product.brief or product.title} is assumed, as no edition is set. {capitalized(verdict)}"
    sheet.caveat("features differ beyond what is listed here")
    cost = sheet.answer(cheapest.cost or 0.0, "USD", cheapest.product.id)
    yield sheet.advice(
        "license.edition", "Cheapest permitted edition", verdict, cost, "USD", decision=short(cheapest.product.id)
    )


def _cheapest_is_chosen(chosen: Edition, rest: Sequence[Edition]) -> str:
    sentences = [f"{chosen.title} is the cheapest permitted edition"]
    sentences += [
        one.refusal() if one.cost is None else f"{one.title}: {format_usd(one.cost)}"
        for one in rest
        if one.cost is not None or one.decision == "forbidden"
    ]
    return ". ".join(sentences)


def _cheaper(chosen: Edition, cheapest: Edition, years: int) -> str:
    """Return what the cheapest edition costs in place of the chosen one."""
    instead = "" if chosen.cost is None else f" in place of {format_usd(chosen.cost)}"
    name = cheapest.product.brief or cheapest.title
    return f"cheapest permitted: {name}, {format_usd(cheapest.cost or 0.0)}{instead} over {years} years"


def _means(sheet: Sheet, pack: Pack, edition: Edition) -> str:
    """Return what an edition rests on, what it cannot use of the machine and what it lacks, as sentences."""
    sentences = []
    if edition.decision == "assumed" and edition.permission is not None:
        sentences.append(f"assumed: permitted {edition.permission.why} ({KEYS[CAPACITY].flag})")
    lacks = edition.product.cluster_note if sheet.number("cluster.nodes").value > 1 else ""
    if lacks:  # first, as a text that is too long loses its end
        sentences.insert(0, lacks)
    limits = product_limits(Sheet(sheet.inputs, sheet.rules), pack, edition.product)
    exceeded = [limit for limit in limits if limit.decision == "exceeded"]
    sentences += [_limit_text(limit, alone=len(exceeded) == 1) for limit in exceeded]
    busy = sheet.optional("workload.cpu_cores")
    if busy is not None and any(limit.shown_in in _OF_CPUS for limit in exceeded):
        sentences[-1] += f"; {figure(busy.value)} cores are busy today"
    if edition.product.lacks and not lacks:
        sentences.append(f"it {edition.product.lacks}")
    return "".join(f". {capitalized(sentence)}" for sentence in sentences)


def _limit_text(limit: Advice, *, alone: bool) -> str:
    """Return what an edition uses, ``it uses 16 of 64 threads``; of several limits each with its title."""
    text = limit.verdict.partition(";")[0]
    if not alone:
        return text
    used, _, present = text.rpartition(": ")[2].partition(" of ")
    return f"it uses {used.removesuffix(f' {limit.shown_in}')} of {present}"


_OF_CPUS = ("threads", "cores", "vCPUs")
"""Units of limits that a busy workload can run into."""

CALCULATIONS = (Calculation("editions", _editions, ("license.edition",)),)
