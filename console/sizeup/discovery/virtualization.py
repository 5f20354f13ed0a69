"""Guest or bare metal, from positive evidence alone; without any it is unknown.

The order, and what each source can prove: the CPU's hypervisor flag (x86), ``/proc/sysinfo`` (s390, where even
the first level is a partition), the device tree, DMI, and paravirtual devices. Bare metal needs evidence of its
own: a flag that is absent says nothing on an architecture that never sets it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from sizeup.discovery.cpuinfo import CpuInfo
from sizeup.discovery.dmi import dmi_line, dmi_path, known_names
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.machine import PciFunction

_DMI_NAMES = ("sys_vendor", "product_name", "board_vendor", "chassis_vendor", "bios_vendor")
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


class Virtualization(Struct, frozen=True):
    """What the machine runs under."""

    hypervisor: str | None = None
    """None on bare metal, where it is unknown, and where the evidence does not settle which."""
    is_guest: bool | None = None
    evidence: str | None = None
    """What settled ``is_guest``, in words; None where nothing did."""


def _dmi_hypervisor(dmi: dict[str, str]) -> tuple[str | None, str] | None:
    """The hypervisor that DMI names, perhaps without saying which, and the name that says so."""
    for word, name in known_names().hypervisors.items():
        for field, text in dmi.items():
            if re.search(rf"\b{word}\b", text.lower()):
                return name or None, f"DMI {field}: {text}"
    product = dmi.get("product_name", "").lower()
    for field, text in dmi.items():
        lowered = text.lower()
        # Bare-metal instances carry the same vendor; their products end in .metal.
        if "amazon ec2" in lowered and ".metal" not in product:
            return "kvm", f"DMI {field}: {text}"
        if "microsoft" in lowered and "virtual machine" in product:
            return "hyperv", f"DMI {field}: {text}, product_name: {dmi['product_name']}"
    return None


def _names_a_product(dmi: dict[str, str]) -> bool:
    """DMI names a maker and a product; Google names its virtual and its bare-metal instances alike."""
    vendor, product = (dmi.get(name, "").strip().lower() for name in ("sys_vendor", "product_name"))
    return known_names().placeholders.isdisjoint((vendor, product)) and "google" not in f"{vendor} {product}"


def _pci_ids(sysroot: Sysroot, functions: Iterable[PciFunction]) -> frozenset[tuple[int, int]]:
    text = sysroot.read("/proc/bus/pci/devices")
    if text is not None:
        return frozenset((int(vendor, 16), int(device, 16)) for vendor, device in _PCI_LINE.findall(text))
    return frozenset((function.vendor or 0, function.device or 0) for function in functions)


def _paravirtual(sysroot: Sysroot, pci: frozenset[tuple[int, int]]) -> tuple[str | None, str] | None:
    """A device that exists in virtual machines alone, with the hypervisor where it settles which."""
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
    if re.search(r"^LPAR Number:", text, re.MULTILINE):
        return "pr/sm", "/proc/sysinfo: LPAR Number"
    return None


def _device_tree(sysroot: Sysroot) -> tuple[str | None, str] | None:
    if sysroot.exists(f"{_TREE}/hypervisor"):
        compatible = (sysroot.line(f"{_TREE}/hypervisor/compatible") or "").split("\0")[0]
        name = next((name for name in ("kvm", "xen") if name in compatible), compatible.split(",")[-1] or None)
        return name, f"device tree: hypervisor {compatible}".rstrip()
    if sysroot.exists(f"{_TREE}/ibm,partition-name"):
        qemu = "qemu" in (sysroot.line(f"{_TREE}/compatible") or "") or sysroot.exists(
            f"{_TREE}/chosen/qemu,graphic-width"
        )
        return "qemu" if qemu else POWERVM, "device tree: ibm,partition-name"
    return None


def _is_dom0(sysroot: Sysroot) -> bool:
    if "control_d" in (sysroot.read("/proc/xen/capabilities") or ""):
        return True
    features = sysroot.line("/sys/hypervisor/properties/features") or ""
    return re.fullmatch(r"[0-9a-f]{1,16}", features) is not None and bool(int(features, 16) >> _XEN_DOM0_FEATURE & 1)


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
    others = (("hyperv", "hyperv"), ("xen", "xen"))
    return first or next((name for word, name in others if word in clocks), None)


def read_virtualization(sysroot: Sysroot, cpuinfo: CpuInfo, functions: Iterable[PciFunction]) -> Virtualization:
    """Guest, bare metal or unknown, with the hypervisor's name and its evidence; ``functions`` are those of PCI."""
    if _is_dom0(sysroot):
        return Virtualization(DOM0, evidence="Xen's control domain: no guest, but its CPUs are virtual")
    dmi = {name: text for name in _DMI_NAMES if (text := dmi_line(sysroot, name)) is not None}
    by_dmi = _dmi_hypervisor(dmi)
    pci = _pci_ids(sysroot, functions)
    by_device = _paravirtual(sysroot, pci)
    flag = (None, "CPU flag: hypervisor") if cpuinfo.is_x86 and "hypervisor" in cpuinfo.flags else None
    by_sysinfo, by_tree = _sysinfo(sysroot), _device_tree(sysroot)
    flagless = cpuinfo.is_x86 and flag is None
    if flagless and by_dmi is None and _names_a_product(dmi):
        # Network cards can show virtio devices to the physical machine that they sit in.
        by_device = None
    found = (flag, by_sysinfo, by_tree, by_dmi, by_device)
    evidence = next((source for source in found if source is not None), None)
    if evidence is not None:
        names = (source[0] for source in found if source is not None)
        return Virtualization(_which(sysroot, cpuinfo, names), is_guest=True, evidence=evidence[1])
    bare = _bare_metal(sysroot, cpuinfo, dmi)
    return Virtualization() if bare is None else Virtualization(is_guest=False, evidence=bare)


def _bare_metal(sysroot: Sysroot, cpuinfo: CpuInfo, dmi: dict[str, str]) -> str | None:
    """What proves, where nothing names a hypervisor, that there is none."""
    refused = {gap.subject for gap in sysroot.gaps}
    if any(dmi_path(name) in refused for name in _DMI_NAMES):
        return None  # DMI is there and may not be read: it might name one
    if cpuinfo.is_x86 and cpuinfo.flags:
        return "CPU flags without hypervisor, and no hypervisor named by DMI"
    if "ibm,powernv" in (sysroot.line(f"{_TREE}/compatible") or "").split("\0"):
        return "device tree: ibm,powernv"
    if cpuinfo.is_arm and _names_a_product(dmi):
        return f"DMI names a physical product ({dmi['sys_vendor']} {dmi['product_name']}), and no paravirtual device"
    return None
