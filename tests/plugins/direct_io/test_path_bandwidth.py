"""What the way to a path carries, from what discovery knows about the machine."""

import msgspec
import pytest

from sizeup.model.machine import Machine, PathBudget
from sizeup.model.network import NfsMount
from sizeup.model.storage import BlockDevice, BlockKind, NvmeNamespace, ScsiDevice
from sizeup_direct_io.settings import RunSettings, TargetBandwidth, bandwidth_settings


def budget(device: str, rate: float | None) -> PathBudget:
    return PathBudget(device, "0000:01:00.0", 0, (), rate, f"link of {device}")


MACHINE = Machine(
    block_devices=(
        BlockDevice("nvme0n1", BlockKind.NVME, 1 << 40, leaves=("nvme0n1",), mount_points=("/",)),
        BlockDevice("md0", BlockKind.MD, 1 << 41, leaves=("sda", "sdb"), mount_points=("/data",)),
        BlockDevice("dm-0", BlockKind.LVM, 1 << 40, dm_name="vg-redo", leaves=("sda", "nvme0n1")),
        BlockDevice("vda", BlockKind.VIRTIO, 1 << 40, leaves=("vda",), mount_points=("/virtual",)),
    ),
    nvme_namespaces=(NvmeNamespace("nvme0n1", None, 1, 1 << 40, controllers=("nvme0",)),),
    scsi_devices=(
        ScsiDevice("1:0:0:0", 0, "host1", block_device="sda"),
        ScsiDevice("1:0:1:0", 0, "host1", block_device="sdb"),
        ScsiDevice("2:0:1:0", 0, "host2", block_device="sdb"),
    ),
    nfs_mounts=(
        NfsMount("/data/nfs", "filer:/vol", nic="eth0"),
        NfsMount("/slow", "filer:/slow", nic="eth1"),
        NfsMount("/nowhere", "filer:/gone"),
    ),
    budgets=(
        budget("nvme0", 4e9),
        budget("host1", 8e8),
        budget("host2", 16e8),
        budget("eth0", 1.18e9),
        budget("eth1", None),
    ),
)


def find_path_bandwidth(paths: tuple[str, ...], machine: Machine) -> TargetBandwidth | None:
    """Return what the settings of a step say of the paths."""
    found = {"preset": "oltp-read", "path": "/", "precision": 0.05, "stall": 5.0}
    found |= bandwidth_settings("path_bandwidth", paths, machine)
    return msgspec.convert(found, RunSettings).bandwidth("path_bandwidth")


@pytest.mark.parametrize(
    ("path", "path_bandwidth"),
    [
        pytest.param("/var/tmp", TargetBandwidth(4e9, "nvme0: link of nvme0"), id="the closest mount is the root"),
        pytest.param("/dev/nvme0n1", TargetBandwidth(4e9, "nvme0: link of nvme0"), id="a device by its name"),
        pytest.param(
            "/data/x", TargetBandwidth(2.4e9, "host1: link of host1; host2: link of host2"), id="each adapter once"
        ),
        pytest.param(
            "/dev/mapper/vg-redo", TargetBandwidth(4.8e9, "nvme0: link of nvme0; host1: link of host1"), id="a map"
        ),
        pytest.param(
            "/data/nfs/file", TargetBandwidth(1.18e9, "eth0: link of eth0"), id="NFS by the interface of its route"
        ),
        pytest.param("/slow", None, id="an interface of unknown speed"),
        pytest.param("/nowhere", None, id="no interface known"),
        pytest.param("/virtual", None, id="a disk behind no known adapter"),
        pytest.param(
            "/database", TargetBandwidth(4e9, "nvme0: link of nvme0"), id="a name that only begins like a mount"
        ),
    ],
)
def test_a_way_is_as_wide_as_its_adapters_and_unknown_where_one_of_them_is(
    path: str, path_bandwidth: TargetBandwidth | None
) -> None:
    assert find_path_bandwidth((path,), MACHINE) == path_bandwidth


def test_a_machine_without_mounts_names_no_way() -> None:
    assert find_path_bandwidth(("/data",), Machine()) is None


def test_paths_that_share_an_adapter_share_what_it_carries() -> None:
    assert find_path_bandwidth(("/data/nfs/a", "/data/nfs/b"), MACHINE) == TargetBandwidth(1.18e9, "eth0: link of eth0")
    assert find_path_bandwidth(("/var/tmp", "/data/nfs/a"), MACHINE) == TargetBandwidth(
        5.18e9, "nvme0: link of nvme0; eth0: link of eth0"
    )
    assert find_path_bandwidth(("/var/tmp", "/virtual"), MACHINE) is None
