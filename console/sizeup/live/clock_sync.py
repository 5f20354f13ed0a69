"""Whether something keeps this host's clock right: what a start at an agreed time stands on.

Sources: adjtimex(2), which needs no privilege to ask; where a sandbox forbids the call, the mark that
systemd-timesyncd leaves (systemd-timesyncd.service(8)).
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable

from msgspec import Struct

from sizeup.live.environment import Fact

_STA_UNSYNC = 0x0040
_TIME_ERROR = 5
_MARK = "systemd/timesync/synchronized"


class Timex(ctypes.Structure):
    """``struct timex`` of <linux/timex.h>, whose tail is 11 integers of room."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        *((name, ctypes.c_long) for name in ("offset", "freq", "maxerror", "esterror")),
        ("status", ctypes.c_int),
        *((name, ctypes.c_long) for name in ("constant", "precision", "tolerance")),
        ("time", ctypes.c_long * 2),
        *((name, ctypes.c_long) for name in ("tick", "ppsfreq", "jitter")),
        ("shift", ctypes.c_int),
        *((name, ctypes.c_long) for name in ("stabil", "jitcnt", "calcnt", "errcnt", "stbcnt")),
        ("tai", ctypes.c_int),
        ("room", ctypes.c_int * 11),
    )


class ClockSync(Struct, frozen=True):
    """What is known of the clock's discipline."""

    synchronized: bool | None
    """None where nobody says."""
    reason: str
    """Who says so, or why nobody does."""
    max_error_us: int | None = None
    """The kernel's bound; None where it gives none."""

    def sentence(self) -> str:
        """Return what it means for a start together with other hosts, as a clause."""
        if self.synchronized is None:
            return f"clock synchronization is unknown: {self.reason}"
        if not self.synchronized:
            return f"this clock is not synchronized ({self.reason}); this host may start before or after the others"
        bound = "" if self.max_error_us is None else f", with an error of at most {self.max_error_us:,} us"
        return f"this clock is synchronized ({self.reason}){bound}"

    def facts(self) -> dict[str, Fact]:
        """For the environment of a session."""
        facts: dict[str, Fact] = {
            "clock_synchronized": self.synchronized,
            "clock_synchronized_source": self.reason,
        }
        return facts if self.max_error_us is None else facts | {"clock_max_error_us": self.max_error_us}


def ask_kernel() -> tuple[int, Timex]:
    """The state of the clock and its figures; raises ``OSError`` where the kernel gives none."""
    timex = Timex()
    libc = ctypes.CDLL(None, use_errno=True)
    state = libc.adjtimex(ctypes.byref(timex))
    if state < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return state, timex


def clock_sync(run: str = "/run", ask: Callable[[], tuple[int, Timex]] = ask_kernel) -> ClockSync:
    """Ask the kernel, and where it may not be asked the mark of the time service."""
    try:
        state, timex = ask()
    except OSError as error:
        if os.path.exists(os.path.join(run, _MARK)):
            return ClockSync(synchronized=True, reason="systemd-timesyncd")
        return ClockSync(None, f"adjtimex: {error.strerror}")
    if state == _TIME_ERROR or timex.status & _STA_UNSYNC:
        return ClockSync(synchronized=False, reason="adjtimex")
    return ClockSync(synchronized=True, reason="adjtimex", max_error_us=timex.maxerror)
