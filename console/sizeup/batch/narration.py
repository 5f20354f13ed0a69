"""What a batch run tells while it goes: lines on standard error, and a moving one only on a terminal."""

from __future__ import annotations

from typing import TextIO

from sizeup.model.sample import Status
from sizeup.session.records import OutcomeRecord, PlanRecord, ProgressRecord, Record, StepStartRecord
from sizeup.text import one_line


class Narrator:
    """Listens to a run's records."""

    def __init__(self, stream: TextIO, *, quiet: bool) -> None:
        self._stream = stream
        self._quiet = quiet
        self._moving = not quiet and stream.isatty()
        self._steps = self._number = 0
        self._drawn = False

    def say(self, line: str) -> None:
        """One line, unless asked to be quiet."""
        if not self._quiet:
            self._wipe()
            print(line, file=self._stream, flush=True)

    def __call__(self, record: Record) -> None:
        """Tell of a record what is worth a line."""
        match record:
            case PlanRecord():
                steps = record.plan.steps
                self._steps, self._number = len(steps), 0
                seconds = sum(step.estimated_seconds for step in steps)
                self.say(f"{len(steps)} steps, about {seconds:.0f} s")
            case StepStartRecord():
                self._number += 1
                self.say(f"[{self._number}/{self._steps}] {record.step.id}: {one_line(record.step.title, 60)}")
            case ProgressRecord() if self._moving:
                left = "" if record.remaining_seconds is None else f", {record.remaining_seconds:.0f} s left"
                self._wipe()
                print(f"      {record.done:4.0%}{left} {one_line(record.activity, 40)}", end="\r", file=self._stream)
                self._stream.flush()
                self._drawn = True
            case OutcomeRecord() if record.outcome.status is not Status.OK:
                reason = f": {record.outcome.reason}" if record.outcome.reason else ""
                self.say(f"      {record.step} {record.outcome.status.value}{one_line(reason)}")
            case _:
                pass

    def _wipe(self) -> None:
        if self._drawn:
            print("\r\x1b[K", end="", file=self._stream)
            self._drawn = False
