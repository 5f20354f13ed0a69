"""Runs a plan: every record goes to the log first, then to the listeners."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from sizeup.model.plan import Plan, Step
from sizeup.model.records import ProgressRecord, Record, StepRecord
from sizeup.model.sample import Outcome, Status
from sizeup.probing.registry import Registry
from sizeup.probing.runner import Control, run_step
from sizeup.session.records import OutcomeRecord, StepStartRecord
from sizeup.session.writer import Writer

Listener = Callable[[Record], None]
_PROGRESS_EVERY_NS = 1_000_000_000


class RunControl(Control, Protocol):
    """Commands for the whole run."""

    @property
    def cancel_run(self) -> bool:
        """Whether no further step should start."""

    def next_step(self) -> bool:
        """Wait while paused, forget a canceled step; False when the run should end."""


class Recorder:
    """Turns what happens into records of one session."""

    def __init__(self, writer: Writer, *, origin_ns: int, listeners: Sequence[Listener] = ()) -> None:
        self._writer = writer
        self._origin_ns = origin_ns
        self._listeners = listeners

    def now_ns(self) -> int:
        """Nanoseconds of CLOCK_MONOTONIC_RAW since the run began."""
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - self._origin_ns

    def put(self, *records: Record) -> None:
        """Write the records, then pass them to the listeners."""
        if not records:
            return
        self._writer.write(*records)
        for listener in self._listeners:
            for record in records:
                listener(record)

    def sync(self) -> None:
        """Wait until all that was logged is on the disk."""
        self._writer.sync()

    def refuse(self, plan: Plan) -> None:
        """Record the steps that the plan refuses."""
        now = self.now_ns()
        self.put(
            *(OutcomeRecord(now, refusal.step, Outcome(Status.REFUSED, refusal.reason)) for refusal in plan.refusals)
        )

    def run(
        self,
        steps: Iterable[Step],
        registry: Registry,
        control: RunControl,
        between: Callable[[], Iterable[Record]] = tuple,
        *,
        start_delay_ns: int = 0,
    ) -> None:
        """Run steps in order, each in a worker; ``between`` returns the records to add after each.

        ``start_delay_ns`` is that of the first step, where the run had an agreed start.
        """
        for step in steps:
            if not control.next_step():
                return
            self._step(step, registry, control, start_delay_ns)
            start_delay_ns = 0
            self.put(*between())
            self.sync()

    def _step(self, step: Step, registry: Registry, control: RunControl, start_delay_ns: int) -> None:
        probe = registry.get(step.probe)
        manifest = probe.manifest
        declared = manifest.declaration()
        self.put(
            StepStartRecord(
                self.now_ns(), step, probe.distribution, probe.series, manifest.chart, start_delay_ns, declared
            )
        )
        self.sync()
        last_progress_ns = -_PROGRESS_EVERY_NS

        def listen(records: Iterable[StepRecord]) -> None:
            nonlocal last_progress_ns
            kept: list[Record] = []
            for record in records:
                if isinstance(record, ProgressRecord):
                    if record.t_ns - last_progress_ns < _PROGRESS_EVERY_NS:
                        continue
                    last_progress_ns = record.t_ns
                kept.append(record)
            self.put(*kept)

        outcome = run_step(step, probe.target, origin_ns=self._origin_ns, control=control, listener=listen)
        self.put(OutcomeRecord(self.now_ns(), step.id, outcome))
