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
from sizeup_direct_io.disks import Foreign
from sizeup_direct_io.path_bandwidth import PathBandwidth

CHARGED_LOW, CHARGED_HIGH = 0.95, 1.05
"""Bytes charged to this process at the block layer over bytes asked for, when all is direct."""
REPORTED_BLUR, MOST_BLUR = 0.005, 0.05
"""Of the bytes asked for: counters read this late are told so, and read that late they prove nothing."""
IMPLAUSIBLE_NS = 10_000
"""No device with a bus in between answers 8 KiB faster; the best NVMe takes about this."""
IMPLAUSIBLE_IOPS = 1_000_000
CONCURRENT, SERIALIZED = 0.8, 0.5
"""Writers to one file over writers to files of their own: from here it scales, up to here a lock holds."""
DRIFT, LARGE_DRIFT = 0.05, 0.20
CALM_PRESSURE_PERCENT = 25.0
BUSY_SHARE = 0.5
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
    against: tuple[str, ...] = ()
    """Those of the reasons that speak against it."""
    from_cache: bool = False
    """What was measured may be a cache: kept out of sizing, whatever the verdict."""


class Facts(Struct, frozen=True):
    """What was read beside one measurement; None where the system does not say."""

    alignment: tuple[int, int] | None
    """Memory and offset, from statx; (0, 0) is the file system's word for no direct I/O."""
    cache_growth_bytes: int | None
    asked_bytes: int
    """What the workers had moved between two readings of the counters below."""
    blur_bytes: int
    """How far ``asked_bytes`` may be off, for requests went on while the counters were read."""
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
    way: PathBandwidth | None
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
        said = list(zip(self._verdicts, self._reasons, strict=True))
        return Part(
            self._name,
            _worst(self._verdicts),
            tuple(self._reasons),
            tuple(reason for verdict, reason in said if verdict is not Validity.PASS),
            self._from_cache,
        )


