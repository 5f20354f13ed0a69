"""SMBIOS tables as a firmware would write them, for tests."""

import struct


def structure(kind: int, body: bytes, *strings: str, handle: int = 0) -> bytes:
    """One structure: ``body`` is what follows the header, ``strings`` what its bytes name from 1 on."""
    texts = b"".join(text.encode() + b"\0" for text in strings) or b"\0"
    return struct.pack("<BBH", kind, 4 + len(body), handle) + body + texts + b"\0"


def dimm(
    name: str = "DIMM_A1",
    bank: str = "P0 CHANNEL A",
    *,
    size: int = 0x7FFF,
    extended: int = 32 << 10,
    kind: int = 0x1A,
    rated: int = 3200,
    configured: int = 2933,
    serial: str = "SECRET77",
    asset: str = "ASSET42",
    part: str = "M393A4K40DB3",
    extended_speeds: tuple[int, int] = (0, 0),
) -> bytes:
    """A Memory Device of SMBIOS 3.3; sizes in MiB, speeds in MT/s."""
    body = struct.pack(
        "<HHHHHBBBBBHHBBBBBIHHHHBHBHHHHQQQQII",
        0, 0xFFFE, 72, 64, size, 9, 0, 1, 2, kind, 0x80, rated, 3, 4, 5, 6, 2, extended, configured,
        1200, 1200, 1200, 3, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, *extended_speeds,
    )  # fmt: skip
    return structure(17, body, name, bank, "Samsung", serial, asset, part)


def empty_slot(name: str, bank: str) -> bytes:
    """A slot without a module."""
    return dimm(name, bank, size=0, rated=0, configured=0, serial="NO DIMM", asset="NO DIMM", part="NO DIMM")


END = structure(127, b"")
SYSTEM = structure(1, bytes(range(1, 24)), "Maker", "Model", "1", "CHASSIS99")
"""Type 1, with the serial number and the identity of the machine."""
