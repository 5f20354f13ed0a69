"""What the user of this machine should know: pure functions from one machine, or from two looks at it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from shlex import quote

from sizeup.discovery.caches import overlaps
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.model.network import NfsMount, Nic
from sizeup.model.numa import HugePages, MemoryKind, NumaNode, pool_key
from sizeup.model.storage import Hba, MultipathMap, Transport
from sizeup.procfs.lists import format_list
from sizeup.text import plural
from sizeup.units import format_bytes, format_decimal_bytes, format_rate

EXHAUSTED_SHARE, ROOMY_SHARE = 0.05, 0.30
"""A node is exhausted below the first share free, while another is roomy above the second."""

ONE_SIDED_SHARE, GROWTH_BYTES_MINIMUM = 0.9, 64 << 20
"""Growth is one-sided from this share on one node; less growth than this in all says nothing."""

_SKEW, _SKEW_USED = 0.4, 0.4
_UNEVEN_RATIO = 1.5
_NODE_SUM_TOLERANCE = 0.05
_STEAL_SHARE = 0.01
_SLOW_CLOCKS = frozenset({"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit", "xen"})
_BITS_PER_TRANSPORT = 10_000_000_000
_MEMLOCK_MEANT = 1 << 30
_DISPLAY, _ACCELERATOR = 0x03, 0x12
_FC = (Transport.FC, Transport.FCOE)
_FC_DOWN = frozenset(
    {"Linkdown", "Offline", "Not Present", "Blocked", "Bypassed", "Error", "Deleted", "Diagnostics", "Loopback"}
)
"""States of an fc_host that carry no I/O, as the kernel writes them (drivers/scsi/scsi_transport_fc.c)."""

_CLOCKS = "/sys/devices/system/clocksource/clocksource0"
_NCONNECT_SINCE = (5, 3)
_OF_THE_CONNECTION = frozenset({"addr", "clientaddr", "local_lock", "mountaddr", "mountport", "mountproto", "namlen"})
"""Options in the table of mounts that tell how a mount came about; a new mount finds them out again."""


def _for_guest(machine: Machine, physical: str, virtual: str) -> str:
    """Return the advice for a physical machine, or that for a guest, whose hardware is the hypervisor's to change."""
    return virtual if machine.platform.is_guest else physical


def _on_host(machine: Machine, advice: str) -> str:
    """Return the advice to change the kernel; a container cannot, whatever its own root may do."""
    return f"On the container's host: {advice}" if machine.platform.container else advice


def _memory_command(machine: Machine) -> str:
    """Return the command that shows the memory: its modules where the firmware lists them, else that of each node."""
    platform = machine.platform
    x86 = (platform.architecture or "").startswith(("x86", "i386", "i686"))
    if (x86 or platform.firmware) and not platform.is_guest:
        return "dmidecode --type memory"
    return "grep MemTotal /sys/devices/system/node/node*/meminfo"


def _memory_nodes(machine: Machine) -> list[NumaNode]:
    """Nodes with ordinary memory whose use is known; a GPU's memory is no place for a database."""
    return [
        node
        for node in machine.nodes
        if node.memory_bytes and node.free_bytes is not None and node.kind is not MemoryKind.GPU
    ]


def _share(node: NumaNode) -> float:
    return (node.free_bytes or 0) / (node.memory_bytes or 1)


def _node_line(node: NumaNode) -> str:
    return (
        f"node {node.os_id}: {format_bytes(node.free_bytes or 0)} of {format_bytes(node.memory_bytes or 0)} free "
        f"({_share(node):.1%}), {_page_cache(node)}"
    )


def _page_cache(node: NumaNode) -> str:
    """What of the memory in use the kernel could give back, and the shared memory, which it could not."""
    if node.page_cache_bytes is not None:
        return f"page cache {format_bytes(node.page_cache_bytes)}, shared memory {format_bytes(node.shmem_bytes or 0)}"
    if node.file_bytes is None:
        return "page cache unknown"
    return f"page cache and shared memory {format_bytes(node.file_bytes)} together"


def exhausted_nodes(machine: Machine) -> Iterator[Finding]:
    """A node out of memory or of huge pages while another has plenty: the first half of Cyclops."""
    nodes = _memory_nodes(machine)
    empty = [node for node in nodes if _share(node) < EXHAUSTED_SHARE]
    roomy = [node for node in nodes if _share(node) > ROOMY_SHARE]
    if empty and roomy:
        yield Finding(
            "memory.exhausted-node",
            Severity.CRITICAL,
            f"{_node_names(empty)} nearly out of memory, with plenty free on {_node_names(roomy)}",
            tuple(_node_line(node) for node in (*empty, *roomy)),
            "What runs there gets its memory from a remote node or by reclaim, and its latency rises.",
            "Interleave the large shared segment (numactl --interleave=all, or the database's own NUMA setting), "
            "or place huge pages evenly over the nodes before it starts.",
            tuple(f"node:{node.os_id}" for node in empty),
            command="numactl --hardware",
            probe="memory.numa",
        )
    yield from _exhausted_pools(machine)


