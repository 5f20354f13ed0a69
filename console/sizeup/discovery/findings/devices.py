"""Findings about PCIe devices (remote nodes, degraded links, narrow uplinks), bonds and NFS mounts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from shlex import quote

from sizeup.discovery.findings.catalog import SHELL_CPUS, finding, for_guest, packages_of
from sizeup.model.finding import Finding
from sizeup.model.machine import Machine, device_of
from sizeup.model.network import PORTS, NfsMount
from sizeup.model.storage import Transport
from sizeup.procfs.lists import format_list
from sizeup.text import plural
from sizeup.units import as_percent, format_bit_rate, format_bytes, format_rate, whole_number

_DISPLAY, _ACCELERATOR = 0x03, 0x12
_BITS_PER_TRANSPORT = 10_000_000_000
_NCONNECT_SINCE = (5, 3)
_OF_THE_CONNECTION = frozenset({"addr", "clientaddr", "local_lock", "mountaddr", "mountport", "mountproto", "namlen"})
"""Options in the table of mounts that tell how a mount came about; a new mount finds them out again."""
_SMALL_REQUEST = 32 << 10
"""Below the rsize and wsize that database vendors give as the least (Oracle: 32 KiB)."""


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
                    "It carries at most "
                    f"{as_percent(link.gigatransfers * link.width / (limit.gigatransfers * limit.width))} "
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


def bonds(machine: Machine) -> Iterator[Finding]:
    """Bonds whose members differ in speed, are down, or sit on different sockets."""
    nics = {nic.name: nic for nic in machine.nics}
    for bond in (nic for nic in machine.nics if nic.kind == "bond"):
        members = [nics[name] for name in bond.lower if name in nics]
        lines = []
        for nic in members:
            speed = nic.speed_bits_per_second
            rate = "speed unknown" if speed is None else format_bit_rate(speed)
            state = "down" if nic.up is False else rate if nic.up else f"state unknown, {rate}"
            lines.append(f"{nic.name}: NUMA node {'unknown' if nic.node is None else nic.node}, {state}")
        down = list(dict.fromkeys((*(nic.name for nic in members if nic.up is False), *bond.members_down)))
        own_check = [f"{name}: down by the bond's own check" for name in bond.members_down]
        speeds = {nic.speed_bits_per_second for nic in members if nic.up and nic.speed_bits_per_second}
        name, subject, look = f"Bond {bond.name}", (f"nic:{bond.name}",), f"cat /proc/net/bonding/{quote(bond.name)}"
        if bond.up is not False and down:
            problem = f"{plural(len(down), 'member')} down ({', '.join(down)})"
            yield finding("bond.member-down", f"{name}: {problem}", (*lines, *own_check), subject, command=look)
        if len(speeds) > 1:
            problem = "members run at different speeds"
            yield finding("bond.uneven-speed", f"{name}: {problem}", lines, subject, command=look)
        if len(packages_of(machine, (nic.node for nic in members))) > 1:
            problem = "members are attached to different sockets"
            yield finding("bond.across-packages", f"{name}: {problem}", lines, subject, command=look)


def nfs_transports(machine: Machine) -> Iterator[Finding]:
    """Fewer connections than it takes to fill the interface: one carries some 10 Gb/s."""
    nics = {nic.name: nic for nic in machine.nics}
    version = re.match(r"(\d{1,4})\.(\d{1,4})", machine.platform.kernel or "")
    has_nconnect = version is None or (int(version[1]), int(version[2])) >= _NCONNECT_SINCE
    for mount in machine.nfs_mounts:
        nic = nics.get(mount.nic or "")
        speed = None if nic is None else nic.speed_bits_per_second
        if nic is None or speed is None or mount.transports is None or not (mount.protocol or "").startswith("tcp"):
            continue  # what limits a connection is known of TCP alone
        needed = min(math.ceil(speed / _BITS_PER_TRANSPORT), 16)
        if mount.transports < needed:
            yield finding(
                "nfs.few-transports",
                f"{mount.mount_point} uses {plural(mount.transports, 'connection')}, "
                f"too few for the speed of {nic.name} ({format_bit_rate(speed)})",
                (f"connections: {mount.transports}", f"{nic.name}: {format_bit_rate(speed)}"),
                (f"nfs:{mount.mount_point}",),
                remedy=(
                    f"Mount it again with nconnect={needed} while nothing uses it ({_mount_command(mount, needed)}); "
                    "the first mount sets it for all mounts of that server and NFS version."
                    if has_nconnect
                    else f"Mount with nconnect={needed} on a kernel that has it: Linux 5.3, or a patched vendor kernel."
                ),
            )


def _mount_command(mount: NfsMount, connections: int) -> str:
    """Return the command that mounts it again as it is, but for its connections; it need not be in /etc/fstab."""
    kept = [option for option in mount.options if option.partition("=")[0] not in {*_OF_THE_CONNECTION, "nconnect"}]
    options = quote(",".join((*kept, f"nconnect={connections}")))
    mount_point = quote(mount.mount_point)
    return f"umount {mount_point} && mount -t nfs -o {options} {quote(mount.export)} {mount_point}"


def nfs_mounts(machine: Machine) -> Iterator[Finding]:
    """Soft, uncached, UDP and small-request mounts that can be written, and servers that do not answer."""
    for mount in machine.nfs_mounts:
        where, subject = mount.mount_point, (f"nfs:{mount.mount_point}",)
        if mount.unanswered is not None:
            given = next((word[5:] for word in mount.options if word.startswith("port=")), "")
            port = (whole_number(given) if len(given) < 6 else None) or 2049
            yield finding(
                "nfs.server-silent/soft" if mount.hard is False else "nfs.server-silent",
                f"The server of {where} does not answer",
                (f"server: {mount.address or mount.export}", mount.unanswered),
                subject,
                command=f"grep -E ':{port:04X} ' /proc/net/tcp /proc/net/tcp6",
            )
        if mount.read_only:
            continue  # software and backups, whose readers bear an error
        if (mount.protocol or "").startswith("udp"):
            line = f"{mount.export}: version {mount.version or 'unknown'}, proto={mount.protocol}"
            yield finding("nfs.udp", f"{where} is mounted over UDP", (line,), subject)
        if mount.hard is False:
            line = f"{mount.export}: {_options(mount, ('soft', 'softerr', 'timeo', 'retrans'))}"
            yield finding("nfs.soft-mount", f"{where} is mounted soft", (line,), subject)
        if mount.attribute_cache == "noac":
            line = f"{mount.export}: {_options(mount, ('noac', 'actimeo', 'sync'))}"
            yield finding("nfs.no-attribute-cache", f"{where} is mounted with noac", (line,), subject)
        sizes = {"rsize": mount.read_size_bytes, "wsize": mount.write_size_bytes}
        small = {name: size for name, size in sizes.items() if size is not None and 0 < size < _SMALL_REQUEST}
        if small:
            yield finding(
                "nfs.small-requests",
                f"{where} transfers at most {format_bytes(min(small.values()))} with one request",
                (f"{name}: {format_bytes(size)}" for name, size in small.items()),
                subject,
            )


def _options(mount: NfsMount, names: tuple[str, ...]) -> str:
    """Return those of the mount's options that a finding rests on."""
    return ",".join(word for word in mount.options if word.partition("=")[0] in names) or "options as read"
