"""The run that the console shows: a process of its own, known only by what it writes to its session file.

The console never runs a plan. A stalled terminal, a crash of the screen or a closed window can
therefore not disturb a measurement; and what is shown here is what stands in the file.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from threading import get_native_id
from typing import IO, TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from sizeup.child_process import environment, sizeup_command
from sizeup.errors import ExitStatus, SizeupError
from sizeup.model.machine import Machine
from sizeup.procfs.lists import format_list
from sizeup.procfs.process import list_threads
from sizeup.session.store import free_path

if TYPE_CHECKING:
    from sizeup.engine.spec import RunSpec
    from sizeup.live.cost import ConsoleCost
    from sizeup.live.hotplug import HotplugMonitor
    from sizeup.session.reader import SessionFollower
    from sizeup.session.value import Session


def cpus_to_avoid(
    measured: Collection[int], allowed: Collection[int], machine: Machine | None
) -> tuple[frozenset[int], str]:
    """The allowed CPUs away from the measured nodes; if none is left, from the cores; if none, from the CPUs alone.

    ``measured`` is empty for a step that does not mind. With them comes what the console shares with the measurement.
    """
    everywhere, wanted = frozenset(allowed), frozenset(measured)
    if not wanted:
        return everywhere, ""
    cores = _touched((core.pus for core in machine.cores) if machine is not None else (), wanted)
    nodes = _touched((node.pus for node in machine.nodes) if machine is not None else (), wanted)
    for kept in (cores | nodes, cores):
        if everywhere - kept:
            return everywhere - kept, ""
    if everywhere - wanted:
        return everywhere - wanted, "the console shares a core with it"
    return everywhere, f"the console shares CPU {format_list(tuple(sorted(wanted)))} with it"


def _touched(groups: Iterable[Collection[int]], wanted: frozenset[int]) -> frozenset[int]:
    """Every CPU of the groups that hold a wanted one, and the wanted ones."""
    return wanted.union(*(group for group in groups if not wanted.isdisjoint(group)))


def move_to(cpus: Collection[int]) -> None:
    """Put all threads of this process on these CPUs; Linux keeps the affinity by thread (sched_setaffinity(2))."""
    for thread in list_threads() or (get_native_id(),):  # no /proc here: this thread at least
        with contextlib.suppress(OSError):  # it has just ended, or a cpuset shrank meanwhile
            os.sched_setaffinity(thread, cpus)


class CpuAffinity:
    """Moves the console out of a step's way, and back."""

    def __init__(
        self,
        move: Callable[[Collection[int]], None] = move_to,
        where: Callable[[], Collection[int]] = lambda: os.sched_getaffinity(0),
    ) -> None:
        self._move = move
        self._where = where
        self._home: Collection[int] | None = None
        self._measured: tuple[int, ...] = ()
        self.caveat = ""
        """What the console could not leave alone; empty where it keeps clear."""

    def avoid_cpus(self, measured: tuple[int, ...], machine: Machine | None) -> None:
        """Leave these CPUs; an empty tuple brings the console back."""
        if measured == self._measured:
            return
        if self._home is None:
            self._home = self._where()
        chosen, self.caveat = cpus_to_avoid(measured, self._home, machine)
        self._move(chosen)
        self._measured = measured
        if not measured:
            self._home = None


class LiveSource(Struct, frozen=True):
    """Where events and figures of the moment come from, and how the machine is read again."""

    follow: Callable[[Callable[[], object]], HotplugMonitor | None]
    """Starts the events, which arrive in a thread of their own; None where there are none."""
    discover: Callable[[], Machine]
    refreshed: Callable[[Machine], Machine] = lambda machine: machine
    """The same machine with its memory and its links as they are now."""
    loads: Callable[[], Mapping[int, float]] = dict
    """Percent by CPU since the last call; what the first call says means nothing."""
    busy: Callable[[], str] | None = None
    """What others load more than a run should add to, after a moment, empty for nothing; None where nobody asks."""
    settle_seconds: float = 1.0
    """From the first event to reading the machine, which takes in all that came between: a controller brings
    a dozen devices."""


_keep = cache(gc.freeze)  # what is there at the first run stays: after a run little is looked through for garbage
Launcher = Callable[[Sequence[str], IO[bytes]], "subprocess.Popen[bytes]"]
"""Starts ``sizeup`` with these arguments, its standard input a pipe, its errors going to the file."""


def spec_of(probe: str, settings: Mapping[str, str], plan: str = "quick", mount: str = "") -> RunSpec:
    """Return the run of one probe with what the user changed, as typed; of the whole plan where ``probe`` is empty.

    The plan measures storage where a ``mount`` is named.
    """
    from sizeup.engine.spec import RunSpec

    return RunSpec(
        plan=plan,
        probes=(probe,) if probe else (),
        assignments=tuple(f"{probe}.{key}={value}" for key, value in settings.items()),
        mount=mount,
    )


