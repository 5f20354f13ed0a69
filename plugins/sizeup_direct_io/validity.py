"""Whether a result is what it claims to be: direct, concurrent, physical and steady.

Each part is judged from facts that were read beside the measurement, and says which fact decided.
No single check sees every way of being fooled: a sparse file passes the alignment and the page
cache, a file with journaled data passes the open, a buffered one passes the accounting.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from sizeup.units import format_bytes, format_ns, format_rate
from sizeup_direct_io.binding import Extents
from sizeup_direct_io.disks import OtherIo
from sizeup_direct_io.path_bandwidth import PathBandwidth

CHARGED_LOW, CHARGED_HIGH = 0.95, 1.05
"""Bytes charged to this process at the block layer over bytes asked for, when all is direct."""
REPORTED_UNCERTAINTY, MAX_UNCERTAINTY = 0.005, 0.05
"""Of the bytes asked for: counters read this late are told so, and read that late they prove nothing."""
IMPLAUSIBLE_NS = 10_000
"""No device with a bus in between answers 8 KiB faster; the best NVMe takes about this."""
IMPLAUSIBLE_IOPS = 1_000_000
CONCURRENT, SERIALIZED = 0.8, 0.5
"""Writers to one file over writers to files of their own: from here it scales, up to here a lock holds."""
DRIFT, LARGE_DRIFT = 0.05, 0.20
MAX_PRESSURE_PERCENT = 25.0
MAX_BUSY_SHARE = 0.5
BACKGROUND_CHANGE = 0.10
"""Of all CPU time: other processes that take this much more than before the run have moved its figures."""


class Validity(Enum):
    """What a part comes to."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"


class Part(Struct, frozen=True):
    """One of the four questions, answered."""

    name: str
    verdict: Validity
    reasons: tuple[str, ...]
    """Everything that was looked at, in words."""
    caveats: tuple[str, ...] = ()
    """Those of the reasons that speak against it."""
    from_cache: bool = False
    """What was measured may be a cache: kept out of sizing, whatever the verdict."""


class Evidence(Struct, frozen=True):
    """What was read beside one measurement; None where the system does not say."""

    alignment: tuple[int, int] | None
    """Memory and offset, from statx; (0, 0) is the file system's word for no direct I/O."""
    cache_growth_bytes: int | None
    requested_bytes: int
    """What the workers had moved between two readings of the counters below."""
    uncertainty_bytes: int
    """How far ``requested_bytes`` may be off, for requests went on while the counters were read."""
    charged_bytes: int | None
    device_bytes: int | None
    """By the device's own counters, with everybody else's."""
    extents: Extents | None
    target_bytes: int
    small_read_p50_ns: float | None
    iops: float
    bytes_per_second: float
    """In the busier direction: links carry both at once."""
    path_limit: float | None
    """Payload bytes a second that the way to the storage can carry, by the user's word."""
    path_bandwidth: PathBandwidth | None
    """The same by discovery, which may not know all of it."""
    network: bool
    file_system: str
    """Its kind, as the kernel names it."""
    virtual: bool
    """A hypervisor's device: what its host caches cannot be seen."""

    @property
    def nfs(self) -> bool:
        """Whether the counters are those of the kernel's NFS client."""
        return self.file_system.startswith("nfs")

    @property
    def in_user_space(self) -> bool:
        """Whether a program answers the requests; the kernel charges nobody for what it does with them."""
        return self.file_system.startswith("fuse")


def _worst(verdicts: list[Validity]) -> Validity:
    for verdict in (Validity.FAIL, Validity.WARN, Validity.UNKNOWN):
        if verdict in verdicts:
            return verdict
    return Validity.PASS


