"""Memory slots of the firmware's table, whatever it holds."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizeup.model.machine import DimmSlot
from sizeup.procfs.smbios import channel_of, parse_memory_devices, walk_structures, without_identities
from smbios_tables import END, SYSTEM, dimm, empty_slot, structure

GIB = 1 << 30
FAULT = "expected structures of 4 bytes or more that end inside the table, found another"


def only_slot(table: bytes) -> DimmSlot:
    slots, fault = parse_memory_devices(table)
    assert fault is None
    (slot,) = slots
    return slot


def test_a_module_is_read_with_both_its_speeds() -> None:
    assert only_slot(SYSTEM + dimm() + END) == DimmSlot(
        "DIMM_A1", "P0 CHANNEL A", 32 * GIB, "DDR4", 3_200_000_000, 2_933_000_000, "Samsung", "M393A4K40DB3",
        "P0 CHANNEL A",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("size", "extended", "expected"),
    [
        (16 << 10, 0, 16 * GIB),
        (0x8000 | 512, 0, 512 << 10),
        (0xFFFF, 0, None),
        (0x7FFF, 128 << 10, 128 * GIB),
        (0x7FFF, 0xFFFF_FFFF, 0x7FFF_FFFF << 20),
        (0, 0, 0),
    ],
    ids=["MiB", "KiB", "unknown", "extended", "reserved bit", "empty"],
)
def test_the_size_is_read_in_each_form(size: int, extended: int, expected: int | None) -> None:
    slot = only_slot(dimm(size=size, extended=extended))

    assert slot.size_bytes == expected
    assert slot.populated is (None if expected is None else expected > 0)


def test_speeds_above_65535_stand_elsewhere_and_zero_is_unknown() -> None:
    fast = only_slot(dimm(rated=0xFFFF, configured=0xFFFF, extended_speeds=(70_000, 68_000)))
    assert (fast.rated_transfers_per_second, fast.configured_transfers_per_second) == (70_000_000_000, 68_000_000_000)
    silent = only_slot(dimm(rated=0, configured=0))
    assert (silent.rated_transfers_per_second, silent.configured_transfers_per_second) == (None, None)


def test_an_empty_slot_has_a_name_and_nothing_else() -> None:
    assert only_slot(empty_slot("DIMM_A2", "P0 CHANNEL A")) == DimmSlot(
        "DIMM_A2", "P0 CHANNEL A", 0, channel="P0 CHANNEL A"
    )


def test_an_early_version_has_no_configured_speed() -> None:
    """SMBIOS 2.3 ends at the part number; 2.1 before the speed."""
    body = dimm()[4:0x1B]

    slot = only_slot(structure(17, body, "DIMM 0", "BANK 0", "Maker"))
    assert (slot.rated_transfers_per_second, slot.configured_transfers_per_second) == (3_200_000_000, None)
    assert only_slot(structure(17, body[:17], "DIMM 0")).rated_transfers_per_second is None


@pytest.mark.parametrize("filler", ["Unknown", "Not Specified", " ", "NO DIMM", "None"])
def test_fillers_of_the_firmware_are_unknown(filler: str) -> None:
    assert only_slot(dimm(part=filler)).part_number is None


@pytest.mark.parametrize(
    ("bank", "name", "channel"),
    [
        ("P0 CHANNEL A", "DIMM 0", "P0 CHANNEL A"),
        ("P1_Node1_Channel2_Dimm0", "DIMM_G1", "P1_Node1_Channel2"),
        ("BANK 0", "ChannelB-DIMM1", "ChannelB"),
        (None, "CPU_SrcID#1_Ha#0_Chan#3_DIMM#0", "CPU_SrcID#1_Ha#0_Chan#3"),
        ("BANK 0", "DIMM_A1", None),
        ("Not changed", "A1", None),
        ("CHANGE A", "A1", None),
        (None, None, None),
    ],
)
def test_a_channel_is_known_only_where_a_locator_names_it(
    bank: str | None, name: str | None, channel: str | None
) -> None:
    assert channel_of(bank, name) == channel


@pytest.mark.parametrize(
    ("table", "slots", "fault"),
    [
        (b"", 0, None),
        (b"\x11", 0, None),
        (b"\0" * 5000, 0, FAULT),
        (dimm() + b"\x11\x03\0\0\0\0", 1, FAULT),
        (dimm() + b"\x11\xff\0\0", 1, FAULT),
        (dimm() + dimm()[:-2], 1, FAULT),
        (END + dimm(), 0, None),
        (dimm() * 5000, 4096, None),
    ],
    ids=["empty", "one byte", "zeros", "too short", "beyond the end", "no end", "behind the end", "too many"],
)
def test_a_broken_table_ends_the_walk_and_keeps_what_came_before(table: bytes, slots: int, fault: str | None) -> None:
    found, why = parse_memory_devices(table)

    assert (len(found), why) == (slots, fault)


def test_a_name_of_5000_characters_is_cut_and_control_characters_are_replaced() -> None:
    slot = only_slot(dimm("9" * 5000, "\x1b[31mP0\x07"))

    assert len(slot.name or "") == 80
    assert (slot.bank or "").isprintable()


def test_a_string_that_does_not_exist_is_unknown() -> None:
    table = structure(17, dimm()[4:0x5C])
    assert only_slot(table).name is None


def test_nothing_but_slots_without_numbers_is_left_behind_the_mask() -> None:
    table = SYSTEM + dimm() + empty_slot("DIMM_A2", "P0 CHANNEL A") + END
    masked = without_identities(table)

    assert parse_memory_devices(masked) == parse_memory_devices(table)
    assert not [word for word in (b"SECRET77", b"ASSET42", b"CHASSIS99", bytes(range(5, 20))) if word in masked]


def test_a_fault_of_the_table_stays_behind_the_mask() -> None:
    table = dimm() + b"\x11\x03\0\0SECRET77"

    assert parse_memory_devices(without_identities(table)) == parse_memory_devices(table)
    assert parse_memory_devices(table)[1] == FAULT
    assert b"SECRET77" not in without_identities(table)


@given(data=st.binary(max_size=400))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for table in (data, dimm() + data, data + dimm() + END, struct.pack("<BBH", 17, len(data) % 256, 0) + data):
        assert parse_memory_devices(table) == parse_memory_devices(without_identities(table))


def test_structures_are_walked_in_their_order() -> None:
    assert [found.kind for found in walk_structures(SYSTEM + dimm() + END)] == [1, 17, 127]
