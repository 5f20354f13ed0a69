"""What a core counts by the processor's name: every name of the vendors' tables, and every prefix of one."""

import pytest

from recordings import recorded_machine
from sizeup.model.machine import Machine
from sizeup.quantity import Origin, Quantity, Words
from sizeup.sizing import rules
from sizeup.sizing.advise import described, size
from sizeup.sizing.licensing.count import factor
from sizeup.sizing.pack import Pack
from sizeup.sizing.sheet import Sheet

RULES = rules.shipped()

XEONS = [
    *(f"Intel(R) Xeon(R) {number}" for number in ("6980P", "6780E", "6747P", "6530P", "6369P")),
    *(f"Intel(R) Xeon(R) Platinum {number}" for number in (9468, 9242, 8592, 8480, 8380, 8280, 8180)),
    *(f"Intel(R) Xeon(R) Gold {number}" for number in (6548, 6430, 6338, 6248, 6148, 5520, 5420, 5318, 5218, 5118)),
    *(f"Intel(R) Xeon(R) Silver {number} CPU @ 2.00GHz" for number in (4514, 4410, 4310, 4210, 4110)),
    *(f"Intel(R) Xeon(R) Bronze {number}" for number in (3508, 3408, 3206, 3106)),
    *(
        f"Intel(R) Xeon(R) CPU {name}"
        for name in ("E7-8890 v4", "E5-2690 v4", "E3-1270 v6", "E-2488", "X7560", "X5550")
    ),
    *(f"Intel(R) Xeon(R) CPU {name} @ 2.66GHz" for name in ("E5320", "X5460", "L5420", "5160", "X3430")),
]
EPYCS = [
    *(f"AMD EPYC {name}" for name in ("9965 192-Core Processor", "9654", "9174F", "9V74", "8534P", "7773X", "7F52")),
    *(f"AMD EPYC {name}" for name in ("7H12", "72F3", "7R13", "7551P", "4564P", "4585PX")),
    "AMD EPYC-Rome Processor",
    "AMD EPYC Processor (with IBPB)",
]
SINGLE = [
    *(f"AMD Opteron(tm) Processor {number}" for number in (140, 248, 254, 850)),
    "AMD Opteron 240 (Gen 1 Class Opteron)",
]
MULTICORE = [
    "Dual Core AMD Opteron(tm) Processor 285",
    "Dual-Core AMD Opteron(tm) Processor 2218",
    *(f"AMD Opteron(tm) Processor {number}" for number in (6386, "6276 SE", 4386, 3380)),
    "AMD Opteron(tm) X2150 APU",
    "AMD Opteron 62xx class CPU",
]
TABLE = {
    0.25: [
        "Ampere Altra Q80-30",
        "Ampere Altra Max M128-30",
        "AmpereOne A192-32X",
        "SPARC T3",
        "SPARC-T3",
        "UltraSparc T3 (Niagara3)",
        "UltraSPARC T1 1.0 GHz",
        "UltraSPARC T1 1.2 GHz",
    ],
    0.5: [*XEONS, *EPYCS, *MULTICORE, "Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz", "AMD Ryzen 9 7950X"]
    + ["Intel(R) Core(TM)2 Duo CPU E8400", "UltraSPARC T1 1.4 GHz", "UltraSPARC T2+", "UltraSPARC T2 Plus"]
    + [f"SPARC{mark}{name}" for mark in " -" for name in ("T4", "T5", "M5", "M6", "M7", "M8", "S7")]
    + ["SPARC64 VII+", "SPARC64 X", "SPARC64 X+", "SPARC64 XII", "SPARC64-X"],
    0.75: [
        "UltraSPARC IV",
        "UltraSPARC IV+",
        "UltraSPARC T2",
        "UltraSPARC-T2",
        "UltraSparc T2 (Niagara2)",
        "SPARC64 VI",
        "SPARC64 VII",
        "PA-RISC",
        "PA8900 (Shortfin)",
        "POWER4+",
        "POWER5",
        "POWER5+ (gs)",
    ],
    1.0: [
        "POWER6",
        "POWER6+",
        "POWER7",
        "POWER7+",
        "POWER8",
        "POWER8E (raw), altivec supported",
        "POWER9",
        "POWER9 (architected), altivec supported",
        "POWER10",
        "POWER11",
        "Power11 (architected), altivec supported",
        "POWER1",
        "POWER2",
        "POWER3 (630+)",
        "UltraSPARC I",
        "UltraSPARC II",
        "TI UltraSparc II (BlackBird)",
        "UltraSPARC III",
        "UltraSparc IIIi (Jalapeno)",
        *SINGLE,
        "Intel(R) Pentium(R) 4 CPU 3.00GHz",
        "IBM/S390",
        "IBM z16",
        "z15",
        "z196",
        "IBM Z",
        "Intel(R) Itanium(R) Processor 9560",
        "Neoverse-V2",
        "ARMv8 Neoverse-V1",
        "Kunpeng-920",
        "AWS Graviton3",
        "Cortex-A72",
        "eMAG 8180",
        "Neoverse-N2",
    ],
}
"""By factor, the names of Oracle's table as kernels and people write them."""
NAMES = {name: value for value, names in TABLE.items() for name in names}


