"""The checks of each point, from the evidence read with it, and the verdict on the run as a whole."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from msgspec import Struct

from sizeup.model.checks import CHECKS
from sizeup.model.sample import Estimate
from sizeup.procfs.block import read_block_stack
from sizeup.procfs.kernel_file import PROC, SYS, read_line, read_text
from sizeup.procfs.process import read_cgroups
from sizeup.text import plural
from sizeup.units import as_percent
from sizeup_direct_io import validity
from sizeup_direct_io.disks import rotating_disks
from sizeup_direct_io.estimates import other_load, validity_estimate
from sizeup_direct_io.measure import MeasuredPoint
from sizeup_direct_io.presets import LoadPoint
from sizeup_direct_io.settings import RunSettings
from sizeup_direct_io.target import TargetSetup
from sizeup_direct_io.validity import Part, Reason, Validity, fail, mixed_paths, passed, unknown, warn
from sizeup_direct_io.window_counters import BackgroundLoad, thermal_caveats, thermal_summary

_V1_FILES = tuple(f"blkio.throttle.{way}_{what}_device" for way in ("read", "write") for what in ("iops", "bps"))
_MOST_REASONS = 6
DRIFT, LARGE_DRIFT = 0.05, 0.20
BACKGROUND_CHANGE = 0.10
"""Of all CPU time: if other processes use this much more than before the run, they affect its figures."""


def read_limits(device_number: int, *, sysfs: str = SYS, proc: str = PROC) -> tuple[str, ...]:
    """Return the limits of this process's control groups on a device, as text."""
    stack = read_block_stack(device_number, sysfs)  # with the disk of a partition, and the devices beneath it
    numbers = set() if stack is None else {read_line(f"{folder}/dev") for folder in stack.folders}
    found = []
    for group in read_cgroups(proc):
        v1 = _V1_FILES if "blkio" in group.controllers else ()
        folders, names = (("", "/unified"), ("io.max",)) if group.unified else (("/blkio",), v1)
        for path, folder, name in itertools.product(group.ancestors(), folders, names):
            for line in (read_text(f"{sysfs}/fs/cgroup{folder}{path}/{name}") or "").splitlines():
                number, _, limit = line.partition(" ")
                set_ones = " ".join(word for word in limit.split() if not word.endswith("=max"))
                if number in numbers and set_ones:
                    found.append(f"{name} of the control group {path}: {set_ones}")
    return tuple(found)


def run_statement(
    title: str, parts: Sequence[Part], other_changes: Sequence[str], figures: str = "Storage figures"
) -> dict[str, str]:
    """Return the statement on the figures of a run, and what goes with it; ``title`` is what was run and where.

    ``other_changes`` are the path changes that no caveat in ``parts`` mentions.
    """
    failed, warned, unknown = (
        [part.name for part in parts if part.verdict is verdict]
        for verdict in (Validity.FAIL, Validity.WARN, Validity.UNKNOWN)
    )
    evidence = "direct" not in failed  # of the storage, and not of the memory in front of it
    if failed:
        state = f"{figures} are {'uncertain' if evidence else 'not valid'}"
        clauses = [CHECKS[name].failed for name in failed]
    elif warned:
        state, clauses = f"{figures} with a caveat", [CHECKS[name].warned for name in warned]
    elif unknown:
        named = ", ".join(CHECKS[name].unchecked for name in unknown)
        state, clauses = f"{figures} with a caveat", [f"not checked: {named}"]
    else:
        return {"statement": f"{figures} passed every check", "evidence": "\n".join(other_changes)}
    use = "A verdict counts them as far as they reach" if evidence else "No verdict uses them"
    use = use if failed else "They are used; read the reasons"
    worst_first = sorted(parts, key=lambda part: part.value)
    caveats = [caveat for part in worst_first for caveat in part.caveats]
    caveats.sort(key=lambda caveat: not caveat.path_change)  # lost paths come first
    reasons = [*dict.fromkeys((*other_changes, *(caveat.cause for caveat in caveats)))]
    more = len(reasons) - _MOST_REASONS
    shown = [*reasons[:_MOST_REASONS], *([plural(more, "further reason")] if more > 0 else [])]
    return {
        "statement": f"{state}: {' and '.join(clauses)}",
        "consequence": f"{use} ({title}).",
        "evidence": "\n".join(shown),
        "remedy": " ".join(filter(None, (CHECKS[name].remedy for name in failed))),
    }


