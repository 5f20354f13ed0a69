"""Disks are told apart by their place, stacks end on leaves, and every path has its port."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from sizeup.discovery.block import resolve_stacks, usable_bytes
from sizeup.discovery.machine import discover
from sizeup.discovery.routes import Routes, placed_by_interface
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.network import Nic
from sizeup.model.storage import BlockDevice, BlockKind, Hba, Transport
from trees import discovered, machine


def test_the_place_says_what_a_disk_is_and_where(tmp_path: Path) -> None:
    devices = {device.name: device for device in discover(machine(tmp_path, "paths-and-disks")).block_devices}

    assert {name: device.kind for name, device in devices.items()} == {
        "dm-0": BlockKind.MULTIPATH,
        "nvme0n1": BlockKind.NVME,
        "rssda": BlockKind.PCIE_SSD,
        "sda": BlockKind.SCSI,
        "sdb": BlockKind.SCSI,
        "vda": BlockKind.VIRTIO,
        "vda1": BlockKind.PARTITION,
    }
    assert (devices["rssda"].pci_address, devices["rssda"].node) == ("0000:01:00.0", 1)
    assert (devices["vda"].scheduler, devices["vda"].node) == ("mq-deadline", None)
    assert (devices["vda1"].parent, devices["vda1"].size_bytes, devices["vda1"].start_bytes) == ("vda", 1 << 20, 4096)


def test_a_map_is_traced_path_by_path_to_port_function_and_node(tmp_path: Path) -> None:
    (found,) = discover(machine(tmp_path, "paths-and-disks")).maps

    assert (found.name, found.device, found.size_bytes) == ("mpatha", "dm-0", 32768)
    assert [(p.device, p.hctl, p.hba, p.transport, p.initiator, p.target) for p in found.paths] == [
        ("sda", "1:0:0:0", "host1", Transport.FC, "1000000000000001", "5000000000000001"),
        ("sdb", "2:0:0:0", "host2", Transport.FC, "1000000000000002", "5000000000000002"),
    ]
    assert [(p.pci_address, p.node, p.state, p.speed_bits_per_second) for p in found.paths] == [
        ("0000:00:07.0", 0, "running", 16 * 10**9),
        ("0000:00:07.1", 1, "offline", None),
    ]


def disk(name: str, **facts: object) -> BlockDevice:
    return BlockDevice(name=name, kind=BlockKind.SCSI, size_bytes=1000, **facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("level", "reads", "writes"),
    [("raid0", 4, 4), ("raid1", 4, 1), ("raid10", 4, 2), ("raid5", 4, 1), ("raid6", 4, 4 / 6), ("linear", 4, 4)],
)
def test_an_array_of_four_offers_spindles_by_its_level(level: str, reads: float, writes: float) -> None:
    names = ("sda", "sdb", "sdc", "sdd")
    array = BlockDevice("md0", BlockKind.MD, 1000, members=names, raid_level=level)

    resolved = {device.name: device for device in resolve_stacks((*map(disk, names), array))}

    assert (resolved["md0"].read_spindles, resolved["md0"].write_spindles) == (reads, writes)
    assert resolved["md0"].leaves == names


def test_two_partitions_of_one_disk_are_one_spindle() -> None:
    halves = tuple(BlockDevice(f"sda{n}", BlockKind.PARTITION, 500, parent="sda") for n in (1, 2))
    volume = BlockDevice("dm-0", BlockKind.LVM, 1000, members=("sda1", "sda2"))

    resolved = resolve_stacks((disk("sda"), *halves, volume))[-1]

    assert (resolved.leaves, resolved.read_spindles) == (("sda",), 1)


def test_stacks_that_hold_themselves_end() -> None:
    one = BlockDevice("dm-0", BlockKind.DM, 1, members=("dm-1",))
    other = BlockDevice("dm-1", BlockKind.DM, 1, members=("dm-0",))

    assert len(resolve_stacks((one, other))) == 2


@pytest.mark.parametrize(
    ("level", "usable"), [("raid0", 35), ("raid1", 5), ("raid5", 15), ("raid6", 10), ("raid10", 10), ("odd", None)]
)
def test_usable_capacity_follows_the_smallest_member(level: str, usable: int | None) -> None:
    assert usable_bytes(level, [5, 10, 10, 10]) == usable


def test_an_adapter_in_software_is_where_its_interface_is(tmp_path: Path) -> None:
    (tmp_path / "sys").mkdir()
    nics = (Nic("eth0", "physical", node=1), Nic("bond0", "bond"))
    hba = Hba("host15", Transport.ISCSI, net_device="eth0")

    assert placed_by_interface((hba, replace(hba, net_device="bond0")), nics, Routes(Sysroot(str(tmp_path)))) == (
        replace(hba, node=1),
        replace(hba, net_device="bond0"),
    )


def test_devices_without_hardware_are_told_by_their_name_where_a_capture_has_no_more(tmp_path: Path) -> None:
    tree = "".join(f"/sys/block/{name}/size = 2048\n" for name in ("dm-0", "zram0", "loop1", "fancy0"))
    found = {one.name: one.kind for one in discovered(tmp_path, tree).block_devices}

    assert found == {
        "dm-0": BlockKind.DM, "zram0": BlockKind.RAM, "loop1": BlockKind.LOOP, "fancy0": BlockKind.OTHER,
    }  # fmt: skip
