"""What this program writes lands where the user said, whatever somebody else has left there."""

import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sizeup import files
from sizeup.errors import RefusedError


def say(text: str) -> Callable[[Any], object]:
    return lambda file: file.write(text.encode())


def append(path: str) -> None:
    descriptor = files.open_existing(path, os.O_RDWR | os.O_APPEND)
    os.write(descriptor, b"mine")
    os.close(descriptor)


def create(path: str) -> None:
    descriptor, _ = files.create(path)
    os.write(descriptor, b"mine")
    os.close(descriptor)


WAYS: dict[str, Callable[[str], None]] = {
    "replace": lambda path: files.write(path, say("mine")),
    "keep": lambda path: files.write(path, say("mine"), replace=False),
    "create": create,
    "append": append,
}
"""All that writes a file."""


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Callable[[str], None]:
    return WAYS[request.param]


@pytest.fixture
def everybodys(tmp_path: Path) -> Path:
    folder = tmp_path / "everybodys"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


@pytest.fixture
def give_away(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], None]]:
    """Makes something another user's: root gives it away, and anybody else pretends to be somebody else."""

    def give(path: Path) -> None:
        if os.geteuid() == 0:
            os.chown(path, 12345, -1, follow_symlinks=False)
        else:
            uid = os.getuid() + 1
            monkeypatch.setattr(os, "geteuid", lambda: uid)

    yield give
    monkeypatch.undo()


@pytest.mark.parametrize("content", ["root's", None], ids=["to a file", "to nothing"])
def test_a_link_in_a_directory_of_everybodys_is_not_followed(
    everybodys: Path, tmp_path: Path, way: Callable[[str], None], content: str | None
) -> None:
    victim = tmp_path / "victim"
    if content is not None:
        victim.write_text(content)
    (everybodys / "out").symlink_to(victim)

    with pytest.raises(RefusedError, match="out is a symbolic link in a world-writable directory"):
        way(str(everybodys / "out"))

    assert (victim.read_text() if victim.exists() else None) == content
    assert [path.name for path in everybodys.iterdir()] == ["out"]


def test_a_directory_that_is_a_link_there_is_not_entered(
    everybodys: Path, tmp_path: Path, way: Callable[[str], None]
) -> None:
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim/out").write_text("root's")
    (everybodys / "sub").symlink_to(tmp_path / "victim")

    with pytest.raises(RefusedError, match="sub is a symbolic link"):
        way(str(everybodys / "sub/out"))

    assert (tmp_path / "victim/out").read_text() == "root's"


def test_a_link_of_another_user_is_followed_nowhere(
    tmp_path: Path, way: Callable[[str], None], give_away: Callable[[Path], None]
) -> None:
    (tmp_path / "victim").write_text("root's")
    (tmp_path / "out").symlink_to(tmp_path / "victim")
    give_away(tmp_path / "out")

    with pytest.raises(RefusedError, match="out is a symbolic link of another user"):
        way(str(tmp_path / "out"))

    assert (tmp_path / "victim").read_text() == "root's"


def test_a_file_of_another_user_there_is_left_alone(
    everybodys: Path, way: Callable[[str], None], give_away: Callable[[Path], None]
) -> None:
    (everybodys / "out").write_text("theirs")
    give_away(everybodys / "out")

    with pytest.raises((RefusedError, FileExistsError)):
        way(str(everybodys / "out"))

    assert (everybodys / "out").read_text() == "theirs"


def test_a_pipe_of_another_user_there_is_not_even_waited_for(
    everybodys: Path, way: Callable[[str], None], give_away: Callable[[Path], None]
) -> None:
    os.mkfifo(everybodys / "out")
    give_away(everybodys / "out")

    with pytest.raises(RefusedError, match=r"belongs to another user \(uid \d+\)"):
        way(str(everybodys / "out"))


@pytest.mark.parametrize("name", ["create", "append"])
def test_a_second_name_of_a_file_there_is_not_continued(everybodys: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "victim").write_text("root's")
    os.link(tmp_path / "victim", everybodys / "out")

    with pytest.raises(RefusedError, match="has several hard links"):
        WAYS[name](str(everybodys / "out"))

    assert (tmp_path / "victim").read_text() == "root's"


def test_what_is_ours_is_written_in_a_directory_of_everybodys(everybodys: Path) -> None:
    for _ in range(2):
        files.write(str(everybodys / "out"), say("mine"))
    create(str(everybodys / "log"))
    append(str(everybodys / "log"))

    assert {path.name: path.read_text() for path in everybodys.iterdir()} == {"out": "mine", "log": "minemine"}


def test_a_link_of_our_own_keeps_pointing_where_it_did(tmp_path: Path) -> None:
    (tmp_path / "data/new").mkdir(parents=True)
    (tmp_path / "current").symlink_to("data/new")
    (tmp_path / "data/new/latest").symlink_to("../first")

    files.write(str(tmp_path / "current/latest"), say("mine"))

    assert (tmp_path / "data/first").read_text() == "mine"
    assert (tmp_path / "current/latest").is_symlink()


def test_a_circle_of_links_ends(tmp_path: Path, way: Callable[[str], None]) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")

    with pytest.raises(OSError, match="symbolic links") as error:
        way(str(tmp_path / "a"))
    assert error.value.errno == errno.ELOOP


