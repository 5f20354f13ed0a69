"""Writing a report to a file: whole, or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import BinaryIO

from sizeup import files
from sizeup.errors import UsageError

ADVICE = "; choose another file with -o"
"""What to do about a path that cannot be written, for a user of the command line."""


def current_folder() -> str:
    """Where this program was started, to write into; ``UsageError`` where it cannot be."""
    try:
        folder = os.getcwd()
    except OSError as error:  # removed since
        raise UsageError(f"the current folder has gone: {error.strerror}; start sizeup in another one") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"{folder}: the current folder cannot be written to; start sizeup in one that can")
    return folder


def write(path: str, content: Callable[[BinaryIO], object], *, advice: str = ADVICE) -> None:
    """Let ``content`` write the file at ``path``, or standard output where it is ``-``.

    A file that was there stays until the new one is complete and on the disk; what was begun is removed
    when the disk is full or the user interrupts. A link of the user's own keeps pointing where it did.
    """
    if path == "-":
        content(sys.stdout.buffer)
        return
    try:
        files.write(path, content)
    except OSError as error:
        kept = "; the file that was there is unchanged" if os.path.isfile(path) else ""
        raise UsageError(f"{path}: cannot write: {error.strerror or error}{kept}{advice}") from error
