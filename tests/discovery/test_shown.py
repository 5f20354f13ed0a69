"""The text of a machine: sections in the order of lscpu, lsblk and numactl, lists and matrices within 80 columns."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from sizeup.cli import run
from sizeup.model.machine import Accelerator, CxlMemory, DeviceInterrupts, FileSystem, Gap, Machine, PciFunction
from sizeup.model.network import NfsMount, Nic
from sizeup.model.numa import NumaNode
from sizeup.model.storage import (
    BlockDevice,
    BlockKind,
    Hba,
    NvmeController,
    NvmeNamespace,
    ScsiDevice,
    TargetPort,
    Transport,
)
from sizeup.model.topology import Core, Package, Pu
from sizeup.report.machine import machine_text
from sizeup.terminal.capabilities import output_columns
from sizeup.text import wrap
from sizeup.views.machine.facts import machine_line
from sizeup.views.machine.machine import PARTS, distances_section
from trees import discovered, machine


def ring(count: int) -> Machine:
    """Nodes in a ring, two hops at most to a neighbor's neighbor."""
    distances = {0: 10, 1: 12, 2: 16}
    return Machine(
        nodes=tuple(
            NumaNode(
                2 * one, (one,),
                distances=tuple(
                    distances.get(min((one - other) % count, (other - one) % count), 32) for other in range(count)
                ),
            )
            for one in range(count)
        )
    )  # fmt: skip


def lines_of(found: Machine, only: str | None = None, width: int = 80) -> list[str]:
    return machine_text(found, width, only).splitlines()


@pytest.mark.parametrize("count", [2, 16, 17, 64, 100])
def test_distances_are_a_matrix_of_their_own_within_80_columns(count: int) -> None:
    lines = lines_of(ring(count), "numa")
    matrix = lines[lines.index("Distances between NUMA nodes") :]

    assert max(map(len, matrix)) <= 80
    assert count > 64 or len(matrix) < 80
    assert sum(line.startswith("  node ") for line in matrix) == count


def test_each_row_of_the_matrix_is_that_of_its_node() -> None:
    small, large, huge = (distances_section(ring(count)) for count in (3, 20, 70))

    assert small.facts[1:] == (
        ("to node", "   0   2   4"), ("node 0", "  10  12  12"), ("node 2", "  12  10  12"),
        ("node 4", "  12  12  10"),
    )  # fmt: skip
    assert large.facts[1] == ("letters", "a 10, b 12, c 16, d 32; columns in the order of the rows")
    assert large.facts[3] == ("node 2", "babcddddddddddddddddc"[:19] + "c")
    assert huge.facts[1][1].startswith("10 to 0, 12 to 2,138, 16 to 4,136, 32 to 6,8")


@pytest.mark.parametrize("rows", [((10, 21),), ((10, 21), (21,)), ((), ())])
def test_rows_that_do_not_fit_the_nodes_are_no_matrix(rows: tuple[tuple[int, ...], ...]) -> None:
    nodes = tuple(NumaNode(number, (number,), distances=row) for number, row in enumerate(rows))

    assert distances_section(Machine(nodes=nodes)) is None


def test_lists_of_cpus_wrap_between_ranges() -> None:
    text = ",".join(f"{first}-{first + 3}" for first in range(0, 400, 8))

    found = wrap(text, 30)

    assert "".join(found) == text
    assert all(len(line) <= 30 and line.endswith(",") for line in found[:-1])
    assert wrap("a sum of 1,234,567 bytes", 12) == ["a sum of", "1,234,567", "bytes"]


def test_offline_cpus_do_not_read_like_threads() -> None:
    found = Machine(
        packages=(Package(tuple(range(7)), 0),),
        cores=tuple(Core((cpu,), 0, 0, cpu) for cpu in range(7)),
        pus=tuple(Pu(cpu, online=cpu < 7, allowed=cpu < 7) for cpu in range(8)),
    )

    assert "  counts        1 socket, 7 cores, 7 threads, 1 CPU offline" in lines_of(found, "cpu")
    assert machine_line(found) == "1 socket, 7 cores, 7 threads, 1 CPU offline"


def test_sections_stand_in_the_order_that_people_know(tmp_path: Path) -> None:
    lines = lines_of(Machine(nodes=ring(2).nodes, block_devices=(BlockDevice("sda", BlockKind.SCSI, 10**12),)))
    titles = [line for line in lines if line and not line.startswith(" ")]

    assert titles == ["Processor", "Storage", "Memory", "Distances between NUMA nodes", "Platform"]


