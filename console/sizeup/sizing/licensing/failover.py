"""Servers of a cluster that only take over: what they need no licenses for, and what that saves."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import chosen_contract, chosen_options, failover_rule, licensed_servers
from sizeup.sizing.licensing.cost import a_year, list_price
from sizeup.sizing.licensing.count import count_range, usd_range
from sizeup.sizing.licensing.permission import ForbiddenError
from sizeup.sizing.licensing.required import licenses_required
from sizeup.sizing.pack import short
from sizeup.sizing.sheet import Calculation, MissingError, Sheet
from sizeup.text import listed, plural

_PASSIVE = "license.passive_servers"


def _failover(sheet: Sheet) -> Iterator[Advice]:
    """The rule about passive servers, and what the licenses are with one of them."""
    pack, product = chosen_contract(sheet)
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
        options = chosen_options(Sheet(sheet.inputs, sheet.rules), pack, product)
        kept = chosen_options(Sheet(fewer.inputs, sheet.rules), pack, product)
        shared = [entry for entry in options if entry.for_clusters and entry not in kept]
        names = [short(entry.id) for entry in options if entry not in shared]
        rest = Words(",".join(names) or "none", Origin.RULE, "without what a passive server does not need")
        alike = Sheet({**sheet.inputs, "license.options": rest}, sheet.rules)
        price, instead = usd_range(list_price(fewer)), usd_range(list_price(alike if shared else of_all))
        text += f", {price} in place of {instead}{a_year(product)}"
        if shared:
            titles = listed([entry.title for entry in shared])
            text += (
                f"; {usd_range(list_price(of_all))} with {titles}, which servers need that open one database together"
            )
    except ForbiddenError:
        return
    except MissingError as missing:
        if missing.key != "license.list_usd":
            return
    yield sheet.advice(
        "license.failover", "Failover servers", f"{rule.why}. With {flag}: {text}", decision="all-counted"
    )


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