class _VerdictBuilder:
    """Collects what speaks against a part, and what for it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._verdicts: list[Validity] = []
        self._reasons: list[str] = []
        self._from_cache = False

    def say(self, verdict: Validity, reason: str) -> None:
        self._verdicts.append(verdict)
        self._reasons.append(reason)

    def suspect_cache(self, verdict: Validity, reason: str) -> None:
        """Something speaks against it that only a cache explains."""
        self.say(verdict, f"{reason}: cache? Kept out of sizing")
        self._from_cache = True

    def part(self) -> Part:
        if not self._verdicts:
            self.say(Validity.UNKNOWN, "nothing that the kernel tells here says so or otherwise")
        caveats = list(zip(self._verdicts, self._reasons, strict=True))
        return Part(
            self._name,
            _worst(self._verdicts),
            tuple(self._reasons),
            tuple(reason for verdict, reason in caveats if verdict is not Validity.PASS),
            self._from_cache,
        )


def check_direct(evidence: Evidence) -> Part:
    """Whether requests went past the page cache to the block layer."""
    builder = _VerdictBuilder("direct")
    if evidence.alignment == (0, 0):
        builder.say(Validity.FAIL, f"{evidence.file_system} does no direct I/O to this file (statx: no alignment)")
    elif evidence.alignment is not None:
        builder.say(Validity.PASS, f"direct I/O with {evidence.alignment[1]}-byte alignment")
    if evidence.cache_growth_bytes is not None:
        # A few pages come and go with metadata and readers of the same file elsewhere.
        if evidence.cache_growth_bytes > max(1 << 20, evidence.requested_bytes // 100):
            builder.say(Validity.FAIL, f"the page cache took {format_bytes(evidence.cache_growth_bytes)} of this file")
        else:
            builder.say(Validity.PASS, "the page cache did not grow")
    if evidence.in_user_space:
        builder.say(Validity.UNKNOWN, "a file system in user space: where its program takes the data is not seen")
    elif evidence.charged_bytes is not None and evidence.requested_bytes:
        ratio, uncertainty = (
            evidence.charged_bytes / evidence.requested_bytes,
            evidence.uncertainty_bytes / evidence.requested_bytes,
        )
        reached = "were direct by the NFS client's counters" if evidence.nfs else "reached the block layer"
        late = f", give or take {uncertainty:.2f}" if uncertainty >= REPORTED_UNCERTAINTY else ""
        text = f"{ratio:.2f} of the bytes asked for {reached}{late}"
        if ratio + uncertainty < CHARGED_LOW:
            builder.say(Validity.FAIL, f"only {text}")
        elif ratio - uncertainty > CHARGED_HIGH:
            builder.say(Validity.WARN, f"{ratio:.2f} times the bytes asked for {reached}{late}")
        elif uncertainty > MAX_UNCERTAINTY:
            builder.say(Validity.UNKNOWN, f"{text}: the counters could not be read in time")
        else:
            builder.say(Validity.PASS, text)
    return builder.part()


def check_physical(evidence: Evidence) -> Part:
    """Whether data that exists came from a device that could deliver it."""
    builder = _VerdictBuilder("physical")
    if evidence.extents is not None:
        empty = evidence.extents.hole_bytes + evidence.extents.unwritten_bytes
        if empty:
            share = empty / evidence.target_bytes
            builder.say(Validity.FAIL, f"{share:.0%} of the target was never written: reads of it ask no device")
        elif evidence.extents.odd_bytes:
            builder.say(
                Validity.WARN,
                f"{format_bytes(evidence.extents.odd_bytes)} are compressed, inline or not yet on the device",
            )
        else:
            builder.say(Validity.PASS, "every byte of the target is written")
    if evidence.small_read_p50_ns is not None and evidence.small_read_p50_ns < IMPLAUSIBLE_NS:
        builder.say(Validity.WARN, f"a median of {format_ns(evidence.small_read_p50_ns)} is a cache's, not a device's")
    if evidence.iops > IMPLAUSIBLE_IOPS:
        builder.suspect_cache(Validity.WARN, f"{evidence.iops / 1e6:.1f} million requests a second")
    if evidence.path_limit and evidence.bytes_per_second > evidence.path_limit:
        rate, path_rate = format_rate(evidence.bytes_per_second), format_rate(evidence.path_limit)
        builder.suspect_cache(Validity.FAIL, f"{rate} is more than the path carries ({path_rate}, by path_limit)")
    elif (
        not evidence.path_limit
        and evidence.path_bandwidth
        and evidence.bytes_per_second > evidence.path_bandwidth.bytes_per_second
    ):
        rate, path_rate = format_rate(evidence.bytes_per_second), format_rate(evidence.path_bandwidth.bytes_per_second)
        builder.suspect_cache(
            Validity.WARN, f"{rate} is more than the way carries ({path_rate}, {evidence.path_bandwidth.source})"
        )
    if evidence.device_bytes is not None and evidence.requested_bytes:
        ratio, uncertainty = (
            evidence.device_bytes / evidence.requested_bytes,
            evidence.uncertainty_bytes / evidence.requested_bytes,
        )
        saw = f"the {'NFS client' if evidence.nfs else 'device'}'s counters saw"
        if ratio + uncertainty < CHARGED_LOW:
            builder.say(Validity.FAIL, f"{saw} {ratio:.2f} of the bytes asked for")
        elif ratio > 1.5:
            builder.say(Validity.WARN, f"{saw} {ratio:.1f} times the bytes asked for: others use it too")
        else:
            builder.say(Validity.PASS, f"{saw} {ratio:.2f} of the bytes asked for")
    if evidence.virtual:
        builder.say(Validity.UNKNOWN, "a virtual device: a cache of its host cannot be seen from here")
    if evidence.in_user_space:
        builder.say(Validity.UNKNOWN, "a file system in user space: a cache of its program cannot be seen from here")
    if evidence.network:
        builder.say(Validity.UNKNOWN, "a network file system: a cache of its server cannot be seen from here")
    return builder.part()


def check_concurrent(ratio: float | None, why_unknown: str) -> Part:
    """Whether writers to one file stand in each other's way; ``ratio`` is one file over many."""
    builder = _VerdictBuilder("concurrent")
    if ratio is None:
        builder.say(Validity.UNKNOWN, why_unknown)
    elif ratio >= CONCURRENT:
        builder.say(Validity.PASS, f"writers to one file reach {ratio:.2f} of writers to files of their own")
    elif ratio <= SERIALIZED:
        builder.say(Validity.FAIL, f"writers to one file are serialized: {ratio:.2f} of writers to files of their own")
    else:
        builder.say(Validity.WARN, f"writers to one file reach only {ratio:.2f} of writers to files of their own")
    return builder.part()


