"""The whole contract with a plug-in.

A probe is an entry point in the group ``sizeup.probes`` whose name is the probe's name, and a
``probe.toml`` in its package that says everything that can be said without running code. The
class plans without side effects, and measures in a worker process of its own, where it may be
killed at any time. It never prints, draws, logs or opens kernel files of the machine by itself
in ``plan``; what it raises fails its step and not the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from sizeup.errors import RefusedError
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Refusal, Settings, Step
from sizeup.model.sample import Estimate, Progress, Samples

__all__ = ["Context", "Emission", "Probe", "RefusedError"]

Emission = Samples | Estimate | Progress | Gap
"""What a running step may yield."""


class Context(Protocol):
    """What a running step may ask of its worker."""

    @property
    def canceled(self) -> bool:
        """Whether the step should end as soon as it can."""

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` once, from another thread, when the step is canceled; at once if it already is."""

    def now_ns(self) -> int:
        """Nanoseconds of CLOCK_MONOTONIC_RAW since the run began."""

    def since_start_ns(self, monotonic_raw_ns: int) -> int:
        """Convert a reading of CLOCK_MONOTONIC_RAW to nanoseconds since the run began."""


class Probe(Protocol):
    """What an entry point of ``sizeup.probes`` names: a class without constructor arguments."""

    def plan(self, machine: Machine, settings: Settings) -> Iterable[Step | Refusal]:
        """Return the steps for this machine and these settings; touch nothing.

        ``settings`` holds every parameter of the manifest that has an effect beside the others (``used_with``),
        defaults filled in and ranges checked.
        """

    def run(self, step: Step, context: Context) -> Iterable[Emission]:
        """Measure. Raise ``RefusedError`` with the reason where this cannot be done here."""
