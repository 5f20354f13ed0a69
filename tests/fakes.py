"""Stand-ins that the suite shares: a control nobody touches, and one that is told what to do."""

import os
import time
from collections.abc import Callable


class QuietControl:
    """Nobody asks for anything."""

    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()
        self.cancel_run = False

    def __del__(self) -> None:
        os.close(self._read_end)
        os.close(self._write_end)

    def fileno(self) -> int:
        return self._read_end

    def read_commands(self) -> None:
        os.read(self._read_end, 64)

    @property
    def cancel_step(self) -> bool:
        return False

    def next_step(self) -> bool:
        return not self.cancel_run


class CancelWhen(QuietControl):
    """Cancels the step once a condition holds."""

    def __init__(self, condition: Callable[[], bool]) -> None:
        super().__init__()
        self._condition = condition

    @property
    def cancel_step(self) -> bool:
        return self._condition()


class HandContext:
    """A worker's context that counts from its making and is canceled by hand."""

    def __init__(self) -> None:
        self.canceled = False
        self._callbacks: list[Callable[[], None]] = []
        self._start_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)

    def on_cancel(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)
        if self.canceled:
            callback()

    def cancel(self) -> None:
        self.canceled = True
        for callback in self._callbacks:
            callback()

    def now_ns(self) -> int:
        return self.since_start_ns(time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW))

    def since_start_ns(self, monotonic_raw_ns: int) -> int:
        return monotonic_raw_ns - self._start_ns
