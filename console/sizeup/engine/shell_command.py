"""Executes a command that the user gave, in a shell, and keeps what became of it.

The command is a process group of its own: Ctrl-C on the terminal goes to sizeup alone, which decides what ends.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time

from msgspec import Struct

from sizeup.child_process import environment
from sizeup.engine.control import BatchControl
from sizeup.probing.runner import signal_name

SHELL = "/bin/sh"
OUTPUT_BYTES = 16 << 10
"""The end of the output that is kept; an error message stands there."""
_POLL_SECONDS = 0.05
_KILL_AFTER_SECONDS = 2.0


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
            preexec_fn=_forked,  # noqa: PLW1509  takes no lock
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


def _forked() -> None:
    """Have the child made by fork, which keeps the handlers of sizeup until the shell is executed.

    By vfork it would have none before it has a process group of its own, and a Ctrl-C in between would end it.
    """


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
