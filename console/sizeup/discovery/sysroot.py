"""Sysroot: how discovery reads the kernel's files, live or captured.

Every answer is a value, *missing*, *denied* or an input/output error. What is missing is None; what
exists and cannot be read, or does not say what its kind must say, is None with a gap noted beside it.

In a capture no link leads out: absolute targets start again at the capture's root and ``..``
stops there. Sizes, counts and depths are bounded, because a capture is a stranger's input.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from sizeup.errors import MalformedError, UsageError
from sizeup.input_file import kind
from sizeup.model.machine import Gap
from sizeup.procfs import kernel_file
from sizeup.procfs.device_questions import DeviceQuestions, Question
from sizeup.text import clean, decode

if TYPE_CHECKING:
    import tarfile

MANIFEST = "sizeup-capture.json"
"""The file at a capture's root that says what made it and what it could not read."""

ANSWERS = "/ioctl"
"""The directory of a capture that holds what devices answered, which no file of the kernel says."""

ENTRIES_LIMIT = 1 << 16
"""Most entries of one directory of a capture."""

LINKS_LIMIT = 40
"""Most links followed for one path, as in the kernel."""

_DEPTH_LIMIT = 128
"""Most directories in one path; the deepest of sysfs have some thirty."""

_EXPECTED = "a capture of a Linux machine (an archive made by sizeup capture, or a directory with sys/ or proc/ in it)"

_GAPS_LIMIT = 256
"""Most gaps noted: a broken capture repeats itself."""

_NOT_SUPPORTED = frozenset({errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL})
"""Errors of a device that has no such thing; that is an answer and no gap."""

T = TypeVar("T")


