"""The bandwidth budget of each device: port, link, switch uplinks, root port, interconnect, memory.

Rates are payload in one direction: PCI Express after its encoding (a further 5 to 18 % goes to packet
headers, by payload size), Fibre Channel nominal, InfiniBand after its encoding, Ethernet as TCP payload
with time stamps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sizeup.model.machine import Machine, PathBudget, PciFunction, PciLink, Stage, device_of
from sizeup.model.network import PORTS, Nic, RdmaPort
from sizeup.model.storage import Hba, Transport
from sizeup.units import format_bit_rate

_PCIE_BYTES_PER_LANE = {
    2.5: 250e6,
    5.0: 500e6,
    8.0: 8e9 * 128 / 130 / 8,
    16.0: 16e9 * 128 / 130 / 8,
    32.0: 32e9 * 128 / 130 / 8,
    64.0: 64e9 * 242 / 256 / 8,
}
"""Per second, by gigatransfers: 8b/10b up to 5, 128b/130b up to 32, FLIT at 64."""

_FC_BYTES = {1: 100e6, 2: 200e6, 4: 400e6, 8: 800e6, 16: 1600e6, 32: 3200e6, 64: 6400e6}
"""Per second, by nominal Gbit."""

_SAS_BYTES = {1.5: 150e6, 3.0: 300e6, 6.0: 600e6, 12.0: 1200e6, 22.5: 2400e6}

_INFINIBAND_SHARES = {"": 0.8, "SDR": 0.8, "DDR": 0.8, "QDR": 0.8, "FDR": 64 / 66}
"""What the coding leaves by generation, of which the first has no name: 8b/10b, then 64b/66b; later rates are net."""

_TCP_SHARE_1500, _TCP_SHARE_9000 = 0.9415, 0.99
_JUMBO = 8000
_DEPTH_LIMIT = 32


def link_bytes_per_second(link: PciLink) -> float | None:
    """Payload of a PCI Express link in one direction."""
    lane = _PCIE_BYTES_PER_LANE.get(link.gigatransfers)
    return None if lane is None else lane * link.width


def ethernet_bytes_per_second(bits_per_second: int, mtu: int | None) -> float:
    """TCP payload with time stamps at this MTU."""
    share = _TCP_SHARE_9000 if mtu is not None and mtu >= _JUMBO else _TCP_SHARE_1500
    return bits_per_second / 8 * share


def infiniband_bytes_per_second(port: RdmaPort) -> float | None:
    """Payload of an InfiniBand port after its coding, before packet headers; that of an Ethernet port is the rate."""
    if port.rate_bits_per_second is None:
        return None
    generation = (port.encoding or "- -").partition(" ")[2]
    share = _INFINIBAND_SHARES.get(generation, 1.0) if port.link_layer == "InfiniBand" else 1.0
    return port.rate_bits_per_second / 8 * share


def _hba_port(hba: Hba) -> Stage | None:
    if hba.transport in (Transport.FC, Transport.FCOE) and hba.speed_bits_per_second is not None:
        gigabits = round(hba.speed_bits_per_second / 1e9)
        rate = _FC_BYTES.get(gigabits)
        return Stage("port", hba.name, rate, f"{format_bit_rate(gigabits * 1e9)} {hba.transport.value}")
    rates = [target.rate_bits_per_second for target in hba.targets if target.rate_bits_per_second is not None]
    if hba.transport is Transport.SAS and rates:
        known = [_SAS_BYTES.get(rate / 1e9) for rate in rates]
        total = sum(rate for rate in known if rate is not None)
        return Stage("port", hba.name, total or None, f"{len(rates)} SAS end devices at their phys' rates")
    return None


def _nic_port(nic: Nic, rdma_ports: Sequence[RdmaPort]) -> Stage:
    speed = nic.speed_bits_per_second
    if speed is None:
        return Stage("port", nic.name, None, "link down or speed unknown")
    if nic.kind == "ipoib":
        own = [port for port in rdma_ports if port.device in nic.rdma and port.rate_bits_per_second == speed]
        rate = min(filter(None, map(infiniband_bytes_per_second, own)), default=speed / 8)
        return Stage("port", nic.name, rate, f"{format_bit_rate(speed)} InfiniBand, before packet headers")
    text = f"{format_bit_rate(speed)} Ethernet, MTU {nic.mtu}"
    return Stage("port", nic.name, ethernet_bytes_per_second(speed, nic.mtu), text)


def _endpoints(machine: Machine) -> Iterator[tuple[str, str | None, int | None, Stage | None]]:
    """Name, PCI address, node and port of everything that moves data for a database; ports that are down move none."""
    for controller in machine.nvme_controllers:
        if controller.pci_address is not None and controller.transport != "fc":  # that one is its adapter's
            yield controller.name, controller.pci_address, controller.node, None
    for hba in machine.hbas:
        if hba.transport not in (Transport.FC, Transport.FCOE) or hba.state in (None, "Online"):
            yield hba.name, hba.pci_address, hba.node, _hba_port(hba)
    for nic in machine.nics:
        if nic.pci_address is not None and nic.kind in PORTS and nic.up is not False:
            yield nic.name, nic.pci_address, nic.node, _nic_port(nic, machine.rdma_ports)


def _edges(address: str, functions: dict[str, PciFunction]) -> list[PciFunction]:
    """The functions at the lower end of each edge from the device up to its root port."""
    edges: list[PciFunction] = []
    function = functions.get(address)
    if function is not None and function.virtual_function_of in functions:
        function = functions[function.virtual_function_of or ""]  # it has no link of its own
    while function is not None and function.parent is not None and len(edges) < _DEPTH_LIMIT:
        edges.append(function)
        function = functions.get(function.parent)
        # A switch has an upstream port and, behind an inner bus without a link, downstream ports.
        while function is not None and function.parent in functions and function.link is None:
            function = functions[function.parent or ""]
    return edges


def bandwidth_budgets(machine: Machine) -> tuple[PathBudget, ...]:
    """One budget for each NVMe controller, host adapter and physical interface on PCI Express.

    Where the path over PCI Express is unknown, a port of known speed still limits what comes through it.
    """
    functions = {function.address: function for function in machine.pci}
    nodes = {node.os_id: node for node in machine.nodes}
    endpoints = []
    load: dict[str, dict[str, float]] = {}
    for name, address, number, port in _endpoints(machine):
        edges = [] if address is None else _edges(address, functions)
        demand = None if port is None else port.bytes_per_second
        if not edges and demand is None:
            continue
        links = []
        for at, edge in enumerate(edges):
            kind = "link" if at == 0 else "uplink" if at < len(edges) - 1 else "root port"
            rate = None if edge.link is None else link_bytes_per_second(edge.link)
            text = f"{edge.link.gigatransfers:g} GT/s x{edge.link.width}" if edge.link else "no link speed reported"
            links.append(Stage(kind, edge.address, rate, text))
            # On its own link a device of unknown speed asks for nothing that is known.
            load.setdefault(device_of(edge.address), {})[name] = demand or 0.0
            demand = min((each for each in (demand, rate) if each), default=None)
        endpoints.append((name, address, number, port, links))
    budgets = []
    for name, address, number, port, links in endpoints:
        shares = []
        stages = [] if port is None else [port]
        for link in links:
            users = load[device_of(link.subject)]
            others = tuple(user for user in users if user != name)
            wanted = sum(users.values()) if others else None
            stages.append(Stage(link.name, link.subject, link.bytes_per_second, link.source, others, wanted or None))
            if link.bytes_per_second is not None and wanted and wanted > link.bytes_per_second:
                shares.append(link.bytes_per_second * users[name] / wanted)
        if (node := nodes.get(-1 if number is None else number)) is not None:
            if len(machine.packages) > 1 and node.packages:
                text = "crossed by memory of other packages; the NUMA probe measures it"
                stages.append(Stage("interconnect", f"package {min(node.packages)}", None, text))
            read = None if node.access is None else node.access.read_bytes_per_second
            text = "not stated by the firmware; the memory probe measures it" if read is None else "firmware's HMAT"
            stages.append(Stage("memory", f"node {number}", None if read is None else float(read), text))
        known = [stage for stage in stages if stage.bytes_per_second is not None]
        least = min(known, key=lambda stage: stage.bytes_per_second or 0.0, default=None)
        budgets.append(
            PathBudget(
                device=name,
                pci_address=address,
                node=number,
                stages=tuple(stages),
                limit_bytes_per_second=None if least is None else least.bytes_per_second,
                narrowest=None if least is None else f"{least.name} {least.subject} ({least.source})",
                share_bytes_per_second=min(shares, default=None),
            )
        )
    return tuple(budgets)
