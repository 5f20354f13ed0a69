"""One door: what it answers, and what it never does."""

import os
from pathlib import Path

import pytest

from sizeup.discovery.sysroot import Sysroot
from sizeup.errors import UsageError
from sizeup.procfs.kernel_file import Unreadable
from trees import grow


def test_missing_unreadable_and_malformed_are_told_apart(tmp_path: Path) -> None:
    root = Sysroot(grow(tmp_path, "/sys/number = 7\n/sys/word = seven\n/sys/empty =\n"))

    assert root.integer("/sys/number") == 7
    assert root.integer("/sys/none") is None
    assert root.line("/sys/empty") is None
    assert root.gaps == []
    assert root.integer("/sys/word") is None
    assert [gap.subject for gap in root.gaps] == ["/sys/word"]


def test_absolute_links_start_again_at_the_root(tmp_path: Path) -> None:
    root = Sysroot(grow(tmp_path, "/sys/devices/a/value = inside\n/sys/class/a -> /sys/devices/a\n"))

    assert root.line("/sys/class/a/value") == "inside"
    assert root.realpath("/sys/class/a") == "/sys/devices/a"


def test_no_link_leads_out_of_the_recording(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("outside")
    inside = tmp_path / "root"
    root = Sysroot(grow(inside, f"/sys/up -> ../../../secret\n/sys/absolute -> {tmp_path}/secret\n"))

    assert root.line("/sys/up") is None
    assert root.line("/sys/absolute") is None
    assert root.line("/sys/../../secret") is None


def test_links_that_go_around_end(tmp_path: Path) -> None:
    root = Sysroot(grow(tmp_path, "/sys/a -> b\n/sys/b -> a\n/sys/c -> c/c/c\n"))

    assert [root.read(path) for path in ("/sys/a", "/sys/b/x", "/sys/c")] == [None, None, None]
    assert not root.names("/sys/c")


def test_a_root_with_a_mounted_kernel_file_system_is_read_whole() -> None:
    """Where a container sees its host, sizes are those of sysfs and procfs: 4096 and 0, whatever a file holds."""
    root = Sysroot("/proc/self/root")

    assert root.line("/proc/sys/kernel/ostype") == "Linux"


def test_a_pipe_in_a_recording_is_never_waited_for(tmp_path: Path) -> None:
    grow(tmp_path, "/sys/x = 1\n")
    os.mkfifo(tmp_path / "sys" / "pipe")

    assert isinstance(Sysroot(str(tmp_path)).answer("/sys/pipe"), Unreadable)


@pytest.mark.parametrize(("where", "found"), [("none", "nothing"), ("file", "a file"), (".", "neither")])
def test_a_root_that_is_no_recording_is_refused_in_words(tmp_path: Path, where: str, found: str) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(UsageError, match=f": expected .* found {found}"):
        Sysroot(str(tmp_path / where))


def test_zero_bytes_inside_a_line_are_shown_as_what_they_are_not(tmp_path: Path) -> None:
    (tmp_path / "sys").mkdir()
    (tmp_path / "sys/model").write_bytes(b"Disk\0 5\0\n")

    assert Sysroot(str(tmp_path)).line("/sys/model") == "Disk\ufffd 5"