def judge_direct(facts: Facts) -> Part:
    """Whether requests went past the page cache to the block layer."""
    opinion = _VerdictBuilder("direct")
    if facts.alignment == (0, 0):
        opinion.say(Validity.FAIL, f"{facts.file_system} does no direct I/O to this file (statx: no alignment)")
    elif facts.alignment is not None:
        opinion.say(Validity.PASS, f"direct I/O with {facts.alignment[1]}-byte alignment")
    if facts.cache_growth_bytes is not None:
        # A few pages come and go with metadata and readers of the same file elsewhere.
        if facts.cache_growth_bytes > max(1 << 20, facts.asked_bytes // 100):
            opinion.say(Validity.FAIL, f"the page cache took {format_bytes(facts.cache_growth_bytes)} of this file")
        else:
            opinion.say(Validity.PASS, "the page cache did not grow")
    if facts.in_user_space:
        opinion.say(Validity.UNKNOWN, "a file system in user space: where its program takes the data is not seen")
    elif facts.charged_bytes is not None and facts.asked_bytes:
        ratio, blur = facts.charged_bytes / facts.asked_bytes, facts.blur_bytes / facts.asked_bytes
        reached = "were direct by the NFS client's counters" if facts.nfs else "reached the block layer"
        late = f", give or take {blur:.2f}" if blur >= REPORTED_BLUR else ""
        told = f"{ratio:.2f} of the bytes asked for {reached}{late}"
        if ratio + blur < CHARGED_LOW:
            opinion.say(Validity.FAIL, f"only {told}")
        elif ratio - blur > CHARGED_HIGH:
            opinion.say(Validity.WARN, f"{ratio:.2f} times the bytes asked for {reached}{late}")
        elif blur > MOST_BLUR:
            opinion.say(Validity.UNKNOWN, f"{told}: the counters could not be read in time")
        else:
            opinion.say(Validity.PASS, told)
    return opinion.part()


def judge_physical(facts: Facts) -> Part:
    """Whether data that exists came from a device that could deliver it."""
    opinion = _VerdictBuilder("physical")
    if facts.extents is not None:
        empty = facts.extents.hole_bytes + facts.extents.unwritten_bytes
        if empty:
            share = empty / facts.target_bytes
            opinion.say(Validity.FAIL, f"{share:.0%} of the target was never written: reads of it ask no device")
        elif facts.extents.odd_bytes:
            opinion.say(
                Validity.WARN,
                f"{format_bytes(facts.extents.odd_bytes)} are compressed, inline or not yet on the device",
            )
        else:
            opinion.say(Validity.PASS, "every byte of the target is written")
    if facts.small_read_p50_ns is not None and facts.small_read_p50_ns < IMPLAUSIBLE_NS:
        opinion.say(Validity.WARN, f"a median of {format_ns(facts.small_read_p50_ns)} is a cache's, not a device's")
    if facts.iops > IMPLAUSIBLE_IOPS:
        opinion.suspect_cache(Validity.WARN, f"{facts.iops / 1e6:.1f} million requests a second")
    if facts.path_limit and facts.bytes_per_second > facts.path_limit:
        rate, carried = format_rate(facts.bytes_per_second), format_rate(facts.path_limit)
        opinion.suspect_cache(Validity.FAIL, f"{rate} is more than the path carries ({carried}, by path_limit)")
    elif not facts.path_limit and facts.way and facts.bytes_per_second > facts.way.bytes_per_second:
        rate, carried = format_rate(facts.bytes_per_second), format_rate(facts.way.bytes_per_second)
        opinion.suspect_cache(Validity.WARN, f"{rate} is more than the way carries ({carried}, {facts.way.source})")
    if facts.device_bytes is not None and facts.asked_bytes:
        ratio, blur = facts.device_bytes / facts.asked_bytes, facts.blur_bytes / facts.asked_bytes
        saw = f"the {'NFS client' if facts.nfs else 'device'}'s counters saw"
        if ratio + blur < CHARGED_LOW:
            opinion.say(Validity.FAIL, f"{saw} {ratio:.2f} of the bytes asked for")
        elif ratio > 1.5:
            opinion.say(Validity.WARN, f"{saw} {ratio:.1f} times the bytes asked for: others use it too")
        else:
            opinion.say(Validity.PASS, f"{saw} {ratio:.2f} of the bytes asked for")
    if facts.virtual:
        opinion.say(Validity.UNKNOWN, "a virtual device: a cache of its host cannot be seen from here")
    if facts.in_user_space:
        opinion.say(Validity.UNKNOWN, "a file system in user space: a cache of its program cannot be seen from here")
    if facts.network:
        opinion.say(Validity.UNKNOWN, "a network file system: a cache of its server cannot be seen from here")
    return opinion.part()


def judge_concurrent(ratio: float | None, why_unknown: str) -> Part:
    """Whether writers to one file stand in each other's way; ``ratio`` is one file over many."""
    opinion = _VerdictBuilder("concurrent")
    if ratio is None:
        opinion.say(Validity.UNKNOWN, why_unknown)
    elif ratio >= CONCURRENT:
        opinion.say(Validity.PASS, f"writers to one file reach {ratio:.2f} of writers to files of their own")
    elif ratio <= SERIALIZED:
        opinion.say(Validity.FAIL, f"writers to one file are serialized: {ratio:.2f} of writers to files of their own")
    else:
        opinion.say(Validity.WARN, f"writers to one file reach only {ratio:.2f} of writers to files of their own")
    return opinion.part()


def judge_extending(ratio: float | None, engine: str) -> Part:
    """The same where every write lies beyond the file's end: most file systems let one writer do that at a time.

    Without a ratio ``engine`` is why there is none.
    """
    opinion = _VerdictBuilder("extending")
    if ratio is None:
        opinion.say(Validity.UNKNOWN, engine)
        return opinion.part()
    told = f"writers that extend one file reach {ratio:.2f} of writers that extend files of their own ({engine})"
    if ratio >= CONCURRENT:
        opinion.say(Validity.PASS, told)
    elif ratio <= SERIALIZED:
        opinion.say(Validity.FAIL, f"{told}: they are serialized; allocate data files in full before they are filled")
    else:
        opinion.say(Validity.WARN, told)
    return opinion.part()


class Conditions(Struct, frozen=True):
    """How calm it was around a measurement."""

    drift: float
    """Throughput of the second half over the first, less one."""
    quiet_pressure_percent: float | None
    """Share of time somebody waited for a CPU before the run started; None without PSI."""
    quiet_busy_share: float | None
    """Share of CPU time that others used then; None where it cannot be read."""
    stolen_share: float | None
    """None where it cannot be read."""
    errors: int
    others_share: float | None = None
    """Share of CPU time that other processes used meanwhile; None where it was not read."""
    foreign: Foreign | None = None
    """What others moved on the same disks meanwhile; None where the target lies on no disk."""
    quiet_foreign: Foreign | None = None
    """The same before the run."""
    thermal_caveats: tuple[str, ...] = ()
    thermal_summary: str = ""
    ramp_change: float | None = None
    """This ramp's throughput over that of the first, less one; None in the first."""
    limits: tuple[str, ...] = ()
    """Of this process's control groups on the device, in words."""
    path_changes: tuple[str, ...] = ()
    """Paths to the target that changed their state meanwhile, in words."""


def noise(conditions: Conditions) -> tuple[str, ...]:
    """Why this host is too busy for its figures to be the storage's; empty when it is calm."""
    reasons = []
    pressure = conditions.quiet_pressure_percent
    if pressure is not None and pressure > CALM_PRESSURE_PERCENT:
        reasons.append(f"others waited for a CPU {pressure:.0f} % of the time before the run")
    if conditions.quiet_busy_share is not None and conditions.quiet_busy_share > BUSY_SHARE:
        reasons.append(f"others used {conditions.quiet_busy_share:.0%} of the CPUs before the run")
    return tuple(reasons)


def _judge_others(opinion: _VerdictBuilder, conditions: Conditions) -> None:
    """What changed around the measurement: other processes on the CPUs, other bytes on the disks."""
    others, quiet = conditions.others_share, conditions.quiet_busy_share
    if others is not None and quiet is not None and others > quiet + BACKGROUND_CHANGE:
        opinion.say(Validity.WARN, f"others used {others:.0%} of the CPUs meanwhile, {quiet:.0%} before the run")
    if conditions.foreign is not None:
        before = f"; before the run {conditions.quiet_foreign}" if conditions.quiet_foreign else ""
        told = f"others, or the file system for itself, {conditions.foreign} meanwhile{before}"
        opinion.say(Validity.WARN if conditions.foreign.notable else Validity.PASS, told)


def mixed_paths(change: str) -> str:
    """What a change of a path means for a figure that was taken across it."""
    return f"{change}: the figure mixes what was measured before and after"


def judge_steady(conditions: Conditions) -> Part:
    """Whether the rate was that of the whole time, on a calm host."""
    opinion = _VerdictBuilder("steady")
    change = f"the second half ran {conditions.drift:+.0%} against the first"
    if abs(conditions.drift) > LARGE_DRIFT:
        opinion.say(Validity.FAIL, f"{change}: a burst credit, a write cache, throttling or a neighbor")
    elif abs(conditions.drift) > DRIFT:
        opinion.say(Validity.WARN, change)
    else:
        opinion.say(Validity.PASS, change)
    if conditions.ramp_change is not None:
        ramp = f"this ramp ran {conditions.ramp_change:+.0%} against the first"
        opinion.say(Validity.WARN if abs(conditions.ramp_change) > LARGE_DRIFT else Validity.PASS, ramp)
    for reason in noise(conditions):
        opinion.say(Validity.WARN, reason)
    _judge_others(opinion, conditions)
    for reason in conditions.thermal_caveats:
        opinion.say(Validity.WARN, reason)
    if conditions.thermal_summary and not conditions.thermal_caveats:
        opinion.say(Validity.PASS, conditions.thermal_summary)
    if conditions.stolen_share is None:
        opinion.say(Validity.UNKNOWN, "CPU time of other processes and of the hypervisor: /proc/stat cannot be read")
    elif conditions.stolen_share > 0.05:
        opinion.say(Validity.WARN, f"the hypervisor took {conditions.stolen_share:.0%} of the CPUs away")
    for change in conditions.path_changes:
        opinion.say(Validity.WARN, mixed_paths(change))
    for limit in conditions.limits:
        opinion.say(Validity.WARN, f"limited by {limit}")
    if conditions.errors:
        opinion.say(Validity.WARN, f"{conditions.errors} requests failed; no figure holds them")
    return opinion.part()
