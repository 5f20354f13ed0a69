"""Write files safely: never through a link that another user may have placed.

If root writes into ``/tmp``, any user can place a link to ``/etc/shadow`` under the name that root is about to use.
Therefore a path is walked one directory at a time, each held open, and the file is created or opened in the last
directory with ``openat(2)``, so that a checked directory cannot be replaced afterwards. Outside Linux, where sessions
are only shown, files are opened by their paths.

A link is followed only if root or the caller owns both the link and its directory, and never in a world-writable
directory. There, a file of another user is neither replaced nor appended to.
"""

from __future__ import annotations

import _thread
import contextlib
import errno
import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from msgspec import Struct

from sizeup.errors import RefusedError, UsageError
from sizeup.portability import (
    HOLDS_DIRECTORIES,
    O_BINARY,
    O_CLOEXEC,
    O_DIRECTORY,
    O_NOCTTY,
    O_NOFOLLOW,
    O_PATH,
    set_mode,
    user_id,
)

if TYPE_CHECKING:
    from concurrent.futures import Future
    from importlib.resources.abc import Traversable

Result = TypeVar("Result")
temporary_files: list[str] = []
"""The directory of each file that this process made without a name, or whose name it removed at once."""
_DIRECTORY = O_PATH | O_DIRECTORY | O_CLOEXEC
_NEW = os.O_CREAT | os.O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_BINARY
_KEEP_LINKS = {"follow_symlinks": False} if os.link in os.supports_follow_symlinks else {}
_BEGIN_SECONDS = 10.0
"""How long a new thread may take to begin before it counts as failed."""
_LINK_LIMIT = 40
"""The kernel's own limit (path_resolution(7))."""
_HARD_LINKS_UNSUPPORTED = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def answer_of(call: Callable[[], Result]) -> Future[Result]:
    """Return what a call will answer, made in a thread that is abandoned where its file system never answers.

    The answer is a ``MemoryError`` where no thread can begin.
    """
    from concurrent.futures import Future, InvalidStateError

    answer: Future[Result] = Future()
    begun = threading.Event()

    def settle() -> None:
        begun.set()
        with contextlib.suppress(InvalidStateError):  # it began after the timeout below
            try:
                answer.set_result(call())
            except BaseException as error:  # noqa: BLE001 - handed to the caller, whatever it is
                answer.set_exception(error)

    # Thread.start() never returns if the new thread runs out of memory before its first statement.
    _thread.start_new_thread(settle, ())
    if not begun.wait(_BEGIN_SECONDS):
        answer.set_exception(MemoryError("a thread could not begin"))
    return answer


def packaged(folder: Traversable, prefix: str = "") -> dict[str, bytes]:
    """Return the content of each file below a folder of a package, by its path there, sorted."""
    found: dict[str, bytes] = {}
    for entry in folder.iterdir():
        path = prefix + entry.name
        found |= packaged(entry, f"{path}/") if entry.is_dir() else {path: entry.read_bytes()}
    return dict(sorted(found.items()))


def free_path(folder: str, name: str, ending: str) -> str:
    """Return a path in a folder that no file has yet: ``name`` and ``ending``, with a number between them if needed."""
    path, number = os.path.join(folder, name + ending), 2
    while os.path.lexists(path):
        path = os.path.join(folder, f"{name}-{number}{ending}")
        number += 1
    return path


def write(path: str, content: Callable[[BinaryIO], object], *, replace: bool = True, mode: int = 0o666) -> None:
    """Let ``content`` write the file at ``path`` completely or not at all.

    An existing file is kept until the new one is complete and synced; it keeps its permissions if the caller owns
    it. A new file gets ``mode`` minus the umask. A device, a terminal or a pipe is written to directly. Without
    ``replace``, an existing file raises ``FileExistsError``.
    """
    with _open_entry(path) as entry:
        before = entry.status
        if before is not None and (entry.by_kernel or not stat.S_ISREG(before.st_mode)):
            with os.fdopen(_open(entry, os.O_WRONLY | os.O_APPEND), "wb") as stream:
                content(stream)
            return
        if before is not None:
            if not replace:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
            _refuse_foreign(entry, before)
        temporary = os.path.join(os.path.dirname(entry.name), f".sizeup-{os.urandom(8).hex()}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | _NEW, mode, dir_fd=entry.directory)
        try:
            with os.fdopen(descriptor, "wb") as file:
                content(file)
                file.flush()
                os.fsync(file.fileno())
                if before is not None and before.st_uid == user_id():
                    set_mode(file.fileno(), stat.S_IMODE(before.st_mode))
            _move_to_name(entry, temporary, replace=replace)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=entry.directory)
            raise


