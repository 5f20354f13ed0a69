"""The shares of the storage that a workload takes: of each stage in MB/s and IOPS, the highest limits; and of space."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.advice import Advice, Bounds, Failure, ShareFacts, StageUse
from sizeup.quantity import Origin, Quantity, Uncertainty, Words
from sizeup.sizing.io.array import (
    NO_RATE,
    StageCapacity,
    drive_count,
    drives_stage,
    raw_bytes,
    replaced_figures,
    usable_bytes,
)
from sizeup.sizing.io.capacity import (
    INSIDE,
    MEASURE,
    STORAGE,
    bound_text,
    find_bottleneck,
    inside_servers,
    path_stages,
    with_drives,
)
from sizeup.sizing.keys import KEYS
from sizeup.sizing.sheet import Calculation, Inputs, Sheet, answered, brief, figure, servers, shown, term, vendor
from sizeup.sizing.verdict import (
    Judgment,
    ShareLimits,
    Shares,
    ShareStatus,
    bounds_of,
    decide,
    decided_card,
    exactly,
    failure,
    judged,
    later_clauses,
    limits,
    open_card,
    share_text,
    write_later_shares,
)
from sizeup.sizing.workload import (
    ONE_INSTANCE,
    Demand,
    Growth,
    at_ends,
    averages,
    covers_one_instance,
    data_growth,
    data_rate,
    growth,
    io_demand,
    lacks_redo,
    workload_demand,
)
from sizeup.text import capitalized
from sizeup.units import format_in


def _defaults(sheet: Sheet, *, by_rule: bool) -> Mapping[str, Mapping[str, Inputs | None]]:
    """Return what nobody chose of a demand, and what replaces it at each end; None where nothing bounds the demand."""
    if by_rule:  # which is no workload: neither end of it is known
        none = Quantity(0.0, "bytes/s", Origin.RULE, "no workload")
        return {"a rule of thumb in place of a workload": {"": None, " ": {"workload.mb_s": none}}}
    found: dict[str, Mapping[str, Inputs | None]] = {ONE_INSTANCE: {"": None}} if covers_one_instance(sheet) else {}
    if hidden := averages(sheet):
        factor = sheet.rule("workload.peak-factor").value
        peaks = {key: value.scaled(factor) for key, value in hidden.items()}
        found["no peaks above the average"] = {f"at {format_in(factor, '')} times that": peaks}
    for key, unit, text, origin in (
        ("workload.io_kib", "KiB", "a block size of {} by default", Origin.RULE),
        ("workload.read_percent", "%", "{} reads by default", Origin.RULE),
        ("workload.read_percent", "%", "{} reads", Origin.IMPORTED),  # by bytes alone, or writes peak at another time
        ("workload.read_bytes_percent", "%", "{} of the bytes read", Origin.IMPORTED),
    ):
        value = sheet.inputs.get(key)
        if isinstance(value, Quantity) and value.origin is origin and sheet.has_used(key):
            ends = [
                replace(value, value=end, low=None, high=None) for end in (value.low, value.high) if end is not None
            ]
            found[text.format(shown(value, unit))] = {f"at {shown(end, unit)}": {key: end} for end in ends}
    if sheet.has_used("redo.write.usual"):
        largest = sheet.rules.figure("redo.write.largest")
        sizes = {"one block": sheet.inputs.get("workload.io_kib"), shown(largest, "KiB"): largest}
        found[f"redo writes of {shown(sheet.rule('redo.write.usual'), 'KiB')} by default"] = {
            f"if they are of {name}": {"redo.write_kib": size}
            for name, size in sizes.items()
            if isinstance(size, Quantity)
        }
    key = "capacity.commits_s"
    if isinstance(commits := sheet.inputs.get(key), Quantity) and sheet.has_used(key):
        for one in commits.uncertainties:
            if one.default and one.end:
                other = Quantity(one.end, commits.unit, commits.origin, commits.source)
                found[one.reason] = {**found.get(one.reason, {}), f"at {shown(other, '/s')}": {key: other}}
    if sheet.has_used("path.stages") and "path.policy" not in sheet.inputs:
        passive = Words("active-passive", Origin.RULE, "half of the paths")
        found["all paths carry data"] = {"if half are passive": {"path.policy": passive}}
    return found


MEASURED_BYTES = 8192
"""The size of small requests that are measured."""
MIXED_WRITES = 0.3
"""The share of writes of the mix that is measured, unless an imported one says another."""
_WRITE_COST, _ARRAY_WRITE_COST = 40.0, 10.0
"""Reads that a write costs at most where none was measured: of a device, and of an array, whose cache takes writes."""


def mix_cost(written: float, *, shared: bool) -> float:
    """Return how many reads a request of a mix costs at most; ``shared``: on an array or a filer."""
    return 1 - written + written * (_ARRAY_WRITE_COST if shared else _WRITE_COST)


_SAME_MIX = 0.05
"""Shares of writes that differ by less are one mix; redo adds to those of the workload."""


def unlike_mix(written: float, reads: float | None) -> tuple[bool, float]:
    """Return how far a share of writes is from what is wanted; one of fewer is farthest, as it bounds nothing below."""
    less = (MIXED_WRITES if reads is None else 1 - reads) - written
    return less > _SAME_MIX, abs(less)


def mixed_writes(inputs: Inputs) -> float:
    """Return the share of writes of ``capacity.mixed_iops``."""
    reads = inputs.get("capacity.mixed_read_percent")
    return 1 - reads.value if isinstance(reads, Quantity) else MIXED_WRITES


def of_mix(sheet: Sheet, stage: StageCapacity, reads: float) -> StageCapacity:
    """Return a measured stage at the demand's share of reads: reads alone bound what a mix gets, a mix says more."""
    iops, written, kind = stage.iops, 1 - reads, sheet.optional_words("path.kind")
    if iops is None or iops.origin is not Origin.MEASURED or written <= 0:
        return stage
    shared = kind in ("HBA", "NFS")
    mixed = sheet.optional("capacity.mixed_iops")
    if mixed is None:
        text = f"reads alone were measured, and {share_text(written)} are writes"
        action = "Measure the mix (preset oltp-7030)"
        return replace(stage, iops=_converted(iops, mix_cost(written, shared=shared), text, action))
    most = mixed_writes(sheet.inputs)
    if written > most + _SAME_MIX:
        factor = mix_cost(written, shared=shared) / mix_cost(most, shared=shared)
        text = f"{share_text(most)} writes were measured, and {share_text(written)} are wanted"
        action = "Measure that mix (preset custom, read_percent)"
        return replace(stage, iops=_converted(mixed, factor, text, action))
    if most - written <= _SAME_MIX:
        return replace(stage, iops=mixed)
    part = written / most
    between = 1 / ((1 - part) / iops.value + part / mixed.value)
    least = min(iops.least, mixed.least)
    low, high = min(least, between), None if iops.most is None else max(iops.most, between)
    uncertainties = tuple(one for one in (*mixed.uncertainties, *iops.uncertainties) if one.upper or one.end == least)
    return replace(
        stage, iops=Quantity(between, iops.unit, iops.origin, iops.source, low, high, uncertainties=uncertainties)
    )


