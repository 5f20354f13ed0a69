"""Advice: one answer of sizing, with its working."""

from __future__ import annotations

from msgspec import Struct

from sizeup.quantity import Quantity, Words


class Input(Struct, frozen=True):
    """A named figure that the advice was computed from."""

    key: str
    """The key a user can ``--set``, such as ``machine.ghz``, or the id of the rule that gave the figure."""
    quantity: Quantity | None
    """None for an input in words."""
    words: Words | None = None
    """None for a number."""
    shown_in: str = ""
    """The spelling of the unit that the key or the rule states its figure in, ``GHz`` or ``MiB``; empty for none."""


class Source(Struct, frozen=True):
    """Where a rule comes from."""

    id: str
    title: str
    date: str | None
    """Year, month or day printed in the source, as in ISO 8601; None when it has none."""
    confidence: str
    """``H``, ``M``, ``L``, ``C`` (computed) or ``K`` (not looked up)."""
    url: str | None = None


class Advice(Struct, frozen=True):
    """One figure or verdict."""

    id: str
    """Stable and dotted: ``io.demand.ghz-rule``."""
    title: str
    verdict: str
    """One sentence that stands alone, numbers and units included."""
    quantity: Quantity | None
    """None for a verdict without a figure."""
    working: tuple[str, ...]
    """The arithmetic, a line each, as a reader would redo it."""
    inputs: tuple[Input, ...]
    sources: tuple[Source, ...]
    caveats: tuple[str, ...] = ()
    shown_in: str = ""
    """The spelling of the unit that people of the field use for this figure, ``MB/s`` or ``MiB``; empty for none."""
    decision: str = ""
    """The answer as one word of a fixed set, ``short`` or ``balanced``, where the advice decides something."""
