"""Resource limits of a process, ``/proc/PID/limits``; proc_pid_limits(5)."""

from __future__ import annotations

import re

_LIMIT = re.compile(r"^(Max [a-z ]*?)\s+(unlimited|\d{1,19})\s", re.MULTILINE)


def parse_limits(text: str) -> dict[str, int | None]:
    """Soft limit by name, such as ``Max open files``; None for ``unlimited``."""
    return {name: None if value == "unlimited" else int(value) for name, value in _LIMIT.findall(text)}
