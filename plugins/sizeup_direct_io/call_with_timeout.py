"""Calls with a timeout, for system calls that may hang.

A request to a dead server or a frozen file system waits in the kernel where no signal reaches it.
Each such call runs in its own daemon thread; after the timeout the thread is abandoned and the
step ends with an error.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from concurrent.futures import wait
from pathlib import Path

import msgspec

from sizeup.errors import SizeupError
from sizeup.files import Result, answer_of
from sizeup.probing.api import Context

_SLICE_SECONDS = 0.02
_HINTS = msgspec.toml.decode(Path(__file__).with_name("errors.toml").read_bytes(), type=dict[str, str])


class StalledError(SizeupError):
    """The target does not respond."""


class CanceledError(Exception):
    """The step was canceled while waiting."""


def call_with_timeout(
    doing: str, function: Callable[[], Result], *, limit_seconds: float, context: Context | None
) -> Result:
    """Return the result of ``function``; raise StalledError if it takes longer than ``limit_seconds``.

    Without a context, as while cleaning up, it is not canceled.
    """
    answer = answer_of(function)
    deadline = time.monotonic() + limit_seconds
    while not wait([answer], _SLICE_SECONDS).done:
        if context is not None and context.canceled:
            raise CanceledError
        if time.monotonic() > deadline:
            raise StalledError(f"stalled: {doing} did not return within {limit_seconds:g} s and was abandoned")
    return answer.result()


def describe_failure(error: Exception) -> str:
    """Return an error of the kernel by its number, as its text may name a file, and another by its text."""
    number = error.errno if isinstance(error, OSError) else None
    return describe_error(number) if number else str(error)


def describe_error(number: int) -> str:
    """Return an errno with its meaning for a target."""
    name = errno.errorcode.get(number, str(number))
    hint = f": {_HINTS[name]}" if name in _HINTS else ""
    return f"{name} ({os.strerror(number)}){hint}"
