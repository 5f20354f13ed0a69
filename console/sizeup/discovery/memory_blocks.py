"""Memory that is online, by the blocks in which it is added and removed (``/sys/devices/system/memory``)."""

from __future__ import annotations

import re

from sizeup.discovery.sysroot import Sysroot

_BLOCK_NAME = re.compile(r"memory\d{1,8}")


def read_memory_blocks(sysroot: Sysroot) -> int | None:
    """Bytes of memory blocks online (``/sys/devices/system/memory``); None where there are none.

    For captures without meminfo alone: a large machine has thousands of blocks.
    """
    base = "/sys/devices/system/memory"
    text = sysroot.line(f"{base}/block_size_bytes")
    if text is None or re.fullmatch(r"[0-9a-f]{1,12}", text) is None:
        return None
    online = sum(
        sysroot.line(f"{base}/{name}/state") == "online" for name in sysroot.names(base) if _BLOCK_NAME.fullmatch(name)
    )
    return online * int(text, 16) or None
