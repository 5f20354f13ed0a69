"""Findings about the list of NUMA nodes: CPUs in no node, sockets that share one while others do not."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.discovery.findings.memory import numbering
from sizeup.discovery.findings.remedies import for_guest
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.model.numa import NumaNode
from sizeup.procfs.lists import format_list
from sizeup.text import plural

_COMMAND = "numactl --hardware; lscpu --extended; dmesg | grep -iE 'numa|srat'"


def incomplete_nodes(machine: Machine) -> Iterator[Finding]:
    """Nodes that do not hold all CPUs, and nodes that hold more sockets than their like.

    Numbers that no node has are evidence beside that, and no finding: POWER numbers its nodes with gaps.
    """
    if machine.nodes:
        yield from _unassigned_cpus(machine)
        yield from _shared_node(machine)


def _unassigned_cpus(machine: Machine) -> Iterator[Finding]:
    listed = {cpu for node in machine.nodes for cpu in node.pus}
    unassigned = tuple(pu.cpu for pu in machine.pus if pu.online and pu.cpu not in listed)
    if not unassigned or not listed:
        return
    yield Finding(
        "numa.missing-node",
        Severity.WARNING,
        f"{plural(len(unassigned), 'online CPU')} in no NUMA node",
        (f"in no node: CPUs {format_list(unassigned)}", *_node_lines(machine), *numbering(machine)),
        "No memory is local to these CPUs as far as the kernel knows, and what is bound to nodes leaves them out.",
        for_guest(
            machine,
            "Check whether all memory modules of their socket are recognized, then the firmware's NUMA settings and "
            "the kernel log.",
            "Give each virtual CPU a NUMA node in the hypervisor's settings for this machine.",
        ),
        ("cpu",),
        command=_COMMAND,
        quantity="memory.remote_latency",
    )


def _shared_node(machine: Machine) -> Iterator[Finding]:
    """One node of several sockets beside nodes of one socket; a hypervisor may invent that."""
    if machine.platform.is_guest:
        return
    nodes = [node for node in machine.nodes if node.packages]
    shared = [node for node in nodes if len(node.packages) > 1]
    if not shared or not any(len(node.packages) == 1 for node in nodes):
        return
    sockets = sum(len(node.packages) for node in shared)
    yield Finding(
        "numa.missing-node",
        Severity.WARNING,
        f"NUMA {_named(shared)} with the CPUs of several sockets, while other nodes have one each",
        (
            f"{plural(len(machine.packages), 'socket')}, {plural(len(nodes), 'NUMA node')} with CPUs",
            *_node_lines(machine),
            *numbering(machine),
        ),
        f"The kernel takes the memory of such a node for local to all CPUs of {plural(sockets, 'socket')}; of some of "
        "them, each access may go to another socket.",
        "Check whether every socket has memory modules and all of them are recognized (dmidecode --type memory as "
        "root), then the firmware's NUMA settings and the kernel log.",
        tuple(f"node:{node.os_id}" for node in shared),
        command=_COMMAND,
        quantity="memory.remote_latency",
    )


def _named(nodes: list[NumaNode]) -> str:
    return f"node{'' if len(nodes) == 1 else 's'} {format_list(tuple(node.os_id for node in nodes))}"


def _node_lines(machine: Machine) -> Iterator[str]:
    for node in machine.nodes:
        sockets = f" of {plural(len(node.packages), 'socket')}" if node.packages else ""
        yield f"node {node.os_id}: " + (f"CPUs {format_list(node.pus)}{sockets}" if node.pus else "no CPUs")
