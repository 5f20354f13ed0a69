"""Progress of a batch run: lines on standard error, and on a terminal one line that is updated."""

from __future__ import annotations

from typing import TextIO

from sizeup.model.sample import Progress, Status
from sizeup.session.records import OutcomeRecord, PlanRecord, ProgressRecord, Record, StepStartRecord
from sizeup.text import one_line, plural
from sizeup.units import as_percent
from sizeup.views.run.live_figures import time_left


class ProgressLines:
    """Shows the records of a run as they are written."""

    def __init__(self, stream: TextIO, *, quiet: bool) -> None:
        self._stream = stream
        self._quiet = quiet
        self._moving = not quiet and stream.isatty()
        self._steps = self._number = 0
        self._drawn = False

    def show(self, line: str) -> None:
        """Show one line, unless ``--quiet``."""
        if not self._quiet:
            self._clear_line()
            print(line, file=self._stream, flush=True)

    def __call__(self, record: Record) -> None:
        """Show a record where it is worth a line."""
        match record:
            case PlanRecord():
                steps = record.plan.steps
                self._steps, self._number = len(steps), 0
                seconds = sum(step.estimated_seconds for step in steps)
                longer = ", more while others use the CPU" if any(step.gentle for step in steps) else ""
                self.show(f"{plural(len(steps), 'step')}, about {seconds:.0f} s{longer}")
            case StepStartRecord():
                self._number += 1
                self.show(f"[{self._number}/{self._steps}] {record.step.id}: {one_line(record.step.title, 60)}")
            case ProgressRecord() if self._moving:
                left = time_left(Progress(record.done, record.remaining_seconds))
                parts = (as_percent(record.done, "3.0f"), left, one_line(record.activity, 40))
                self._clear_line()
                print(f"      {', '.join(filter(None, parts))}", end="\r", file=self._stream)
                self._stream.flush()
                self._drawn = True
            case OutcomeRecord() if record.outcome.status is not Status.OK:
                reason = f": {record.outcome.reason}" if record.outcome.reason else ""
                self.show(f"      {record.step} {record.outcome.status.value}{one_line(reason)}")
            case _:
                pass

    def _clear_line(self) -> None:
        if self._drawn:
            print("\r\x1b[K", end="", file=self._stream)
            self._drawn = False
