"""Drives one worker: starts it, reads its records, enforces its limits, ends it, and reports the outcome.

Ending escalates: the cancel command, SIGTERM after a quarter of a second, SIGKILL after another. A process that hangs
in the kernel on a dead mount ignores even that: it is left behind half a second after its last message or SIGKILL, one
that is merely slow after a few seconds.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from sizeup.child_process import environment, python_command
from sizeup.model.plan import Step
from sizeup.model.records import ENCODER, EstimateRecord, ProgressRecord, SamplesRecord, StepRecord
from sizeup.model.sample import Outcome, Status
from sizeup.probing import wire
from sizeup.procfs.process import read_scheduling
from sizeup.procfs.stat import find_offline
from sizeup.text import one_line

ABANDON_AFTER_SECONDS = 2.0
EXIT_POLL_SECONDS = 0.005
PIPE_BYTES = 1 << 20
"""Room for the records of a worker between two collections, so that it never waits for its reader."""
_STDERR_KEPT_BYTES = 4096
_READS_AT_ONCE = 16
"""A worker that prints without end must not keep its runner from its time limit."""

_WORKER = "from sizeup.probing.worker import main; main()"
HANGING_SECONDS = 0.5
"""A thread that waits where no signal reaches it, and nothing run for so long: nothing there will move soon."""
_LOOK_SECONDS = 0.05
BATCH_SECONDS = 0.1
"""How often the worker's messages are collected: often enough to look live, seldom enough not to disturb."""
TERM_AFTER_SECONDS = 0.25
KILL_AFTER_SECONDS = 0.5
EXIT_SECONDS = 5.0
"""How long a worker that is merely slow may take to exit after its last message."""
_EXIT_POLL_SECONDS = 0.05
LINE_LIMIT_BYTES = 4 << 20


