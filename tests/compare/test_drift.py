"""Drift since a baseline: what differs, what cannot be decided, and no identity of the machine."""

import pytest
from msgspec.structs import replace

from sizeup.compare.drift import NOT_LISTED, drift
from sizeup.compare.parts import MISSING, PRESENT, ComparedFact
from sizeup.model.machine import Accelerator, CxlMemory, DimmSlot, Machine, OsSettings, Platform, Vulnerability
from sizeup.model.numa import HugePages
from sizeup.model.storage import BlockDevice, BlockKind
from sizeup.report.machine import drift_text
from sizeup.views.comparison.drift import drift_data

GIB = 1 << 30
SLOTS = tuple(DimmSlot(f"A{number}", "BANK 0", 32 * GIB, "DDR4", 3_200_000_000, 2_933_000_000) for number in (1, 2))
DISK = BlockDevice(
    "sda", BlockKind.SCSI, 10**12, scheduler="none", read_ahead_bytes=128 << 10, wwn="naa.5", serial="S1"
)
GPU = Accelerator("0000:04:00.0", "AMD", memory_bytes=64 * GIB)
CXL = CxlMemory("mem0", firmware="V1")
BASELINE = Machine(
    accelerators=(GPU,),
    cxl_memory=(CXL,),
    memory_bytes=64 * GIB,
    dimm_slots=SLOTS,
    huge_pages=(HugePages(2 << 20, 100, 100),),
    block_devices=(DISK,),
    platform=Platform(
        kernel="6.1.0", firmware="2.1", governor="performance", transparent_huge_pages="never", hostname="rack7",
        serial="CHASSIS7",
    ),
    settings=OsSettings(swappiness=1, vulnerabilities=(Vulnerability("mds", "Mitigation: Clear CPU buffers"),)),
)  # fmt: skip


def changes(now: Machine) -> list[tuple[str, str | None, str | None]]:
    return [(one.fact, one.baseline, one.now) for one in drift(BASELINE, now).drifted]


def with_settings(**values: object) -> Machine:
    return replace(BASELINE, settings=replace(BASELINE.settings, **values))


def with_platform(**values: object) -> Machine:
    return replace(BASELINE, platform=replace(BASELINE.platform, **values))


def test_a_machine_has_not_drifted_from_itself() -> None:
    found = drift(BASELINE, BASELINE)

    assert (found.drifted, found.undecided, found.other_machine) == ((), (), "")
    assert found.compared > 10
    assert drift_text(found) == f"Nothing drifted: {found.compared} facts compared\n"


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (replace(BASELINE, memory_bytes=32 * GIB), ("memory", "64 GiB", "32 GiB")),
        (replace(BASELINE, huge_pages=(HugePages(2 << 20, 90, 90),)), ("huge pages", "100 of 2 MiB", "90 of 2 MiB")),
        (replace(BASELINE, huge_pages=(HugePages(2 << 20, 0, 0),)), ("huge pages", "100 of 2 MiB", "none")),
        (
            replace(BASELINE, accelerators=(replace(GPU, memory_bytes=32 * GIB),)),
            ("accelerator 0000:04:00.0 memory", "64 GiB", "32 GiB"),
        ),
        (replace(BASELINE, cxl_memory=(replace(CXL, firmware="V2"),)), ("CXL mem0 firmware", "V1", "V2")),
        (
            replace(BASELINE, dimm_slots=(SLOTS[0], replace(SLOTS[1], size_bytes=0))),
            ("memory slot BANK 0 A2", "32 GiB DDR4 at 2933 MT/s", "empty"),
        ),
        (
            replace(BASELINE, dimm_slots=SLOTS[:1]),
            ("memory slot BANK 0 A2", "32 GiB DDR4 at 2933 MT/s", NOT_LISTED),
        ),
    ],
)  # fmt: skip
def test_each_fact_that_differs_is_named_with_both_values(now: Machine, expected: tuple[str, str, str]) -> None:
    assert changes(now) == [expected]