class Sysroot:
    """The kernel's files under ``root``; ``/`` is the live machine."""

    def __init__(self, root: str = "/") -> None:
        self.root = os.path.abspath(root)
        self.live = self.root == "/"
        self.whole = self.live
        """Whether what is missing here the machine lacks too: live or captured by sizeup, not by others."""
        self.asks_mounts = self.live
        """Whether mounts are asked for their free space, which no file says."""
        self.gaps: list[Gap] = []
        self._directories: dict[str, str | None] = {"": ""}
        self._refused: dict[str, int] = {}
        self._questions = DeviceQuestions()
        self._check(root)

    def _check(self, root: str) -> None:
        if not os.path.isdir(self.root):
            found = kind(os.stat(self.root).st_mode) if os.path.exists(self.root) else "nothing"
            raise UsageError(f"--sysroot {root}: expected {_EXPECTED}, found {found}")
        if not self.live:
            self._check_capture(root)

    def _check_capture(self, root: str) -> None:
        """Raise for a capture of no Linux; what was refused when it was made is refused again, with the same error."""
        import json

        if not any(self._raw_exists(f"/{name}") for name in ("sys", "proc")):
            raise UsageError(
                f"{root}: expected {_EXPECTED}, found neither; make one on that machine with sizeup capture FILE, "
                "and give FILE to --sysroot"
            )
        with suppress(OSError, ValueError, AttributeError, TypeError, RecursionError):
            manifest = json.loads(self._raw_bytes(f"/{MANIFEST}"))
            self._refused = {str(path): int(number) for path, number in manifest.get("refused", {}).items()}
            self.whole = manifest.get("whole") is not False

    # What a kind of root answers for a path without links

    def _raw_bytes(self, where: str) -> bytes:
        return kernel_file.read_or_raise(self.root + where, of_sysfs=where.startswith("/sys/"), of_capture=True)

    def _raw_names(self, where: str) -> tuple[str, ...]:
        with os.scandir(self.root + where) as entries:
            return tuple(entry.name for entry in islice(entries, ENTRIES_LIMIT))

    def _raw_link(self, where: str) -> str:
        return os.readlink(self.root + where)

    def _raw_exists(self, where: str) -> bool:
        return os.path.lexists(self.root + where)

    # Reading

    def answer(self, path: str) -> bytes | kernel_file.Unreadable:
        """The file's bytes, or why there are none; notes nothing."""
        try:
            if self.live:
                return kernel_file.read_or_raise(path, of_sysfs=path.startswith("/sys/"))
            parent, _, name = path.rpartition("/")
            directory = self._directories[parent] if parent in self._directories else self._directory(parent)
            if directory is None or name in ("", ".", ".."):
                return kernel_file.Unreadable(errno.ENOENT)
            return self._unlinked_bytes(f"{directory}/{name}")
        except OSError as error:
            if error.errno != errno.ELOOP or self.live:
                return kernel_file.Unreadable(error.errno or errno.EIO)
        except ValueError:  # a NUL in a name that came out of a file
            return kernel_file.Unreadable(errno.ENOENT)
        where = self._resolve(path)
        if where is None:
            return kernel_file.Unreadable(errno.ENOENT)
        try:
            return self._unlinked_bytes(where)
        except OSError as error:
            return kernel_file.Unreadable(error.errno or errno.EIO)

    def _unlinked_bytes(self, where: str) -> bytes:
        """A file that is no link itself, as nearly all are: ELOOP where it is one after all."""
        if where in self._refused:
            raise OSError(self._refused[where], "refused when it was captured")
        return self._raw_bytes(where)

    def device(self, path: str, question: Question) -> bytes | kernel_file.Unreadable:
        """What a device answers: the live one is asked, of a capture the file at ``path`` is read."""
        return self._questions.ask(question) if self.live else self.answer(path)

    def asked(self, path: str, question: Question, parse: Callable[[bytes], T]) -> T | None:
        """What ``parse`` makes of a device's answer; None where there is none, with a gap unless that is no wonder."""
        data = self.device(path, question)
        subject = path.removeprefix(f"{ANSWERS}/")
        if not isinstance(data, kernel_file.Unreadable):
            try:
                return parse(data)
            except MalformedError as error:
                self.note(subject, f"malformed: {error}")
        elif data.errno == errno.ETIMEDOUT:
            self.note(subject, "no answer in time; it is asked again at the next start")
        elif not data.missing and data.errno not in _NOT_SUPPORTED:
            self.note(subject, data.reason)
        return None

    def read(self, path: str) -> str | None:
        """The file's text; None where it is missing, empty or unreadable (then with a gap)."""
        data = self.answer(path)
        if isinstance(data, kernel_file.Unreadable):
            if not data.missing:
                self.note(path, data.reason)
            return None
        # A capture has an empty file where it could not read.
        return decode(data) or None

    def line(self, path: str) -> str | None:
        """The text of a one-value file without its line end, zero bytes as U+FFFD; None as for ``read``."""
        return (self.read(path) or "").strip("\0 \t\r\n").replace("\0", "\ufffd") or None

    def line_if_any(self, path: str) -> str | None:
        """The line of a file that the kernel may refuse, as while a link is down: that is an answer and no gap."""
        data = self.answer(path)
        return None if isinstance(data, kernel_file.Unreadable) else decode(data).strip("\0 \t\r\n") or None

    def parsed(self, path: str, parse: Callable[[str], T]) -> T | None:
        """What ``parse`` makes of the file; what it refuses is a gap."""
        text = self.line(path)
        if text is None:
            return None
        try:
            return parse(text)
        except (ValueError, MalformedError) as error:
            self.note(path, f"malformed: {error}")
            return None

    def integer(self, path: str) -> int | None:
        """A whole number, decimal or with its 0x; None as for ``read``, or with a gap where it is no number."""
        return self.parsed(path, kernel_file.parse_integer)

    def count(self, path: str, limit: int = 1 << 63) -> int | None:
        """A whole number from 0 to below ``limit``; None as for ``integer``, and for any other number."""
        number = self.integer(path)
        return number if number is not None and 0 <= number < limit else None

    def flag(self, path: str) -> bool | None:
        """Whether the number in a file is other than 0; None as for ``integer``."""
        number = self.integer(path)
        return None if number is None else number != 0

    # Looking around

    def names(self, path: str) -> tuple[str, ...]:
        """The names in a directory, sorted; empty where it is missing or unreadable."""
        try:
            if self.live:
                return tuple(sorted(os.listdir(path)))
            where = self._resolve(path)
            return () if where is None else tuple(sorted(self._raw_names(where)))
        except OSError as error:
            if error.errno not in kernel_file.MISSING:
                self.note(path, kernel_file.Unreadable(error.errno or errno.EIO).reason)
            return ()
        except ValueError:
            return ()

    def exists(self, path: str) -> bool:
        """A file, directory or link that leads somewhere is at this path."""
        if self.live:
            return os.path.exists(path)
        where = self._resolve(path)
        return where is not None and self._raw_exists(where)

    def readlink(self, path: str) -> str | None:
        """Where a link points, as written; None where there is none."""
        parent, _, name = path.rpartition("/")
        where = parent if self.live else self._directory(parent)
        if where is None:
            return None
        try:
            return os.readlink(path) if self.live else self._raw_link(f"{where}/{name}")
        except (OSError, ValueError):
            return None

    def realpath(self, path: str) -> str | None:
        """The path without links, seen from the root; None where it leads nowhere."""
        if self.live:
            try:
                return os.path.realpath(path, strict=True)
            except (OSError, ValueError):
                return None
        where = self._resolve(path)
        return where if where is not None and self._raw_exists(where) else None

    def note(self, subject: str, reason: str) -> None:
        """Note a gap; each once, up to a limit."""
        gap = Gap(clean(subject), clean(reason))
        if len(self.gaps) < _GAPS_LIMIT and gap not in self.gaps:
            self.gaps.append(gap)

    # Links of a capture

    def _directory(self, path: str, links_left: int = LINKS_LIMIT) -> str | None:
        """The link-free path of a directory; the answers are kept, as thousands of files share few directories."""
        if path in self._directories:
            return self._directories[path]
        parent, _, name = path.rpartition("/")
        if path.count("/") > _DEPTH_LIMIT:
            return None
        above = self._directory(parent, links_left) if parent else ""
        if above is None or name in ("", "."):
            where = above
        elif name == "..":
            where = above.rpartition("/")[0]
        else:
            where = self._step(above, name, links_left)
        # An answer that ran out of links depends on where the question began.
        if where is not None:
            self._directories[path] = self._directories[where] = where
        elif links_left == LINKS_LIMIT:
            self._directories[path] = None
        return where

    def _resolve(self, path: str) -> str | None:
        """The link-free path seen from the root; None where a link leads nowhere or in a circle."""
        if path in self._directories:
            return self._directories[path]  # asked for its names and its place, a device is resolved several times
        parent, _, name = path.rpartition("/")
        directory = self._directory(parent)
        if directory is None or name in ("", ".", ".."):
            return self._directory(path.rstrip("/")) if directory is not None else None
        where = self._directories[path] = self._step(directory, name, LINKS_LIMIT)
        if where is not None:
            self._directories[where] = where
        return where

    def _step(self, directory: str, name: str, links_left: int) -> str | None:
        candidate = f"{directory}/{name}"
        try:
            target = self._raw_link(candidate)
        except OSError as error:
            # EINVAL: it is there and no link.
            return candidate if error.errno == errno.EINVAL else None
        except ValueError:
            return None
        if links_left == 0:
            return None
        if target.startswith("/"):
            return self._directory(target, links_left - 1)
        if target.count("/") > _DEPTH_LIMIT:
            return None
        # Above a path without links is its parent: so that what many links lead to is asked for under one name.
        while target.startswith(".."):
            above, _, rest = target.partition("/")
            if above != "..":
                break
            directory, target = directory.rpartition("/")[0], rest
        return self._directory(f"{directory}/{target}" if target else directory, links_left - 1)