def of_other_mix(found: Quantity, had: Quantity | None, reads: float) -> Quantity:
    """Return what holds a p99 at one share of reads for another one: it does with no more reads, and no more writes."""
    if had is None or found.origin is not Origin.MEASURED or abs(reads - had.value) <= _SAME_MIX:
        return found
    part = min(known / wanted for known, wanted in ((had.value, reads), (1 - had.value, 1 - reads)) if wanted)
    why = f"{share_text(had.value)} reads were measured, and {share_text(reads)} are wanted"
    uncertainty = Uncertainty(found.least * part, why, "Measure that mix (preset slo, read_percent)")
    return replace(found, uncertainties=(*found.uncertainties, uncertainty, replace(uncertainty, end=None, upper=True)))


def _converted(measured: Quantity, factor: float, reason: str, action: str) -> Quantity:
    """Return what was measured of another mix: its upper end as it is, its lower ends a part of what they are."""
    uncertainties = [
        replace(one, end=one.end / factor) if one.end and not one.upper else one for one in measured.uncertainties
    ]
    own = measured.value if measured.low is None else measured.low
    return replace(measured, low=None, uncertainties=(*uncertainties, Uncertainty(own / factor, reason, action)))


DISKS, PATHS = "the disks", "the paths"
"""What is not judged where paths alone are known, and where drives alone are."""
IOPS, THROUGHPUT = "its IOPS", "its MB/s"
"""What is not judged where the storage as a whole is known in the other of these units alone."""
COMMITS, P99 = "commits of the log", "requests within the p99"
"""The stage of every transaction, whatever the I/O of the data; that of all random I/O whose p99 is demanded."""
_OWN = (
    (P99, "p99 latency", "workload.p99_ms", "capacity.iops_within_p99"),
    (COMMITS, "commits", "workload.commits_s", "capacity.commits_s"),
)
"""Stages with demands of their own: name, what is demanded, its key, and that of the capacity."""


class StageShare(Struct, frozen=True):
    """One stage with the share that the demand takes of it: the larger of MB/s and IOPS."""

    stage: StageCapacity
    share: float
    best: float
    """The share of the upper end of the capacity; 0 where that is open."""
    worst: float
    """The share of its lower end; infinite where that is 0."""
    demand: float
    """Base units, of what the share is of."""
    capacity: Quantity
    unit: str
    """``MB/s`` or ``IOPS``."""
    left: float | None
    """The share of the capacity that the stage's largest single failure leaves; None where that is unknown."""
    streams: float = 0.0
    """The part of the share that sequential I/O takes of the time of drives, where it adds to that of requests."""

    @property
    def path(self) -> bool:
        """Whether it is part of the paths, and not the drives or the storage as a whole."""
        return not (self.stage.drives or self.capacity.origin is Origin.MEASURED or self.stage.name in (STORAGE, P99))

    def facts(self, *, by_rule: bool) -> ShareFacts:
        """Demand and capacity, and the stage that has it."""
        found = self.capacity
        capacity = exactly(found.value)
        if found.origin is Origin.MEASURED:
            capacity = Bounds(found.value, found.least, found.most, found.uncertainties)
        return ShareFacts(exactly(self.demand), capacity, self.unit, bottleneck=self.stage.name, by_rule=by_rule)

    def use(self, status: ShareStatus) -> StageUse:
        """Return the share of the stage alone, as the card of the storage lists it."""
        name = self.stage.title or self.stage.name
        ends = self.best, None if math.isinf(self.worst) else self.worst
        return StageUse(name, self.share, status.value, self.path, self.capacity.origin, self.unit, *ends)


