"""Memory online and offline, by the blocks in which it is added and removed (``/sys/devices/system/memory``)."""

from __future__ import annotations

import re
from collections import Counter

from sizeup.discovery.sysroot import Sysroot

_BLOCK_NAME = re.compile(r"memory\d{1,8}")


_BLOCKS_LIMIT = 1 << 15


def read_memory_blocks(sysroot: Sysroot) -> tuple[int | None, int | None]:
    """Return the bytes of memory blocks online and offline; None where there are none, or a state is unknown."""
    base = "/sys/devices/system/memory"
    text = sysroot.line(f"{base}/block_size_bytes")
    if text is None or re.fullmatch(r"[0-9a-f]{1,12}", text) is None:
        return None, None
    blocks = [name for name in sysroot.names(base) if _BLOCK_NAME.fullmatch(name)][:_BLOCKS_LIMIT]
    states = Counter(sysroot.line(f"{base}/{name}/state") for name in blocks)
    size = int(text, 16)
    return states["online"] * size or None, None if None in states or not blocks else states["offline"] * size
