"""The cores of a server that the chosen edition of a database uses."""

from __future__ import annotations

from msgspec import Struct

from sizeup.quantity import Origin, Words
from sizeup.sizing.licensing.contract import chosen_pack, chosen_product
from sizeup.sizing.licensing.limits import product_limits
from sizeup.sizing.sheet import MissingError, Sheet
from sizeup.units import base_unit, format_in

_OF_THREADS = ("threads", "vCPUs")
"""Units of limits that count hardware threads."""


class UsableCores(Struct, frozen=True):
    """What the edition uses of one server."""

    most: float
    """Cores, with one thread on each."""
    least: float
    """Cores, where the threads that the edition uses share cores; as many where it counts cores."""
    text: str
    """``16 threads by Oracle SE2``."""


def usable_cores(sheet: Sheet, cores: float) -> UsableCores | None:
    """Return the cores that the chosen edition uses; None where nobody chose one, or where it uses all of them.

    Of an edition whose limits differ by version, those of the chosen one count, else of the latest.
    """
    name = sheet.inputs.get("license.product")
    if not isinstance(name, Words) or name.origin is Origin.RULE:
        return None
    judge = Sheet(sheet.inputs, sheet.rules)
    try:
        pack = chosen_pack(judge)
        product = chosen_product(judge, pack)
        limits = list(product_limits(judge, pack, product))
    except MissingError:
        return None
    found = []
    for limit in limits:
        if not limit.id.startswith(f"license.limit.{product.id}.") or limit.quantity is None:
            continue
        counts_threads = limit.shown_in in _OF_THREADS
        if counts_threads or limit.shown_in == "cores":
            count = limit.quantity.value / base_unit(limit.shown_in)[1]
            each = sheet.optional("machine.threads_per_core") if counts_threads else None
            least = count if each is None else count / each.value
            text = f"{format_in(count, limit.shown_in)} by {product.brief or product.title}"
            found.append((UsableCores(min(count, cores), min(least, cores), text), limit))
    found.sort(key=lambda one: one[0].least)
    if not found or found[0][0].least >= cores:
        return None
    usable, limit = found[0]
    for source in limit.sources:
        sheet.cite_if_known(source.id)
    for caveat in limit.caveats:
        sheet.caveat(caveat)
    sheet.line(limit.verdict)
    return usable
