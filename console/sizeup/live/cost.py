"""What the console costs the machine that it watches: reported by the console to the run, and kept with it."""

from __future__ import annotations

import msgspec
from msgspec import Struct


class ConsoleCost(Struct, frozen=True):
    """Totals since that console started."""

    cpu_seconds: float
    """User and system time of all its threads."""
    bytes: int
    """Sent to its terminal."""


COMMAND = b"console "
"""Begins the line that carries it; the rest is one JSON object with the fields above."""


def format_cost(cost: ConsoleCost) -> bytes:
    """The line, without its end."""
    return COMMAND + msgspec.json.encode(cost)


def parse_cost(line: bytes) -> ConsoleCost | None:
    """The line's value; None where it is none, or speaks of less than nothing."""
    if not line.startswith(COMMAND):
        return None
    try:
        cost = msgspec.json.decode(line.removeprefix(COMMAND), type=ConsoleCost)
    except msgspec.MsgspecError:
        return None
    return cost if cost.cpu_seconds >= 0 and cost.bytes >= 0 else None
