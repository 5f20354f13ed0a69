"""All calculations over one set of inputs: the entry points of sizing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.model.advice import Advice, Card
from sizeup.model.machine import Machine
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing import claims, cpu, flash, memory, memory_share, redo, rules, scan, value
from sizeup.sizing.cards import resource_cards
from sizeup.sizing.inputs.detected import detected
from sizeup.sizing.io import array, capacity, demand, response, share, transfer_cost
from sizeup.sizing.keys import KEYS, UnusedMeasurement, Value
from sizeup.sizing.licensing import alternatives, cost, count, limits, required
from sizeup.sizing.rules import Rules
from sizeup.sizing.sheet import Calculation, Inputs, MissingError, MissingInput, Sheet

CALCULATIONS: tuple[Calculation, ...] = (
    *share.CALCULATIONS,
    *cpu.CALCULATIONS,
    *memory_share.CALCULATIONS,
    *demand.CALCULATIONS,
    *capacity.CALCULATIONS,
    *transfer_cost.CALCULATIONS,
    *array.CALCULATIONS,
    *response.CALCULATIONS,
    *redo.CALCULATIONS,
    *memory.CALCULATIONS,
    *flash.CALCULATIONS,
    *scan.CALCULATIONS,
    *required.CALCULATIONS,
    *limits.CALCULATIONS,
    *cost.CALCULATIONS,
    *alternatives.CALCULATIONS,
    *value.CALCULATIONS,
    *claims.CALCULATIONS,
)
"""In the order of the page."""

HEADLINE = "io.demand.headline"
"""The advice that a one-line summary shows."""

SUMMARY = (
    "verdict.storage",
    "verdict.cpu",
    "verdict.memory",
    HEADLINE,
    "io.capacity",
    "redo.sync-write",
    "memory.huge-pages",
    "flash.use",
    "license.units",
    "license.allowed",
    "license.cost.term",
    "value.per-license",
)
"""The advice whose verdicts are read first."""


class Sizing(Struct, frozen=True):
    """All advice that the inputs allow, and the inputs that are missing for more."""

    inputs: Inputs
    advice: tuple[Advice, ...]
    questions: tuple[MissingInput, ...] = ()
    warnings: tuple[str, ...] = ()
    cards: tuple[Card, ...] = ()
    """One for each resource, worst first."""

    def find(self, advice_id: str) -> Advice | None:
        """The advice of that id; None where it could not be given."""
        return next((advice for advice in self.advice if advice.id == advice_id), None)


def size(inputs: Inputs, pack: Rules | None = None, today: date | None = None) -> Sizing:
    """Every calculation that these inputs allow; ``today`` (none: unchecked) judges the age of the rules."""
    try:
        return _sized(inputs, rules.shipped() if pack is None else pack, today)
    except (OverflowError, ValueError) as error:
        raise UsageError(
            f"the result is too large for a number: {error}. Check the figures given with --set"
        ) from error


def _sized(inputs: Inputs, rule_set: Rules, today: date | None) -> Sizing:
    known = _completed({**_defaults(rule_set), **inputs})
    advice: list[Advice] = []
    judged: list[Card] = []
    questions: dict[str, MissingInput] = {}
    for calculation in CALCULATIONS:
        sheet = Sheet(known, rule_set)
        try:
            for answer in calculation.work(sheet):
                advice.append(answer)  # noqa: PERF402  what came before a missing input is kept
        except MissingError as missing:
            measured = known.get(missing.key)
            unused = measured if isinstance(measured, UnusedMeasurement) else None
            if calculation.asks or unused is not None or _mentioned(known, calculation):
                questions.setdefault(missing.key, MissingInput(missing.key, calculation.name, unused))
        judged += sheet.cards
    warnings = () if today is None else rule_set.warnings(today)
    cards = resource_cards(known, advice, judged)
    return Sizing(known, tuple(advice), tuple(questions.values()), warnings, cards)


def answer(inputs: Inputs, advice_id: str, pack: Rules) -> Advice | None:
    """One answer alone, where it is wanted again and again; None where it cannot be given."""
    known = _completed({**_defaults(pack), **inputs})
    for calculation in CALCULATIONS:
        if advice_id.startswith(calculation.gives):
            try:
                for advice in calculation.work(Sheet(known, pack)):
                    if advice.id == advice_id:
                        return advice
            except MissingError:
                continue
    return None


def described(machine: Machine, overrides: Mapping[str, Value]) -> Inputs:
    """Return the detected inputs with the user's in their place.

    A user who sets the cores describes another machine: whether this one is a guest does not matter for it.
    """
    device = overrides.get("db.device")
    found = detected(machine, device.value if isinstance(device, Words) else None)
    found = {key: value for key, value in found.items() if key not in KEYS or KEYS[key].admits(value)}
    if _CORES & set(overrides):
        guest = found.get("machine.guest")
        if isinstance(guest, Words) and guest.value == "yes":
            del found["machine.guest"]
        found |= {
            key: replace(value, caveats=())
            for key in (*_CORES, "machine.threads_per_core")
            if isinstance(value := found.get(key), Quantity)
        }
    return {**found, **overrides}


_CORES = frozenset({"machine.cores", "machine.cores_per_socket", "machine.sockets"})
"""Keys that say how many cores there are."""


@cache
def _defaults(rule_set: Rules) -> Inputs:
    """Return the defaults of the packs."""
    return {
        default.key: KEYS[default.key].parse(str(default.value), Origin.RULE, default.source)
        for pack in rule_set.packs
        for default in pack.default
    }


def _completed(inputs: Inputs) -> Inputs:
    """Inputs with the cores of the whole machine worked out from sockets and cores per socket.

    A user who changes either of these on a detected machine means another machine; ``machine.cores`` set along
    with them must agree.
    """
    sockets, each, total = (inputs.get(f"machine.{name}") for name in ("sockets", "cores_per_socket", "cores"))
    if not isinstance(sockets, Quantity) or not isinstance(each, Quantity):
        return inputs
    product = sockets.value * each.value
    if isinstance(total, Quantity) and total.origin is not Origin.DETECTED:
        if each.origin is not Origin.DETECTED and total.value != product:
            raise UsageError(
                f"{total.source}: machine.cores: expected machine.sockets x machine.cores_per_socket = {product:g}, "
                f"found {total.value:g}; machine.cores counts all sockets together"
            )
        return inputs
    origin = each.origin if sockets.origin is Origin.DETECTED else sockets.origin
    cores = replace(each, value=product, origin=origin, source=count.CORES_PRODUCT)
    return {**inputs, "machine.cores": cores}


def _mentioned(inputs: Inputs, calculation: Calculation) -> bool:
    """Whether the user, a preset or a workload file set a key of this calculation."""
    stated = (Origin.USER, Origin.PRESET, Origin.IMPORTED)
    return any(
        isinstance(value, Quantity) and value.origin in stated
        for key, value in inputs.items()
        if key.startswith(calculation.about)
    )
