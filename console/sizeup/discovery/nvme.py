"""NVMe controllers, namespaces and subsystems from ``/sys/class/nvme*``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial

from msgspec.structs import replace

from sizeup.discovery.block import size_of
from sizeup.discovery.device_parents import PCI_ADDRESS, DeviceParents
from sizeup.discovery.sysroot import ANSWERS, Sysroot
from sizeup.model.storage import MultipathMap, NvmeController, NvmeHealth, NvmeNamespace, NvmePath, NvmeSubsystem, Path
from sizeup.procfs.device_questions import ask_health, parse_health
from sizeup.procfs.lists import parse_cpulist

_CLASS = "/sys/class/nvme"
_SUBSYSTEMS = "/sys/class/nvme-subsystem"
_CONTROLLER = re.compile(r"nvme\d{1,5}")
_NAMESPACE = re.compile(r"nvme\d{1,5}n\d{1,8}")
_SENSOR = re.compile(r"hwmon\d{1,5}")


def _matching(names: Iterable[str], pattern: re.Pattern[str]) -> tuple[str, ...]:
    found = [name for name in names if pattern.fullmatch(name)]
    return tuple(sorted(found, key=lambda name: (len(name), name)))


def read_nvme_controllers(
    sysroot: Sysroot, parents: DeviceParents, subsystems: tuple[NvmeSubsystem, ...]
) -> tuple[NvmeController, ...]:
    """All controllers, local and over fabrics."""
    subsystem_of = {controller: subsystem.name for subsystem in subsystems for controller in subsystem.controllers}
    found = []
    for name in _matching(sysroot.names(_CLASS), _CONTROLLER):
        base = f"{_CLASS}/{name}"
        location = parents.locate(base)
        address = sysroot.line(f"{base}/address")
        pci = location.pci_address
        if pci is None and address is not None and PCI_ADDRESS.fullmatch(address):
            pci = address
        own = sysroot.count(f"{base}/numa_node")
        state = sysroot.line(f"{base}/state")
        sensors = []
        if state == "live":  # the kernel asks the drive: one that is not live would make the reader wait
            sensors = [f"{base}/{entry}" for entry in sysroot.names(base) if _SENSOR.fullmatch(entry)]
            # Before Linux 5.15 it hung on the PCI function.
            sensors = sensors or [f"{base}/device/hwmon/{entry}" for entry in sysroot.names(f"{base}/device/hwmon")]
        found.append(
            NvmeController(
                name=name,
                transport=sysroot.line(f"{base}/transport"),
                address=address,
                pci_address=pci,
                node=location.node if own is None else own,
                model=sysroot.line(f"{base}/model"),
                serial=sysroot.line(f"{base}/serial"),
                firmware=sysroot.line(f"{base}/firmware_rev"),
                state=state,
                subsystem_nqn=sysroot.line(f"{base}/subsysnqn"),
                subsystem=subsystem_of.get(name),
                controller_id=sysroot.integer(f"{base}/cntlid"),
                queues=sysroot.integer(f"{base}/queue_count"),
                queue_depth_limit=sysroot.integer(f"{base}/sqsize"),
                temperature_celsius=_celsius(sysroot, f"{sensors[0]}/temp1_input") if sensors else None,
                critical_celsius=_celsius(sysroot, f"{sensors[0]}/temp1_crit") if sensors else None,
            )
        )
    return tuple(found)


def _celsius(sysroot: Sysroot, path: str) -> float | None:
    value = sysroot.integer(path)
    return value / 1000 if value is not None and -100_000 < value < 1_000_000 else None


def read_nvme_subsystems(sysroot: Sysroot) -> tuple[NvmeSubsystem, ...]:
    """Subsystems with their controllers and the namespaces that native multipath puts under them."""
    found = []
    for name in sorted(sysroot.names(_SUBSYSTEMS)):
        base = f"{_SUBSYSTEMS}/{name}"
        entries = sysroot.names(base)
        controllers = _matching(entries, _CONTROLLER)
        shared = _matching(entries, _NAMESPACE)
        own = (
            namespace
            for controller in controllers
            for namespace in _matching(sysroot.names(f"{base}/{controller}"), _NAMESPACE)
        )
        found.append(
            NvmeSubsystem(
                name=name,
                nqn=sysroot.line(f"{base}/subsysnqn"),
                io_policy=sysroot.line(f"{base}/iopolicy"),
                controllers=controllers,
                namespaces=tuple(dict.fromkeys((*shared, *own))),
            )
        )
    return tuple(found)


def read_nvme_namespaces(sysroot: Sysroot, subsystems: tuple[NvmeSubsystem, ...]) -> tuple[NvmeNamespace, ...]:
    """Namespaces as they are used: one each, whatever the number of paths to it."""
    found: dict[str, NvmeNamespace] = {}
    for subsystem in subsystems:
        base = f"{_SUBSYSTEMS}/{subsystem.name}"
        for name in subsystem.namespaces:
            where = f"{base}/{name}"
            # The hidden devices behind a shared namespace: nvme1c2n1 is nvme1n1 over controller nvme2.
            instance, _, own = name.removeprefix("nvme").partition("n")
            hidden = re.compile(rf"nvme{instance}c\d{{1,5}}n{own}")
            paths = []
            for controller in subsystem.controllers:
                for path in _matching(sysroot.names(f"{base}/{controller}"), hidden):
                    state = sysroot.line(f"{base}/{controller}/{path}/ana_state")
                    nearest = sysroot.parsed(f"{base}/{controller}/{path}/numa_nodes", parse_cpulist)
                    paths.append(NvmePath(path, controller, state, nearest or ()))
            controllers = tuple(path.controller for path in paths)
            if not sysroot.exists(where):
                controllers = tuple(c for c in subsystem.controllers if sysroot.exists(f"{base}/{c}/{name}"))
                where = f"{base}/{controllers[0]}/{name}" if controllers else where
            found[name] = NvmeNamespace(
                name=name,
                subsystem=subsystem.name,
                namespace_id=sysroot.integer(f"{where}/nsid"),
                size_bytes=size_of(sysroot, f"{where}/size"),
                controllers=controllers,
                paths=tuple(paths),
                logical_block_bytes=sysroot.integer(f"{where}/queue/logical_block_size"),
                metadata_bytes=sysroot.integer(f"{where}/metadata_bytes"),
            )
    for controller in _matching(sysroot.names(_CLASS), _CONTROLLER):  # captures without subsystems
        for name in _matching(sysroot.names(f"{_CLASS}/{controller}"), _NAMESPACE):
            where = f"{_CLASS}/{controller}/{name}"
            size, number = size_of(sysroot, f"{where}/size"), sysroot.integer(f"{where}/nsid")
            found.setdefault(name, NvmeNamespace(name, None, number, size, controllers=(controller,)))
    return tuple(found.values())


def with_health(sysroot: Sysroot, controllers: tuple[NvmeController, ...]) -> tuple[NvmeController, ...]:
    """Return the controllers with the health log of those on PCI that are live, as they answer."""

    def health(name: str) -> NvmeHealth | None:
        question = partial(ask_health, name, sysroot.line(f"{_CLASS}/{name}/dev"))
        return sysroot.asked(f"{ANSWERS}/nvme/{name}/smart-log", question, parse_health)

    return tuple(
        replace(one, health=health(one.name)) if one.transport == "pcie" and one.state == "live" else one
        for one in controllers
    )


def nvme_maps(
    namespaces: tuple[NvmeNamespace, ...], controllers: tuple[NvmeController, ...]
) -> tuple[MultipathMap, ...]:
    """Namespaces that native multipath reaches over several controllers."""
    by_name = {controller.name: controller for controller in controllers}
    maps = []
    for namespace in namespaces:
        paths = []
        for path in namespace.paths:
            controller = by_name.get(path.controller, NvmeController(path.controller, None, None))
            paths.append(
                Path(
                    device=path.name,
                    hba=path.controller,
                    initiator=controller.transport,
                    target=controller.address,
                    pci_address=controller.pci_address,
                    node=controller.node,
                    state=controller.state,
                    access_state=path.ana_state,
                    net_device=controller.net_device,
                )
            )
        if len(paths) > 1:
            maps.append(MultipathMap(namespace.name, namespace.name, namespace.size_bytes, None, None, tuple(paths)))
    return tuple(maps)
