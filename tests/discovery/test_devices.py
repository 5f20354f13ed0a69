"""Interrupts, accelerators, CXL, NVMe's temperature and format, RDMA and controllers' firmware."""

from pathlib import Path

import msgspec
import pytest

from sizeup.discovery.capture import capture
from sizeup.discovery.machine import discover
from sizeup.model.machine import Accelerator, CxlMemory, DeviceInterrupts
from sizeup.views.machine.detection import detected, detection
from trees import discovered
from trees import machine as machine_tree

SLOT = "/sys/devices/pci0000:00/0000:00:06.0"
NVME = f"{SLOT}/nvme/nvme0"
DRIVE = (
    f"/sys/class/nvme/nvme0 -> {NVME}\n/sys/bus/pci/devices/0000:00:06.0 -> {SLOT}\n{SLOT}/class = 0x010802\n"
    f"{NVME}/transport = pcie\n{NVME}/state = live\n{NVME}/firmware_rev = FW1\n"
)


@pytest.mark.parametrize(
    ("irqs", "expected"),
    [
        ("/proc/irq/{40-41}/effective_affinity_list = {}\n", (40, 41)),
        ("/proc/irq/{40-41}/smp_affinity_list = 0-3\n", (0, 1, 2, 3)),
        ("/proc/irq/40/effective_affinity_list = 7\n/proc/irq/41/effective_affinity_list = x\n", (7,)),
        ("/proc/irq/0/node = 0\n", ()),
    ],
)
def test_interrupts_are_counted_with_the_cpus_that_they_go_to(
    tmp_path: Path, irqs: str, expected: tuple[int, ...]
) -> None:
    machine = discovered(tmp_path, DRIVE, f"{SLOT}/msi_irqs/{{40-41}} = msix\n{SLOT}/msi_irqs/odd = 1\n", irqs)

    assert machine.interrupts == (DeviceInterrupts("0000:00:06.0", 2, expected),)


def test_without_proc_irq_nothing_is_said_of_interrupts(tmp_path: Path) -> None:
    assert discovered(tmp_path, DRIVE, f"{SLOT}/msi_irqs/40 = msix\n").interrupts == ()


@pytest.mark.parametrize("place", [f"{NVME}/hwmon3", f"{SLOT}/hwmon/hwmon3"])
def test_a_drive_tells_its_temperature(tmp_path: Path, place: str) -> None:
    link = f"{NVME}/device -> ../..\n"
    (drive,) = discovered(
        tmp_path, DRIVE, link, f"{place}/temp1_input = 41850\n{place}/temp1_crit = 84850\n"
    ).nvme_controllers

    assert (drive.temperature_celsius, drive.critical_celsius, drive.firmware) == (41.85, 84.85, "FW1")


def test_a_drive_that_is_not_live_is_not_asked(tmp_path: Path) -> None:
    tree = DRIVE.replace("state = live", "state = resetting")
    (drive,) = discovered(tmp_path, tree, f"{NVME}/hwmon3/temp1_input = 41850\n").nvme_controllers

    assert drive.temperature_celsius is None


@pytest.mark.parametrize("text", ["", "x", "99999999999999999999", "-99999999"])
def test_a_temperature_that_is_none_is_unknown(tmp_path: Path, text: str) -> None:
    (drive,) = discovered(tmp_path, DRIVE, f"{NVME}/hwmon3/temp1_input = {text}\n").nvme_controllers

    assert drive.temperature_celsius is None


def test_a_namespace_has_its_lba_format(tmp_path: Path) -> None:
    subsystem = "/sys/class/nvme-subsystem/nvme-subsys0"
    (space,) = discovered(tmp_path, DRIVE, f"{subsystem}/nvme0/state = live\n{subsystem}/nvme0n1/size = 16\n",
        f"{subsystem}/nvme0n1/queue/logical_block_size = 4096\n{subsystem}/nvme0n1/metadata_bytes = 8\n",
    ).nvme_namespaces  # fmt: skip

    assert (space.logical_block_bytes, space.metadata_bytes) == (4096, 8)


def test_gpus_have_the_name_that_their_driver_gives(tmp_path: Path) -> None:
    pci = "/sys/bus/pci/devices/0000:"
    tree = (
        f"{pci}01:00.0/class = 0x030200\n{pci}01:00.0/vendor = 0x10de\n{pci}01:00.0/driver -> ../drivers/nvidia\n"
        "/proc/driver/nvidia/gpus/0000:01:00.0/information = Model: \\t NVIDIA A100\\nGPU Firmware: 535.1\\nX: ??\n"
        f"{pci}02:00.0/class = 0x030000\n{pci}02:00.0/vendor = 0x1002\n{pci}02:00.0/driver -> ../drivers/amdgpu\n"
        f"{pci}02:00.0/mem_info_vram_total = 68702699520\n{pci}02:00.0/vbios_version = 113-D65201\n"
        f"{pci}03:00.0/class = 0x120000\n{pci}03:00.0/vendor = 0x1e60\n"
        f"{pci}04:00.0/class = 0x030000\n{pci}04:00.0/vendor = 0x1a03\n"
    )

    assert discovered(tmp_path, tree).accelerators == (
        Accelerator("0000:01:00.0", "NVIDIA", "NVIDIA A100", "nvidia", firmware="535.1"),
        Accelerator(
            "0000:02:00.0", "AMD", None, "amdgpu", memory_bytes=68702699520, firmware="113-D65201",
        ),
        Accelerator("0000:03:00.0", "vendor 1e60"),
    )  # fmt: skip