def check_extending(ratio: float | None, engine: str) -> Part:
    """The same where every write lies beyond the file's end: most file systems let one writer do that at a time.

    Without a ratio ``engine`` is why there is none.
    """
    builder = _VerdictBuilder("extending")
    if ratio is None:
        builder.say(Validity.UNKNOWN, engine)
        return builder.part()
    text = f"writers that extend one file reach {ratio:.2f} of writers that extend files of their own ({engine})"
    if ratio >= CONCURRENT:
        builder.say(Validity.PASS, text)
    elif ratio <= SERIALIZED:
        builder.say(Validity.FAIL, f"{text}: they are serialized; allocate data files in full before they are filled")
    else:
        builder.say(Validity.WARN, text)
    return builder.part()


class Conditions(Struct, frozen=True):
    """How calm it was around a measurement."""

    drift: float
    """Throughput of the second half over the first, less one."""
    background_pressure_percent: float | None
    """Share of time somebody waited for a CPU before the run started; None without PSI."""
    background_busy_share: float | None
    """Share of CPU time that others used then; None where it cannot be read."""
    stolen_share: float | None
    """None where it cannot be read."""
    errors: int
    others_share: float | None = None
    """Share of CPU time that other processes used meanwhile; None where it was not read."""
    other_io: OtherIo | None = None
    """What others moved on the same disks meanwhile; None where the target lies on no disk."""
    background_io: OtherIo | None = None
    """The same before the run."""
    thermal_caveats: tuple[str, ...] = ()
    thermal_summary: str = ""
    ramp_change: float | None = None
    """This ramp's throughput over that of the first, less one; None in the first."""
    limits: tuple[str, ...] = ()
    """Of this process's control groups on the device, in words."""
    path_changes: tuple[str, ...] = ()
    """Paths to the target that changed their state meanwhile, in words."""