def _node_names(nodes: Iterable[NumaNode]) -> str:
    numbers = [str(node.os_id) for node in nodes]
    return f"node {numbers[0]}" if len(numbers) == 1 else f"nodes {', '.join(numbers)}"


def _exhausted_pools(machine: Machine) -> Iterator[Finding]:
    sizes = sorted({pool.page_bytes for node in machine.nodes for pool in node.huge_pages if pool.total})
    for size in sizes:
        pools = [
            (node, pool) for node in machine.nodes for pool in node.huge_pages if pool.page_bytes == size and pool.total
        ]
        empty = [(node, pool) for node, pool in pools if pool.free == 0]
        roomy = [(node, pool) for node, pool in pools if pool.free > ROOMY_SHARE * pool.total]
        if empty and roomy:
            yield Finding(
                "memory.exhausted-node",
                Severity.CRITICAL,
                f"{_node_names(node for node, _ in empty)} without a free huge page of {format_bytes(size)}, "
                f"with plenty on {_node_names(node for node, _ in roomy)}",
                tuple(f"node {node.os_id}: {pool.free} of {pool.total} free" for node, pool in pools),
                "A segment that wants huge pages there gets them from a remote node, or none.",
                "Interleave the segment over the nodes, or reserve the pages where it runs "
                "(/sys/devices/system/node/node*/hugepages).",
                tuple(pool_key(node.os_id, size) for node, _ in empty),
                command="numactl --hardware",
                probe="memory.numa",
            )


def skewed_memory(machine: Machine) -> Iterator[Finding]:
    """Use far from capacity; it also fires on idle machines, so it is only information."""
    nodes = _memory_nodes(machine)
    capacity = sum(node.memory_bytes or 0 for node in nodes)
    used = sum((node.memory_bytes or 0) - (node.free_bytes or 0) for node in nodes)
    if len(nodes) < 2 or not capacity or used < _SKEW_USED * capacity:
        return
    for node in nodes:
        share_used = ((node.memory_bytes or 0) - (node.free_bytes or 0)) / used
        share = (node.memory_bytes or 0) / capacity
        if share_used - share > _SKEW:
            yield Finding(
                "memory.skewed-use",
                Severity.INFO,
                f"node {node.os_id} holds {share_used:.0%} of the memory in use and {share:.0%} of the memory",
                tuple(_node_line(other) for other in nodes),
                "The next large allocation may exhaust it; a second look shows whether it grows.",
                "Look again under load: sizeup detect --since FILE.",
                (f"node:{node.os_id}",),
                command="sizeup detect --json > before.json; sizeup detect --since before.json",
                probe="memory.numa",
            )


def _in_use(node: NumaNode) -> int:
    """Bytes taken: free pages and free huge pages are not."""
    idle = sum(pool.free * pool.page_bytes for pool in node.huge_pages)
    return max((node.memory_bytes or 0) - (node.free_bytes or 0) - idle, 0)


def growth_by_node(before: Machine, after: Machine) -> tuple[tuple[int, int], ...]:
    """Node and bytes by which its use grew (less than 0: shrank) between two looks; huge pages in use count."""
    earlier = {node.os_id: node for node in _memory_nodes(before)}
    return tuple(
        (node.os_id, _in_use(node) - _in_use(earlier[node.os_id]))
        for node in _memory_nodes(after)
        if node.os_id in earlier
    )


def growth_findings(before: Machine, after: Machine) -> tuple[Finding, ...]:
    """Memory in use that grew on one node alone between two looks: the second half of Cyclops."""
    growth = growth_by_node(before, after)
    grown = sum(max(size, 0) for _, size in growth)
    if len(growth) < 2 or grown < GROWTH_BYTES_MINIMUM:
        return ()
    node, most = max(growth, key=lambda pair: pair[1])
    share = most / grown
    if share < ONE_SIDED_SHARE:
        return ()
    return (
        Finding(
            "memory.one-sided-growth",
            Severity.WARNING,
            f"{share:.1%} of the growth in memory in use fell on node {node}",
            tuple(f"node {number}: {'+' if size >= 0 else '-'}{format_bytes(abs(size))}" for number, size in growth),
            "What was started between the two looks has its memory on one node: that node's controllers serve it all, "
            "the rest of the machine reaches it remotely, and the node runs out first.",
            "Start it with numactl --interleave=all or the database's NUMA setting, "
            "and reserve huge pages evenly over the nodes.",
            (f"node:{node}",),
            command="numactl --interleave=all COMMAND",
            probe="memory.numa",
        ),
    )


