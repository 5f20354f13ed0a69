"""Guest, bare metal or unknown: each by evidence of its own, in the order of what the evidence can prove."""

from pathlib import Path

import pytest

from recordings import recorded_machine
from sizeup.discovery.machine import discover
from sizeup.model.machine import Platform
from sizeup.views.machine.virtualization import runs_on
from trees import discovered, grow

X86 = "/proc/cpuinfo = processor\\t: 0\\nmodel name\\t: Intel(R) Xeon(R)\\nflags\\t\\t: fpu tsc lm\\n"
X86_FLAGGED = "/proc/cpuinfo = processor\\t: 0\\nmodel name\\t: Intel(R) Xeon(R)\\nflags\\t\\t: fpu lm hypervisor\\n"
X86_TCG = "/proc/cpuinfo = processor\\t: 0\\nmodel name\\t: QEMU TCG CPU version 2.5+\\nflags\\t\\t: lm hypervisor\\n"
ARM = "/proc/cpuinfo = processor\\t: 0\\nFeatures\\t: fp asimd\\nCPU implementer\\t: 0x41\\n"
POWER = "/proc/cpuinfo = processor\\t: 0\\ncpu\\t\\t: POWER9\\nplatform\\t: pSeries\\n"
S390 = "/proc/cpuinfo = vendor_id : IBM/S390\\nfeatures\\t: esan3 zarch stfle\\nprocessor 0: version = FF\\n"
LPAR = "LPAR Number:          22\\nLPAR Name:            L16\\n"
KVM_CLOCK = "/sys/devices/system/clocksource/clocksource0/available_clocksource = kvm-clock tsc acpi_pm"
VIRTIO_MMIO = (
    "/sys/bus/virtio/devices/virtio0 -> ../../../devices/platform/a003e00.virtio_mmio/virtio0\n"
    "/sys/devices/platform/a003e00.virtio_mmio/virtio0/device = 0x0002"
)
VIRTIO_COPROCESSOR = (
    "/sys/bus/virtio/devices/virtio0 -> ../../../devices/platform/remoteproc0/rpmsg/virtio0\n"
    "/sys/devices/platform/remoteproc0/rpmsg/virtio0/device = 0x0007"
)
VIRTIO_PCI = "/proc/bus/pci/devices = 0000\\t80861237\\t0\\n0010\\t1af41041\\tb\\n"
REFUSED = '/sizeup-capture.json = {"refused": {"/sys/class/dmi/id/sys_vendor": 13}}'
SERIAL_REFUSED = '/sizeup-capture.json = {"refused": {"/sys/class/dmi/id/product_serial": 13}}'


def dmi(vendor: str, product: str, **more: str) -> str:
    names = {"sys_vendor": vendor, "product_name": product, **more}
    return "\n".join(f"/sys/class/dmi/id/{name} = {text}" for name, text in names.items())


def pci(*ids: str) -> str:
    return "/proc/bus/pci/devices = " + "".join(f"0008\\t{each}\\tb\\n" for each in ids)


