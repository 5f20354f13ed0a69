"""Runs a plan: the one engine of the command line and, as a process of its own, of the console."""

from __future__ import annotations

import os
import shlex
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from sizeup.discovery.machine import discover
from sizeup.engine.advice import advice_record
from sizeup.engine.control import BatchControl
from sizeup.engine.probe_findings import probe_findings
from sizeup.engine.recorder import Recorder
from sizeup.engine.spec import RunSpec
from sizeup.engine.start_time import parse_start, wait_until
from sizeup.errors import ExitStatus, LateError, RefusedError, UsageError
from sizeup.live.clock_sync import ClockSync, clock_sync
from sizeup.live.environment import EnvironmentWatch, Fact
from sizeup.model.machine import Machine
from sizeup.model.plan import Plan
from sizeup.model.sample import Status
from sizeup.probing.planner import make_plan, renumber
from sizeup.probing.registry import load_registry
from sizeup.probing.settings import parse_assignments
from sizeup.session.reader import read_session
from sizeup.session.records import (
    FORMAT,
    TOOL,
    ContinuedRecord,
    EndRecord,
    EnvironmentRecord,
    FindingRecord,
    MachineRecord,
    OutcomeRecord,
    PlanRecord,
    Record,
    SessionRecord,
)
from sizeup.session.store import new_path, utc_text
from sizeup.session.value import Session
from sizeup.session.writer import Writer

_EXPERIMENT_AGAIN = "start the experiment again"
_FINISHED = (Status.OK, Status.NOT_CONVERGED)
_BROKEN = (Status.FAILED, Status.CRASHED, Status.TIMED_OUT)


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
    registry = load_registry()
    if spec.only_builtin:
        registry = registry.builtin_only()
    settings = parse_assignments(spec.assignments, registry)
    watch = EnvironmentWatch()
    with (
        BatchControl(commands=spec.control, cancel_on_hang_up=spec.cancel_on_hang_up)
        if control is None
        else nullcontext(control)
    ) as control:
        continued = spec.append or spec.resume
        experiment = None if plan is None else plan.experiment_run
        before = _read_own(continued) if continued else None
        machine = discover("/")
        if spec.resume and before is not None:
            plan = _remainder(before, spec.resume)
        else:
            plan = plan or make_plan(
                machine,
                registry,
                name=spec.plan,
                probes=spec.probes,
                settings=settings,
                rounds=spec.rounds,
                mount=spec.mount,
            )
            plan = renumber(plan, before.steps) if before is not None else plan
        with _opened(spec, before) as (writer, path, origin_ns):
            outcomes: list[OutcomeRecord] = []
            recorder = Recorder(
                writer, origin_ns=origin_ns, listeners=[display, lambda record: _keep_outcome(outcomes, record)]
            )
            if path is not None:
                # Before the plan is in the file there is nothing to resume.
                again = f"start again with: sizeup --batch --append {shlex.quote(path)}"
                writer.when_full = _resume(path) if spec.resume else again if experiment is None else _EXPERIMENT_AGAIN
            recorder.put(_first(before))
            with _end_recorded(recorder, control, origin_ns):
                display.show(f"session: {path or 'standard output'}")
                sync = clock_sync()
                agreed = {} if start_ns is None else {"start_at_seconds": round(start_ns / 1e9, 6), **sync.facts()}
                recorder.put(*_environment(recorder, watch, machine, control, agreed))
                recorder.put(*_found(recorder.now_ns(), machine, before), PlanRecord(recorder.now_ns(), plan))
                if path is not None and experiment is None:
                    writer.when_full = _resume(path)
                recorder.refuse(plan)
                recorder.sync()
                late_ns = 0 if start_ns is None else _wait(start_ns, sync, control, display)
                recorder.run(
                    plan.steps,
                    registry,
                    control,
                    lambda: _environment(recorder, watch, machine, control),
                    start_delay_ns=late_ns,
                )
                conclusions = tuple(_concluded(recorder, machine, path))
            recorder.put(*conclusions, _end(recorder.now_ns(), control, origin_ns))
            recorder.sync()
        finished = sum(record.outcome.status in _FINISHED for record in outcomes)
        return Result(path, control.canceled or _status(spec, outcomes), finished)


def _read_own(path: str) -> Session:
    session = read_session(path)
    host = os.uname().nodename
    if session.header.host != host:
        raise RefusedError(
            f"{path}: was recorded on {session.header.host} and cannot be continued on {host}; "
            "start a session of its own with -o and compare the two"
        )
    return session


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


def _wait(start_ns: int, sync: ClockSync, control: BatchControl, display: ProgressDisplay) -> int:
    """Wait for the agreed start, with everything prepared on the disk; return the delay in ns."""
    display.show(f"waiting for {datetime.fromtimestamp(start_ns / 1e9, UTC):%F %T} UTC; {sync.sentence()}")
    late_ns = wait_until(start_ns, control)
    if not control.cancel_run:
        display.show(f"started {late_ns / 1000:,.0f} us late")
    return late_ns


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


def _first(before: Session | None) -> Record:
    started = utc_text(datetime.now(UTC))
    if before is not None:
        return ContinuedRecord(before.last_ns + 1, TOOL, started)
    return SessionRecord(FORMAT, str(uuid.uuid4()), TOOL, os.uname().nodename, started)


def _found(t_ns: int, machine: Machine, before: Session | None) -> Iterator[Record]:
    """What discovery found, and the advice on it; what earlier runs of the file measured counts."""
    yield MachineRecord(t_ns, machine)
    for finding in machine.findings:
        yield FindingRecord(t_ns, finding)
    yield advice_record(t_ns, machine, before)


def _concluded(recorder: Recorder, machine: Machine, path: str | None) -> Iterator[Record]:
    """Findings of the probes, and the advice again with measured figures in place of assumed ones."""
    if path is None:
        return
    session = read_session(path)
    for finding in probe_findings(session):
        yield FindingRecord(recorder.now_ns(), finding)
    yield advice_record(recorder.now_ns(), machine, session)


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
    console: dict[str, Fact] = {}
    if control.console is not None:
        console["console_cpu_seconds"] = round(control.console.cpu_seconds, 3)
        console["console_bytes_sent"] = control.console.bytes
    return (EnvironmentRecord(recorder.now_ns(), {**facts, **watch.facts(), **console, **more}),)


def _end(t_ns: int, control: BatchControl, origin_ns: int) -> EndRecord:
    status = "canceled" if control.canceled is ExitStatus.INTERRUPTED else "terminated"
    lost_ns = None if control.terminal_lost_ns is None else max(control.terminal_lost_ns - origin_ns, 0)
    return EndRecord(t_ns, "complete" if control.canceled is None else status, terminal_lost_ns=lost_ns)


def _keep_outcome(outcomes: list[OutcomeRecord], record: Record) -> None:
    if isinstance(record, OutcomeRecord):
        outcomes.append(record)


def _status(spec: RunSpec, outcomes: Sequence[OutcomeRecord]) -> ExitStatus:
    statuses = [record.outcome.status for record in outcomes]
    if any(status in _BROKEN for status in statuses):
        return ExitStatus.PROBE_FAILED
    # A named plan takes what the machine has; a probe asked for by name, or a plan of which nothing could
    # run, was refused.
    if Status.REFUSED in statuses and (spec.probes or all(status is Status.REFUSED for status in statuses)):
        return ExitStatus.REFUSED
    return ExitStatus.OK