def suma(machine: Machine) -> Iterator[Finding]:
    """Several sockets behind one node: interleaved by the firmware, or NUMA switched off."""
    virtual = machine.platform.is_guest or machine.platform.hypervisor is not None
    off = "numa=off" in machine.platform.kernel_settings
    if virtual or (machine.platform.is_guest is None and not off):
        return  # a hypervisor invents the sockets it shows
    if off or (len(machine.packages) > 1 and len(machine.nodes) == 1):
        why = "numa=off on the kernel's command line" if off else "the firmware interleaves memory over the sockets"
        yield Finding(
            "numa.suma",
            Severity.WARNING,
            f"{len(machine.packages)} sockets show as one memory node",
            (why, f"{len(machine.packages)} sockets, {len(machine.nodes)} nodes"),
            "Nothing can be placed: on average every access but one in so many sockets is remote.",
            f"{'Drop numa=off' if off else 'Switch node interleaving off in the firmware'}, then measure both ways.",
            ("machine",),
            command="cat /proc/cmdline" if off else _memory_command(machine),
            probe="memory.latency",
        )


def uneven_memory(machine: Machine) -> Iterator[Finding]:
    """Nodes with CPUs that differ in memory or in huge pages."""
    nodes = [node for node in machine.nodes if node.pus and node.kind is not MemoryKind.GPU]
    sized = [node for node in nodes if node.memory_bytes is not None]
    sizes = [node.memory_bytes or 0 for node in sized]
    if len(sizes) > 1 and max(sizes) > _UNEVEN_RATIO * min(sizes):
        yield Finding(
            "memory.uneven-nodes",
            Severity.WARNING,
            "the nodes differ in memory",
            tuple(f"node {node.os_id}: {format_bytes(node.memory_bytes or 0)}" for node in sized),
            "Work spread evenly over the CPUs exhausts the smaller node first; channels may be left empty.",
            _for_guest(
                machine,
                "Fill the memory slots of all sockets alike.",
                "Give the virtual nodes equal memory in the hypervisor's settings of this machine.",
            ),
            tuple(f"node:{node.os_id}" for node in sized if node.memory_bytes == min(sizes)),
            command=_memory_command(machine),
            probe="memory.numa",
        )
    pools: dict[int, list[tuple[NumaNode, HugePages]]] = {}
    for node in nodes:
        for pool in node.huge_pages:
            pools.setdefault(pool.page_bytes, []).append((node, pool))
    for size, found in pools.items():
        totals = [pool.total for _, pool in found]
        if len(totals) > 1 and max(totals) > _UNEVEN_RATIO * min(totals):
            yield Finding(
                "memory.uneven-huge-pages",
                Severity.WARNING,
                f"huge pages of {format_bytes(size)} are not spread evenly",
                tuple(f"node {node.os_id}: {pool.total}" for node, pool in found),
                "A segment in huge pages lies where the pages are, whatever runs where.",
                _on_host(machine, "Reserve per node: /sys/devices/system/node/nodeN/hugepages/*/nr_hugepages."),
                tuple(pool_key(node.os_id, size) for node, _ in found),
                command=f"grep . /sys/devices/system/node/node*/hugepages/hugepages-{size >> 10}kB/nr_hugepages",
                probe="memory.numa",
            )


def _moving_devices(machine: Machine) -> Iterator[tuple[str, str, int | None]]:
    for nic in machine.nics:
        if nic.kind == "physical" and nic.up:
            yield f"nic:{nic.name}", nic.name, nic.node
    for controller in machine.nvme_controllers:
        yield f"nvme:{controller.name}", controller.name, controller.node
    for hba in machine.hbas:
        if hba.transport in (Transport.FC, Transport.FCOE, Transport.SAS, Transport.RAID):
            yield f"hba:{hba.name}", hba.name, hba.node


def remote_devices(machine: Machine) -> Iterator[Finding]:
    """Devices on a node whose CPUs this process may not use, or that has no memory."""
    if len(machine.nodes) < 2:
        return
    allowed = {pu.cpu for pu in machine.pus if pu.allowed}
    near = {node.os_id for node in machine.nodes if allowed & set(node.pus)}
    bare = {node.os_id for node in machine.nodes if node.memory_bytes == 0}
    for subject, name, node in _moving_devices(machine):
        if node is None or (node in near and node not in bare):
            continue
        reason = "which has no memory" if node in bare else "whose CPUs this process may not use"
        remedy, command = _placing(machine, node)
        yield Finding(
            "device.remote",
            Severity.WARNING,
            f"{name} hangs on node {node}, {reason}",
            (
                f"{name}: node {node}",
                f"allowed CPUs are on {'node' if len(near) == 1 else 'nodes'} {format_list(tuple(near))}",
            ),
            "Its interrupts and its data cross the interconnect on every transfer.",
            remedy,
            (subject,),
            command=command,
            probe="io.direct",
        )


