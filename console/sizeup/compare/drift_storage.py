"""What drifted of disks, adapters, paths, mounts and pools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sizeup.compare.drift_facts import (
    ComparedFact,
    Facts,
    Kind,
    both,
    compare_parts,
    former_names,
    number_text,
    size_text,
    speed_text,
    switch_text,
)
from sizeup.discovery.setting_facts import DISK_SETTINGS, disk_setting
from sizeup.model.file_systems import FileSystem
from sizeup.model.machine import Machine
from sizeup.model.network import NfsMount
from sizeup.model.storage import BlockDevice, BlockKind, Hba, MultipathMap, NvmeController, NvmeNamespace, Transport
from sizeup.units import format_decimal_bytes

_NO_DISKS = frozenset({BlockKind.OPTICAL, BlockKind.LOOP, BlockKind.RAM, BlockKind.NBD, BlockKind.PARTITION})
_FC = (Transport.FC, Transport.FCOE)
_RUNNING = frozenset({"running", "live"})
NO_LINK = "no link"


def storage_facts(baseline: Machine, now: Machine) -> Iterator[ComparedFact]:
    """Return all that is stored on, and what leads to it."""
    sides = (baseline, now)
    disks = both(sides, _disks)
    yield from compare_parts(Kind("disk", "disks", on_every_machine=True), disks, _disk_facts, lambda disk: disk.wwn)
    yield from compare_parts(
        Kind("adapter", "adapters", "adapter "), both(sides, _adapters), _adapter_facts, _adapter_identity
    )
    yield from compare_parts(
        Kind("NVMe controller", "NVMe controllers"),
        both(sides, lambda machine: {one.name: one for one in machine.nvme_controllers}),
        _controller_facts,
        lambda one: one.serial,
    )
    yield from compare_parts(
        Kind("namespace", "namespaces"),
        both(sides, lambda machine: {one.name: one for one in machine.nvme_namespaces}),
        _namespace_facts,
    )
    yield from compare_parts(
        Kind("map", "maps", "map "),
        both(sides, lambda machine: {one.name: one for one in machine.maps}),
        _map_facts,
        lambda one: one.uuid,
    )
    yield from compare_parts(
        Kind("pool", "pools", "pool "),
        both(sides, lambda machine: {f"{one.kind} {one.name}": one for one in machine.file_systems}),
        _pool_facts,
    )
    renamed = {old: new for new, old in former_names(*disks, lambda disk: disk.wwn).items()}
    mounts = (_mounts(baseline, renamed), _mounts(now, {}))
    yield from compare_parts(Kind("mount", "mounts", "mount ", on_every_machine=True), mounts, lambda facts: facts)


def _disks(machine: Machine) -> dict[str, BlockDevice]:
    return {device.name: device for device in machine.block_devices if device.kind not in _NO_DISKS}


def _disk_facts(disk: BlockDevice) -> Facts:
    return {
        **{name: disk_setting(disk, name) for name in DISK_SETTINGS},
        "size": None if disk.size_bytes is None else format_decimal_bytes(disk.size_bytes),
        "model": disk.model,
        "logical_block_size": number_text(disk.logical_block_bytes),
        "read only": switch_text(disk.read_only),
        "RAID level": disk.raid_level,
        "missing members": number_text(disk.raid_degraded),
        "members": str(len(disk.members)),
    }


def _adapters(machine: Machine) -> dict[str, tuple[Hba, int]]:
    """Adapters with the number of their LUNs; those of USB come and go with what is plugged in."""
    units = Counter(device.hba for device in machine.scsi_devices if device.kind == 0)
    return {hba.name: (hba, units[hba.name]) for hba in machine.hbas if hba.transport is not Transport.USB}


def _adapter_identity(adapter: tuple[Hba, int]) -> str | None:
    """Hosts are numbered in the order in which they come up; all sessions of iSCSI have the initiator's name."""
    hba, _ = adapter
    if hba.transport is Transport.ISCSI:
        return " ".join(f"{target.name} {target.address}" for target in hba.targets) or None
    return hba.port_name or hba.pci_address


def _adapter_facts(adapter: tuple[Hba, int]) -> Facts:
    hba, units = adapter
    speed = speed_text(hba.speed_bits_per_second)
    if hba.transport in _FC and hba.state not in (None, "Online"):
        speed = NO_LINK
    return {
        "driver": hba.driver,
        "model": hba.model,
        "firmware": hba.firmware,
        "state": hba.state,
        "speed": speed,
        "targets": str(len(hba.targets)),
        "LUNs": str(units),
        "queue depth": number_text(hba.queue_depth_limit),
        "interface": hba.net_device,
    }


def _controller_facts(controller: NvmeController) -> Facts:
    return {
        "model": controller.model,
        "firmware": controller.firmware,
        "state": controller.state,
        "transport": controller.transport,
        "queues": number_text(controller.queues),
        "interface": controller.net_device,
    }


def _namespace_facts(space: NvmeNamespace) -> Facts:
    return {
        "block": size_text(space.logical_block_bytes),
        "metadata": size_text(space.metadata_bytes),
        "paths": str(len(space.paths)),
    }


def _map_facts(found: MultipathMap) -> Facts:
    states = [path.state for path in found.paths]
    return {
        "paths": str(len(found.paths)),
        "paths in use": None if None in states else str(sum(state in _RUNNING for state in states)),
    }


def _pool_facts(pool: FileSystem) -> Facts:
    return {"state": pool.state, "devices": str(len(pool.devices)), "mounted on": ", ".join(pool.mount_points) or "-"}


def _mounts(machine: Machine, renamed: dict[str, str]) -> dict[str, Facts]:
    """Each mount point with what is mounted there; a disk under the name that it has now."""
    found: dict[str, Facts] = {}
    for device in machine.block_devices:
        parent = device.parent or device.name
        name = device.dm_name or device.name.replace(parent, renamed.get(parent, parent), 1)
        for point in device.mount_points:
            found[point] = {"device": name}
    for local in machine.local_mounts:
        # A device has several names; the one that lasts is that of the disk above.
        known = found.get(local.mount_point, {"device": local.source})
        found[local.mount_point] = {**known, "type": local.kind, "options": ",".join(sorted(local.options))}
    for mount in machine.nfs_mounts:
        found[mount.mount_point] = _nfs_facts(mount)
    return found


def _nfs_facts(mount: NfsMount) -> Facts:
    return {
        "device": mount.export,
        "version": mount.version,
        "protocol": mount.protocol,
        "connections": number_text(mount.transports),
        "nconnect": number_text(mount.nconnect) or "not set",
        "rsize": size_text(mount.read_size_bytes),
        "wsize": size_text(mount.write_size_bytes),
        "hard": switch_text(mount.hard, ("hard", "soft")),
        "sync": switch_text(mount.sync),
        "read only": switch_text(mount.read_only),
        "attribute cache": mount.attribute_cache or "default",
        "interface": mount.nic,
    }
