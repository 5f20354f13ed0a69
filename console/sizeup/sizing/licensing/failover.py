"""Servers of a cluster that only take over: what they need no licenses for, and what that saves."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import (
    chosen_options,
    chosen_pack,
    chosen_product,
    failover_rule,
    licensed_servers,
)
from sizeup.sizing.licensing.cost import list_price
from sizeup.sizing.licensing.count import count_range, usd_range
from sizeup.sizing.licensing.permission import ForbiddenError
from sizeup.sizing.licensing.required import licenses_required
from sizeup.sizing.pack import Pack, ProductEntry
from sizeup.sizing.sheet import Calculation, MissingError, Sheet
from sizeup.text import listed, plural

_PASSIVE = "license.passive_servers"


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
        all_of_them, _, _ = licenses_required(Sheet(sheet.inputs, sheet.rules))
        text += f" in place of {count_range(all_of_them, '')}"
        text += (
            f", {usd_range(list_price(fewer))} in place of {usd_range(list_price(Sheet(sheet.inputs, sheet.rules)))}"
        )
        text += _without_options(sheet, fewer, pack, product)
    except ForbiddenError:
        return
    except MissingError as missing:
        if missing.key != "license.list_usd":
            return
    yield sheet.advice(
        "license.failover", "Failover servers", f"{rule.why}. With {flag}: {text}", decision="all-counted"
    )


def _without_options(sheet: Sheet, fewer: Sheet, pack: Pack, product: ProductEntry) -> str:
    """Return which options the fewer servers no longer need, as a clause: they are part of what is saved."""
    kept = chosen_options(Sheet(fewer.inputs, fewer.rules), pack, product)
    gone = [one.title for one in chosen_options(Sheet(sheet.inputs, sheet.rules), pack, product) if one not in kept]
    return f" with {listed(gone)}, which a single active server does not need" if gone else ""


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
