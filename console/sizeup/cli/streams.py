"""Standard input, output and error of this process, even if they are closed or cannot be written.

A closed descriptor would be reused by the next file that is opened, and the output of a child process would be
written into it. A message that cannot be written must not end a run; results that cannot be written are an error.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from typing import TextIO

from sizeup.errors import UsageError
from sizeup.portability import O_CLOEXEC, O_PATH

_MODES = {0: os.O_WRONLY, 1: os.O_RDONLY, 2: os.O_WRONLY}
"""Modes for reopening a closed descriptor: reading input and writing results fail, messages are discarded."""


class OutputError(UsageError):
    """Standard output cannot be written."""


class _Results(io.FileIO):
    """Standard output; its errors name it."""

    def write(self, data: object) -> int:
        try:
            return super().write(data)  # type: ignore[arg-type]  # typeshed's buffer is not importable at run time
        except BrokenPipeError:
            raise
        except OSError as error:
            reason = "it is closed" if error.errno == errno.EBADF else error.strerror
            raise OutputError(f"standard output: cannot write: {reason}; redirect it elsewhere") from error


class _Messages(io.FileIO):
    """Standard error; errors while writing to it are ignored."""

    def write(self, data: object) -> int:
        try:
            return super().write(data)  # type: ignore[arg-type]
        except OSError:
            return memoryview(data).nbytes  # type: ignore[arg-type]


def take_streams() -> None:
    """Reopen closed descriptors, and replace ``sys.stdout`` and ``sys.stderr`` by streams that handle errors."""
    for descriptor, mode in _MODES.items():
        try:
            os.fstat(descriptor)
        except OSError:
            try:
                held = os.open(os.devnull, mode)  # the lowest that is free, which is this one
            except OSError:
                held = os.open("/", O_PATH)  # no /dev here
            if held != descriptor:
                os.dup2(held, descriptor)
                os.close(held)
            os.set_inheritable(descriptor, True)  # noqa: FBT003
    sys.stdout = _text(_Results(1, "wb", closefd=False), sys.stdout)
    sys.stderr = _text(_Messages(2, "wb", closefd=False), sys.stderr)
    sys.stdin = sys.stdin or open(0, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115


def give_up_output() -> None:
    """Discard buffered output, so that the interpreter does not fail on it again at exit."""
    with contextlib.suppress(OSError, ValueError):  # a test's stream has no descriptor
        null = os.open(os.devnull, os.O_WRONLY | O_CLOEXEC)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def _text(raw: io.FileIO, before: TextIO | None) -> io.TextIOWrapper:
    """Return a text stream on ``raw`` like ``before``, which is None if the descriptor was closed."""
    terminal = raw.isatty()
    messages = isinstance(raw, _Messages)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(before, "encoding", None) or "utf-8",
        errors=getattr(before, "errors", None) or "backslashreplace",
        line_buffering=terminal or messages,
        write_through=messages,
    )
