"""The base clock, from where it is stated."""

from pathlib import Path

import pytest

from recordings import recorded_machine
from sizeup.quantity import Quantity
from sizeup.report.machine import machine_text
from trees import discovered

CPUS = "/sys/devices/system/cpu/online = 0-1\n/sys/devices/system/cpu/cpu{0-1}/online = 1\n"
CPUFREQ = "/sys/devices/system/cpu/cpu0/cpufreq"
CPPC = "/sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq"
MAXIMUM = "this is the maximum clock; the base may be lower"
MOMENTARY = "the clock at this moment, which the kernel may have lowered"


def cpuinfo(*lines: str) -> str:
    return "/proc/cpuinfo = " + "\\n".join(lines)


def table(driver: str, states: str, highest: int) -> tuple[str, ...]:
    return (
        f"{CPUFREQ}/scaling_driver = {driver}",
        f"{CPUFREQ}/scaling_available_frequencies = {states}",
        f"{CPUFREQ}/cpuinfo_max_freq = {highest}",
    )


def clock(tmp_path: Path, *lines: str) -> Quantity | None:
    return discovered(tmp_path, "\n".join((CPUS, *lines))).base_clock


CASES = {
    "acpi-cpufreq, boost in the maximum": (
        table("acpi-cpufreq", "3200000 2800000 1550000", 3600000),
        (3.2e9, f"{CPUFREQ}/scaling_available_frequencies", ()),
    ),
    "acpi-cpufreq, turbo as a state": (
        table("acpi-cpufreq", "1996000 1995000 1064000", 1996000),
        (1.995e9, f"{CPUFREQ}/scaling_available_frequencies", ()),
    ),
    "another driver's table has boost in it": (
        table("scmi", "3000000 2600000", 3000000),
        (3e9, f"{CPUFREQ}/cpuinfo_max_freq", (MAXIMUM,)),
    ),
    "the nominal clock of CPPC": ((f"{CPPC} = 2450", f"{CPUFREQ}/cpuinfo_max_freq = 3500000"), (2.45e9, CPPC, ())),
    "a CPPC that does not know": (
        (f"{CPPC} = 0", f"{CPUFREQ}/cpuinfo_max_freq = 3500000"),
        (3.5e9, f"{CPUFREQ}/cpuinfo_max_freq", (MAXIMUM,)),
    ),
    "POWER, nominal": (
        (
            cpuinfo("processor: 0", "cpu: POWER9, altivec supported", "clock: 2061.000000MHz"),
            f"{CPUFREQ}/cpuinfo_nominal_freq = 3450000",
        ),
        (3.45e9, f"{CPUFREQ}/cpuinfo_nominal_freq", ()),
    ),
    "POWER, partition": (
        (cpuinfo("processor: 0", "cpu: POWER7", "clock: 3550.000000MHz", "", "machine: CHRP IBM,8231-E2B"),),
        (3.55e9, "/proc/cpuinfo: clock", ()),
    ),
    "POWER, no hypervisor": (
        (cpuinfo("processor: 0", "cpu: POWER8E", "clock: 3690.000000MHz", "", "machine: PowerNV 8247-22L"),),
        (3.69e9, "/proc/cpuinfo: clock", (MOMENTARY,)),
    ),
    "PlayStation 3": (
        (cpuinfo("processor: 0", "cpu: Cell Broadband Engine", "clock: 3192.000000MHz", "", "machine: PS3"),),
        (3.192e9, "/proc/cpuinfo: clock", ()),
    ),
    "s390": (
        (cpuinfo("vendor_id: IBM/S390", "", "cpu number: 0", "cpu MHz dynamic: 4000", "cpu MHz static: 5000"),),
        (5e9, "/proc/cpuinfo: cpu MHz static", ()),
    ),
    "Itanium": ((cpuinfo("processor: 0", "cpu MHz: 1598.000000"),), (1.598e9, "/proc/cpuinfo: cpu MHz", ())),
    "Loongson": ((cpuinfo("processor: 0", "CPU MHz: 2000.00"),), (2e9, "/proc/cpuinfo: cpu MHz", ())),
    "x86, momentary": ((cpuinfo("processor: 0", "cpu MHz: 1064.0", "flags: tsc aperfmperf"),), None),
    "no clock of a processor": ((cpuinfo("processor: 0", "clock: 8.388608MHz"),), None),
}


@pytest.mark.parametrize("case", CASES)
def test_the_clock_is_taken_from_where_it_is_stated(tmp_path: Path, case: str) -> None:
    lines, expected = CASES[case]
    found = clock(tmp_path, *lines)

    shown = None if found is None else (found.value, found.source, found.caveats)
    assert shown == expected


def test_a_clock_that_is_none_is_a_gap(tmp_path: Path) -> None:
    machine = discovered(tmp_path, CPUS + cpuinfo("processor: 0", "clock: 8.388608MHz"))

    assert "clock: 8.38861 MHz is no clock of a processor; ignored" in {gap.reason for gap in machine.gaps}


def test_a_hybrid_machine_has_the_clocks_of_each_kind_of_core(tmp_path: Path) -> None:
    machine = discovered(
        tmp_path,
        "/sys/devices/system/cpu/online = 0-2\n"
        "/sys/devices/system/cpu/cpu{0-2}/topology/core_cpus_list = {}\n"
        "/sys/devices/system/cpu/cpu{0-2}/topology/package_cpus_list = 0-2\n"
        "/sys/devices/cpu_core/cpus = 0\n/sys/devices/cpu_atom/cpus = 1-2\n"
        "/sys/devices/system/cpu/cpu0/cpufreq/base_frequency = 2100000\n"
        "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq = 4800000\n"
        "/sys/devices/system/cpu/cpu{1-2}/cpufreq/base_frequency = 1500000\n"
        "/sys/devices/system/cpu/cpu{1-2}/cpufreq/cpuinfo_max_freq = 3500000\n",
    )

    lines = machine_text(machine, width=200).splitlines()
    assert (
        "  core kinds    1 performance (base 2.1 GHz, at most 4.8 GHz), 2 efficient (base 1.5 GHz, at most 3.5 GHz)"
        in lines
    )
    assert "  base clock    2.1 GHz (of the performance cores; the other kinds have clocks of their own)" in lines


