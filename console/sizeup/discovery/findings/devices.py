"""Findings about PCIe devices: remote nodes, degraded links, narrow uplinks."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from sizeup.discovery.findings.catalog import finding
from sizeup.discovery.findings.remedies import SHELL_CPUS, for_guest
from sizeup.model.finding import Finding
from sizeup.model.machine import Machine, device_of
from sizeup.model.network import PORTS
from sizeup.model.storage import Transport
from sizeup.procfs.lists import format_list
from sizeup.units import format_rate

_DISPLAY, _ACCELERATOR = 0x03, 0x12


def _moving_devices(machine: Machine) -> Iterator[tuple[str, str, int | None]]:
    for nic in machine.nics:
        if nic.kind in PORTS and nic.up:
            yield f"nic:{nic.name}", nic.name, nic.node
    for controller in machine.nvme_controllers:
        yield f"nvme:{controller.name}", controller.name, controller.node
    for hba in machine.hbas:
        if hba.transport in (Transport.FC, Transport.FCOE, Transport.SAS, Transport.RAID):
            yield f"hba:{hba.name}", hba.name, hba.node


def remote_devices(machine: Machine) -> Iterator[Finding]:
    """Devices on a node whose CPUs sizeup may not use, or that has no memory."""
    if len(machine.nodes) < 2:
        return
    allowed = {pu.cpu for pu in machine.pus if pu.allowed}
    near = {node.os_id for node in machine.nodes if allowed & set(node.pus)}
    bare = {node.os_id for node in machine.nodes if node.memory_bytes == 0}
    for subject, name, node in _moving_devices(machine):
        if node is None or (node in near and node not in bare):
            continue
        reason = "which has no memory" if node in bare else "whose CPUs sizeup may not use"
        remedy, command = _placing(machine, node)
        yield finding(
            "device.remote",
            f"{name} is attached to NUMA node {node}, {reason}",
            (
                f"{name}: NUMA node {node}",
                f"CPUs that sizeup may use are on {'node' if len(near) == 1 else 'nodes'} {format_list(tuple(near))}",
            ),
            (subject,),
            remedy=remedy,
            command=command,
        )


def _placing(machine: Machine, node: int) -> tuple[str, str]:
    """Return remedy and command for a device on a node: to run on the node's CPUs, where a process can get them."""
    move = for_guest(
        machine, "move the card to a slot of another socket", "have the hypervisor put the device on another node"
    )
    here = next((each.pus for each in machine.nodes if each.os_id == node), ())
    cpus = {pu.cpu for pu in machine.pus if pu.online and pu.cpu in here}
    group = machine.platform.control_group
    cpuset = None if group is None else group.cpus
    if not cpus:
        return f"Node {node} has no CPU online: {move}.", "numactl --hardware"
    if cpuset is not None and not cpus & set(cpuset):
        allow = (
            f"Add CPUs of node {node} ({format_list(tuple(sorted(cpus)))}) to the cpuset of the processes that use it"
        )
        return f"{allow}, or {move}.", SHELL_CPUS
    # Without --all numactl takes the CPUs that taskset has left as all there are.
    return (
        f"Run the processes that use it there (numactl --all --cpunodebind={node} --localalloc COMMAND), or {move}.",
        "numactl --hardware",
    )


def degraded_links(machine: Machine) -> Iterator[Finding]:
    """Links trained below what both their ends can do; the other functions of a device share its first one's link."""
    for function in machine.pci:
        link, limit = function.link, function.common_link_limit
        if link is None or limit is None or function.parent is None or function.virtual_function_of is not None:
            continue
        if not function.address.endswith(".0") or (function.class_code or 0) >> 16 in (_DISPLAY, _ACCELERATOR):
            continue  # graphics processors slow their links down when idle
        if link.gigatransfers < limit.gigatransfers or link.width < limit.width:
            yield finding(
                "pci.degraded-link",
                f"PCIe link of {function.address} ({function.driver or 'no driver'}) is slower than both ends allow",
                (
                    f"now {link.gigatransfers:g} GT/s x{link.width}",
                    f"both ends can do {limit.gigatransfers:g} GT/s x{limit.width}",
                ),
                (f"pci:{function.address}",),
                consequence=(
                    f"It carries at most {link.gigatransfers * link.width / (limit.gigatransfers * limit.width):.0%} "
                    "of the bandwidth that it could."
                ),
                command=f"lspci -vv -s {quote(function.address)} | grep -E 'LnkCap|LnkSta'",
                machine=machine,
            )


def narrow_uplinks(machine: Machine) -> Iterator[Finding]:
    """Shared links that carry less than the devices behind them can ask for."""
    seen: set[str] = set()
    for budget in machine.budgets:
        for stage in budget.stages:
            wanted, rate = stage.wanted_bytes_per_second, stage.bytes_per_second
            device = device_of(stage.subject)
            if wanted is None or rate is None or wanted <= rate or device in seen:
                continue
            seen.add(device)
            users = (budget.device, *stage.shared_with)
            yield finding(
                "pci.narrow-uplink",
                f"{', '.join(users)} share a PCIe link that carries less than their combined demand",
                (
                    f"{stage.name} {stage.subject}: {format_rate(rate)} ({stage.source})",
                    f"combined demand: {format_rate(wanted)}",
                ),
                (f"pci:{stage.subject}",),
                machine=machine,
            )
