"""A start at an agreed time, so that runs on several hosts begin together under any engine that starts them.

Whoever is late refuses: one host that joins in the middle spoils the figures of all.
"""

from __future__ import annotations

import math
import select
import time
from typing import Protocol

from sizeup.errors import LateError, UsageError

SPIN_NS = 2_000_000
"""The end of the wait is spent awake: a sleep overshoots by up to a millisecond on a busy host."""
LATE_LIMIT_NS = 100_000_000
"""A later start than this is none: the process was stopped, or the host asleep."""
FARTHEST_SECONDS = 7 * 86_400
"""Beyond it the time is more likely in milliseconds, or a typing error, than meant."""
_LOOK_AGAIN_SECONDS = 1.0
"""The clock may be set while we wait, so that no sleep is longer."""


class WaitControl(Protocol):
    """What may end the wait early."""

    def fileno(self) -> int:
        """Readable when there may be a command."""

    def read_commands(self) -> None:
        """Read the commands that have arrived, without waiting."""

    @property
    def cancel_run(self) -> bool:
        """Whether the run was canceled."""


class Clock:
    """CLOCK_REALTIME, which is what hosts agree on."""

    def now_ns(self) -> int:
        """Nanoseconds since 1970."""
        return time.time_ns()

    def sleep(self, seconds: float, control: WaitControl) -> None:
        """Wait that long, or until there may be a command."""
        select.select([control], [], [], seconds)


CLOCK = Clock()


def parse_start(text: str, clock: Clock = CLOCK) -> int:
    """The time in nanoseconds since 1970; one that is past is refused before anything is prepared."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    ahead = seconds - clock.now_ns() / 1e9
    if not math.isfinite(seconds) or ahead > FARTHEST_SECONDS:
        raise UsageError(
            f"--start-at: expected seconds since 1970, at most a week ahead, found {text!r}; "
            "try: --start-at $(($(date +%s) + 30))"
        )
    start_ns = round(seconds * 1e6) * 1000  # what a double still holds of it
    if ahead < 0:
        raise missed(start_ns, clock)
    return start_ns


def missed(start_ns: int, clock: Clock = CLOCK) -> LateError:
    """Return the error for a start time that has passed."""
    late = (clock.now_ns() - start_ns) / 1e9
    return LateError(
        f"--start-at {start_ns / 1e9:.3f}: the start was missed by {late:.3f} s and nothing was measured; "
        "choose one far enough ahead for every host to be ready"
    )


def wait_until(start_ns: int, control: WaitControl, clock: Clock = CLOCK) -> int:
    """Sleep, then spin; how late the start is in ns, at best a few hundred. A canceled wait ends at once."""
    if clock.now_ns() > start_ns:
        raise missed(start_ns, clock)
    while not control.cancel_run and (left := start_ns - clock.now_ns()) > SPIN_NS:
        clock.sleep(min((left - SPIN_NS) / 1e9, _LOOK_AGAIN_SECONDS), control)
        control.read_commands()
    while not control.cancel_run:
        late = clock.now_ns() - start_ns
        if late > LATE_LIMIT_NS:
            raise missed(start_ns, clock)
        if late >= 0:
            return late
    return 0
