"""Machines with paths to storage."""

from sizeup.model.machine import Machine, PathBudget
from sizeup.model.network import NfsMount, Nic
from sizeup.model.storage import (
    BlockDevice,
    BlockKind,
    Hba,
    MultipathMap,
    NvmeController,
    NvmeNamespace,
    Path,
    ScsiDevice,
    TargetPort,
    Transport,
)
from sizeup.sizing.storage_paths import StorageTarget, storage_path_bandwidths


def budget(device: str, limit: float | None, share: float | None = None) -> PathBudget:
    return PathBudget(device, f"0000:{device}:00.0", 0, (), limit, f"link {device}", share)


NVME = Machine(
    nvme_controllers=tuple(NvmeController(name, "pcie", None) for name in ("nvme0", "nvme1")),
    nvme_namespaces=(
        NvmeNamespace("nvme0n1", None, 1, 10**12, ("nvme0",)),
        NvmeNamespace("nvme1n1", None, 1, 10**12, ("nvme1",)),
    ),
    block_devices=(
        BlockDevice("nvme0n1", BlockKind.NVME, 10**12, mount_points=("/boot",)),
        BlockDevice("nvme1n1", BlockKind.NVME, 10**12),
        BlockDevice("md0", BlockKind.MD, 10**12, leaves=("nvme0n1", "nvme1n1"), write_spindles=1, read_spindles=2),
    ),
    budgets=(budget("nvme0", 4e9, 2e9), budget("nvme1", 4e9)),
)


def network(*nics: Nic, transports: int | None = None) -> Machine:
    return Machine(
        nics=nics,
        nfs_mounts=(NfsMount("/data", "filer:/vol", transports=transports),),
        budgets=(budget("eth0", 1.25e9), budget("eth1", 1.25e9), budget("eth2", 3e9)),
    )


def fibre_channel(*hbas: Hba, luns: int = 1, states: tuple[str, ...] = ("running", "running")) -> Machine:
    """Ports in front of LUNs that each of them reaches, all LUNs under multipath maps."""
    units, maps, devices = [], [], []
    for lun in range(luns):
        paths = [f"sd{hba.name[-1]}{lun}" for hba in hbas]
        for hba, name, state in zip(hbas, paths, states, strict=False):
            units.append(ScsiDevice(f"{hba.name[-1]}:0:0:{lun}", 0, hba.name, name, state=state))
            devices.append(BlockDevice(name, BlockKind.SCSI, 10**12, leaves=(name,)))
        over = tuple(
            Path(name, None, hba.name, Transport.FC, None, None, None, None, state, None)
            for hba, name, state in zip(hbas, paths, states, strict=False)
        )
        maps.append(MultipathMap(f"mpath{lun}", f"dm-{lun}", 10**12, None, None, over))
        members = tuple(paths)
        devices.append(BlockDevice(f"dm-{lun}", BlockKind.MULTIPATH, 10**12, members=members, leaves=(f"dm-{lun}",)))
    return Machine(
        hbas=hbas,
        scsi_devices=tuple(units),
        maps=tuple(maps),
        block_devices=tuple(devices),
        budgets=tuple(budget(hba.name, 800e6) for hba in hbas),
    )


def port(name: str, state: str | None = "Online", **more: tuple[TargetPort, ...]) -> Hba:
    return Hba(name, Transport.FC, state=state, **more)


def carried(machine: Machine, device: str | None = None) -> float:
    return sum(bandwidth.bytes_per_second for bandwidth in storage_path_bandwidths(machine, device))


def target(name: str, disks: set[str], *carriers: str) -> StorageTarget:
    return StorageTarget(name, frozenset(disks), frozenset(carriers))
