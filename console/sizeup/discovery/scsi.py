"""SCSI hosts and the transports behind them: FC, FCoE, SAS, iSCSI, SATA, RAID (scsi_host, fc_host, sas_*, iscsi_*).

A host is known by its number; what its transport class says is joined to it, and the target ports
behind it are found again in the path of each SCSI device.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sizeup.decoding import data_beside
from sizeup.discovery.device_parents import DeviceLocation, DeviceParents
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.storage import BlockDevice, BlockKind, Hba, MultipathMap, Path, ScsiDevice, TargetPort, Transport

_HOSTS = "/sys/class/scsi_host"
_FC_HOSTS = "/sys/class/fc_host"
_FC_TARGETS = "/sys/class/fc_remote_ports"
_SAS_HOSTS = "/sys/class/sas_host"
_SAS_PHYS = "/sys/class/sas_phy"
_SAS_DEVICES = "/sys/class/sas_device"
_ISCSI_HOSTS = "/sys/class/iscsi_host"
_ISCSI_SESSIONS = "/sys/class/iscsi_session"
_ISCSI_CONNECTIONS = "/sys/class/iscsi_connection"
SCSI_DEVICES = "/sys/bus/scsi/devices"
"""The directory of all logical units; also the subject of the gap that says why some are unknown."""

_HOST = re.compile(r"host\d{1,6}")
_HCTL = re.compile(r"\d{1,6}:\d{1,6}:\d{1,6}:\d{1,20}")
_RATE = re.compile(r"(\d{1,4}(?:\.\d)?) ?Gbit")
_DEVICES_LIMIT = 1 << 15
_DISK = 0  # peripheral device type

_UNSUPPORTED_COUNTER = (1 << 64) - 1
_FC_WORD = 4

_DRIVERS: dict[str, Transport] = data_beside(__file__, "scsi_drivers.toml", dict[str, Transport])


def parse_rate(text: str) -> int | None:
    """Bits per second of ``16 Gbit`` or ``3.0 Gbit``; None for ``unknown`` and failed links."""
    match = _RATE.match(text)
    return None if match is None else round(float(match[1]) * 1e9)


def _text(sysroot: Sysroot, path: str) -> str | None:
    """A line that the kernel may refuse while a link is down, or fill with its word for nothing."""
    text = sysroot.line_if_any(path)
    return None if text in ("<NULL>", "(null)") else text


def _wwn(sysroot: Sysroot, path: str) -> str | None:
    """A world-wide name without its 0x; None where it is all zeros."""
    bare = (_text(sysroot, path) or "").removeprefix("0x")
    return bare if bare.strip("0") else None


def _counter(sysroot: Sysroot, path: str) -> int | None:
    value = sysroot.integer(path)
    return None if value is None or value == _UNSUPPORTED_COUNTER else value * _FC_WORD


def _host_of(text: str) -> str | None:
    """The host in a transport object's name or path: ``rport-11:0-0`` belongs to host11."""
    match = re.search(r"-(\d{1,6}):", text)
    return None if match is None else f"host{match[1]}"


def _fc_targets(sysroot: Sysroot) -> Iterator[tuple[str, TargetPort]]:
    """Remote ports that are targets, each with its host."""
    for name in sorted(sysroot.names(_FC_TARGETS)):
        base = f"{_FC_TARGETS}/{name}"
        roles = _text(sysroot, f"{base}/roles")
        host = _host_of(name)
        if host is not None and (roles is None or "Target" in roles):
            yield (
                host,
                TargetPort(
                    name=_wwn(sysroot, f"{base}/port_name") or name,
                    node_name=_wwn(sysroot, f"{base}/node_name"),
                    address=_text(sysroot, f"{base}/port_id"),
                    state=_text(sysroot, f"{base}/port_state"),
                    roles=roles,
                    sysfs_name=name,
                ),
            )


