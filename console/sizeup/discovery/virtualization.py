"""What the machine runs under, by positive evidence alone: a hypervisor or bare metal, and the cloud that rents it out.

The order, and what each source can prove: the CPU's hypervisor flag (x86), ``/proc/sysinfo`` (s390, where even
the first level is a partition), the device tree, DMI, and paravirtual devices. Bare metal needs evidence of its
own: a flag that is absent says nothing on an architecture that never sets it. Without any it is unknown.

The type of a cloud's instance changes what the machine may use (vCPUs, network and disk bandwidth). Two files say it:
DMI, and what cloud-init kept of the provider's metadata when the machine booted. Nothing is asked of the network.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from sizeup.decoding import data_beside
from sizeup.discovery.cpuinfo import CpuInfo
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.machine import CloudInstance, PciFunction
from sizeup.procfs.kernel_file import Unreadable

DMI = "/sys/class/dmi/id"
"""The fields of the firmware's DMI table that the kernel shows as files."""
_HYPERVISOR_FIELDS = ("sys_vendor", "product_name", "board_vendor", "chassis_vendor", "bios_vendor")
_CLOUD_FIELDS = ("sys_vendor", "product_name", "product_version", "chassis_asset_tag")
_TREE = "/proc/device-tree"
_CLOCKS = "/sys/devices/system/clocksource/clocksource0/available_clocksource"

_PCI_VENDORS = {0x1B36: "qemu", 0x80EE: "virtualbox", 0x15AD: "vmware", 0x5853: "xen", 0x1AB8: "parallels"}
"""Vendors whose devices exist in virtual machines alone, the surest name first: QEMU imitates VMware's devices."""
_VIRTIO_VENDOR, _VIRTIO_DEVICES = 0x1AF4, range(0x1000, 0x1080)
_PCI_LINE = re.compile(r"^[0-9a-f]{4}\t([0-9a-f]{4})([0-9a-f]{4})\t", re.MULTILINE)

_XEN_DOM0_FEATURE = 11  # XENFEAT_dom0, include/xen/interface/features.h

DOM0 = "xen-dom0"
"""Name for the control domain of Xen: no guest, but its CPUs are virtual all the same."""
POWERVM = "phyp"
"""Name of the hypervisor of IBM POWER."""

INSTANCE_DATA = "/run/cloud-init/instance-data.json"
"""What cloud-init knows of the instance, without secrets (cloud-init, "Instance metadata")."""

_LOCAL = frozenset({"nocloud", "none", "configdrive", "lxd", "wsl", "maas", "unknown"})
"""Data sources that are no cloud: a disk or a program of the site delivers the configuration."""

_TYPE_PATHS = (
    ("ds", "meta_data", "instance-type"),
    ("ds", "meta_data", "instance_type"),
    ("ds", "meta_data", "instance", "instance-type"),
    ("ds", "meta_data", "imds", "compute", "vmSize"),
    ("ds", "meta_data", "machine-type"),
    ("ds", "meta_data", "shape"),
    ("ds", "ec2_metadata", "instance-type"),
    ("ds", "dynamic", "instance-identity", "document", "instanceType"),
)
"""Where the data sources of cloud-init keep the type: EC2, Alibaba, Azure, Google, Oracle, OpenStack."""

_TYPE = re.compile(r"[A-Za-z0-9](?:[\w.\-]|/(?=\w)){0,63}")


class _DmiNames(Struct, frozen=True, forbid_unknown_fields=True):
    """What texts of DMI say, by words in lower case."""

    placeholders: frozenset[str]
    """Texts that name nothing."""
    clouds: dict[str, str]
    cloud_init: dict[str, str]
    """Clouds by the names that cloud-init has for them."""
    hypervisors: dict[str, str]
    """Empty where the word does not settle which."""


def _known_names() -> _DmiNames:
    return data_beside(__file__, "dmi_names.toml", _DmiNames)  # type: ignore[no-any-return]


class Virtualization(Struct, frozen=True):
    """What the machine runs under."""

    hypervisor: str | None = None
    """None on bare metal, where it is unknown, and where the evidence does not settle which."""
    is_guest: bool | None = None
    evidence: str | None = None
    """What settled ``is_guest``, in words; None where nothing did."""


def _dmi_hypervisor(dmi: dict[str, str]) -> tuple[str | None, str] | None:
    """The hypervisor that DMI names, perhaps without saying which, and the name that says so."""
    for word, name in _known_names().hypervisors.items():
        for field, text in dmi.items():
            if re.search(rf"\b{word}\b", text.lower()):
                return name or None, f"DMI {field}: {text}"
    product = dmi.get("product_name", "").lower()
    for field, text in dmi.items():
        # Bare-metal instances carry the same vendor; their products end in .metal.
        if "amazon ec2" in text.lower() and ".metal" not in product:
            return "kvm", f"DMI {field}: {text}"
        if "microsoft" in text.lower() and "virtual machine" in product:
            return "hyperv", f"DMI {field}: {text}, product_name: {dmi['product_name']}"
    return None


