"""What the kernel says of one process: counters, status, limits, open files (``/proc/PID``; proc(5))."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator

from msgspec import Struct

from sizeup.procfs.kernel_file import PROC, list_names, read_text
from sizeup.procfs.lists import parse_cpulist
from sizeup.procfs.mounts import MountEntry, parse_mount_id, read_mountinfo

_READ = re.compile(r"^read_bytes: (\d{1,18})$", re.MULTILINE)
_WRITTEN = re.compile(r"^write_bytes: (\d{1,18})$", re.MULTILINE)
_CAPABILITIES = 64
_EFFECTIVE = re.compile(r"^CapEff:\s*([0-9a-f]{1,16})$", re.MULTILINE)
_ALLOWED = re.compile(r"^(Cpus|Mems)_allowed_list:\s*([\d,:/-]+)$", re.MULTILINE)
_STATE = re.compile(r"^State:\s+(\S)", re.MULTILINE)
_SWITCHES = re.compile(r"^(?:non)?voluntary_ctxt_switches:\s+(\d{1,18})", re.MULTILINE)
_LIMIT = re.compile(r"^(Max [a-z ]*?)\s+(unlimited|\d{1,19})\s(?:\s*(unlimited|\d{1,19})\s)?", re.MULTILINE)
_FIRST = b"1000"
_WRITE_FLOCK = re.compile(r"^\d+: FLOCK +ADVISORY +WRITE +(\d{1,10}) +([0-9a-f]+:[0-9a-f]+:\d+) ", re.MULTILINE)


class ProcessIo(Struct, frozen=True):
    """Bytes that the process caused to be read from, or written to, storage."""

    read_bytes: int
    written_bytes: int


def parse_process_io(text: str) -> ProcessIo | None:
    """None where a figure is missing or none."""
    read, written = _READ.search(text), _WRITTEN.search(text)
    return None if read is None or written is None else ProcessIo(int(read[1]), int(written[1]))


def read_process_io(pid: int | str = "self", proc: str = PROC) -> ProcessIo | None:
    """Return what a process moved; None where it is another user's, or without CONFIG_TASK_IO_ACCOUNTING."""
    return parse_process_io(read_text(f"{proc}/{pid}/io") or "")


def parse_capabilities(text: str) -> frozenset[int] | None:
    """The effective set, ``CapEff:	0000003fffffffff``."""
    match = _EFFECTIVE.search(text)
    if match is None:
        return None
    bits = int(match[1], 16)
    return frozenset(number for number in range(_CAPABILITIES) if bits >> number & 1)


def parse_allowed(text: str) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
    """CPUs and memory nodes that it may use, None where the file does not say; ValueError for a malformed list."""
    lists = dict(_ALLOWED.findall(text))
    cpus, nodes = (parse_cpulist(lists[name]) if name in lists else None for name in ("Cpus", "Mems"))
    return cpus, nodes


def parse_scheduling(text: str) -> tuple[str, int]:
    """State letter, empty where the file has none, and how often it was switched to another."""
    state = _STATE.search(text)
    return state[1] if state is not None else "", sum(map(int, _SWITCHES.findall(text)))


def list_threads(pid: int | str = "self", proc: str = PROC) -> tuple[int, ...]:
    """Return the ids of a process's threads; empty where the process has gone or there is no ``/proc``."""
    return tuple(int(name) for name in list_names(f"{proc}/{pid}/task") if name.isdecimal())


def read_scheduling(pid: int, proc: str = PROC) -> dict[int, tuple[str, int]]:
    """Return state and switches of each thread of a process; empty as in ``list_threads``."""
    texts = {thread: read_text(f"{proc}/{pid}/task/{thread}/status") for thread in list_threads(pid, proc)}
    return {thread: parse_scheduling(text) for thread, text in texts.items() if text is not None}  # None: it has ended


def parse_limits(text: str) -> dict[str, int | None]:
    """Soft limit by name, such as ``Max open files``; None for ``unlimited``."""
    return {name: None if soft == "unlimited" else int(soft) for name, soft, _ in _LIMIT.findall(text)}


def parse_hard_limits(text: str) -> dict[str, int | None]:
    """Hard limit by name; None for ``unlimited``."""
    return {name: None if hard == "unlimited" else int(hard) for name, _, hard in _LIMIT.findall(text) if hard}


def descriptor_path(descriptor: int) -> str:
    """Return the path that opens what a descriptor refers to, even where it has no name."""
    return f"{PROC}/self/fd/{descriptor}"


def open_again(descriptor: int, flags: int) -> int:
    """Return another descriptor of the same file with other flags; raise OSError where the kernel refuses."""
    return os.open(descriptor_path(descriptor), os.O_CLOEXEC | flags)


def read_mount(descriptor: int, proc: str = PROC) -> MountEntry | None:
    """Return the mount that a descriptor was opened through; None where the kernel does not say."""
    mount_id = parse_mount_id(read_text(f"{proc}/self/fdinfo/{descriptor}") or "")
    if mount_id is None:
        return None
    return next((mount for mount in read_mountinfo(proc) or () if mount.mount_id == mount_id), None)


def make_first_oom_victim(proc: str = PROC) -> None:
    """Have this process ended before any other; does nothing where that may not be said."""
    with contextlib.suppress(OSError), open(f"{proc}/self/oom_score_adj", "wb", buffering=0) as file:
        file.write(_FIRST)


def set_autogroup_nice(nice: int, proc: str = PROC) -> None:
    """Set the nice value of this session's autogroup (sched(7)); its processes' own count within the group alone.

    Does nothing where there are no autogroups.
    """
    with contextlib.suppress(OSError), open(f"{proc}/self/autogroup", "wb", buffering=0) as file:
        file.write(str(nice).encode())


class CgroupMembership(Struct, frozen=True):
    """The group of a process in one hierarchy."""

    controllers: tuple[str, ...]
    """Empty for the one hierarchy of version 2."""
    path: str

    @property
    def unified(self) -> bool:
        """Whether the hierarchy is that of version 2."""
        return not self.controllers

    def ancestors(self) -> Iterator[str]:
        """Path of the group and of each group above it, without the root."""
        path = self.path.rstrip("/")
        while path:
            yield path
            path = path.rpartition("/")[0]


def parse_cgroup(text: str) -> tuple[CgroupMembership, ...]:
    """The hierarchies in the order of the file, which lists version 2 last."""
    groups = []
    for line in text.splitlines():
        hierarchy, _, rest = line.partition(":")
        controllers, colon, path = rest.partition(":")
        if hierarchy.isdecimal() and colon and path.startswith("/"):
            groups.append(CgroupMembership(tuple(controllers.split(",")) if controllers else (), path))
    return tuple(groups)


def read_cgroups(proc: str = PROC) -> tuple[CgroupMembership, ...]:
    """Return the groups of this process; empty where the kernel has none."""
    return parse_cgroup(read_text(f"{proc}/self/cgroup") or "")


def parse_flock_writers(text: str) -> dict[str, int]:
    """Return who holds a file exclusively by flock(2): process id by ``major:minor:inode``, the numbers in hexadecimal.

    A process beyond this PID namespace is listed as 0 and left out.
    """
    return {file: int(pid) for pid, file in _WRITE_FLOCK.findall(text) if int(pid)}


def read_flock_writer(file: os.stat_result, proc: str = PROC) -> int | None:
    """Return the process that holds a file exclusively by flock(2); None where the kernel names none."""
    key = f"{os.major(file.st_dev):02x}:{os.minor(file.st_dev):02x}:{file.st_ino}"
    return parse_flock_writers(read_text(f"{proc}/locks") or "").get(key)
