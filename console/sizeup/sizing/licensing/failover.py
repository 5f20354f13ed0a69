"""Servers of a cluster that only take over: what they need no licenses for, and what that saves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import (
    chosen_options,
    chosen_pack,
    chosen_product,
    failover_rule,
    licensed_servers,
)
from sizeup.sizing.licensing.cost import a_year, list_price
from sizeup.sizing.licensing.count import count_range, usd_range
from sizeup.sizing.licensing.permission import ForbiddenError
from sizeup.sizing.licensing.required import licenses_required
from sizeup.sizing.pack import Pack, ProductEntry, short
from sizeup.sizing.sheet import Calculation, MissingError, Sheet
from sizeup.text import listed, plural

_PASSIVE = "license.passive_servers"
_OPTIONS = "license.options"


def _failover(sheet: Sheet) -> Iterator[Advice]:
    """The rule about passive servers, and what the licenses are with one of them."""
    pack = chosen_pack(sheet)
    product = chosen_product(sheet, pack)
    rule, servers = failover_rule(pack, product), sheet.number("cluster.nodes").value
    if servers <= 1 or rule is None:
        return
    sheet.cite(rule.source)
    sheet.caveat(rule.note)
    licensed = licensed_servers(sheet, pack, product)
    if licensed < servers:
        text = f"{plural(int(servers - licensed), 'passive server')} not counted"
        yield sheet.advice("license.failover", "Failover servers", f"{rule.why}: {text}", decision="passive")
        return
    one = Quantity(1, "1", Origin.RULE, rule.id)
    fewer = Sheet({**sheet.inputs, _PASSIVE: one}, sheet.rules)
    flag = KEYS[_PASSIVE].flag.replace("=N", "=1")
    try:
        count, metric, _ = licenses_required(fewer)
        text = count_range(count, metric.unit)
        of_all = Sheet(sheet.inputs, sheet.rules)
        all_of_them, _, _ = licenses_required(of_all)
        text += f" in place of {count_range(all_of_them, '')}"
        shared = _for_one_database(of_all, fewer, pack, product)
        alike = Sheet({**sheet.inputs, _OPTIONS: _without(of_all, pack, product, shared)}, sheet.rules)
        price, instead = usd_range(list_price(fewer)), usd_range(list_price(alike if shared else of_all))
        text += f", {price} in place of {instead}{a_year(product)}"
        if shared:
            text += (
                f"; {usd_range(list_price(of_all))} with {listed([one.title for one in shared])}, which servers need "
                "that open one database together"
            )
    except ForbiddenError:
        return
    except MissingError as missing:
        if missing.key != "license.list_usd":
            return
    yield sheet.advice(
        "license.failover", "Failover servers", f"{rule.why}. With {flag}: {text}", decision="all-counted"
    )


def _for_one_database(of_all: Sheet, fewer: Sheet, pack: Pack, product: ProductEntry) -> list[ProductEntry]:
    """Return the options that all servers together have, and one that takes over from another does not need."""
    kept = chosen_options(Sheet(fewer.inputs, fewer.rules), pack, product)
    options = chosen_options(Sheet(of_all.inputs, of_all.rules), pack, product)
    return [one for one in options if one.for_clusters and one not in kept]


def _without(of_all: Sheet, pack: Pack, product: ProductEntry, left_out: Sequence[ProductEntry]) -> Words:
    """Return the options without those that are left out, as ``license.options`` names them."""
    options = chosen_options(Sheet(of_all.inputs, of_all.rules), pack, product)
    names = [short(one.id) for one in options if one not in left_out]
    return Words(",".join(names) or "none", Origin.RULE, "without what a passive server does not need")


CALCULATIONS = (
    Calculation(
        "failover servers",
        _failover,
        ("license.failover",),
        about=(_PASSIVE,),
        nothing="no server is left out: this is one server (cluster.nodes), or no rule for this product is known",
    ),
)
"""After the costs."""