def pack(name: str) -> Pack:
    found = RULES.pack(name)
    assert found is not None
    return found


def counted(
    model: str, table: str = "oracle.core_factor", holder: str = "oracle", sockets: int = 2, capacity: int | None = None
) -> Quantity:
    inputs: dict[str, Quantity | Words] = {
        "machine.cpu_model": Words(model, Origin.USER, "test"),
        "machine.sockets": Quantity(sockets, "1", Origin.USER, "test"),
    }
    if capacity is not None:
        inputs["machine.socket_capacity"] = Quantity(capacity, "1", Origin.USER, "test")
    return factor(Sheet(inputs, RULES), table, pack(holder))


def test_every_name_of_the_table_counts_its_factor() -> None:
    found = {name: counted(name) for name in NAMES}

    assert {name: (one.low, one.value, one.high) for name, one in found.items()} == {
        name: (None, value, None) for name, value in NAMES.items()
    }


def test_no_prefix_of_a_name_counts_another_factor_as_if_it_were_certain() -> None:
    prefixes = {(name[:length].strip(), NAMES[name]) for name in NAMES for length in range(len(name))}
    found = {prefix: counted(prefix) for prefix, _ in prefixes}
    wrong = []
    for prefix, value in prefixes:
        one = found[prefix]
        low, high = (one.value if end is None else end for end in (one.low, one.high))
        if prefix not in NAMES and one.source != "oracle.factor.other" and not low <= value <= high:
            wrong.append((prefix, one.source, value))

    assert wrong == []


@pytest.mark.parametrize(
    ("model", "low", "high"),
    [
        ("AMD Opteron", 0.5, 1),
        ("Intel(R) Xeon(TM) CPU 3.06GHz", 0.5, 1),
        ("Intel(R) Xeon Phi(TM) CPU 7210", 0.5, 1),
        ("AMD EPYC 3251 8-Core Processor", 0.5, 1),
        ("AMD EPYC 9996", 0.5, 1),
        ("UltraSparc T1 (Niagara)", 0.25, 0.5),
        ("Dual-Core Intel(R) Itanium(R) Processor 9140N", 0.5, 1),
        ("Neoverse-N1", 0.25, 1),
        ("POWER12", 0.5, 1),
        ("SPARC M80", 0.5, 1),
        ("z99", 0.5, 1),
        ("Powerful 7", 0.5, 1),
        ("Waltrapp One", 0.5, 1),
    ],
)
def test_a_name_that_the_table_leaves_open_shows_both_factors_and_counts_the_higher(
    model: str, low: float, high: float
) -> None:
    found = counted(model)

    assert (found.low, found.value, found.high) == (low, high, high)


