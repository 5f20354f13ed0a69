"""How a session's run went, in one word and one sentence: what every report says first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import Enum

from msgspec import Struct

from sizeup.model.sample import Status
from sizeup.session.validity import StepValidity
from sizeup.session.value import Session, StepRun
from sizeup.text import one_line, plural


class RunGrade(Enum):
    """Whether what a run measured can be used; the words are shown, so color is never the only carrier."""

    PASS = "PASS"  # noqa: S105  a grade, and no password
    WARN = "WARN"
    """Some of it cannot, or was not measured, or the user canceled it."""
    FAIL = "FAIL"
    """The run did not end as planned, or a step failed; of a chart, none of its figures is valid."""
    NONE = ""
    """Nothing was planned or measured."""


class RunStatus(Struct, frozen=True):
    """The grade of a session's run and why."""

    grade: RunGrade
    cause: str
    """One or two words: ``interrupted``, ``failed``; empty where everything was measured."""
    sentence: str
    """How many steps were measured, and what is wrong."""

    @property
    def words(self) -> str:
        """A text short enough for a heading: ``run FAIL (interrupted)``."""
        if self.grade is RunGrade.NONE:
            return self.cause
        return f"run {self.grade.value}{f' ({self.cause})' if self.cause else ''}"


NO_RUN = RunStatus(RunGrade.NONE, "", "")
"""Of what was worked out, and not measured."""


_MOST_PROBLEMS = 3
"""As many as a status line has room for; the others are among the caveats."""
_REASON_LENGTH = 160


def run_status(session: Session) -> RunStatus:
    """Return how the run went: its end, then failed and refused steps, then figures that are not valid."""
    steps = {step.id for step in session.plan.steps} if session.plan is not None else set()
    # As a run counts them: what is refused before it is planned is named, and no step.
    ended = {step for step, outcome in session.outcomes.items() if outcome.status is not Status.REFUSED}
    wanted = steps | session.steps.keys() | ended or session.outcomes.keys()
    if not wanted and session.end is not None:
        return RunStatus(RunGrade.NONE, "nothing measured", "No step was planned or measured")
    measured = sum(run.finished for run in session.steps.values())
    counts = f"{measured} of {plural(len(wanted), 'step')} measured"
    problems = sorted(_problems(session), key=lambda problem: problem.grade is not RunGrade.FAIL)
    if not problems:
        return RunStatus(RunGrade.PASS, "", counts)
    worst = problems[0]
    told = [problem.sentence for problem in problems[:_MOST_PROBLEMS] if problem.sentence]
    left = Counter(problem.cause for problem in problems[_MOST_PROBLEMS:])
    told += [f"{count} more {cause}" for cause, count in left.items()]
    grade = worst.grade if measured else RunGrade.FAIL
    return RunStatus(grade, worst.cause, "; ".join((counts, *told)))


def _problems(session: Session) -> Iterator[RunStatus]:
    if session.end is None:
        yield RunStatus(
            RunGrade.FAIL, "interrupted", "the last run has no end: it was interrupted, or is still running"
        )
    elif session.end.status != "complete":
        wanted = session.end.status == "canceled"
        yield RunStatus(RunGrade.WARN if wanted else RunGrade.FAIL, session.end.status, _short(session.end.reason))
    for step, outcome in session.outcomes.items():
        if not outcome.status.finished:
            chosen = outcome.status in (Status.REFUSED, Status.CANCELED)
            grade, cause = RunGrade.WARN if chosen else RunGrade.FAIL, outcome.status.words
            run = session.steps.get(step)
            name = step if run is None else run.step.title
            reason = outcome.reason or outcome.signal
            yield RunStatus(grade, cause, f"{name} {cause}{f' ({_short(reason)})' if reason else ''}")
    for run in session.steps.values():
        grade, invalid = validity_grade(run)
        if run.finished and invalid:
            cause = "not valid" if grade is RunGrade.FAIL else "partly valid"
            # The run itself went as planned: what it measured is to be measured again.
            yield RunStatus(RunGrade.WARN, cause, f"{run.step.title}: {invalid}")
    if session.damage.sentences():
        yield RunStatus(RunGrade.WARN, "damaged file", "the file is damaged: see the caveats")


def validity_grade(run: StepRun) -> tuple[RunGrade, str]:
    """Return whether the figures of a step are valid, and in a clause without figures why not; empty where all are."""
    validity = StepValidity(run)
    if validity.whole is not None:
        return RunGrade.FAIL, f"not valid because {validity.whole.cause}"
    marked = validity.summary()
    return RunGrade.WARN if marked else RunGrade.PASS, marked


def _short(reason: str) -> str:
    return one_line(reason, _REASON_LENGTH).rstrip(".")