def launch(arguments: Sequence[str], errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start the runner in a session of its own, so that the terminal's signals never reach it."""
    _keep()
    return subprocess.Popen(
        sizeup_command(*arguments),
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        start_new_session=True,
        bufsize=0,  # the handler of a signal may write while a write is going on
    )


class Runs:
    """The runs of this console, one after the other, all in one session file."""

    def __init__(self, path: str, launcher: Launcher = launch, affinity: CpuAffinity | None = None) -> None:
        self.path = path
        self._last_ns, self._news_seconds = 0, time.monotonic()
        self._affinity = affinity or CpuAffinity()
        self._launcher = launcher
        self._follower: SessionFollower | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._started = 0.0
        self._plans_before = 0
        self.paused = False
        """Whether the user paused it."""
        self.canceling = False
        """Whether it was asked to stop and has not yet."""
        self.followed = False
        """Whether a run of somebody else, such as one that was left to go on, writes the file that is shown."""
        self.spec: RunSpec | None = None
        """What the runner at work was asked for; None where it resumes a session, and where there is none."""
        self.queue: list[RunSpec] = []
        """What starts when the current run has ended."""
        self.problem = ""
        """Why the last run failed, in the runner's words; empty where it did not."""

    @property
    def session(self) -> Session | None:
        """Everything in the file so far; None before the first line."""
        return None if self._follower is None else self._follower.session

    def held(self, path: str) -> Session | None:
        """Return everything in the file at ``path`` where it is the one that is shown; None where it has to be read."""
        if path != self.path or self._follower is None:
            return None
        return self._follower.read_to_end()

    @property
    def running(self) -> bool:
        """Whether a runner of ours is at work."""
        return self._process is not None

    @property
    def begun(self) -> bool:
        """Whether the runner at work has said in the file what it will do."""
        session = self.session
        return self.running and session is not None and len(session.plans) > self._plans_before

    @property
    def going_on(self) -> bool:
        """Whether a run is at work, ours or not."""
        return self.running or self.followed

    @property
    def caveat(self) -> str:
        """What of the running step this console could not leave alone; empty where it keeps clear."""
        return self._affinity.caveat

    @property
    def elapsed_seconds(self) -> float:
        """Since the current run was started; 0 where there is none."""
        return time.monotonic() - self._started if self.running else 0.0

    def follow(self) -> None:
        """Show what the file holds, and what another process may still add."""
        self._open().poll()
        self._check_followed()

    def includes(self, probe: str) -> bool:
        """Whether the run that was started last names a probe."""
        return self.spec is not None and probe in self.spec.probes

    def starts(self, probe: str) -> bool:
        """Whether the runner at work was asked for a probe of which no step has begun or was refused."""
        session = self.session
        if not self.running or not self.includes(probe):
            return False
        if session is None or session.plan is None or not self.begun:
            return True
        ids = [step.id for step in session.plan.steps if step.probe == probe]
        return not any(step in session.steps or step in session.outcomes for step in ids)

    def queues(self, probe: str) -> bool:
        """Whether a probe waits for the end of the run."""
        return any(probe in spec.probes for spec in self.queue)

    def start(self, spec: RunSpec) -> bool:
        """Start a run now, or after the current run; whether it started at once."""
        if self.running:
            self.queue.append(spec)
            return False
        if self._follower is None:  # a name given at the start may be taken by now, by another console
            self.path = str(free_path(Path(self.path)))
        self._launch(replace(spec, append=self.path) if os.path.exists(self.path) else replace(spec, output=self.path))
        self.spec = spec
        return True

    def leave_session(self) -> bool:
        """Put the next run into a session of its own; False during a run."""
        if self.going_on:
            return False
        if self._follower is not None:
            self._follower.close()
            self._follower = None
            self.path = str(free_path(Path(self.path)))
        return True

    def resume(self, path: str) -> bool:
        """Run what another session is missing, from now on in its file; False during a run."""
        if not self.leave_session():
            return False
        self.path = path
        from sizeup.engine.spec import RunSpec

        self._launch(RunSpec(resume=path))
        return True

    def poll(self) -> bool:
        """Read what was added; whether anything changed."""
        changed = False
        if self._follower is not None:
            try:
                changed = self._follower.poll() > 0
            except SizeupError as error:
                self.problem, changed = str(error), True
                self._follower.close()
                self._follower = None
        if self._process is not None and self._process.poll() is not None:
            self._ended(self._process)
            if self._follower is not None:
                self._follower.poll()  # what came between the last look and the end
            changed = True
            if self.queue:
                self.start(self.queue.pop(0))
        self._check_followed()
        self._avoid_measured_cpus()
        last_ns = 0 if self.session is None else self.session.last_ns
        if last_ns != self._last_ns:
            self._last_ns, self._news_seconds = last_ns, time.monotonic()
        return changed

    @property
    def quiet_seconds(self) -> int:
        """How long the run that is on has measured nothing, in steps of 5 s: it prepares, or waits."""
        return int((time.monotonic() - self._news_seconds) // 5) * 5 if self.going_on else 0

    def cancel(self) -> None:
        """End the whole run; what was measured stays in the file."""
        self.queue.clear()
        self.canceling = self.going_on
        self._send("cancel")
        if not self.followed:
            return
        from sizeup.session.writer import writer_pid

        pid = writer_pid(self.path)
        if pid is not None:
            with contextlib.suppress(OSError):  # it has just ended, or is another user's
                os.kill(pid, signal.SIGINT)  # which a run takes for "canceled"

    def forget(self, probe: str) -> bool:
        """Take a probe that waits out of the queue; whether it waited."""
        waiting = [spec for spec in self.queue if probe in spec.probes]
        self.queue = [spec for spec in self.queue if probe not in spec.probes]
        return bool(waiting)

    def cancel_step(self) -> None:
        """End this step and go on with the next."""
        self._send("cancel-step")

    def toggle_pause(self) -> None:
        """Hold the run before its next step, or let it go on."""
        if self.running:
            self.paused = not self.paused
            self._send("pause" if self.paused else "resume")

    def keep(self) -> None:
        """Let the run go on without this console."""
        self._send("keep")

    def hang_up(self) -> None:
        """Tell the runner that the terminal is lost: by its configuration, the run continues or is canceled."""
        self._send("hang-up")

    def report_cost(self, cost: ConsoleCost) -> None:
        """Have what this console cost so far recorded with the run."""
        from sizeup.live.cost import format_cost

        self._send(format_cost(cost).decode())

    def wait(self, seconds: float) -> bool:
        """Wait for the runner to end, at most so long; whether it did."""
        if self._process is None:
            return True
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def release(self) -> None:
        """Close the runner's input: it cancels and saves, unless ``keep`` or ``hang-up`` came before."""
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def close(self) -> None:
        """Let go of everything."""
        self.release()
        self._affinity.avoid_cpus((), None)
        if self._follower is not None:
            self._follower.close()
            self._follower = None
        if self._errors is not None:
            self._errors.close()

    def _launch(self, spec: RunSpec) -> None:
        # In memory, and so also where no disk has room; read when the process has ended.
        self._errors = open(os.memfd_create("errors"), "w+b")  # noqa: SIM115
        self._process = self._launcher(["--batch", "--quiet", *replace(spec, control=True).options()], self._errors)
        self._started = time.monotonic()
        self._plans_before = 0 if self.session is None else len(self.session.plans)
        self.paused = self.canceling = False
        self.problem = ""
        self._open()

    def _open(self) -> SessionFollower:
        if self._follower is None:
            from sizeup.session.reader import SessionFollower  # which the first screen does without

            self._follower = SessionFollower(self.path)
        return self._follower

    def _check_followed(self) -> None:
        session = self.session
        self.followed = False
        if session is not None and session.end is None and not self.running:
            from sizeup.session.writer import in_use

            self.followed = in_use(self.path)
        self.canceling = self.canceling and self.going_on

    def _avoid_measured_cpus(self) -> None:
        session = self.session
        step = list(session.steps.values())[-1] if session is not None and session.steps else None
        on = self.going_on and step is not None and step.outcome is None
        measured = step.step.cpus if on and step is not None else ()
        self._affinity.avoid_cpus(measured, None if session is None else session.machine)

    def _send(self, word: str) -> None:
        if self._process is None or self._process.stdin is None or self._process.stdin.closed:
            return
        with contextlib.suppress(OSError):  # it has just ended, and poll() will say so
            self._process.stdin.write(f"{word}\n".encode())
            self._process.stdin.flush()

    def _ended(self, process: subprocess.Popen[bytes]) -> None:
        self.release()
        if self._errors is not None:
            self._errors.seek(0)
            text = self._errors.read(16384).decode(errors="replace").strip()
            self._errors.close()
            self._errors = None
            if process.returncode not in (0, 129, 130, 143) or (text and process.returncode):
                last = text.rpartition("\n")[2].removeprefix("sizeup: ")
                # The line that says it has little room, and the reason matters more than the name.
                self.problem = last.removeprefix(f"{self.path}: ") or self._shortfall(process.returncode)
        self._process = None
        self.spec = None
        self.paused = self.canceling = False
        self._affinity.avoid_cpus((), None)  # before the next run, which inherits where we are

    def _shortfall(self, status: int) -> str:
        """Why a silent run ended so, as its file says; empty where steps were refused and others measured."""
        session = self.session
        if session is None or status not in (ExitStatus.PROBE_FAILED, ExitStatus.REFUSED):
            return f"the run ended with status {status}"
        from sizeup.model.sample import Status

        planned = () if session.plan is None else session.plan.steps
        measured = any(step.id in session.steps and session.steps[step.id].finished for step in planned)
        if status == ExitStatus.REFUSED and measured:
            return ""
        wanted = {Status.REFUSED} if status == ExitStatus.REFUSED else {Status.FAILED, Status.CRASHED, Status.TIMED_OUT}
        ended = [(step, outcome) for step, outcome in session.outcomes.items() if outcome.status in wanted]
        if not ended:
            return f"the run ended with status {status}"
        step, outcome = ended[-1]
        return ": ".join(filter(None, (f"{step} {outcome.status.words}", outcome.reason)))