def create(path: str) -> tuple[int, bool]:
    """Open a file for appending, created with mode 0600 if absent; return the descriptor and whether it is new."""
    with _open_entry(path) as entry:
        flags = os.O_RDWR | os.O_APPEND
        if entry.status is None:
            with contextlib.suppress(FileExistsError):  # created concurrently: checked like any existing file
                descriptor = os.open(entry.name, flags | _NEW, 0o600, dir_fd=entry.directory)
                with contextlib.suppress(OSError):  # a file system without permissions
                    set_mode(descriptor, 0o600)  # whatever the umask took away
                return descriptor, True
        return _open(entry, flags), False


def open_existing(path: str, flags: int, *, private: bool = False) -> int:
    """Open an existing file; its owner is checked for writing, and for reading if it is ``private``."""
    with _open_entry(path) as entry:
        return _open(entry, flags, private=private)


def remove(path: str, only: int | None = None) -> None:
    """Remove a file or link; with a descriptor, only if the name still refers to that file."""
    with _open_entry(path, follow=False) as entry:
        if only is None or (entry.status is not None and os.path.samestat(os.fstat(only), entry.status)):
            os.unlink(entry.name, dir_fd=entry.directory)


def make_directory(path: str) -> None:
    """Create a directory and its missing parents with mode 0700; an existing one keeps its mode."""
    above = os.path.dirname(path.rstrip("/"))
    if above and not os.path.isdir(above):
        make_directory(above)
    with _open_entry(path) as entry:
        if entry.status is None:
            with contextlib.suppress(FileExistsError):
                os.mkdir(entry.name, 0o700, dir_fd=entry.directory)
                with contextlib.suppress(OSError):  # a file system without permissions
                    made = os.open(entry.name, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, dir_fd=entry.directory)
                    try:
                        set_mode(made, 0o700)  # whatever the umask took away
                    finally:
                        os.close(made)
        elif not stat.S_ISDIR(entry.status.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)


@contextlib.contextmanager
def new_directory(folder: str, contents: Mapping[str, bytes]) -> Iterator[list[str]]:
    """Write files below a directory that is new or empty, and yield their paths; none stays if the block fails."""
    if os.path.exists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise UsageError(f"{folder}: exists and is not an empty directory; choose another one")
    new = not os.path.exists(folder)
    try:
        for name, content in contents.items():
            path = os.path.join(folder, name)
            try:
                make_directory(os.path.dirname(path))
                write(path, lambda file, content=content: file.write(content))  # type: ignore[misc]
            except OSError as error:
                raise UsageError(f"{path}: cannot write: {error.strerror}; choose another directory") from error
        yield [os.path.join(folder, name) for name in contents]
    except BrokenPipeError:  # the reader of the paths has seen enough
        raise
    except BaseException:
        with contextlib.suppress(OSError):
            for name in os.listdir(folder):
                path = os.path.join(folder, name)
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
            if new:
                os.rmdir(folder)
        raise


class _Entry(Struct, frozen=True):
    """A directory entry whose directory is held open, where the system can do that."""

    path: str
    """The path as the user wrote it."""
    directory: int | None
    """The directory; None where it cannot be held open."""
    name: str
    """The name in the directory, or the whole path without links where that is not held open."""
    directory_status: os.stat_result
    """The status of the directory."""
    status: os.stat_result | None
    """The status of the entry; None if there is none."""
    by_kernel: bool = False
    """Whether it is a link that only the kernel can follow, such as ``/proc/self/fd/1``."""

    @property
    def shared(self) -> bool:
        """Whether the directory is world-writable."""
        return bool(self.directory_status.st_mode & stat.S_IWOTH)


@contextlib.contextmanager
def temporary_directory() -> Iterator[str]:
    """Yield a new directory that only the caller can enter; it is removed with its content."""
    import tempfile  # costs every start otherwise

    with tempfile.TemporaryDirectory(prefix="sizeup-") as path:
        yield path


