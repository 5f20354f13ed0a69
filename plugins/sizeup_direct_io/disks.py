"""The disks beneath a target: the I/O of others on them, the CPUs near them, and the states of the paths to them."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from sizeup.model.machine import Gap
from sizeup.procfs.block import BlockStat, read_block_stack, read_block_stat
from sizeup.procfs.kernel_file import SYS, list_names, read_integer, read_line, read_text
from sizeup.procfs.lists import format_list, parse_cpulist
from sizeup.units import format_rate

_HOST = re.compile(r"host\d+")
_SESSION = re.compile(r"session\d+")
_CONTROLLER = re.compile(r"nvme\d+")
_NODE = re.compile(r"node(\d+)")
_NETWORK_DISK = re.compile(r"[nr]bd\d+")
_KINDS = msgspec.toml.decode(Path(__file__).with_name("disks.toml").read_bytes(), type=dict[str, tuple[str, ...]])
"""By what RAID controllers and virtual disks are known."""
SIGNIFICANT_SHARE = 0.05
"""Of the requested bytes: less other I/O than this does not change a figure visibly."""
SIGNIFICANT_BYTES_PER_SECOND = 1e6
POLL_SECONDS = 1.0
"""A state of a path is a file in sysfs: reading those of a hundred paths takes some milliseconds."""
_UP = frozenset({"running", "live", "Online", "LOGGED_IN", "optimized", "non-optimized"})
"""States of a path that works; any other state means that it carries no I/O."""


class Disks(Struct, frozen=True):
    """All disks beneath a target together, at one moment."""

    names: tuple[str, ...]
    counters: BlockStat
    plain: bool
    """Nothing between the target and the disks writes for itself, such as RAID."""


def read_disks(device_number: int, sysfs: str = SYS) -> Disks | None:
    """Return the disks beneath a device; None if it is on no block device, such as NFS or btrfs."""
    stack = read_block_stack(device_number, sysfs)
    if stack is None:
        return None
    found = [stat for disk in stack.disks if (stat := read_block_stat(disk)) is not None]
    if len(found) < len(stack.disks):
        return None
    counters = BlockStat(sum(each.read_bytes for each in found), sum(each.written_bytes for each in found))
    return Disks(tuple(map(os.path.basename, stack.disks)), counters, plain=not stack.stacked)


class OtherIo(Struct, frozen=True):
    """I/O of other processes, or of the file system for itself, on the same disks."""

    disks: str
    read_bytes_per_second: float
    written_bytes_per_second: float | None
    """None if RAID or a map in between writes for itself."""
    own_bytes_per_second: float

    @property
    def significant(self) -> bool:
        """Return whether it may have affected the figure."""
        return self._others > max(SIGNIFICANT_BYTES_PER_SECOND, SIGNIFICANT_SHARE * self.own_bytes_per_second)

    @property
    def share(self) -> float:
        """Return what of all bytes was not of this process."""
        return self._others / ((self._others + self.own_bytes_per_second) or 1.0)

    @property
    def _others(self) -> float:
        return self.read_bytes_per_second + (self.written_bytes_per_second or 0.0)

    def __str__(self) -> str:
        """Return the rates as text."""
        text = f"{format_rate(self.read_bytes_per_second)} read"
        if self.written_bytes_per_second is not None:
            text += f" and {format_rate(self.written_bytes_per_second)} written"
        return f"{text} on {self.disks}"


def other_io(before: Disks, after: Disks, seconds: float, *, own_read: int, own_written: int) -> OtherIo:
    """Return what the disks transferred beyond the I/O of this process."""
    read = after.counters.read_bytes - before.counters.read_bytes - own_read
    written = after.counters.written_bytes - before.counters.written_bytes - own_written
    return OtherIo(
        ", ".join(after.names),
        max(0, read) / seconds,
        max(0, written) / seconds if after.plain else None,
        (own_read + own_written) / seconds,
    )


def _host_driver(disk: str, sysfs: str) -> str | None:
    """Return the driver of a disk's SCSI host; None for other disks, or if the kernel does not report it."""
    host = next((part for part in _device_path(disk).split("/") if _HOST.fullmatch(part)), None)
    return None if host is None else read_line(f"{sysfs}/class/scsi_host/{host}/proc_name")


def _device_path(disk: str) -> str:
    return os.path.realpath(f"{disk}/device")


def _controllers(device: str) -> list[str]:
    """Return the controllers of a namespace that lies below an NVMe subsystem."""
    return [name for name in list_names(device) if _CONTROLLER.fullmatch(name)]


def is_virtual(device_number: int, sysfs: str = SYS) -> bool:
    """Return whether a disk beneath the device is virtual, by its sysfs path, its driver or its model."""
    stack = read_block_stack(device_number, sysfs)
    for disk in () if stack is None else stack.disks:
        device = _device_path(disk)
        identity = f"{read_line(f'{device}/vendor') or ''} {read_line(f'{device}/model') or ''}".lower()
        if (
            any(part.lower().startswith(_KINDS["virtual_paths"]) for part in disk.split("/"))
            or _host_driver(disk, sysfs) in _KINDS["virtual_drivers"]
            or any(name in identity for name in _KINDS["virtual_models"])
        ):
            return True
    return False