def stage_shares(sheet: Sheet, demand: Demand) -> list[StageShare]:
    """Return the share of every stage whose capacity is known in a unit of the demand."""
    found = []
    for stage in all_stages(sheet, demand):
        parts = []
        for unit, needed, capacity, left in (
            ("MB/s", demand.bytes_per_second, stage.rate, stage.left),
            ("IOPS", demand.iops, stage.iops, stage.iops_left),
        ):
            if needed is not None and capacity is not None:
                share = needed / capacity.value
                parts.append(StageShare(stage, share, *_ends(needed, capacity, share), needed, capacity, unit, left))
                _write_share(sheet, parts[-1])
        if both := _drive_time(sheet, demand, parts):
            parts.append(both)
        if parts:
            worst = max(parts, key=lambda part: part.share)
            after = (part.left * worst.share / part.share for part in parts if part.left is not None and part.share)
            ends = {"best": max(part.best for part in parts), "worst": max(part.worst for part in parts)}
            found.append(replace(worst, left=min(after, default=None), **ends))  # the other unit may be worse after it
    own = _own_shares(sheet, demand)
    for one in own:
        _write_share(sheet, one)
    return [*found, *own]


def _drive_time(sheet: Sheet, demand: Demand, parts: Sequence[StageShare]) -> StageShare | None:
    """Return the share of the time of drives that random requests and sequential I/O take together.

    The capacity is what the drives deliver of this mix, in the unit of the larger part. None where both are not known.
    """
    streams = demand.sequential
    if streams is None or not streams.value or len(parts) < 2 or not parts[0].stage.drives:
        return None
    rate, requests = parts
    known = _known_read_share(sheet)
    alone = drives_stage(sheet, None, 1.0 if known is None else known)
    if alone is None or alone.rate is None:
        return None
    of_streams = streams.value / alone.rate.value
    share = requests.share + of_streams
    of_requests = f"{format_in(requests.demand, 'IOPS')} / {shown(requests.capacity, 'IOPS')}"
    sequential = f"{shown(streams, 'MB/s')} sequential / {shown(alone.rate, 'MB/s')}"
    total = format_in(float(f"{share:.6g}"), "%")
    sheet.line(f"{rate.stage.name}: {of_requests} + {sequential} = {total}")
    shown_part = rate if of_streams > requests.share else requests
    capacity, left = shown_part.capacity.scaled(shown_part.share / share), None
    if requests.left is not None and alone.left is not None:
        lost = bool(requests.left and alone.left)
        left = share / (requests.share / requests.left + of_streams / alone.left) if lost else 0.0
    return replace(shown_part, share=share, best=share, worst=share, capacity=capacity, left=left, streams=of_streams)


def _write_share(sheet: Sheet, one: StageShare) -> None:
    """Add a share and the ends of its capacity to the working."""
    share, unit = format_in(float(f"{one.share:.6g}"), "%"), one.unit
    sheet.line(f"{one.stage.name}: {format_in(one.demand, unit)} / {shown(one.capacity, unit)} = {share}")
    for uncertainty in one.capacity.uncertainties:
        if not uncertainty.default:
            sheet.line(f"  {bound_text(uncertainty, unit)}")


def _own_shares(sheet: Sheet, demand: Demand) -> list[StageShare]:
    """Return the shares of the stages with demands of their own where both figures are known."""
    found = []
    for name, _, key, of_storage in _OWN:
        wanted, capacity = sheet.optional(key), sheet.optional(of_storage)
        if wanted is None or capacity is None:
            continue
        needed, unit = wanted.value, "commits/s"
        if name == P99:
            capacity = of_other_mix(capacity, sheet.optional("capacity.p99_read_percent"), demand.read_share or 0.0)
            needed, unit = demand.iops or 0.0, "IOPS"
        if needed:
            stage, share = StageCapacity(name, None, capacity if unit == "IOPS" else None), needed / capacity.value
            found.append(StageShare(stage, share, *_ends(needed, capacity, share), needed, capacity, unit, None))
    return found


def _of_io(found: Sequence[StageShare]) -> list[StageShare]:
    """Return the stages of the I/O of the data, without the commits of the log."""
    return [one for one in found if one.stage.name != COMMITS]


def _ends(needed: float, capacity: Quantity, share: float) -> tuple[float, float]:
    """Return the shares of the upper and of the lower end of what was measured or is in doubt; else its own share."""
    if capacity.origin is not Origin.MEASURED and not capacity.uncertainties:
        return share, share
    least, most = capacity.least, capacity.most
    return (0.0 if most is None else needed / most), (needed / least if least else math.inf)


