"""What the tools of a guest say of it, and what sizeup says, in the same words.

Each reader returns what a tool says; each of ours the same of the document of ``sizeup detect --json``.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

LSBLK = (
    "lsblk -J -b -o NAME,KNAME,MAJ:MIN,SIZE,TYPE,ROTA,RO,RM,MODEL,SCHED,RQ-SIZE,RA,LOG-SEC,PHY-SEC,MOUNTPOINTS,"
    "HCTL,STATE"
)
ONCE = (
    LSBLK, "lscpu -J", "lscpu -p=CPU,CORE,SOCKET,NODE,CACHE", "lscpu -C -B -J", "numactl -H", "nvme list -o json",
    "dmidecode", "lspci -D -vmm -nn -k", "lspci -D -vv", "multipath -ll", "lsscsi -t", "lsscsi -H",
    "findmnt -J --real", "free -b", "swapon --show=NAME,SIZE --bytes --noheadings", "ip -j -d link",
    "mdadm --detail --scan --export", "uname -r", "sysctl -a",
)  # fmt: skip
"""Commands that are asked once in each guest."""

EACH = {
    "/sys/class/net/*/ifindex": ("ethtool -i", "ethtool", "ethtool -l", "ethtool -g", "ethtool -k"),
    "/dev/nvme[0-9]": ("nvme id-ctrl -o json", "nvme smart-log -o json"),
    "/dev/nvme*n[0-9]": ("nvme id-ns -o json",),
}
"""Commands that are asked of each device by the files of a pattern: of an interface its name, of others the path."""


def file_name(command: str) -> str:
    """The file in the guest's output with what a command said."""
    return re.sub(r"[^\w.=-]+", "_", command)


def script() -> str:
    """The shell script that asks all tools; what one of them does not know leaves an empty file."""
    lines = [
        "export PYTHONPATH=/guest/in/site LC_ALL=C",
        'python3 -m sizeup detect --json >"$OUT/detect.json" || exit 1',
        'ask() { file=$1; shift; timeout 60 "$@" >"$OUT/$file" 2>/dev/null </dev/null || :; }',
        *(f"ask {file_name(command)} {command}" for command in ONCE),
    ]
    for pattern, commands in EACH.items():
        name = '$(basename "$(dirname "$path")")' if pattern.endswith("ifindex") else "$path"
        asked = "; ".join(
            f'ask "{file_name(command)}_$(basename "$device")" {command} "$device"' for command in commands
        )
        lines.append(f'for path in {pattern}; do if [ -e "$path" ]; then device={name}; {asked}; fi; done')
    return "\n".join(lines) + "\n"


class Readings:
    """The output of one guest."""

    def __init__(self, folder: Path, detect: dict[str, Any] | None = None) -> None:
        self._folder = folder
        self.ours: dict[str, Any] = self.json_of("detect.json") if detect is None else detect

    def json_of(self, name: str) -> Any:
        """A document."""
        return json.loads((self._folder / name).read_text(encoding="utf-8"))

    def text(self, command: str) -> str:
        """What a command said; empty where it said nothing."""
        path = self._folder / file_name(command)
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def json(self, command: str) -> Any:
        """What a command said as JSON; None where it said nothing."""
        text = self.text(command)
        return json.loads(text) if text.strip() else None

    def devices(self, command: str) -> list[str]:
        """The devices that a command of ``EACH`` was asked of."""
        prefix = file_name(command) + "_"
        names = (path.name.removeprefix(prefix) for path in self._folder.iterdir() if path.name.startswith(prefix))
        return sorted(name for name in names if not name.startswith("-"))

    def of(self, command: str, device: str) -> str:
        """What a command of ``EACH`` said of one device; empty where it said nothing."""
        return self.text(f"{command} {device}")


def flat(rows: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Fields of ``lscpu -J``, whatever group they stand in."""
    found: dict[str, str] = {}
    for row in rows:
        found[row["field"].rstrip(":")] = row["data"]
        found |= flat(row.get("children", []))
    return found


def groups(pairs: Iterable[tuple[int, str]]) -> set[tuple[int, ...]]:
    """The sets of CPUs that have a word in common; what the words are is each tool's own."""
    found: dict[str, list[int]] = {}
    for cpu, word in pairs:
        found.setdefault(word, []).append(cpu)
    return {tuple(sorted(cpus)) for cpus in found.values()}


def block_devices(rows: Iterable[dict[str, Any]], parent: str | None = None) -> Iterator[dict[str, Any]]:
    """Rows of ``lsblk -J`` at every depth, each with the one above."""
    for row in rows:
        yield {**row, "parent": parent}
        yield from block_devices(row.get("children", []), row["kname"])


def nested(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows of ``findmnt -J`` at every depth."""
    for row in rows:
        yield row
        yield from nested(row.get("children", []))


def records(text: str) -> list[dict[str, str]]:
    """Records of ``lspci -vmm``: lines of key, colon, tab, value, with an empty line between records."""
    found = []
    for block in text.strip().split("\n\n"):
        lines = (line.partition(":") for line in block.splitlines())
        found.append({key: value.strip() for key, _, value in lines})
    return [record for record in found if record]


def number_of(text: str) -> int:
    """The number in brackets that ends a field of ``lspci -nn``: ``Red Hat, Inc. [1af4]``."""
    return int(re.findall(r"\[([0-9a-f]{4})\]", text)[-1], 16)


def links(text: str) -> dict[str, tuple[float, int]]:
    """Speed and width of the links in ``lspci -vv``, as trained."""
    found: dict[str, tuple[float, int]] = {}
    for block in text.split("\n\n"):
        match = re.search(r"LnkSta:\s+Speed ([\d.]+)GT/s[^,]*, Width x(\d+)", block)
        if match is not None and int(match[2]):
            found[block.split(" ", 1)[0]] = (float(match[1]), int(match[2]))
    return found


def smbios(text: str, kind: str) -> list[dict[str, str]]:
    """Structures of one kind in the output of dmidecode."""
    return [
        dict(re.findall(r"^\t([A-Z][^:\n]*): (.*)$", block, re.MULTILINE))
        for block in text.split("\n\n")
        if f"\n{kind}\n" in block
    ]


def maps(text: str) -> dict[str, set[tuple[str, str]]]:
    """Maps of ``multipath -ll`` with the address and the name of each path."""
    found: dict[str, set[tuple[str, str]]] = {}
    name = ""
    for line in text.splitlines():
        if (head := re.match(r"(\S+) .*\bdm-\d+\b", line)) is not None:
            name = head[1]
            found[name] = set()
        elif (path := re.search(r"(\d+:\d+:\d+:\d+) +(\S+)", line)) is not None:
            found[name].add((path[1], path[2]))
    return found
