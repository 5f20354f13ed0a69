"""Files that this program writes: never through a link that somebody else may have planted.

Root may be asked to write into ``/tmp``, where anybody can leave a link to ``/etc/shadow`` under the name that
root is about to use. So a path is walked one directory at a time, each held open, and the file is made or opened
in the last of them by ``openat(2)``: what has been checked cannot be exchanged afterwards.

A link is followed where root or the caller made both the link and the directory it stands in, and never where
everybody may write. There a file of another user is neither replaced nor continued.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator
from typing import BinaryIO

from msgspec import Struct

from sizeup.errors import RefusedError

_DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_MOST_LINKS = 40
"""Then the kernel takes it for a circle (path_resolution(7))."""
_NO_LINKS_HERE = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def write(path: str, content: Callable[[BinaryIO], object], *, replace: bool = True, mode: int = 0o666) -> None:
    """Let ``content`` write the file at ``path``, whole or not at all.

    A file that was there stays until the new one is complete and on the disk, and its permissions stay where it
    was the caller's own; a new one gets ``mode`` as the umask leaves it. A device, a terminal or a pipe is written
    to. Without ``replace`` a file that is there raises ``FileExistsError``.
    """
    with _place(path) as place:
        before = place.status
        if before is not None and (place.by_kernel or not stat.S_ISREG(before.st_mode)):
            with os.fdopen(_open(place, os.O_WRONLY | os.O_APPEND), "wb") as stream:
                content(stream)
            return
        if before is not None:
            if not replace:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
            _refuse_foreign(place, before)
        temporary = f".sizeup-{os.urandom(8).hex()}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(temporary, flags, mode, dir_fd=place.folder), "wb") as file:
            try:
                content(file)
                file.flush()
                os.fsync(file.fileno())
                if before is not None and before.st_uid == os.geteuid():
                    os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
                _name(place, temporary, replace=replace)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary, dir_fd=place.folder)
                raise


def create(path: str) -> tuple[int, bool]:
    """Open a file to append to, made for its owner alone where there is none; the descriptor, and whether it is new."""
    with _place(path) as place:
        flags = os.O_RDWR | os.O_APPEND
        if place.status is None:
            with contextlib.suppress(FileExistsError):  # somebody was faster: it is checked like any other
                new = flags | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                descriptor = os.open(place.name, new, 0o600, dir_fd=place.folder)
                with contextlib.suppress(OSError):  # a file system without permissions
                    os.fchmod(descriptor, 0o600)  # whatever the umask took away
                return descriptor, True
        return _open(place, flags), False


def open_existing(path: str, flags: int, *, private: bool = False) -> int:
    """Open a file that must be there; whose it is matters for writing, and for reading what should be ``private``."""
    with _place(path) as place:
        return _open(place, flags, private=private)


def remove(path: str, only: int | None = None) -> None:
    """Remove the file, or the link, of this name; with a descriptor only if the name is still that file's."""
    with _place(path, follow=False) as place:
        if only is None or (place.status is not None and os.path.samestat(os.fstat(only), place.status)):
            os.unlink(place.name, dir_fd=place.folder)


def make_directory(path: str) -> None:
    """Make a directory, and those above it that are missing, for their owner alone; one that exists keeps its mode."""
    above = os.path.dirname(path.rstrip("/"))
    if above and not os.path.isdir(above):
        make_directory(above)
    with _place(path) as place:
        if place.status is None:
            with contextlib.suppress(FileExistsError):
                os.mkdir(place.name, 0o700, dir_fd=place.folder)
                with contextlib.suppress(OSError):  # a file system without permissions
                    made = os.open(place.name, os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place.folder)
                    try:
                        os.fchmod(made, 0o700)  # whatever the umask took away
                    finally:
                        os.close(made)
        elif not stat.S_ISDIR(place.status.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)


class _Place(Struct, frozen=True):
    """A name in a directory that is held open."""

    path: str
    """As the user wrote it."""
    folder: int
    name: str
    about: os.stat_result
    """The directory."""
    status: os.stat_result | None
    """What has the name; None for nothing."""
    by_kernel: bool = False
    """Whether the name is a link that only the kernel can follow, such as ``/proc/self/fd/1``."""

    @property
    def shared(self) -> bool:
        """Whether everybody may write in the directory."""
        return bool(self.about.st_mode & stat.S_IWOTH)