def all_stages(sheet: Sheet, demand: Demand) -> list[StageCapacity]:
    """Return the stages of the paths and the drives; what was measured takes the place of what drives are good for."""
    reads = demand.read_share
    if reads is None:
        reads = 0.0 if demand.iops else sheet.number("workload.read_percent").value
    stages = [of_mix(sheet, stage, reads) for stage in path_stages(sheet)]
    if demand.transfer_rate is None or not demand.bytes_per_second:
        return with_drives(sheet, stages, reads, 0.0 if demand.bytes_per_second else None)
    read = _read_bytes(sheet, demand, demand.transfer_rate.value) / demand.bytes_per_second
    if demand.iops is None or demand.throughput_is_its_own:
        stages = [_of_written_bytes(sheet, stage, 1 - read) for stage in stages]
    return with_drives(sheet, stages, reads, read)


def _of_written_bytes(sheet: Sheet, stage: StageCapacity, written: float) -> StageCapacity:
    """Return a measured stage for a stated share of writes: its MB/s are of reads, and bound theirs from above.

    A mix of small requests that was measured carries at least its own bytes, and so does one of large requests.
    """
    rate, shares = stage.rate, [sheet.inputs.get(key) for key in (*_REQUESTS, "workload.read_bytes_percent")]
    stated = any(isinstance(one, Quantity) and one.origin is not Origin.RULE for one in shares)
    if rate is None or rate.origin is not Origin.MEASURED or written < _SAME_MIX or not stated:
        return stage
    kind = sheet.optional_words("path.kind")
    shared = kind in ("HBA", "NFS")
    cost = mix_cost(written, shared=shared)
    if (mixed := sheet.optional("capacity.mixed_iops")) is not None and mixed.origin is Origin.MEASURED:
        most = mixed_writes(sheet.inputs)
        more = cost / mix_cost(most, shared=shared) if written > most + _SAME_MIX else 1.0
        block = sheet.inputs.get("workload.io_kib")
        size = min(MEASURED_BYTES, block.value) if isinstance(block, Quantity) else MEASURED_BYTES
        carried = mixed.least * size / more
        cost = min(cost, max(rate.least / carried, 1.0)) if carried else cost
    why = f"reads were measured, and {share_text(written)} of the bytes are written"
    return replace(stage, rate=_converted(rate, cost, why, f"Enter {KEYS['capacity.mb_s'].assignment} for that mix"))


_REQUESTS = ("workload.read_percent", "workload.read_iops", "workload.write_iops")


def _known_read_share(sheet: Sheet) -> float | None:
    """Return the share of the reads in the bytes; None where it is unknown, or a file's for other requests."""
    share, requests = sheet.optional("workload.read_bytes_percent"), [sheet.inputs.get(key) for key in _REQUESTS]
    changed = any(isinstance(one, Quantity) and one.origin is Origin.USER for one in requests)
    return None if share is None or (changed and share.origin is Origin.IMPORTED) else share.value


def _read_bytes(sheet: Sheet, demand: Demand, rate: float) -> float:
    """Return the bytes per second that are read of those of all reads and writes, without redo.

    Where their share is unknown all of the sequential part counts as reads, and the rest by its requests.
    """
    if (share := _known_read_share(sheet)) is not None:
        return rate * share
    read = 0.0 if demand.sequential is None else min(demand.sequential.value, rate)
    if rest := rate - read:
        requests = [0.0 if part is None else part.value for part in (demand.read_iops, demand.write_iops)]
        read += rest * (requests[0] / sum(requests) if any(requests) else sheet.number("workload.read_percent").value)
    return read


class _Case(Struct, frozen=True):
    """The storage as one set of inputs has it judged."""

    demand: Demand
    found: Sequence[StageShare]
    """Every stage whose share is known."""
    subject: str = ""
    not_judged: str = ""
    """What is judged, and the part of the storage that is not; empty where all of it is."""
    status: ShareStatus = ShareStatus.UNKNOWN


def _case(sheet: Sheet, bounds: ShareLimits) -> _Case | None:
    """Judge the storage by some inputs; None without a demand."""
    demand = io_demand(sheet) or (Demand(growth=growth(sheet)) if _own_shares(sheet, Demand()) else None)
    if demand is None:
        return None
    found = stage_shares(sheet, demand)
    for other in at_ends(sheet):  # of a demand that is stated as a range
        there = workload_demand(other) or Demand(growth=demand.growth)
        ends = {one.stage.name: one for one in stage_shares(other, there)}
        for place, one in enumerate(found):
            end = ends.get(one.stage.name, one)
            found[place] = replace(one, best=min(one.best, end.best), worst=max(one.worst, end.worst))
    if "array.raid" not in sheet.inputs:  # drives that are too few even without RAID
        best = Sheet({**sheet.inputs, "array.raid": Words("0", Origin.RULE, "without RAID")}, sheet.rules)
        beyond = [one for one in stage_shares(best, demand) if one.stage.drives and one.share > bounds.fails]
        if beyond:
            sheet.include(best)
        found += [replace(one, stage=replace(one.stage, name="all drives, without RAID"), left=None) for one in beyond]
    if not found:
        return _Case(demand, found)
    subject, not_judged = _judged(sheet, found, demand)
    return _Case(demand, found, subject, not_judged, _decided(found, demand.growth, bounds, not_judged))


