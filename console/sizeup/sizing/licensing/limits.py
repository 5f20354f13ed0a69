"""What a product's license permits of a machine: whether it may be used there, and how much of it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.advice import Advice
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.contract import (
    PARTITION,
    PRODUCT,
    SCOPE,
    CountBasis,
    architecture,
    chosen_contract,
    chosen_metric,
    chosen_version,
    count_basis,
)
from sizeup.sizing.licensing.cost import a_year, list_price
from sizeup.sizing.licensing.count import NAMES, FormulaNames, count_range, evaluated, usd_range
from sizeup.sizing.licensing.required import licenses_required, permission
from sizeup.sizing.pack import LimitEntry, Pack, ProductEntry, short
from sizeup.sizing.sheet import Calculation, MissingError, Sheet
from sizeup.units import base_unit, format_in

_MEMORY = "machine.memory_gib"
_LARGE = 2.0**80
"""More memory than any limit, in bytes."""
THREADS = "machine.threads_per_core"
"""Key of the threads of a core, of which there is at least one."""


class LimitUse(Struct, frozen=True):
    """What a product uses of a machine by one of its limits."""

    product: str
    """Its name for narrow places: ``SQL Server Standard``."""
    entry: LimitEntry
    size: Quantity
    """What it uses."""
    usable: float
    """The same in the unit of the limit, as all that the machine has."""
    present: float
    clause: str
    """``threads that one database uses: 16 threads of 64 threads``."""
    has: str
    """What the machine has: ``64 threads``, or ``at least 64 threads``."""
    perhaps: bool
    """Whether it may have no more than the product uses."""
    advice: Advice

    @property
    def is_exceeded(self) -> bool:
        """Whether the machine has, or may have, more than the product uses."""
        return self.present > self.usable


def _allowed(sheet: Sheet) -> Iterator[Advice]:
    pack, product = chosen_contract(sheet)
    found = permission(sheet, pack, product)
    if not found.why:
        return
    sheet.facts.append(found)
    verdict = found.refusal
    if found.decision != "forbidden":
        assumed = found.decision == "assumed"
        verdict = f"{found.product} is {'assumed to be ' if assumed else ''}permitted on this {found.place}: "
        verdict += found.condition
    yield sheet.advice("license.allowed", f"License terms of {product.title}", verdict, decision=found.decision)


def _limits(sheet: Sheet) -> Iterator[Advice]:
    pack, product = chosen_contract(sheet)
    for use in product_limits(sheet, pack, product):
        sheet.facts.append(use)
        yield use.advice
    yield from open_limits(sheet, pack, product)


def product_limits(sheet: Sheet, pack: Pack, product: ProductEntry) -> Iterator[LimitUse]:
    """What a product uses of a machine, for each of its limits whose inputs are known."""
    basis = count_basis(sheet, pack, chosen_metric(sheet, pack, product))
    visible, version = replace(basis, visible=True), chosen_version(Sheet(sheet.inputs, sheet.rules), pack, product)
    fewest, fullest = (
        Sheet({**sheet.inputs, THREADS: Quantity(each, "1", Origin.RULE, "threads of a core")}, sheet.rules)
        for each in (1, most_threads(Sheet(sheet.inputs, sheet.rules)))
    )
    for limit in pack.limit:
        ours = limit.product == short(product.id) and limit.version in ("", version)
        if not ours or (limit.scopes and basis.scope not in limit.scopes):
            continue
        if _is_known(sheet, visible, limit):
            yield _limit(sheet, visible, limit, product)
        elif limit.unit == "threads" and THREADS not in sheet.inputs and _is_known(fewest, visible, limit):
            use = _limit(fewest, visible, limit, product, at_least=_AT_LEAST)
            if not use.is_exceeded:  # by the cores alone
                few = f"{format_in(use.present, '')} to "
                use = _limit(fullest, visible, limit, product, at_least=few)
            if use.is_exceeded:
                yield use


def open_limits(sheet: Sheet, pack: Pack, product: ProductEntry) -> Iterator[Advice]:
    """Yield the limits of a product on memory where the memory of the server is unknown."""
    if _MEMORY in sheet.inputs:
        return
    basis = replace(count_basis(sheet, pack, chosen_metric(sheet, pack, product)), visible=True)
    version = chosen_version(sheet, pack, product)
    any_size = Sheet({**sheet.inputs, _MEMORY: Quantity(_LARGE, "B", Origin.RULE, "any")}, sheet.rules)
    for limit in pack.limit:
        if limit.product == short(product.id) and limit.of == "memory_gib" and limit.version in ("", version):
            most = sheet.rules.formula(limit.formula).evaluate(FormulaNames(any_size, basis))
            size = format_in(most * base_unit(limit.unit)[1], limit.unit)
            sheet.cite(limit.source)
            verdict = f"{limit.title}: at most {size}; the memory of the server is unknown ({KEYS[_MEMORY].flag})"
            yield sheet.advice(f"license.limit.{limit.id}", limit.title, verdict, decision="unknown")


def _is_known(sheet: Sheet, basis: CountBasis, limit: LimitEntry) -> bool:
    """Whether the inputs of this limit are known."""
    trial = Sheet(sheet.inputs, sheet.rules)
    try:
        for text in (limit.of, limit.formula):
            evaluated(trial, basis, sheet.rules.formula(text), "", limit.unit)
    except MissingError:
        return False
    return True


def _limit(
    sheet: Sheet, basis: CountBasis, limit: LimitEntry, product: ProductEntry, *, at_least: str = ""
) -> LimitUse:
    perhaps = at_least not in ("", _AT_LEAST)  # the most that it may have follows
    sheet.cite(limit.source)
    if limit.version:
        chosen_version(sheet, basis.pack, product)
    if limit.note:
        sheet.caveat(limit.note)
    usable, _, _ = evaluated(sheet, basis, sheet.rules.formula(limit.formula), "usable", limit.unit)
    present, _, _ = evaluated(sheet, basis, sheet.rules.formula(limit.of), "present", limit.unit)
    exceeded = present > usable
    scale = base_unit(limit.unit)[1]
    has = f"{at_least}{format_in(present * scale, limit.unit)}"
    verdict = clause = f"{limit.title}: {format_in(usable * scale, limit.unit)} of {has}"
    if exceeded:
        rest = format_in((present - usable) * scale, limit.unit)
        verdict += f"; perhaps {rest}" if perhaps else f"; {at_least}{rest}"
        verdict += f" remain unused{f' ({KEYS[THREADS].flag})' if perhaps else ''}"
        verdict += _smaller(sheet, limit, usable, product)
    quantity, decision = sheet.answer(usable * scale, limit.unit, limit.id), "exceeded" if exceeded else "fits"
    decision = "unknown" if perhaps else decision
    advice = sheet.advice(f"license.limit.{limit.id}", limit.title, verdict, quantity, limit.unit, decision=decision)
    return LimitUse(product.brief or product.title, limit, quantity, usable, present, clause, has, perhaps, advice)


def _smaller(sheet: Sheet, limit: LimitEntry, usable: float, product: ProductEntry) -> str:
    """What the licenses of a machine that is no larger than the limit cost; empty where they cost as much."""
    if limit.of not in ("cores", "vcpus"):
        return ""
    kept = {key: value for key, value in sheet.inputs.items() if key != "machine.cores_per_socket"}
    kept[NAMES[limit.of]] = Quantity(usable, "1", Origin.USER, f"limit of {limit.id}")
    text = ""
    small, present = Sheet(kept, sheet.rules), Sheet(sheet.inputs, sheet.rules)
    try:
        (fewer, metric, _), (count, _, _) = licenses_required(small), licenses_required(present)
        if fewer.value >= count.value:
            return ""
        text += f". {format_in(usable, limit.unit)} require {count_range(fewer, metric.unit)}"
        text += f" in place of {count_range(count, '')}"
        less, price = list_price(small), list_price(present)
    except MissingError as missing:
        return text if missing.key == "license.list_usd" else ""
    if not price.value:
        return ""
    return f"{text}, {usd_range(less)} in place of {usd_range(price)}{a_year(product)}"


_AT_LEAST = "at least "
_MOST_THREADS = 8.0
"""Threads of a core of an unknown processor: the most of those that are sold (POWER, SPARC)."""


def most_threads(sheet: Sheet) -> float:
    """Return the threads of a core, else the most that its architecture has."""
    known, kind = sheet.optional(THREADS), architecture(sheet)
    if known is not None:
        return known.value
    return _MOST_THREADS if kind is None else kind.threads


def pinned_cores(sheet: Sheet) -> Quantity | None:
    """Return the cores that a hard partition or a capped LPAR has, the latter by its cap; None elsewhere."""
    limited = sheet.optional_words(SCOPE) == "hard" or sheet.optional_words(PARTITION) == "capped"
    return sheet.optional(NAMES["pinned_cores"]) if limited else None


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
    found = []
    for use in limits_of_chosen(sheet):
        unit = use.entry.unit
        counts_threads = unit in ("threads", "vCPUs")
        if counts_threads or unit == "cores":
            per_core = most_threads(sheet) if unit == "threads" or (counts_threads and THREADS in sheet.inputs) else 1.0
            most, least = min(use.usable, cores), min(use.usable / per_core, cores)
            text = f"{format_in(use.usable, unit)} by {use.product}"
            if least < most:
                text += f" on {format_in(least, '')} to {format_in(most, 'cores')}"
            found.append((UsableCores(most, least, text), use.advice))
    found.sort(key=lambda one: one[0].least)
    if not found or found[0][0].least >= cores:
        return None
    usable, limit = found[0]
    _note(sheet, limit)
    return usable


def usable_memory(sheet: Sheet, memory: Quantity) -> LimitUse | None:
    """Return the memory that the chosen edition uses; None where nobody chose one, or where it uses all of it."""
    for use in limits_of_chosen(sheet):
        if use.entry.of == "memory_gib" and use.size.value < memory.value:
            _note(sheet, use.advice)
            return use
    return None


def limits_of_chosen(sheet: Sheet) -> list[LimitUse]:
    """Return what the edition that somebody chose uses by its limits; none where nobody did."""
    name = sheet.inputs.get(PRODUCT)
    if not isinstance(name, Words) or name.origin is Origin.RULE:
        return []
    judge = Sheet(sheet.inputs, sheet.rules)
    try:
        return list(product_limits(judge, *chosen_contract(judge)))
    except MissingError:
        return []


def _note(sheet: Sheet, limit: Advice) -> None:
    """Write down what a limit says, with its sources and caveats."""
    for source in limit.sources:
        sheet.cite_if_known(source.id)
    for caveat in limit.caveats:
        sheet.caveat(caveat)
    sheet.line(limit.verdict)


CALCULATIONS = (
    Calculation(
        "license terms of the product",
        _allowed,
        ("license.allowed",),
        about=("license.product",),
        nothing="nothing restricts this product here: no rule that is known forbids it or asks for something",
    ),
    Calculation("limits of the product", _limits, ("license.limit.",), about=("license.product",)),
)