def _placing(machine: Machine, node: int) -> tuple[str, str]:
    """Return remedy and command for a device on a node: to run on the node's CPUs, where this process can get them."""
    move = _for_guest(
        machine, "move the card to a slot of another socket", "have the hypervisor put the device on another node"
    )
    here = next((each.pus for each in machine.nodes if each.os_id == node), ())
    cpus = {pu.cpu for pu in machine.pus if pu.online and pu.cpu in here}
    group = machine.platform.control_group
    cpuset = None if group is None else group.cpus
    if not cpus:
        return f"Its node has no CPU online: {move}.", "numactl --hardware"
    if cpuset is not None and not cpus & set(cpuset):
        allow = f"Add CPUs of node {node} ({format_list(tuple(sorted(cpus)))}) to the cpuset of what uses it"
        return f"{allow}, or {move}.", "cat /proc/self/cgroup; grep Cpus_allowed_list /proc/self/status"
    # Without --all numactl takes the CPUs that taskset has left as all there are.
    return f"Run what uses it on its node, or {move}.", f"numactl --all --cpunodebind={node} --localalloc COMMAND"


def degraded_links(machine: Machine) -> Iterator[Finding]:
    """Links trained below what both their ends can do; the other functions of a device share its first one's link."""
    for function in machine.pci:
        link, limit = function.link, function.edge_limit
        if link is None or limit is None or function.parent is None or function.virtual_function_of is not None:
            continue
        if not function.address.endswith(".0") or (function.class_code or 0) >> 16 in (_DISPLAY, _ACCELERATOR):
            continue  # graphics processors slow their links down when idle
        if link.gigatransfers < limit.gigatransfers or link.width < limit.width:
            yield Finding(
                "pci.degraded-link",
                Severity.WARNING,
                f"{function.address} ({function.driver or 'no driver'}) trained below what its link can do",
                (
                    f"now {link.gigatransfers:g} GT/s x{link.width}",
                    f"both ends can do {limit.gigatransfers:g} GT/s x{limit.width}",
                ),
                f"It moves at most {link.gigatransfers * link.width / (limit.gigatransfers * limit.width):.0%} "
                "of what was paid for.",
                _for_guest(
                    machine,
                    "Reseat the card, check riser and slot; some devices slow down when idle: look again under load.",
                    "Check the link on the host, whose card or slot it is; some devices slow down when idle: "
                    "look again under load.",
                ),
                (f"pci:{function.address}",),
                command=f"lspci -vv -s {quote(function.address)} | grep -E 'LnkCap|LnkSta'",
                probe="io.direct",
            )


def narrow_uplinks(machine: Machine) -> Iterator[Finding]:
    """Shared links that carry less than the devices behind them can ask for."""
    seen: set[str] = set()
    for budget in machine.budgets:
        for stage in budget.stages:
            wanted, rate = stage.wanted_bytes_per_second, stage.bytes_per_second
            device = stage.subject.rpartition(".")[0]  # functions of one device share its link
            if wanted is None or rate is None or wanted <= rate or device in seen:
                continue
            seen.add(device)
            users = (budget.device, *stage.shared_with)
            yield Finding(
                "pci.narrow-uplink",
                Severity.INFO,
                f"{', '.join(users)} share a link that carries less than they can ask for together",
                (
                    f"{stage.name} {stage.subject}: {format_rate(rate)} ({stage.source})",
                    f"asked for: {format_rate(wanted)}",
                ),
                "Alone each is as fast as it can be, together they are not.",
                _for_guest(
                    machine,
                    "Spread them over slots of their own, or plan with the shared figure.",
                    "Give this machine devices behind different slots of the host, or plan with the shared figure.",
                ),
                (f"pci:{stage.subject}",),
                command="lspci -tv",
                probe="io.direct",
            )


def node_sum(machine: Machine) -> Iterator[Finding]:
    """Nodes whose memory does not add up to the machine's: onlined late, or hidden by the firmware."""
    sizes = [node.memory_bytes for node in machine.nodes if node.memory_bytes is not None]
    total, added = machine.memory_bytes, sum(sizes)
    if total is None or len(sizes) != len(machine.nodes) or not added:
        return
    if abs(total - added) > _NODE_SUM_TOLERANCE * total:
        yield Finding(
            "memory.node-sum",
            Severity.WARNING,
            f"the nodes have {format_bytes(added)} of memory, the machine {format_bytes(total)}",
            (
                f"/proc/meminfo MemTotal: {format_bytes(total)}",
                *(f"node {node.os_id} MemTotal: {format_bytes(node.memory_bytes or 0)}" for node in machine.nodes),
            ),
            "Memory was onlined late or is counted twice; what is placed by node uses the smaller figure.",
            "Check again after boot has settled; trust neither figure for sizing before they agree.",
            ("memory",),
            command="lsmem --summary; numactl --hardware",
        )


def _packages_of(machine: Machine, nodes: Iterable[int | None]) -> set[int]:
    by_node = {node.os_id: node.packages for node in machine.nodes}
    return {package for node in nodes if node is not None for package in by_node.get(node, ())}


def bonds(machine: Machine) -> Iterator[Finding]:
    """Bonds whose members differ in speed, are down, or sit on different sockets."""
    nics = {nic.name: nic for nic in machine.nics}
    for bond in (nic for nic in machine.nics if nic.kind == "bond"):
        members = [nics[name] for name in bond.lower if name in nics]
        yield from _bond_findings(machine, bond, members)