def test_clocks_of_recorded_machines() -> None:
    wanted = {
        "hwloc/128ia64-17n4s2c": 1.598, "hwloc/48amd64-4pa2n6c-sparse": 1.7, "hwloc/nvidia-dgx-gb10": 2.808,
        "libvirt-hostcpu/ppc64-subcores3": 3.69, "util-linux-lscpu/loongarch-kvm_on_loongson_3c6000": 2.0,
        "util-linux-lscpu/ppc64-POWER7-64cpu": 3.55, "util-linux-lscpu/s390-nested-virt": 5.0,
        "systemd/sys-script": 2.333,
    }  # fmt: skip
    found = {name: recorded_machine(name).base_clock for name in wanted}

    assert {name: clock and clock.value / 1e9 for name, clock in found.items()} == wanted
    assert recorded_machine("libvirt-hostcpu/ppc-test1").base_clock is None


TWO_CORES = (
    "/sys/devices/system/cpu/cpu{0-1}/topology/core_cpus_list = {}\n"
    "/sys/devices/system/cpu/cpu{0-1}/topology/package_cpus_list = 0-1\n"
)
BOOST = "/sys/devices/system/cpu/cpufreq/boost"


@pytest.mark.parametrize(
    ("driver", "states", "maximum", "boost", "highest"),
    [
        ("acpi-cpufreq", "3200000 2800000", 3200000, "1", None),
        ("acpi-cpufreq", "3200000 2800000", 3200000, "0", 3.2e9),
        ("acpi-cpufreq", "3200000 2800000", 3200000, None, None),
        ("acpi-cpufreq", "3200000 2800000", 3600000, "1", 3.6e9),
        ("acpi-cpufreq", "2001000 2000000 1200000", 2001000, "1", None),
        ("acpi-cpufreq", "2001000 2000000 1200000", 2001000, "0", 2e9),
        ("intel_pstate", "", 3900000, None, 3.9e9),
    ],
)
def test_the_highest_clock_is_not_the_nominal_one_of_a_table_without_boost(
    tmp_path: Path, driver: str, states: str, maximum: int, boost: str | None, highest: float | None
) -> None:
    lines = [TWO_CORES, *(line.replace("cpu0", "cpu{0-1}") for line in table(driver, states, maximum))]
    lines += [f"{BOOST} = {boost}"] if boost else []

    assert {core.max_hz for core in discovered(tmp_path, "\n".join((CPUS, *lines))).cores} == {highest}


@pytest.mark.parametrize(("limit", "caveats"), [
    (1200000, ("the firmware limits the clock to 1.2 GHz at present (bios_limit)",)), (3200000, ()), (0, ()),
])  # fmt: skip
def test_a_clock_that_the_firmware_limits_says_so(tmp_path: Path, limit: int, caveats: tuple[str, ...]) -> None:
    found = clock(tmp_path, *table("acpi-cpufreq", "3200000 1200000", 3200000), f"{CPUFREQ}/bios_limit = {limit}")

    assert (found.value, found.caveats) == (3.2e9, caveats)


@pytest.mark.parametrize(("base", "caveats"), [(1200000, ("the model's name says 2.8 GHz",)), (2800000, ())])
def test_a_clock_that_contradicts_the_name_says_so(tmp_path: Path, base: int, caveats: tuple[str, ...]) -> None:
    found = clock(tmp_path, cpuinfo("model name: i7-1165G7 @ 2.80GHz"), f"{CPUFREQ}/base_frequency = {base}")

    assert (found.value, found.caveats) == (base * 1000.0, caveats)


@pytest.mark.parametrize(
    ("other", "kinds"), [(1400000, ["higher-clocked", "lower-clocked"]), (1800000, [None, None]), (1900000, [None] * 2)]
)
def test_kinds_that_cpufreq_alone_tells_apart(tmp_path: Path, other: int, kinds: list[str | None]) -> None:
    second = CPUFREQ.replace("cpu0", "cpu1")
    tree = f"{CPUS}{TWO_CORES}{CPUFREQ}/base_frequency = 1900000\n{second}/base_frequency = {other}\n"
    machine = discovered(tmp_path, tree)

    assert [core.kind for core in machine.cores] == kinds
    assert ("1 higher-clocked (base 1.9 GHz), 1 lower-clocked (base 1.4 GHz)" in machine_text(machine, 200)) is (
        kinds[0] is not None
    )


def test_kinds_without_a_base_frequency_have_that_of_cppc(tmp_path: Path) -> None:
    machine = discovered(
        tmp_path,
        f"{CPUS}{TWO_CORES}"
        "/sys/devices/system/cpu/cpu0/cpu_capacity = 1024\n/sys/devices/system/cpu/cpu1/cpu_capacity = 400\n"
        f"{CPPC} = 2800\n{CPPC.replace('cpu0', 'cpu1')} = 2000\n",
    )

    assert [(core.kind, core.base_hz) for core in machine.cores] == [("performance", 2.8e9), ("efficient", 2e9)]
    assert "1 performance (base 2.8 GHz), 1 efficient (base 2 GHz)" in machine_text(machine, width=200)
