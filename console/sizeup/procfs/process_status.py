"""State of a process or thread, ``/proc/PID/status``; proc_pid_status(5)."""

from __future__ import annotations

import re

from sizeup.procfs.kernel_file import PROC, list_names, read_text
from sizeup.procfs.lists import parse_cpulist

_CAPABILITIES = 64
_EFFECTIVE = re.compile(r"^CapEff:\s*([0-9a-f]{1,16})$", re.MULTILINE)
_ALLOWED = re.compile(r"^(Cpus|Mems)_allowed_list:\s*([\d,:/-]+)$", re.MULTILINE)
_STATE = re.compile(r"^State:\s+(\S)", re.MULTILINE)
_SWITCHES = re.compile(r"^(?:non)?voluntary_ctxt_switches:\s+(\d{1,18})", re.MULTILINE)


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
