"""The devices of a machine by NUMA node, as topology items with their links and faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sizeup.compare.parts import adapter_identity, disk_identity, nic_identity
from sizeup.model.finding import Severity
from sizeup.model.machine import Machine, NodeOrigin, PciFunction, PciLink
from sizeup.model.network import NfsMount, Nic, is_port
from sizeup.model.storage import BlockDevice, BlockKind, Hba, MultipathMap, NvmeController, Transport
from sizeup.procfs.lists import format_list
from sizeup.text import if_known, plural
from sizeup.units import format_bit_rate, format_bytes, format_decimal_bytes, format_rate
from sizeup.views.machine.facts import connections_text, known_facts
from sizeup.views.machine.topology_item import TopologyItem, label_of

_TROUBLES = {
    "bond.member-down": "DEGRADED, member down",
    "device.remote": "REMOTE",
    "memory.exhausted-node": "NEARLY FULL",
    "multipath.dead-path": "DEGRADED, path lost",
    "multipath.few-paths": "FEW PATHS",
    "nfs.few-transports": "FEW CONNECTIONS",
    "nfs.server-silent": "NO ANSWER",
    "nfs.soft-mount": "SOFT",
    "pci.degraded-link": "DEGRADED link",
    "storage.degraded-array": "DEGRADED, member missing",
}
"""The label of a finding on the part it is about; other findings are not the state of one part."""

_HIDDEN = (BlockKind.PARTITION, BlockKind.LOOP, BlockKind.RAM)
_ACROSS = (BlockKind.MD, BlockKind.LVM, BlockKind.CRYPT, BlockKind.MULTIPATH, BlockKind.DM, BlockKind.BCACHE)
_PLAIN_HOSTS = (Transport.SATA, Transport.USB, Transport.OTHER, Transport.VIRTIO)
"""Hosts that are not shown as adapters; their disks are listed on their own."""
_NODE_ORIGINS = {
    NodeOrigin.FIRMWARE: "reported by firmware",
    NodeOrigin.PARENT: "from the bridge above",
    NodeOrigin.LOCAL_CPUS: "from its local CPUs",
}
_NORMAL_STATES = (None, "Online", "online", "running", "live")


class Devices:
    """The devices of one machine as topology items."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.troubles: dict[str, str] = {}
        """Fault labels by the subject of the finding."""
        for finding in machine.findings:
            if finding.id in _TROUBLES and finding.severity is not Severity.INFO:
                for subject in finding.subjects:
                    self.troubles.setdefault(subject, _TROUBLES[finding.id])
        self._functions = {function.address: function for function in machine.pci}
        self._interrupts = {found.pci_address: found for found in machine.interrupts}
        self._units = Counter(device.hba for device in machine.scsi_devices if device.kind == 0)
        self._budgets = {budget.device: budget for budget in machine.budgets}
        self._nodes = {node.os_id for node in machine.nodes}
        self._mapped = {found.device for found in machine.maps}
        self._partitions: dict[str, list[BlockDevice]] = {}
        self._by_host: dict[str, list[BlockDevice]] = {}
        self._by_controller: dict[str, list[BlockDevice]] = {}
        self._plain: list[BlockDevice] = []
        hosts = {hba.name for hba in machine.hbas if hba.transport not in _PLAIN_HOSTS}
        owners = {space.name: space.controllers[0] for space in machine.nvme_namespaces if len(space.controllers) == 1}
        for disk in machine.block_devices:
            host = None if disk.hctl is None else f"host{disk.hctl.partition(':')[0]}"
            if disk.kind is BlockKind.PARTITION and disk.parent is not None:
                self._partitions.setdefault(disk.parent, []).append(disk)
            elif disk.kind in _HIDDEN:
                continue
            elif host in hosts:
                self._by_host.setdefault(host or "", []).append(disk)
            elif disk.name in owners:
                self._by_controller.setdefault(owners[disk.name], []).append(disk)
            else:
                self._plain.append(disk)

    def on(self, node: int | None) -> tuple[TopologyItem, ...]:
        """Return the devices of a node, virtual interfaces last; None: those without a node that the kernel lists."""

        def here(device_node: int | None) -> bool:
            return device_node == node if node is not None else device_node not in self._nodes

        machine = self._machine
        nics = [nic for nic in machine.nics if nic.kind not in ("loopback", "bond") and here(nic.node)]
        alone = [disk for disk in self._plain if disk.kind not in _ACROSS and disk.name not in self._mapped]
        return (
            *(self._nic(nic) for nic in nics if is_port(nic)),
            *(self._controller(controller) for controller in machine.nvme_controllers if here(controller.node)),
            *(self._hba(hba) for hba in machine.hbas if hba.transport not in _PLAIN_HOSTS and here(hba.node)),
            *(self.disk(disk) for disk in alone if here(disk.node)),
            *(self._nic(nic) for nic in nics if not is_port(nic)),
        )

    def across(self) -> tuple[TopologyItem, ...]:
        """Return bonds, multipath maps, arrays and volumes, which combine devices of any node."""
        maps = [self._map(found) for found in self._machine.maps]
        bonds = [self._nic(nic) for nic in self._machine.nics if nic.kind == "bond"]
        stacks = [self.disk(disk) for disk in self._plain if disk.kind in _ACROSS and disk.name not in self._mapped]
        return (*bonds, *maps, *stacks)

    def mounts(self) -> tuple[TopologyItem, ...]:
        """Return the NFS mounts."""
        return tuple(self._mount(mount) for mount in self._machine.nfs_mounts)

    def _item(
        self,
        key: str,
        name: str,
        parts: Iterable[str | None],
        brief: tuple[str | None, ...],
        facts: tuple[tuple[str, str], ...],
        children: tuple[TopologyItem, ...] = (),
        *,
        address: str | None = None,
        also: tuple[str, ...] = (),
        identity: str | None = None,
        trouble: str = "",
        more: Iterable[str | None] = (),
        up: bool = True,
    ) -> TopologyItem:
        """Return an item with its link and its fault; its label has ``parts`` behind its name."""
        chain = tuple(f"pci:{function.address}" for function in self._pci_chain(address))
        function, budget = next(iter(self._pci_chain(address)), None), self._budgets.get(name)
        trained = _link_text(function)
        link = f"PCIe {trained}" if trained else ""
        named = (key, *also, *chain[:1])
        trouble = trouble or next((self.troubles[name] for name in named if name in self.troubles), "")
        called, *figures = filter(None, brief) if brief else ("",)
        node, rate = None, None if budget is None else budget.limit_bytes_per_second
        if function is not None and function.node is not None and function.node_origin is not None:
            node = f"{function.node} ({_NODE_ORIGINS[function.node_origin]})"
        interrupts = self._interrupts.get(address or "")
        path_facts = known_facts(
            ("PCI", address),
            ("Node", node),
            ("PCIe link", trained),
            ("Link capability", None if function is None else _pair(function.common_link_limit)),
            ("Interrupts", interrupts and f"{interrupts.count}, to CPUs {format_list(interrupts.cpus) or 'unknown'}"),
            ("To memory", None if budget is None or rate is None else f"{format_rate(rate)}, by {budget.narrowest}"),
        )
        return TopologyItem(
            key, label_of(name, ", ".join(filter(None, (*parts, link))), trouble), (*facts, *path_facts), children,
            also=(*also, *chain), identity=identity or "", name=called, brief=tuple(figures),
            more=tuple(filter(None, more)), link=link, up=up,
            trouble=trouble,
        )  # fmt: skip

    def _pci_chain(self, address: str | None) -> Iterable[PciFunction]:
        """Return the first function of the device at an address, which has the link, and the bridges above."""
        first = self._functions.get(f"{address.rpartition('.')[0]}.0") if address else None
        function = first or self._functions.get(address or "")
        while function is not None:
            yield function
            function = self._functions.get(function.parent or "")

    def _nic(self, nic: Nic) -> TopologyItem:
        speed = if_known(nic.speed_bits_per_second, format_bit_rate)
        state = "up" if nic.up or nic.carrier else None
        if nic.carrier is False or nic.up is False:
            state = "no link" if nic.carrier is False else "down"
        queues = (nic.receive_queues, "receive"), (nic.transmit_queues, "transmit")
        facts = known_facts(
            ("Kind", nic.kind),
            ("Driver", nic.driver),
            ("Speed", speed or "not reported"),
            ("Duplex", nic.duplex),
            ("Up", nic.up),
            ("Link", nic.carrier),
            ("MTU", None if nic.mtu is None else f"{nic.mtu} B"),
            ("MAC", nic.mac),
            ("Queues", tuple(f"{count} {name}" for count, name in queues if count is not None)),
            ("Part of", nic.master),
            ("Built on", nic.lower),
            ("Bond", nic.bond_mode),
            ("In use", nic.bond_active),
        )
        over = f"of {' and '.join(nic.lower)}" if nic.kind == "bond" and nic.lower else None
        fault_text = f"DEGRADED, {state} in {nic.master}" if nic.master and nic.up is False else ""
        brief = (nic.name, over, speed, None if state == "up" else state)
        return self._item(
            f"nic:{nic.name}", nic.name, (nic.kind, over, speed, state),
            brief if is_port(nic) or nic.kind == "bond" else (), facts,
            address=nic.pci_address, identity=nic_identity(nic), trouble=fault_text,
            more=(nic.driver, if_known(nic.mtu, lambda mtu: f"MTU {mtu}"), if_known(nic.master, lambda to: f"in {to}")),
            up=nic.carrier is not False and nic.up is not False,
        )  # fmt: skip

    def _controller(self, controller: NvmeController) -> TopologyItem:
        disks = self._by_controller.get(controller.name, [])
        total = sum(disk.size_bytes or 0 for disk in disks)
        size = format_decimal_bytes(total) if total else None
        temperature = if_known(controller.temperature_celsius, "{:.0f} °C".format)
        critical = if_known(controller.critical_celsius, ", critical from {:.0f} °C".format)
        facts = known_facts(
            ("Model", controller.model),
            ("Transport", controller.transport),
            ("Address", controller.address),
            ("State", controller.state),
            ("Interface", controller.net_device),
            ("Temperature", temperature and f"{temperature}{critical or ''}"),
            ("Subsystem", controller.subsystem_nqn),
            ("Queues", controller.queues),
            ("Queue limit", _requests(controller.queue_depth_limit)),
            ("Firmware", controller.firmware),
            ("Serial", controller.serial),
        )
        state = "" if controller.state in _NORMAL_STATES else controller.state or ""
        transport = controller.transport if controller.transport != "pcie" else None
        return self._item(
            f"nvme:{controller.name}", controller.name, ("NVMe", transport, size), (controller.name, transport, size),
            facts, tuple(self.disk(disk) for disk in disks),
            address=controller.pci_address, identity=controller.serial, trouble=state,
            more=(controller.model, *(_mounted(disk) for disk in disks)),
        )  # fmt: skip

    def _hba(self, hba: Hba) -> TopologyItem:
        disks = self._by_host.get(hba.name, [])
        speed = if_known(hba.speed_bits_per_second, format_bit_rate)
        facts = known_facts(
            ("Transport", hba.transport.value),
            ("Driver", hba.driver),
            ("Model", hba.model),
            ("State", hba.state),
            ("Speed", speed),
            ("Supports", tuple(map(format_bit_rate, hba.supported_bits_per_second))),
            ("Interface", hba.net_device),
            ("Port", hba.port_name),
            ("Targets", len(hba.targets) or None),
            ("LUNs", self._units[hba.name] or None),
            ("Queue limit", _requests(hba.queue_depth_limit)),
            ("Per LUN", _requests(hba.lun_queue_depth)),
            ("Queues", hba.hardware_queues),
            ("Firmware", hba.firmware),
        )
        online = hba.state.lower() if hba.state and hba.state in _NORMAL_STATES else None
        parts = (hba.transport.value, speed, online, plural(len(disks), "disk"))
        return self._item(
            f"hba:{hba.name}", hba.name, parts, (hba.name, *parts), facts, tuple(self.disk(disk) for disk in disks),
            address=hba.pci_address, identity=adapter_identity(hba),
            trouble="" if hba.state in _NORMAL_STATES else hba.state or "", more=(hba.model, hba.driver),
        )  # fmt: skip

    def disk(self, device: BlockDevice) -> TopologyItem:
        """Return a disk, partition or stacked device with its partitions."""
        size = "size unknown" if device.size_bytes is None else format_decimal_bytes(device.size_bytes)
        name = device.dm_name or device.name
        level = f" {device.raid_level}" if device.raid_level else ""
        physical = if_known(device.physical_block_bytes, ", {} B physical".format) or ""
        facts = known_facts(
            ("Kind", device.kind.value),
            ("Size", "unknown: not reported by the kernel" if device.size_bytes is None else size),
            ("Vendor", device.vendor),
            ("Model", device.model),
            ("Rotating", device.rotational),
            ("State", device.state),
            ("Scheduler", device.scheduler),
            ("Queue limit", _requests(device.queue_depth_limit)),
            ("Queues", device.hardware_queues),
            ("Write cache", device.write_cache),
            ("Blocks", if_known(device.logical_block_bytes, lambda size: f"{size} B logical{physical}")),
            ("Read only", device.read_only),
            ("Address", device.hctl),
            ("Map", device.dm_name),
            ("Built on", device.members),
            ("Used by", device.holders),
            ("RAID", device.raid_level),
            ("Missing", f"{device.raid_degraded} of {device.raid_disks} members" if device.raid_degraded else None),
            ("Mounted on", device.mount_points),
            ("Serial", device.serial),
            ("WWN", device.wwn),
        )
        partitions = tuple(self.disk(part) for part in self._partitions.get(device.name, ()))
        used = _mounted(device)
        whole = device.kind is not BlockKind.PARTITION
        # The link of an NVMe namespace or of a disk behind an adapter is shown at its controller.
        own = whole and device.hctl is None and device.kind is not BlockKind.NVME
        return self._item(
            f"disk:{device.name}", name, (f"{device.kind.value}{level}", size, used), (name, level.strip(), size),
            facts, partitions, address=device.pci_address if own else None, also=(f"block:{device.name}",),
            identity=disk_identity(device), more=(used, device.model, device.kind.value),
        )  # fmt: skip

    def _map(self, found: MultipathMap) -> TopologyItem:
        size = if_known(found.size_bytes, format_decimal_bytes)
        usable = sum(path.state in _NORMAL_STATES for path in found.paths)
        paths = plural(len(found.paths), "path") + (f", {usable} usable" if usable < len(found.paths) else "")
        facts = known_facts(
            ("Size", size),
            ("Suspended", found.suspended or None),
            *(
                (path.device, ", ".join(filter(None, (
                    path.hba, path.state or "state unknown", path.access_state,
                    None if path.node is None else f"node {path.node}",
                ))))
                for path in found.paths
            ),
        )  # fmt: skip
        return self._item(
            f"map:{found.name}", found.name, ("multipath", paths, size), (found.name, paths, size), facts,
            also=(f"disk:{found.device}",), identity=found.uuid,
        )  # fmt: skip

    def _mount(self, mount: NfsMount) -> TopologyItem:
        connections = None if mount.transports is None else plural(mount.transports, "connection")
        version = f"NFS {mount.version}" if mount.version else "NFS"
        facts = known_facts(
            ("Export", mount.export),
            ("Version", mount.version),
            ("Protocol", mount.protocol),
            ("Read size", if_known(mount.read_size_bytes, format_bytes)),
            ("Write size", if_known(mount.write_size_bytes, format_bytes)),
            ("Connections", connections_text(mount)),
            ("Hard", mount.hard),
            ("Sync", mount.sync),
            ("Read only", mount.read_only),
            ("Security", mount.security),
            ("Server", mount.address),
            ("Interface", mount.nic),
            ("Options", mount.options),
        )
        brief = (mount.mount_point, version, mount.export, connections)
        return self._item(f"nfs:{mount.mount_point}", mount.mount_point, (mount.export,), brief, facts)


def _mounted(device: BlockDevice) -> str | None:
    return f"on {device.mount_points[0]}" if device.mount_points else None


def _requests(limit: int | None) -> str | None:
    return None if limit is None else plural(limit, "request")


def _pair(link: PciLink | None) -> str | None:
    return None if link is None else f"{link.gigatransfers:g} GT/s x{link.width}"


def _link_text(function: PciFunction | None) -> str | None:
    """Return the link as trained, and the best that both ends support if that is more."""
    if function is None or function.link is None:
        return None
    limit = function.common_link_limit
    below = limit is not None and (
        function.link.gigatransfers < limit.gigatransfers or function.link.width < limit.width
    )
    return f"{_pair(function.link)}" + (f" of {_pair(limit)}" if below else "")