class _Ends(Struct, frozen=True):
    """What the storage, or the network to it, is judged as, with its shares of the ends of the capacity."""

    status: ShareStatus
    best: float
    worst: float


def _assumed(sheet: Sheet, case: _Case, bounds: ShareLimits, *, network: bool = False) -> tuple[str, ...]:
    """Return the defaults that decide the status of the storage, or of the network to it, each with the share there.

    They are all of them where none changes the status alone and all together do.
    """
    growth = case.demand.growth
    when = f" in year {format_in(growth.years, '')}" if growth.years else ""

    def judge(case: _Case | None) -> _Ends:
        found = [] if case is None else [one for one in case.found if one.stage.network or not network]
        if case is None or not found:
            return _Ends(ShareStatus.UNKNOWN, 0.0, 0.0)
        status = _decided(found, growth, bounds, "") if network else case.status
        best, worst = max(one.best for one in found), max(one.worst for one in found)
        return _Ends(status, best * growth.factor(), worst * growth.factor())

    def with_end(end: Inputs) -> _Ends:
        return judge(_case(Sheet({**sheet.inputs, **end}, sheet.rules), bounds))

    now = judge(case)
    if now.status is ShareStatus.UNCERTAIN:
        return ()
    given = {text: ends for text, ends in _defaults(sheet, by_rule=case.demand.by_rule).items() if ends}
    unbound = _Ends(ShareStatus.FAIL, math.inf, math.inf)
    reached = {
        (text, words): unbound if end is None else with_end(end)
        for text, ends in given.items()
        for words, end in ends.items()
    }
    changing = [place for place, at in reached.items() if at.status is not now.status]
    for choose in () if changing else (max, min):
        picked = [
            choose(((text, words) for words in ends), key=lambda at: reached[at].worst) for text, ends in given.items()
        ]
        together = {key: value for text, words in picked for key, value in (given[text][words] or {}).items()}
        if len(picked) > 1 and with_end(together).status is not now.status:
            changing += [at for at in picked if reached[at] != now]
    named: dict[str, list[str]] = {}
    for text, words in changing:
        at = reached[text, words]
        share = at.best if now.status is ShareStatus.FAIL else at.worst
        shares = named.setdefault(text, [])
        if words.strip() and share < math.inf:
            shares.append(f"{share_text(share)}{when} {words}")
    return tuple(f"{text} ({', '.join(shares)})" if shares else text for text, shares in named.items())


def _storage(sheet: Sheet) -> Iterator[Advice]:
    bounds = limits(sheet)
    case = _case(sheet, bounds)
    unmeasured = _unmeasured(sheet, () if case is None else case.found)
    if case is None or not case.found:
        if case is not None:
            yield _unknown(sheet, case.demand)
        elif unmeasured:
            said = f"Storage: {'. '.join(map(capitalized, unmeasured.values()))}"
            yield judged(sheet, open_card("storage", said, next(iter(unmeasured))))
        return
    demand, found, not_judged = case.demand, case.found, case.not_judged
    failures = _failures(found, demand.growth)
    if bounds.survives and any(one.left is None for one in found):
        unmeasured["N+1"] = "N+1: required and not judged in full, because what some failures leave is unknown"
    lost = None if "path.stages" in sheet.inputs else sheet.optional_words("path.down")
    down = [] if lost is None else [f"down, so counted as 0: {lost}. Bring it up, or count on what is left"]
    notes = [*_notes(sheet, found, demand), *unmeasured.values()]
    assumed = _assumed(sheet, case, bounds)
    judgment, end = _judgment(found, demand.growth, bounds, not_judged, ranged=bool(at_ends(sheet)))
    write_later_shares(sheet, judgment.shares, failures)
    judgment = replace(judgment, shares=replace(judgment.shares, today=end.share))  # of the figures that are shown
    bad = judgment.status in (ShareStatus.WARN, ShareStatus.FAIL)
    resting = assumed if bad and not demand.by_rule else ()  # a rule of thumb says so by itself
    if judgment.status is ShareStatus.UNCERTAIN:
        resting = tuple(dict.fromkeys(one.reason for one in end.capacity.uncertainties if one.default))
    as_stated = judgment.status in (ShareStatus.UNCERTAIN, ShareStatus.FAIL)  # else at the end that decided
    at_end = found if as_stated else [replace(one, share=one.worst) for one in found]
    later = later_clauses(_shares(at_end, demand.growth), bounds, failures)
    card = decided_card(
        "storage",
        judgment,
        bounds,
        end.facts(by_rule=demand.by_rule),
        subject=capitalized(case.subject),
        clause=", ".join((share_text(end.share), *later)),
        label="bottleneck: ",
        limited=[f"assumed: {'; '.join(resting)}"] if resting else [],
        notes=(*down, *notes),
        stages=[one.use(_decided([one], demand.growth, bounds, "")) for one in found],
        failures=failures,
        assumed=assumed,
        not_judged=not_judged,
        unmeasured=tuple(unmeasured),
    )
    network = max((one for one in found if one.stage.network), key=lambda one: one.share, default=None)
    if network is not None:  # it rests on what the storage rests on
        rests = _assumed(sheet, case, bounds, network=True)
        judgment = _judgment([network], demand.growth, bounds)[0]
        judgment = replace(judgment, defaults=tuple(Uncertainty(None, reason, default=True) for reason in rests))
        failures, facts = _failures([network], demand.growth), network.facts(by_rule=False)
        of_it = decided_card("network", judgment, bounds, facts, advice="verdict.storage", failures=failures)
        sheet.cards.append(replace(of_it, assumptions=()))  # which are of the storage
    yield judged(sheet, card, said=down)  # of the stages