def _storage_system(disk: str, sysfs: str) -> str | None:
    device, driver = _device_path(disk), _host_driver(disk, sysfs)
    parts = device.split("/")
    if any(part.startswith("rport-") for part in parts):
        return "Fibre Channel array"
    if any(_SESSION.fullmatch(part) for part in parts):
        return "iSCSI array"
    if driver == "ib_srp":
        return "SRP array"
    # A disk that such a controller passes through as it is has a SAS address of its own.
    if driver in _KINDS["raid_drivers"] and not any(part.startswith("end_device-") for part in parts):
        return f"RAID controller ({driver})"
    folders = (device, *(f"{device}/{name}" for name in _controllers(device)))  # of the namespace, or its controllers
    transports = {found for folder in folders if (found := read_line(f"{folder}/transport"))}
    if fabrics := transports - {"pcie", "apple-nvme"}:
        return f"NVMe over Fabrics array ({', '.join(sorted(fabrics))})"
    return "network block device" if _NETWORK_DISK.fullmatch(os.path.basename(disk)) else None


def storage_systems(device_number: int, sysfs: str = SYS) -> tuple[str, ...]:
    """Return the arrays and RAID controllers beneath a device, whose caches this host cannot see; empty if none."""
    stack = read_block_stack(device_number, sysfs)
    found = () if stack is None else (_storage_system(disk, sysfs) for disk in stack.disks)
    return tuple(dict.fromkeys(filter(None, found)))


def rotating_disks(device_number: int, sysfs: str = SYS) -> int:
    """Return how many rotating disks are beneath a device; 0 if any is not, or may be another thing behind a system."""
    stack = read_block_stack(device_number, sysfs)
    if stack is None or is_virtual(device_number, sysfs) or storage_systems(device_number, sysfs):
        return 0
    # A device without hardware, such as a loop device, takes the flag over from what it lies on.
    rotating = all(
        os.path.isdir(f"{disk}/device") and read_line(f"{disk}/queue/rotational") == "1" for disk in stack.disks
    )
    return len(stack.disks) if rotating else 0


def write_cache(device_number: int, sysfs: str = SYS) -> str | None:
    """``write back`` or ``write through`` of the device, or of the disk under a partition; None when unknown."""
    stack = read_block_stack(device_number, sysfs)
    folders = () if stack is None else stack.folders[:2]  # a partition has no queue of its own
    return next(filter(None, (read_line(f"{folder}/queue/write_cache") for folder in folders)), None)


class NearCpus(Struct, frozen=True):
    """Where the threads of a target run."""

    groups: tuple[tuple[int, ...], ...]
    """The allowed CPUs of each node; empty: the threads are not pinned."""
    description: str
    """The CPUs with their nodes and devices, or why the threads are not pinned."""

    def of_worker(self, index: int) -> tuple[int, ...]:
        """Return the CPUs of a worker: the workers take turns over the nodes."""
        return self.groups[index % len(self.groups)] if self.groups else ()


def not_pinned(reason: str) -> NearCpus:
    """Return that the threads run wherever the process may."""
    return NearCpus((), f"not pinned: {reason}")


def _nodes_with_cpus(sysfs: str) -> dict[int, tuple[int, ...]]:
    folder = f"{sysfs}/devices/system/node"
    nodes = [int(match[1]) for name in list_names(folder) if (match := _NODE.fullmatch(name))]
    found = {node: parse_cpulist(read_line(f"{folder}/node{node}/cpulist") or "") for node in nodes}
    return {node: cpus for node, cpus in found.items() if cpus}


def _node_above(folder: str, sysfs: str) -> int | None:
    """Return the node of the closest device in a sysfs path that has one; None without."""
    top = os.path.realpath(sysfs)
    folder = os.path.realpath(folder)
    while folder.startswith(f"{top}/"):
        node = read_integer(f"{folder}/numa_node")
        if node is not None and node >= 0:
            return node
        folder = os.path.dirname(folder)
    return None


def find_near_cpus(device_number: int, allowed: Collection[int], sysfs: str = SYS) -> NearCpus:
    """Return the CPUs of the nodes of all devices beneath a target that this process may use."""
    stack = read_block_stack(device_number, sysfs)
    if stack is None:
        return not_pinned("the target is on no block device")
    nodes = _nodes_with_cpus(sysfs)
    only = next(iter(nodes)) if len(nodes) == 1 else None
    devices: dict[int, list[str]] = {}
    for disk in stack.disks:
        # An NVMe subsystem with several paths has a controller, and so a node, for each.
        folders = [f"{disk}/device/{name}" for name in _controllers(f"{disk}/device")] or [disk]
        for node in {_node_above(folder, sysfs) for folder in folders}:
            known = only if node is None else node
            if known is None:
                return not_pinned(f"the node of {os.path.basename(disk)} is unknown")
            devices.setdefault(known, []).append(os.path.basename(disk))
    groups, descriptions = [], []
    for node, names in sorted(devices.items()):
        attached = ", ".join(names)
        cpus = tuple(cpu for cpu in nodes.get(node, ()) if cpu in allowed)
        if not cpus:
            return not_pinned(f"this process may use no CPU of node {node}, where {attached} is attached")
        groups.append(cpus)
        descriptions.append(f"{format_list(cpus)} (node {node}: {attached})")
    return NearCpus(tuple(groups), "; ".join(descriptions))


