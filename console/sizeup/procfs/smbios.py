"""Memory modules in the firmware's SMBIOS table (DSP0134, Memory Device, type 17).

The table is the firmware's and may hold anything: each structure takes at least six bytes, so that a walk ends, and
what lies beyond the end of a structure or of the table is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from sizeup.model.machine import DimmSlot
from sizeup.text import decode, one_line

_HEADER = 4
_MEMORY_DEVICE, _END = 17, 127
_TEXT_LIMIT = 80
_SLOTS_LIMIT = 1 << 12
_SIZE_UNKNOWN, _SIZE_EXTENDED, _SPEED_EXTENDED = 0xFFFF, 0x7FFF, 0xFFFF

_KINDS = {
    0x03: "DRAM", 0x07: "RAM", 0x0F: "SDRAM", 0x11: "RDRAM", 0x12: "DDR", 0x13: "DDR2", 0x14: "DDR2 FB-DIMM",
    0x18: "DDR3", 0x19: "FBD2", 0x1A: "DDR4", 0x1B: "LPDDR", 0x1C: "LPDDR2", 0x1D: "LPDDR3", 0x1E: "LPDDR4",
    0x1F: "non-volatile", 0x20: "HBM", 0x21: "HBM2", 0x22: "DDR5", 0x23: "LPDDR5", 0x24: "HBM3",
}  # fmt: skip
NON_VOLATILE = _KINDS[0x1F]
"""The type of a persistent memory module, which is no peer of the DRAM beside it."""

_LOCATOR, _BANK, _MANUFACTURER, _SERIAL, _ASSET, _PART = 0x10, 0x11, 0x17, 0x18, 0x19, 0x1A
_FILLERS = frozenset(
    {"", "unknown", "not specified", "none", "n/a", "no dimm", "not available", "to be filled by o.e.m.", "empty"}
)
"""What firmware writes where it has nothing to say."""
_CHANNEL = re.compile(r"^.*?chan(?:nel)?[ _#-]*(?:[0-9]{1,2}|[A-Z])(?![A-Za-z0-9])", re.IGNORECASE)


class SmbiosStructure(Struct, frozen=True):
    """One structure: its formatted part with the header, and the strings behind it."""

    kind: int
    start: int
    end: int
    """Where the next one begins."""
    formatted: bytes
    strings: tuple[bytes, ...]

    def number(self, offset: int, size: int) -> int | None:
        """Return the little-endian number at ``offset``; None where this version of the structure lacks it."""
        field = self.formatted[offset : offset + size]
        return int.from_bytes(field, "little") if len(field) == size else None

    def text(self, offset: int) -> str | None:
        """Return the string that the byte at ``offset`` names; None where it names none, or a filler."""
        index = self.number(offset, 1)
        if index is None or not 0 < index <= len(self.strings):
            return None
        text = one_line(decode(self.strings[index - 1]).replace("\0", " "), _TEXT_LIMIT)
        return None if text.lower() in _FILLERS else text


def walk_structures(table: bytes) -> Iterator[SmbiosStructure]:
    """Return the structures of a table in their order; raise ValueError where one does not end inside it."""
    start = 0
    while start + _HEADER <= len(table):
        kind, length = table[start], table[start + 1]
        end = table.find(b"\0\0", start + length) if length >= _HEADER else -1
        if end < 0:
            raise ValueError("expected structures of 4 bytes or more that end inside the table, found another")
        strings = table[start + length : end].split(b"\0")
        yield SmbiosStructure(kind, start, end + 2, table[start : start + length], tuple(strings))
        if kind == _END:
            return
        start = end + 2


def _speed(device: SmbiosStructure, offset: int, extended_offset: int) -> int | None:
    megatransfers = device.number(offset, 2)
    if megatransfers == _SPEED_EXTENDED:
        extended = device.number(extended_offset, 4)
        megatransfers = None if extended is None else extended & 0x7FFF_FFFF
    return megatransfers * 1_000_000 if megatransfers else None


def channel_of(bank: str | None, name: str | None) -> str | None:
    """Return the locator up to the name of the channel: ``P0 CHANNEL A`` of ``P0 CHANNEL A DIMM 0``."""
    matches = (_CHANNEL.match(locator or "") for locator in (bank, name))
    return next((match[0] for match in matches if match is not None), None)


def _slot(device: SmbiosStructure) -> DimmSlot:
    name, bank = device.text(_LOCATOR), device.text(_BANK)
    stated, size = device.number(0x0C, 2), None
    if stated == _SIZE_EXTENDED:
        extended = device.number(0x1C, 4)
        size = None if extended is None else (extended & 0x7FFF_FFFF) << 20
    elif stated is not None and stated != _SIZE_UNKNOWN:
        size = (stated & 0x7FFF) << (10 if stated & 0x8000 else 20)
    if size == 0:
        return DimmSlot(name=name, bank=bank, size_bytes=0, channel=channel_of(bank, name))
    return DimmSlot(
        name=name,
        bank=bank,
        size_bytes=size,
        kind=_KINDS.get(device.number(0x12, 1) or 0),
        rated_transfers_per_second=_speed(device, 0x15, 0x54),
        configured_transfers_per_second=_speed(device, 0x20, 0x58),
        manufacturer=device.text(_MANUFACTURER),
        part_number=device.text(_PART),
        channel=channel_of(bank, name),
    )


def _memory_devices(table: bytes) -> tuple[list[SmbiosStructure], str | None]:
    devices: list[SmbiosStructure] = []
    try:
        for structure in walk_structures(table):
            if structure.kind == _MEMORY_DEVICE and len(devices) < _SLOTS_LIMIT:
                devices.append(structure)
    except ValueError as error:
        return devices, str(error)
    return devices, None


def parse_memory_devices(table: bytes) -> tuple[tuple[DimmSlot, ...], str | None]:
    """Return the memory slots of a table, and why the rest is missing where the table is malformed."""
    devices, fault = _memory_devices(table)
    return tuple(map(_slot, devices)), fault


def without_identities(table: bytes) -> bytes:
    """Return a table of the memory slots alone, with X in place of each character of their serial and asset numbers.

    The other structures hold the serial numbers of the machine and its identity (UUID) in binary form. A table with a
    fault keeps one, without what caused it.
    """
    devices, fault = _memory_devices(table)
    return b"".join(map(_nameless, devices)) + (b"" if fault is None else bytes((_MEMORY_DEVICE, 0, 0, 0)))


def _nameless(structure: SmbiosStructure) -> bytes:
    strings = list(structure.strings)
    for offset in (_SERIAL, _ASSET):
        index = structure.number(offset, 1)
        if index is not None and 0 < index <= len(strings):
            strings[index - 1] = b"X" * len(strings[index - 1])
    return structure.formatted + b"\0".join(strings) + b"\0\0"
