"""Monitors the states of the paths to a target: SCSI devices, FC and iSCSI, NVMe controllers."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct

from sizeup.model.machine import Gap
from sizeup.procfs.block import read_block_stack
from sizeup.procfs.kernel_file import SYS, list_names, read_text

POLL_SECONDS = 1.0
"""A state is a file in sysfs: reading those of a hundred paths takes some milliseconds."""
_UP = frozenset({"running", "live", "Online", "LOGGED_IN", "optimized", "non-optimized"})
"""States of a path that works; any other state means that it carries no I/O."""
_CONTROLLER = re.compile(r"nvme\d+")
_GONE = "gone"


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
        elif re.fullmatch(r"host\d+", part):
            yield f"{part} (FC port)", f"{sysfs}/class/fc_host/{part}/port_state"
        elif re.fullmatch(r"session\d+", part):
            yield f"{part} (iSCSI session of {name})", f"{sysfs}/class/iscsi_session/{part}/state"


def _nvme_files(name: str, device: str) -> Iterator[tuple[str, str]]:
    """Yield the state files of each controller of a namespace, and of its ANA paths if there are several."""
    if _CONTROLLER.fullmatch(os.path.basename(device)):
        yield f"{os.path.basename(device)} (NVMe controller)", f"{device}/state"
        return
    number = name.rpartition("n")[2]
    for entry in list_names(device):
        if not _CONTROLLER.fullmatch(entry):
            continue
        controller = os.path.join(device, entry)
        yield f"{entry} (NVMe controller)", f"{controller}/state"
        for path in list_names(controller):
            if re.fullmatch(rf"nvme\d+c\d+n{number}", path):
                yield f"{path} (NVMe path)", f"{controller}/{path}/ana_state"


def find_path_files(device_number: int, sysfs: str = SYS) -> dict[str, str]:
    """Return the state files of all paths beneath a block device by path; empty where there are none, as on NFS."""
    found: dict[str, str] = {}
    stack = read_block_stack(device_number, sysfs)
    for disk in () if stack is None else stack.disks:
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

    def unreported(self) -> list[StateChange]:
        """Return the changes since the last call."""
        changes = self.changes[self._reported :]
        self._reported = len(self.changes)
        return changes

    def _state(self, file: str) -> str:
        text = self._read(file)
        return _GONE if text is None else text.strip()


def watch_paths(device_numbers: Iterable[int]) -> PathWatch:
    """Return a monitor of the paths beneath some devices."""
    files: dict[str, str] = {}
    for number in device_numbers:
        files |= find_path_files(number)
    return PathWatch(files)


def path_gaps(paths: PathWatch, probe: str = "io.direct", *, at_once: bool = False) -> Iterator[Gap]:
    """Poll if it is time, and yield the changes that were not reported yet."""
    paths.poll(at_once=at_once)
    for change in paths.unreported():
        lost = ": later figures are of the remaining paths" if change.lost else ""
        yield Gap(f"{probe}: path {change.path}", f"{change.event}{lost}")
