"""Candidates side by side: the verdict on each, what limits it, what is not judged, and what its licenses cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.charts.table import UNKNOWN, Column, Table
from sizeup.errors import UsageError
from sizeup.model.advice import Card
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.advise import Sizing
from sizeup.sizing.cards import highest_share, open_cards, overall, verdict
from sizeup.sizing.editions import too_small
from sizeup.sizing.io.share import DISKS, IOPS, PATHS, THROUGHPUT
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import chosen_contract
from sizeup.sizing.licensing.cost import LicenseCost, term_years
from sizeup.sizing.licensing.count import usd_brief
from sizeup.sizing.licensing.required import LicenseCount
from sizeup.sizing.licensing.table import Row, rows
from sizeup.sizing.pack import short
from sizeup.sizing.rules import Rules
from sizeup.sizing.sheet import Sheet, find_fact
from sizeup.sizing.verdict import RESOURCE_NAMES, ShareStatus, share_text
from sizeup.text import nearest, uncapitalized
from sizeup.units import format_in
from sizeup.views.cards.cards import OUTAGE, TITLES, share_cell, status_label
from sizeup.views.result.licenses import priced_at
from sizeup.views.result.verdict import first_card, overall_text, unsettled_note

_PRICED = "license.cost.term"
_FAIL = ShareStatus.FAIL.value
_WORST = ["unknown", "fail", "uncertain", "warn", "assumed", "pass"]
"""Worst first: what warns carries the load, what is not certain perhaps does not."""
_OF_PATHS = ("storage", "network")
"""Resources whose stages are judged one by one, as parts of the paths or as the drives."""
_NOT_JUDGED = {
    DISKS: ("disks", (DISKS,)),
    PATHS: ("paths", (PATHS,)),
    IOPS: ("IOPS", (DISKS, PATHS)),
    THROUGHPUT: ("MB/s", (DISKS, PATHS)),
}
"""What of the storage is not judged, as a row names it, each with the parts that no other can be ranked by then."""


class Candidate(Struct, frozen=True):
    """A server to choose from."""

    name: str
    sizing: Sizing

    @property
    def status(self) -> str:
        """The verdict on the whole: ``PASS``, or ``NO VERDICT`` where a demand or a capacity is unknown."""
        return overall_text(self.sizing.cards)

    @property
    def limit(self) -> Card | None:
        """What limits it: what decides where that is bad, else what of the judged has the least left; None for none."""
        decides = verdict(self.sizing.cards)
        if decides is not None and decides.status in (_FAIL, ShareStatus.WARN.value, ShareStatus.UNCERTAIN.value):
            return decides
        judged = [card for card in self.sizing.cards if card.share is not None]
        return max(judged, key=highest_share, default=None)

    @property
    def price(self) -> LicenseCost | None:
        """What licenses and support cost over the term."""
        return find_fact(self.sizing.facts, LicenseCost)

    @property
    def cost(self) -> float | None:
        """The same in dollars; None where it is unknown."""
        return None if self.price is None or self.price.total is None else self.price.total.value

    @property
    def system(self) -> Quantity | None:
        """Price of the system without licenses, in USD."""
        return self._input("value.system_usd")

    @property
    def total(self) -> Quantity | None:
        """Price of the system with licenses and support over the term, in USD; None without a price of the system."""
        system = self.system
        if system is None or self.price is None or self.price.total is None:
            return system
        licenses = self.price.total
        low, high = (None if end is None else system.value + end for end in (licenses.low, licenses.high))
        return replace(system, value=system.value + licenses.value, low=low, high=high)

    @property
    def throughput(self) -> Quantity | None:
        """What it does while all of its servers run."""
        return self._input("value.throughput")

    @property
    def left(self) -> float | None:
        """Throughput after a failure of one server, or of those that do not survive; None where that is unknown."""
        if self.throughput is None or "cluster.survivors" in self.sizing.inputs:
            found = self.sizing.find("value.throughput")
            return None if found is None or found.quantity is None else found.quantity.value
        nodes = self._input("cluster.nodes")
        return 0.0 if nodes is None or nodes.value == 1 else None

    def _input(self, key: str) -> Quantity | None:
        value = self.sizing.inputs.get(key)
        return value if isinstance(value, Quantity) else None


def best_first(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates by verdict, worst part, how little is not judged, the other parts, cost, share and name.

    The cost is that of the licenses, and of the system where all have its price. A part that is not judged never wins:
    it counts as the worst that another one still carries, and as failed where all fail that are judged in it. One
    without any verdict is the last.
    """
    judged = {one.name: _judged_parts(one.sizing.cards) for one in candidates}
    open_parts = {one.name: {part for parts in not_judged(one).values() for part in parts} for one in candidates}
    stand_in, priced = {}, all(one.system is not None for one in candidates)
    for part in set().union(*judged.values()):
        passed = (parts[part] for parts in judged.values() if parts.get(part, _FAIL) != _FAIL)
        stand_in[part] = min(passed, key=_WORST.index, default=_FAIL)

    def rank(one: Candidate) -> tuple[object, ...]:
        parts, unknown = dict(judged[one.name]), open_parts[one.name]
        for part in stand_in.keys() & unknown:
            parts[part] = min(parts.get(part, stand_in[part]), stand_in[part], key=_WORST.index)
        worst_first = sorted(map(_WORST.index, parts.values()))
        share = 0.0 if one.limit is None else one.limit.share or 0.0
        system = 0.0 if one.system is None else one.system.value
        worst = min([*worst_first, len(_WORST)])
        if open_cards(one.sizing.cards):  # then it is no better than not certain, whatever others carry
            worst = min(worst, _WORST.index(overall(one.sizing.cards).value), _WORST.index(ShareStatus.UNCERTAIN.value))
        return (
            -worst, len(unknown), [-status for status in worst_first],
            one.cost is None, (one.cost or 0.0) + (system if priced else 0.0), one.system is None, system,
            share, one.name,
        )  # fmt: skip

    return sorted(candidates, key=rank)


