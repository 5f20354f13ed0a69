"""Evidence and conditions of a run that is valid."""

from sizeup_direct_io import validity
from sizeup_direct_io.binding import Extents
from sizeup_direct_io.settings import TargetBandwidth
from sizeup_direct_io.validity import Conditions, Evidence, Part
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
CALM = Conditions(drift=0.01, background=BackgroundLoad(5.0, 0.05), stolen_share=0.0, errors=0)


def direct(evidence: Evidence) -> Part:
    """The check whether the page cache was bypassed."""
    return Part.of("direct", validity.check_direct(evidence))


def physical(evidence: Evidence) -> Part:
    """The check whether the data came from a device."""
    return Part.of("physical", validity.check_physical(evidence))


def steady(conditions: Conditions) -> Part:
    """The check of a steady state."""
    return Part.of("steady", validity.check_steady(conditions))