def _bond_findings(machine: Machine, bond: Nic, members: list[Nic]) -> Iterator[Finding]:
    lines = tuple(
        f"{nic.name}: node {'unknown' if nic.node is None else nic.node}, {_link_state(nic)}" for nic in members
    )
    subject = (f"nic:{bond.name}",)
    if bond.up and any(nic.up is False for nic in members):
        yield Finding(
            "bond.member-down", Severity.WARNING, f"a member of {bond.name} is down", lines,
            "The bond has lost its redundancy, or part of its bandwidth.", "Check cable, switch port and driver.",
            subject,
            command=f"cat /proc/net/bonding/{quote(bond.name)}",
        )  # fmt: skip
    speeds = {nic.speed_bits_per_second for nic in members if nic.up and nic.speed_bits_per_second}
    if len(speeds) > 1:
        yield Finding(
            "bond.uneven-speed", Severity.WARNING, f"the members of {bond.name} differ in speed", lines,
            "A flow gets the speed of whichever member it lands on.", "Use ports of one speed.", subject,
            command=f"cat /proc/net/bonding/{quote(bond.name)}",
        )  # fmt: skip
    if len(_packages_of(machine, (nic.node for nic in members))) > 1:
        yield Finding(
            "bond.across-packages", Severity.INFO, f"the members of {bond.name} are on different sockets", lines,
            "Part of the traffic crosses the interconnect, which part changes with the active member or the flow.",
            "Keep interrupts and readers near the active member; for redundancy this may be what you want.", subject,
            command=f"cat /proc/net/bonding/{quote(bond.name)}",
        )  # fmt: skip


def _link_state(nic: Nic) -> str:
    if nic.up is False:
        return "down"
    speed = nic.speed_bits_per_second
    rate = "speed unknown" if speed is None else f"{speed / 1e9:g} Gb/s"
    return rate if nic.up else f"state unknown, {rate}"


def _path_lines(found: MultipathMap) -> tuple[str, ...]:
    return tuple(
        f"{path.device} over {path.hba or 'unknown host'}: {path.state or 'state unknown'}, "
        f"{'speed unknown' if path.speed_bits_per_second is None else f'{path.speed_bits_per_second / 1e9:g} Gbit'}, "
        f"node {'unknown' if path.node is None else path.node}"
        for path in found.paths
    )


def maps(machine: Machine) -> Iterator[Finding]:
    """Multipath maps with one path, with dead paths, with unlike paths, across sockets, or poorer than their like."""
    usual: dict[Transport | None, int] = {}
    for transport in {path.transport for found in machine.maps for path in found.paths}:
        counts = Counter(len(m.paths) for m in machine.maps if m.paths and m.paths[0].transport is transport)
        usual[transport] = max(counts, default=0)
    for found in machine.maps:
        if found.paths:
            yield from _map_findings(machine, found, usual.get(found.paths[0].transport, 0))


def _map_findings(machine: Machine, found: MultipathMap, usual: int) -> Iterator[Finding]:
    lines, subject = _path_lines(found), (f"map:{found.name}",)
    native = not found.device.startswith("dm-")  # of the NVMe driver, which device mapper knows nothing of
    look = f"nvme list-subsys /dev/{quote(found.device)}" if native else f"multipath -ll {quote(found.name)}"
    dead = [path.device for path in found.paths if path.state not in (None, "running", "live")]
    if dead:
        yield Finding(
            "multipath.dead-path", Severity.WARNING, f"{found.name} has lost {', '.join(dead)}", lines,
            "Bandwidth and redundancy are less than they look.",
            f"Check {'its controllers and their links' if native else 'the fabric and the port'}; {look}.",
            subject,
            command=look,
            probe="io.direct",
        )  # fmt: skip
    if len(found.paths) == 1 or len(found.paths) < usual:
        yield Finding(
            "multipath.few-paths", Severity.WARNING,
            f"{found.name} has {plural(len(found.paths), 'path')}"
            + (f", its like have {usual}" if len(found.paths) < usual else ""),
            lines, "One cable, port or switch takes the device away, or halves it.", _missing_path(found),
            subject,
            command=look,
            probe="io.direct",
        )  # fmt: skip
    speeds = {path.speed_bits_per_second for path in found.paths if path.speed_bits_per_second is not None}
    if len(speeds) > 1:
        yield Finding(
            "multipath.uneven-speed", Severity.WARNING, f"the paths of {found.name} differ in speed", lines,
            "Round robin waits for the slower path.",
            "Bring the ports to one speed, or choose a path selector that goes by service time.", subject,
            command=look,
            probe="io.direct",
        )  # fmt: skip
    if len(_packages_of(machine, (path.node for path in found.paths))) > 1:
        yield Finding(
            "multipath.across-packages", Severity.INFO, f"the paths of {found.name} are on different sockets", lines,
            "Part of the I/O crosses the interconnect, whichever CPU asked for it.",
            "Prefer the local path (iopolicy numa of the NVMe subsystem), or count it in." if native
            else "Count it in: device mapper does not choose paths by node.", subject,
            command=look,
            probe="io.direct",
        )  # fmt: skip