def background_caveats(conditions: Conditions) -> tuple[str, ...]:
    """Why this host is too busy for its figures to be the storage's; empty when it is calm."""
    reasons = []
    pressure = conditions.background_pressure_percent
    if pressure is not None and pressure > MAX_PRESSURE_PERCENT:
        reasons.append(f"others waited for a CPU {pressure:.0f} % of the time before the run")
    if conditions.background_busy_share is not None and conditions.background_busy_share > MAX_BUSY_SHARE:
        reasons.append(f"others used {conditions.background_busy_share:.0%} of the CPUs before the run")
    return tuple(reasons)


def _check_background(builder: _VerdictBuilder, conditions: Conditions) -> None:
    """What changed around the measurement: other processes on the CPUs, other bytes on the disks."""
    others, background_busy = conditions.others_share, conditions.background_busy_share
    if others is not None and background_busy is not None and others > background_busy + BACKGROUND_CHANGE:
        builder.say(
            Validity.WARN, f"others used {others:.0%} of the CPUs meanwhile, {background_busy:.0%} before the run"
        )
    if conditions.other_io is not None:
        before = f"; before the run {conditions.background_io}" if conditions.background_io else ""
        text = f"others, or the file system for itself, {conditions.other_io} meanwhile{before}"
        builder.say(Validity.WARN if conditions.other_io.significant else Validity.PASS, text)


def mixed_paths(change: str) -> str:
    """What a change of a path means for a figure that was taken across it."""
    return f"{change}: the figure mixes what was measured before and after"


def check_steady(conditions: Conditions) -> Part:
    """Whether the rate was that of the whole time, on a calm host."""
    builder = _VerdictBuilder("steady")
    change = f"the second half ran {conditions.drift:+.0%} against the first"
    if abs(conditions.drift) > LARGE_DRIFT:
        builder.say(Validity.FAIL, f"{change}: a burst credit, a write cache, throttling or a neighbor")
    elif abs(conditions.drift) > DRIFT:
        builder.say(Validity.WARN, change)
    else:
        builder.say(Validity.PASS, change)
    if conditions.ramp_change is not None:
        ramp = f"this ramp ran {conditions.ramp_change:+.0%} against the first"
        builder.say(Validity.WARN if abs(conditions.ramp_change) > LARGE_DRIFT else Validity.PASS, ramp)
    for reason in background_caveats(conditions):
        builder.say(Validity.WARN, reason)
    _check_background(builder, conditions)
    for reason in conditions.thermal_caveats:
        builder.say(Validity.WARN, reason)
    if conditions.thermal_summary and not conditions.thermal_caveats:
        builder.say(Validity.PASS, conditions.thermal_summary)
    if conditions.stolen_share is None:
        builder.say(Validity.UNKNOWN, "CPU time of other processes and of the hypervisor: /proc/stat cannot be read")
    elif conditions.stolen_share > 0.05:
        builder.say(Validity.WARN, f"the hypervisor took {conditions.stolen_share:.0%} of the CPUs away")
    for change in conditions.path_changes:
        builder.say(Validity.WARN, mixed_paths(change))
    for limit in conditions.limits:
        builder.say(Validity.WARN, f"limited by {limit}")
    if conditions.errors:
        builder.say(Validity.WARN, f"{conditions.errors} requests failed; no figure holds them")
    return builder.part()
