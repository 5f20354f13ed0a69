"""Memory modules and settings as sections of ``sizeup detect``."""

from msgspec.structs import replace

from sizeup.discovery.numa import NEEDS_ROOT, SMBIOS_TABLE
from sizeup.model.machine import DimmSlot, EdacController, EdacDimm, Gap, Machine, OsSettings, Platform
from sizeup.model.storage import BlockDevice, BlockKind
from sizeup.report.machine import machine_text, section_lines
from sizeup.views.machine.hardware_sections import disk_settings_section, memory_modules_section, settings_section

GIB = 1 << 30
SLOT = DimmSlot("A1", "P0 CHANNEL A", 32 * GIB, "DDR4", 3_200_000_000, 2_933_000_000, "Samsung", "M393", "P0 CHANNEL A")
EMPTY = DimmSlot("B1", "P0 CHANNEL B", 0, channel="P0 CHANNEL B")
EDAC = EdacController("mc0", None, 7, 0, 60, (EdacDimm("dimm0", kind="Registered-DDR4", size_bytes=32 * GIB),))


def test_modules_are_listed_as_dmidecode_does() -> None:
    section = memory_modules_section(Machine(dimm_slots=(SLOT, EMPTY)))

    assert section is not None
    assert section_lines(section, 80) == [
        "Memory modules",
        "  slots         1 of 2 populated",
        "  modules       1 × 32 GiB DDR4",
        "  speed         2,933 MT/s (rated 3,200 MT/s)",
        "  channels      2 channels: 1 × 32 GiB, 1 × empty",
        "  slot  bank            size  type   MT/s  rated  part",
        "  ----  ------------  ------  ----  -----  -----  ------------",
        "  A1    P0 CHANNEL A  32 GiB  DDR4  2,933  3,200  Samsung M393",
    ]


def test_a_user_is_told_that_slots_need_root() -> None:
    section = memory_modules_section(Machine(gaps=(Gap(SMBIOS_TABLE, NEEDS_ROOT),), memory_controllers=(EDAC,)))

    facts = dict(section.facts)
    assert facts["slots"] == f"unknown: {SMBIOS_TABLE}: permission denied: needs root"
    assert facts["modules"] == "1 × 32 GiB Registered-DDR4 (EDAC, which lists no empty slot and no speed)"
    assert facts["errors"] == "7 correctable, 0 uncorrectable (1 memory controller)"


def test_a_count_that_is_unknown_is_no_zero() -> None:
    section = memory_modules_section(Machine(memory_controllers=(replace(EDAC, correctable_errors=None),)))

    assert dict(section.facts)["errors"].startswith("unknown correctable, 0 uncorrectable")


def test_what_nothing_lists_has_no_section() -> None:
    assert memory_modules_section(Machine()) is None
    assert settings_section(Machine()) is None
    assert disk_settings_section(Machine()) is None


def test_many_slots_are_summed_up() -> None:
    section = memory_modules_section(Machine(dimm_slots=(SLOT,) * 64))

    assert section.table is None
    assert dict(section.facts)["modules"] == "64 × 32 GiB DDR4"


def test_each_setting_has_its_value_and_what_vendors_recommend() -> None:
    machine = Machine(settings=OsSettings(swappiness=60), platform=Platform(transparent_huge_pages="madvise"))
    section = settings_section(machine)

    assert section.table is not None
    rows = {row[0]: row[1:] for row in section.table.rows}
    assert rows["vm.swappiness"] == ("60", "1 (SQL Server); 10 (Oracle, by Red Hat); 1 or 0 (MongoDB 7.0, MongoDB 8.0)")
    assert rows["transparent_hugepage"][1].startswith(
        "madvise (Oracle 26ai); madvise on UEK 7 and later, never before (Oracle 19c); "
    )
    assert set(rows) == {"vm.swappiness", "transparent_hugepage"}


def test_disks_that_are_alike_share_a_row() -> None:
    disk = BlockDevice("sd", BlockKind.SCSI, 10**12, scheduler="none", read_ahead_bytes=128 << 10)
    others = BlockDevice("nvme0n1", BlockKind.NVME, 10**12, scheduler="none", read_ahead_bytes=8 << 20)
    disks = tuple(replace(disk, name=f"sd{number}") for number in range(4000))
    section = disk_settings_section(Machine(block_devices=(*disks, others, BlockDevice("sr0", BlockKind.OPTICAL, 1))))

    assert section.table.rows == (
        ("sd0, sd1, sd2, sd3 and 3996 more", "none", "128", "-", "-", "-"),
        ("nvme0n1", "none", "8192", "-", "-", "-"),
    )


def test_the_whole_text_fits_a_terminal() -> None:
    slot = replace(SLOT, name="P0_Node0_Channel0_Dimm0", bank="P0_Node0_Channel0_Dimm0", part_number="9" * 80)
    text = machine_text(
        Machine(
            dimm_slots=(slot,), settings=OsSettings(swappiness=60, max_map_count=1, dirty_background_ratio=3),
            platform=Platform(transparent_huge_pages="never", governor="performance"),
        )
    )  # fmt: skip

    assert max(map(len, text.splitlines())) <= 80
