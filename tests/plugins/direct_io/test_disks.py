"""The disks beneath a target, and what others moved on them."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fakes import HandContext
from plugins.direct_io.hand_made import SECOND, host
from sizeup.procfs.block import BlockStat
from sizeup.procfs.stat import Pressure
from sizeup_direct_io import window_counters
from sizeup_direct_io.comparisons import without_progress
from sizeup_direct_io.disks import (
    Disks,
    OtherIo,
    is_virtual,
    other_io,
    read_disks,
    rotating_disks,
    storage_systems,
    write_cache,
)

SECTOR = 512


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """Two disks; a partition on the first (8:1) and a map over both (253:0)."""
    for number, name, read in (("8:0", "sda", 100), ("8:16", "sdb", 50)):
        folder = tmp_path / "devices" / name
        (folder / "slaves").mkdir(parents=True)
        (folder / "stat").write_text(f"9 0 {read} 0 9 0 {read * 2} 0 0 0 0\n")
        (tmp_path / "dev/block").mkdir(parents=True, exist_ok=True)
        (tmp_path / "dev/block" / number).symlink_to(folder)
    part = tmp_path / "devices/sda/sda1"
    part.mkdir()
    (part / "partition").write_text("1\n")
    (tmp_path / "dev/block/8:1").symlink_to(part)
    slaves = tmp_path / "devices/dm-0/slaves"
    slaves.mkdir(parents=True)
    (slaves / "sda1").symlink_to(part)
    (slaves / "sdb").symlink_to(tmp_path / "devices/sdb")
    (tmp_path / "dev/block/253:0").symlink_to(tmp_path / "devices/dm-0")
    return tmp_path


def test_a_partition_shares_its_whole_disk_with_others(sysfs: Path) -> None:
    assert read_disks(os.makedev(8, 1), str(sysfs)) == Disks(
        ("sda",), BlockStat(100 * SECTOR, 200 * SECTOR), plain=True
    )


def test_a_map_lies_on_all_of_its_disks_and_may_write_for_itself(sysfs: Path) -> None:
    assert read_disks(os.makedev(253, 0), str(sysfs)) == Disks(
        ("sda", "sdb"), BlockStat(150 * SECTOR, 300 * SECTOR), plain=False
    )


def test_what_lies_on_no_disk_has_none(sysfs: Path) -> None:
    nothing = os.makedev(0, 50)

    assert read_disks(nothing, str(sysfs)) is None
    assert write_cache(nothing, str(sysfs)) is None
    assert not is_virtual(nothing, str(sysfs))


def test_a_partition_has_the_write_cache_of_its_disk_and_a_map_its_own(sysfs: Path) -> None:
    for name, cache in (("sda", "write back"), ("dm-0", "write through")):
        (sysfs / "devices" / name / "queue").mkdir()
        (sysfs / "devices" / name / "queue/write_cache").write_text(f"{cache}\n")

    assert write_cache(os.makedev(8, 1), str(sysfs)) == "write back"
    assert write_cache(os.makedev(253, 0), str(sysfs)) == "write through"


def test_a_map_over_a_disk_of_the_hypervisor_is_virtual_too(tmp_path: Path) -> None:
    disk, above = tmp_path / "devices/pci0000:00/virtio2/block/vda", tmp_path / "devices/virtual/block/dm-0"
    disk.mkdir(parents=True)
    (above / "slaves").mkdir(parents=True)
    (above / "slaves/vda").symlink_to(disk)
    (tmp_path / "dev/block").mkdir(parents=True)
    (tmp_path / "dev/block/253:0").symlink_to(above)

    assert is_virtual(os.makedev(253, 0), str(tmp_path))


def scsi_disk(
    root: Path, between: str, *, driver: str = "", vendor: str = "ACME", model: str = "DISK", name: str = "sda"
) -> int:
    """Stage a SCSI disk, ``between`` being its sysfs path from the host on, and return its number."""
    lun = root / "devices/pci0000:00/0000:00:1f.0" / between
    (lun / "block" / name).mkdir(parents=True)
    (lun / "vendor").write_text(f"{vendor:8}\n")
    (lun / "model").write_text(f"{model:16}\n")
    (lun / "block" / name / "device").symlink_to(lun)
    if driver:
        host = root / "class/scsi_host/host3"
        host.mkdir(parents=True)
        (host / "proc_name").write_text(f"{driver}\n")
    numbers = root / "dev/block"
    numbers.mkdir(parents=True)
    (numbers / "8:0").symlink_to(lun / "block" / name)
    return os.makedev(8, 0)


PLAIN = "host3/target3:0:0/3:0:0:0"
BY_SAS = "host3/port-3:0/end_device-3:0/target3:0:0/3:0:0:0"


@pytest.mark.parametrize(
    ("between", "driver", "found"),
    [
        pytest.param("host3/rport-3:0-1/target3:0:0/3:0:0:0", "qla2xxx", ("Fibre Channel array",), id="Fibre Channel"),
        pytest.param("host3/session1/target3:0:0/3:0:0:0", "iscsi_tcp", ("iSCSI array",), id="iSCSI"),
        pytest.param(PLAIN, "ib_srp", ("SRP array",), id="SRP"),
        pytest.param(PLAIN, "megaraid_sas", ("RAID controller (megaraid_sas)",), id="MegaRAID"),
        pytest.param(PLAIN, "smartpqi", ("RAID controller (smartpqi)",), id="a logical drive"),
        pytest.param(BY_SAS, "smartpqi", (), id="a disk that the controller passes through"),
        pytest.param(BY_SAS, "mpt3sas", (), id="a plain SAS disk"),
        pytest.param(PLAIN, "ahci", (), id="a plain SATA disk"),
        pytest.param(PLAIN, "", (), id="a driver that is not reported"),
    ],
)
def test_the_system_behind_a_scsi_disk_is_told_by_its_path_and_driver(
    between: str, driver: str, found: tuple[str, ...], tmp_path: Path
) -> None:
    number = scsi_disk(tmp_path, between, driver=driver)

    assert storage_systems(number, str(tmp_path)) == found
    assert not is_virtual(number, str(tmp_path))


@pytest.mark.parametrize(
    ("between", "driver", "vendor", "model"),
    [
        pytest.param(PLAIN, "vmw_pvscsi", "VMware", "Virtual disk", id="pvscsi"),
        pytest.param(PLAIN, "vmw_pvscsi", "ACME", "DISK", id="pvscsi by its driver"),
        pytest.param(PLAIN, "mptspi", "VMware", "Virtual disk", id="VMware's LSI Logic, by its model"),
        pytest.param(PLAIN, "ahci", "ATA", "QEMU HARDDISK", id="QEMU's SATA"),
        pytest.param(PLAIN, "virtio_scsi", "Google", "PersistentDisk", id="virtio-scsi"),
        pytest.param(f"VMBUS:01/f8b3781a-1e82/{PLAIN}", "", "Msft", "DISK", id="Hyper-V by its bus"),
        pytest.param(PLAIN, "ahci", "Msft", "Virtual Disk", id="Hyper-V by its model"),
    ],
)
def test_a_disk_of_a_hypervisor_is_told_by_its_bus_driver_or_model(
    between: str, driver: str, vendor: str, model: str, tmp_path: Path
) -> None:
    number = scsi_disk(tmp_path, between, driver=driver, vendor=vendor, model=model)

    assert is_virtual(number, str(tmp_path))


def nvme_disk(root: Path, *controllers: tuple[str, str], model: str = "ACME 9000") -> int:
    """Stage a namespace of some controllers, below its subsystem as with native multipath, and return its number."""
    subsystem = root / "devices/virtual/nvme-subsystem/nvme-subsys0"
    (subsystem / "nvme0n1").mkdir(parents=True)
    (subsystem / "model").write_text(f"{model:40}\n")
    (subsystem / "nvme0n1/device").symlink_to(subsystem)
    for name, transport in controllers:
        controller = root / "devices/fabric" / name
        controller.mkdir(parents=True)
        (controller / "transport").write_text(f"{transport}\n")
        (subsystem / name).symlink_to(controller)
    (root / "dev/block").mkdir(parents=True)
    (root / "dev/block/259:0").symlink_to(subsystem / "nvme0n1")
    return os.makedev(259, 0)


def test_an_nvme_namespace_over_a_fabric_lies_on_an_array_and_a_local_one_on_none(tmp_path: Path) -> None:
    remote = nvme_disk(tmp_path / "remote", ("nvme0", "tcp"), ("nvme1", "tcp"))
    local = nvme_disk(tmp_path / "local", ("nvme0", "pcie"))
    volume = nvme_disk(tmp_path / "cloud", ("nvme0", "pcie"), model="Amazon Elastic Block Store")

    assert storage_systems(remote, str(tmp_path / "remote")) == ("NVMe over Fabrics array (tcp)",)
    assert storage_systems(local, str(tmp_path / "local")) == ()
    assert [is_virtual(number, str(tmp_path / name)) for name, number in (("local", local), ("cloud", volume))] == [
        False,
        True,
    ]


def test_a_single_nvme_controller_over_a_fabric_is_told_without_a_subsystem(tmp_path: Path) -> None:
    controller = tmp_path / "devices/virtual/nvme-fabrics/ctl/nvme0"
    (controller / "nvme0n1").mkdir(parents=True)
    (controller / "transport").write_text("rdma\n")
    (controller / "nvme0n1/device").symlink_to(controller)
    (tmp_path / "dev/block").mkdir(parents=True)
    (tmp_path / "dev/block/259:0").symlink_to(controller / "nvme0n1")

    assert storage_systems(os.makedev(259, 0), str(tmp_path)) == ("NVMe over Fabrics array (rdma)",)


def test_a_map_tells_each_kind_of_system_beneath_it_once(tmp_path: Path) -> None:
    scsi_disk(tmp_path, "host3/rport-3:0-1/target3:0:0/3:0:0:0")
    other = tmp_path / "devices/pci0000:00/host4/rport-4:0-1/target4:0:0/4:0:0:0"
    (other / "block/sdb").mkdir(parents=True)
    (other / "block/sdb/device").symlink_to(other)
    slaves = tmp_path / "devices/virtual/block/dm-0/slaves"
    slaves.mkdir(parents=True)
    (slaves / "sda").symlink_to((tmp_path / "dev/block/8:0").resolve())
    (slaves / "sdb").symlink_to(other / "block/sdb")
    (tmp_path / "dev/block/253:0").symlink_to(slaves.parent)

    assert storage_systems(os.makedev(253, 0), str(tmp_path)) == ("Fibre Channel array",)


@pytest.mark.parametrize(
    ("rotational", "driver", "found"),
    [("1", "ahci", 1), ("0", "ahci", 0), (None, "ahci", 0), ("1", "megaraid_sas", 0), ("1", "virtio_scsi", 0)],
    ids=["a disk", "flash", "not reported", "behind a controller", "of a hypervisor"],
)
def test_a_disk_rotates_if_the_kernel_reports_it_and_nothing_is_in_between(
    rotational: str | None, driver: str, found: int, tmp_path: Path
) -> None:
    number = scsi_disk(tmp_path, PLAIN, driver=driver)
    if rotational is not None:
        queue = (tmp_path / "dev/block/8:0").resolve() / "queue"
        queue.mkdir()
        (queue / "rotational").write_text(f"{rotational}\n")

    assert rotating_disks(number, str(tmp_path)) == found


def test_a_map_rotates_if_all_of_its_disks_do(sysfs: Path) -> None:
    for name in ("sda", "sdb"):
        assert rotating_disks(os.makedev(253, 0), str(sysfs)) == 0
        (sysfs / "devices" / name / "queue").mkdir()
        (sysfs / "devices" / name / "queue/rotational").write_text("1\n")
        assert rotating_disks(os.makedev(253, 0), str(sysfs)) == 0, "no hardware, as a loop device"
    (sysfs / "devices/sda/device").mkdir()
    assert rotating_disks(os.makedev(253, 0), str(sysfs)) == 0
    (sysfs / "devices/sdb/device").mkdir()

    assert rotating_disks(os.makedev(253, 0), str(sysfs)) == 2


@pytest.mark.parametrize(
    ("plain", "text"), [(True, "5 MB/s read and 1 MB/s written on sda"), (False, "5 MB/s read on sda")]
)
def test_what_others_moved_is_what_is_beyond_our_own(plain: bool, text: str) -> None:
    before = Disks(("sda",), BlockStat(0, 0), plain=plain)
    after = Disks(("sda",), BlockStat(110_000_000, 22_000_000), plain=plain)

    others = other_io(before, after, 2.0, own_read=100_000_000, own_written=20_000_000)

    assert str(others) == text
    assert others.own_bytes_per_second == 6e7
    assert others.significant


@pytest.mark.parametrize(
    ("others", "own", "significant"), [(9e5, 0, False), (1.1e6, 0, True), (4.9e6, 1e8, False), (5.1e6, 1e8, True)]
)
def test_others_count_from_a_twentieth_of_our_own_on(others: float, own: float, significant: bool) -> None:
    for read, written in ((others, 0.0), (others / 2, others / 2), (0.0, others), (others, None)):
        found = OtherIo("sda", read, written, own)

        assert found.significant is significant
        assert found.share == pytest.approx(others / (others + own))


class TwoReadings:
    """The counters of a host before and after some seconds, in which nobody waits."""

    def __init__(self, patch: pytest.MonkeyPatch, seconds: float) -> None:
        self._seconds, self.now = seconds, 100.0
        patch.setattr(window_counters, "BACKGROUND_SECONDS", seconds)
        patch.setattr(window_counters, "time", SimpleNamespace(monotonic=lambda: self.now, sleep=self.sleep))
        disks = [Disks(("sda",), BlockStat(5 + 2 * moved, 5 + moved), plain=True) for moved in (0, 4_000_000)]
        patch.setattr(window_counters, "read_disks", lambda _: self.later(*disks))
        patch.setattr(window_counters, "read_pressure", lambda _: self.later(Pressure(0, 1000), Pressure(0, 1_601_000)))
        counters = window_counters
        patch.setattr(counters, "read_host_cpu", lambda: self.later(host(9, 9, 9, 9), host(10, 9.5, 9.5, 15)))
        patch.setattr(counters, "process_cpu_ns", lambda: self.later(SECOND, 2 * SECOND))

    def later(self, first: Any, second: Any) -> Any:
        return first if self.now == 100.0 else second

    def sleep(self, _: float) -> None:
        self.now = 100.0 + self._seconds


def test_the_load_before_a_run_is_that_of_others_in_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """In 4 s: 2 s of 8 busy, 1 of them ours; 8 and 4 MB; some task waited for 1.6 s."""
    TwoReadings(monkeypatch, 4.0)
    found = without_progress(window_counters.measure_background(0, HandContext()))

    assert (found.busy_share, found.pressure_percent) == (0.125, pytest.approx(40.0))
    assert found.io == OtherIo("sda", 2e6, 1e6, 0.0)
    assert found.background_caveats == ("CPU pressure before the run: some task waited 40 % of the time",)
    assert window_counters.BackgroundLoad(None, 0.51).background_caveats != ()
    assert window_counters.BackgroundLoad(25.0, 0.5).background_caveats == ()