def _names_a_product(dmi: dict[str, str]) -> bool:
    """DMI names a maker and a product; Google names its virtual and its bare-metal instances alike."""
    vendor, product = (dmi.get(name, "").strip().lower() for name in ("sys_vendor", "product_name"))
    return _known_names().placeholders.isdisjoint((vendor, product)) and "google" not in f"{vendor} {product}"


def _paravirtual(sysroot: Sysroot, functions: Iterable[PciFunction]) -> tuple[str | None, str] | None:
    """A device that exists in virtual machines alone, with the hypervisor where it settles which."""
    listed = sysroot.read("/proc/bus/pci/devices")
    pci = {(function.vendor or 0, function.device or 0) for function in functions}
    if listed is not None:
        pci = {(int(vendor, 16), int(device, 16)) for vendor, device in _PCI_LINE.findall(listed)}
    kind = sysroot.line("/sys/hypervisor/type")
    if kind is not None:
        return kind, f"/sys/hypervisor/type: {kind}"
    for bus, name in (("vmbus", "hyperv"), ("xen", "xen")):
        if sysroot.names(f"/sys/bus/{bus}/devices"):
            return name, f"devices on /sys/bus/{bus}"
    for vendor, known in _PCI_VENDORS.items():
        if any(found == vendor for found, _ in pci):
            return known, f"PCI devices of vendor {vendor:04x} ({known})"
    if any(vendor == _VIRTIO_VENDOR and device in _VIRTIO_DEVICES for vendor, device in pci):
        return None, "virtio devices on PCI"
    for name in sysroot.names("/sys/bus/virtio/devices"):
        # Coprocessors of physical systems speak virtio, too; guests find it on PCI, MMIO or s390's channels.
        path = sysroot.realpath(f"/sys/bus/virtio/devices/{name}") or ""
        if any(part in path for part in ("/pci", "virtio-mmio", "virtio_mmio", "LNRO0005", "/css")):
            return None, f"virtio device {name}"
    return None


def _sysinfo(sysroot: Sysroot) -> tuple[str, str] | None:
    """The level that s390 runs at: its own is VM00, and below all virtual machines lies a partition."""
    text = sysroot.read("/proc/sysinfo") or ""
    program = re.search(r"^VM00 Control Program: *(\S.*?) *$", text, re.MULTILINE)
    if program is not None:
        names = (("kvm", "kvm"), ("z/vm", "zvm"))
        name = next((name for word, name in names if word in program[1].lower()), program[1].lower())
        return name, f"/proc/sysinfo: VM00 Control Program: {program[1]}"
    partition = re.search(r"^LPAR Number:", text, re.MULTILINE)
    return None if partition is None else ("pr/sm", "/proc/sysinfo: LPAR Number")


def _device_tree(sysroot: Sysroot) -> tuple[str | None, str] | None:
    if sysroot.exists(f"{_TREE}/hypervisor"):
        compatible = (sysroot.read(f"{_TREE}/hypervisor/compatible") or "").split("\0")[0].strip()
        name = next((name for name in ("kvm", "xen") if name in compatible), compatible.split(",")[-1] or None)
        return name, f"device tree: hypervisor {compatible}".rstrip()
    if not sysroot.exists(f"{_TREE}/ibm,partition-name"):
        return None
    qemu = "qemu" in (sysroot.line(f"{_TREE}/compatible") or "")
    qemu = qemu or sysroot.exists(f"{_TREE}/chosen/qemu,graphic-width")
    return "qemu" if qemu else POWERVM, "device tree: ibm,partition-name"


def _which(sysroot: Sysroot, cpuinfo: CpuInfo, named: Iterator[str | None]) -> str | None:
    """The hypervisor, from the first source that settles it.

    QEMU runs guests with KVM or by emulation (TCG) and shows the same devices either way. The kvm-clock exists
    with KVM alone, and a CPU that calls itself TCG without it; where neither shows, it is a QEMU guest.
    """
    if "TCG" in (cpuinfo.model or ""):
        return "tcg"
    first = next((name for name in named if name is not None), None)
    if first not in (None, "qemu"):
        return first
    clocks = sysroot.line(_CLOCKS) or ""
    if "kvm-clock" in clocks:
        return "kvm"
    return first or next((name for name in ("hyperv", "xen") if name in clocks), None)


