"""Processors that state only numbers have names."""

import pytest

from recordings import recorded_machine
from sizeup.discovery.cpuinfo import arm_name, parse_cpuinfo, z_name


@pytest.mark.parametrize(
    ("implementer", "part", "name"),
    [
        ("0x41", "0xd0c", "Arm Neoverse-N1"),
        ("0x41", "0xd4f", "Arm Neoverse-V2"),
        ("0xc0", "0xac3", "Ampere AmpereOne"),
        ("0x46", "0x001", "Fujitsu A64FX"),
        ("0x48", "0xd01", "HiSilicon Kunpeng 920 (TaiShan v110)"),
        ("0x41", "0xfff", "Arm part 0xfff"),
        ("0x7a", "0x001", "Arm implementer 0x7a part 0x001"),
        ("", "0xd0c", None),
        ("0x41", "neoverse", None),
    ],
)
def test_arm_cores_are_named_by_implementer_and_part(implementer: str, part: str, name: str | None) -> None:
    assert arm_name(implementer, part) == name


@pytest.mark.parametrize(
    ("machine_type", "name"),
    [("2964", "IBM z13 (type 2964)"), ("9999", "IBM Z (type 9999)"), ("z13", None), ("", None)],
)
def test_ibm_z_is_named_by_its_type(machine_type: str, name: str | None) -> None:
    assert z_name(machine_type) == name


def test_cores_of_two_kinds_are_both_named_and_each_cpu_has_its_own() -> None:
    cores = (
        "processor: 0\nCPU implementer: 0x41\nCPU part: 0xd87\n",
        "processor: 1\nCPU implementer: 0x41\nCPU part: 0xd85\n",
    )
    found = parse_cpuinfo("\n".join(cores))

    assert found.model == "Arm Cortex-A725 and Arm Cortex-X925"
    assert found.models == {0: "Arm Cortex-A725", 1: "Arm Cortex-X925"}


def test_a_name_in_cpuinfo_stays_without_numbers() -> None:
    assert parse_cpuinfo("processor: 0\nmodel name: AMD EPYC 9654\n").model == "AMD EPYC 9654"
    assert parse_cpuinfo("Processor: ARMv7 Processor rev 4 (v7l)\n").model == "ARMv7 Processor rev 4 (v7l)"


def test_names_of_recorded_machines() -> None:
    wanted = {
        "ghw/linux-arm64-c288e0776090cd558ef793b2a4e61939": ("Arm Neoverse-N1", None),
        "hwloc/2arm-2c": ("Arm Cortex-A9", None),
        "hwloc/nvidia-dgx-gb10": ("Arm Cortex-A725 and Arm Cortex-X925", "NVIDIA_DGX_Spark"),
        "libvirt-hostcpu/aarch64-with-clusters": ("Cavium ThunderX2 99xx", None),
        "util-linux-lscpu/armv7": ("Arm Cortex-A15", None),
        "util-linux-lscpu/s390-kvm": ("IBM z196 (type 2817)", "type 2817, model 703 M32"),
        "util-linux-lscpu/s390-nested-virt": ("IBM z13 (type 2964)", "type 2964, model 400 N63"),
        "util-linux-lscpu/ppc64-POWER7-64cpu": ("POWER7 (architected), altivec supported", "CHRP IBM,8231-E2B"),
        "hwloc/nvidiagpunumanodes": ("POWER9, altivec supported", "PowerNV 8335-GTW"),
    }
    machines = {name: recorded_machine(name) for name in wanted}

    assert {name: (found.cpu_model, found.platform.model) for name, found in machines.items()} == wanted


def test_a_name_with_zero_bytes_has_blanks_in_their_place() -> None:
    assert parse_cpuinfo("processor : 0\nmodel name : Some\0 CPU\0 5\n").model == "Some CPU 5"
