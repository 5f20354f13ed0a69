"""Multipath maps with every path traced: map, path, H:C:T:L, port, PCI function, node."""

from __future__ import annotations

from sizeup.model import storage


def _scsi_path(
    name: str, device: storage.BlockDevice | None, hbas: dict[str, storage.Hba], units: dict[str, storage.ScsiDevice]
) -> storage.Path:
    hctl = None if device is None else device.hctl
    unit = units.get(hctl or "")
    hba = hbas.get(f"host{hctl.partition(':')[0]}") if hctl is not None else None
    target = None
    if unit is not None and hba is not None:
        target = next((port for port in hba.targets if port.name == unit.target), None)
    # All portals of an iSCSI target share its name.
    by_portal = hba is not None and hba.transport is storage.Transport.ISCSI
    speed = None if hba is None else hba.speed_bits_per_second
    if speed is None and target is not None:
        speed = target.rate_bits_per_second
    return storage.Path(
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
    devices: tuple[storage.BlockDevice, ...], hbas: tuple[storage.Hba, ...], units: tuple[storage.ScsiDevice, ...]
) -> tuple[storage.MultipathMap, ...]:
    """The maps of device-mapper."""
    by_name = {device.name: device for device in devices}
    hosts = {hba.name: hba for hba in hbas}
    by_hctl = {unit.hctl: unit for unit in units}
    return tuple(
        storage.MultipathMap(
            name=device.dm_name or device.name,
            device=device.name,
            size_bytes=device.size_bytes,
            uuid=device.dm_uuid,
            suspended=device.suspended,
            paths=tuple(_scsi_path(name, by_name.get(name), hosts, by_hctl) for name in device.members),
        )
        for device in devices
        if device.kind is storage.BlockKind.MULTIPATH
    )


def nvme_maps(
    namespaces: tuple[storage.NvmeNamespace, ...], controllers: tuple[storage.NvmeController, ...]
) -> tuple[storage.MultipathMap, ...]:
    """Namespaces that native multipath reaches over several controllers."""
    by_name = {controller.name: controller for controller in controllers}
    maps = []
    for namespace in namespaces:
        if len(namespace.paths) < 2:
            continue
        paths = []
        for path in namespace.paths:
            controller = by_name.get(path.controller)
            paths.append(
                storage.Path(
                    device=path.name,
                    hctl=None,
                    hba=path.controller,
                    transport=None,
                    initiator=None if controller is None else controller.transport,
                    target=None if controller is None else controller.address,
                    pci_address=None if controller is None else controller.pci_address,
                    node=None if controller is None else controller.node,
                    state=None if controller is None else controller.state,
                    speed_bits_per_second=None,
                    access_state=path.ana_state,
                    net_device=None if controller is None else controller.net_device,
                )
            )
        maps.append(
            storage.MultipathMap(namespace.name, namespace.name, namespace.size_bytes, None, None, tuple(paths))
        )
    return tuple(maps)
