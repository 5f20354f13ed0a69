"""The smallest machine for a workload: for each part the fewest units with which its resource passes.

A search over the calculations that judge a machine: what is found passes, and one unit less of it does not.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping
from functools import cache

from msgspec import Struct
from msgspec.structs import astuple, replace

from sizeup.errors import UsageError
from sizeup.model.advice import Card
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing.advise import CALCULATIONS, complete, is_virtual, refuse_contradictions
from sizeup.sizing.editions import PERHAPS, USERS, lacks_users, too_small
from sizeup.sizing.input_value import Value
from sizeup.sizing.inputs.imported import FILE_KEYS
from sizeup.sizing.io.array import FEWEST_DRIVES
from sizeup.sizing.io.capacity import stated_stages
from sizeup.sizing.keys import KEYS, parse_settings
from sizeup.sizing.licensing.contract import SCOPE, chosen_contract, chosen_options, is_chosen, with_product
from sizeup.sizing.licensing.cost import left_out_option, term_cost
from sizeup.sizing.licensing.count import OF_HOST
from sizeup.sizing.licensing.limits import THREADS, limits_of_chosen, pinned_cores
from sizeup.sizing.licensing.required import CAPACITY, ForbiddenError, require_permission
from sizeup.sizing.pack import short
from sizeup.sizing.rules import Rules
from sizeup.sizing.server_share import PRESENT_PROCESSOR
from sizeup.sizing.sheet import Inputs, MissingError, Sheet, in_unit
from sizeup.sizing.verdict import ShareStatus, demand_text, limits
from sizeup.sizing.workload import STORAGE_KEYS
from sizeup.units import format_in

DRIVES, PORTS, CORES, MEMORY = "array.disks", "path.stages", "machine.cores", "machine.memory_gib"
"""The parts, by the key that counts each; ports are those of the one stage that ``path.stages`` names."""
WHEN = ("today", "failure", "last-year", "failure-last-year")
"""What a part must pass: today at the pass limit, the others at the limit above which a resource fails."""
_WITHOUT_LOSS = {"failure": "today", "failure-last-year": "last-year"}
"""When a resource that a failure takes nothing of must pass."""
DRIVE_GB = {
    "hdd-7k2": 8000, "hdd-10k": 1800, "hdd-15k": 900,
    "ssd-sata": 3840, "nvme-pcie3": 3840, "nvme-pcie4": 3840, "nvme-pcie5": 3840,
}  # fmt: skip
"""A usual size of each kind, where ``array.disk_gb`` is not given."""
_DEFAULTS = {"array.drive": "nvme-pcie4", "array.raid": "10", "path.policy": "active-active", "machine.sockets": "1"}
"""What is bought where nobody says it; the speed of the cores is that of the present server."""
_MOST = {DRIVES: 4096, PORTS: 1024, CORES: 65536, MEMORY: 1 << 20}
"""Largest count that is tried, of memory in GiB."""
SHARED = "hba:fc32"
"""The ports to storage where nobody names them; NVMe drives of a single server are inside it, and need none."""
MODULE_GIB = 16
"""The unit of memory."""
_RESOURCES = {DRIVES: ("storage", "space"), PORTS: ("storage",), CORES: ("cpu",), MEMORY: ("memory",)}
_NEEDS = {
    DRIVES: ("workload.iops", "db.gb"), PORTS: ("workload.iops",), CORES: ("workload.cpu_cores",), MEMORY: ("sga.mb",),
}  # fmt: skip
"""The keys that give a part its demand."""
_OF_UNIT = {"GB": "db.gb", "cores": "workload.cpu_cores", "GiB": "sga.mb"}
"""The key of a demand by its unit, where that is of one key alone."""
_PER_SOCKET = "machine.cores_per_socket"
_SOCKETS = "machine.sockets"
_VCPUS = "machine.vcpus"
_SPEED = ("workload.specrate_per_core", "machine.specrate_per_core")
_MODELS = ("workload.cpu_model", "machine.cpu_model")
_PASSED = (ShareStatus.PASS.value, ShareStatus.ASSUMED.value)


class UnmetError(UsageError):
    """No count of a part carries the demand."""

    def __init__(self, key: str, when: str, unit: str, why: str) -> None:
        after = {"today": "today", "last-year": "in the last year"}.get(when, "after any single failure")
        demand = _OF_UNIT.get(unit, f"the demand in {unit}" if unit else "the demand for certain")
        super().__init__(f"--design: {key}: no count carries {demand} {after}; {why}")


class DesignPart(Struct, frozen=True):
    """How many units of one part are needed."""

    key: str
    counts: Mapping[str, int]
    """The fewest that pass, by ``WHEN``; what does not apply is left out."""
    buy: int
    """The fewest that pass all of them."""
    limit: str
    """What does not pass with one unit less: ``IOPS``, ``MB/s``, ``GB``, ``cores``, ``GiB``; ``least`` for nothing.

    ``outage`` where a failure then leaves nothing, ``page-cache`` where PostgreSQL then has less of it than advised.
    """
    when: str
    """When that is, one of ``WHEN``; empty for nothing."""
    step: int = 1
    """The unit that is bought."""
    rests: tuple[str, ...] = ()
    """Defaults with which it passes and might not at their ends, a clause each."""


class Alternative(Struct, frozen=True):
    """The same workload on another machine."""

    changed: Mapping[str, str]
    """The inputs that differ from the design; empty for the design itself."""
    buy: Mapping[str, int]
    """By part; a part that no count satisfies is left out."""
    cost: Quantity | None = None
    """Licenses and their support over the term, USD; None where unknown."""
    permitted: bool = True
    unmet: Mapping[str, str] = {}
    """The parts of which no count is enough, each with the limit of the edition that is why, where one is."""
    rests: tuple[str, ...] = ()
    """As of a part."""
    single_threaded: int | None = None
    """Cores with which the edition passes with one thread on each, where none passes otherwise."""
    left_out: str = ""
    """The option of clusters that the listed ones leave out, and what it costs; empty where none is."""
    cluster_option: str = ""
    """The option of clusters that the cost includes; empty for none."""
    missing: str = ""
    """The key without which the licenses of the cores as designed are unknown; empty where none is missing."""
    small_hosts: str = ""
    """That the hosts which are licensed have fewer cores than the guest; empty where they have as many."""


class Design(Struct, frozen=True):
    """What to buy for a workload."""

    inputs: Inputs
    """Workload and machine as designed."""
    parts: tuple[DesignPart, ...]
    undesigned: Mapping[str, tuple[str, ...]]
    """Parts without a demand, each with the keys of which one gives it."""
    assumed: Mapping[str, str]
    """What nobody chose, by key."""
    alternatives: tuple[Alternative, ...]
    replaced: tuple[str, ...]
    """Keys that were given and are not used, as they are what is designed."""
    upper_ends: Mapping[str, Quantity] = {}
    """The demands that are stated as ranges, at the ends for which is bought."""


def design(workload: Inputs, rules: Rules) -> Design:
    """Return the smallest machine for a workload; raise UsageError where no count of a part is enough.

    What the inputs say of kinds (drive, RAID level, link, speed of a core, servers) is kept.
    """
    refuse_contradictions(complete(workload, rules))
    base, assumed = _base(workload, rules)
    highest = _upper_ends(base)
    ranges = {key: base[key] for key in highest}
    base |= highest
    found = _parts(base, rules)
    for key, error in found.unmet.items():
        if not _limits(found.inputs, key, rules):
            raise error
    designed = {part.key for part in found.parts} | found.unmet.keys()
    others = tuple(_alternative(base, one, rules) for one in _changes(base, designed))
    of_cores = [] if _names_processor(workload) else [_PER_SOCKET]
    of_cores += [_SOCKETS] if _processor_cores(workload) and not _states_sockets(workload) else []
    of_cores += [_VCPUS] if getattr(workload.get(_VCPUS), "origin", None) is Origin.USER else []  # detected: the cores
    given = [key for key in (DRIVES, CORES, *of_cores, MEMORY) if key in workload]
    given += [PORTS] if "*" in getattr(workload.get(PORTS), "value", "") else []
    alternatives = (_bought({}, found, rules), *others)
    inputs = {**found.inputs, **ranges}
    return Design(inputs, found.parts, found.undesigned, assumed, alternatives, tuple(given), highest)


_DEMANDS = (
    *STORAGE_KEYS, "redo.writes_s", "workload.growth_percent", "db.growth_percent", "workload.cpu_cores",
    "db.gb", "db.hot_gb", "sga.mb", "memory.sessions", "memory.session_mib",
)  # fmt: skip
"""Keys of which more takes more."""


def _upper_ends(inputs: Inputs) -> dict[str, Quantity]:
    """Return the demands that are stated as ranges, at their upper ends.

    What varies between the intervals of a file is no range: it has a percentile, or is the average of one interval.
    """
    found = {}
    for key in _DEMANDS:
        value = inputs.get(key)
        if not isinstance(value, Quantity) or value.high is None or value.high == value.value:
            continue
        varies = "workload.percentile" in inputs or value.low == value.value
        if value.origin is Origin.USER or (value.origin is Origin.IMPORTED and not varies):
            found[key] = replace(value, value=value.high, low=None, high=None)
    return found


def _base(workload: Inputs, rules: Rules) -> tuple[dict[str, Value], dict[str, str]]:
    """Return the inputs without what is designed, with a kind of every part, and the kinds that nobody chose."""
    left_out = ("capacity.", "path.bandwidth", "path.degraded", "path.down", "numa.", "array.volumes")
    kept = {key: value for key, value in workload.items() if not key.startswith(left_out)}
    for key in (DRIVES, CORES, MEMORY, _PER_SOCKET, _VCPUS, "workload.rules_of_thumb"):
        kept.pop(key, None)
    stages = kept.pop(PORTS, None)
    text = stages.value if isinstance(stages, Words) else ""
    if len(stated_stages(Sheet(workload, rules))) > 1:
        raise UsageError(f"path.stages: expected one stage to design, such as hba:fc32, found {text!r}")
    chosen = {key: value for key, value in _DEFAULTS.items() if key not in kept}
    if any(key in kept for key in ("array.drive_iops", "array.drive_mb_s")):
        chosen.pop("array.drive", None)
    if each := _processor_cores(workload):
        chosen.pop(_SOCKETS, None)
        if not _states_sockets(workload):
            kept.pop(_SOCKETS, None)
    elif _names_processor(workload):  # whose sockets are unknown as long as its cores are
        chosen.pop(_SOCKETS, None)
    kind = getattr(kept.get("array.drive"), "value", chosen.get("array.drive", ""))
    nodes = kept.get("cluster.nodes")
    if text or not kind.startswith("nvme") or (isinstance(nodes, Quantity) and nodes.value > 1):
        chosen[PORTS] = text.partition("*")[0] or SHARED
    if "array.disk_gb" not in kept:
        chosen["array.disk_gb"] = str(DRIVE_GB.get(kind, 3840))
    if not any(keys <= kept.keys() for keys in ({*_SPEED}, {*_MODELS})):
        chosen |= dict.fromkeys(_SPEED, "1")
    settings = [f"{key}={value}" for key, value in (chosen | {"policy.n_plus_one": "required"}).items()]
    inputs = complete({**kept, **parse_settings(settings, Origin.USER, "--design")}, rules)
    if each:
        inputs = {**inputs, _PER_SOCKET: each}
    stated = (_SPEED[1], *([PORTS] if isinstance(stages, Words) else ()))
    return dict(inputs), {key: value for key, value in chosen.items() if key not in stated}


class _Parts(Struct, frozen=True):
    """Every part, those without a demand or that nothing satisfies, and the inputs with what is bought."""

    parts: tuple[DesignPart, ...]
    undesigned: Mapping[str, tuple[str, ...]]
    unmet: Mapping[str, UnmetError]
    inputs: Inputs


def _parts(base: Inputs, rules: Rules) -> _Parts:
    inputs: dict[str, Value] = {**base, **(_units(PORTS, base, _MOST[PORTS]) if PORTS in base else {})}
    parts, undesigned, unmet = list[DesignPart](), {}, dict[str, UnmetError]()
    for key in (DRIVES, *([PORTS] if PORTS in base else []), CORES, MEMORY):
        part = None
        try:
            part = _part(key, base, inputs, rules)
        except UnmetError as error:
            unmet[key] = error
        if part is not None:
            parts.append(part)
            inputs |= _units(key, base, part.buy)
            continue
        inputs.pop(key, None)
        if key not in unmet:
            undesigned[key] = _NEEDS[key]
    return _Parts(tuple(parts), undesigned, unmet, inputs)


def _limits(inputs: Inputs, key: str, rules: Rules) -> str:
    """Return the limits by which the chosen edition does not carry the load however many units there are."""
    if key not in (CORES, MEMORY) or not is_chosen(inputs):
        return ""
    pack, product = chosen_contract(Sheet(inputs, rules))
    most = {**inputs, **_units(key, inputs, _MOST[key])}
    few, too_few = too_small(most, rules, pack.pack, short(product.id)) or ("", "")
    if not few:  # it carries the load, above the limit up to which a resource passes
        used = [one for one in limits_of_chosen(Sheet(most, rules)) if one.is_exceeded]
        of_key = [one for one in used if (one.entry.of == "memory_gib") == (key == MEMORY)]
        too_few = ", ".join(format_in(one.size.value, one.entry.unit) for one in of_key)
    return f"{'open' if few == PERHAPS else 'none'}: {too_few}" if too_few else ""


def _part(key: str, base: Inputs, inputs: Inputs, rules: Rules) -> DesignPart | None:
    """Return the fewest units of a part with which its resources pass; None without a demand."""
    least, step, sheet = 1, 1, Sheet(base, rules)
    if key == DRIVES:
        level = str(getattr(base["array.raid"], "value", "10"))
        least, step = FEWEST_DRIVES[level], 2 if level in ("1", "10") else 1
    elif key == CORES:
        each, sockets = base.get(_PER_SOCKET), base.get(_SOCKETS)
        least = step = int(sockets.value) if isinstance(sockets, Quantity) else 1  # as many in each
        if isinstance(each, Quantity):  # whole processors
            step = int(each.value)
            least *= step
        if (pinned := pinned_cores(sheet)) is not None:  # its server has them
            least = max(least, math.ceil(pinned.value / step) * step)
    elif key == MEMORY:
        least = step = MODULE_GIB
    elif isinstance(nodes := base.get("cluster.nodes"), Quantity):  # ports of all servers, as many in each
        least = step = int(nodes.value)
    passes, fails, _ = astuple(limits(sheet))

    @cache
    def judged(count: int) -> tuple[Card, ...]:
        values = {**inputs, **_units(key, base, count)}
        cards = (_card(values, resource, rules) for resource in _RESOURCES[key])
        return tuple(card for card in cards if card is not None and card.share is not None)

    def missed(count: int, when: str) -> str:
        """Return the unit of the resource that does not pass; empty where all do."""
        for card in judged(count):
            share = _worst(card, when)
            if share is None and when in _WITHOUT_LOSS:  # a failure takes nothing of it
                share = _worst(card, _WITHOUT_LOSS[when])
            if share is not None and share > (passes if when == "today" else fails) and card.facts is not None:
                return card.facts.unit
        return ""

    counted = range(least, _MOST[key] + 1, step)

    def fewest(when: str, passes: Callable[[int], bool]) -> int:
        found = bisect_left(counted, True, key=passes)  # noqa: FBT003  the first count that passes
        if found == len(counted):
            why, pinned = f"the largest that was tried is {counted[-1]:,}", pinned_cores(sheet)
            if key == CORES and pinned is not None:
                why = f"the partition has {format_in(pinned.value, 'cores')} (license.pinned_cores)"
            raise UnmetError(key, when, missed(counted[-1], when), why)
        return counted[found]

    most = counted[-1]
    if not judged(most) or (key == PORTS and not any(card.stages for card in judged(most))):
        return None
    counts = {}
    for when in WHEN:
        if any(_worst(card, when) is not None for card in judged(most)):
            counts[when] = fewest(when, lambda count, at=when: not missed(count, at))  # type: ignore[misc]
    most_of_all = max(counts.values())
    buy = fewest("today", lambda count: count >= most_of_all and all(card.status in _PASSED for card in judged(count)))
    fewer = buy - step if buy > least else 0
    limiting = [(missed(fewer, when), when) for when in WHEN if fewer and when in counts]
    if fewer and any(card.outage for card in judged(fewer)):
        limiting = [("outage" if unit and when in _WITHOUT_LOSS else unit, when) for unit, when in limiting]
    none = "page-cache" if fewer and key == MEMORY else "least"
    limit, when = next(((unit, when) for unit, when in limiting if unit), (none, ""))
    stated = next((one for one in (_SOCKETS, CAPACITY) if key == CORES and one in base), None)
    room = base[stated] if stated is not None and _PER_SOCKET in base else None
    if isinstance(room, Quantity) and buy > room.value * step:
        has = f"{stated}={room.value:g} has {room.value * step:g} ({room.value:g} x {step})"
        way = f"Use processors of more cores, or {KEYS['cluster.nodes'].flag}"
        raise UnmetError(key, when, limit, f"{buy:,} are required, and {has}. {way}")
    rests = dict.fromkeys(text for card in judged(buy) for text in card.assumed)
    for facts in (card.facts for card in judged(buy) if key == CORES):
        if facts is not None and not facts.demand.exact:
            rests[f"{demand_text(facts)} demand by the results of both processors, of which the most count"] = None
    return DesignPart(key, counts, buy, limit, when, step, tuple(rests))


def _worst(card: Card, when: str) -> float | None:
    """Return the share at the worst end of what is known; infinite after a failure that leaves nothing."""
    if when == "today":
        return card.ends[1]
    times = card.ends[1] / card.share if card.share else 1.0
    if when == "last-year":
        return None if card.last_year is None else card.last_year * times
    if card.outage:
        return math.inf
    shares = [one.share if when == "failure" else one.last_year for one in card.failures]
    known = [share for share in shares if share is not None]
    return max(known) * times if known else None


def _card(inputs: Inputs, resource: str, rules: Rules) -> Card | None:
    """Return the card of one resource alone; None without a demand of it."""
    sheet = Sheet(inputs, rules)
    try:
        for calculation in CALCULATIONS:
            if f"verdict.{resource}" in calculation.gives:
                list(calculation.work(sheet))
    except MissingError:
        return None
    return next((card for card in sheet.cards if card.resource == resource), None)


def _ports(base: Inputs, count: int) -> Words:
    """Return the stage with that many ports, each on a card of its own."""
    stage = base[PORTS]
    name = stage.value if isinstance(stage, Words) else ""
    return Words(f"{name}*{count}@{count}", Origin.USER, "--design")


def _units(key: str, base: Inputs, count: int) -> Inputs:
    """Return the inputs that are a count of a part; cores of a processor whose number is known with its sockets."""
    if key == PORTS:
        return {key: _ports(base, count)}
    settings, each, threads = [f"{key}={count}"], base.get(_PER_SOCKET), base.get(THREADS)
    if key == CORES and isinstance(each, Quantity):
        settings.append(f"machine.sockets={min(math.ceil(count / each.value), 1024)}")
    if key == CORES and isinstance(threads, Quantity) and has_vcpus(base):
        settings.append(f"{_VCPUS}={min(count * threads.value, _MOST[CORES]):g}")  # which licenses count
    return parse_settings(settings, source="--design")


def has_vcpus(inputs: Inputs) -> bool:
    """Return whether the cores are those of a guest or of a cloud, which are sold as virtual CPUs."""
    return is_virtual(inputs) or getattr(inputs.get(SCOPE), "value", "") == "vm"


def _names_processor(inputs: Inputs) -> bool:
    """Return whether somebody named the processor to buy."""
    model = inputs.get(_MODELS[1])
    return isinstance(model, Words) and model.value != PRESENT_PROCESSOR


def _processor_cores(inputs: Inputs) -> Quantity | None:
    """Return the cores of the processor that is named, as stated or by cores and sockets; None where unknown."""
    each, cores, sockets = (inputs.get(key) for key in (_PER_SOCKET, CORES, _SOCKETS))
    if not _names_processor(inputs):
        return None
    if isinstance(each, Quantity):
        return each
    if isinstance(cores, Quantity) and isinstance(sockets, Quantity) and cores.value % sockets.value == 0:
        return cores.scaled(1 / sockets.value)
    return None


def _states_sockets(inputs: Inputs) -> bool:
    """Return whether somebody stated the sockets to buy, and not those of a server whose cores are stated as well."""
    sockets, cores = (getattr(inputs.get(key), "origin", None) for key in (_SOCKETS, CORES))
    return sockets is Origin.USER and cores is not Origin.USER


def _changes(base: Inputs, parts: set[str]) -> list[dict[str, str]]:
    """Return what else could be bought, as inputs that differ."""
    own = {key: value.value for key, value in base.items() if isinstance(value, Words)}
    changes: list[dict[str, str]] = []
    if DRIVES in parts:
        changes += [{"array.raid": level} for level in ("10", "5")]
        kinds = ("ssd-sata", "nvme-pcie4") if "array.drive" in own else ()
        changes += [{"array.drive": kind, "array.disk_gb": str(DRIVE_GB[kind])} for kind in kinds]
    if CORES in parts:
        speed, nodes = base.get(_SPEED[1]), base.get("cluster.nodes")
        if isinstance(speed, Quantity) and _SPEED[0] in base:
            changes.append({_SPEED[1]: f"{speed.value * 2:g}"})
        if not isinstance(nodes, Quantity) or nodes.value == 1:
            shared = {PORTS: SHARED} if DRIVES in parts and PORTS not in base else {}
            changes.append({"cluster.nodes": "2", **shared})
        changes += [{"license.pack": "oracle", "license.product": name} for name in ("ee", "se2")]
        changes += [{"license.pack": "postgresql"}, {"license.pack": "mysql", "license.product": "community"}]
        if own.get("license.pack") == "mysql":
            own.setdefault("license.product", "community")
    return [one for one in changes if any(own.get(key) != one[key] for key in one if key != "array.disk_gb")]


def _changed(base: Inputs, changed: Mapping[str, str], rules: Rules) -> Inputs:
    """Return what a change takes; an edition uses as many cores as it may of the machine as designed."""
    other = {**base, **parse_settings([f"{key}={value}" for key, value in changed.items()], source="--design")}
    if "license.pack" not in changed:
        return other
    named = {key: value for key, value in other.items() if key in changed}
    return with_product(other, *chosen_contract(Sheet(named, rules)), Origin.USER)


def _alternative(base: Inputs, changed: Mapping[str, str], rules: Rules) -> Alternative:
    """Return what else could be bought; of an edition without a rule for what is stated, why."""
    try:
        return _bought(changed, _parts(_changed(base, changed, rules), rules), rules)
    except UsageError as error:
        return Alternative(changed, {}, left_out=str(error))


def _bought(changed: Mapping[str, str], found: _Parts, rules: Rules) -> Alternative:
    sheet, cost, permitted, missing = Sheet(found.inputs, rules), None, True, ""
    if is_chosen(found.inputs):  # unknown where nobody chose a product
        try:
            # A core is a virtual CPU at least, where their number is unknown.
            fewest = {_VCPUS: found.inputs[CORES]} if CORES in found.inputs else {}
            require_permission(Sheet({**fewest, **found.inputs}, rules), *chosen_contract(sheet))
            missing = USERS if lacks_users(sheet) else ""
            cost = term_cost(sheet) if CORES in found.inputs and not (missing or found.unmet) else None
        except ForbiddenError:
            permitted = False
        except MissingError as error:
            missing = error.key
    options = () if cost is None else chosen_options(sheet, *chosen_contract(sheet))
    return Alternative(
        changed,
        {part.key: part.buy for part in found.parts},
        cost,
        permitted,
        unmet={key: _limits(found.inputs, key, rules) for key in found.unmet},
        rests=tuple(dict.fromkeys(text for part in found.parts for text in part.rests)),
        single_threaded=_single_threaded(found, rules) if permitted else None,
        left_out="" if cost is None else left_out_option(sheet, cost),
        cluster_option=next((one.brief or one.title for one in options if one.for_clusters), ""),
        missing=THREADS if missing == _VCPUS else missing,
        small_hosts="".join(one.text for one in sheet.assumptions if one.key == OF_HOST["cores"]),
    )


def _single_threaded(found: _Parts, rules: Rules) -> int | None:
    """Return the cores that pass with one thread on each; None where others pass, or these do not."""
    if CORES not in found.unmet:
        return None
    inputs = {**found.inputs, **parse_settings([f"{THREADS}=1"], source="--design")}
    try:
        part = _part(CORES, inputs, inputs, rules)
    except UnmetError:
        return None
    return None if part is None else part.buy


_KEPT = ("array.", "path.", "machine.", "cluster.")
"""Keys of a design that a file keeps."""


def kept_settings(found: Design) -> dict[str, str | float]:
    """Return the machine as designed, as a file of a candidate states it, in the units of the keys."""
    bought = {part.key for part in found.parts}
    parts = {"array.": DRIVES, "path.": PORTS, _SOCKETS: CORES, "machine.cpu_model": CORES}
    unused = tuple(start for start, part in parts.items() if part not in bought)
    kept = {
        key: value
        for key, value in _inputs_to_keep(found).items()
        if key.startswith(_KEPT) or (key.startswith("license.") and _is_stated(value))
    }
    return _settings({key: value for key, value in kept.items() if not key.startswith(unused)})


def kept_workload(found: Design) -> dict[str, str | float]:
    """Return the workload as far as it was stated, in the units of the keys; a figure of a report keeps its range."""
    given = {key: value for key, value in _inputs_to_keep(found).items() if key.startswith(FILE_KEYS["workload"])}
    return _settings({key: value for key, value in given.items() if _is_stated(value)})


def _is_stated(value: Value) -> bool:
    return isinstance(value, Quantity | Words) and value.origin in (Origin.USER, Origin.IMPORTED, Origin.PRESET)


def _inputs_to_keep(found: Design) -> Inputs:
    """Return the inputs, in which cores of one speed have one name: a SPECrate of 1 would count beside offers."""
    if _SPEED[0] not in found.assumed:
        return found.inputs
    if CORES not in found.inputs:
        return {key: value for key, value in found.inputs.items() if key not in _SPEED}
    same = Words(PRESENT_PROCESSOR, Origin.USER, "--design")
    named = next((found.inputs[key] for key in _MODELS if key in found.inputs), same)
    kept = {key: value for key, value in found.inputs.items() if key not in _SPEED}
    return {**kept, **dict.fromkeys(_MODELS, named)}


def _settings(values: Mapping[str, Value]) -> dict[str, str | float]:
    settings: dict[str, str | float] = {}
    for key, value in values.items():
        if isinstance(value, Words):
            settings[key] = value.value
        elif isinstance(value, Quantity):
            ends = [value.value if end is None else end for end in (value.low, value.value, value.high)]
            low, number, high = (in_unit(end, KEYS[key].unit, 15) for end in ends)
            settings[key] = int(number) if number == int(number) else number
            if value.low is not None or value.high is not None:
                settings[key] = "..".join(map(_digits, (low, number, high)))
    return settings


def _digits(number: float) -> str:
    """Return a number as a key reads it: three decimals alone would be taken for thousands."""
    return f"{number:.15g}{'0' if round(number, 2) != number == round(number, 3) else ''}"
