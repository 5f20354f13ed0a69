"""The process that runs one step and nothing else; it may be killed at any time.

Each message is written as the probe yields it: what is in the pipe outlives a crash, and one write
costs a few microseconds between native calls, never inside one. No signal has a Python handler here,
because Python handlers cannot run while native code does: SIGTERM ends an endless loop in C.
"""

from __future__ import annotations

import ctypes
import math
import os
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from msgspec.structs import replace

from sizeup.errors import RefusedError, SizeupError
from sizeup.files import temporary_files
from sizeup.model.machine import Gap
from sizeup.model.records import ENCODER, EstimateRecord, GapRecord, ProgressRecord, SamplesRecord, StepRecord
from sizeup.model.sample import Estimate, Progress, Samples
from sizeup.probing import wire
from sizeup.probing.registry import load_class
from sizeup.procfs.process import make_first_oom_victim, set_autogroup_nice
from sizeup.text import one_line

_PR_SET_PDEATHSIG = 1
_PARENT_GONE = 3
LOWEST_NICE = 19


class WorkerContext:
    """What a running step may ask; see ``probing.api.Context``."""

    def __init__(self, origin_ns: int) -> None:
        self._origin_ns = origin_ns
        self._lock = threading.Lock()
        self.canceled = False
        self._callbacks: list[Callable[[], None]] = []

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` once when the step is canceled; at once if it already is."""
        with self._lock:
            if not self.canceled:
                self._callbacks.append(callback)
                return
        callback()

    def now_ns(self) -> int:
        """Nanoseconds since the run began."""
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - self._origin_ns

    def since_start_ns(self, monotonic_raw_ns: int) -> int:
        """Nanoseconds since the run began of a reading of CLOCK_MONOTONIC_RAW."""
        return monotonic_raw_ns - self._origin_ns

    def cancel(self) -> None:
        """Tell the probe to end, and call its callbacks."""
        with self._lock:
            self.canceled = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()


def main() -> NoReturn:
    """Read the job from standard input, run it, and leave without any clean-up that could hang."""
    head, _, rest = _read_until(b"\n", b"").partition(b"\n")
    job = wire.JOB.decode(head)
    # Python's own handler for SIGINT cannot run inside C; the runner decides what a ^C means.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != job.parent:
        os._exit(_PARENT_GONE)
    os.set_inheritable(job.descriptor, False)  # noqa: FBT003 -- takes no keyword
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    make_first_oom_victim()
    context = WorkerContext(job.origin_ns)
    _send(job, replace(_run(job, context, rest), temporary_files=tuple(temporary_files)))
    sys.stdout.flush()
    sys.stderr.flush()
    # A native thread that ignored its cancel must not keep the process.
    os._exit(0)


def _read_until(mark: bytes, data: bytes) -> bytes:
    """Return ``data`` and what follows on standard input until it has a mark; leave where the runner has gone."""
    while mark not in data:
        chunk = os.read(0, 1 << 16)
        if not chunk:
            os._exit(_PARENT_GONE)
        data += chunk
    return data


def _stand_back(cpu: int) -> None:
    """Run on one CPU at the lowest CPU and I/O priority, as all threads do that are started later."""
    import psutil

    try:
        os.sched_setaffinity(0, {cpu})
        os.setpriority(os.PRIO_PROCESS, 0, LOWEST_NICE)
        psutil.Process().ionice(psutil.IOPRIO_CLASS_IDLE)
    except (OSError, psutil.Error) as error:
        raise RefusedError(f"cannot be measured gently on CPU {cpu}: {one_line(str(error))}") from error
    set_autogroup_nice(LOWEST_NICE)


def _listen(context: WorkerContext, early: bytes) -> None:
    """Wait for the cancel command; the end of standard input means that the runner has gone."""
    _read_until(wire.CANCEL, early)
    context.cancel()
    while os.read(0, 64):
        pass
    os._exit(_PARENT_GONE)


def _run(job: wire.StepJob, context: WorkerContext, early: bytes) -> wire.Ending:
    try:
        if job.step.gentle is not None:
            _stand_back(job.step.gentle.cpu)  # before there is another thread, which would not
        threading.Thread(target=_listen, args=(context, early), daemon=True).start()
        for emission in load_class(job.target).run(job.step, context):
            _send(job, record_of(job.step.id, context.now_ns(), emission))
    except RefusedError as error:
        return wire.Ending("refused", one_line(str(error)))
    except SizeupError as error:  # raised on purpose: its message is for the user, its place in the code is not
        return wire.Ending("failed", one_line(str(error)))
    except Exception as error:  # noqa: BLE001 -- what a probe raises fails its step and not the run
        traceback.print_exc()
        where = traceback.extract_tb(error.__traceback__)[-1]
        location = f"{Path(where.filename).name}:{where.lineno}"
        reason = f"{type(error).__name__}: {one_line(str(error)) or 'no reason given'} ({location})"
        return wire.Ending("failed", reason)
    return wire.Ending("ok")


def record_of(step: str, now_ns: int, emission: object) -> StepRecord:
    """Return what a probe yielded as a record of its step; raises ``ValueError`` or ``TypeError`` where it is none."""
    match emission:
        case Samples():
            count = len(emission.values)
            if len(emission.t_ns) != count or len(emission.flags) not in (0, count):
                raise ValueError(
                    f"series {emission.series}: expected as many times and flags as values, "
                    f"found {len(emission.t_ns)} and {len(emission.flags)} for {count}"
                )
            if not all(map(math.isfinite, emission.values)):
                raise ValueError(f"series {emission.series} at {dict(emission.at)}: a sample is not a finite number")
            return SamplesRecord(step, emission.series, emission.at, emission.t_ns, emission.values, emission.flags)
        case Estimate():
            if not math.isfinite(emission.value):
                raise ValueError(f"series {emission.series} at {dict(emission.at)}: an estimate of {emission.value}")
            return EstimateRecord(now_ns, step, emission)
        case Progress():
            return ProgressRecord(now_ns, step, emission.done, emission.remaining_seconds, emission.activity)
        case Gap():
            return GapRecord(now_ns, emission, step)
    raise TypeError(f"a probe yields Samples, Estimate, Progress or Gap, found {type(emission).__name__}")


def _send(job: wire.StepJob, message: wire.Message) -> None:
    view = memoryview(ENCODER.encode(message) + b"\n")
    while view:
        view = view[os.write(job.descriptor, view) :]
