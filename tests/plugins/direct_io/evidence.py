"""Evidence of a run that is valid, and the check of a steady window."""

from typing import Any

from plugins.direct_io.hand_made import edge, host, interval, window
from sizeup_direct_io import point_verdict, validity
from sizeup_direct_io.binding import Extents
from sizeup_direct_io.settings import TargetBandwidth
from sizeup_direct_io.validity import Evidence, Part
from sizeup_direct_io.window_counters import BackgroundLoad

GIB = 1 << 30
WRITTEN = Extents(written_bytes=GIB, unwritten_bytes=0, hole_bytes=0, odd_bytes=0, count=3)
DIRECT_EVIDENCE = Evidence(
    alignment=(4, 512),
    cache_growth_bytes=0,
    requested_bytes=GIB,
    uncertainty_bytes=0,
    charged_bytes=GIB,
    device_bytes=GIB,
    extents=WRITTEN,
    content=None,
    target_bytes=GIB,
    small_read_p50_ns=89_000,
    iops=60_000,
    bytes_per_second=5e8,
    path_limit=None,
    path_bandwidth=TargetBandwidth(7.1e9, "nvme0: link"),
    working_set_bytes=GIB,
    storage_systems=(),
    stated_cache_bytes=0,
    rotating_disks=0,
    network=False,
    file_system="ext4",
    virtual=False,
)
CALM = BackgroundLoad(5.0, 0.05)


def direct(evidence: Evidence) -> Part:
    """The check whether the page cache was bypassed."""
    return Part.of("direct", validity.check_direct(evidence))


def physical(evidence: Evidence) -> Part:
    """The check whether the data came from a device."""
    return Part.of("physical", validity.check_physical(evidence))


def steady(
    drift: float = 0.01, ramp_change: float | None = None, background: BackgroundLoad = CALM, **changed: Any
) -> Part:
    """The check of a steady state; what is not given of its window is that of an idle host."""
    idle = {"before": edge(1.0, host=host(0, 0, 0, 0)), "after": edge(2.0, host=host(0, 0, 0, 1.0))}
    run = window(1.0, changed.pop("intervals", {"small": interval({9: 1})}), **{**idle, **changed})
    return Part.of("steady", point_verdict.check_steady([run], drift, background, 0, ramp_change))
