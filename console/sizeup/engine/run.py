"""Runs a plan: the one engine of the command line and, as a process of its own, of the console."""

from __future__ import annotations

import math
import os
import select
import shlex
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from sizeup.discovery.machine import discover
from sizeup.engine.advice import advice_record
from sizeup.engine.control import BatchControl
from sizeup.engine.spec import RunSpec
from sizeup.errors import ExitStatus, LateError, RefusedError, UsageError
from sizeup.live.environment import EnvironmentWatch, Fact, clock_sync, own_use
from sizeup.live.host_load import LoadWindow, measure_load
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Plan, Step
from sizeup.model.records import EstimateRecord, ProgressRecord, StepRecord
from sizeup.model.sample import Estimate, Outcome, Status
from sizeup.probing.planner import make_plan, renumber
from sizeup.probing.registry import Registry, load_registry
from sizeup.probing.runner import run_step
from sizeup.probing.settings import parse_assignments
from sizeup.session.reader import read_session
from sizeup.session.records import (
    FORMAT,
    TOOL,
    ContinuedRecord,
    EndRecord,
    EnvironmentRecord,
    FindingRecord,
    GapRecord,
    MachineRecord,
    OutcomeRecord,
    PlanRecord,
    Record,
    SessionRecord,
    StepStartRecord,
)
from sizeup.session.store import new_path, utc_text
from sizeup.session.validity import StepValidity
from sizeup.session.value import Point, Session, StepRun
from sizeup.session.writer import Writer
from sizeup.text import uncapitalized
from sizeup.units import format_value

Listener = Callable[[Record], None]
_PROGRESS_EVERY_NS = 1_000_000_000
SPIN_NS = 2_000_000
"""The end of the wait is spent awake: a sleep overshoots by up to a millisecond on a busy host."""
LATE_LIMIT_NS = 100_000_000
"""A later start than this is none: the process was stopped, or the host asleep."""
FARTHEST_SECONDS = 7 * 86_400
"""Beyond it the time is more likely in milliseconds, or a typing error, than meant."""
_LOOK_AGAIN_SECONDS = 1.0
"""The clock may be set while we wait, so that no sleep is longer."""
_EXPERIMENT_AGAIN = "start the experiment again"
MOST_PAUSE_SECONDS = 30.0
"""How long a gentle step waits for a load of others that rose; it then begins all the same."""
_BROKEN = (Status.FAILED, Status.CRASHED, Status.TIMED_OUT)


class Recorder:
    """Turns what happens into records of one session."""

    def __init__(self, writer: Writer, *, origin_ns: int, listeners: Sequence[Listener] = ()) -> None:
        self._writer = writer
        self._origin_ns = origin_ns
        self._listeners = listeners
        self.outcomes: list[OutcomeRecord] = []
        """Of the steps so far."""

    def now_ns(self) -> int:
        """Nanoseconds of CLOCK_MONOTONIC_RAW since the run began."""
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - self._origin_ns

    def put(self, *records: Record) -> None:
        """Write the records, then pass them to the listeners."""
        if not records:
            return
        self._writer.write(*records)
        for record in records:
            if isinstance(record, OutcomeRecord):
                self.outcomes.append(record)
            for listener in self._listeners:
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
        control: BatchControl,
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

    def _step(self, step: Step, registry: Registry, control: BatchControl, start_delay_ns: int) -> None:
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
        figures = {series.name for series in probe.series if step.gentle is not None and series.unit != "verdict"}
        gently = step.gentle if manifest.target is not None else "on one CPU at the lowest priority"  # without I/O

        def listen(records: Iterable[StepRecord]) -> None:
            nonlocal last_progress_ns
            kept: list[Record] = []
            for record in records:
                if isinstance(record, ProgressRecord):
                    if record.t_ns - last_progress_ns < _PROGRESS_EVERY_NS:
                        continue
                    last_progress_ns = record.t_ns
                if isinstance(record, EstimateRecord) and record.estimate.series in figures:
                    caveats = (*record.estimate.caveats, f"measured gently: {gently}")
                    record = replace(record, estimate=replace(record.estimate, caveats=caveats))  # noqa: PLW2901
                kept.append(record)
            self.put(*kept)

        outcome = run_step(step, probe.target, origin_ns=self._origin_ns, control=control, listener=listen)
        self.put(OutcomeRecord(self.now_ns(), step.id, outcome))