def test_cxl_memory_is_listed_with_what_of_it_is_volatile(tmp_path: Path) -> None:
    device = "/sys/devices/pci0000:35/0000:35:00.0/mem0"
    tree = (
        f"/sys/bus/cxl/devices/mem0 -> {device}\n{device}/ram/size = 0x4000000000\n{device}/pmem/size = 0x0\n"
        f"{device}/numa_node = 1\n{device}/firmware_version = BWFW VERSION 00\n"
        "/sys/bus/cxl/devices/decoder0.0/size = 1\n"
    )

    assert discovered(tmp_path, tree).cxl_memory == (
        CxlMemory("mem0", 256 << 30, 0, "0000:35:00.0", 1, "BWFW VERSION 00"),
    )


@pytest.mark.parametrize("size", ["", "-1", "x", "0xffffffffffffffffffff"])
def test_a_cxl_size_that_is_none_is_unknown(tmp_path: Path, size: str) -> None:
    (memory,) = discovered(tmp_path, f"/sys/bus/cxl/devices/mem0/ram/size = {size}\n").cxl_memory

    assert memory.volatile_bytes is None


def test_rdma_adapters_and_controllers_have_their_firmware(tmp_path: Path) -> None:
    rdma, host = "/sys/class/infiniband/mlx5_0", "/sys/class/scsi_host/host0"
    machine = discovered(
        tmp_path, f"{rdma}/fw_ver = 22.31\n{rdma}/hca_type = MT4125\n{rdma}/ports/1/state = 4: ACTIVE\n",
        f"{host}/proc_name = hpsa\n{host}/firmware_revision = 8.32\n{host}/model = P440ar\n",
    )  # fmt: skip

    assert [(port.firmware, port.model) for port in machine.rdma_ports] == [("22.31", "MT4125")]
    assert [(hba.firmware, hba.model) for hba in machine.hbas] == [("8.32", "P440ar")]


KEYS = """/run/cloud-init/instance-data.json = {"v1": {"cloud_name": "azure", "public_ssh_keys": ["ssh AAAAC3"]}, \
"ds": {"meta_data": {"imds": {"compute": {"vmSize": "Standard_E8s_v5"}}, "local-hostname": "db-prod-7"}}}"""
SECRETS = (
    b"AAAAC3", b"db-prod-7", b"GPU-5f0c", b"0a1b2c3d-0000-4000-8000-00000000000a", b"192.0.2.9", b"192.0.2.7",
    b"10.0.10.5", b"10.0.10.9", b"0A000A", b"2001:db8:0:1::7", b"20010db8000000010000000000000000",
    b"B80D012001", b"090200C0", b"0x100000109b123456",
)  # fmt: skip


@pytest.mark.parametrize("masked", [False, True])
def test_the_tree_of_all_of_these_is_read_in_whole_and_in_whole_behind_the_mask(tmp_path: Path, masked: bool) -> None:
    """The machine that the fuzz tests spoil: each reader finds something in it."""
    archive = tmp_path / "host.tar"
    root = machine_tree(tmp_path / "root", "fabric-and-pools", KEYS)
    machine, *_ = capture(root, str(archive), tool="test", salt=b"s" * 16 if masked else None)

    assert discover(str(archive)) == machine
    content = archive.read_bytes()
    assert [secret for secret in SECRETS if (secret in content) is masked] == []
    assert machine.platform.cloud.instance_type == "Standard_E8s_v5"
    assert [gpu.model for gpu in machine.accelerators] == ["NVIDIA A100"]
    assert [mount.nic for mount in machine.nfs_mounts] == ["eth0", "eth1"]
    assert [(hba.name, hba.net_device) for hba in machine.hbas] == [("host5", "eth1"), ("host6", None), ("host7", None)]
    assert [controller.net_device for controller in machine.nvme_controllers] == ["eth1"]
    assert {system.kind for system in machine.file_systems} == {"zfs", "btrfs", "bcachefs", "lustre", "gpfs", "drbd"}
    assert {finding.id for finding in machine.findings} >= {
        "nfs.server-silent", "nfs.soft-mount", "nfs.no-attribute-cache", "nfs.small-requests", "mount.device-gone",
        "storage.degraded-pool", "fc.slow-port",
    }  # fmt: skip
    assert all((machine.interrupts, machine.accelerators, machine.cxl_memory, machine.lost_mounts))
    assert detected(msgspec.json.encode(detection(machine)))[1] == machine
