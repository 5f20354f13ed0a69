"""The checks of each point, from the evidence read with it, and the verdict on the run as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from sizeup.model.sample import Estimate
from sizeup_direct_io import steadiness, validity
from sizeup_direct_io.background import BackgroundLoad
from sizeup_direct_io.check_result import Part, Validity
from sizeup_direct_io.disks import is_virtual, rotating_disks, storage_systems
from sizeup_direct_io.estimates import VERDICT_VALUES, validity_estimate
from sizeup_direct_io.limits import read_limits
from sizeup_direct_io.measured_point import MeasuredPoint
from sizeup_direct_io.path_bandwidth import TargetBandwidth
from sizeup_direct_io.presets import SMALL_BYTES, LoadPoint
from sizeup_direct_io.run_statement import run_statement
from sizeup_direct_io.submitters import check_submitters
from sizeup_direct_io.target_setup import TargetSetup
from sizeup_direct_io.thermal import thermal_caveats, thermal_summary
from sizeup_direct_io.worker import Pattern


class PointVerdict(Struct, frozen=True):
    """Checks the points of one target."""

    setup: TargetSetup
    background: BackgroundLoad
    path_limit: float | None
    path_bandwidth: TargetBandwidth | None
    stated_cache_bytes: int
    """As set by the user; 0 if not set."""

    def parts(
        self, point: LoadPoint, run: MeasuredPoint, cached_before: int | None, earlier: Sequence[MeasuredPoint] = ()
    ) -> tuple[Part, ...]:
        """Return the four checks of a point; ``earlier`` are its windows in earlier ramps."""
        evidence = self._evidence(point, run, cached_before)
        conditions = self._conditions(run, earlier)
        return (
            validity.check_direct(evidence),
            validity.check_physical(evidence),
            steadiness.check_steady(conditions),
            check_submitters(run.busiest_thread, run.threads),
        )

    def _evidence(self, point: LoadPoint, run: MeasuredPoint, cached_before: int | None) -> validity.Evidence:
        target = self.setup.target
        reads = sum(interval.read_bytes for interval in run.intervals.values())
        writes = sum(interval.written_bytes for interval in run.intervals.values())
        small = [
            interval.quantile_ns("read", 0.5)
            for (stream, _), interval in zip(point.loads, run.intervals.values(), strict=True)
            if stream.block_bytes <= 2 * SMALL_BYTES and interval.count("read")
        ]
        cached = self.setup.cached_bytes()
        extends = any(stream.extends for stream, _ in point.loads)
        at_random = all(stream.pattern is Pattern.RANDOM for stream, _ in point.loads)
        charged, device = run.charged_bytes(reads=reads > 0, writes=writes > 0)
        return validity.Evidence(
            alignment=self.setup.alignment,
            cache_growth_bytes=None if cached is None or cached_before is None else cached - cached_before,
            requested_bytes=run.requested_bytes,
            uncertainty_bytes=run.uncertainty_bytes,
            charged_bytes=charged,
            device_bytes=device,
            extents=None if extends else self.setup.extents,
            content=self.setup.content,
            target_bytes=target.size_bytes,
            small_read_p50_ns=min(small, default=None),
            iops=run.iops,
            bytes_per_second=max(reads, writes) / run.seconds,
            path_limit=self.path_limit,
            path_bandwidth=self.path_bandwidth,
            working_set_bytes=round(point.share * target.size_bytes),
            storage_systems=storage_systems(target.device_number),
            stated_cache_bytes=self.stated_cache_bytes,
            rotating_disks=rotating_disks(target.device_number) if at_random else 0,
            network=target.network,
            file_system=target.mount.kind if target.mount else "the device",
            virtual=is_virtual(target.device_number),
            cached_before_bytes=cached_before or 0,
        )

    def _conditions(self, run: MeasuredPoint, earlier: Sequence[MeasuredPoint]) -> steadiness.Conditions:
        host = run.host_cpu
        writes = any(interval.written_bytes for interval in run.intervals.values())
        return steadiness.Conditions(
            drift=run.halves - 1,
            background_pressure_percent=self.background.pressure_percent,
            background_busy_share=self.background.busy_share,
            stolen_share=None if host is None else host.stolen_ns / (host.capacity_ns + host.stolen_ns),
            errors=sum(interval.errors for interval in run.intervals.values()),
            others_share=run.others_busy_share,
            other_io=run.other_io(),
            background_io=self.background.io,
            thermal_caveats=thermal_caveats(run.before.thermal, run.after.thermal),
            thermal_summary=thermal_summary(run.before.thermal, run.after.thermal),
            limits=read_limits(self.setup.target.device_number),
            path_changes=run.path_changes,
            not_preconditioned=writes and not rotating_disks(self.setup.target.device_number),
            ramp_change=run.iops / earlier[0].iops - 1 if earlier and earlier[0].iops else None,
        )


def worse(before: Sequence[Part], after: Sequence[Part]) -> tuple[Part, ...]:
    """Return the worse of two results of each check, so that a caveat of one ramp applies to the figure of all."""
    return tuple(
        first if VERDICT_VALUES[first.verdict] < VERDICT_VALUES[second.verdict] else second
        for first, second in zip(before, after, strict=True)
    )


def overall(title: str, parts: Sequence[Part], path_changes: Sequence[str] = ()) -> Iterator[Estimate]:
    """Yield the worst result of each check over all points, and one verdict for the run."""
    worst: dict[str, Part] = {}
    for part in parts:
        found = worst.setdefault(part.name, part)
        if VERDICT_VALUES[part.verdict] < VERDICT_VALUES[found.verdict]:
            worst[part.name] = part
    if not worst:
        return
    for part in worst.values():
        yield validity_estimate({}, part)
    caveats = [f"{part.name}: {reason}" for part in worst.values() for reason in part.caveats]
    caveats += [change for change in path_changes if not any(change in reason for reason in caveats)]
    verdict = min((part.verdict for part in worst.values()), key=VERDICT_VALUES.__getitem__)
    yield Estimate(
        "validity",
        {"part": "all"},
        VERDICT_VALUES[verdict],
        extra={
            "verdict": verdict.value,
            "reasons": "; ".join(caveats),
            "severity": "warning" if verdict is Validity.FAIL or path_changes else "info",
            **run_statement(title, tuple(worst.values()), path_changes),
        },
    )