_ARCHIVE_MEMBERS_LIMIT = 1 << 18
_ARCHIVE_BYTES_LIMIT = 256 << 20
"""Unpacked, with the names and everything that is passed over: a megabyte can unpack to a gigabyte."""


class _BoundedReader:
    """Reads an unpacked archive up to the limit; raises ``UsageError`` beyond it."""

    def __init__(self, file: BinaryIO, root: str) -> None:
        self._file, self._root, self._left = file, root, _ARCHIVE_BYTES_LIMIT

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise UsageError(
                f"{self._root}: expected a capture of at most {_ARCHIVE_BYTES_LIMIT >> 20} MiB unpacked, found more"
            )
        return data


class ArchiveSysroot(Sysroot):
    """The kernel's files in a tar archive; nothing is unpacked, so nothing can be written through its links."""

    def _check(self, root: str) -> None:
        # Only captures need these, and every start would pay for them.
        import tarfile
        import zlib
        from importlib import import_module

        self._files: dict[str, bytes] = {}
        self._links: dict[str, str] = {}
        self._entries: dict[str, set[str]] = {"": set()}
        packer: Any = None
        try:
            with open(self.root, "rb") as file:
                magic = file.read(3)
            if name := {b"\x1f\x8b\x08": "gzip", b"\xfd7z": "lzma", b"BZh": "bz2"}.get(magic):
                packer = import_module(name)
            with (packer.open if packer else open)(self.root, "rb") as unpacked:
                bounded: Any = _BoundedReader(unpacked, root)
                with tarfile.open(fileobj=bounded, mode="r|") as archive:
                    self._load(archive)
        except ModuleNotFoundError as error:
            raise UsageError(f"{root}: this Python has no {error.name}; unpack the capture to a .tar first") from error
        except (OSError, EOFError, tarfile.TarError, zlib.error, getattr(packer, "LZMAError", OSError)) as error:
            found = str(error).partition("\n")[0].rstrip(":") or type(error).__name__
            raise UsageError(
                f"{root}: expected a directory or an archive made by sizeup capture, found none: {found}"
            ) from error
        self._check_capture(root)

    def _load(self, archive: tarfile.TarFile) -> None:
        for member in islice(archive, _ARCHIVE_MEMBERS_LIMIT):
            parts = [part for part in member.name.split("/") if part not in ("", ".")]
            if not parts or ".." in parts:
                continue
            path = "/" + "/".join(parts)
            if member.issym():
                self._links[path] = member.linkname
            elif member.isfile():
                source = archive.extractfile(member)
                assert source is not None
                self._files[path] = source.read(kernel_file.FILE_BYTES_LIMIT)
            elif member.isdir():
                self._entries.setdefault(path, set())
            else:
                continue
            for depth in range(len(parts)):
                above = "".join(f"/{part}" for part in parts[:depth])
                self._entries.setdefault(above, set()).add(parts[depth])

    def _raw_bytes(self, where: str) -> bytes:
        try:
            return self._files[where]
        except KeyError:
            found = errno.ELOOP if where in self._links else errno.ENOENT
            raise OSError(found, "not a file of the capture") from None

    def _raw_names(self, where: str) -> tuple[str, ...]:
        if where not in self._entries:
            raise OSError(errno.ENOENT, "not in the capture")
        return tuple(islice(self._entries[where], ENTRIES_LIMIT))

    def _raw_link(self, where: str) -> str:
        if where in self._links:
            return self._links[where]
        raise OSError(errno.EINVAL if self._raw_exists(where) else errno.ENOENT, "no link")

    def _raw_exists(self, where: str) -> bool:
        return where in self._files or where in self._entries or where in self._links


def numbers_in(names: Iterable[str], pattern: re.Pattern[str]) -> tuple[int, ...]:
    """Return the numbers in those of the names that match as a whole, sorted: 3 of ``node3``."""
    return tuple(sorted(int(match[1]) for name in names if (match := pattern.fullmatch(name)) is not None))


def open_sysroot(root: str) -> Sysroot:
    """The live machine for ``/``, a capture for a directory or an archive."""
    return ArchiveSysroot(root) if os.path.isfile(root) else Sysroot(root)
