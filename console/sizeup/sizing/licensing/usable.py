"""The cores and the memory of a server that the chosen edition of a database uses."""

from __future__ import annotations

from msgspec import Struct

from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.licensing.contract import chosen_pack, chosen_product
from sizeup.sizing.licensing.limits import product_limits
from sizeup.sizing.pack import ProductEntry
from sizeup.sizing.sheet import MissingError, Sheet
from sizeup.units import base_unit, format_in

_OF_THREADS = ("threads", "vCPUs")
"""Units of limits that count hardware threads."""
_THREADS = "machine.threads_per_core"
_ONE = Quantity(1, "1", Origin.RULE, "a core has one thread at least")


class UsableCores(Struct, frozen=True):
    """What the edition uses of one server."""

    most: float
    """Cores, with one thread on each."""
    least: float
    """Cores, where the threads that the edition uses share cores; as many where it counts cores."""
    text: str
    """``16 threads by Oracle SE2``."""


class UsableMemory(Struct, frozen=True):
    """What the edition uses of the memory of one server."""

    size: Quantity
    text: str
    """``256 GiB by SQL Server Standard``."""


def usable_cores(sheet: Sheet, cores: float) -> UsableCores | None:
    """Return the cores that the chosen edition uses; None where nobody chose one, or where it uses all of them.

    Of an edition whose limits differ by version, those of the chosen one count, else of the latest. Where the threads
    of a core are unknown there is one at least.
    """
    found = []
    each = sheet.inputs.get(_THREADS)
    inputs = sheet.inputs if isinstance(each, Quantity) else {**sheet.inputs, _THREADS: _ONE}
    for product, limit in _limits_of_choice(Sheet(inputs, sheet.rules)):
        counts_threads = limit.shown_in in _OF_THREADS
        if counts_threads or limit.shown_in == "cores":
            assert limit.quantity is not None
            count = limit.quantity.value / base_unit(limit.shown_in)[1]
            threads = sheet.optional(_THREADS) if counts_threads else None
            least = count if threads is None else count / threads.value
            text = f"{format_in(count, limit.shown_in)} by {product.brief or product.title}"
            found.append((UsableCores(min(count, cores), min(least, cores), text), limit))
    found.sort(key=lambda one: one[0].least)
    if not found or found[0][0].least >= cores:
        return None
    usable, limit = found[0]
    _explain(sheet, limit)
    return usable


def usable_memory(sheet: Sheet, memory: Quantity) -> UsableMemory | None:
    """Return the shared memory that the chosen edition uses; None where nobody chose one, or where it uses all."""
    found = []
    for product, limit in _limits_of_choice(Sheet(sheet.inputs, sheet.rules)):
        size = limit.quantity
        if size is not None and size.unit == memory.unit and size.value < memory.value:
            text = f"{format_in(size.value, limit.shown_in)} by {product.brief or product.title}"
            found.append((UsableMemory(size, text), limit))
    if not found:
        return None
    usable, limit = min(found, key=lambda one: one[0].size.value)
    _explain(sheet, limit)
    return usable


def _limits_of_choice(judge: Sheet) -> list[tuple[ProductEntry, Advice]]:
    """Return the limits of the edition that somebody chose, each with its figure; none where nobody did."""
    name = judge.inputs.get("license.product")
    if not isinstance(name, Words) or name.origin is Origin.RULE:
        return []
    try:
        pack = chosen_pack(judge)
        product = chosen_product(judge, pack)
        limits = list(product_limits(judge, pack, product))
    except MissingError:
        return []
    return [(product, limit) for limit in limits if limit.quantity is not None]


def _explain(sheet: Sheet, limit: Advice) -> None:
    """Take over where a limit is from, its caveats and its working."""
    for source in limit.sources:
        sheet.cite_if_known(source.id)
    for caveat in limit.caveats:
        sheet.caveat(caveat)
    sheet.line(limit.verdict)