@contextlib.contextmanager
def _place(path: str, *, follow: bool = True) -> Iterator[_Place]:
    """Walk to a path; links on the way are followed where that is safe, and so is the last one with ``follow``."""
    if not path:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    procfs = _procfs()
    here = os.open("/" if path.startswith("/") else ".", _DIRECTORY)
    try:
        parts, followed = path.split("/")[::-1], 0
        while True:
            part = parts.pop() or "."
            try:
                status = os.lstat(part, dir_fd=here)
            except FileNotFoundError:
                if parts:
                    raise
                status = None
            if status is None or not stat.S_ISLNK(status.st_mode) or not (parts or follow):
                if not parts:
                    yield _Place(path, here, part, os.fstat(here), status)
                    return
                below = os.open(part, _DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            elif status.st_dev == procfs:
                if not parts:
                    yield _Place(path, here, part, os.fstat(here), status, by_kernel=True)
                    return
                below = os.open(part, _DIRECTORY, dir_fd=here)
            else:
                followed += 1
                if followed > _MOST_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
                target = _read_link(path, here, part)
                parts += target.split("/")[::-1]
                below = os.open("/" if target.startswith("/") else ".", _DIRECTORY, dir_fd=here)
            os.close(here)
            here = below
    finally:
        os.close(here)


def _procfs() -> int | None:
    """The device number of /proc, whose links lead to open files; None where it is not mounted."""
    try:
        found = os.lstat("/proc/self").st_dev
        return found if found != os.stat("/").st_dev else None
    except OSError:
        return None


def _read_link(path: str, folder: int, name: str) -> str:
    """Where a link leads; refused where it may be a trap."""
    link = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        about, status = os.fstat(folder), os.fstat(link)
        ours = (0, os.geteuid())
        if about.st_mode & stat.S_IWOTH:
            why = "in a directory where everybody may write"
        elif status.st_uid not in ours:
            why = f"of another user (uid {status.st_uid})"
        elif about.st_uid not in ours:
            why = f"in a directory of another user (uid {about.st_uid})"
        else:
            return os.readlink("", dir_fd=link)
    finally:
        os.close(link)
    raise RefusedError(
        f"{path}: {name} is a symbolic link {why} and is not followed; name what it leads to, or choose another place"
    )


def _refuse_foreign(place: _Place, status: os.stat_result) -> None:
    if place.shared and not place.by_kernel and status.st_uid != os.geteuid():
        raise RefusedError(
            f"{place.path}: belongs to another user (uid {status.st_uid}), in a directory where everybody may write; "
            "choose another place"
        )


def _refuse_other_names(place: _Place, status: os.stat_result) -> None:
    foreign = place.shared or place.about.st_uid not in (0, os.geteuid())
    if foreign and not place.by_kernel and stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        raise RefusedError(
            f"{place.path}: has other names (hard links), in a directory where others may write; choose another place"
        )


def _open(place: _Place, flags: int, *, private: bool = False) -> int:
    """Open what has the name; checked before, because opening a pipe waits, and after, because it may have changed."""
    ours = private or flags & os.O_ACCMODE != os.O_RDONLY
    if ours and place.status is not None:
        _refuse_foreign(place, place.status)
    flags |= os.O_CLOEXEC | os.O_NOCTTY | (0 if place.by_kernel else os.O_NOFOLLOW)
    descriptor = os.open(place.name, flags, dir_fd=place.folder)
    try:
        if ours:
            _refuse_foreign(place, os.fstat(descriptor))
            _refuse_other_names(place, os.fstat(descriptor))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _name(place: _Place, temporary: str, *, replace: bool) -> None:
    """Give a complete file its name, in place of one that has it only with ``replace``."""
    folder = place.folder
    if not replace:
        try:
            os.link(temporary, place.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_LINKS_HERE:
                raise
        else:
            os.unlink(temporary, dir_fd=folder)
            return
    os.replace(temporary, place.name, src_dir_fd=folder, dst_dir_fd=folder)
