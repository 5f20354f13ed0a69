"""Open input files that the user named, without blocking, and only if they can be read to an end.

Opening a FIFO without a writer blocks forever, a device may have no end, and opening some devices has side
effects. A pipe passed by the shell, ``<(...)``, is read where one pass is enough.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator
from typing import BinaryIO

from sizeup.errors import UsageError
from sizeup.portability import O_BINARY, O_CLOEXEC, O_NOCTTY, O_NONBLOCK

STDIN = "-"
"""Names standard input."""

_HANDED_OVER = re.compile(r"/dev/stdin|/(?:dev/fd|proc/self/fd)/(\d{1,9})")
_NULL_DEVICE = 1 << 8 | 3
"""The device number of ``/dev/null`` on Linux."""
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
    (stat.S_ISSOCK, "a socket"),
)


def kind(mode: int) -> str:
    """Return the kind of a file by its mode: ``a directory``, ``a pipe``."""
    return next((name for is_kind, name in _KINDS if is_kind(mode)), "a file")


@contextlib.contextmanager
def opened(path: str, what: str, *, pipes: bool = False) -> Iterator[BinaryIO]:
    """Open a file for reading; raise ``UsageError`` if it is not a regular file or cannot be read.

    ``what`` says what was expected, such as "a session file". With ``pipes``, ``-``, ``/dev/stdin`` and a pipe
    of ``/dev/fd`` are read too; they cannot be read twice.
    """
    with open_file(path, what, pipes=pipes) as file, reading(path, what):
        yield file


def open_file(path: str, what: str, *, pipes: bool = False) -> BinaryIO:
    """Open a file like ``opened``, for a caller that closes it itself."""
    try:
        return os.fdopen(_descriptor(path, what, pipes=pipes), "rb")
    except (OSError, ValueError) as error:  # a name may hold a NUL
        raise _unreadable(path, what, error) from error


@contextlib.contextmanager
def reading(path: str, what: str) -> Iterator[None]:
    """Turn an ``OSError`` while the file is read into ``UsageError``."""
    try:
        yield
    except OSError as error:
        raise _unreadable(path, what, error) from error


def read(path: str, what: str, limit: int) -> bytes:
    """Return the content of a file or pipe; raise ``UsageError`` if it has more than ``limit`` bytes."""
    with opened(path, what, pipes=True) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        size = f"{limit >> 20} MiB" if limit >> 20 else f"{limit:,} bytes"
        raise UsageError(f"{path}: expected {what} of at most {size}, found more")
    return content


def read_text(path: str, what: str, limit: int) -> str:
    """Return the content as text without a byte order mark, like ``read``: UTF-8, or UTF-16 as PowerShell writes it."""
    content = read(path, what, limit)
    encoding = "UTF-16" if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "UTF-8"
    try:
        return content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        found = f"byte {content[error.start]:#04x} at offset {error.start}"
        raise UsageError(f"{path}: expected {what} in {encoding}, found {found}") from error


def _descriptor(path: str, what: str, *, pipes: bool) -> int:
    handed_over = _HANDED_OVER.fullmatch(path)
    if path == STDIN or handed_over is not None:
        number = 0 if handed_over is None or handed_over[1] is None else int(handed_over[1])
        if path != STDIN and stat.S_ISREG(os.fstat(number).st_mode):
            # From its beginning, wherever its owner reads.
            descriptor = os.open(path, os.O_RDONLY | O_CLOEXEC | O_BINARY)
        else:
            # Not opened by its name: that fails for a socket, and without /proc.
            descriptor = os.dup(number)
    else:
        _expect_regular(path, what, os.stat(path))  # before it is opened, as opening a device can have effects
        descriptor = os.open(path, os.O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_BINARY)
        pipes = False
    try:
        about = os.fstat(descriptor)
        if pipes and (stat.S_ISFIFO(about.st_mode) or stat.S_ISSOCK(about.st_mode)):
            os.set_blocking(descriptor, True)
        else:
            _expect_regular(path, what, about)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _expect_regular(path: str, what: str, about: os.stat_result) -> None:
    is_null = stat.S_ISCHR(about.st_mode) and getattr(about, "st_rdev", None) == _NULL_DEVICE
    if not stat.S_ISREG(about.st_mode) and not is_null:
        raise UsageError(f"{path}: expected {what}, found {kind(about.st_mode)}; name a regular file")


def _unreadable(path: str, what: str, error: OSError | ValueError) -> UsageError:
    if isinstance(error, FileNotFoundError):
        return UsageError(f"{path}: expected {what}, but there is no such file; check the name")
    if isinstance(error, OSError) and error.errno == errno.EBADF:
        return UsageError(f"{path}: expected {what}, found a closed descriptor; name a file")
    reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    return UsageError(f"{path}: cannot read {what}: {reason}")
