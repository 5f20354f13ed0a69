"""The process of one worker: its start, its three pipes and its end."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Callable

from sizeup.child_process import environment, python_command
from sizeup.model.records import ENCODER
from sizeup.probing.wire import StepJob

ABANDON_AFTER_SECONDS = 2.0
EXIT_POLL_SECONDS = 0.005
PIPE_BYTES = 1 << 20
"""Room for the records of a worker between two collections, so that it never waits for its reader."""
_STDERR_KEPT_BYTES = 4096
_READS_AT_ONCE = 16
"""A worker that prints without end must not keep its runner from its time limit."""

_WORKER = "from sizeup.probing.worker import main; main()"


class WorkerProcess:
    """One process with its three pipes."""

    def __init__(self, job: Callable[[int], StepJob]) -> None:
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
        os.set_blocking(self.process.stdout.fileno(), False)
        self.printed = b""

    def send(self, data: bytes) -> None:
        """Write to its standard input; ignored where it has ended."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(data)

    def read_output(self) -> bool:
        """Keep the end of what the worker prints; False once its output is closed."""
        assert self.process.stdout is not None
        for _ in range(_READS_AT_ONCE):
            try:
                data = os.read(self.process.stdout.fileno(), 1 << 16)
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
        """End what is left of the group and reap; the exit status, negative for a signal, None if abandoned."""
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()
        os.close(self.records)
        if not self.exited():
            self.process.returncode = -signal.SIGKILL  # keeps Popen from warning about a child that never ends
            return None
        self.signal(signal.SIGKILL)
        return self.process.wait()
