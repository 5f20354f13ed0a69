"""Evidence of a run that is valid, and the check of a steady window."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from msgspec import Struct

from plugins.direct_io.hand_made import edge, host, interval, window
from sizeup.procfs.mounts import MountEntry
from sizeup_direct_io import point_verdict, validity
from sizeup_direct_io.binding import Extents
from sizeup_direct_io.presets import STREAMS, LoadPoint
from sizeup_direct_io.settings import RunSettings, TargetBandwidth
from sizeup_direct_io.target import ContentSample, OpenTarget, TargetKind
from sizeup_direct_io.validity import Part
from sizeup_direct_io.window_counters import BackgroundLoad

GIB = 1 << 30
WRITTEN = Extents(written_bytes=GIB, unwritten_bytes=0, hole_bytes=0, odd_bytes=0, count=3)


class Evidence(Struct, frozen=True):
    """What the checks of a window read, each figure by itself; None if the system does not report it."""

    alignment: tuple[int, int] | None
    cache_growth_bytes: int | None
    requested_bytes: int
    uncertainty_bytes: int
    charged_bytes: int | None
    device_bytes: int | None
    extents: Extents | None
    content: ContentSample | None
    target_bytes: int
    small_read_p50_ns: float
    iops: float
    bytes_per_second: float
    path_limit: float
    path_bandwidth: TargetBandwidth | None
    working_set_bytes: int
    storage_systems: tuple[str, ...]
    stated_cache_bytes: int
    rotating_disks: int
    file_system: str
    virtual: bool
    cached_before_bytes: int = 0

    @property
    def setup(self) -> Any:
        """The target that it is of."""
        known, growth = self.cached_before_bytes, self.cache_growth_bytes
        kind = MountEntry("/dev/sda", "/u01", self.file_system, ())
        target = OpenTarget(TargetKind.MADE, "/u01", 0, 0, self.target_bytes, kind, 0)
        return SimpleNamespace(
            alignment=self.alignment,
            extents=self.extents,
            content=self.content,
            target=target,
            cached_bytes=lambda: None if growth is None else known + growth,
        )

    @property
    def run(self) -> Any:
        """The window that it is of."""
        moved = SimpleNamespace(
            read_bytes=self.bytes_per_second,
            written_bytes=0,
            count=lambda _: 1,
            quantile_ns=lambda *_: self.small_read_p50_ns,
        )
        return SimpleNamespace(
            requested_bytes=self.requested_bytes,
            uncertainty_bytes=self.uncertainty_bytes,
            intervals={"small": moved},
            seconds=1.0,
            iops=self.iops,
        )


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
    path_limit=0.0,
    path_bandwidth=TargetBandwidth(7.1e9, "nvme0: link"),
    working_set_bytes=GIB,
    storage_systems=(),
    stated_cache_bytes=0,
    rotating_disks=0,
    file_system="ext4",
    virtual=False,
)
CALM = BackgroundLoad(5.0, 0.05)


def direct(evidence: Evidence) -> Part:
    """The check whether the page cache was bypassed."""
    known = evidence.cached_before_bytes, evidence.charged_bytes
    return Part.of("direct", validity.check_direct(evidence.setup, evidence.run, *known))


def physical(evidence: Evidence) -> Part:
    """The check whether the data came from a device."""
    point = LoadPoint({}, ((STREAMS["read"], 1),), share=evidence.working_set_bytes / evidence.target_bytes)
    limits = {"path_limit": evidence.path_limit, "cache_size": evidence.stated_cache_bytes}
    settings: Any = {"preset": "oltp-read", "path": "/u01", "precision": 0.05, "stall": 5.0, **limits}
    if (known := evidence.path_bandwidth) is not None:
        settings["path_bandwidth_bytes_per_second"] = known.bytes_per_second
        settings["path_bandwidth_source"] = known.source
    with patch.multiple(
        validity,
        is_virtual=lambda _: evidence.virtual,
        rotating_disks=lambda _: evidence.rotating_disks,
        storage_systems=lambda _: evidence.storage_systems,
    ):
        known = evidence.setup, RunSettings(**settings), point, evidence.run, evidence.device_bytes
        return Part.of("physical", validity.check_physical(*known))


def steady(
    drift: float = 0.01, ramp_change: float | None = None, background: BackgroundLoad = CALM, **changed: Any
) -> Part:
    """The check of a steady state; what is not given of its window is that of an idle host."""
    idle = {"before": edge(1.0, host=host(0, 0, 0, 0)), "after": edge(2.0, host=host(0, 0, 0, 1.0))}
    run = window(1.0, changed.pop("intervals", {"small": interval({9: 1})}), **{**idle, **changed})
    return Part.of("steady", point_verdict.check_steady([run], drift, background, 0, ramp_change))
