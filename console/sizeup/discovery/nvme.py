"""NVMe controllers, namespaces and subsystems from ``/sys/class/nvme*``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sizeup.discovery.block import size_of
from sizeup.discovery.device_parents import PCI_ADDRESS, DeviceParents
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.storage import NvmeController, NvmeNamespace, NvmePath, NvmeSubsystem
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
        temperature, critical = _temperatures(sysroot, base, state)
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
                temperature_celsius=temperature,
                critical_celsius=critical,
            )
        )
    return tuple(found)


def _temperatures(sysroot: Sysroot, base: str, state: str | None) -> tuple[float | None, float | None]:
    """The drive's temperature and its critical one, in degrees Celsius.

    The kernel asks the drive for it: one that is not live would make the reader wait.
    """
    if state != "live":
        return None, None
    own = [f"{base}/{name}" for name in sysroot.names(base) if _SENSOR.fullmatch(name)]
    # Before Linux 5.15 it hung on the PCI function.
    own = own or [f"{base}/device/hwmon/{name}" for name in sysroot.names(f"{base}/device/hwmon")]
    if not own:
        return None, None
    return _celsius(sysroot, f"{own[0]}/temp1_input"), _celsius(sysroot, f"{own[0]}/temp1_crit")


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


def _paths(sysroot: Sysroot, base: str, namespace: str, controllers: tuple[str, ...]) -> tuple[NvmePath, ...]:
    """The hidden devices behind a shared namespace: nvme1c2n1 is nvme1n1 over controller nvme2."""
    subsystem, _, number = namespace.removeprefix("nvme").partition("n")
    own = re.compile(rf"nvme{subsystem}c\d{{1,5}}n{number}")
    paths = []
    for controller in controllers:
        for name in _matching(sysroot.names(f"{base}/{controller}"), own):
            where = f"{base}/{controller}/{name}"
            nodes = sysroot.parsed(f"{where}/numa_nodes", parse_cpulist) or ()
            paths.append(NvmePath(name, controller, sysroot.line(f"{where}/ana_state"), nodes))
    return tuple(paths)


def read_nvme_namespaces(sysroot: Sysroot, subsystems: tuple[NvmeSubsystem, ...]) -> tuple[NvmeNamespace, ...]:
    """Namespaces as they are used: one each, whatever the number of paths to it."""
    found: dict[str, NvmeNamespace] = {}
    for subsystem in subsystems:
        base = f"{_SUBSYSTEMS}/{subsystem.name}"
        for name in subsystem.namespaces:
            where = f"{base}/{name}"
            paths = _paths(sysroot, base, name, subsystem.controllers)
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
                paths=paths,
                logical_block_bytes=sysroot.integer(f"{where}/queue/logical_block_size"),
                metadata_bytes=sysroot.integer(f"{where}/metadata_bytes"),
            )
    for controller in _matching(sysroot.names(_CLASS), _CONTROLLER):  # captures without subsystems
        for name in _matching(sysroot.names(f"{_CLASS}/{controller}"), _NAMESPACE):
            where = f"{_CLASS}/{controller}/{name}"
            size, number = size_of(sysroot, f"{where}/size"), sysroot.integer(f"{where}/nsid")
            found.setdefault(name, NvmeNamespace(name, None, number, size, controllers=(controller,)))
    return tuple(found.values())