def test_one_section_is_printed_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = machine(tmp_path, "2-sockets-smt")
    shown = {}
    for part in PARTS:
        assert run(["detect", part, "--sysroot", root]) == 0
        shown[part] = capsys.readouterr().out

    assert shown["cpu"].startswith("Processor\n")
    assert "Memory" not in shown["cpu"]
    assert shown["numa"].startswith("Memory\n")
    assert shown["nfs"] == "This machine has nothing to show under nfs.\n"


def test_a_section_that_does_not_exist_is_refused_with_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["detect", "numaa"]) == 2

    error = capsys.readouterr().err
    assert "expected a section (cpu, storage, numa, " in error
    assert "did you mean numa?" in error


def test_the_transport_of_a_namespace_and_what_is_read_only_are_shown() -> None:
    found = Machine(
        block_devices=(
            BlockDevice("nvme0n1", BlockKind.NVME, 10**12), BlockDevice("sdb", BlockKind.SCSI, 10**12, read_only=True),
        ),
        nvme_controllers=(NvmeController("nvme0", "tcp", None), NvmeController("nvme1", "tcp", None)),
        nvme_namespaces=(NvmeNamespace("nvme0n1", "nvme-subsys0", 1, 10**12, controllers=("nvme0", "nvme1")),),
    )  # fmt: skip
    rows = [line.split()[:3] for line in lines_of(found, "storage")]

    assert ["nvme0n1", "nvme", "tcp"] in rows
    assert ["sdb", "scsi", "ro"] in rows


def test_hosts_of_virtio_and_ahci_are_shown_and_empty_ports_named() -> None:
    hosts = (
        Hba("host0", Transport.SATA, "ahci"), Hba("host1", Transport.SATA, "ahci"),
        Hba("host2", Transport.VIRTIO, "virtio_scsi"), Hba("host3", Transport.VIRTIO, "vmw_pvscsi"),
    )  # fmt: skip
    lines = lines_of(Machine(hbas=hosts, scsi_devices=(ScsiDevice("0:0:0:0", 0, "host0"),)), "storage")

    assert [line.split()[:3] for line in lines if "host" in line] == [
        ["no", "device", "host1"], ["host0", "sata", "ahci"], ["host2", "virtio", "virtio_scsi"],
        ["host3", "virtio", "vmw_pvscsi"],
    ]  # fmt: skip


def test_an_nfs_mount_shows_both_sizes_and_what_decides_about_errors_and_caches() -> None:
    mount = NfsMount(
        "/u02", "filer:/u02", "4.2", "tcp", read_size_bytes=1 << 20, write_size_bytes=1 << 16, hard=False,
        read_only=True, attribute_cache="noac",
    )  # fmt: skip

    words = " ".join(lines_of(Machine(nfs_mounts=(mount,)), "nfs")[-1].split())

    assert words.endswith("1 MiB 64 KiB soft ro noac")


def test_ports_show_speed_against_capability_with_targets_and_luns() -> None:
    hba = Hba(
        "host1", Transport.FC, "lpfc", state="Online", speed_bits_per_second=16 * 10**9,
        supported_bits_per_second=(8 * 10**9, 32 * 10**9), targets=(TargetPort("t1"), TargetPort("t2")),
    )  # fmt: skip
    units = tuple(ScsiDevice(f"1:0:0:{lun}", 0 if lun else 13, "host1") for lun in range(4))

    (row,) = (line.split() for line in lines_of(Machine(hbas=(hba,), scsi_devices=units), "storage") if "lpfc" in line)

    assert row == ["host1", "fc", "lpfc", "Online", "16", "Gb/s", "of", "32", "Gb/s", "-", "2", "3", "-"]


def test_a_drive_shows_format_temperature_and_firmware_and_what_is_not_read() -> None:
    found = Machine(
        nvme_controllers=(
            NvmeController(
                "nvme0", "tcp", "traddr=192.0.2.1", model="Drive", firmware="F1", state="live",
                temperature_celsius=41.6,
                net_device="eth1",
            ),
        ),
        nvme_namespaces=(
            NvmeNamespace("nvme0n1", None, 1, 10**12, ("nvme0",), logical_block_bytes=4096, metadata_bytes=8),
        ),
    )  # fmt: skip
    words = " ".join(" ".join(lines_of(found, "storage", 160)).split())

    assert "nvme0 tcp live - nvme0n1 (4 KiB + 8 B) 42 °C F1 Drive via eth1" in words
    assert "Spare and wear of nvme0 are unknown: not asked." in words