def _sas_targets(sysroot: Sysroot) -> Iterator[tuple[str, TargetPort]]:
    """End devices, each with its host; the rate is that of the phy that leads to it."""
    rates: dict[str, int] = {}
    for name in sysroot.names(_SAS_PHYS):
        rate = parse_rate(_text(sysroot, f"{_SAS_PHYS}/{name}/negotiated_linkrate") or "")
        path = sysroot.realpath(f"{_SAS_PHYS}/{name}/device/port") or ""
        if rate is not None and path:
            rates[path.rpartition("/")[2]] = rate
    for name in sorted(sysroot.names(_SAS_DEVICES)):
        host = _host_of(name)
        if host is not None and name.startswith("end_device-"):
            address = _wwn(sysroot, f"{_SAS_DEVICES}/{name}/sas_address")
            rate = rates.get("port-" + name.removeprefix("end_device-"))
            yield host, TargetPort(address or name, rate_bits_per_second=rate, sysfs_name=name)


def _iscsi_targets(sysroot: Sysroot) -> Iterator[tuple[str, TargetPort]]:
    """Sessions with the portal of their first connection, each with its host."""
    portals: dict[str, str] = {}
    for name in sorted(sysroot.names(_ISCSI_CONNECTIONS)):
        base = f"{_ISCSI_CONNECTIONS}/{name}"
        address, port = _text(sysroot, f"{base}/address"), _text(sysroot, f"{base}/port")
        session = re.match(r"connection(\d{1,6}):", name)
        if session is not None and address is not None:
            ip = f"[{address}]" if ":" in address else address
            portals.setdefault(f"session{session[1]}", f"{ip}:{port}" if port else ip)
    for name in sorted(sysroot.names(_ISCSI_SESSIONS)):
        base = f"{_ISCSI_SESSIONS}/{name}"
        host = re.search(r"/(host\d{1,6})/", sysroot.realpath(base) or "")
        if host is not None:
            yield (
                host[1],
                TargetPort(
                    name=_text(sysroot, f"{base}/targetname") or name,
                    address=portals.get(name),
                    state=_text(sysroot, f"{base}/state"),
                    sysfs_name=name,
                ),
            )


def _transport(sysroot: Sysroot, name: str, driver: str | None, location: DeviceLocation) -> Transport:
    if sysroot.names(f"{_FC_HOSTS}/{name}"):
        return Transport.FCOE if location.path is not None and "/net/" in location.path else Transport.FC
    if sysroot.names(f"{_ISCSI_HOSTS}/{name}"):
        return Transport.ISCSI
    if driver in _DRIVERS:
        return _DRIVERS[driver]
    if sysroot.names(f"{_SAS_HOSTS}/{name}"):
        return Transport.SAS
    path = location.path or ""
    if "/ata" in path:
        return Transport.SATA
    if sysroot.names(f"/sys/class/spi_host/{name}"):
        return Transport.SPI
    if "/virtio" in path:
        return Transport.VIRTIO
    return Transport.USB if "/usb" in path else Transport.OTHER


_MODEL = ("model_name", "modelname", "board_name", "model")
_FIRMWARE = ("fw_version", "fwrev", "firmware_revision", "firmware_version", "version_fw", "hba_bios_version")
"""Names of drivers for the same: qla2xxx, lpfc, mpt3sas, smartpqi and aacraid; hpsa; aacraid."""


_WITH_FIRMWARE = (Transport.FC, Transport.FCOE, Transport.SAS, Transport.RAID, Transport.ISCSI)


