"""Processes found by what they inherit in their environment, in whatever session they are."""

import os
from contextlib import suppress
from pathlib import Path


def marked_processes(variable: str, mark: str) -> list[int]:
    """Every live process that has a variable of this value."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if f"{variable}={mark}".encode() in Path("/proc", name, "environ").read_bytes():
                found.append(int(name))
    return found
