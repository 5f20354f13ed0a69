"""Whether the clock is synchronized is asked of the kernel; where it may not be asked, unknown is said."""

import ctypes
import errno
import os
from pathlib import Path

import pytest

from sizeup.live.environment import ClockSync, Timex, clock_sync


def kernel(state: int, status: int) -> tuple[int, Timex]:
    timex = Timex()
    timex.status, timex.maxerror = status, 1250
    return state, timex


def forbidden() -> tuple[int, Timex]:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


@pytest.mark.parametrize(
    ("state", "status", "expected"),
    [
        (0, 0x2001, ClockSync(synchronized=True, reason="adjtimex", max_error_us=1250)),
        (0, 0x0040, ClockSync(synchronized=False, reason="adjtimex")),
        (5, 0x0000, ClockSync(synchronized=False, reason="adjtimex")),
    ],
)
def test_the_kernel_says_whether_it_is(tmp_path: Path, state: int, status: int, expected: ClockSync) -> None:
    assert clock_sync(str(tmp_path), lambda: kernel(state, status)) == expected


def test_where_the_call_is_forbidden_the_time_service_has_left_a_mark_or_it_is_unknown(tmp_path: Path) -> None:
    unknown = clock_sync(str(tmp_path), forbidden)
    (tmp_path / "systemd/timesync").mkdir(parents=True)
    (tmp_path / "systemd/timesync/synchronized").touch()

    assert unknown == ClockSync(None, "adjtimex: Operation not permitted")
    assert unknown.facts() == {"clock_synchronized": None, "clock_synchronized_source": unknown.reason}
    assert clock_sync(str(tmp_path), forbidden) == ClockSync(synchronized=True, reason="systemd-timesyncd")


@pytest.mark.skipif(ctypes.sizeof(ctypes.c_long) != 8, reason="the length is that of 64-bit kernels")
def test_the_structure_is_as_long_as_the_kernels() -> None:
    assert ctypes.sizeof(Timex) == 208


def test_this_machine_can_be_asked() -> None:
    assert clock_sync().reason