def _read_hba(sysroot: Sysroot, parents: DeviceParents, name: str, targets: tuple[TargetPort, ...]) -> Hba:
    base = f"{_HOSTS}/{name}"
    classes = (base, f"{_FC_HOSTS}/{name}", f"{_SAS_HOSTS}/{name}", f"{_ISCSI_HOSTS}/{name}")
    location = next(
        (location for path in classes if (location := parents.locate(path)).path is not None), DeviceLocation(None)
    )
    driver = _text(sysroot, f"{base}/proc_name")
    transport = _transport(sysroot, name, driver, location)
    fc = f"{_FC_HOSTS}/{name}"
    net = re.search(r"/net/([^/]+)/", location.path or "")
    supported = (_text(sysroot, f"{fc}/supported_speeds") or "").split(",")
    phys = None
    if sysroot.names(f"{_SAS_HOSTS}/{name}"):
        phys = sum(entry.startswith("phy-") for entry in sysroot.names(f"{_SAS_HOSTS}/{name}/device"))
    online = _text(sysroot, f"{fc}/port_state")
    # Ports of a board and hosts in software have neither model nor firmware of their own.
    files = frozenset(sysroot.names(base)) if transport in _WITH_FIRMWARE else frozenset[str]()

    def first(names: tuple[str, ...]) -> str | None:
        return next((text for name in names if name in files and (text := _text(sysroot, f"{base}/{name}"))), None)

    return Hba(
        name=name,
        transport=transport,
        driver=driver,
        pci_address=location.pci_address,
        node=location.node,
        port_name=_wwn(sysroot, f"{fc}/port_name")
        or _wwn(sysroot, f"{base}/host_sas_address")
        or _text(sysroot, f"{_ISCSI_HOSTS}/{name}/initiatorname"),
        node_name=_wwn(sysroot, f"{fc}/node_name"),
        fabric_name=_wwn(sysroot, f"{fc}/fabric_name"),
        port_type=_text(sysroot, f"{fc}/port_type"),
        state=online or _text(sysroot, f"{base}/state"),
        speed_bits_per_second=parse_rate(_text(sysroot, f"{fc}/speed") or ""),
        supported_bits_per_second=tuple(rate for text in supported if (rate := parse_rate(text.strip())) is not None),
        symbolic_name=_text(sysroot, f"{fc}/symbolic_name"),
        model=first(_MODEL) or _text(sysroot, f"{fc}/model"),
        firmware=first(_FIRMWARE) or _text(sysroot, f"{fc}/firmware_version"),
        queue_depth_limit=sysroot.integer(f"{base}/can_queue"),
        lun_queue_depth=sysroot.integer(f"{base}/cmd_per_lun"),
        hardware_queues=sysroot.integer(f"{base}/nr_hw_queues"),
        net_device=_text(sysroot, f"{_ISCSI_HOSTS}/{name}/netdev") or (net[1] if net else None),
        local_address=_text(sysroot, f"{_ISCSI_HOSTS}/{name}/ipaddress") if transport is Transport.ISCSI else None,
        phys=phys,
        targets=targets,
        received_bytes=_counter(sysroot, f"{fc}/statistics/rx_words"),
        sent_bytes=_counter(sysroot, f"{fc}/statistics/tx_words"),
    )


def read_hbas(sysroot: Sysroot, parents: DeviceParents) -> tuple[Hba, ...]:
    """All SCSI hosts by number, with the target ports behind them."""
    names = {
        name
        for directory in (_HOSTS, _FC_HOSTS, _SAS_HOSTS, _ISCSI_HOSTS)
        for name in sysroot.names(directory)
        if _HOST.fullmatch(name)
    }
    targets: dict[str, list[TargetPort]] = {}
    for host, port in (*_fc_targets(sysroot), *_sas_targets(sysroot), *_iscsi_targets(sysroot)):
        targets.setdefault(host, []).append(port)
    ordered = sorted(names, key=lambda name: int(name.removeprefix("host")))
    return tuple(_read_hba(sysroot, parents, name, tuple(targets.get(name, ()))) for name in ordered)


