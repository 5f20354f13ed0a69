"""The only importer of the extension; turns its status codes into exceptions."""

from __future__ import annotations

from sizeup_clock._native import lib


def now_ns() -> int:
    """CLOCK_MONOTONIC_RAW in nanoseconds."""
    return int(lib.sizeup_clock_now_ns())
