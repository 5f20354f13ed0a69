"""The band at the top of every screen and report: the answer, what to do, and what it rests on."""

from __future__ import annotations

from msgspec import Struct


class NextStep(Struct, frozen=True):
    """Something to do, with the key that does it: ``Move /u01 to NVMe: 14 %.  4 tries it``."""

    text: str = ""
    """What to do and what results; empty where the key leads: ``w Load an AWR file``."""
    key: str = ""
    does: str = ""
    """What the key does, in the words behind it."""


class Number(Struct, frozen=True):
    """The one large number of a screen."""

    text: str
    """Digits, and at most a point or a comma."""
    unit: str = ""
    name: str = ""
    """What it is, on the line beneath: ``of storage capacity``."""
    token: str = ""
    """Of its color; empty for that of the band."""


class Band(Struct, frozen=True):
    """What a screen answers first."""

    word: str
    """The badge: ``FAIL``, ``NO WORKLOAD``, ``VALID``, ``3 OUTLIERS``."""
    status: str
    """The token of its color: ``ok``, ``warn``, ``bad``, or ``acc`` for what is neither good nor bad."""
    sentence: str
    """One sentence of at most 80 characters."""
    short: str = ""
    """The same in at most 60 characters for narrow screens; empty where it is as short."""
    steps: tuple[NextStep, ...] = ()
    """What to do next, and at most one other thing, which takes the place of the basis."""
    basis: str = ""
    """Where the figures are from, how old, and what is assumed, with dots between."""
    why: str = ""
    """The key that shows the working; empty where there is none."""
    number: Number | None = None
    before: tuple[str, str, str] | None = None
    """Badge, token and share before a change that is shown: ``FAIL``, ``bad``, ``131 %``."""