def probe_findings(session: Session) -> tuple[Finding, ...]:
    """One finding per estimate whose ``extra`` holds a ``statement``, in the order of the steps.

    ``consequence``, ``remedy``, ``severity`` and ``evidence`` (a line each) beside it are taken where the probe gives
    them; without ``evidence`` it is the figure with its caveats. A later
    round of a step may repeat a statement; only the last one counts. A statement that rests on a figure that is not
    valid is left out where it is information only; else it is marked, has the severity information, and never
    replaces one that is valid.
    """
    findings: dict[str, Finding] = {}
    for run in session.steps.values():
        validity = StepValidity(run)
        for point in run.points.values():
            if point.estimate is None or "statement" not in point.estimate.extra:
                continue
            finding = _finding(run, point, point.estimate)
            invalid = validity.of(point)
            if invalid is not None:
                if finding.severity is Severity.INFO:
                    continue  # it neither warns nor informs
                title = f"{finding.title} (not valid: {invalid.cause})"
                evidence = (*finding.evidence, invalid.sentence())
                finding = replace(finding, title=title, severity=Severity.INFO, evidence=evidence)
            if invalid is None or finding.id not in findings:
                findings[finding.id] = finding
    return tuple(findings.values())


def _finding(run: StepRun, point: Point, estimate: Estimate) -> Finding:
    extra = {name: str(value) for name, value in estimate.extra.items()}
    series = run.series.get(point.series)
    unit = series.unit if series is not None else ""
    what = point.series if series is None else uncapitalized(series.title)
    where = ", ".join(
        value if isinstance(value, str) else f"{name.replace('_', ' ')} {format_value(value, '1')}"
        for name, value in point.at.items()
    )
    figure = format_value(estimate.value, unit)
    apart = point.at.get(series.findings_by) if series is not None else None
    return Finding(
        id=f"{run.step.probe}.{point.series}{f'.{apart}' if apart else ''}",
        severity=Severity(extra.get("severity", Severity.INFO.value)),
        title=extra["statement"],
        evidence=tuple(extra.get("evidence", "").splitlines())
        or (f"{run.step.title}, {what}{f' at {where}' if where else ''}: {figure}", *estimate.caveats),
        consequence=extra.get("consequence", ""),
        remedy=extra.get("remedy", ""),
        probe=run.step.probe,
    )


class Clock:
    """CLOCK_REALTIME, which is what hosts agree on."""

    def now_ns(self) -> int:
        """Nanoseconds since 1970."""
        return time.time_ns()

    def sleep(self, seconds: float, control: BatchControl) -> None:
        """Wait that long, or until there may be a command."""
        select.select([control], [], [], seconds)


CLOCK = Clock()


