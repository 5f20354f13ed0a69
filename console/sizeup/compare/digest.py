"""What a comparison needs of a session: one figure per run and point; the samples are let go."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from sizeup.compare.headlines import by_round, headlines
from sizeup.compare.statistics import median
from sizeup.errors import UsageError
from sizeup.model.machine import Machine
from sizeup.model.plan import Series, Settings
from sizeup.model.sample import Coordinates
from sizeup.session.reader import read_session
from sizeup.session.store import SUFFIX, find
from sizeup.session.validity import StepValidity
from sizeup.session.value import PointKey, Session, StepRun, point_key

WORKLOAD = "workload"
"""The coordinate by which points name their workload."""


class RunValue(Struct, frozen=True):
    """One point of one metric, as one run saw it."""

    metric: str
    """Probe and series: ``memory.latency.dram-thp``."""
    key: PointKey
    at: Coordinates
    series: Series | None
    """None where the session does not say what its series are."""
    value: float
    """The run's estimate; where the probe gave none, the median of its undisturbed samples."""
    run: str
    """Session and round, such as ``1c9f…~2``: what one pass of the plan measured."""
    settings: Settings
    distribution: str
    when: float | None = None
    """Seconds since the epoch when it was begun; None where the session does not say."""
    low: float | None = None
    """The run's own 95 % interval, over what it repeated; None where it gave none."""
    high: float | None = None
    invalid: str = ""
    """Why the run itself calls this figure invalid; empty where it does not."""
    card: str = ""
    """The card of a named figure; empty for what is none."""
    scatter: bool = False
    """Whether a named figure did not converge in this run."""


class Digest(Struct, frozen=True):
    """One session without its samples."""

    path: str
    id: str
    host: str
    started: str
    tool: str
    machine: Machine | None
    facts: dict[str, str | int | float | bool | None]
    """The last environment record, and whether the host was measured at full load."""
    values: tuple[RunValue, ...]
    damage: tuple[str, ...]
    source: str = ""
    """Where a published case was printed; empty for a session."""
    title: str = ""
    """What a published case is; empty for a session."""
    note: str = ""
    """What the source of a published case leaves open, or what was noted in a session."""
    invalid_results: tuple[str, ...] = ()
    """Which figures are not valid, and why: a sentence for each step that has some."""
    headlines: tuple[RunValue, ...] = ()
    """The named figures of each pass of the plan."""


def digest(session: Session, path: str) -> Digest:
    """Reduce a session to one figure per run and point, of steps that came to their end."""
    header = session.header
    started = epoch(header.started)
    values = tuple(
        value for run in session.steps.values() if run.finished for value in _run_values(run, header.id, started)
    )
    facts = session.environment[-1].facts if session.environment else {}
    marked = ((run.step.id, StepValidity(run).summary()) for run in session.steps.values())
    return Digest(
        path,
        header.id,
        header.host,
        header.started,
        header.tool,
        session.machine,
        {**facts, "load": f"gentle, {session.gentle}" if session.gentle else "full"},
        values,
        session.damage.sentences(),
        note="; ".join(note.text for note in session.notes if note.text),
        invalid_results=tuple(f"{step}: {words}" for step, words in marked if words),
        headlines=tuple(_headlines(session, started)),
    )


def digest_side(
    paths: Sequence[str], more: Callable[[Digest, Session], Iterable[RunValue]] = lambda *_: ()
) -> tuple[Digest, ...]:
    """The sessions of files and folders, one after the other; ``more`` says what else to take from each."""
    files: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            found = sorted(name for name in os.listdir(path) if name.endswith((SUFFIX, f"{SUFFIX}.gz")))
            if not found:
                raise UsageError(f"{path}: expected sessions (*{SUFFIX}) in this folder, found none")
            files += (os.path.join(path, name) for name in found)
        else:
            files.append(find(path))
    digests = []
    for path in files:
        session = read_session(path)
        plain = digest(session, path)
        digests.append(replace(plain, values=(*plain.values, *more(plain, session))))
        del session  # before the next one is read: it may hold millions of samples
    return tuple(digests)


def epoch(started: str) -> float | None:
    """Seconds since the epoch of an ISO 8601 time; None where it is none."""
    try:
        return datetime.fromisoformat(started).timestamp()
    except ValueError:
        return None


def _run_values(run: StepRun, session: str, started: float | None) -> Iterator[RunValue]:
    validity = StepValidity(run)
    for key, point in run.points.items():
        estimate, undisturbed = point.estimate, point.undisturbed
        if estimate is not None or undisturbed:
            invalid = validity.of(point)
            low, high = (None, None) if estimate is None else (estimate.low, estimate.high)
            yield RunValue(
                metric=f"{run.step.probe}.{point.series}",
                key=key,
                at=point.at,
                series=run.series.get(point.series),
                value=median(undisturbed) if estimate is None else estimate.value,
                run=f"{session}~{run.step.id.partition('~')[2] or 1}",
                settings=run.step.settings,
                distribution=run.distribution,
                when=None if started is None else started + run.started_ns / 1e9,
                low=low,
                high=high,
                # Runs that did not converge scatter, which a test over runs takes into account.
                invalid="" if invalid is None or invalid.scatter else invalid.cause,
            )


def _headlines(session: Session, started: float | None) -> Iterator[RunValue]:
    for number, runs in by_round(session.steps.values()).items():
        when = None if started is None else started + min(run.started_ns for run in runs) / 1e9
        run = f"{session.header.id}~{number}"
        for found in headlines(runs):
            value = RunValue(found.name, point_key(found.name, {}), {}, found.series, found.value, run, {}, "", when)
            yield replace(value, invalid=found.invalid, card=found.card, scatter=found.scatter)
