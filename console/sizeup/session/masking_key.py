"""The key of this installation for pseudonyms, which makes them equal in every file that it shares."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from sizeup import files
from sizeup.errors import RefusedError
from sizeup.masking import Masker, Secret
from sizeup.portability import O_NONBLOCK

_KEY_BYTES = 32


def installed_masker() -> tuple[Masker, str]:
    """Return the masker of this installation, and why its key cannot be saved; empty where it is."""
    key = secrets.token_bytes(_KEY_BYTES)
    try:
        return Masker(kept_key(_file(), key)), ""
    except (OSError, RefusedError) as error:
        return Masker(key), str(error.strerror if isinstance(error, OSError) else error)


def host_pseudonym(host: str) -> str | None:
    """Return the name of a host in the files that this installation has shared; None if it has shared none."""
    with suppress(OSError, RefusedError):
        key = _key(_file())
        if len(key) == _KEY_BYTES:
            return Masker(key).mask_field(Secret.HOST, host)
    return None


def _file() -> Path:
    from platformdirs import user_state_path

    return user_state_path("sizeup", appauthor=False) / "masking.key"


def kept_key(file: Path, new: bytes) -> bytes:
    """Return the key in a file; it is created from ``new`` if it is absent or incomplete."""
    files.make_directory(str(file.parent))
    with suppress(FileNotFoundError):
        if len(key := _key(file)) == _KEY_BYTES:
            return key
        files.remove(str(file))
    try:
        files.write(str(file), lambda written: written.write(new), replace=False, mode=0o600)
    except FileExistsError:  # created concurrently by another process; use that key
        return _key(file)
    return new


def _key(file: Path) -> bytes:
    # Opening a FIFO would block.
    with os.fdopen(files.open_existing(str(file), os.O_RDONLY | O_NONBLOCK, private=True), "rb") as kept:
        if not stat.S_ISREG(os.fstat(kept.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(file))
        return kept.read(_KEY_BYTES + 1)
