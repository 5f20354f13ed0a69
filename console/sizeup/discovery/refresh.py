"""Another look at a machine that is known: what changes from second to second, and nothing else."""

from __future__ import annotations

from msgspec.structs import replace

from sizeup.discovery.findings.checks import find
from sizeup.discovery.machine import assessed
from sizeup.discovery.nics import read_nic_link
from sizeup.discovery.numa import read_huge_pages, read_node_memory
from sizeup.discovery.pci import read_pci_link
from sizeup.discovery.sysroot import Sysroot, open_sysroot
from sizeup.model.machine import Machine
from sizeup.model.network import is_port
from sizeup.procfs.meminfo import parse_meminfo


def refreshed(machine: Machine, sysroot: Sysroot | str = "/") -> Machine:
    """The machine with its memory, huge pages and links as they are now, and what follows from them.

    A device that has gone keeps its place with an unknown link: that it has gone, the hot-plug events say.
    """
    root = open_sysroot(sysroot) if isinstance(sysroot, str) else sysroot
    memory = parse_meminfo(root.read("/proc/meminfo") or "")
    nics = tuple(read_nic_link(root, nic) if is_port(nic) or nic.kind == "bond" else nic for nic in machine.nics)
    shown = {
        address.rpartition(".")[0] + ".0"
        for address in (
            *(nic.pci_address for nic in nics),
            *(controller.pci_address for controller in machine.nvme_controllers),
            *(hba.pci_address for hba in machine.hbas),
        )
        if address is not None
    }
    pci = tuple(read_pci_link(root, item) if item.address in shown else item for item in machine.pci)
    now = replace(
        machine,
        memory_available_bytes=memory.get("MemAvailable"),
        huge_pages=read_huge_pages(root),
        nodes=tuple(read_node_memory(root, node) for node in machine.nodes),
        nics=nics,
        pci=pci,
    )
    # Only links change what a path can carry; findings about memory are a matter of a few nodes.
    if (nics, pci) != (machine.nics, machine.pci):
        return assessed(now)
    return replace(now, findings=find(now))