def read_virtualization(sysroot: Sysroot, cpuinfo: CpuInfo, functions: Iterable[PciFunction]) -> Virtualization:
    """Guest, bare metal or unknown, with the hypervisor's name and its evidence; ``functions`` are those of PCI."""
    dom0 = "control_d" in (sysroot.read("/proc/xen/capabilities") or "")
    features = "" if dom0 else sysroot.line("/sys/hypervisor/properties/features") or ""
    if dom0 or (re.fullmatch(r"[0-9a-f]{1,16}", features) and int(features, 16) >> _XEN_DOM0_FEATURE & 1):
        return Virtualization(DOM0, evidence="Xen's control domain: no guest, but its CPUs are virtual")
    dmi = {name: text for name in _HYPERVISOR_FIELDS if (text := sysroot.line(f"{DMI}/{name}")) is not None}
    by_dmi = _dmi_hypervisor(dmi)
    by_device = _paravirtual(sysroot, functions)
    flag = (None, "CPU flag: hypervisor") if cpuinfo.is_x86 and "hypervisor" in cpuinfo.flags else None
    if cpuinfo.is_x86 and flag is None and by_dmi is None and _names_a_product(dmi):
        # Network cards can show virtio devices to the physical machine that they sit in.
        by_device = None
    found = [each for each in (flag, _sysinfo(sysroot), _device_tree(sysroot), by_dmi, by_device) if each is not None]
    if found:
        return Virtualization(
            _which(sysroot, cpuinfo, (name for name, _ in found)), is_guest=True, evidence=found[0][1]
        )
    bare = _bare_metal(sysroot, cpuinfo, dmi)
    return Virtualization() if bare is None else Virtualization(is_guest=False, evidence=bare)


def _bare_metal(sysroot: Sysroot, cpuinfo: CpuInfo, dmi: dict[str, str]) -> str | None:
    """What proves, where nothing names a hypervisor, that there is none."""
    refused = {gap.subject for gap in sysroot.gaps}
    if any(f"{DMI}/{name}" in refused for name in _HYPERVISOR_FIELDS):
        return None  # DMI is there and may not be read: it might name one
    if cpuinfo.is_x86 and cpuinfo.flags:
        return "CPU flags without hypervisor, and no hypervisor named by DMI"
    if "ibm,powernv" in (sysroot.read(f"{_TREE}/compatible") or "").strip().split("\0"):
        return "device tree: ibm,powernv"
    if cpuinfo.is_arm and _names_a_product(dmi):
        return f"DMI names a physical product ({dmi['sys_vendor']} {dmi['product_name']}), and no paravirtual device"
    return None


def provider_in(text: str) -> str | None:
    """Return the provider of a cloud that a text of DMI names."""
    return next((name for word, name in _known_names().clouds.items() if word in text.lower()), None)


def parse_instance_data(data: bytes) -> dict[tuple[str, ...], str]:
    """Return the cloud's name, region and instance type by their keys; raise ValueError for what is no JSON object."""
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"expected JSON, found {error}") from error
    if not isinstance(document, dict):
        raise ValueError("expected a JSON object")  # noqa: TRY004  # of the file, not of an argument
    found: dict[tuple[str, ...], str] = {}
    for path in (("v1", "cloud_name"), ("v1", "region"), *_TYPE_PATHS):
        value: Any = document
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, str) and _TYPE.fullmatch(value):
            found[path] = value
    return found


def reduced_instance_data(data: bytes) -> bytes:
    """Return the document with nothing but what discovery reads of it; it also names keys, addresses and hosts."""
    try:
        found = parse_instance_data(data)
    except ValueError:
        return b""
    document: dict[str, Any] = {}
    for path, text in found.items():
        inner = document
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
        inner[path[-1]] = text
    return msgspec.json.encode(document)


def read_cloud(sysroot: Sysroot) -> CloudInstance | None:
    """Return the cloud and the instance type; None where no file names a cloud."""
    texts = ((field, sysroot.line(f"{DMI}/{field}") or "") for field in _CLOUD_FIELDS)
    by_dmi = next(((name, f"DMI {field}: {text}") for field, text in texts if (name := provider_in(text))), None)
    known: dict[tuple[str, ...], str] = {}
    data = sysroot.answer(INSTANCE_DATA)
    if isinstance(data, Unreadable):
        if not data.missing:
            sysroot.note(INSTANCE_DATA, data.reason)
    elif data.strip():
        try:
            known = parse_instance_data(data)
        except ValueError as error:
            sysroot.note(INSTANCE_DATA, f"malformed: {error}")
    named = known.get(("v1", "cloud_name")) or sysroot.line("/run/cloud-init/cloud-id") or ""
    cloud = None if named.lower() in _LOCAL else _known_names().cloud_init.get(named.lower())
    if by_dmi is None and cloud is None:
        return None
    provider, evidence = by_dmi or (cloud or "", f"cloud-init: {named}")
    product, region = sysroot.line(f"{DMI}/product_name") or "", known.get(("v1", "region"))
    product = product.removeprefix("SCW-") if provider == "Scaleway" else product
    # These two put the type into DMI; but older instances run under Xen, and are all "HVM domU" there.
    if provider in ("Amazon EC2", "Scaleway") and _TYPE.fullmatch(product):
        return CloudInstance(provider, evidence, product, f"{DMI}/product_name", region)
    path = next((path for path in _TYPE_PATHS if path in known), None)
    return CloudInstance(provider, evidence, path and known[path], INSTANCE_DATA if path else None, region)
