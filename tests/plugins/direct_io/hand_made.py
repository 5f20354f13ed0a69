"""Windows whose every figure is set by hand, so that what comes of them can be worked out on paper."""

from collections.abc import Mapping
from typing import Any

from sizeup.procfs.stat import Pressure
from sizeup_direct_io import binding
from sizeup_direct_io.binding import IoInterval
from sizeup_direct_io.measure import MeasuredPoint
from sizeup_direct_io.window_counters import Counters, HostCpu, ThermalState, WindowCounters

ffi, lib = vars(binding)["ffi"], vars(binding)["lib"]
SECOND = 1_000_000_000
NOTHING = Counters(None, None, None, None, 0, 0, 0)
Times = Mapping[int, int]
"""How many requests took how many nanoseconds; below 128 ns the histogram is exact."""


def sample_of(reads: Times, writes: Times, responses: Times, **counts: int) -> Any:
    """The native structure with these times and counts; a request is of 8 KiB unless the bytes are given."""
    native = ffi.new("struct sizeup_io_sample *")
    for kind, times in (("read_ns", reads), ("write_ns", writes), ("response_ns", responses)):
        for ns, count in times.items():
            getattr(native, kind)[lib.sizeup_histogram_bucket(ns)] += count
    native.reads, native.writes = sum(reads.values()), sum(writes.values())
    native.read_bytes, native.written_bytes = 8192 * native.reads, 8192 * native.writes
    for name, value in counts.items():
        setattr(native, name, value)
    return native


def interval(
    reads: Times | None = None, writes: Times | None = None, responses: Times | None = None, **counts: int
) -> IoInterval:
    """So many reads and writes with these times."""
    native = sample_of(reads or {}, writes or {}, responses or {}, **counts)
    return IoInterval(native)


def edge(
    at: float,
    *,
    host: HostCpu | None = None,
    process_s: float = 0.0,
    waited_us: tuple[int, int] | None = None,
    counters: Counters = NOTHING,
    kernel_s: Mapping[str, float] | None = None,
    thermal: ThermalState | None = None,
) -> WindowCounters:
    """The counters ``at`` some seconds; ``waited_us`` is that for CPUs and for I/O."""
    cpu, io = (None, None) if waited_us is None else (Pressure(0.0, waited) for waited in waited_us)
    threads = {name: round(seconds * SECOND) for name, seconds in (kernel_s or {}).items()}
    hot = thermal or ThermalState({}, {})
    return WindowCounters(host, round(process_s * SECOND), cpu, io, counters, threads, hot, round(at * SECOND))


def host(user: float, system: float, interrupt: float, idle: float, stolen: float = 0.0, **counts: int) -> HostCpu:
    """The CPU time of a host in seconds, with its ``interrupts`` and ``switches``."""
    ns = [round(seconds * SECOND) for seconds in (user, system, interrupt, idle, stolen)]
    return HostCpu(*ns, counts.get("interrupts"), counts.get("switches"))


def window(seconds: float, intervals: Mapping[str, IoInterval], **known: Any) -> MeasuredPoint:
    """A window of so many seconds; what is not given is as of a quiet host that reports nothing."""
    ends = {"before": edge(1.0), "after": edge(1.0 + seconds)}
    plain = {"at": {}, "blocks": (1.0,), "halves": 1.0, "converged": True, "huge_page_bytes": None}
    return MeasuredPoint(intervals=intervals, seconds=seconds, **{**plain, **ends, **known})