def _shares(found: Sequence[StageShare], growth: Growth) -> Shares:
    """Return the shares of all stages together: today, after the worst failure, and as they grow."""
    today, lost = max(one.share for one in found), [one.share for one in _failures(found, growth)]
    known = [share for share in lost if share is not None]
    outage = len(known) < len(lost)
    return Shares(today, None if outage or not known else max(today, *known), growth, outage)


def _decided(found: Sequence[StageShare], growth: Growth, bounds: ShareLimits, not_judged: str) -> ShareStatus:
    """Judge the ends of all stages; a part that is neither measured nor named may be of any capacity."""
    best = _shares([replace(one, share=one.best) for one in found], growth)
    open_end = any(math.isinf(one.worst) for one in found)
    worst = None if open_end else _shares([replace(one, share=one.worst) for one in found], growth)
    status = bounds.decided(best, worst)
    links_pass = not_judged == DISKS and status is ShareStatus.PASS  # they can fail a demand, and never pass it
    return ShareStatus.UNCERTAIN if links_pass else status


def _judgment(
    found: Sequence[StageShare], growth: Growth, bounds: ShareLimits, not_judged: str = "", *, ranged: bool = False
) -> tuple[Judgment, StageShare]:
    """Return what the ends of all stages decide, and the stage of the highest share at the end that decided."""
    status, shares = _decided(found, growth, bounds, not_judged), _shares(found, growth)
    best = max(found, key=lambda one: one.best)
    worst = max(found, key=lambda one: (one.share > bounds.fails, one.worst, one.share))
    end = best if status is ShareStatus.FAIL else worst
    decides, span = _deciding_uncertainty(found, end, growth, bounds), (best.best, worst.worst)
    if decides is not None and status is ShareStatus.UNCERTAIN:
        span = (best.best, shares.today) if decides.upper else (shares.today, worst.worst)
    if decides is None and ranged:
        decides = Uncertainty(None, "the demand is stated as a range", "Enter the demand more exactly", upper=True)
    if status is ShareStatus.UNCERTAIN and not_judged == DISKS and not end.capacity.uncertainties:
        action = f"{capitalized(MEASURE)}, or use --set {KEYS['array.disks'].assignment}"
        decides = Uncertainty(0.0, f"{DISKS} are not judged", action)
    uncertainties = () if decides is None else (decides,)
    return Judgment(status, shares, *span, uncertainties), end


def _deciding_uncertainty(
    found: Sequence[StageShare], end: StageShare, growth: Growth, bounds: ShareLimits
) -> Uncertainty | None:
    """Return the uncertainty that changes the status when it is settled, else one that moved its end; None for none.

    Above the capacity one that says it may be higher, below it one that says it may be lower.
    """
    beyond = end.share > bounds.fails
    known = [one for one in end.capacity.uncertainties if not one.default]
    uncertainties = sorted(known, key=lambda one: (one.upper is not beyond, one.end or 0.0))
    now = _decided(found, growth, bounds, "")
    for uncertainty in uncertainties:
        left = replace(end.capacity, uncertainties=tuple(one for one in uncertainties if one is not uncertainty))
        best, worst = _ends(end.demand, left, end.share)
        settled = replace(end, best=best, worst=worst, capacity=left)
        if _decided([settled if one is end else one for one in found], growth, bounds, "") is not now:
            return uncertainty
    return next(iter(uncertainties), None)


def _judged(sheet: Sheet, found: Sequence[StageShare], demand: Demand) -> tuple[str, str]:
    """Return what is judged, and the part of the storage that is not; empty where all of it is."""
    found = _of_io(found)
    if not found:
        return "storage", IOPS if demand.iops else THROUGHPUT if demand.bytes_per_second else ""
    if all(one.stage.drives for one in found):
        return "drives", PATHS
    if "path.down" in sheet.inputs and all(not one.path and one.capacity.origin is Origin.USER for one in found):
        return "storage", PATHS
    if demand.by_rule:
        return "storage", ""
    if all(one.path for one in found):
        return "storage paths", DISKS
    if demand.iops and all(one.stage.iops is None for one in found):
        return "storage", IOPS
    if demand.throughput_is_its_own and all(one.stage.rate is None for one in found):
        return "storage", THROUGHPUT
    return "storage", ""