def _missing_path(found: MultipathMap) -> str:
    """Where to look for paths that a map lacks."""
    if not found.device.startswith("dm-"):
        return "Check which controllers of its subsystem are connected, and that each may use the namespace."
    transport = found.paths[0].transport
    if transport in _FC:
        return "Check zoning and masking."
    if transport is Transport.ISCSI:
        return "Check that there is a session over every portal (iscsiadm -m session), and masking."
    return "Check cabling, and which initiators the storage lets in."


def fc_ports(machine: Machine) -> Iterator[Finding]:
    """Fibre Channel ports without a link: those that carried something, and those that perhaps never had a cable."""
    down = [hba for hba in machine.hbas if hba.transport in _FC and hba.state in _FC_DOWN]
    behind = {scsi.hba for scsi in machine.scsi_devices}
    used = [hba for hba in down if hba.targets or hba.name in behind or hba.received_bytes or hba.sent_bytes]
    unused = [hba for hba in down if hba not in used]
    if used:
        yield Finding(
            "fc.port-down",
            Severity.WARNING,
            f"{_port_names(used)} down",
            tuple(_fc_line(hba) for hba in used),
            "No I/O goes over a port that is down: the paths over it are lost, and the ports that are left carry "
            "everything.",
            "Check cable, optics and switch port, then zoning and the log of the driver (dmesg).",
            tuple(f"hba:{hba.name}" for hba in used),
            command=_fc_command(used),
            probe="io.direct",
        )
    if unused:
        yield Finding(
            "fc.port-unused",
            Severity.INFO,
            f"{_port_names(unused)} without a link, with no sign of use",
            tuple(_fc_line(hba) for hba in unused),
            "A port without a link carries no I/O and adds no capacity.",
            "Nothing to do where no cable was meant to be there; otherwise check cable, optics and switch port.",
            tuple(f"hba:{hba.name}" for hba in unused),
            command=_fc_command(unused),
        )


def _port_names(hbas: Sequence[Hba]) -> str:
    names = ", ".join(hba.name for hba in hbas)
    return f"Fibre Channel port {names} is" if len(hbas) == 1 else f"Fibre Channel ports {names} are"


def _fc_line(hba: Hba) -> str:
    moved = [
        f"{format_decimal_bytes(size)} {way}" if size else f"nothing {way}"
        for size, way in ((hba.received_bytes, "received"), (hba.sent_bytes, "sent"))
        if size is not None
    ]
    over = f" over {hba.net_device}" if hba.net_device else ""
    targets = f"{len(hba.targets)} remote target port{'' if len(hba.targets) == 1 else 's'} known"
    return f"{hba.name}{over}: {hba.state}, {', '.join((targets, *(moved or ['traffic unknown'])))}"


def _fc_command(hbas: Sequence[Hba]) -> str:
    looks = [f"grep . {' '.join(f'/sys/class/fc_host/{quote(hba.name)}/port_state' for hba in hbas)}"]
    looks += [f"ip link show dev {quote(hba.net_device)}" for hba in hbas if hba.net_device]
    return "; ".join(looks)


def nfs_transports(machine: Machine) -> Iterator[Finding]:
    """Fewer connections than it takes to fill the interface: one carries some 10 Gb/s."""
    nics = {nic.name: nic for nic in machine.nics}
    for mount in machine.nfs_mounts:
        nic = nics.get(mount.nic or "")
        speed = None if nic is None else nic.speed_bits_per_second
        if nic is None or speed is None or mount.transports is None:
            continue
        needed = min(math.ceil(speed / _BITS_PER_TRANSPORT), 16)
        if mount.transports < needed:
            yield Finding(
                "nfs.few-transports",
                Severity.WARNING,
                f"{mount.mount_point} uses {mount.transports} of the {needed} connections that {nic.name} wants",
                (f"nconnect: {mount.transports}", f"{nic.name}: {speed / 1e9:g} Gb/s"),
                "One TCP connection is served by one CPU and carries some 10 Gb/s.",
                f"Mount with nconnect={needed}; all mounts of that server and version share the first one's setting."
                if _has_nconnect(machine)
                else f"Mount with nconnect={needed} on a kernel that has it: Linux 5.3, or a vendor's with the change.",
                (f"nfs:{mount.mount_point}",),
                command=_mount_command(mount, needed) if _has_nconnect(machine) else "nfsstat -m",
                probe="io.direct",
            )


def _has_nconnect(machine: Machine) -> bool:
    """Whether the kernel is new enough for it, or of unknown version."""
    version = re.match(r"(\d{1,4})\.(\d{1,4})", machine.platform.kernel or "")
    return version is None or (int(version[1]), int(version[2])) >= _NCONNECT_SINCE