def test_a_link_that_is_exchanged_after_the_check_is_not_the_one_that_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "victim").write_text("root's")
    (tmp_path / "out").symlink_to("mine")
    read = os.readlink

    def exchanged(name: str, *, dir_fd: int | None = None) -> str:
        (tmp_path / "out").unlink()
        (tmp_path / "out").symlink_to("victim")
        return read(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "readlink", exchanged)
    files.write(str(tmp_path / "out"), say("mine"))

    assert (tmp_path / "victim").read_text() == "root's"
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize("name", ["replace", "keep", "create"])
def test_a_directory_that_is_exchanged_after_the_check_is_not_the_one_that_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "victim").mkdir()
    opened = os.open

    def exchanged(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if flags & os.O_CREAT:
            (tmp_path / "folder").rename(tmp_path / "moved")
            (tmp_path / "folder").symlink_to("victim")
        return opened(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", exchanged)
    WAYS[name](str(tmp_path / "folder/out"))

    assert list((tmp_path / "victim").iterdir()) == []
    assert (tmp_path / "moved/out").read_text() == "mine"


@pytest.mark.parametrize("name", ["create", "append"])
def test_a_link_that_takes_the_place_of_a_file_after_the_check_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "victim").write_text("root's")
    (tmp_path / "out").touch()
    opened = os.open

    def exchanged(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if flags & os.O_APPEND:
            (tmp_path / "out").unlink()
            (tmp_path / "out").symlink_to("victim")
        return opened(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", exchanged)
    with pytest.raises(OSError, match="symbolic links"):
        WAYS[name](str(tmp_path / "out"))

    assert (tmp_path / "victim").read_text() == "root's"


def test_a_file_that_appears_meanwhile_is_kept_where_none_may_be_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"

    def appears(file: Any) -> None:
        out.write_text("theirs")
        file.write(b"mine")

    with pytest.raises(FileExistsError):
        files.write(str(out), appears, replace=False)

    assert out.read_text() == "theirs"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_file_system_without_hard_links_takes_files_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*arguments: object, **settings: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    files.write(str(tmp_path / "out"), say("mine"), replace=False)

    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_devices_and_pipes_take_what_is_written_and_stay(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(fifo.read_bytes()))
    reader.start()
    files.write(str(fifo), say("mine"), replace=False)
    reader.join(10)

    assert got == [b"mine"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    files.write("/dev/null", say("mine"))
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_pipe_by_its_descriptor_takes_what_is_written() -> None:
    """As ``/dev/stdout`` and the shell's ``>(command)`` are: only the kernel can follow such a link."""
    read_end, write_end = os.pipe()
    files.write(f"/proc/self/fd/{write_end}", say("mine"))
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        assert pipe.read() == b"mine"


def test_a_file_behind_standard_output_is_added_to_as_the_shell_would(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("before ")
    with open(tmp_path / "out", "ab") as opened:
        files.write(f"/proc/self/fd/{opened.fileno()}", say("mine"))

    assert (tmp_path / "out").read_text() == "before mine"


@pytest.mark.parametrize("umask", [0, 0o022, 0o177])
def test_what_is_made_for_the_owner_alone_is_so_under_any_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        files.make_directory(str(tmp_path / "state/sizeup/sessions"))
        create(str(tmp_path / "state/sizeup/sessions/log"))
    finally:
        os.umask(before)

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "state").rglob("*")}
    assert modes == {"sizeup": 0o700, "sessions": 0o700, "log": 0o600}
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700


def test_a_directory_that_is_there_keeps_its_mode_and_a_file_in_its_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir(mode=0o755)
    (tmp_path / "there").chmod(0o755)
    (tmp_path / "file").touch()

    files.make_directory(f"{tmp_path}/there/")

    assert stat.S_IMODE((tmp_path / "there").stat().st_mode) == 0o755
    with pytest.raises(NotADirectoryError):
        files.make_directory(str(tmp_path / "file"))
    with pytest.raises(NotADirectoryError):
        files.make_directory(str(tmp_path / "file/below"))


def test_removing_takes_the_link_and_not_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "kept").touch()
    (tmp_path / "link").symlink_to("kept")

    files.remove(str(tmp_path / "link"))

    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_name_that_went_to_another_file_is_not_removed(tmp_path: Path) -> None:
    descriptor, _ = files.create(str(tmp_path / "out"))
    (tmp_path / "out").rename(tmp_path / "ours")
    (tmp_path / "out").write_text("theirs")

    files.remove(str(tmp_path / "out"), only=descriptor)
    os.close(descriptor)

    assert (tmp_path / "out").read_text() == "theirs"


def test_what_should_be_private_is_not_taken_from_another_user(
    everybodys: Path, give_away: Callable[[Path], None]
) -> None:
    (everybodys / "key").write_text("theirs")
    give_away(everybodys / "key")

    with pytest.raises(RefusedError, match="belongs to another user"):
        files.open_existing(str(everybodys / "key"), os.O_RDONLY, private=True)

    os.close(files.open_existing(str(everybodys / "key"), os.O_RDONLY))


def test_a_thread_that_cannot_begin_is_an_answer_and_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Callable[[], None]] = []
    monkeypatch.setattr("sizeup.files._thread.start_new_thread", lambda settle, _: begun.append(settle))
    monkeypatch.setattr("sizeup.files._BEGIN_SECONDS", 0.01)
    answer = files.answer_of(lambda: 1)

    with pytest.raises(MemoryError, match="could not begin"):
        answer.result(0)
    begun[0]()  # too late: it settles nothing, and says nothing
    assert isinstance(answer.exception(), MemoryError)