def read_scsi_devices(
    sysroot: Sysroot, hbas: tuple[Hba, ...], disks: Mapping[str, BlockDevice]
) -> tuple[ScsiDevice, ...]:
    """All logical units, a path each; ``disks`` are the block devices by H:C:T:L, of which most is known already.

    Where a capture lacks the list, they are the disks, and other units are unknown.
    """
    by_name = {hba.name: hba for hba in hbas}
    names = sorted(
        (name for name in sysroot.names(SCSI_DEVICES) or disks if _HCTL.fullmatch(name)),
        key=lambda name: tuple(map(int, name.split(":"))),
    )
    if hbas and not sysroot.whole and not sysroot.exists(SCSI_DEVICES):
        sysroot.note(SCSI_DEVICES, "missing")
    found = []
    for name in names[:_DEVICES_LIMIT]:
        base = f"{SCSI_DEVICES}/{name}"
        host = f"host{name.partition(':')[0]}"
        disk = disks.get(name)
        kind = _DISK if disk is not None and disk.kind is BlockKind.SCSI else sysroot.integer(f"{base}/type")
        hba, parts = by_name.get(host), set((sysroot.realpath(base) or "").split("/"))
        ports = () if hba is None else (port.name for port in hba.targets if port.sysfs_name in parts)

        def fact(file: str, known: str | None, base: str = base) -> str | None:
            return known or _text(sysroot, f"{base}/{file}")

        found.append(
            ScsiDevice(
                hctl=name,
                kind=-1 if kind is None else kind,
                hba=host,
                block_device=None if disk is None else disk.name,
                vendor=fact("vendor", disk.vendor if disk else None),
                model=fact("model", disk.model if disk else None),
                state=fact("state", disk.state if disk else None),
                queue_depth=sysroot.integer(f"{base}/queue_depth"),
                target=next(iter(ports), None),
                wwn=fact("wwid", disk.wwn if disk else None),
                access_state=fact("access_state", None),
            )
        )
    return tuple(found)


def _scsi_path(name: str, device: BlockDevice | None, hbas: dict[str, Hba], units: dict[str, ScsiDevice]) -> Path:
    hctl = None if device is None else device.hctl
    unit = units.get(hctl or "")
    hba = hbas.get(f"host{hctl.partition(':')[0]}") if hctl is not None else None
    target = None
    if unit is not None and hba is not None:
        target = next((port for port in hba.targets if port.name == unit.target), None)
    # All portals of an iSCSI target share its name.
    by_portal = hba is not None and hba.transport is Transport.ISCSI
    speed = None if hba is None else hba.speed_bits_per_second
    if speed is None and target is not None:
        speed = target.rate_bits_per_second
    return Path(
        device=name,
        hctl=hctl,
        hba=None if hba is None else hba.name,
        transport=None if hba is None else hba.transport,
        initiator=None if hba is None else hba.port_name,
        target=None if target is None else target.address if by_portal else target.name,
        pci_address=device.pci_address if device is not None else None,
        node=device.node if device is not None and device.node is not None else hba.node if hba is not None else None,
        state=(unit.state if unit else None) or (device.state if device is not None else None),
        speed_bits_per_second=speed,
        access_state=unit.access_state if unit else None,
        net_device=None if hba is None else hba.net_device,
    )


def multipath_maps(
    devices: tuple[BlockDevice, ...], hbas: tuple[Hba, ...], units: tuple[ScsiDevice, ...]
) -> tuple[MultipathMap, ...]:
    """The maps of device-mapper."""
    by_name = {device.name: device for device in devices}
    hosts = {hba.name: hba for hba in hbas}
    by_hctl = {unit.hctl: unit for unit in units}
    return tuple(
        MultipathMap(
            name=device.dm_name or device.name,
            device=device.name,
            size_bytes=device.size_bytes,
            uuid=device.dm_uuid,
            suspended=device.suspended,
            paths=tuple(_scsi_path(name, by_name.get(name), hosts, by_hctl) for name in device.members),
        )
        for device in devices
        if device.kind is BlockKind.MULTIPATH
    )