def _mount_command(mount: NfsMount, connections: int) -> str:
    """Mount it again as it is, but for its connections; it need not be in /etc/fstab."""
    kept = [option for option in mount.options if option.partition("=")[0] not in {*_OF_THE_CONNECTION, "nconnect"}]
    options = quote(",".join((*kept, f"nconnect={connections}")))
    place = quote(mount.mount_point)
    return f"umount {place} && mount -t nfs -o {options} {quote(mount.export)} {place}"


def memlock_without_huge_pages(machine: Machine) -> Iterator[Finding]:
    """A limit raised for huge pages, and no huge pages."""
    platform = machine.platform
    meant = platform.memlock_unlimited or (platform.memlock_bytes or 0) >= _MEMLOCK_MEANT
    if meant and machine.huge_pages and not any(pool.total for pool in machine.huge_pages):
        limit = "unlimited" if platform.memlock_unlimited else format_bytes(platform.memlock_bytes or 0)
        yield Finding(
            "memory.memlock-without-huge-pages",
            Severity.INFO,
            "memlock is raised but there is no huge page",
            (f"memlock: {limit}", "huge pages: 0"),
            "Half of the usual preparation for a large SGA is missing: it will run on small pages.",
            _on_host(machine, "Reserve huge pages (vm.nr_hugepages), or take the limit back."),
            ("machine",),
            command="sysctl -w vm.nr_hugepages=N",
            probe="memory.latency",
        )


def clock_source(machine: Machine) -> Iterator[Finding]:
    """A clock that costs a system call, or worse a read over the bus."""
    source, sources = machine.platform.clock_source, machine.platform.clock_sources
    if source not in _SLOW_CLOCKS:
        return
    faster = next((name for name in sources if name not in _SLOW_CLOCKS), None)  # the kernel lists the best first
    if faster is not None:
        remedy = _on_host(machine, f"Find out why the kernel does not use {faster} (dmesg), then switch to it.")
        command = f"echo {quote(faster)} > {_CLOCKS}/current_clocksource"
    elif sources:
        remedy = "No faster one is available: " + _for_guest(
            machine,
            "find out in the kernel's messages why it refused one.",
            "have the hypervisor offer its own clock or a stable TSC; the kernel's messages tell what it refused.",
        )
        command = "dmesg | grep -iE 'clocksource|tsc'"
    else:
        remedy = "See which clock sources are available, and switch to one that needs no system call."
        command = f"cat {_CLOCKS}/available_clocksource"
    yield Finding(
        "clock.slow-source",
        Severity.WARNING,
        f"the clock source is {source}, which is slow to read",
        (f"current: {source}", f"available: {' '.join(sources) or 'unknown'}"),
        "Databases read the clock around every wait, and each reading costs a system call, a microsecond or more.",
        f"{remedy} Measure with the clock probe.",
        ("clock",),
        command=command,
        probe="clock.cost",
    )


def processors(machine: Machine) -> Iterator[Finding]:
    """Threads or clocks that are less than they look."""
    platform = machine.platform
    if platform.smt in ("off", "forceoff"):
        yield Finding(
            "cpu.smt-off", Severity.INFO, "simultaneous multithreading is switched off",
            (f"SMT control: {platform.smt}",),
            "Threads are half of what the data sheet says; cores, and licenses by core, stay the same.",
            _on_host(machine, "Intended on license-bound machines; else switch it on.") if platform.smt == "off"
            else "Intended on license-bound machines; else drop nosmt=force from the kernel's command line and reboot: "
            "nothing switches it on before.", ("cpu",),
            command="echo on > /sys/devices/system/cpu/smt/control" if platform.smt == "off" else "cat /proc/cmdline",
            probe="memory.hammer",
        )  # fmt: skip
    offline = tuple(pu.cpu for pu in machine.pus if not pu.online)
    if offline and platform.smt not in ("off", "forceoff"):
        yield Finding(
            "cpu.offline", Severity.INFO, f"CPUs present but offline: {len(offline)}",
            (f"offline: {format_list(offline)}",),
            "They do no work; most license metrics count them unless the firmware disables them.",
            _on_host(machine, "Bring them online if it was not on purpose."), ("cpu",),
            command=f"chcpu -e {format_list(offline)}",
        )  # fmt: skip
    # intel_pstate and amd-pstate steer by load under this name; the others nail the clock down.
    if platform.governor == "powersave" and (platform.frequency_driver or "") not in (
        "intel_pstate", "amd-pstate-epp", "amd-pstate",
    ):  # fmt: skip
        yield Finding(
            "cpu.powersave", Severity.WARNING, "the frequency governor keeps the lowest clock",
            (f"governor: powersave, driver: {platform.frequency_driver or 'unknown'}",),
            "The CPUs stay at their lowest clock whatever the load.",
            _on_host(machine, "Choose the performance governor."), ("cpu",),
            command="cpupower frequency-set -g performance",
            probe="memory.latency",
        )  # fmt: skip
    if platform.steal_share is not None and platform.steal_share > _STEAL_SHARE:
        yield Finding(
            "cpu.steal", Severity.WARNING, "the hypervisor gives this machine's CPU time to others",
            (f"stolen since boot: {platform.steal_share:.1%}",),
            "Measurements here are of a share of the hardware, and change with the neighbors.",
            "Ask for dedicated CPUs, or read all figures as lower bounds.", ("cpu",),
            command="vmstat 1 10",
            probe="memory.hammer",
        )  # fmt: skip


