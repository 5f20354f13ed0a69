"""Resource limits of a process, ``/proc/PID/limits``; proc_pid_limits(5)."""

from __future__ import annotations

import re

_LIMIT = re.compile(r"^(Max [a-z ]*?)\s+(unlimited|\d{1,19})\s(?:\s*(unlimited|\d{1,19})\s)?", re.MULTILINE)


def parse_limits(text: str) -> dict[str, int | None]:
    """Soft limit by name, such as ``Max open files``; None for ``unlimited``."""
    return {name: _limit(soft) for name, soft, _ in _LIMIT.findall(text)}


def parse_hard_limits(text: str) -> dict[str, int | None]:
    """Hard limit by name; None for ``unlimited``."""
    return {name: _limit(hard) for name, _, hard in _LIMIT.findall(text) if hard}


def _limit(word: str) -> int | None:
    return None if word == "unlimited" else int(word)
