"""Gap: what could not be read, and why; never a zero in its place."""

from __future__ import annotations

from msgspec import Struct


class Gap(Struct, frozen=True):
    """One fact that stays unknown."""

    subject: str
    """The kernel file, or the field of the machine, that is missing."""
    reason: str
    """Such as ``missing``, ``permission denied``, or ``malformed`` with what was expected and found."""
