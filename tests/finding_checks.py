"""What tests of findings share: the findings of a machine, each with a command that only looks."""

import re

from sizeup.discovery.findings import checks
from sizeup.model.finding import Finding
from sizeup.model.machine import Machine
from sizeup.model.numa import HugePages, NumaNode
from sizeup.model.topology import Package, Pu

GIB = 1 << 30


LOOKS = re.compile(
    r"(cat|cpupower frequency-info|dmesg|dmidecode|grep|head|ip link show|lscpu|lsmem|lspci|mdadm --detail"
    r"|multipath -ll|nfsstat|numactl --hardware|numastat|nvme (list-subsys|smart-log)|ps|vmstat)( [^<>&]*)?"
)
"""A command that changes nothing."""


def find(machine: Machine) -> tuple[Finding, ...]:
    """Return the findings of a machine; the command of each only looks."""
    found = checks.find(machine)
    assert [finding.command for finding in found if not looks_only(finding.command)] == []
    return found


def looks_only(command: str) -> bool:
    unquoted = re.sub(r"'[^']*'", "x", command)
    return all(LOOKS.fullmatch(part.strip()) for part in re.split(r"[;|\n]", unquoted))


def node(number: int, total: int, free: int, pools: tuple[HugePages, ...] = ()) -> NumaNode:
    cpus = (2 * number, 2 * number + 1)
    return NumaNode(
        number, cpus, (number,), cpus, memory_bytes=total * GIB, free_bytes=free * GIB, file_bytes=0, huge_pages=pools
    )


def two_sockets(*nodes: NumaNode) -> Machine:
    return Machine(
        packages=(Package((0, 1), 0), Package((2, 3), 1)),
        pus=tuple(Pu(cpu, online=True, allowed=True) for cpu in range(4)),
        nodes=nodes or (node(0, 100, 50), node(1, 100, 50)),
    )


def ids(machine: Machine) -> list[str]:
    return [finding.id for finding in find(machine)]


def only(machine: Machine, kind: str) -> Finding:
    (found,) = (finding for finding in find(machine) if finding.id == kind)
    return found
