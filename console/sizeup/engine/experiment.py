"""Runs a plan alternately under two settings that the user's commands make, and restores the setting at the end.

Nothing is executed before ``run_experiment``: the caller shows what ``prepare`` returns and asks. From the first
command on the setting is restored whatever happens to the experiment, unless sizeup is killed with SIGKILL.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
import uuid
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from sizeup.child_process import environment
from sizeup.compare.experiment import LEAST_ROUNDS, run_order
from sizeup.discovery.machine import discover
from sizeup.engine.control import BatchControl
from sizeup.engine.run import ProgressDisplay, run
from sizeup.engine.spec import RunSpec
from sizeup.errors import CommandError, ExitStatus, RefusedError, SizeupError, UsageError
from sizeup.model.plan import ExperimentRun, Plan
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import load_registry
from sizeup.probing.runner import signal_name
from sizeup.probing.settings import parse_assignments
from sizeup.session.records import FORMAT, TOOL, CommandRecord, EndRecord, ExperimentRecord, Record, SessionRecord
from sizeup.session.store import new_path, utc_text
from sizeup.session.writer import Writer
from sizeup.text import one_line

MOST_ROUNDS = 100
MOST_SECONDS = 86_400.0
SHELL = "/bin/sh"
OUTPUT_BYTES = 16 << 10
"""The end of the output that is kept; an error message stands there."""
_POLL_SECONDS = 0.05
_KILL_AFTER_SECONDS = 2.0


class ExperimentSpec(Struct, frozen=True, kw_only=True):
    """One experiment as it was asked for."""

    a: str
    b: str
    restore: str | None = None
    """None to execute the command of A again at the end."""
    rounds: int = 6
    settle_seconds: float = 1.0
    command_limit_seconds: float = 60.0
    run: RunSpec

    @property
    def last_command(self) -> str:
        """The command that ends the experiment."""
        return self.a if self.restore is None else self.restore

    @property
    def order(self) -> str:
        """The setting of each run."""
        return "".join(run_order(self.rounds))


class PreparedExperiment(Struct, frozen=True):
    """What is going to be executed."""

    spec: ExperimentSpec
    plan: Plan
    """The plan of each run."""
    setup_seconds: float
    """What a run takes beside its plan, as far as preparing took it too."""

    @property
    def seconds(self) -> float:
        """The time of all runs and waits, without that of the commands."""
        each = sum(step.estimated_seconds for step in self.plan.steps) + self.spec.settle_seconds + self.setup_seconds
        return 2 * self.spec.rounds * each


class ExperimentEnd(Struct, frozen=True):
    """How an experiment ended."""

    path: str
    """The session file."""
    status: ExitStatus
    problems: tuple[str, ...]
    """What went wrong; that the setting was not restored comes last."""


def prepare(spec: ExperimentSpec) -> PreparedExperiment:
    """Check the request and make the plan of each run; executes nothing and writes nothing."""
    for flag, command in (("--a", spec.a), ("--b", spec.b), ("--restore", spec.restore)):
        if command is not None and (not command.strip() or "\0" in command):
            raise UsageError(f"{flag}: expected a command for /bin/sh, found {command!r}")
    if not LEAST_ROUNDS <= spec.rounds <= MOST_ROUNDS:
        raise UsageError(f"--rounds: expected a whole number from {LEAST_ROUNDS} to {MOST_ROUNDS}, found {spec.rounds}")
    for flag, seconds, least in (
        ("--settle", spec.settle_seconds, 0.0),
        ("--command-limit", spec.command_limit_seconds, 0.1),
    ):
        if not least <= seconds <= MOST_SECONDS:
            raise UsageError(
                f"{flag}: expected a number of seconds from {least:g} to {MOST_SECONDS:,.0f}, found {seconds:g}"
            )
    began = time.monotonic()
    registry = load_registry().builtin_only() if spec.run.only_builtin else load_registry()
    settings = parse_assignments(spec.run.assignments, registry)
    plan = make_plan(discover("/"), registry, name=spec.run.plan, probes=spec.run.probes, settings=settings)
    if not plan.steps:
        reasons = "; ".join(f"{refusal.step}: {refusal.reason}" for refusal in plan.refusals) or "the plan is empty"
        raise RefusedError(f"nothing can be measured, so nothing was executed: {reasons}")
    return PreparedExperiment(spec, plan, time.monotonic() - began)


def user() -> str:
    """Return who executes the commands: ``ann (uid 1000)``."""
    number = os.geteuid()
    try:
        import pwd

        return f"{pwd.getpwuid(number).pw_name} (uid {number})"
    except (ImportError, KeyError):
        return f"uid {number}"


def run_experiment(prepared: PreparedExperiment, display: ProgressDisplay) -> ExperimentEnd:
    """Execute the experiment; the caller has asked."""
    with BatchControl(commands=False) as control:
        return _Experiment(prepared, display, control).run_all_rounds()


class _Experiment:
    """One experiment while it is executed."""

    def __init__(self, prepared: PreparedExperiment, display: ProgressDisplay, control: BatchControl) -> None:
        self._spec, self._plan = prepared.spec, prepared.plan
        self._display, self._control = display, control
        self._id = str(uuid.uuid4())
        self._executed = False
        """Whether a command may have changed the setting."""
        self._origin_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        self._path = self._create()

    def run_all_rounds(self) -> ExperimentEnd:
        """Run all rounds, restore, and say how it ended."""
        problems: list[str] = []
        status = ExitStatus.OK
        try:
            status = self._alternate()
        except (SizeupError, OSError) as error:
            problems.append(str(error))
            status = error.status if isinstance(error, SizeupError) else ExitStatus.USAGE
        except BaseException as fault:
            if not_restored := self._restore():
                raise CommandError(
                    f"{not_restored}; the experiment ended by {type(fault).__name__}: {fault}"
                ) from fault
            raise
        not_restored = self._restore()
        if not_restored:
            problems.append(not_restored)
        canceled = self._control.canceled
        ended = "complete" if canceled is None and not problems else "canceled"
        if canceled not in (None, ExitStatus.INTERRUPTED):
            ended = "terminated"
        try:
            self._log(EndRecord(self._now_ns(), ended, "; ".join(problems)))
        except (SizeupError, OSError) as error:
            problems.append(str(error))
        if not_restored:
            status = ExitStatus.COMMAND_FAILED
        elif canceled is not None:
            status = canceled
        return ExperimentEnd(self._path, status, tuple(dict.fromkeys(problems)))

    def _alternate(self) -> ExitStatus:
        worst = ExitStatus.OK
        for number, setting in enumerate(self._spec.order):
            round_ = number // 2 + 1
            self._display.show(
                f"run {number + 1} of {len(self._spec.order)}: setting {setting.upper()}, round {round_}"
            )
            command = self._spec.a if setting == "a" else self._spec.b
            self._executed = True
            result = execute(command, self._spec.command_limit_seconds, self._control)
            self._log(self._record(setting, command, result, round_))
            if result.problem and not self._control.cancel_run:
                raise CommandError(f"the command of setting {setting.upper()} failed: {failure(command, result)}")
            end = time.monotonic() + self._spec.settle_seconds
            while not self._control.cancel_run and (left := end - time.monotonic()) > 0:
                select.select([self._control], [], [], left)
                self._control.read_commands()
            if self._control.cancel_run:
                return worst
            label = ExperimentRun(self._id, setting, round_)
            measured = run(
                replace(self._spec.run, append=self._path, output=None),
                self._display,
                control=self._control,
                plan=replace(self._plan, experiment_run=label),
            )
            if self._control.cancel_run:
                return worst
            if not measured.finished_steps:
                raise SizeupError(
                    f"the run under setting {setting.upper()} of round {round_} measured nothing, so the experiment "
                    f"ended; see: sizeup session show {self._path}"
                )
            worst = max(worst, ExitStatus.PROBE_FAILED if measured.status is ExitStatus.PROBE_FAILED else worst)
        return worst

    def _restore(self) -> str:
        """Execute the last command, whatever arrives; return why the setting was not restored, or nothing."""
        if not self._executed:
            return ""
        command = self._spec.last_command
        self._display.show(f"restoring: {one_line(command)}")
        result = execute(command, self._spec.command_limit_seconds, self._control, cancelable=False)
        problem = ""
        if result.problem:
            problem = (
                f"the setting was not restored: {failure(command, result)}; "
                f"restore it by hand and check it before you go on"
            )
        try:
            self._log(self._record("restore", command, result, 0))
        except (SizeupError, OSError) as error:
            if not problem:
                self._display.show(f"the setting was restored, but that could not be recorded: {error}")
        return problem

    def _record(self, setting: str, command: str, result: CommandResult, round_: int) -> CommandRecord:
        return CommandRecord(
            self._now_ns(), self._id, setting, command, round(result.seconds, 3), result.exit_status, round_,
            result.output, result.problem,
        )  # fmt: skip

    def _create(self) -> str:
        host, now, spec = os.uname().nodename, datetime.now(UTC), self._spec
        path = spec.run.output or str(new_path(host, now))
        with Writer.create(path) as writer:
            if not os.path.isfile(path):
                raise UsageError(f"{path}: expected a file that can be read again, found something else; name one: -o")
            writer.write(
                SessionRecord(FORMAT, str(uuid.uuid4()), TOOL, host, utc_text(now)),
                ExperimentRecord(
                    self._now_ns(), self._id, spec.a, spec.b, spec.last_command, spec.rounds, spec.order,
                    spec.settle_seconds, spec.command_limit_seconds, user(),
                ),
            )  # fmt: skip
            writer.sync()
        return path

    def _log(self, *records: Record) -> None:
        with Writer.append(self._path) as writer:
            writer.write(*records)
            writer.sync()

    def _now_ns(self) -> int:
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - self._origin_ns


def failure(command: str, result: CommandResult) -> str:
    """Return the command, how it ended, and the last line that it printed."""
    said = next((line for line in reversed(result.output) if line.strip()), "")
    return f"{one_line(command)}: {result.problem}{f' ({one_line(said)})' if said else ''}"


class CommandResult(Struct, frozen=True):
    """How a command ended."""

    exit_status: int | None
    """None where it did not end by itself."""
    seconds: float
    output: tuple[str, ...]
    """Lines of standard output and standard error, the last of them."""
    problem: str
    """Why it did not succeed; empty where it did."""


def execute(command: str, limit_seconds: float, control: BatchControl, *, cancelable: bool = True) -> CommandResult:
    """Run ``/bin/sh -c COMMAND`` with nothing on standard input, and wait for the shell to end.

    It is a process group of its own: Ctrl-C on the terminal goes to sizeup alone, which decides what ends.
    What the shell leaves running in the background goes on; its further output is not kept. Without ``cancelable``
    only the time limit ends the command early.
    """
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            [SHELL, "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment(),
            process_group=0,
            # Has the child made by fork, which keeps the handlers of sizeup until the shell is executed. By vfork it
            # would have none before it has a process group of its own, and a Ctrl-C in between would end it.
            preexec_fn=lambda: None,  # noqa: PLW1509  takes no lock
        )
    except OSError as error:
        return CommandResult(None, 0.0, (), f"{SHELL} could not be started: {error.strerror}")
    assert process.stdout is not None
    ended_by_us, output = "", _Output(process.stdout.fileno())
    with process.stdout:
        while process.poll() is None and not ended_by_us:
            left = began + limit_seconds - time.monotonic()
            if cancelable and control.cancel_run:
                ended_by_us = "it was canceled"
            elif left <= 0:
                ended_by_us = f"it did not end within {limit_seconds:g} s"
            else:
                watched = [control.fileno(), *([] if output.ended else [output.descriptor])]
                ready, _, _ = select.select(watched, [], [], min(left, _POLL_SECONDS))
                if control.fileno() in ready:
                    control.read_commands()
                output.read()
        if ended_by_us:
            _end(process)
        output.read()
    status = process.poll()
    seconds = time.monotonic() - began
    if ended_by_us or status is None or status < 0:
        problem = ended_by_us or f"it was ended by {signal_name(-(status or 0))}"
        return CommandResult(None, seconds, output.lines(), problem)
    return CommandResult(status, seconds, output.lines(), f"it exited with status {status}" if status else "")


class _Output:
    """The end of what a pipe brought, read without waiting."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.ended = False
        self._kept = b""

    def read(self) -> None:
        """Take what is there now."""
        for _ in range(64):  # not forever from a command that never stops writing
            try:
                data = os.read(self.descriptor, 65536)
            except BlockingIOError:
                return
            self.ended = not data
            if self.ended:
                return
            self._kept = (self._kept + data)[-OUTPUT_BYTES:]

    def lines(self) -> tuple[str, ...]:
        """Return the lines that are kept."""
        return tuple(self._kept.decode(errors="replace").splitlines())


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command and what it started, first politely; one that hangs in the kernel is left behind."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        # The shell ends sooner than what it started, which may ignore the first signal.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_KILL_AFTER_SECONDS)
