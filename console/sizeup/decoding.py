"""Decoders of typed values, safe to make in several threads.

msgspec works out a type when it is first used. Two threads that do so at once crash the process (msgspec 0.22): one
uses what the other has half made.
"""

from __future__ import annotations

import threading
from typing import Any

import msgspec

_LOCK = threading.Lock()


def json_decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """Return a decoder of JSON for a type; to be made once, as working out all types of a session takes 7 ms."""
    with _LOCK:
        return msgspec.json.Decoder(kind)


def convert(value: object, kind: Any) -> Any:
    """Return a decoded value as a type; raises ``msgspec.ValidationError``."""
    with _LOCK:
        return msgspec.convert(value, kind)
