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

    def hear(self) -> None:
        os.read(self._read_end, 64)

    @property
    def cancel_step(self) -> bool:
        return False

    def next_step(self) -> bool:
        return not self.cancel_run


class CancelAfter(QuietControl):
    """Cancels the step a while after it is first asked."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds
        self._asked: float | None = None

    @property
    def cancel_step(self) -> bool:
        if self._asked is None:
            self._asked = time.monotonic()
        return time.monotonic() - self._asked > self._seconds


class CancelWhen(QuietControl):
    """Cancels the step once a condition holds."""

    def __init__(self, condition: Callable[[], bool]) -> None:
        super().__init__()
        self._condition = condition

    @property
    def cancel_step(self) -> bool:
        return self._condition()