class WorkerProcess:
    """One process with its three pipes."""

    def __init__(self, job: Callable[[int], wire.StepJob]) -> None:
        self.records, write_end = os.pipe()
        try:
            with contextlib.suppress(OSError):  # above the limit for unprivileged users: the default will do
                fcntl.fcntl(self.records, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            self.process = subprocess.Popen(
                python_command(_WORKER),
                env=environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(write_end,),
                start_new_session=True,  # ^C in the terminal is the runner's to hear
                bufsize=0,
            )
            self.send(ENCODER.encode(job(write_end)) + b"\n")
        except BaseException:
            os.close(self.records)
            raise
        finally:
            os.close(write_end)
        os.set_blocking(self.records, False)
        assert self.process.stdout is not None
        self.output = self.process.stdout.fileno()
        os.set_blocking(self.output, False)
        self.printed = b""

    def send(self, data: bytes) -> None:
        """Write to its standard input; ignored where it has ended."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(data)

    def read_output(self) -> bool:
        """Keep the end of what the worker prints; False once its output is closed."""
        for _ in range(_READS_AT_ONCE):
            try:
                data = os.read(self.output, 1 << 16)
            except BlockingIOError:
                return True
            if not data:
                return False
            self.printed = (self.printed + data)[-_STDERR_KEPT_BYTES:]
        return True

    def signal(self, number: signal.Signals) -> None:
        """Signal the whole group: a probe may have started processes of its own."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)

    def kill(self) -> None:
        """End it at once, and wait a moment for it to go."""
        self.signal(signal.SIGKILL)
        deadline = time.monotonic() + ABANDON_AFTER_SECONDS
        while not self.exited() and time.monotonic() < deadline:
            time.sleep(EXIT_POLL_SECONDS)

    def exited(self) -> bool:
        """Whether it has ended; the zombie stays, so that its process group cannot become another's."""
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def close(self) -> int | None:
        """End the rest of the process group and wait for it; return the exit status, negative for a signal.

        None where the process did not end in time.
        """
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()
        os.close(self.records)
        if not self.exited():
            self.process.returncode = -signal.SIGKILL  # keeps Popen from warning about a child that never ends
            return None
        self.signal(signal.SIGKILL)
        return self.process.wait()


class HangDetector:
    """The last moments of a process, looked at now and then."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._seen: dict[int, tuple[str, int]] = {}
        self._looked = self._since = 0.0

    def hangs(self, now_seconds: float) -> bool:
        """Whether it has been stuck in the kernel for ``HANGING_SECONDS``; to be asked again and again."""
        if now_seconds - self._looked >= _LOOK_SECONDS:
            self._looked = now_seconds
            threads = read_scheduling(self._pid)
            if threads != self._seen:
                self._seen, self._since = threads, now_seconds
        stuck = any(state == "D" for state, _ in self._seen.values())
        return stuck and now_seconds - self._since >= HANGING_SECONDS


class Control(Protocol):
    """Commands for the running step."""

    def fileno(self) -> int:
        """Readable when there may be a command."""

    def read_commands(self) -> None:
        """Read the commands that have arrived, without waiting."""

    @property
    def cancel_step(self) -> bool:
        """Whether the running step should end."""


class _Escalation(Struct):
    """How far the ending of a worker has escalated."""

    why: Status
    reason: str
    began: float
    stage: int = 0


def run_step(
    step: Step,
    target: str,
    *,
    origin_ns: int,
    control: Control,
    listener: Callable[[Iterable[StepRecord]], None],
    clock: Callable[[], float] = time.monotonic,
) -> Outcome:
    """Run one step in a worker of its own; ``listener`` gets its records, a tenth of a second at a time."""
    allowed = os.sched_getaffinity(0)
    try:
        worker = WorkerProcess(lambda descriptor: wire.StepJob(target, step, origin_ns, descriptor, os.getpid()))
    except OSError as error:
        return Outcome(Status.FAILED, f"its worker could not be started: {error.strerror}")
    # The worker has its CPUs already; the runner now leaves the measured ones alone where it can.
    others = allowed.difference(step.cpus)
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, others or allowed)
    try:
        return _StepDriver(step, worker, control, listener, clock, origin_ns).outcome()
    finally:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, allowed)


class _StepDriver:
    """One step from its start to its outcome."""

    def __init__(
        self,
        step: Step,
        worker: WorkerProcess,
        control: Control,
        listener: Callable[[Iterable[StepRecord]], None],
        clock: Callable[[], float],
        origin_ns: int,
    ) -> None:
        self._step, self._worker, self._control = step, worker, control
        self._origin_ns = origin_ns
        self._listener, self._clock = listener, clock
        self._limit = clock() + step.time_limit_seconds
        self._escalation: _Escalation | None = None
        self._ending: wire.Ending | None = None
        self._ended = 0.0
        self._hang_detector = HangDetector(worker.process.pid)
        self._tail = b""
        self._open = True
        self._done = 0.0
        self._converged: dict[tuple[str, tuple[tuple[str, object], ...]], bool] = {}

    def outcome(self) -> Outcome:
        """Drive the worker to its end."""
        try:
            abandoned = not self._watch()
        except BaseException:
            self._worker.kill()
            self._worker.close()
            raise
        self._worker.read_output()
        status = self._worker.close()
        outcome = _with_offline_cpus(self._outcome(None if abandoned else status), find_offline(self._step.cpus))
        return replace(outcome, temporary_files=None if self._ending is None else self._ending.temporary_files)

    def _watch(self) -> bool:
        """Read, bound and end the worker; False where it had to be abandoned."""
        poll = select.poll()
        poll.register(self._worker.output, select.POLLIN)
        poll.register(self._control.fileno(), select.POLLIN)
        next_batch = self._clock()
        while True:
            now = self._clock()
            wait = EXIT_POLL_SECONDS
            if self._open:
                # Between collections the pipe is watched for its end alone (an empty mask still reports it).
                due = now >= next_batch
                poll.register(self._worker.records, select.POLLIN if due else 0)
                wait = min(self._next_deadline(), now + 1.0 if due else next_batch) - now
            events = dict(poll.poll(max(wait, 0.0) * 1000))
            if self._control.fileno() in events:
                self._control.read_commands()
            if self._worker.output in events and not self._worker.read_output():
                poll.unregister(self._worker.output)
            # Asked before the last collection: what it wrote before it ended is then in the pipe.
            exited = self._worker.exited()
            if self._open and (exited or self._worker.records in events):
                self._collect()
                next_batch = self._clock() + BATCH_SECONDS
                if not self._open:
                    poll.unregister(self._worker.records)
            if exited:
                return True
            if not self._escalate():
                return False

    def _next_deadline(self) -> float:
        escalation = self._escalation
        if self._ending is not None or (escalation is not None and escalation.stage == 2):
            return self._clock() + _EXIT_POLL_SECONDS
        after = (TERM_AFTER_SECONDS, KILL_AFTER_SECONDS)
        return self._limit if escalation is None else escalation.began + after[escalation.stage]

    def _escalate(self) -> bool:
        """Start or continue the escalation where it is due; False where the worker has to be abandoned."""
        now = self._clock()
        if self._escalation is None:
            if self._control.cancel_step:
                self._end(Status.CANCELED, "")
            elif now >= self._limit:
                why = "; a gentle step gets only what others leave of a CPU" if self._step.gentle is not None else ""
                self._end(Status.TIMED_OUT, f"it ran past its limit of {self._step.time_limit_seconds:g} s{why}")
            elif self._ending is not None:
                return self._may_still_exit(now, self._ended + EXIT_SECONDS)
            return True
        if self._escalation.stage == 2:
            return self._may_still_exit(now, self._escalation.began + ABANDON_AFTER_SECONDS)
        if now >= self._escalation.began + (TERM_AFTER_SECONDS, KILL_AFTER_SECONDS)[self._escalation.stage]:
            self._worker.signal((signal.SIGTERM, signal.SIGKILL)[self._escalation.stage])
            self._escalation.stage += 1
        return True

    def _may_still_exit(self, now: float, deadline: float) -> bool:
        """Whether a worker that should exit still may; one that hangs is killed in case it comes back."""
        if now < deadline and not self._hang_detector.hangs(now):
            return True
        self._worker.signal(signal.SIGKILL)
        return False

    def _end(self, why: Status, reason: str) -> None:
        if self._escalation is None:
            self._escalation = _Escalation(why, reason, self._clock())
            self._worker.send(wire.CANCEL + b"\n")

    def _collect(self) -> None:
        """Read the messages that have arrived.

        Their records are checked and joined, so that what is written is encoded once more and no worker's bytes reach
        the file: 17 us of CPU time for each second of direct I/O.
        """
        records: list[StepRecord] = []
        while True:
            try:
                chunk = os.read(self._worker.records, PIPE_BYTES)
            except BlockingIOError:
                break
            if not chunk:
                self._open = False
                break
            lines = (self._tail + chunk).split(b"\n")
            self._tail = lines.pop()
            if len(self._tail) > LINE_LIMIT_BYTES:
                self._tail = b""
                self._reject(f"a line of more than {LINE_LIMIT_BYTES >> 20} MiB")
            records.extend(record for line in lines if (record := self._take(line)) is not None)
        if records:
            self._listener(coalesce(records))

    def _take(self, line: bytes) -> StepRecord | None:
        if self._escalation is not None and self._escalation.why is Status.FAILED:
            return None  # nothing that it writes after an invalid line is used
        try:
            message = wire.MESSAGE.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            self._reject(repr(one_line(line[:200].decode(errors="replace"), 60)))
            return None
        if isinstance(message, wire.Ending):
            self._ending, self._ended = message, self._clock()
            if message.status == "failed" and self._escalation is None:
                # Where a disk hangs its process takes a while to go: why it failed is shown before that.
                now_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - self._origin_ns
                return ProgressRecord(now_ns, self._step.id, self._done, None, message.reason)
            return None
        if message.step != self._step.id:
            self._reject(f"a record of step {one_line(str(message.step), 60)!r}")
            return None
        match message:
            case EstimateRecord(estimate=estimate):
                key = (estimate.series, tuple(sorted(estimate.at.items())))
                self._converged[key] = estimate.converged is not False
            case ProgressRecord():
                self._done = message.done
        return message

    def _reject(self, found: str) -> None:
        self._end(Status.FAILED, f"its worker wrote something that is no record: {found}")

    def _printed_tail(self) -> str:
        lines = [line for line in self._worker.printed.decode(errors="replace").splitlines() if line.strip()]
        return f"; it printed: {one_line(lines[-1], 200)}" if lines else ""

    def _outcome(self, status: int | None) -> Outcome:
        """Return the outcome of the step, from its messages and the exit status of its process."""
        escalation, ending = self._escalation, self._ending
        left = "; its process hangs in the kernel and was left behind" if status is None else ""
        done = ending is not None and ending.status == "ok"
        kept = done and bool(self._converged)  # it ended by itself, with figures
        if escalation is not None and not (escalation.why is Status.TIMED_OUT and kept):
            reason = escalation.reason + left
            return Outcome(escalation.why, reason + (self._printed_tail() if escalation.why is Status.FAILED else ""))
        if open_points := done and sum(not converged for converged in self._converged.values()):
            return Outcome(Status.NOT_CONVERGED, f"{open_points} of {len(self._converged)} points did not converge")
        if ending is not None:
            return Outcome(Status(ending.status), ending.reason + (left if ending.status == "failed" else ""))
        if status is not None and status < 0:
            name = signal_name(-status)
            return Outcome(Status.CRASHED, f"its worker died of {name}{self._printed_tail()}", signal=name)
        return Outcome(Status.FAILED, f"its worker ended with status {status} before its end{self._printed_tail()}")


def _with_offline_cpus(outcome: Outcome, offline: tuple[int, ...]) -> Outcome:
    """Return the outcome of a step of which some CPUs are offline at its end.

    The kernel then moves the threads that were pinned there: their figures are of other CPUs, or of a shared one.
    """
    if not offline or outcome.status in (Status.CANCELED, Status.REFUSED):
        return outcome
    names = ", ".join(map(str, offline[:8])) + (", ..." if len(offline) > 8 else "")
    cpus, them = ("CPU", "it") if len(offline) == 1 else ("CPUs", "them")
    went = f"{cpus} {names} went offline during the step"
    if outcome.status.finished:
        return Outcome(
            Status.FAILED, f"{went}: the figures may be of other CPUs; bring {them} online and run the step again"
        )
    return replace(outcome, reason=f"{outcome.reason}; {went}")


def coalesce(records: Iterable[StepRecord]) -> Iterator[StepRecord]:
    """The same records with samples of one point joined, and progress that is outdated left out.

    Samples keep their place before the estimate that was made of them.
    """
    pending: dict[tuple[str, tuple[tuple[str, object], ...]], list[SamplesRecord]] = {}
    progress: ProgressRecord | None = None
    for record in records:
        if isinstance(record, SamplesRecord):
            key = (record.series, tuple(sorted(record.at.items())))
            pending.setdefault(key, []).append(record)
        elif isinstance(record, ProgressRecord):
            progress = record
        else:
            if isinstance(record, EstimateRecord):
                yield from map(_join, pending.values())
                pending.clear()
            yield record
    yield from map(_join, pending.values())
    if progress is not None:
        yield progress


def _join(batches: list[SamplesRecord]) -> SamplesRecord:
    if len(batches) == 1:
        return batches[0]
    flags: tuple[int, ...] = ()
    if any(batch.flags for batch in batches):
        flags = tuple(flag for batch in batches for flag in (batch.flags or (0,) * len(batch.values)))
    return replace(
        batches[0],
        t_ns=tuple(time for batch in batches for time in batch.t_ns),
        values=tuple(value for batch in batches for value in batch.values),
        flags=flags,
    )


def signal_name(number: int) -> str:
    """Return the name of a signal, ``SIGKILL``, or its number where Python knows none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
