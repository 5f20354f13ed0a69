"""Drives and ports are counted once, and the same everywhere."""

import msgspec
from msgspec.structs import replace

from consoles import machine
from sizeup.compare.machines import machine_differences
from sizeup.model.machine import Machine, Platform
from sizeup.model.network import Nic, is_port
from sizeup.model.storage import BlockDevice, BlockKind, MultipathMap, Path, is_drive
from sizeup.report.data import results_json
from sizeup.session.records import SessionRecord
from sizeup.session.value import Session
from sizeup.sizing.inputs.detected import detected
from sizeup.views.cards.detected import detected_facts, detected_texts

GB = 10**9
SDA, SDB = (BlockDevice(name, BlockKind.SCSI, 100 * GB, wwn="naa.6000") for name in ("sda", "sdb"))
DRIVE = BlockDevice("nvme0n1", BlockKind.NVME, 400 * GB)
NO_DRIVES = (
    BlockDevice("nvme0n1p1", BlockKind.PARTITION, 400 * GB, parent="nvme0n1"),
    BlockDevice("dm-1", BlockKind.LVM, 300 * GB),
    BlockDevice("md0", BlockKind.MD, 300 * GB, members=("nvme0n1",)),
    BlockDevice("ram0", BlockKind.RAM, GB),
    BlockDevice("loop0", BlockKind.LOOP, GB),
    BlockDevice("sr0", BlockKind.OPTICAL, GB),
    BlockDevice("sdc", BlockKind.SCSI, GB, removable=True),
    BlockDevice("sdd", BlockKind.SCSI, 0),
)


def _map(device: str, *paths: str) -> MultipathMap:
    routes = tuple(Path(path, None, None, None, None, None, None, None, None, None) for path in paths)
    return MultipathMap("lun", device, 100 * GB, None, None, routes)


LUN = BlockDevice("dm-0", BlockKind.MULTIPATH, 100 * GB, members=("sda", "sdb"))
MACHINE = Machine(block_devices=(SDA, SDB, LUN, DRIVE, *NO_DRIVES), maps=(_map("dm-0", "sda", "sdb"),))
PORT = Nic("eth0", "physical", carrier=True, speed_bits_per_second=25 * GB)


def _summary(machine: Machine) -> list[str]:
    header = SessionRecord(format=1, id="1", tool="sizeup", host="host", started="2026-11-20T00:00:00Z")
    found: list[str] = msgspec.json.decode(results_json(Session(header, machine=machine)))["summary"]["What it is"]
    return found


def test_a_lun_with_two_paths_is_one_disk_in_every_view() -> None:
    assert MACHINE.drives == (DRIVE,)
    assert detected_texts(MACHINE, "storage") == ("1 LUN", "1 NVMe disk", "500 GB")
    assert "Storage: 1 LUN, 1 NVMe disk, 500 GB" in _summary(MACHINE)
    assert list(detected_facts(MACHINE, "storage")) == [
        ("lun", "100 GB, 2 paths"), ("nvme0n1", "400 GB, NVMe"),
    ]  # fmt: skip
    assert {one.new for one in machine_differences([MACHINE], [Machine()]) if one.what == "disks"} == {
        "1 x LUN 100 GB, 1 x nvme 400 GB"
    }


def test_paths_that_multipath_does_not_combine_are_one_disk_by_their_wwn() -> None:
    assert Machine(block_devices=(SDA, SDB, DRIVE)).drives == (SDA, DRIVE)


def test_a_namespace_under_native_multipath_is_one_disk() -> None:
    found = Machine(block_devices=(DRIVE,), maps=(_map("nvme0n1", "nvme0c0n1", "nvme0c1n1"),))

    assert detected_texts(found, "storage") == ("1 LUN", "100 GB")


def test_a_drive_of_unknown_size_counts_and_the_sum_says_that_it_lacks_it() -> None:
    found = Machine(block_devices=(DRIVE, replace(SDA, size_bytes=None)))

    assert detected_texts(found, "storage") == ("1 NVMe disk", "1 SCSI disk", "at least 400 GB")
    assert not is_drive(SDA, {"sda"})


def test_a_port_is_counted_once_with_that_of_a_guest_and_without_virtual_functions() -> None:
    guest = Nic("eth1", "virtio", carrier=True, speed_bits_per_second=100 * 10**6)
    function = replace(PORT, name="eth0v0", virtual_function_of="0000:01:00.0")
    over = (Nic("bond0", "bond", carrier=True), Nic("br0", "bridge"))
    found = Machine(nics=(PORT, guest, function, *over))

    assert found.ports == (PORT, guest)
    assert [is_port(nic) for nic in over] == [False, False]
    assert "Network: 1 x 25 Gb/s, 1 x 100 Mb/s, bond0" in _summary(found)
    assert str(detected(found)["net.links"].value) == "1 x 25 Gb/s, 1 x 100 Mb/s"


def test_a_guest_says_so_in_place_of_its_sockets_which_are_no_real_ones() -> None:
    found = replace(machine(), platform=Platform(is_guest=True, hypervisor="kvm"))

    assert "guest under KVM" in detected_texts(found, "cpu")
    assert not any("socket" in text for text in detected_texts(found, "cpu"))
    assert any("socket" in text for text in detected_texts(machine(), "cpu"))
