"""``meminfo``, of the machine or of one node, where each line begins with ``Node N``, and swap areas."""

from __future__ import annotations

import re

from sizeup.model.machine import SwapArea
from sizeup.procfs.kernel_file import PROC, SYS, Unreadable, integer_in, list_names, read_file, read_text
from sizeup.procfs.mounts import unescape

_LINE = re.compile(r"^(?:Node \d+ )?([\w()]+): +(\d{1,15})( kB)?$", re.MULTILINE)
_NODE = re.compile(r"node(\d{1,5})")
_LARGEST_KIB = 1 << 52
_AREAS_LIMIT = 32  # MAX_SWAPFILES, of which the kernel keeps some for itself


def parse_meminfo(text: str) -> dict[str, int]:
    """Bytes by name; page counts (``HugePages_Total``) stay counts."""
    return {name: int(number) * (1024 if unit else 1) for name, number, unit in _LINE.findall(text)}


def read_free_by_node(sysfs: str = SYS) -> dict[int, int]:
    """Return the free bytes of each NUMA node by its id; empty where the kernel knows no nodes."""
    folder = f"{sysfs}/devices/system/node"
    matches = [match for name in list_names(folder) if (match := _NODE.fullmatch(name)) is not None]
    free = {int(match[1]): parse_meminfo(read_text(f"{folder}/{match[0]}/meminfo") or "") for match in matches}
    return {node: memory["MemFree"] for node, memory in free.items() if "MemFree" in memory}


def read_huge_page_bytes(proc: str = PROC) -> int | None:
    """Return the anonymous memory of this process that lies on huge pages; None where the kernel does not say."""
    return parse_meminfo(read_text(f"{proc}/self/smaps_rollup") or "").get("AnonHugePages")


def parse_swap_areas(text: str) -> tuple[SwapArea, ...]:
    """Return the devices and files in use as swap, below the heading."""
    areas = []
    for line in text.splitlines()[1 : _AREAS_LIMIT + 1]:
        if words := line.split():
            path, kind, size, used, priority = [*words, *("" for _ in range(5))][:5]
            area = SwapArea(unescape(path), kind or None, _kibibytes(size), _kibibytes(used), integer_in(priority))
            areas.append(area)
    return tuple(areas)


def _kibibytes(word: str) -> int | None:
    number = integer_in(word)
    return number * 1024 if number is not None and 0 <= number < _LARGEST_KIB else None


def read_swaps(proc: str = PROC) -> tuple[str, ...] | None:
    """Return the devices and files in use as swap, none in a kernel without swap; None where that is unknown."""
    text = read_file(f"{proc}/swaps")
    if isinstance(text, Unreadable):
        return () if text.missing else None
    return tuple(area.path for area in parse_swap_areas(text))