def restricted(machine: Machine) -> Iterator[Finding]:
    """Fewer CPUs allowed than online: right for placing, no help with a license."""
    counts = machine.pu_counts
    if counts.allowed >= counts.online:
        return
    group = machine.platform.control_group
    evidence = [
        f"allowed: {format_list(tuple(pu.cpu for pu in machine.pus if pu.allowed))}",
        f"online: {counts.online}",
    ]
    if machine.platform.affinity is not None:
        evidence.append(f"affinity (taskset): {format_list(machine.platform.affinity)}")
    if group is not None and group.cpus is not None:
        evidence.append(f"cpuset of {group.path or '/'}: {format_list(group.cpus)}")
    yield Finding(
        "affinity.restricted",
        Severity.INFO,
        f"this process may use {counts.allowed} of {counts.online} CPUs",
        tuple(evidence),
        "Probes measure inside it. Affinity and cpusets are soft partitioning: they do not shrink a license.",
        "Start without taskset or cpuset to judge the whole machine.",
        ("cpu",),
        command="taskset -cp $$; cat /proc/self/cgroup",
    )


def _crossing(
    name: str, ones: Iterable[tuple[int, ...]], other_name: str, others: Iterable[tuple[int, ...]]
) -> Iterator[str]:
    """Sets of two kinds that overlap without one holding the other."""
    theirs = [set(cpus) for cpus in others]
    for cpus in ones:
        own = set(cpus)
        for other in theirs:
            if own & other and not own <= other and not other <= own:
                yield f"{name} {format_list(cpus)} and {other_name} {format_list(tuple(other))} overlap in part"


def contradictions(machine: Machine) -> tuple[str, ...]:
    """Where the firmware contradicts itself, in words."""
    found = list(machine.contradictions)
    packages = [package.pus for package in machine.packages]
    nodes = [node.pus for node in machine.nodes if node.pus]
    found.extend(
        f"L{one.level} {one.kind.value} caches overlap: {format_list(one.shared_by)}, {format_list(other.shared_by)}"
        for one, other in overlaps(machine.caches)
    )
    shared = [cache.shared_by for cache in machine.caches if len(cache.shared_by) > 1]
    found.extend(_crossing("cache of", dict.fromkeys(shared), "socket", packages))
    found.extend(_crossing("node of", nodes, "socket", packages))
    if len(nodes) > 1 and len(set(nodes)) == 1:
        found.append(f"all {len(nodes)} nodes claim the same CPUs, {format_list(nodes[0])}")
    return tuple(dict.fromkeys(found))


def firmware(machine: Machine) -> Iterator[Finding]:
    """Contradictions, as one finding."""
    lines = contradictions(machine)
    if lines:
        yield Finding(
            "firmware.contradiction",
            Severity.WARNING,
            "the firmware contradicts itself about what shares what",
            lines[:10],
            "Counts of sockets, caches or nodes may be wrong, here and in every other tool.",
            _for_guest(
                machine,
                "Update the firmware; check the counts against the data sheet, and set them by hand for sizing.",
                "Correct the CPU topology in the hypervisor's settings of this machine, and set the counts by hand for "
                "sizing.",
            ),
            ("cpu",),
            command="lscpu --extended; dmesg | grep -i firmware",
            probe="memory.core-to-core",
        )


def arrays(machine: Machine) -> Iterator[Finding]:
    """Md arrays that lack members."""
    for device in machine.block_devices:
        if device.raid_degraded:
            yield Finding(
                "storage.degraded-array",
                Severity.CRITICAL,
                f"{device.name} ({device.raid_level}) lacks {device.raid_degraded} of {device.raid_disks} members",
                (f"state: {device.state or 'unknown'}", f"members: {', '.join(device.members) or 'none'}"),
                "The next failure loses data; reads and rebuilds are slower meanwhile.",
                "mdadm --detail names the missing member.",
                (f"block:{device.name}",),
                command=f"mdadm --detail /dev/{quote(device.name)}",
                probe="io.direct",
            )


_CHECKS: tuple[Callable[[Machine], Iterator[Finding]], ...] = (
    exhausted_nodes, arrays, skewed_memory, suma, uneven_memory, node_sum, remote_devices, degraded_links,
    narrow_uplinks, bonds, maps, fc_ports, nfs_transports, memlock_without_huge_pages, clock_source, processors,
    restricted, firmware,
)  # fmt: skip


def find(machine: Machine) -> tuple[Finding, ...]:
    """All findings of one look, the gravest first."""
    order = list(Severity)
    found = [finding for check in _CHECKS for finding in check(machine)]
    return tuple(sorted(found, key=lambda finding: order.index(finding.severity)))
