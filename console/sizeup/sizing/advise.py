"""All calculations over one set of inputs: the entry points of sizing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from functools import cache
from typing import NoReturn

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.model.advice import Advice, AdviceSet, Card, OpenQuestion
from sizeup.model.machine import Machine
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing import editions, flash, memory, redo, rules, server_share, value, workload
from sizeup.sizing.cards import resource_cards
from sizeup.sizing.input_value import UnusedMeasurement, Value
from sizeup.sizing.inputs.detected import detected, space_for, storage_of
from sizeup.sizing.io import array, capacity, response, share, transfer_cost
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing import cost, count, limits, required
from sizeup.sizing.licensing.cost import price_warnings
from sizeup.sizing.rules import Rules
from sizeup.sizing.sheet import Calculation, Inputs, MissingError, Sheet, open_question
from sizeup.sizing.storage_paths import find_target
from sizeup.text import capitalized
from sizeup.units import format_in

_MODULES = (
    *(share, server_share, workload, capacity, transfer_cost, array, response),
    *(redo, memory, flash, required, limits, cost, editions, value),
)
"""In the order of the page."""
CALCULATIONS: tuple[Calculation, ...] = tuple(one for module in _MODULES for one in module.CALCULATIONS)

HEADLINE = "io.demand.headline"
"""The advice that a one-line summary shows."""

SUMMARY = (
    "verdict.storage",
    "verdict.space",
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


class Sizing(AdviceSet, frozen=True, kw_only=True):
    """All advice that the inputs allow, with these inputs."""

    inputs: Inputs
    warnings: tuple[str, ...] = ()
    price_warnings: tuple[str, ...] = ()
    """Those of the warnings that are about prices."""
    facts: tuple[Struct, ...] = ()
    """What the calculations found, as values."""

    def recorded(self) -> AdviceSet:
        """Return the advice as a session records it, without the inputs: its machine and its steps hold them."""
        return AdviceSet(self.advice, self.questions, self.unused, self.rules, self.cards)


_STATED = (Origin.USER, Origin.PRESET, Origin.IMPORTED)


@contextmanager
def _numbers_that_fit() -> Iterator[None]:
    """Say what to do where the figures of a user lead to a number that is too large."""
    try:
        yield
    except (OverflowError, ValueError) as error:
        raise UsageError(
            f"the result is too large for a number: {error}. Check the figures that were entered"
        ) from error


@_numbers_that_fit()
def size(inputs: Inputs, pack: Rules | None = None, today: date | None = None) -> Sizing:
    """Every calculation that these inputs allow; ``today`` (none: unchecked) judges the age of the rules."""
    rule_set = rules.shipped() if pack is None else pack
    known = complete(inputs, rule_set)
    refuse_contradictions(known)
    advice: list[Advice] = []
    judged: list[Card] = []
    facts: list[Struct] = []
    questions: dict[str, OpenQuestion] = {}
    unused = {key: value for key, value in known.items() if isinstance(value, UnusedMeasurement)}
    for calculation in CALCULATIONS:
        sheet = Sheet(known, rule_set)
        try:
            for answer in calculation.work(sheet):
                advice.append(answer)  # noqa: PERF402  what came before a missing input is kept
        except MissingError as missing:
            stated = (value for key, value in known.items() if key.startswith(calculation.about))
            mentioned = any(isinstance(value, Quantity) and value.origin in _STATED for value in stated)
            if calculation.asks or missing.key in unused or mentioned:
                question = open_question(missing.key, calculation.name, unused.get(missing.key))
                questions.setdefault(missing.key, question)
        judged += sheet.cards
        facts += sheet.facts
    scope = known.get("workload.scope")
    partial = (
        "the report covers one instance of a cluster: give the reports of all of them together, or if it is the whole "
        "load, use --set workload.scope=whole"
    )
    warnings = (partial,) if isinstance(scope, Words) and scope.value == "instance" else ()
    prices: tuple[str, ...] = ()
    if today is not None:
        prices = tuple(price_warnings(known, rule_set, tuple(advice), today))
        warnings = (*warnings, *prices, *rule_set.warnings(today))
    return Sizing(
        advice=tuple(advice),
        questions=tuple(questions.values()),
        unused={key: value.sentence(KEYS[key].unit) for key, value in unused.items()},
        rules={pack.pack: pack.checked.isoformat() for pack in rule_set.packs},
        cards=resource_cards(known, advice, judged, facts),
        inputs=known,
        warnings=warnings,
        price_warnings=prices,
        facts=tuple(facts),
    )


def answer(inputs: Inputs, advice_id: str, pack: Rules) -> Advice | None:
    """One answer alone, where it is wanted again and again; None where it cannot be given."""
    known = complete(inputs, pack)
    for calculation in CALCULATIONS:
        if advice_id.startswith(calculation.gives):
            try:
                for advice in calculation.work(Sheet(known, pack)):
                    if advice.id == advice_id:
                        return advice
            except MissingError:
                continue
    return None


def unanswered(inputs: Inputs, advice_id: str, pack: Rules) -> list[str]:
    """Return that there is nothing to know of an answer, as its lines; none where it is given, or an input is missing.

    An input that is missing is an error, which names its flag where nothing else asks for it.
    """
    known = next((one for one in CALCULATIONS if advice_id in one.gives and one.nothing), None)
    if known is None:
        return []
    try:
        given = [advice.id for advice in known.work(Sheet(inputs, pack))]
    except MissingError as missing:
        key = KEYS[missing.key]
        raise UsageError(
            f"--show {advice_id}: expected {key.name} ({key.help}), found none: use {key.flag}"
        ) from missing
    return [] if advice_id in given else [capitalized(known.name), f"  {capitalized(known.nothing)}"]


def described(machine: Machine, overrides: Mapping[str, Value]) -> Inputs:
    """Return the detected inputs with the user's in their place.

    A user who sets the cores describes another machine: whether this one is a guest does not matter for it.
    """
    device = overrides.get("db.device")
    machine = storage_of(machine, overrides)
    stated = overrides.get("machine.guest")
    bare = isinstance(stated, Words) and stated.value == "no"
    found = detected(machine, device.value if isinstance(device, Words) else None, bare=bare)
    measured_on = overrides.get("path.measured")
    if device is None and isinstance(measured_on, Words) and find_target(machine, measured_on.value) is not None:
        found |= space_for(machine, measured_on.value)
    found = {key: value for key, value in found.items() if key not in KEYS or KEYS[key].admits(value)}
    if _CORES & set(overrides):
        for key in _OF_PARTITIONS:
            found.pop(key, None)
        guest = found.get("machine.guest")
        if isinstance(guest, Words) and guest.value == "yes":
            del found["machine.guest"]
            found.pop("machine.hypervisor", None)
    if _CORES & set(overrides):  # whoever says how many cores there are answers what the caveats ask
        found |= {
            key: replace(value, caveats=())
            for key in (*_CORES, "machine.threads_per_core")
            if isinstance(value := found.get(key), Quantity)
        }
    if "license.partition" in overrides:
        found.pop("license.pinned_cores", None)
    return {**found, **overrides}


_OF_PARTITIONS = ("license.partition", "license.pinned_cores", "machine.server_cores")
"""Keys about the partition that this machine is."""
_CORES = frozenset({"machine.cores", "machine.cores_per_socket", "machine.sockets"})
"""Keys that say how many cores there are."""


def complete(inputs: Inputs, rule_set: Rules) -> Inputs:
    """Return the inputs with the defaults of the rules, the cores of all sockets and the mix of reads and writes."""
    known = {**_defaults(rule_set), **inputs}
    horizon, term = known.get("workload.horizon_years"), known["license.term_years"]
    if isinstance(horizon, Quantity) and isinstance(term, Quantity) and term.origin is Origin.RULE and horizon.value:
        years = math.ceil(horizon.value / workload.YEAR_NS) * workload.YEAR_NS  # what is planned for is paid for
        known["license.term_years"] = replace(term, value=years, source="workload.horizon_years")
    share, reads, writes = (known.get(f"workload.{name}") for name in ("read_percent", "read_iops", "write_iops"))
    default = share if isinstance(share, Quantity) and share.origin is Origin.RULE else None
    if default is not None and isinstance(reads, Quantity) and isinstance(writes, Quantity):
        both = reads.value + writes.value
        found = Quantity(reads.value / both if both else default.value, default.unit, reads.origin, reads.source)
        known |= {"workload.read_percent": found} if both else {}
    return {**known, **_total_cores(known)}


@cache
def _defaults(rule_set: Rules) -> Inputs:
    """Return the defaults of the packs."""
    return {
        default.key: KEYS[default.key].parse(str(default.value), Origin.RULE, default.source)
        for pack in rule_set.packs
        for default in pack.default
    }


def _total_cores(inputs: Inputs) -> Inputs:
    """Return the cores of the whole machine, worked out from sockets and cores per socket; nothing where they are set.

    A user who changes either of these on a detected machine means another machine; ``machine.cores`` set along
    with them must agree. The cores of a guest or of an instance of a cloud are those of its virtual CPUs.
    """
    sockets, each, total = (inputs.get(f"machine.{name}") for name in ("sockets", "cores_per_socket", "cores"))
    if not isinstance(sockets, Quantity) or not isinstance(each, Quantity):
        shared = _virtual_cores(inputs)
        return {} if shared is None or total is not None else {"machine.cores": shared}
    product = sockets.value * each.value
    if isinstance(total, Quantity) and total.origin is not Origin.DETECTED:
        if each.origin is not Origin.DETECTED and total.value != product:
            wanted = f"machine.sockets x machine.cores_per_socket = {product:g}, found {total.value:g}"
            _refuse(total, "machine.cores", f"{wanted}; machine.cores counts all sockets together")
        return {}
    origin = each.origin if sockets.origin is Origin.DETECTED else sockets.origin
    return {"machine.cores": replace(each.scaled(sockets.value), origin=origin, source=count.CORES_PRODUCT)}


def is_virtual(inputs: Inputs) -> bool:
    """Return whether the inputs are those of a virtual machine, or of an instance of a cloud."""
    guest, scope = (inputs.get(key) for key in ("machine.guest", "license.scope"))
    return (isinstance(guest, Words) and guest.value == "yes") or (isinstance(scope, Words) and scope.value == "cloud")


def _virtual_cores(inputs: Inputs) -> Quantity | None:
    """Return the cores that the virtual CPUs of a guest or of an instance share; None where one is unknown."""
    vcpus, threads = inputs.get("machine.vcpus"), inputs.get("machine.threads_per_core")
    if not isinstance(vcpus, Quantity) or not isinstance(threads, Quantity) or not is_virtual(inputs):
        return None
    origin = vcpus.origin if threads.origin is not Origin.DETECTED else threads.origin
    cores = vcpus.scaled(1 / threads.value)
    return replace(cores, origin=origin, source="machine.vcpus / machine.threads_per_core")


_SECTOR_BYTES = 512
"""No request for data is smaller."""


def refuse_contradictions(inputs: Inputs) -> None:
    """Raise UsageError where figures that somebody stated cannot be true together."""
    found = {key: value for key, value in inputs.items() if isinstance(value, Quantity)}
    raid, disks = inputs.get("array.raid"), found.get("array.disks")
    if isinstance(raid, Words) and disks is not None:
        fewest, level = array.FEWEST_DRIVES[raid.value], f"with array.raid={raid.value}, found {disks.value:g}"
        if disks.value < fewest:
            _refuse(disks, "array.disks", f"{fewest} or more {level}")
        if raid.value in ("1", "10") and disks.value % 2 and disks.origin is not Origin.DETECTED:
            _refuse(disks, "array.disks", f"an even number of drives, which are pairs, {level}")
    sockets, cores = found.get("machine.sockets"), found.get("machine.cores")
    if sockets is not None and cores is not None and sockets.value > cores.value:
        stated = cores if sockets.origin is Origin.DETECTED else sockets
        most = f"at most machine.cores = {cores.value:g}, found {sockets.value:g}; a socket has a core at least"
        _refuse(stated, "machine.sockets", most)
    if cores is not None and sockets is not None:
        _refuse_cores(cores, sockets, inputs.get("machine.cpu_model"))
    vcpus, guest = found.get("machine.vcpus"), inputs.get("machine.guest")
    is_guest = isinstance(guest, Words) and guest.value == "yes"
    counts = "license.scope" in inputs or is_guest  # the host has the cores
    typed = vcpus is not None and vcpus.origin is not Origin.DETECTED and not counts
    if typed and vcpus and cores and cores.origin is not Origin.DETECTED and vcpus.value < cores.value:
        least = f"at least machine.cores = {cores.value:g}, found {vcpus.value:g}"
        _refuse(vcpus, "machine.vcpus", f"{least}; a core is a virtual CPU at least. Leave out one of them")
    shared = None if is_guest else _virtual_cores(inputs)
    if (
        cores
        and shared
        and Origin.DETECTED not in (cores.origin, shared.origin)
        and abs(cores.value - shared.value) >= 1
    ):
        wanted = f"{shared.source} = {shared.value:g}, found {cores.value:g}"
        _refuse(cores, "machine.cores", f"{wanted}; leave out one of them")
    key = "license.host_sockets" if is_guest else "machine.sockets"
    capacity, occupied = found.get("machine.socket_capacity"), found.get(key)
    # Detected sockets are real where it is known that this is no guest.
    is_real = isinstance(guest, Words) or (occupied is not None and occupied.origin is not Origin.DETECTED)
    if capacity is not None and occupied is not None and is_real and capacity.value < occupied.least:
        least = f"at least {key} = {occupied.least:g}, found {capacity.value:g}"
        why = "occupied sockets are among those that the server is built for"
        _refuse(capacity, "machine.socket_capacity", f"{least}; {why}")
    whole, streams = found.get("workload.mb_s"), found.get("workload.sequential_mb_s")
    if whole and streams and whole.origin is streams.origin and streams.value > 1.01 * whole.value:
        most = f"at most workload.mb_s = {format_in(whole.value, 'MB/s')}, of which it is a part"
        _refuse(streams, "workload.sequential_mb_s", f"{most}, found {format_in(streams.value, 'MB/s')}")
    for key in ("workload.iops", "workload.read_iops", "workload.write_iops"):
        part = found.get(key)
        if whole is None or part is None or part.origin is not whole.origin:
            continue
        # A tool's figures have ends, and not all of its requests move data.
        if whole.low is None and part.low is None and whole.value < (bytes_s := part.value * _SECTOR_BYTES):
            least = f"at least {format_in(bytes_s, 'MB/s')}, a sector for each of {key} = {part.value:g}"
            _refuse(whole, "workload.mb_s", f"{least}, found {format_in(whole.value, 'MB/s')}; leave out one of them")
    both = found.get("workload.iops")
    if both is not None and both.origin in (Origin.USER, Origin.IMPORTED):
        _refuse_requests(both, {key: one for key, one in found.items() if one.origin is both.origin})


def _refuse(stated: Quantity, key: str, expected: str) -> NoReturn:
    """Raise UsageError about a figure; ``expected`` ends with what was found and what to do."""
    raise UsageError(f"{stated.source}: {key}: expected {expected}")


def _refuse_cores(cores: Quantity, sockets: Quantity, model: Value | None) -> None:
    """Raise UsageError where more cores are stated than the name of the processor says, as AMD's do: ``96-Core``."""
    if not isinstance(model, Words) or Origin.DETECTED in (cores.origin, sockets.origin, model.origin):
        return
    named = re.search(r"\b(\d+)-Core\b", model.value)
    if named is not None and cores.value > (most := int(named[1]) * sockets.value):
        processors = f"{sockets.value:g} of {named[0]} processors (machine.sockets)"
        _refuse(cores, "machine.cores", f"at most {most:g}, which are {processors}, found {cores.value:g}")


def _refuse_requests(both: Quantity, stated: Mapping[str, Quantity]) -> None:
    """Raise UsageError where the IOPS of a workload contradict their reads and writes, or the share of reads."""
    parts = [stated.get(f"workload.{one}_iops") for one in ("read", "write")]
    known = sum(part.value for part in parts if part is not None)
    if known > both.value * 1.01 or (None not in parts and known < both.value * 0.99):
        sum_of = f"the sum of workload.read_iops and workload.write_iops = {known:g}"
        _refuse(both, "workload.iops", f"{sum_of}, found {both.value:g}; leave out one of them")
    share = stated.get("workload.read_percent")
    for name, part in zip(("read", "write"), parts, strict=True):
        if share is None or part is None:
            continue
        expected = both.value * (share.value if name == "read" else 1 - share.value)
        if abs(part.value - expected) > both.value * 0.01:
            given = f"workload.iops = {both.value:g} and workload.read_percent = {share.value * 100:g}"
            wanted = f"{expected:g}, as {given}, found {part.value:g}; leave out one of them"
            _refuse(part, f"workload.{name}_iops", wanted)
