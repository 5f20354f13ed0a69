"""The cores and the memory of a server that the chosen edition of a database uses."""

from __future__ import annotations

from msgspec import Struct

from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.licensing.contract import chosen_pack, chosen_product
from sizeup.sizing.licensing.limits import THREADS, product_limits
from sizeup.sizing.pack import LimitEntry, ProductEntry
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
    threads_unknown: bool = False
    """The edition uses a number of threads, and nobody knows how many a core has."""


class UsableMemory(Struct, frozen=True):
    """What the edition uses of the memory of one server."""

    size: Quantity
    with_sessions: bool
    """The private memory of sessions counts within it, too."""
    product: str
    """``SQL Server Standard``."""


def usable_cores(sheet: Sheet, cores: float) -> UsableCores | None:
    """Return the cores that the chosen edition uses; None where nobody chose one, or where it uses all of them.

    Of an edition whose limits differ by version, those of the chosen one count, else of the latest.
    """
    found = []
    for limit, _, product in _limits_of_chosen(sheet):
        if limit.quantity is None:
            continue
        counts_threads = limit.shown_in in _OF_THREADS
        if counts_threads or limit.shown_in == "cores":
            count = limit.quantity.value / base_unit(limit.shown_in)[1]
            each = sheet.optional(THREADS) if counts_threads else None
            most, least = min(count, cores), min(count if each is None else count / each.value, cores)
            text = f"{format_in(count, limit.shown_in)} by {product.brief or product.title}"
            if least < most:
                text += f" on {format_in(least, '')} to {format_in(most, 'cores')}"
            unknown = limit.shown_in == "threads" and THREADS not in sheet.inputs
            found.append((UsableCores(most, least, text, unknown), limit))
    found.sort(key=lambda one: one[0].least)
    if not found or found[0][0].least >= cores:
        return None
    usable, limit = found[0]
    _note(sheet, limit)
    return usable


def usable_memory(sheet: Sheet, memory: Quantity) -> UsableMemory | None:
    """Return the memory that the chosen edition uses; None where nobody chose one, or where it uses all of it."""
    for limit, entry, product in _limits_of_chosen(sheet):
        size = limit.quantity
        if size is not None and entry.of == "memory_gib" and size.value < memory.value:
            _note(sheet, limit)
            return UsableMemory(size, entry.with_sessions, product.brief or product.title)
    return None


def _limits_of_chosen(sheet: Sheet) -> list[tuple[Advice, LimitEntry, ProductEntry]]:
    """Return the limits of the edition that somebody chose, with their rules; none where nobody did."""
    name = sheet.inputs.get("license.product")
    if not isinstance(name, Words) or name.origin is Origin.RULE:
        return []
    judge = Sheet(sheet.inputs, sheet.rules)
    try:
        pack = chosen_pack(judge)
        product = chosen_product(judge, pack)
        limits = list(product_limits(judge, pack, product))
    except MissingError:
        return []
    rules = {f"license.limit.{limit.id}": limit for limit in pack.limit}
    return [(limit, rules[limit.id], product) for limit in limits]


def _note(sheet: Sheet, limit: Advice) -> None:
    """Write down what a limit says, with its sources and caveats."""
    for source in limit.sources:
        sheet.cite_if_known(source.id)
    for caveat in limit.caveats:
        sheet.caveat(caveat)
    sheet.line(limit.verdict)