def parse_start(text: str, clock: Clock = CLOCK) -> int:
    """The time in nanoseconds since 1970; one that is past is refused before anything is prepared."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    ahead = seconds - clock.now_ns() / 1e9
    if not math.isfinite(seconds) or ahead > FARTHEST_SECONDS:
        raise UsageError(
            f"--start-at: expected seconds since 1970, at most a week ahead, found {text!r}; "
            "try: --start-at $(($(date +%s) + 30))"
        )
    start_ns = round(seconds * 1e6) * 1000  # what a double still holds of it
    if ahead < 0:
        raise missed(start_ns, clock)
    return start_ns


def missed(start_ns: int, clock: Clock = CLOCK) -> LateError:
    """Return the error for a start time that has passed."""
    late = (clock.now_ns() - start_ns) / 1e9
    return LateError(
        f"--start-at {start_ns / 1e9:.3f}: the start was missed by {late:.3f} s and nothing was measured; "
        "choose one far enough ahead for every host to be ready"
    )


def wait_until(start_ns: int, control: BatchControl, clock: Clock = CLOCK) -> int:
    """Sleep, then spin; how late the start is in ns, at best a few hundred. A canceled wait ends at once."""
    if clock.now_ns() > start_ns:
        raise missed(start_ns, clock)
    while not control.cancel_run and (left := start_ns - clock.now_ns()) > SPIN_NS:
        clock.sleep(min((left - SPIN_NS) / 1e9, _LOOK_AGAIN_SECONDS), control)
        control.read_commands()
    while not control.cancel_run:
        late = clock.now_ns() - start_ns
        if late > LATE_LIMIT_NS:
            raise missed(start_ns, clock)
        if late >= 0:
            return late
    return 0


class ProgressDisplay(Protocol):
    """Shows a person the progress of a run."""

    def show(self, line: str) -> None:
        """Show one line."""

    def __call__(self, record: Record) -> None:
        """Show a record where it is worth a line."""


class Result(Struct, frozen=True):
    """How a run ended."""

    path: str | None
    """The session file; None where it went to a stream that cannot be read again."""
    status: ExitStatus
    finished_steps: int = 0


def run(
    spec: RunSpec, display: ProgressDisplay, *, control: BatchControl | None = None, plan: Plan | None = None
) -> Result:
    """Discover, plan, measure and save; an error in the spec is reported before anything is written.

    ``control`` is that of a caller that goes on after the run; ``plan`` is run in place of one made from the spec.
    """
    start_ns = None if spec.start_at is None else parse_start(spec.start_at)
    registry = load_registry().builtin_only() if spec.only_builtin else load_registry()
    settings = parse_assignments(spec.assignments, registry)
    watch = EnvironmentWatch()
    with (
        BatchControl(commands=spec.control, cancel_on_hang_up=spec.cancel_on_hang_up)
        if control is None
        else nullcontext(control)
    ) as control:
        continued = spec.append or spec.resume
        experiment = None if plan is None else plan.experiment_run
        before, host = read_session(continued) if continued else None, os.uname().nodename
        if before is not None and before.header.host != host:
            raise RefusedError(
                f"{continued}: was recorded on {before.header.host} and cannot be continued on {host}; "
                "start a session of its own with -o and compare the two"
            )
        machine = discover("/")
        if spec.resume and before is not None:
            plan = _remainder(before, spec.resume)
        else:
            gentle = spec.gentle
            if gentle is not None:
                gentle = replace(gentle, cpu=measure_load().quietest_cpu(os.sched_getaffinity(0)))
            plan = plan or make_plan(
                machine,
                registry,
                name=spec.plan,
                probes=spec.probes,
                settings=settings,
                rounds=spec.rounds,
                mount=spec.mount,
                gentle=gentle,
            )
            plan = renumber(plan, before.steps) if before is not None else plan
        with _opened(spec, before) as (writer, path, origin_ns):
            recorder = Recorder(writer, origin_ns=origin_ns, listeners=[display])
            if path is not None:
                # Before the plan is in the file there is nothing to resume.
                again = f"start again with: sizeup --batch --append {shlex.quote(path)}"
                writer.when_full = _resume(path) if spec.resume else again if experiment is None else _EXPERIMENT_AGAIN
            started = utc_text(datetime.now(UTC))
            recorder.put(
                SessionRecord(FORMAT, str(uuid.uuid4()), TOOL, os.uname().nodename, started)
                if before is None
                else ContinuedRecord(before.last_ns + 1, TOOL, started)
            )
            with _end_recorded(recorder, control, origin_ns):
                if experiment is None:  # each of its runs would name the same file
                    display.show(f"session: {path or 'standard output'}")
                sync = clock_sync()
                agreed = {} if start_ns is None else {"start_at_seconds": round(start_ns / 1e9, 6), **sync.facts()}
                recorder.put(*_environment(recorder, watch, machine, control, agreed))
                recorder.put(*_found(recorder.now_ns(), machine, before), PlanRecord(recorder.now_ns(), plan))
                if path is not None and experiment is None:
                    writer.when_full = _resume(path)
                recorder.refuse(plan)
                recorder.sync()
                late_ns = 0
                if start_ns is not None:  # an agreed start, with everything prepared on the disk
                    display.show(
                        f"waiting for {datetime.fromtimestamp(start_ns / 1e9, UTC):%F %T} UTC; {sync.sentence()}"
                    )
                    late_ns = wait_until(start_ns, control)
                    if not control.cancel_run:
                        display.show(f"started {late_ns / 1000:,.0f} us late")
                recorder.run(
                    _backing_off(plan.steps, recorder, control, display),
                    registry,
                    control,
                    lambda: _environment(recorder, watch, machine, control),
                    start_delay_ns=late_ns,
                )
                conclusions: list[Record] = []
                if path is not None:  # the advice again, with measured figures in place of assumed ones
                    session = read_session(path)
                    conclusions += [FindingRecord(recorder.now_ns(), found) for found in probe_findings(session)]
                    conclusions.append(advice_record(recorder.now_ns(), machine, session))
            used = EnvironmentRecord(recorder.now_ns(), watch.latest | own_use() | _console_facts(control))
            recorder.put(*conclusions, used, _end(recorder.now_ns(), control, origin_ns))
            recorder.sync()
        finished = sum(record.outcome.status.finished for record in recorder.outcomes)
        return Result(path, control.canceled or _status(spec, plan, recorder.outcomes), finished)


def _resume(path: str) -> str:
    return f"finish it with: sizeup --batch --resume {shlex.quote(path)}"


def _remainder(session: Session, path: str) -> Plan:
    if session.plan is None:
        raise UsageError(
            f"{path}: ended before it had a plan, so nothing can be resumed; "
            f"measure into it with: sizeup --batch --append {shlex.quote(path)}"
        )
    if session.plan.experiment_run is not None:
        raise RefusedError(
            f"{path}: holds an experiment, whose settings are no longer in place, so that it cannot be resumed; "
            "start it again with: sizeup experiment"
        )
    return replace(session.plan, steps=session.missing_steps, refusals=())


@contextmanager
def _opened(spec: RunSpec, before: Session | None) -> Iterator[tuple[Writer, str | None, int]]:
    """The writer, the path it can be read again from, and the run's start on CLOCK_MONOTONIC_RAW."""
    now_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    path = spec.append or spec.resume or spec.output
    if before is not None and path is not None:
        with Writer.append(path) as writer:
            yield writer, path, now_ns - before.last_ns - 1
        return
    if path == "-":
        with Writer(os.dup(sys.stdout.fileno()), "standard output") as writer:
            yield writer, None, now_ns
        return
    if path is None:
        path = str(new_path(os.uname().nodename, datetime.now(UTC)))
    more = f", or add to it with --append {path}, or finish it with --resume {path}"
    with Writer.create(path, otherwise=", or -o - for standard output", where_exists=more) as writer:
        yield writer, path if os.path.isfile(path) else None, now_ns


