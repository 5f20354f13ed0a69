"""Existing files of a file system that were last written long ago: found, and opened for nothing but direct reads.

The search stays in one file system, follows no link, opens nothing but folders, and ends after a set time. What it
found is opened without side effects first (O_PATH), so that whoever replaces a name meanwhile cannot make a FIFO or a
device be opened. No name leaves this module.
"""

from __future__ import annotations

import heapq
import os
import random
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress

from msgspec import Struct
from msgspec.structs import replace

from sizeup.procfs.meminfo import read_swaps
from sizeup.procfs.mounts import is_below, read_mountinfo
from sizeup.procfs.process import open_again
from sizeup_direct_io import binding
from sizeup_direct_io.binding import Extents
from sizeup_direct_io.presets import SMALL_BYTES

SEARCH_SECONDS = 2.5
"""Of the search for files; a file system may have millions."""
SMALLEST_FILE_BYTES = 1 << 20
OLD_SECONDS = 86400
"""A file that was written later may still be in a cache."""
MISSING_SHARE = 0.05
"""Of a file, at most: a hole is read from nowhere, and a compressed extent is smaller than what is read of it."""
_STATUS_BLOCK_BYTES = 512
_MOST_FOUND = 4096
_MOST_DRAWN = 16
"""Draws for each read in flight, before too few files turn out to be readable."""


class OldFile(Struct, frozen=True):
    """A part of the storage that was there before the run, open for direct reads."""

    descriptor: int
    start_bytes: int
    size_bytes: int
    reads: int
    """In flight at a time, each in a region of its own."""


class OldData(Struct, frozen=True):
    """Open files, and how much data they stand for."""

    files: Sequence[OldFile]
    size_bytes: int


class _Search:
    """A search for the largest old files of one file system."""

    def __init__(self, device: int, canceled: Callable[[], bool]) -> None:
        self._device, self._canceled = device, canceled
        self._end = time.monotonic() + SEARCH_SECONDS
        self._seen = {mount.point for mount in read_mountinfo() or ()}
        """Folders that are not looked into: asking the mount of a dead server would hang."""
        self._taken = set(_swap_inodes(device))
        """Inodes that are not taken again: files with several names, and swap, which changes without a trace."""
        self.best: list[tuple[int, int, str]] = []
        """Size, inode and path."""

    @property
    def over(self) -> bool:
        """Whether its time is up, or the run was canceled."""
        return time.monotonic() > self._end or self._canceled()

    def look_around(self, folder: str, mount_point: str) -> None:
        """Search a folder, then those around it up to the mount point.

        A folder comes the earlier, the fewer folders there are beside it and beside those above it: the data of a
        database lies below a few names, a million other files below many.
        """
        waiting: list[tuple[int, str]] = []
        while is_below(folder, (mount_point,)):
            waiting.append((len(waiting), folder))
            self._seen.add(folder)
            if folder == "/":
                break
            folder = os.path.dirname(folder)
        while waiting and not self.over:
            beside, name = heapq.heappop(waiting)
            below = self._look_into(name)
            for one in below:
                heapq.heappush(waiting, ((beside + 1) * len(below), one))

    def _look_into(self, folder: str) -> list[str]:
        """Note the old files of a folder, and return the folders in it."""
        below = []
        for entry in _entries(folder):
            if self.over:
                break
            with suppress(OSError):  # removed meanwhile
                if entry.path in self._seen:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    self._seen.add(entry.path)
                    below.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    self._note(entry.path, entry.stat(follow_symlinks=False))
        return below

    def _note(self, path: str, status: os.stat_result) -> None:
        if not holds_old_data(status, self._device) or status.st_ino in self._taken:
            return
        if status.st_nlink > 1:
            self._taken.add(status.st_ino)
        heapq.heappush(self.best, (status.st_size, status.st_ino, path))
        if len(self.best) > _MOST_FOUND:
            heapq.heappop(self.best)


def open_old_files(
    folder: str, mount_point: str, device: int, reads: int, seed: int, opened: ExitStack, canceled: Callable[[], bool]
) -> OldData:
    """Return old files of a file system for so many reads in flight, closed with ``opened``.

    Each read draws its file at random by size, so that together they stand for all that the search found, except for
    what this user may not read and what takes no direct reads: that is known of what was drawn.
    """
    search = _Search(device, canceled)
    search.look_around(os.path.realpath(folder), mount_point)
    sizes = [size for size, _, _ in search.best]
    rng = random.Random(seed)  # noqa: S311 - not a secret
    drawn = rng.choices(range(len(sizes)), sizes, k=_MOST_DRAWN * reads) if sizes else []
    tried: dict[int, OldFile | None] = {}
    taken: Counter[int] = Counter()
    draws = 0
    for index in drawn:
        if taken.total() == reads or canceled():
            break
        draws += 1
        if index not in tried:
            _, inode, path = search.best[index]
            tried[index] = _open(path, inode, device, opened)
        if tried[index] is not None:
            taken[index] += 1
    files = [replace(file, reads=taken[index]) for index, file in tried.items() if file is not None]
    return OldData(files, round(sum(sizes) * taken.total() / draws) if draws else 0)


def holds_old_data(status: os.stat_result, device: int) -> bool:
    """Whether this is a file of a device, nearly all of it allocated, that was last written more than a day ago.

    By its change time: a copy may keep the modification time of its original.
    """
    return (
        stat.S_ISREG(status.st_mode)
        and status.st_dev == device
        and status.st_size >= SMALLEST_FILE_BYTES
        and status.st_blocks * _STATUS_BLOCK_BYTES >= (1 - MISSING_SHARE) * status.st_size
        and status.st_ctime < time.time() - OLD_SECONDS
    )


def is_written(extents: Extents | None, size_bytes: int) -> bool:
    """Whether nearly all of a file was written and is stored as it is; True if the file system does not report it."""
    if extents is None:
        return True
    missing = extents.hole_bytes + extents.unwritten_bytes + extents.odd_bytes
    return missing <= MISSING_SHARE * size_bytes


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    """Yield the entries of a folder; none if it is not ours to read, or was removed meanwhile."""
    with suppress(OSError), os.scandir(folder) as entries:
        yield from entries


def _swap_inodes(device: int) -> Iterator[int]:
    for path in read_swaps() or ():
        with suppress(OSError):
            status = os.stat(path)
            if status.st_dev == device:
                yield status.st_ino


def _open(path: str, inode: int, device: int, opened: ExitStack) -> OldFile | None:
    """Return an old file open for direct reads; None if it is no longer what was found, or takes none."""
    with suppress(OSError), ExitStack() as looking:
        handle = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        looking.callback(os.close, handle)
        status = os.fstat(handle)
        if status.st_ino != inode or not holds_old_data(status, device):
            return None
        descriptor = _open_direct(handle)
        opened.callback(os.close, descriptor)
        alignment = binding.alignment(descriptor)
        if alignment is not None and (not alignment[1] or SMALL_BYTES % alignment[1]):
            return None
        if is_written(binding.extents(descriptor, status.st_size, flush=False), status.st_size):
            return OldFile(descriptor, 0, status.st_size, 1)
    return None


def _open_direct(handle: int) -> int:
    """Return a descriptor for direct reads that leave the access time as it is, where this user may ask for that."""
    flags = os.O_RDONLY | os.O_DIRECT | os.O_NONBLOCK  # waits for nobody who holds a lease of the file
    try:
        return open_again(handle, flags | os.O_NOATIME)
    except PermissionError:  # neither its owner nor root
        return open_again(handle, flags)
