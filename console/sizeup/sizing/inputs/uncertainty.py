"""What a measured figure of storage leaves open: each cause moves one end of it.

A figure of a new file says nothing of what a cache may hold, one of seconds nothing of burst credits, one of a busy
host nothing of what an idle one reaches. Each cause bounds one stage (client, cache, credits, media), so the lower end
of a figure is the least of their ends, never a product. What is no evidence at all (a wrong target, I/O that went
through the page cache) is left out before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.checks import FAILED_CHECKS
from sizeup.model.machine import Machine
from sizeup.quantity import Quantity, Uncertainty
from sizeup.session.validity import ends_of_seconds, seconds_seen
from sizeup.session.value import StepRun
from sizeup.sizing.input_value import Value
from sizeup.sizing.inputs.measured_figures import MeasuredFigure, at_same_point, figures, quantity
from sizeup.sizing.io.share import MEASURED_BYTES, MIXED_WRITES, mix_cost
from sizeup.sizing.keys import KEYS
from sizeup.sizing.storage_paths import StorageTarget, internal_disks
from sizeup.units import as_percent, format_bytes, format_in

COLD = "storage.cold_iops"
LARGE = "storage.bandwidth"
MIXED = ("storage.mixed_read_write_iops", "storage.read_write_iops")
WITHIN_P99, P99_KEY = "storage.iops_within_p99", "capacity.iops_within_p99"
_CREDITS = 30.0
"""A volume with burst credits falls to this part of its burst: from 3,000 to 100 IOPS for the smallest gp2."""
_WRITTEN = 0.1
"""Of what flash writes at first is left once it is full and warm: published falls reach 88 to 94 %."""
_ANY_DATABASE_BYTES = 32 << 30
"""Old data of this size stands for a database of any size."""
_LONGER, _IDLE = "Measure for longer, on an idle host", "Measure again when idle"
_CLOUDS = ("Amazon", "Google", "Microsoft", "Alibaba", "DigitalOcean", "OpenStack", "Oracle", "Hetzner", "Tencent")
"""Vendors by DMI whose guests have volumes with burst credits."""
_HOST = "the host of this guest"


class Surroundings(Struct, frozen=True):
    """What is known of the storage beside the figures."""

    machine: Machine
    runs: Sequence[StepRun]
    stated: Mapping[str, Value]
    """What is known of the workload."""

    def wanted(self, key: str) -> float | None:
        """Return a figure of the workload; None where it is not given."""
        value = self.stated.get(key)
        return value.value if isinstance(value, Quantity) else None

    def behind(self, target: StorageTarget) -> str:
        """Return what may cache the data of a target outside of this machine; empty for drives inside it."""
        if self.machine.platform.is_guest:
            return _HOST
        if any(mount.export in target.disks for mount in self.machine.nfs_mounts):
            return "the server of this mount"
        return "" if target.disks <= internal_disks(self.machine) else "the array or controller"

    def cold(
        self, target: StorageTarget, of: Callable[[MeasuredFigure], StorageTarget | None]
    ) -> MeasuredFigure | None:
        """Return the reads of old data of a target, as unsteady as they were; None where there are none.

        Of several that stand for the database, or of all, the slowest: what one has read may be in a cache for the
        next.
        """
        found = [
            one
            for one in figures(self.runs, COLD)
            if (one.invalid is None or one.invalid.still_bounds) and of(one) == target
        ]
        return min(found, key=lambda one: (not self.stands_for_all(one), one.value), default=None)

    def stands_for_all(self, cold: MeasuredFigure) -> bool:
        """Whether reads of old data count for a database of this size."""
        database = self.wanted("db.gb")
        return database is None or _extra(cold, "sampled_bytes") >= min(database, _ANY_DATABASE_BYTES)


def with_uncertainties(
    key: str,
    figure: MeasuredFigure,
    sweep: Sequence[MeasuredFigure],
    about: Surroundings,
    target: StorageTarget,
    cold: MeasuredFigure | None,
) -> Quantity:
    """Return a figure with everything that moves one of its ends; ``sweep`` are those that differ in load alone."""
    value = with_ends(figure, "bytes/s" if KEYS[key].unit == "MB/s" else "1/s")
    uncertainties, searched = list(value.uncertainties), figure.declared.name == WITHIN_P99
    if why := why_lower_bound(key, sweep):
        action = "Measure at a queue depth that rises" if figure.run.step.gentle is None else "Measure at full load"
        action = "Measure without that limit" if _rate_limit(figure) else action
        uncertainties.append(Uncertainty(None, why, action, upper=True))
    if _extra(figure, "buffered"):
        why = "it was measured without direct I/O: the page cache may have served all of it"
        uncertainties.append(Uncertainty(0.0, why, "Measure with direct I/O (direct=1)"))
    uncertainties += beside_others(figure)
    uncertainties += _of_cache(key, figure, about, about.behind(target), cold)
    sustained = _extra(figure, "seconds") >= 1800
    platform = about.machine.platform  # of a guest that says nothing of its vendor too
    cloud = platform.is_guest and (platform.vendor is None or platform.vendor.startswith(_CLOUDS))
    if cloud and not sustained:
        end = (ends_of_seconds(figure.point)[0] or value.value) / _CREDITS
        why = f"a volume with burst credits may fall to a {_CREDITS:g}th"
        if seconds := _extra(figure, "seconds"):
            why += f" after these {seconds:.0f} s"
        action = f"Measure for 30 minutes, or enter what the volume sustains ({_typed(key)})"
        uncertainties.append(Uncertainty(end, why, action))
    mix = figure.declared.name in MIXED and write_share(figure) > 0
    if not sustained and (mix or (searched and figure.coordinate("read_percent") < 100)):
        uncertainties.append(
            Uncertainty(value.value * _WRITTEN, "flash writes slower once it is full", "Measure for 30 minutes")
        )
    return replace(value, uncertainties=tuple(uncertainties))


def write_share(figure: MeasuredFigure) -> float:
    """Return the share of writes of a mix; that of our preset where none was recorded."""
    estimate = figure.point.estimate
    recorded = "write_percent" in (estimate.extra if estimate else ())
    return min(max(_extra(figure, "write_percent") / 100, 0.0), 1.0) if recorded else MIXED_WRITES


def block_bytes(figure: MeasuredFigure) -> float:
    """Return the size of requests; ours where none was recorded."""
    size = _extra(figure, "block_bytes")
    return size if size >= 1 else MEASURED_BYTES


def with_ends(figure: MeasuredFigure, unit: str) -> Quantity:
    """Return a figure with the ends of its seconds where its interval does not tell them."""
    value, (worst, best, why) = quantity(figure, unit), _observed(figure)
    if not why:
        return value
    action = "Confirm one for a minute (preset slo)" if figure.declared.name == WITHIN_P99 else _LONGER
    ends = (Uncertainty(worst, why, action), Uncertainty(best, why, action, upper=True))
    return replace(value, value=value.value or best, low=None, high=None, uncertainties=ends)


def beside_others(figure: MeasuredFigure) -> Iterator[Uncertainty]:
    """Yield that the machine alone may be faster, where others used much of it."""
    loads = {"CPUs": max(_extra(figure, "stolen_share"), _extra(figure, "others_share"))}
    loads["I/O"] = _extra(figure, "others_io_share")
    most_used = max(loads, key=lambda part: loads[part])
    if (taken := loads[most_used]) > 0.05:  # from here on the machine alone may be faster
        yield Uncertainty(None, f"others took {as_percent(taken)} of the {most_used}", _IDLE, upper=True)


def with_other_runs(key: str, value: Quantity, figure: MeasuredFigure, others: Sequence[MeasuredFigure]) -> Quantity:
    """Return a figure that spans what other runs of the same measurement saw; none counts because it is newer."""
    ends = [(_observed(one), one) for one in (figure, *others)]
    least, most = min(ends, key=lambda one: one[0][0]), max(ends, key=lambda one: one[0][1])
    uncertainties = list(value.uncertainties)
    for upper, ((low, high, _), one) in ((False, least), (True, most)):
        if one is not figure:
            reason = f"{one.run.step.id} gave {format_in(float(f'{one.value:.4g}'), KEYS[key].unit)}"
            uncertainties.append(Uncertainty(high if upper else low, reason, _IDLE, upper=upper))
    return replace(value, uncertainties=tuple(uncertainties))


def of_block_size(key: str, value: Quantity, had: float, block: float, rate: float) -> Quantity:
    """Return IOPS measured with one size for requests of another; ``rate`` is a measured bandwidth, 0 for none.

    A larger request costs at most one of those and its bytes at that bandwidth, a smaller one at least its share.
    """
    if block == had:
        return value
    text = f"{format_bytes(had)} requests were measured, and {format_bytes(block)} are wanted"
    action = f"Enter {_typed(key)} for {format_bytes(block)}"
    if block < had:
        most = None if value.most is None else value.most * had / block
        return replace(value, uncertainties=(*value.uncertainties, Uncertainty(most, text, action, upper=True)))
    costs = [block / had, 1 + block * value.least / rate if rate else math.inf]
    least = 0.0 if key == P99_KEY else value.least / min(costs)  # one alone may take longer than a p99
    return replace(value, uncertainties=(*value.uncertainties, Uncertainty(least, text, action)))


def _of_cache(
    key: str, figure: MeasuredFigure, about: Surroundings, behind: str, cold: MeasuredFigure | None
) -> Iterator[Uncertainty]:
    """Yield that a cache may have answered: then old data bounds the figure, and nothing does where none was read."""
    suspected = figure.invalid is not None and not {"physical", "cache"}.isdisjoint(figure.invalid.parts)
    searched = figure.declared.name == WITHIN_P99  # from points that are judged apart
    suspected |= searched and any("sizing" in one.estimate.extra for one in figure.run.points.values() if one.estimate)
    cache = float(figure.run.step.settings.get("cache_size", 0) or 0)
    size = _extra(figure, "target_bytes")
    if not suspected and not (_extra(figure, "mount_point") and behind):
        return
    holder = behind or "a cache"
    what = f"a new file of {format_bytes(size)}" if size else "a new file"
    if cache and size > cache and not suspected:  # reads at random hit it in proportion, so that the rest are misses
        reason = f"a cache of {format_bytes(cache)} may hold {as_percent(cache / size)} of {what}"
        yield Uncertainty(figure.value * (1 - cache / size), reason, "Measure with a larger file")
    elif cold is not None and about.stands_for_all(cold) and not searched:  # which says nothing of a p99
        yield _of_cold_read(key, figure, behind, cold)
    else:
        action = "Measure its mount with the quick plan, which reads existing data too"
        if searched:
            action = "Measure a file larger than all caches"
        elif cold is not None:
            wanted = format_bytes(min(about.wanted("db.gb") or 0.0, _ANY_DATABASE_BYTES))
            found = format_bytes(_extra(cold, "sampled_bytes"))
            action = f"Measure where {wanted} are older than a day ({found} were found)"
        elif figure.run.step.settings.get("cold_read"):
            action = "Measure where 4 GiB or more are older than a day (less was found)"
        yield Uncertainty(0.0, f"{holder} may hold {what}", f"{action}, or enter {_typed(key)}")


def _of_cold_read(key: str, figure: MeasuredFigure, behind: str, cold: MeasuredFigure) -> Uncertainty:
    """Return that old data bound a figure below."""
    rate = cold.value * (MEASURED_BYTES if KEYS[key].unit == "MB/s" else 1)
    counts = (max(cold.value, _extra(cold, "all_iops")), cold.value)
    gave, certain = (format_in(float(f"{one:.4g}"), "IOPS") for one in counts)
    old = f"old data gave {gave}{' of reads' if figure.declared.name in MIXED else ''}"
    old += f" ({certain} count as certain)" if gave != certain else ""
    if figure.declared.name in MIXED:  # of old data nothing was written
        shared = behind != _HOST
        rate /= mix_cost(write_share(figure), shared=shared)
        old += f", and a write may take as long as {mix_cost(1, shared=shared):g} of them"
    action = f"Measure a file larger than all caches, or enter {_typed(key)}"
    return Uncertainty(min(rate, figure.value), old, action)


def _typed(key: str) -> str:
    """Return the key to type a measured figure by."""
    return "capacity.iops" if key == "capacity.mixed_iops" else key


def why_lower_bound(key: str, sweep: Sequence[MeasuredFigure]) -> str:
    """Return why the best figure of a sweep is only a lower bound; empty where its target gives no more."""
    most = max(sweep, key=lambda one: one.value)
    if most.invalid is not None and not most.invalid.still_bounds:
        return f"the best figure of its ramp is not valid ({most.invalid.cause})"
    if most.declared.name == WITHIN_P99:
        return "" if quantity(most, "").high else "every rate that was tried held"
    if most.run.step.gentle is not None:
        return f"it was measured gently: {most.run.step.gentle}"
    if limit := _rate_limit(most):
        return f"its rate was limited ({limit})"
    if KEYS[key].unit == "MB/s" and most.declared.name != LARGE:
        return "small requests were measured, and large ones carry more"
    loads = sorted({one.load: one.value for one in sorted(sweep, key=lambda one: one.value) if one.load}.items())
    if len(loads) < 2:
        return f"it was measured at queue depth {most.load:g} alone"
    if (busy := cpu_share(most)) > 0.95:  # of all CPU time
        return f"the CPUs of the host were the limit ({as_percent(busy)} busy)"
    (depth, before), (deepest, last) = list(pairwise(loads))[-1]
    # A doubling of the depth that still gains a tenth shows that the depth was the limit.
    if most.load == deepest and last > before * 1.1 ** math.log2(deepest / depth):
        return f"it still rose at queue depth {deepest:g}, where its ramp ended"
    return ""


def _rate_limit(figure: MeasuredFigure) -> str:
    """Return the option by which another tool was to give no more; empty where there is none."""
    return "" if figure.point.estimate is None else str(figure.point.estimate.extra.get("rate_limit", ""))


def cpu_share(figure: MeasuredFigure) -> float:
    """Return the CPU time of the whole host in use while a figure was measured; 0 where that was not recorded."""
    shares = (one.value for one in figures([figure.run], "host.cpu_share") if at_same_point(one, figure))
    return next(shares, 0.0)


def _observed(figure: MeasuredFigure) -> tuple[float, float, str]:
    """Return the ends between which a figure was seen, and why they are its worst and its best second.

    The reason is empty where they are those of its interval. Without samples nothing bounds an unsteady figure below.
    """
    value = quantity(figure, "")
    if figure.declared.name == WITHIN_P99:  # its search and its minute tell whether it holds
        return value.least, value.high or value.value, "" if value.least else "no rate was confirmed"
    if seen := seconds_seen(figure.point, figure.invalid):
        unsteady = figure.invalid is not None and "steady" in figure.invalid.parts
        return *seen, FAILED_CHECKS["steady"] if unsteady else "it was measured in few ramps"
    return value.least, value.value if value.high is None else value.high, ""


def _extra(figure: MeasuredFigure, name: str) -> float:
    """Return a number beside an estimate; 0 where there is none, and 1 for words."""
    estimate = figure.point.estimate
    value = None if estimate is None else estimate.extra.get(name)
    return float(value) if isinstance(value, int | float) else float(value is not None)