def _unknown(sheet: Sheet, demand: Demand) -> Advice:
    """Return the verdict where the capacity of every stage is unknown."""
    reasons = [(sheet.unused(key), KEYS[key]) for key in ("capacity.mb_s", "capacity.iops")]
    actions = [f"{unused.sentence(key.unit)}, or use {key.flag}" for unused, key in reasons if unused is not None]
    ways = f"{capitalized(MEASURE)}, or use {KEYS['capacity.mb_s'].flag}, path.stages=hba:fc16*2"
    drives = {"array.disks": "N", "array.raid": "10"}
    ways += next((f" or {key}={value}" for key, value in drives.items() if key not in sheet.inputs), "")
    action = ". ".join(actions) or ways
    value, unit = (demand.bytes_per_second, "MB/s") if demand.bytes_per_second else (demand.iops, "IOPS")
    needed = format_in(float(f"{value or 0:.4g}"), unit)
    down = sheet.optional_words("path.down")
    why = "" if down is None else f", because no path that is up reports its speed (down: {down})"
    why = why or (f"; {INSIDE}" if servers(sheet) > 1 else "")
    said = f"Storage: {needed} demand, capacity unknown{why}. {action}"
    return judged(sheet, open_card("storage", said, needed))


def _unmeasured(sheet: Sheet, found: Sequence[StageShare]) -> dict[str, str]:
    """Return what else the workload needs of the storage and is not judged, each with a sentence."""
    texts, names = {}, {one.stage.name for one in found}
    for stage, name, key, capacity in _OWN:
        wanted = None if stage in names else sheet.optional(key)
        if wanted is not None:
            why, unused = ", because no measurement of it counts yet", sheet.unused(capacity)
            if unused is not None:
                why = f". {unused.sentence(KEYS[capacity].unit)}"
            elif stage == P99:
                why = f" without workload.iops and its measurement (preset slo, objective {wanted.value / 1e9:g})"
            texts[name] = f"{name} ({shown(wanted, KEYS[key].unit)} wanted): not judged{why}"
    return texts


def _failures(found: Sequence[StageShare], growth: Growth) -> list[Failure]:
    """Return the single failures of each stage where what they leave is known."""
    return [
        failure(lost, one.share / left if left else None, growth)
        for one in found
        if one.left is not None
        for lost, left in ((one.stage.failure, one.left), *one.stage.smaller)
    ]


def _notes(sheet: Sheet, found: Sequence[StageShare], demand: Demand) -> list[str]:
    """Return what a reader must know beside the shares."""
    notes, found = [], _of_io(found)
    down = sheet.optional_words("path.down")
    if down is not None and "path.stages" in sheet.inputs:
        notes.append(f"down on this machine, while path.stages counts as set: {down}")
    if found and demand.iops is None and not demand.by_rule:
        notes.append(
            f"only MB/s are judged, because the IOPS of the workload are unknown ({KEYS['workload.iops'].flag})"
        )
    if isinstance(percentile := sheet.inputs.get("workload.percentile"), Quantity):
        notes += percentile.caveats
    if lacks_redo(sheet) and not demand.by_rule:
        part = "redo is" if demand.redo_writes is None else "the MB/s of redo are"
        notes.append(f"{part} not part of the demand, because none is given ({KEYS['redo.mb_s'].flag})")
    if demand.redo_rate is not None and not demand.by_rule and vendor(sheet) not in ("mysql", "mariadb"):
        generated = sheet.number("redo.mb_s").value * sheet.number("redo.databases").value
        twice = format_in(float(f"{2 * generated:.4g}"), "MB/s")
        sheet.caveat(f"archiving the redo reads and writes it again ({twice} at its peak), which is not counted")
    if any(one.left is not None for one in found):
        notes += [f"what a failure inside the {one.stage.name} leaves is unknown" for one in found if one.left is None]
    if any(one.stage.drives for one in found):
        notes += replaced_figures(sheet)
    notes += [
        f"the capacity of the {one.stage.name} is what they deliver beside each other: sequential I/O takes "
        f"{share_text(one.streams)} of their time and random I/O {share_text(one.share - one.streams)}"
        for one in found
        if one.streams > 0.01
    ]
    if found and all(one.stage.drives for one in found):
        notes.append(
            f"the paths to the drives are not judged, because no path reports its speed ({KEYS['path.stages'].flag})"
        )
    if demand.iops and all(one.stage.iops is None for one in found):
        unused = sheet.unused("capacity.iops")
        ways = f"{capitalized(MEASURE)}, or use {KEYS['capacity.iops'].flag}"
        notes.append(
            f"the IOPS of the disks are unknown and not judged. {ways}"
            if unused is None
            else f"IOPS of the storage: not judged. {unused.sentence('IOPS')}, or use {KEYS['capacity.iops'].flag}"
        )
    if demand.throughput_is_its_own and all(one.stage.rate is None for one in found):
        ways = f"{capitalized(MEASURE)}, or use {KEYS['capacity.mb_s'].flag}"
        notes.append(f"the MB/s of the storage are unknown and not judged. {ways}")
    elif (
        demand.sequential
        and any(one.stage.drives and one.stage.rate is None for one in found)
        and all(one.path or one.stage.rate is None for one in found)
    ):
        notes.append(f"{brief(demand.sequential, 'MB/s')} of sequential I/O cost the drives nothing here: {NO_RATE}")
    stated = sheet.inputs.get("capacity.iops")
    if demand.iops and isinstance(stated, Quantity) and stated.origin is Origin.USER:
        sheet.caveat(
            "the IOPS of the storage are those of one mix, so the share of reads changes nothing; drives are judged by "
            "the mix (array.disks, array.raid)"
        )
    if demand.understated is not None:
        notes.append(
            f"{brief(demand.understated, 'MB/s')} in all (workload.mb_s) are less than the random I/O alone, which "
            "counts: check both figures"
        )
    return notes


