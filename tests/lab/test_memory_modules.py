"""Memory slots against dmidecode in a virtual machine: those of its own firmware, and tables made here.

dmidecode reads a table from a file, so that it judges every form that a table may have. Run by hand:
``pytest -m lab tests/lab/test_memory_modules.py``.
"""

import re
import struct
from pathlib import Path

import pytest

from lab.guest import run_guest, skip_without_lab
from sizeup.model.machine import DimmSlot
from sizeup.procfs.smbios import parse_memory_devices
from smbios_tables import END, SYSTEM, dimm, empty_slot

pytestmark = pytest.mark.lab

TABLES = {
    "usual": SYSTEM + dimm() + dimm("DIMM_B1", "P0 CHANNEL B") + empty_slot("DIMM_A2", "P0 CHANNEL A") + END,
    "sizes": b"".join(
        dimm(f"S{number}", size=size, extended=extended)
        for number, (size, extended) in enumerate(
            [(16 << 10, 0), (0x8000 | 512, 0), (0xFFFF, 0), (0x7FFF, 64 << 10), (0x7FFF, 0x8000_0000 | 1024), (1, 0)]
        )
    ) + END,
    "speeds": b"".join(
        dimm(f"S{number}", rated=rated, configured=configured, extended_speeds=extended)
        for number, (rated, configured, extended) in enumerate(
            [
                (0, 0, (0, 0)), (0xFFFF, 0xFFFF, (70_000, 68_000)), (5600, 0, (0, 0)), (0, 4800, (0, 0)),
                (1, 0xFFFE, (0, 0)),
            ]
        )
    ) + END,
    "kinds": b"".join(
        dimm(f"K{kind}", kind=kind) for kind in (0x07, 0x0F, 0x12, 0x13, 0x18, 0x1A, 0x1E, 0x20, 0x22, 0x23)
    ),
    "cut": dimm() + dimm("DIMM_B1")[:40],
}  # fmt: skip


def dump(table: bytes) -> bytes:
    """The file that ``dmidecode --from-dump`` reads: an entry point of SMBIOS 3.3, then the table."""
    entry = struct.pack("<5sBBBBBBBIQ", b"_SM3_", 0, 24, 3, 3, 0, 1, 0, len(table), 32)
    summed = bytearray(entry)
    summed[5] = -sum(entry) % 256
    return bytes(summed).ljust(32, b"\0") + table


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What dmidecode says in the guest: of its own table, and of each of ours."""
    skip_without_lab()
    root = tmp_path_factory.mktemp("dimms")
    (root / "in").mkdir()
    for name, table in TABLES.items():
        (root / "in" / name).write_bytes(dump(table))
    script = (
        'dmidecode -t 17 >"$OUT/own.txt"; cp /sys/firmware/dmi/tables/DMI "$OUT/own.bin"; '
        'for f in *; do dmidecode -t 17 --from-dump "$f" >"$OUT/$f.txt" 2>"$OUT/$f.err"; done; true'
    )
    return run_guest("numa2", root / "in", root / "out", script)


FIELDS = ("Locator", "Bank Locator", "Size", "Type", "Speed", "Configured Memory Speed", "Manufacturer", "Part Number")
NONE = frozenset({"Unknown", "Not Specified", "NO DIMM", "<OUT OF SPEC>"})


def theirs(text: str) -> list[dict[str, str | None]]:
    found = []
    for block in text.split("Memory Device\n")[1:]:
        lines = dict(re.findall(r"^\t([A-Z][\w ]+): (.*)$", block, re.MULTILINE))
        found.append({name: None if (value := lines.get(name)) in NONE or value is None else value for name in FIELDS})
    return found


def ours(slot: DimmSlot) -> dict[str, str | None]:
    """A slot in the words of dmidecode."""
    size = slot.size_bytes
    units = ((40, "TB"), (30, "GB"), (20, "MB"), (10, "kB"))
    exact = next((f"{size >> bits} {unit}" for bits, unit in units if size and size % (1 << bits) == 0), None)
    speeds = (slot.rated_transfers_per_second, slot.configured_transfers_per_second)
    rated, configured = (None if each is None else f"{each // 1_000_000} MT/s" for each in speeds)
    kind = {"non-volatile": "Logical non-volatile device"}.get(slot.kind or "", slot.kind)
    return {
        "Locator": slot.name, "Bank Locator": slot.bank, "Size": "No Module Installed" if size == 0 else exact,
        "Type": kind, "Speed": rated, "Configured Memory Speed": configured, "Manufacturer": slot.manufacturer,
        "Part Number": slot.part_number,
    }  # fmt: skip


def compare(text: str, table: bytes) -> int:
    slots, _ = parse_memory_devices(table)
    said = theirs(text)
    assert len(slots) == len(said)
    for slot, other in zip(slots, said, strict=True):
        mine = ours(slot)
        if slot.size_bytes == 0:  # of an empty slot we say no more
            mine, other = ({name: each[name] for name in ("Locator", "Bank Locator", "Size")} for each in (mine, other))
        assert mine == other
    return len(slots)


def test_the_slots_of_the_guest_are_those_that_dmidecode_lists(guest: Path) -> None:
    assert compare((guest / "own.txt").read_text(), (guest / "own.bin").read_bytes()) > 0


@pytest.mark.parametrize("name", [name for name in TABLES if name != "cut"])
def test_each_form_of_a_table_reads_as_dmidecode_reads_it(guest: Path, name: str) -> None:
    assert compare((guest / f"{name}.txt").read_text(), TABLES[name]) > 0


def test_a_table_that_is_cut_ends_at_the_same_slot(guest: Path) -> None:
    assert len(theirs((guest / "cut.txt").read_text())) >= len(parse_memory_devices(TABLES["cut"])[0]) == 1