CASES: dict[str, tuple[tuple[str, ...], bool | None, str | None]] = {
    # x86: the flag comes first, and without it DMI may still name one
    "flag alone": ((X86_FLAGGED,), True, None),
    "flag, kvm-clock": ((X86_FLAGGED, KVM_CLOCK), True, "kvm"),
    "flag on a physical product": ((X86_FLAGGED, dmi("Dell Inc.", "PowerEdge R640")), True, None),
    "flag, QEMU, kvm-clock": ((X86_FLAGGED, dmi("QEMU", "Standard PC (Q35 + ICH9, 2009)"), KVM_CLOCK), True, "kvm"),
    "flag, QEMU": ((X86_FLAGGED, dmi("QEMU", "Standard PC (Q35 + ICH9, 2009)")), True, "qemu"),
    "flag, QEMU's emulated CPU": ((X86_TCG, dmi("QEMU", "Standard PC (Q35 + ICH9, 2009)")), True, "tcg"),
    "flag, QEMU below a made-up product": (
        (X86_FLAGGED, dmi("Example Systems", "Model 2S", chassis_vendor="QEMU")), True, "qemu",
    ),
    "flag, Red Hat KVM": ((X86_FLAGGED, dmi("Red Hat", "KVM")), True, "kvm"),
    "VirtualBox offers a kvm-clock": ((X86_FLAGGED, dmi("innotek GmbH", "VirtualBox"), KVM_CLOCK), True, "virtualbox"),
    "QEMU imitates devices of VMware": ((X86_FLAGGED, pci("15ad07b0", "1b36000c")), True, "qemu"),
    "no flag, physical": ((X86, dmi("Dell Inc.", "PowerEdge R640")), False, None),
    "no flag, no DMI": ((X86,), False, None),
    "no flag, DMI may not be read": ((X86, REFUSED, dmi("", "")), None, None),
    "no flag, only root may read the serial": ((X86, SERIAL_REFUSED, dmi("Dell Inc.", "PowerEdge R640")), False, None),
    "no flag, VMware hides it": ((X86, dmi("VMware, Inc.", "VMware Virtual Platform")), True, "vmware"),
    "no flag, VirtualBox by its devices": ((X86, pci("80861237", "80eebeef")), True, "virtualbox"),
    "no flag, a card shows virtio": ((X86, dmi("Dell Inc.", "PowerEdge R760"), VIRTIO_PCI), False, None),
    "no CPU flags read, physical": ((dmi("Dell Inc.", "PowerEdge R640"),), None, None),
    # DMI: clouds name virtual and bare-metal instances alike
    "OpenStack": ((ARM, dmi("OpenStack Foundation", "OpenStack Nova")), True, None),
    "Amazon": ((ARM, dmi("Amazon EC2", "m6g.large")), True, "kvm"),
    "Amazon bare metal, Arm": ((ARM, dmi("Amazon EC2", "m6g.metal", bios_vendor="Amazon EC2")), False, None),
    "Amazon bare metal, x86": ((X86, dmi("Amazon EC2", "m5.metal")), False, None),
    "Hyper-V": ((X86_FLAGGED, dmi("Microsoft Corporation", "Virtual Machine")), True, "hyperv"),
    "Azure on Arm": ((ARM, dmi("Microsoft Corporation", "Virtual Machine")), True, "hyperv"),
    "Microsoft's own hardware": ((X86, dmi("Microsoft Corporation", "Surface Laptop 5")), False, None),
    "a product that is only called virtual": ((ARM, dmi("Example", "Virtual Machine Host 9000")), False, None),
    "Google on Arm": ((ARM, dmi("Google", "Google Compute Engine")), None, None),
    "Google with virtio": ((ARM, dmi("Google", "Google Compute Engine"), VIRTIO_PCI), True, None),
    "Google without the flag": ((X86, dmi("Google", "Google Compute Engine")), False, None),
    # Xen
    "Xen guest": ((X86_FLAGGED, dmi("Xen", "HVM domU"), "/sys/hypervisor/type = xen"), True, "xen"),
    "Xen dom0": (
        (X86_FLAGGED, dmi("Dell Inc.", "PowerEdge R640"), "/sys/hypervisor/type = xen",
         "/proc/xen/capabilities = control_d"), None, "xen-dom0",
    ),
    "Xen dom0 by its features": (
        (ARM, "/sys/hypervisor/type = xen", "/sys/hypervisor/properties/features = 00002800"), None, "xen-dom0",
    ),
    "Xen guest by its features": (
        (ARM, "/sys/hypervisor/type = xen", "/sys/hypervisor/properties/features = 00002705"), True, "xen",
    ),
    # Arm
    "Arm, physical": ((ARM, dmi("Huawei", "XA320 V2")), False, None),
    "Arm, physical, coprocessors speak virtio": ((ARM, dmi("Huawei", "XA320 V2"), VIRTIO_COPROCESSOR), False, None),
    "Arm, no DMI": ((ARM,), None, None),
    "Arm, DMI never filled in": ((ARM, dmi("To Be Filled By O.E.M.", "Default string")), None, None),
    "Arm, QEMU": ((ARM, dmi("QEMU", "QEMU Virtual Machine")), True, "qemu"),
    "Arm, QEMU with KVM": ((ARM, dmi("QEMU", "KVM Virtual Machine")), True, "kvm"),
    "Arm, virtio alone": ((ARM, VIRTIO_MMIO), True, None),
    "Arm, physical product with virtio": ((ARM, dmi("Example", "Server 1"), VIRTIO_MMIO), True, None),
    "Arm, device tree of Xen": ((ARM, "/proc/device-tree/hypervisor/compatible = xen,xen-4.17"), True, "xen"),
    # Power
    "PowerVM": ((POWER, "/proc/device-tree/ibm,partition-name = db01"), True, "phyp"),
    "Power, KVM": ((POWER, "/proc/device-tree/hypervisor/compatible = linux,kvm"), True, "kvm"),
    "Power, QEMU": (
        (POWER, "/proc/device-tree/compatible = qemu,pseries", "/proc/device-tree/ibm,partition-name = vm"),
        True, "qemu",
    ),
    "PowerNV": ((POWER, "/proc/device-tree/compatible = ibm,witherspoon\0ibm,powernv"), False, None),
    "Power, no device tree": ((POWER,), None, None),
    # s390: the first level is a partition already
    "LPAR": ((S390, f"/proc/sysinfo = {LPAR}"), True, "pr/sm"),
    "z/VM": ((S390, f"/proc/sysinfo = {LPAR}\\nVM00 Control Program: z/VM    6.4.0"), True, "zvm"),
    "KVM in z/VM": (
        (S390, f"/proc/sysinfo = {LPAR}\\nVM00 Control Program: KVM/Linux\\nVM01 Control Program: z/VM    6.4.0"),
        True, "kvm",
    ),
    "s390, sysinfo unreadable": ((S390,), None, None),
    "nothing recorded": (("/proc/version = Linux version 6.1.0",), None, None),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_only_evidence_makes_a_guest_or_bare_metal(case: str, tmp_path: Path) -> None:
    lines, is_guest, hypervisor = CASES[case]

    found = discovered(tmp_path, "\n".join(lines)).platform

    assert (found.is_guest, found.hypervisor) == (is_guest, hypervisor)
    assert (found.guest_evidence is None) == (is_guest is None and hypervisor is None)


def test_the_evidence_names_its_source(tmp_path: Path) -> None:
    flagged = grow(tmp_path / "a", "\n".join((X86_FLAGGED, dmi("QEMU", "Standard PC"))))
    hidden = grow(tmp_path / "b", "\n".join((X86, dmi("VMware, Inc.", "VMware Virtual Platform"))))

    assert discover(flagged).platform.guest_evidence == "CPU flag: hypervisor"
    assert discover(hidden).platform.guest_evidence == "DMI sys_vendor: VMware, Inc."


@pytest.mark.parametrize(
    ("platform", "words"),
    [
        (Platform(), None),
        (Platform(is_guest=False), "bare metal"),
        (Platform(is_guest=True), "guest under an unnamed hypervisor"),
        (Platform(is_guest=True, hypervisor="tcg"), "guest under QEMU by emulation (TCG)"),
        (Platform(is_guest=True, hypervisor="pr/sm"), "guest under PR/SM, in a logical partition (LPAR)"),
        (Platform(is_guest=True, hypervisor="bhyve"), "guest under bhyve"),
        (Platform(hypervisor="xen-dom0"), "control domain (dom0) of Xen"),
    ],
)
def test_what_it_runs_on_is_said_in_words(platform: Platform, words: str | None) -> None:
    assert runs_on(platform) == words


@pytest.mark.parametrize(
    ("name", "is_guest", "hypervisor"),
    [
        ("hwloc/128arm-2pa2n8cluster4co", False, None),
        ("hwloc/2arm-2c", None, None),
        ("hwloc/memorysidecaches", False, None),
        ("hwloc/fakecpuid1f-64intel64-2p4d2n2c2t", True, "qemu"),
        ("util-linux-lscpu/s390-kvm", True, "kvm"),
        ("util-linux-lscpu/s390-nested-virt", True, "kvm"),
        ("util-linux-lscpu/ppc64-POWER7-64cpu", True, "phyp"),
        ("util-linux-lscpu/vbox-win", True, "virtualbox"),
    ],
)
def test_recorded_machines(name: str, is_guest: bool | None, hypervisor: str | None) -> None:
    found = recorded_machine(name).platform

    assert (found.is_guest, found.hypervisor) == (is_guest, hypervisor)