def test_a_raid_controller_is_named_by_what_sysfs_has() -> None:
    disk = BlockDevice(
        "sda", BlockKind.SCSI, 10**12, hctl="0:2:0:0", model="PERC H730P", vendor="DELL", write_cache="write back"
    )
    named = Hba("host7", Transport.RAID, "smartpqi", model="P816i-a", firmware="5.61")
    hbas = (Hba("host0", Transport.RAID, "megaraid_sas"), named)
    other = replace(disk, name="sdr", hctl="7:2:0:0", write_cache="write through")
    words = " ".join(" ".join(lines_of(Machine(hbas=hbas, block_devices=(disk, other)), "storage", 160)).split())

    assert "host0 megaraid_sas drives report DELL PERC H730P - - 1 write back" in words
    assert "host7 smartpqi P816i-a 5.61 - 1 write through" in words
    assert "Battery and cache of the controller are not in sysfs" in words


def test_devices_show_interrupts_virtual_functions_and_firmware() -> None:
    found = Machine(
        nodes=(NumaNode(0, (0, 1)), NumaNode(1, (2, 3))),
        nics=(Nic("eth0", "physical", pci_address="0000:01:00.0"),),
        pci=(PciFunction("0000:01:00.0", 0x020000, 1, 1, driver="ice", node=0, virtual_functions_limit=64),),
        interrupts=(DeviceInterrupts("0000:01:00.0", 3, (1, 2)), DeviceInterrupts("0000:02:00.0", 1)),
        accelerators=(
            Accelerator("0000:03:00.0", "NVIDIA", "NVIDIA A100", "nvidia", 1, 80 << 30, "535"),
            Accelerator("0000:05:00.0", "AMD", None, "amdgpu"),
        ),
        hbas=(Hba("host7", Transport.RAID, model="P816i-a", firmware="5.61"),),
        cxl_memory=(CxlMemory("mem0", 256 << 30, 0, "0000:04:00.0", 1, "V1"),),
    )
    rows = [" ".join(line.split()) for line in lines_of(found, "devices")]

    assert "eth0 0000:01:00.0 3 1-2 0-1 0" in rows
    assert "0000:02:00.0 0000:02:00.0 1 unknown - -" in rows
    assert "0000:01:00.0 ice 0 of 64 0" in rows
    assert "0000:03:00.0 NVIDIA A100 nvidia 80 GiB 1" in rows
    assert "mem0 0000:04:00.0 256 GiB 0 B 1" in rows
    assert "0000:05:00.0 AMD (model not named by a driver) amdgpu - -" in rows
    assert {"GPU NVIDIA A100 535", "CXL mem0 V1", "raid P816i-a 5.61"} <= set(rows)


def test_pools_are_shown_with_their_state() -> None:
    pool = FileSystem("zfs", "tank", "ONLINE", True, ("/u01",), details=("version 2.2", "ARC 1 GiB"))
    systems = (pool, FileSystem("btrfs", "data", devices=("sdc",)))
    rows = [" ".join(line.split()) for line in lines_of(Machine(file_systems=systems), "storage")]

    assert "zfs tank ONLINE /u01 version 2.2; ARC 1 GiB" in rows
    assert "btrfs data unknown - 1 device" in rows


def test_without_a_width_each_row_is_one_line_and_no_name_is_cut() -> None:
    export = "server:/" + "a" * 90
    mount = NfsMount("/mnt/" + "b" * 90, export, version="4.2")
    gap = Gap("/sys/" + "c" * 90, "missing")
    found = Machine(nfs_mounts=(mount,), gaps=(gap,))

    (row,) = (line for line in machine_text(found, None).splitlines() if export in line)
    assert mount.mount_point in row
    assert f"  {gap.subject}:" in machine_text(found).splitlines()
    assert max(map(len, machine_text(found, 120, "nfs").splitlines())) <= 120


def test_a_gap_that_a_section_states_is_not_listed_again(tmp_path: Path) -> None:
    text = machine_text(discovered(tmp_path, "/proc/version = x\n/sys/kernel/mm/hugepages/x = y"))

    assert text.count("/sys/class/net: missing") == 1
    assert "Not readable\n  /sys/devices/system/cpu: missing" in text


@pytest.mark.parametrize(("columns", "expected"), [("132", 132), ("40", 60), (None, None)])
def test_the_text_is_as_wide_as_the_terminal_and_unbounded_elsewhere(
    monkeypatch: pytest.MonkeyPatch, columns: str | None, expected: int | None
) -> None:
    monkeypatch.setenv("COLUMNS", columns or "80")
    monkeypatch.setattr("sys.stdout", SimpleNamespace(isatty=lambda: columns is not None))

    assert output_columns() == expected
