"""Findings about the paths to storage: what all of them have in common, and ports below their speed."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.model.storage import Hba, MultipathMap, Path, Transport
from sizeup.text import first_of, plural
from sizeup.units import format_bit_rate

_FC = (Transport.FC, Transport.FCOE)
_REAL = (*_FC, Transport.SAS, Transport.ISCSI)
"""Transports with redundant hardware; a hypervisor's paths say nothing of the host's."""
_MAPS_NAMED = 8


def slow_ports(machine: Machine) -> Iterator[Finding]:
    """Fibre Channel ports whose link came up below what the port can do."""
    for hba in machine.hbas:
        speed, best = hba.speed_bits_per_second, max(hba.supported_bits_per_second, default=None)
        if hba.transport not in _FC or speed is None or best is None or speed >= best:
            continue
        yield Finding(
            "fc.slow-port",
            Severity.INFO,
            f"Fibre Channel port {hba.name} runs at {format_bit_rate(speed)}, and can do {format_bit_rate(best)}",
            (
                f"{hba.name} (fc_host): speed {format_bit_rate(speed)}",
                f"supported: {', '.join(map(format_bit_rate, hba.supported_bits_per_second))}",
            ),
            f"It carries at most {speed / best:.0%} of the bandwidth that it could.",
            "Nothing to do if the switch or the array is no faster; otherwise check the optics, and the speed that is "
            "set at both ends.",
            (f"hba:{hba.name}",),
            command=f"grep . /sys/class/fc_host/{quote(hba.name)}/speed /sys/class/fc_host/{quote(hba.name)}"
            "/supported_speeds",
            quantity="storage.bandwidth",
        )


def single_points(machine: Machine) -> Iterator[Finding]:
    """Maps with several paths, all of which end with the failure of one part."""
    hbas = {hba.name: hba for hba in machine.hbas}
    alike: dict[str, list[MultipathMap]] = {}
    if machine.platform.is_guest:
        return
    for found in machine.maps:
        if len(found.paths) > 1 and all(_is_real(path) for path in found.paths):
            parts = tuple(_shared_parts(found, hbas))
            if parts:
                alike.setdefault(" and ".join(parts), []).append(found)
    for part, maps in alike.items():
        names = [found.name for found in maps]
        listed = first_of(names, _MAPS_NAMED)
        native = not maps[0].device.startswith("dm-")
        yield Finding(
            "multipath.single-point",
            Severity.INFO,
            f"All paths of {plural(len(names), 'device')} go over {part}",
            (f"devices: {listed}", f"{names[0]}: {plural(len(maps[0].paths), 'path')}, all over {part}"),
            "If that fails, the devices are not available, however many paths they have.",
            "Nothing to do if that is accepted; otherwise spread the paths over a second one.",
            tuple(f"map:{name}" for name in names),
            command=f"nvme list-subsys /dev/{quote(maps[0].device)}" if native else f"multipath -ll {quote(names[0])}",
        )


def _is_real(path: Path) -> bool:
    return path.transport in _REAL or (path.transport is None and path.hctl is None and path.initiator is not None)


def _shared_parts(found: MultipathMap, hbas: dict[str, Hba]) -> Iterator[str]:
    """What all paths of a map go over: the narrowest of adapter port and card, then interface, then target port."""
    paths = found.paths
    adapters = {path.hba for path in paths}
    cards = {_card(path.pci_address) for path in paths}
    nics = {path.net_device for path in paths}
    if None not in nics and len(nics) == 1:
        yield f"the interface {nics.pop()}"
    elif None not in adapters and len(adapters) == 1 and paths[0].transport in (*_FC, Transport.SAS):
        name = adapters.pop() or ""
        yield f"the port {name}" if hbas.get(name) is not None else f"the adapter {name}"
    elif None not in cards and len(cards) == 1 and paths[0].transport in (*_FC, Transport.SAS):
        yield f"the card at {cards.pop()}"
    targets = {path.target for path in paths}
    if None not in targets and len(targets) == 1 and paths[0].transport is not None:
        yield f"the target port {targets.pop()}"


def _card(address: str | None) -> str | None:
    """Return the address of a device without its function; the functions of one card fail together."""
    return None if address is None else address.rpartition(".")[0]
