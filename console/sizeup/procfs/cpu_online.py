"""Which CPUs are online now, from ``/sys/devices/system/cpu``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from sizeup.procfs.kernel_file import SYS, read_line


def find_offline(cpus: Iterable[int], root: str = SYS) -> tuple[int, ...]:
    """Return which of these CPUs are offline or were removed; none where the kernel does not say."""
    folder = f"{root}/devices/system/cpu"
    try:
        listed = any(re.fullmatch(r"cpu\d+", name) for name in os.listdir(folder))
    except OSError:
        listed = False
    if not listed:  # some containers hide the CPUs
        return ()
    return tuple(
        cpu for cpu in cpus if read_line(f"{folder}/cpu{cpu}/online") == "0" or not os.path.isdir(f"{folder}/cpu{cpu}")
    )