def test_a_disk_that_came_or_went_is_drift() -> None:
    other = BlockDevice("sdb", BlockKind.SCSI, 10**12)
    found = changes(replace(BASELINE, block_devices=(other,)))

    assert ("disk sdb", MISSING, PRESENT) in found
    assert ("disk sda", PRESENT, MISSING) in found


def test_a_disk_of_another_name_is_known_by_its_wwn() -> None:
    renamed = replace(BASELINE, block_devices=(replace(DISK, name="sdq", scheduler="bfq"),))

    assert changes(renamed) == [("sdq scheduler", "none", "bfq")]


def test_a_masked_baseline_has_other_wwns_and_the_same_names() -> None:
    assert changes(replace(BASELINE, block_devices=(replace(DISK, wwn="wwn-1234", serial="serial-99"),))) == []


def test_slots_of_one_name_are_told_apart() -> None:
    same = replace(BASELINE, dimm_slots=(SLOTS[0], SLOTS[0]))
    less = replace(BASELINE, dimm_slots=(SLOTS[0], replace(SLOTS[0], size_bytes=0)))

    assert [one.fact for one in drift(same, less).drifted] == ["memory slot BANK 0 A1 #2"]


@pytest.mark.parametrize(
    ("now", "fact"),
    [
        (with_settings(swappiness=None), "vm.swappiness"),
        (replace(BASELINE, dimm_slots=()), "memory modules"),
        (with_settings(vulnerabilities=()), "mitigations"),
        (with_platform(firmware=None), "firmware"),
    ],
)
def test_what_one_side_does_not_know_is_not_decided(now: Machine, fact: str) -> None:
    found = drift(BASELINE, now)

    assert found.drifted == ()
    assert [one.fact for one in found.undecided] == [fact]
    assert [each["reason"] for each in drift_data(found)["undecided"]] == ["unknown now"]
    assert [each["reason"] for each in drift_data(drift(now, BASELINE))["undecided"]] == ["unknown in the baseline"]


def test_no_serial_number_and_no_host_name_is_compared_or_shown() -> None:
    other = replace(
        with_platform(hostname="rack8", serial="CHASSIS8", governor="powersave"),
        block_devices=(replace(DISK, serial="S2"),),
    )
    found = drift(BASELINE, other)

    assert [one.fact for one in found.drifted] == ["governor"]
    assert found.other_machine == "another host name"
    shown = drift_text(found) + str(drift_data(found))
    assert shown.startswith("The baseline is of another machine: another host name.\n")
    assert [word for word in ("rack7", "rack8", "CHASSIS7", "CHASSIS8", "S1", "S2") if word in shown] == []


@pytest.mark.parametrize(
    ("before", "after", "model", "evidence"),
    [
        ("rack7", "rack7", "Other CPU", ""),
        ("rack7", "rack8", "Other CPU", "another host name"),
        (None, "rack8", "Other CPU", "CPU model First CPU, now Other CPU"),
        ("rack7", None, "First CPU", ""),
        (None, None, None, ""),
    ],
)
def test_a_name_that_both_know_decides_and_else_what_is_never_exchanged(
    before: str | None, after: str | None, model: str | None, evidence: str
) -> None:
    baseline = replace(with_platform(hostname=before), cpu_model="First CPU")
    now = replace(with_platform(hostname=after), cpu_model=model)

    assert drift(baseline, now).other_machine == evidence


def test_text_has_both_parts_and_fits_a_terminal() -> None:
    now = replace(with_settings(swappiness=60), dimm_slots=())
    text = drift_text(drift(BASELINE, now))

    assert text.startswith("1 of ")
    assert "Not comparable, because one side does not know them" in text
    assert max(map(len, text.splitlines())) <= 80


def test_the_document_has_both_values() -> None:
    document = drift_data(drift(BASELINE, with_settings(swappiness=60)))

    assert document["schema"] == "sizeup.check/1"
    assert document["drifted"] == [{"fact": "vm.swappiness", "baseline": "1", "now": "60"}]
    assert ComparedFact("vm.swappiness", "1", "60").now == "60"
