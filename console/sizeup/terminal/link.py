"""The line between us and whoever looks at the terminal, measured by asking the terminal where its cursor is.

The question needs no network of its own and no privilege, and leaves nothing on the screen: a terminal
answers it only when it has drawn all that came before, however many hops away it is.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import time
from collections.abc import Callable, Iterator

from msgspec import Struct

ASK = b"\x1b[6n"
"""DSR 6, report cursor position (ECMA-48)."""

_REPORT = re.compile(rb"\x1b\[(\d{1,5});(\d{1,5})R")
_NOTHING = b"\x1b[0m"
"""Four bytes that every terminal reads and none shows."""

_BURSTS_BYTES = (4096, 16384, 65536)
_CLEAR_NS = 20_000_000
"""A burst that takes this much longer than an empty question is long enough to divide by."""

_ANSWERS = 3

_SLOWEST_SECONDS = 15.0
"""How long the answer of a terminal that has answered before is waited for: left behind, it would be typed into the
shell."""

Ask = Callable[[bytes], int | None]
"""Writes something and the question behind it; the value is the cursor's column, None where no answer came."""


class Link(Struct, frozen=True):
    """What the answers of the terminal at the other end say."""

    answer_ns: int
    """Median time from a question to its answer."""
    bytes_per_second: float
    """How fast it takes output; a lower bound where even the largest burst cost no time."""
    utf8: bool
    """Whether it draws the two bytes of é as one character."""


def measure(ask: Ask, now_ns: Callable[[], int]) -> Link | None:
    """Ask a few times, then behind bursts of growing size; None from a terminal that does not answer."""
    answers = []
    for _ in range(_ANSWERS):
        since = now_ns()
        if ask(b"") is None:
            return None
        answers.append(now_ns() - since)
    from statistics import median  # costs every start otherwise

    answer_ns = int(median(answers))
    column = ask("\ré".encode())
    ask(b"\r\x1b[K")
    rate = 0.0
    for size in _BURSTS_BYTES:
        since = now_ns()
        if ask(_NOTHING * (size // len(_NOTHING))) is None:
            return None
        beyond_ns = now_ns() - since - answer_ns
        rate = size * 1e9 / max(beyond_ns, 1_000_000)
        if beyond_ns >= _CLEAR_NS:
            break
    return Link(answer_ns, rate, column == 2)


def measure_terminal(descriptor: int, patience_seconds: float = 2.0) -> Link | None:
    """The line behind a terminal that this process is in the foreground of; None where it does not answer."""
    if not os.isatty(descriptor) or os.tcgetpgrp(descriptor) != os.getpgrp():
        return None
    patience = [patience_seconds]

    def ask(before: bytes) -> int | None:
        data = before + ASK
        while data:
            data = data[os.write(descriptor, data) :]
        heard = b""
        deadline = time.monotonic() + patience[-1]
        while (left := deadline - time.monotonic()) > 0:
            if select.select([descriptor], [], [], left)[0]:
                heard += os.read(descriptor, 1024)
                report = _REPORT.search(heard)
                if report is not None:
                    patience.append(_SLOWEST_SECONDS)
                    return int(report[2])
        return None

    with _without_echo(descriptor):
        return measure(ask, time.monotonic_ns)


@contextlib.contextmanager
def _without_echo(descriptor: int) -> Iterator[None]:
    """Answers are read as they come and not printed; keys typed meanwhile are lost, ^C is not."""
    import termios

    before = termios.tcgetattr(descriptor)
    quiet = termios.tcgetattr(descriptor)
    quiet[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(descriptor, termios.TCSADRAIN, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSAFLUSH, before)