class PointVerdict(Struct, frozen=True):
    """Checks the points of one target."""

    setup: TargetSetup
    background: BackgroundLoad
    settings: RunSettings

    def parts(
        self, point: LoadPoint, run: MeasuredPoint, cached_before: int | None, earlier: Sequence[MeasuredPoint] = ()
    ) -> tuple[Part, ...]:
        """Return the four checks of a point; ``earlier`` are its windows in earlier ramps."""
        changed = run.iops / earlier[0].iops - 1 if earlier and earlier[0].iops else None
        device = self.setup.target.device_number
        intervals = run.intervals.values()
        reads, writes = any(each.read_bytes for each in intervals), any(each.written_bytes for each in intervals)
        charged, counted = run.charged_bytes(reads=reads, writes=writes)
        steady = check_steady([run], run.halves - 1, self.background, device, changed)
        return (
            Part.of("direct", validity.check_direct(self.setup, run, cached_before, charged)),
            Part.of("physical", validity.check_physical(self.setup, self.settings, point, run, counted)),
            Part.of("steady", steady),
            validity.check_submitters(run.busiest_thread, run.threads),
        )


def check_steady(
    runs: Sequence[MeasuredPoint],
    drift: float,
    background: BackgroundLoad,
    device_number: int,
    ramp_change: float | None = None,
) -> Iterator[Reason]:
    """Check whether the throughput of a point was steady, on a host without much other load: of its windows, the worst.

    ``drift`` is its later throughput over the earlier, minus one; ``ramp_change`` that of this ramp over the first one.
    """
    change = f"throughput drifted {as_percent(drift, '+.0f')} from the first half to the second"
    if abs(drift) > LARGE_DRIFT:
        yield fail(f"{change}: burst credits, a write cache, throttling or another tenant")
    else:
        yield warn(change) if abs(drift) > DRIFT else passed(change)
    if ramp_change is not None:
        ramp = f"throughput of this ramp {as_percent(ramp_change, '+.0f')} relative to the first"
        yield warn(ramp) if abs(ramp_change) > LARGE_DRIFT else passed(ramp)
    yield from map(warn, background.background_caveats)
    load, busy_before = other_load(runs), background.busy_share
    others, stolen = load.get("others_share"), load.get("stolen_share")
    if others is not None and busy_before is not None and others > busy_before + BACKGROUND_CHANGE:
        earlier = as_percent(busy_before)
        yield warn(f"other processes used {as_percent(others)} of the CPUs during the run, {earlier} before it")
    if known := [io for run in runs if (io := run.other_io()) is not None]:
        most, before = max(known, key=lambda io: io.share), f"; before it {background.io}" if background.io else ""
        text = f"other I/O, or the file system's own, during the run: {most}{before}"
        yield warn(text) if most.significant else passed(text)
    thermal = runs[0].before.thermal, runs[-1].after.thermal
    yield from [warn(each) for each in thermal_caveats(*thermal)] or [passed(thermal_summary(*thermal))]
    if stolen is None:
        yield unknown("CPU time of other processes and of the hypervisor: /proc/stat cannot be read")
    elif stolen > 0.05:
        yield warn(f"steal time: {as_percent(stolen)} of the CPU time")
    intervals = [interval for run in runs for interval in run.intervals.values()]
    if any(interval.written_bytes for interval in intervals) and not rotating_disks(device_number):
        text = "flash with erased blocks writes faster than it can sustain; not a steady-state figure"
        yield warn(f"not preconditioned: {text}")
    yield from (mixed_paths(change) for run in runs for change in run.path_changes)
    yield from (warn(f"limited by {limit}") for limit in read_limits(device_number))
    if errors := sum(interval.errors for interval in intervals):
        yield warn(f"{errors} requests failed; they are excluded from all figures")


def worse(before: Sequence[Part], after: Sequence[Part]) -> tuple[Part, ...]:
    """Return the worse of two results of each check, of which a cache that one ramp shows applies to all of them."""

    def together(first: Part, second: Part) -> Part:
        worst, other = (first, second) if first.value < second.value else (second, first)
        cached = (reason for reason in other.found if reason.cached and not worst.from_cache)
        return Part(worst.name, (*worst.found, *cached))

    return tuple(together(first, second) for first, second in zip(before, after, strict=True))


def overall(
    title: str, parts: Sequence[Part], path_changes: Sequence[str] = (), figures: str = "Storage figures"
) -> Iterator[Estimate]:
    """Yield the worst result of each check over all points, and one verdict for the run."""
    worst: dict[str, Part] = {}
    for part in parts:
        found = worst.setdefault(part.name, part)
        if part.value < found.value:
            worst[part.name] = part
    if not worst:
        return
    for part in worst.values():
        yield validity_estimate({}, part)
    caveats = [(part.name, caveat) for part in worst.values() for caveat in part.caveats]
    mentioned = {caveat.path_change for _, caveat in caveats}
    others = [change for change in path_changes if change not in mentioned]
    gravest = min(worst.values(), key=lambda part: part.value)
    extra = {
        "verdict": gravest.verdict.value,
        "reasons": "; ".join([*(f"{name}: {caveat.text}" for name, caveat in caveats), *others]),
        "severity": "warning" if gravest.verdict is Validity.FAIL or path_changes else "info",
        **run_statement(title, tuple(worst.values()), others, figures),
    }
    yield Estimate("validity", {"part": "all"}, gravest.value, extra=extra)