@contextlib.contextmanager
def _open_entry(path: str, *, follow: bool = True) -> Iterator[_Entry]:
    """Walk to a path; safe links are followed, the last one only with ``follow``."""
    if not path:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    if not HOLDS_DIRECTORIES:  # a system without openat(2), where a link is followed, whoever placed it
        name, status = os.path.realpath(path) if follow else path, None
        with contextlib.suppress(FileNotFoundError):
            status = os.lstat(name)
        yield _Entry(path, None, name, os.stat(os.path.dirname(name) or "."), status)
        return
    procfs = None  # the device of /proc, whose links refer to open files; none if it is not mounted
    with contextlib.suppress(OSError):
        found = os.lstat("/proc/self").st_dev
        procfs = found if found != os.stat("/").st_dev else None
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
                    yield _Entry(path, here, part, os.fstat(here), status)
                    return
                below = os.open(part, _DIRECTORY | O_NOFOLLOW, dir_fd=here)
            elif status.st_dev == procfs:
                if not parts:
                    yield _Entry(path, here, part, os.fstat(here), status, by_kernel=True)
                    return
                below = os.open(part, _DIRECTORY, dir_fd=here)
            else:
                followed += 1
                if followed > _LINK_LIMIT:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
                target = _read_link(path, here, part)
                parts += target.split("/")[::-1]
                below = os.open("/" if target.startswith("/") else ".", _DIRECTORY, dir_fd=here)
            os.close(here)
            here = below
    finally:
        os.close(here)


def _read_link(path: str, directory: int, name: str) -> str:
    """Return the target of a link; raise ``RefusedError`` if another user may have placed the link."""
    link = os.open(name, O_PATH | O_NOFOLLOW | O_CLOEXEC, dir_fd=directory)
    try:
        directory_status, status = os.fstat(directory), os.fstat(link)
        ours = (0, user_id())
        if directory_status.st_mode & stat.S_IWOTH:
            reason = "in a world-writable directory"
        elif status.st_uid not in ours:
            reason = f"of another user (uid {status.st_uid})"
        elif directory_status.st_uid not in ours:
            reason = f"in a directory of another user (uid {directory_status.st_uid})"
        else:
            return os.readlink("", dir_fd=link)
    finally:
        os.close(link)
    raise RefusedError(
        f"{path}: {name} is a symbolic link {reason}, so it is not followed; "
        "use its target, or choose another directory"
    )


def _refuse_foreign(entry: _Entry, status: os.stat_result) -> None:
    if entry.shared and not entry.by_kernel and status.st_uid != user_id():
        raise RefusedError(
            f"{entry.path}: belongs to another user (uid {status.st_uid}) in a world-writable directory; "
            "choose another directory"
        )


def _refuse_other_names(entry: _Entry, status: os.stat_result) -> None:
    foreign = entry.shared or entry.directory_status.st_uid not in (0, user_id())
    if foreign and not entry.by_kernel and stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        raise RefusedError(
            f"{entry.path}: has several hard links in a directory where other users may write; choose another directory"
        )


def _open(entry: _Entry, flags: int, *, private: bool = False) -> int:
    """Open the entry; it is checked before, because opening a pipe blocks, and after, because it may have changed."""
    ours = private or flags & (os.O_WRONLY | os.O_RDWR) != 0
    if ours and entry.status is not None:
        _refuse_foreign(entry, entry.status)
    flags |= O_CLOEXEC | O_NOCTTY | O_BINARY | (0 if entry.by_kernel else O_NOFOLLOW)
    descriptor = os.open(entry.name, flags, dir_fd=entry.directory)
    try:
        if ours:
            _refuse_foreign(entry, os.fstat(descriptor))
            _refuse_other_names(entry, os.fstat(descriptor))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _move_to_name(entry: _Entry, temporary: str, *, replace: bool) -> None:
    """Move a complete file to its name; an existing file is replaced only with ``replace``."""
    directory = entry.directory
    if not replace:
        try:
            os.link(temporary, entry.name, src_dir_fd=directory, dst_dir_fd=directory, **_KEEP_LINKS)
        except OSError as error:
            if error.errno not in _HARD_LINKS_UNSUPPORTED:
                raise
        else:
            os.unlink(temporary, dir_fd=directory)
            return
    os.replace(temporary, entry.name, src_dir_fd=directory, dst_dir_fd=directory)