def _judged_parts(cards: Sequence[Card]) -> dict[str, str]:
    """Return the status of each part that is judged: of storage and network the paths and the drives."""
    found = {
        card.resource: card.status
        for card in cards
        if card.resource not in _OF_PATHS and (card.status == _FAIL or card.share is not None)
    }
    for card in cards:
        for stage in card.stages:
            part = PATHS if stage.path else DISKS
            best = card.status if card.status == ShareStatus.ASSUMED.value else stage.status
            found[part] = min(found.get(part, best), best, stage.status, key=_WORST.index)
    return found


def not_judged(one: Candidate) -> dict[str, tuple[str, ...]]:
    """Return what has a demand and is not judged, each with the parts that are unknown by that."""
    found = dict(_NOT_JUDGED[card.not_judged] for card in one.sizing.cards if card.not_judged)
    found |= {name: () for card in one.sizing.cards for name in card.unmeasured}
    for card in open_cards(one.sizing.cards):
        parts = (DISKS, PATHS) if card.resource in _OF_PATHS else (card.resource,)
        found[RESOURCE_NAMES[card.resource]] = parts
    return found


def candidate_table(candidates: Sequence[Candidate]) -> Table:
    """Return a row for each candidate: verdict, what limits it, its shares, what is not judged, cost of licenses."""
    costs = [found for one in candidates if (found := one.sizing.find(_PRICED)) is not None]
    terms = {one.price.term for one in candidates if one.price is not None and one.price.total is not None}
    names = short_names(candidates)
    rows = [_row(one, name, with_term=len(terms) > 1) for one, name in zip(candidates, names, strict=True)]
    years = max((card.horizon_years for one in candidates for card in one.sizing.cards), default=0.0)
    columns = (
        *(Column(title) for title in ("Candidate", "Verdict", "Limit")),
        *(Column(title, numeric=True) for title in ("Used", "N+1", f"Year {format_in(years, '')}")),
        Column("Not judged"),
        Column("Licenses", numeric=True),
    )
    prices = [each.quantity for found in costs for each in found.inputs if each.shown_in == "USD"]
    yours = any(price is not None and price.origin is Origin.USER for price in prices)
    at = "your prices" if yours else _prices_of_each(candidates)
    term = terms.pop() if len(terms) == 1 else ""
    note = f"Licenses and their support{term}, by {at}" if costs else ""
    counts = [find_fact(one.sizing.facts, LicenseCount) for one in candidates]
    products = ["" if count is None else count.product for count in counts]
    note += f": {_of_each(products, candidates)}" if note and len({*products} - {""}) > 1 else ""
    return _with_text(columns, rows, note)


