"""``meminfo``, of the machine or of one node, where each line begins with ``Node N``."""

from __future__ import annotations

import re

from sizeup.procfs.kernel_file import PROC, SYS, list_names, read_text

_LINE = re.compile(r"^(?:Node \d+ )?([\w()]+): +(\d{1,15})( kB)?$", re.MULTILINE)
_NODE = re.compile(r"node(\d{1,5})")


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
