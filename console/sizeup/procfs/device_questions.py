"""Ask devices of the running kernel by ioctl, without waiting for one that does not answer.

An ioctl cannot be interrupted: of a network interface it waits for the kernel's lock on the configuration (rtnl), of an
NVMe drive for the drive, until the kernel gives up after ``nvme_core.admin_timeout`` (60 s). So each question is put in
a thread of its own, and all questions of one look together get ``SECONDS``; what has not answered by then is unknown.
The threads are daemons: nothing waits for them, but the end of the process may have to wait for the kernel.
"""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable

from sizeup.procfs.kernel_file import Unreadable

SECONDS = 2.0
"""Time for all questions; interfaces answer in microseconds, drives in milliseconds."""

Question = Callable[[], bytes]
"""Returns the answer; raises OSError where the kernel or the device refuses."""


class DeviceQuestions:
    """Questions of one look at a machine."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._left = seconds

    def ask(self, question: Question) -> bytes | Unreadable:
        """Return the answer, or why there is none: ETIMEDOUT where the time is over."""
        if self._left <= 0:
            return Unreadable(errno.ETIMEDOUT)
        answers: list[bytes | Unreadable] = []

        def put() -> None:
            try:
                answers.append(question())
            except OSError as error:
                answers.append(Unreadable(error.errno or errno.EIO))

        began = time.monotonic()
        thread = threading.Thread(target=put, name="device question", daemon=True)
        thread.start()
        thread.join(self._left)
        self._left -= time.monotonic() - began
        return answers[0] if answers else Unreadable(errno.ETIMEDOUT)
