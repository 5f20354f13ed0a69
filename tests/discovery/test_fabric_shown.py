"""Controllers, pools, accelerators and CXL of a made machine: in text, in the document and in a check."""

from pathlib import Path

import msgspec
import pytest

from sizeup.compare.drift import drift
from sizeup.discovery.machine import discover
from sizeup.model.machine import Machine
from sizeup.report.machine import machine_text
from sizeup.views.machine.detection import Detection, detected, detection
from trees import machine

RAID = "/sys/devices/pci0000:00/0000:00:09.0/host7"
DISK = f"{RAID}/target7:2:0/7:2:0:0"
MORE = (
    "/sys/bus/pci/devices/0000:00:09.0 -> /sys/devices/pci0000:00/0000:00:09.0",
    f"/sys/class/block/sdr -> {DISK}/block/sdr", f"/sys/block/sdr -> {DISK}/block/sdr", f"{DISK}/block/sdr/size = 8192",
    f"{DISK}/block/sdr/queue/write_cache = write through", f"{DISK}/model = LOGICAL VOLUME", f"{DISK}/vendor = HPE",
    "/sys/bus/pci/devices/0000:04:00.0/class = 0x038000", "/sys/bus/pci/devices/0000:04:00.0/vendor = 0x1002",
    "/sys/bus/pci/devices/0000:04:00.0/mem_info_vram_total = 68702699520",
    "/sys/bus/pci/devices/0000:04:00.0/driver -> ../drivers/amdgpu",
)  # fmt: skip

SHOWN = {
    "RAID controller": ("storage", "host7 smartpqi P816i-a 5.61 - 1 write through"),
    "ZFS": ("storage", "zfs tank DEGRADED /u01 version 2.2.2-1; ARC 1 GiB of at most 4 GiB"),
    "btrfs": ("storage", "btrfs data 1 device missing /b 1 device; data raid1; nodes of 16 KiB"),
    "bcachefs": ("storage", "bcachefs 0a1b2c3d-0000-4000-8000-00000000000b sdb rw /c 1 device"),
    "Lustre": ("storage", "lustre 192.0.2.9@tcp:/fs NOT HEALTHY /lus version 2.15.3"),
    "GPFS": ("storage", "gpfs gpfs0 unknown /gpfs -"),
    "DRBD": ("storage", "drbd drbd1 StandAlone, Primary/Unknown, UpToDate/DUnknown - version 8.4.11"),
    "GPU": ("devices", "0000:03:00.0 NVIDIA A100 nvidia - -"),
    "another GPU": ("devices", "0000:04:00.0 AMD (model not named by a driver) amdgpu 64 GiB -"),
    "CXL": ("devices", "mem0 - 256 GiB 0 B -"),
    "firmware": ("devices", "raid P816i-a 5.61"),
}
"""The section that prints it, and its row."""

CHANGED = {
    "sdr write_cache": (f"{DISK}/block/sdr/queue/write_cache", "write back"),
    "adapter host7 firmware": ("/sys/class/scsi_host/host7/firmware_version", "6.00"),
    "pool zfs tank state": ("/proc/spl/kstat/zfs/tank/state", "ONLINE"),
    "pool btrfs data state": ("/sys/fs/btrfs/0a1b2c3d-0000-4000-8000-00000000000a/devinfo/1/missing", "0"),
    "pool bcachefs 0a1b2c3d-0000-4000-8000-00000000000b state": (
        "/sys/fs/bcachefs/0a1b2c3d-0000-4000-8000-00000000000b/dev-0/state", "rw [ro] failed spare",
    ),
    "pool lustre 192.0.2.9@tcp:/fs state": ("/sys/fs/lustre/health_check", "healthy"),
    "pool drbd drbd1 state": (
        "/proc/drbd", "version: 8.4.11 (api:1)\\n 1: cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate C r-----",
    ),
    "accelerator 0000:04:00.0 memory": ("/sys/bus/pci/devices/0000:04:00.0/mem_info_vram_total", "34359738368"),
    "accelerator 0000:03:00.0 firmware": (
        "/proc/driver/nvidia/gpus/0000:03:00.0/information", "Model: NVIDIA A100\\nGPU Firmware: 550.2",
    ),
    "CXL mem0 firmware": ("/sys/bus/cxl/devices/mem0/firmware_version", "V2"),
}  # fmt: skip
"""By the fact that drifts: the file and what it holds now."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return discover(machine(tmp_path_factory.mktemp("fabric"), "fabric-and-pools", *MORE))


@pytest.mark.parametrize("case", SHOWN)
def test_it_is_in_the_text(found: Machine, case: str) -> None:
    section, row = SHOWN[case]
    lines = [" ".join(line.split()) for line in machine_text(found, 200, section).splitlines()]

    assert row in lines


def test_the_document_has_all_of_it(found: Machine) -> None:
    document = msgspec.json.decode(msgspec.json.encode(detection(found)), type=Detection)

    assert detected(document) == found


@pytest.mark.parametrize("fact", CHANGED)
def test_a_check_lists_it(found: Machine, tmp_path: Path, fact: str) -> None:
    path, text = CHANGED[fact]
    now = discover(machine(tmp_path, "fabric-and-pools", *MORE, f"{path} = {text}"))

    assert [one.fact for one in drift(found, now).drifted] == [fact]