def _balance(sheet: Sheet) -> Iterator[Advice]:
    """Return how many times the demand by rule of thumb the storage delivers."""
    least = find_bottleneck(sheet)
    demand = io_demand(sheet)
    if least is None or demand is None or not demand.by_rule or not demand.bytes_per_second:
        return
    ratio = least[1].value / demand.bytes_per_second
    sheet.line(f"{shown(least[1], 'MB/s')} / {format_in(demand.bytes_per_second, 'MB/s')} = {ratio:.6g}")
    title = "Storage capacity over the demand by rule of thumb"
    yield answered(sheet, "io.balance", title, f"{title}: {figure(ratio)} times", term(ratio, ""), "io.balance")


def _space(sheet: Sheet) -> Iterator[Advice]:
    database = sheet.optional("db.gb")
    if database is None:
        return
    found = _found_space(sheet)
    if found is None:
        needed, why, key = brief(database, "GB"), "nothing tells how large the storage is", "capacity.gb"
        if "array.disks" in sheet.inputs and "array.disk_gb" not in sheet.inputs:
            why, key = f"the {KEYS['array.disk_gb'].help} is not given", "array.disk_gb"
        elif servers(sheet) > 1:
            why, key = INSIDE, "path.stages"
        also = "" if key == "capacity.gb" else f" or {KEYS['capacity.gb'].assignment}"
        said = f"Space: {needed} demand, capacity unknown, because {why}. Use {KEYS[key].flag}{also}"
        yield judged(sheet, open_card("space", said, needed))
        return
    capacity, what = found
    growth, bounds = data_growth(sheet), limits(sheet)

    def shares(space: float, size: float, rate: float) -> Shares:
        return Shares(size / space, growth=Growth(rate, growth.years))

    judgment = decide(bounds, shares, capacity, database, data_rate(sheet, growth))
    today, last = judgment.shares.today, judgment.shares.last_year
    sheet.line(f"{shown(database, 'GB')} / {shown(capacity, 'GB')} = {share_text(today)}")
    if last is not None:
        later = format_in(float(f"{growth.grown(database.value):.4g}"), "GB")
        sheet.line(f"in year {format_in(growth.years, '')}: {later}, {share_text(last)}")
    sheet.caveat("tables and indexes alone count; redo and archived logs, backups and a reserve come on top")
    facts = ShareFacts(bounds_of(database), bounds_of(capacity), "GB", bottleneck=what)
    yield judged(sheet, decided_card("space", judgment, bounds, facts))


def _found_space(sheet: Sheet) -> tuple[Quantity, str] | None:
    """Return the space for the database and what gives it: as set, of the drives, else as detected; None if unknown.

    Of drives without a RAID level it is between half and all of them; all disks of the machine are an upper end alone.
    """
    stated, inside = sheet.inputs.get("capacity.gb"), inside_servers(sheet)
    drives = {"array.disks", "array.disk_gb"} <= sheet.inputs.keys() and not inside
    of_level = drives and "array.raid" in sheet.inputs
    if isinstance(stated, Quantity) and not (of_level and stated.origin is Origin.DETECTED):
        space = sheet.number("capacity.gb")
        place = None if "db.device" in sheet.inputs else sheet.optional_words("path.measured")
        if place is None or space.origin is not Origin.DETECTED:
            return space, stated.source
        why, way = f"that the database goes to {place}, where the storage was measured", f"Use {KEYS['db.device'].flag}"
        ends = (Uncertainty(end, why, way, upper=end is None, default=True) for end in (0.0, None))
        return replace(space, uncertainties=(*space.uncertainties, *ends)), stated.source
    if drives:
        count = format_in(drive_count(sheet), "drives")
        if of_level:
            return usable_bytes(sheet), f"{count} in RAID {sheet.words('array.raid')}"
        raw = raw_bytes(sheet)
        level = Uncertainty(raw.value, "the RAID level is not given", f"Use {KEYS['array.raid'].flag}", upper=True)
        copies = sheet.rule("raid.10.copies").value
        return replace(raw, value=raw.value / copies, uncertainties=(level,)), f"half of {count}, as in RAID 10"
    seen = None if "array.disks" in sheet.inputs else sheet.optional("path.disks_gb")
    if seen is None:
        return None
    why = f"nothing says which of the disks ({brief(seen, 'GB')} in all) are for the database"
    which = Uncertainty(0.0, why, f"Use {KEYS['db.device'].flag} or {KEYS['capacity.gb'].assignment}")
    return replace(seen, uncertainties=(which,)), f"{seen.source}, all that the machine sees"


CALCULATIONS = (
    Calculation("storage", _storage, ("verdict.storage",)),
    Calculation("capacity over the rule of thumb", _balance, ("io.balance",)),
    Calculation("space", _space, ("verdict.space",), about=("db.gb", "capacity.gb")),
)
