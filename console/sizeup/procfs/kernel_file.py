"""Read a file of the running kernel, where no :class:`~sizeup.discovery.sysroot.Sysroot` applies."""

from __future__ import annotations


def read_text(path: str) -> str | None:
    """The text of a kernel file; None where it is absent or may not be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except (OSError, ValueError):  # ValueError: a NUL in a name that came out of a file
        return None