def several_nodes(sysfs: str = SYS) -> bool:
    """Return whether it matters where a thread runs."""
    return len(_nodes_with_cpus(sysfs)) > 1


class StateChange(Struct, frozen=True):
    """A state change of one path."""

    path: str
    """The kernel's name, with what it belongs to."""
    before: str
    after: str
    seconds: float
    """When it was detected, since 1970."""

    @property
    def lost(self) -> bool:
        """Return whether the path worked before and does not now."""
        return self.before in _UP and self.after not in _UP

    @property
    def event(self) -> str:
        """Return what happened and when: ``went from running to offline at 06:17:51 UTC``."""
        moment = time.strftime("%H:%M:%S", time.gmtime(self.seconds))
        return f"went from {self.before} to {self.after} at {moment} UTC"

    def __str__(self) -> str:
        """Return it as text: ``path sdk (SCSI device) went from running to offline at 06:17:51 UTC``."""
        return f"path {self.path} {self.event}"


def _scsi_files(name: str, device: str, sysfs: str) -> Iterator[tuple[str, str]]:
    """Yield the state files of the device and of its ports or session, by its path in sysfs."""
    yield f"{name} (SCSI device)", f"{device}/state"
    for part in device.split("/"):
        if part.startswith("rport-"):
            yield f"{part} (FC remote port of {name})", f"{sysfs}/class/fc_remote_ports/{part}/port_state"
        elif _HOST.fullmatch(part):
            yield f"{part} (FC port)", f"{sysfs}/class/fc_host/{part}/port_state"
        elif _SESSION.fullmatch(part):
            yield f"{part} (iSCSI session of {name})", f"{sysfs}/class/iscsi_session/{part}/state"


def _nvme_files(name: str, device: str) -> Iterator[tuple[str, str]]:
    """Yield the state files of each controller of a namespace, and of its ANA paths if there are several."""
    if _CONTROLLER.fullmatch(os.path.basename(device)):
        yield f"{os.path.basename(device)} (NVMe controller)", f"{device}/state"
        return
    number = name.rpartition("n")[2]
    for entry in _controllers(device):
        controller = os.path.join(device, entry)
        yield f"{entry} (NVMe controller)", f"{controller}/state"
        for path in list_names(controller):
            if re.fullmatch(rf"nvme\d+c\d+n{number}", path):
                yield f"{path} (NVMe path)", f"{controller}/{path}/ana_state"


def find_path_files(*device_numbers: int, sysfs: str = SYS) -> dict[str, str]:
    """Return the state files of all paths beneath block devices by path; empty where there are none, as on NFS."""
    found: dict[str, str] = {}
    stacks = [read_block_stack(number, sysfs) for number in device_numbers]
    for disk in (disk for stack in stacks if stack is not None for disk in stack.disks):
        name, device = os.path.basename(disk), os.path.realpath(f"{disk}/device")
        files = _nvme_files(name, device) if name.startswith("nvme") else _scsi_files(name, device, sysfs)
        found |= {path: file for path, file in files if os.path.exists(file)}
    return found


class PathWatch:
    """Detects state changes, polling at most once per second."""

    def __init__(
        self,
        files: Mapping[str, str],
        *,
        now: Callable[[], float] = time.time,
        read: Callable[[str], str | None] = read_text,
    ) -> None:
        self._files = files
        self._now, self._read = now, read
        self._states = {path: self._state(file) for path, file in files.items()}
        self._polled_at = now()
        self._reported = 0
        self.changes: list[StateChange] = []
        """All changes, in order."""

    @property
    def down(self) -> tuple[str, ...]:
        """Paths that are down at the last poll, with their state."""
        return tuple(f"{path}: {state}" for path, state in self._states.items() if state not in _UP)

    def poll(self, *, at_once: bool = False) -> int:
        """Poll if it is time, and return the number of changes so far."""
        now = self._now()
        if self._files and (at_once or now - self._polled_at >= POLL_SECONDS):
            self._polled_at = now
            for path, file in self._files.items():
                state = self._state(file)
                if state != self._states[path]:
                    self.changes.append(StateChange(path, self._states[path], state, now))
                    self._states[path] = state
        return len(self.changes)

    def gaps(self, probe: str = "io.direct", *, at_once: bool = False) -> Iterator[Gap]:
        """Poll if it is time, and yield the changes that were not reported yet."""
        reported, self._reported = self._reported, self.poll(at_once=at_once)
        for change in self.changes[reported:]:
            lost = ": later figures are of the remaining paths" if change.lost else ""
            yield Gap(f"{probe}: path {change.path}", f"{change.event}{lost}")

    def _state(self, file: str) -> str:
        text = self._read(file)
        return "gone" if text is None else text.strip()