def price_table(candidates: Sequence[Candidate]) -> Table:
    """Return what each system costs with its licenses, and by unit of work; no rows where no price is known."""
    units = [getattr(one.sizing.inputs.get("value.unit"), "value", "") for one in candidates]
    alike = len({*units} - {""}) == 1
    each = f"Per {max(units).removesuffix('s')}" if alike else "Per unit"
    found, licensed = [], any(one.cost is not None for one in candidates)
    for one, name, unit in zip(candidates, short_names(candidates), units, strict=True):
        system, total, rate, left = one.system, one.total, one.throughput, ""
        not_priced = licensed and one.cost is None
        if rate is not None and one.left is not None:  # after a failure
            share = share_text(one.left / rate.value)
            left = f"{format_in(float(f'{one.left:.4g}'), '')} ({share})" if one.left else "nothing"
        found.append((
            name,
            "" if system is None else usd_brief(system),
            "" if total is None or one.cost is None else f"{usd_brief(total)}{_assumed(one)}",
            "" if rate is None else format_in(rate.value, "" if alike else unit),
            "" if rate is None or total is None or not_priced else f"${total.value / rate.value:,.3f}",
            left,
        ))  # fmt: skip
    columns = ("Candidate", "System", "With licenses", "Throughput", each, "After a failure")
    return _with_text([Column(title, numeric=title != "Candidate") for title in columns], found, "", UNKNOWN)


def edition_table(candidates: Sequence[Candidate], editions: Sequence[str], rules: Rules) -> Table:
    """Return what the licenses of each edition cost on each candidate; no rows without editions.

    An edition is ``oracle.ee``, or a part of that which no other has: ``ee``.
    """
    products: list[dict[str, Row]] = []  # by every name that only one of them has: product, vendor, both
    for one in candidates:
        every = rows(one.sizing.inputs, rules) if editions else ()
        pairs = [(name, row) for row in every for name in (row.product, row.pack, f"{row.pack}.{row.product}")]
        counts = Counter(name for name, _ in pairs)
        products.append({name: row for name, row in pairs if counts[name] == 1})
    for name in editions:
        if name not in products[0]:
            known = [each for each in products[0] if "." in each]
            meant = [each for each in known if each.startswith(f"{name}.")] or known
            raise UsageError(f"--editions: expected {', '.join(meant)}, found {name!r}{nearest(name, products[0])}")
    found = [
        (name, *(_edition_cost(of_edition[edition], one, rules) for edition in editions))
        for one, name, of_edition in zip(candidates, short_names(candidates), products, strict=True)
    ]
    years = format_in(term_years(Sheet(candidates[0].sizing.inputs, rules)), "years")
    titles_of = {
        name: [_edition_title(of[name], one, rules) for of, one in zip(products, candidates, strict=True)]
        for name in editions
    }
    named = "; ".join(f"{name}: {_of_each(titles, candidates)}" for name, titles in titles_of.items())
    columns = [Column("Candidate"), *(Column(name, numeric=True) for name in editions)]
    at = _prices_of_each(candidates)
    prices = {name: [getattr(of[name].list_price, "origin", None) for of in products] for name in editions}
    own = [name for name in editions if Origin.USER in prices[name]]
    at = f"your prices of {', '.join(own)}, else {at}" if own else at
    unknown = (of[name].missing for of in products for name in editions)
    flags = ", ".join(KEYS[key].flag for key in dict.fromkeys(unknown) if key in KEYS)
    named += f". Unknown ({UNKNOWN}): use {flags}" if flags else ""
    return _with_text(columns, found, f"Licenses with support over {years}, {at} in USD. {named}")


def _prices_of_each(candidates: Sequence[Candidate]) -> str:
    return _of_each([priced_at(one.sizing.inputs) for one in candidates], candidates)


def _of_each(texts: Sequence[str], candidates: Sequence[Candidate]) -> str:
    """Return a text of all candidates, or each text with the candidates that it is of: ``EE + RAC (a, b)``."""
    names: dict[str, list[str]] = {}
    for text, name in zip(texts, short_names(candidates), strict=True):
        names.setdefault(text, []).append(name)
    return texts[0] if len(names) == 1 else ", ".join(f"{text} ({', '.join(of)})" for text, of in names.items() if text)


def _with_text(columns: Sequence[Column], rows: Sequence[Sequence[str]], note: str, blank: str = "") -> Table:
    """Return a table of the columns with a text in some row; without any but the first it has no rows."""
    kept = [place for place in range(len(columns)) if any(row[place] for row in rows)]
    cells = tuple(tuple(row[place] or blank for place in kept) for row in rows) if kept[1:] else ()
    return Table("", tuple(columns[place] for place in kept), cells, note)


def _edition_title(row: Row, one: Candidate, rules: Rules) -> str:
    """Return the title of an edition, and which options of the candidate do not count: those of another one."""
    pack, product = chosen_contract(Sheet(one.sizing.inputs, rules))
    options, own = one.sizing.inputs.get("license.options"), (pack.pack, short(product.id))
    if not isinstance(options, Words) or options.value == "none" or (row.pack, row.product) == own:
        return row.title
    return f"{row.title} without {options.value}"