def _backing_off(
    steps: Iterable[Step], recorder: Recorder, control: BatchControl, display: ProgressDisplay
) -> Iterator[Step]:
    """Yield each step; a gentle one after a pause where others load the host more than before the first one."""
    before: LoadWindow | None = None
    for step in steps:
        deadline: float | None = None
        while step.gentle is not None and not control.cancel_run:
            load = measure_load()
            before = before or load
            excess = load.excess(before)
            if not excess:
                break
            if deadline is None:
                deadline = time.monotonic() + MOST_PAUSE_SECONDS
                display.show(f"pausing at most {MOST_PAUSE_SECONDS:g} s before {step.id}: {excess}")
            if time.monotonic() > deadline:
                reason = f"it began after a pause of {MOST_PAUSE_SECONDS:g} s although others load the host: {excess}"
                recorder.put(GapRecord(recorder.now_ns(), Gap(f"gentle pause before {step.id}", reason)))
                break
            control.read_commands()
        yield step


@contextmanager
def _end_recorded(recorder: Recorder, control: BatchControl, origin_ns: int) -> Iterator[None]:
    """Record in the session what ends the run early, where it can still be written."""
    try:
        yield
    except BaseException as error:
        status = "canceled" if isinstance(error, LateError) else "terminated"
        with suppress(UsageError, OSError):
            end = _end(recorder.now_ns(), control, origin_ns)
            recorder.put(replace(end, status=status, reason=str(error) or type(error).__name__))
            recorder.sync()
        raise


def _found(t_ns: int, machine: Machine, before: Session | None) -> Iterator[Record]:
    """What discovery found, and the advice on it; what earlier runs of the file measured counts."""
    yield MachineRecord(t_ns, machine)
    for finding in machine.findings:
        yield FindingRecord(t_ns, finding)
    yield advice_record(t_ns, machine, before)


def _environment(
    recorder: Recorder,
    watch: EnvironmentWatch,
    machine: Machine,
    control: BatchControl,
    more: Mapping[str, Fact] = MappingProxyType({}),
) -> tuple[Record, ...]:
    platform = machine.platform
    facts = {
        "kernel": platform.kernel,
        "governor": platform.governor,
        "transparent_huge_pages": platform.transparent_huge_pages,
        "clock_source": platform.clock_source,
    }
    control.read_commands()  # what the console reported while the step ended
    return (EnvironmentRecord(recorder.now_ns(), {**facts, **watch.facts(), **_console_facts(control), **more}),)


def _console_facts(control: BatchControl) -> dict[str, Fact]:
    cost = control.console
    if cost is None:
        return {}
    return {"console_cpu_seconds": round(cost.cpu_seconds, 3), "console_bytes_sent": cost.bytes}


def _end(t_ns: int, control: BatchControl, origin_ns: int) -> EndRecord:
    status = "canceled" if control.canceled is ExitStatus.INTERRUPTED else "terminated"
    lost_ns = None if control.terminal_lost_ns is None else max(control.terminal_lost_ns - origin_ns, 0)
    return EndRecord(t_ns, "complete" if control.canceled is None else status, terminal_lost_ns=lost_ns)


def _status(spec: RunSpec, plan: Plan, outcomes: Sequence[OutcomeRecord]) -> ExitStatus:
    if any(record.outcome.status in _BROKEN for record in outcomes):
        return ExitStatus.PROBE_FAILED
    refused = {record.step for record in outcomes if record.outcome.status is Status.REFUSED}
    # A named plan leaves out what the machine does not have; what was asked for, or planned, was refused.
    whole = bool(spec.probes) or len(refused) == len(outcomes)
    asked = {one.step for one in plan.refusals if spec.mount in plan.settings.get(one.probe, {}).values()}
    planned = {step.id for step in plan.steps} | (asked if spec.mount else set())
    return ExitStatus.REFUSED if refused and (whole or refused & planned) else ExitStatus.OK
