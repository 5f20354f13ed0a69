"""Control of a batch run: signals, and with ``--control`` commands on standard input."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from types import FrameType

from sizeup.errors import ExitStatus
from sizeup.live.cost import ConsoleCost, parse_cost

_SIGNALS = {
    signal.SIGINT: ExitStatus.INTERRUPTED,
    signal.SIGTERM: ExitStatus.TERMINATED,
    signal.SIGHUP: ExitStatus.HANGUP,
}


class BatchControl:
    """Takes signals at once, and commands, one a line: cancel-step, cancel, pause, resume, keep, hang-up.

    The end of standard input means that the console has gone: the run is canceled, unless ``keep`` came before.
    ``hang-up`` says that the console has lost its terminal, as SIGHUP says of the run's own.
    ``console {"cpu_seconds": 1.5, "bytes": 20480}`` reports what the console has used so far.
    """

    def __init__(self, *, commands: bool, cancel_on_hang_up: bool = True) -> None:
        self._wake, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._epoll = select.epoll()
        self._epoll.register(self._wake, select.EPOLLIN)
        self._tail = b""
        self._paused = self._keep = self._step_canceled = False
        self.canceled: ExitStatus | None = None
        """Why the run was canceled; None while it was not."""
        self._cancel_on_hang_up = cancel_on_hang_up
        self.terminal_lost_ns: int | None = None
        """When the terminal was lost and the run went on, on CLOCK_MONOTONIC_RAW; None while it was not."""
        self.console: ConsoleCost | None = None
        """What the console that controls the run reported last of its own use; None where there is none."""
        if not commands:
            return
        try:
            self._epoll.register(0, select.EPOLLIN)
        except PermissionError:
            # A regular file or /dev/null is always readable: read all of it now.
            while self._read_input():
                pass
        except OSError:
            self._on_input_end()  # closed

    def __enter__(self) -> BatchControl:
        self._old_wakeup = signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        # What the caller had ignored stays so: that is all that nohup does, and a shell to a job in the background.
        handled = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        self._old_handlers = {number: signal.signal(number, self._on_signal) for number in handled}
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._old_handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_wakeup)
        self._epoll.close()
        os.close(self._wake)
        os.close(self._wake_write)

    @property
    def cancel_run(self) -> bool:
        """Whether no further step should start."""
        return self.canceled is not None

    @property
    def cancel_step(self) -> bool:
        """Whether the running step should end."""
        return self._step_canceled or self.cancel_run

    def fileno(self) -> int:
        """Readable when there may be a signal or a command."""
        return self._epoll.fileno()

    def read_commands(self) -> None:
        """Take the signals and commands that have arrived, without waiting."""
        for descriptor, _ in self._epoll.poll(0):
            if descriptor == self._wake:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wake, 512)
            elif not self._read_input():
                self._epoll.unregister(0)

    def next_step(self) -> bool:
        """Wait while paused, forget a canceled step; False when the run should end."""
        self.read_commands()
        while self._paused and not self.cancel_run:
            select.select([self], [], [])
            self.read_commands()
        self._step_canceled = False
        return not self.cancel_run

    def _read_input(self) -> bool:
        """Execute the commands on standard input; False at its end."""
        data = b""
        with contextlib.suppress(OSError):  # a terminal that was lost
            data = os.read(0, 4096)
        *lines, self._tail = (self._tail + data).split(b"\n")
        self._tail = self._tail[-4096:]
        for line in lines:
            self._execute(line.strip())
        if not data:
            self._on_input_end()
        return bool(data)

    def _execute(self, command: bytes) -> None:
        match command:
            case b"cancel-step":
                self._step_canceled = True
            case b"cancel":
                self._cancel(ExitStatus.INTERRUPTED)
            case b"pause":
                self._paused = True
            case b"resume":
                self._paused = False
            case b"keep":
                self._keep = True
            case b"hang-up":
                self._on_hang_up()
            case _:
                # Anything else may be a command of a later version: ignored, so that the run goes on.
                self.console = parse_cost(command) or self.console

    def _on_input_end(self) -> None:
        self._paused = False  # nobody is left to resume it
        if not self._keep:
            self._cancel(ExitStatus.INTERRUPTED)

    def _on_hang_up(self) -> None:
        if self._cancel_on_hang_up:
            self._cancel(ExitStatus.HANGUP)
        elif self.terminal_lost_ns is None:
            self.terminal_lost_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
            self._keep = True

    def _cancel(self, status: ExitStatus) -> None:
        self.canceled = self.canceled or status

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del frame
        if number == signal.SIGHUP:
            self._on_hang_up()
        else:
            self._cancel(_SIGNALS[signal.Signals(number)])