def _edition_cost(row: Row, one: Candidate, rules: Rules) -> str:
    """Return what an edition costs over the term, or why that is not known, and whether it is too small."""
    if row.forbidden:
        return "not permitted"
    if row.term_cost is None:
        return UNKNOWN
    small = ": ".join(too_small(one.sizing.inputs, rules, row.pack, row.product))
    return f"{usd_brief(row.term_cost)}{' assumed' if row.assumed else ''}{small and f'; {small}'}"


def candidate_sentences(candidates: Sequence[Candidate]) -> list[str]:
    """Return what limits each candidate and, where a capacity is unknown, what was judged; of some the same in one."""
    of_text: dict[str, list[str]] = {}
    for one, name in zip(candidates, short_names(candidates), strict=True):
        text, is_open = "no workload. Give one with --workload FILE", verdict(one.sizing.cards) is None
        card = first_card(one.sizing.cards) if is_open else one.limit
        if card is not None:
            judged = [each for each in one.sizing.cards if each.share is not None and is_open]
            known = ", ".join(f"{TITLES[each.resource]} {share_text(each.share or 0.0)}" for each in judged)
            text = f"{card.statement}{unsettled_note(card, one.sizing.cards)}{f'. Judged: {known}' if known else ''}"
            settles = [each.decides for each in open_cards(one.sizing.cards) if each is not card and each.decides]
            left_out = "" if one.price is None else one.price.left_out
            text = ". ".join(filter(None, (text, *settles, *_unpriced(one), left_out)))
        failover = one.sizing.find("license.failover")
        standby = failover.caveats if failover is not None and failover.decision == "passive" else ()
        text = ". ".join((text, *standby))
        of_text.setdefault(text, []).append(name)
    return [f"{', '.join(names)}: {text}" for text, names in of_text.items()]


def _unpriced(one: Candidate) -> list[str]:
    """Return why the cost of the licenses is unknown; an empty list where it is known or they are not permitted."""
    card = next(each for each in one.sizing.cards if each.resource == "license")
    if one.cost is not None or card.status == _FAIL:
        return []
    asked = KEYS[one.sizing.lacks("licenses") or "machine.cores"].flag
    why = " ".join(card.notes) or card.statement or f"unknown. Use {asked}"
    return [f"Licenses: {uncapitalized(why)}"]


def _row(one: Candidate, name: str, *, with_term: bool) -> tuple[str, ...]:
    """Return a row with the shares of what limits; a failure that another does not survive names that one.

    So does the loss of a server of a cluster where what limits has no share after a failure, as space has none.
    """
    card, cards = one.limit or Card("", ShareStatus.UNKNOWN.value), one.sizing.cards
    shown = [each for each in cards if each.outage or (each.n_plus_one or 0.0) > each.limit]
    nodes = one.sizing.inputs.get("cluster.nodes")
    if not shown and card.n_plus_one is None and isinstance(nodes, Quantity) and nodes.value > 1:
        shown = [each for each in cards if each.n_plus_one is not None]
    lost = max(shown, key=lambda each: (each.outage, each is card, each.n_plus_one or 0.0), default=card)
    used, left, later = map(share_cell, (card.share, lost.n_plus_one, card.last_year))
    left = OUTAGE if lost.outage else left
    left += "" if lost.resource == card.resource else f" ({RESOURCE_NAMES[lost.resource]})"
    label = status_label(one.status, assumed=bool(card.assumed))
    cost = UNKNOWN  # of the licenses: $1.26M assumed where nobody chose the edition
    if next(each for each in cards if each.resource == "license").status == _FAIL:
        cost = "not permitted"
    elif one.price is not None and one.price.total is not None:
        cost = f"{usd_brief(one.price.total)}{one.price.term if with_term else ''}{_assumed(one)}"
    later = later if any(each.horizon_years for each in cards) else ""
    return name, label, TITLES.get(card.resource, UNKNOWN), used, left, later, ", ".join(not_judged(one)), cost


def _assumed(one: Candidate) -> str:
    """Return what follows a price of licenses that nobody chose."""
    card = next(card for card in one.sizing.cards if card.resource == "license")
    return " assumed" if card.status == ShareStatus.ASSUMED.value else ""


def short_names(candidates: Sequence[Candidate]) -> list[str]:
    """Return the last part of each path that tells the names apart, else the names without what all of them share."""
    names = [one.name for one in candidates]
    parts = [name.rstrip("/").split("/") for name in names]
    for place, rest in ((0, slice(1, None)), (-1, slice(-1))):
        while len(names) > 1 and all(len(part) > 1 for part in parts) and len({part[place] for part in parts}) == 1:
            parts = [part[rest] for part in parts]
    last = [part[-1] for part in parts]
    if len(set(last)) == len(last) and all(last):
        return last
    return ["/".join(part) or name for part, name in zip(parts, names, strict=True)]
