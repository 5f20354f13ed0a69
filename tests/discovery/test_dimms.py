"""Memory modules: the firmware's slots for root, EDAC's modules and error counts for everybody."""

import io
import tarfile
from pathlib import Path

import pytest

from sizeup.discovery.capture import capture
from sizeup.discovery.machine import discover
from sizeup.discovery.numa import NEEDS_ROOT, SMBIOS_TABLE, read_edac
from sizeup.discovery.sysroot import Sysroot
from sizeup.model.machine import EdacController, EdacDimm, Gap
from smbios_tables import END, SYSTEM, dimm, empty_slot
from trees import grow, machine

EDAC = """
/sys/devices/system/edac/mc/mc0/mc_name = Skylake Socket#0 IMC#0
/sys/devices/system/edac/mc/mc0/ce_count = 7
/sys/devices/system/edac/mc/mc0/ue_count = 0
/sys/devices/system/edac/mc/mc0/seconds_since_reset = 86400
/sys/devices/system/edac/mc/mc0/dimm{0-1}/size = 32768
/sys/devices/system/edac/mc/mc0/dimm{0-1}/dimm_mem_type = Registered-DDR4
/sys/devices/system/edac/mc/mc0/dimm{0-1}/dimm_location = channel {} slot 0
/sys/devices/system/edac/mc/mc0/dimm{0-1}/dimm_label = CPU_SrcID#0_Ha#0_Chan#{}_DIMM#0
/sys/devices/system/edac/mc/mc0/dimm0/dimm_ce_count = 7
/sys/devices/system/edac/mc/mc0/dimm1/dimm_ce_count = 0
/sys/devices/system/edac/mc/mc0/dimm{0-1}/dimm_ue_count = 0
/sys/devices/system/edac/mc/mc0/csrow0/size_mb = 65536
/sys/devices/system/edac/mc/power/control = auto
"""


def with_table(root: Path, table: bytes) -> str:
    """A machine whose firmware has this table."""
    made = machine(root, "2-sockets-smt")
    path = root / SMBIOS_TABLE.lstrip("/")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(table)
    return made


def test_slots_are_those_of_the_table(tmp_path: Path) -> None:
    table = SYSTEM + dimm() + empty_slot("DIMM_A2", "P0 CHANNEL A") + END

    slots = discover(with_table(tmp_path, table)).dimm_slots

    assert [(slot.name, slot.populated) for slot in slots] == [("DIMM_A1", True), ("DIMM_A2", False)]


def test_a_machine_without_a_table_has_no_slots_and_no_gap(tmp_path: Path) -> None:
    found = discover(machine(tmp_path, "2-sockets-smt"))

    assert found.dimm_slots == found.memory_controllers == ()
    assert not [gap for gap in found.gaps if "dmi/tables" in gap.subject]


def test_a_table_for_root_alone_is_a_gap_that_says_so(tmp_path: Path) -> None:
    file = tmp_path / "host.tar"
    with tarfile.open(file, "w") as archive:
        manifest = f'{{"refused": {{"{SMBIOS_TABLE}": 13}}}}'
        for name, text in (("sizeup-capture.json", manifest), (SMBIOS_TABLE.lstrip("/"), "")):
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))

    found = discover(str(file))

    assert found.dimm_slots == ()
    assert Gap(SMBIOS_TABLE, NEEDS_ROOT) in found.gaps
    assert "root" in NEEDS_ROOT


def test_a_broken_table_is_a_gap_with_what_came_before(tmp_path: Path) -> None:
    found = discover(with_table(tmp_path, dimm() + b"\x11\x02" + b"\xff" * 3000))

    assert len(found.dimm_slots) == 1
    assert any(gap.subject == SMBIOS_TABLE and gap.reason.startswith("malformed: ") for gap in found.gaps)


@pytest.mark.parametrize("salt", [None, b"one"], ids=["unmasked", "masked"])
@pytest.mark.parametrize("rest", [END, b"\x11\x02SECRET77\0\0"], ids=["whole", "broken"])
def test_a_capture_keeps_the_slots_and_masked_no_serial_number(tmp_path: Path, salt: bytes | None, rest: bytes) -> None:
    root = with_table(tmp_path / "root", SYSTEM + dimm() + rest)
    file = tmp_path / "host.tar"

    made, *_ = capture(root, str(file), tool="test", salt=salt)

    assert discover(str(file)) == made
    assert made.dimm_slots == discover(root).dimm_slots
    left = [secret for secret in (b"SECRET77", b"ASSET42", b"CHASSIS99") if secret in file.read_bytes()]
    assert bool(left) is (salt is None)


def test_edac_lists_modules_with_their_errors(tmp_path: Path) -> None:
    (found,) = read_edac(Sysroot(grow(tmp_path, EDAC)))

    assert found == EdacController(
        "mc0", "Skylake Socket#0 IMC#0", 7, 0, 86400,
        tuple(
            EdacDimm(
                f"dimm{number}", f"CPU_SrcID#0_Ha#0_Chan#{number}_DIMM#0", f"channel {number} slot 0",
                "Registered-DDR4", 32 << 30, errors, 0,
            )
            for number, errors in ((0, 7), (1, 0))
        ),
    )  # fmt: skip


def test_modules_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    root = grow(tmp_path, "/sys/devices/system/edac/mc/mc1/rank{0-11}/size = 4096")

    assert [module.name for module in read_edac(Sysroot(root))[0].dimms] == [f"rank{number}" for number in range(12)]


@pytest.mark.parametrize("text", ["9" * 5000, "-1", "many", "\\x00", "18446744073709551616", ""])
def test_counts_that_are_none_are_unknown(tmp_path: Path, text: str) -> None:
    names = ("ce_count", "ue_count", "seconds_since_reset", "dimm0/size", "dimm0/dimm_ce_count", "dimm0/dimm_ue_count")
    root = grow(tmp_path, "\n".join(f"/sys/devices/system/edac/mc/mc0/{name} = {text}" for name in names))

    assert read_edac(Sysroot(root)) == (EdacController("mc0", dimms=(EdacDimm("dimm0"),)),)