@pytest.mark.parametrize("name", ["util-linux-lscpu/s390-kvm", "util-linux-lscpu/s390-nested-virt"])
def test_a_recorded_guest_of_ibm_z_counts_as_a_guest_at_the_factor_of_z(name: str) -> None:
    machine: Machine = recorded_machine(name)
    hosts = {"license.host_cores": Quantity(10, "1", Origin.USER, "test")}

    asked, licenses = (size(described(machine, settings)).find("license.units") for settings in ({}, hosts))
    assert (asked.quantity, asked.decision) == (None, "host-unknown")
    assert licenses.quantity == Quantity(10, "licenses", Origin.RULE, "oracle.processor")


@pytest.mark.parametrize(
    ("model", "sockets", "units"),
    [
        *((name, 2, 50) for name in MULTICORE),
        *((name, 8, 50) for name in MULTICORE),
        *((name, 2, 100) for name in SINGLE),
        ("AMD EPYC 9654", 2, 70),
        ("Intel(R) Xeon(R) Gold 5118 CPU @ 2.30GHz", 2, 70),
        ("Intel(R) Xeon(R) Gold 6248", 4, 100),
        ("Intel(R) Xeon(R) Platinum 8280", 8, 120),
        ("Intel(R) Xeon(R) CPU           X5355  @ 2.66GHz", 2, 50),
        ("Intel(R) Xeon(R) CPU 5160 @ 3.00GHz", 2, 50),
        ("Intel(R) Xeon(R) CPU           X7550  @ 2.00GHz", 2, 70),
        ("Intel(R) Xeon(R) CPU           X7550  @ 2.00GHz", 4, 100),
        ("Intel(R) Xeon(R) CPU           X7550  @ 2.00GHz", 8, 120),
        ("POWER7 (architected), altivec supported", 8, 70),
        ("POWER10 (architected), altivec supported", 2, 70),
        ("z196", 1, 120),
        ("z10 EC", 1, 120),
        ("zEC12", 1, 120),
        ("z17", 1, 120),
    ],
)
def test_processor_value_units_of_a_core_on_a_server_for_that_many_sockets(
    model: str, sockets: int, units: float
) -> None:
    assert counted(model, "db2.pvu_per_core", "db2", sockets, capacity=sockets).value == units


@pytest.mark.parametrize(
    ("model", "sockets", "low", "high"),
    [
        ("Intel(R) Xeon(R) CPU           X7550  @ 2.00GHz", 4, 100, 120),
        ("Intel(R) Xeon(R) CPU           X7550  @ 2.00GHz", 2, 70, 120),
        ("Intel(R) Xeon(R) CPU           X7550  @ 2.00GHz", 8, None, None),
        ("Intel(R) Xeon(R) Gold 6248", 2, 70, 120),
        ("Intel(R) Xeon(R) Gold 6348H", 2, 70, 120),
        ("Intel(R) Xeon(R) Gold 6338", 2, None, None),
        ("Intel(R) Xeon(R) CPU E5-2690 v4", 2, None, None),
        ("AMD Engineering Sample", 4, 50, 70),
        ("z114", 1, 100, 120),
        ("z13s", 1, 100, 120),
        ("z14 ZR1", 1, 100, 120),
        ("QEMU Virtual CPU version 2.5+", 1, 50, 120),
    ],
)
def test_processor_value_units_are_a_range_of_all_that_may_hold_with_the_highest_as_the_value(
    model: str, sockets: int, low: float | None, high: float | None
) -> None:
    found = counted(model, "db2.pvu_per_core", "db2", sockets)

    assert (found.low, found.high) == (low, high)
    assert high in (None, found.value)


def test_a_range_of_any_table_counts_its_highest_figure() -> None:
    ranged = [entry for pack in RULES.license_packs() for entry in pack.factor if entry.high is not None]

    assert ranged
    assert [entry.id for entry in ranged if entry.value != entry.high] == []
