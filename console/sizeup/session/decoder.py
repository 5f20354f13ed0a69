"""Decodes one line of a session file, which is untrusted.

Every character that could steer a terminal is replaced before a string reaches anyone, and neither depth nor the size
of a number is trusted.
"""

from __future__ import annotations

import re
from typing import Any, cast

import msgspec

from sizeup.decoding import convert, json_decoder
from sizeup.session.records import AnyRecord, Record, decoder
from sizeup.text import clean

SAMPLES_PREFIX = b'{"kind":"samples"'
_INTEGER_LIMIT = 1 << 63
_LONG_NUMBER = re.compile(rb"[:\[,]-?\d{19}")


class _Heading(msgspec.Struct):
    """The fields of a line that identify its kind."""

    kind: str
    format: int | None = None


_HEADING: msgspec.json.Decoder[_Heading] = json_decoder(_Heading)
_KNOWN = frozenset(cast("str", kind.__struct_config__.tag) for kind in Record.__subclasses__())


def _cleaned(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        return clean(value)
    if depth > 50:
        raise ValueError("nested deeper than 50 levels")
    if isinstance(value, list):
        return [_cleaned(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {clean(key): _cleaned(item, depth + 1) for key, item in value.items()}
    return bounded(value)


def bounded(value: Any) -> Any:
    """Return the value; raise ``ValueError`` for an integer that no column holds."""
    if isinstance(value, int) and abs(value) >= _INTEGER_LIMIT:
        raise ValueError("a whole number beyond 64 bits")
    return value


def decode(line: bytes) -> AnyRecord:
    """The record of a line, cleaned; ``ValueError`` and its like where it is none."""
    # Samples are plain ASCII without escapes; only what may hide a control character, or a number that no
    # column and no float can hold, takes the slow way.
    plain = line.isascii() and b"\\" not in line and b"\x7f" not in line
    if plain and (line.startswith(SAMPLES_PREFIX) or not _LONG_NUMBER.search(line)):
        return cast("AnyRecord", decoder().decode(line))
    return cast("AnyRecord", convert(_cleaned(msgspec.json.decode(line)), AnyRecord))


def is_unknown(line: bytes) -> bool:
    """Whether a line is a record of a kind that this version does not know."""
    try:
        return _HEADING.decode(line).kind not in _KNOWN
    except (msgspec.DecodeError, ValueError, RecursionError):
        return False


def format_of(line: bytes) -> int:
    """Return the format that the first line of a file states; 0 where it states none."""
    heading = _HEADING.decode(line)
    return (heading.format or 0) if heading.kind == "session" else 0
