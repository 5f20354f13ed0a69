"""The file that a run makes or is given: what is refused, only read, found out, and left behind."""

import errno
import os
from pathlib import Path

import pytest

from fakes import HandContext
from plugins.direct_io.small_runs import run, step
from sizeup.errors import RefusedError
from sizeup.model.machine import Gap
from sizeup.model.plan import SettingValue
from sizeup.model.sample import Estimate, Samples
from sizeup_direct_io import target
from sizeup_direct_io.probe import DirectIo
from sizeup_direct_io.target import TargetSpec, find_leftovers, open_target, process_start


def test_canceling_ends_the_run_without_a_file(folder: Path) -> None:
    context = HandContext()
    seen = 0
    for emission in run(step(folder, seconds=30.0), context):
        if isinstance(emission, Samples):
            seen += 1
            context.cancel()

    assert seen > 0
    assert list(folder.iterdir()) == []


def test_leaving_a_run_half_way_leaves_no_file(folder: Path) -> None:
    emissions = DirectIo().run(step(folder, seconds=30.0), HandContext())
    for emission in emissions:
        if isinstance(emission, Samples):
            break
    emissions.close()  # type: ignore[attr-defined]  # a generator

    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "settings", "reason"),
    [
        ("missing", {}, "No such file"),
        ("file", {"preset": "redo"}, "which is only read"),
        ("small", {}, "too few"),
        ("file", {"size": 64 << 20}, "has only 32 MiB; decrease size"),
        ("file", {"size": 1 << 20}, "size=1048576: expected at least 16 MiB"),
        ("file", {"reserve": 1 << 20}, "reserve has no effect on .*/file: it applies to directories only"),
        ("file", {"largest_file": 1 << 30}, "largest_file has no effect on .*/file: it applies to directories only"),
        ("file", {"remove_leftovers": True}, "remove_leftovers has no effect"),
        (".", {"preset": "redo", "allow_write_to": "wwn-1"}, "allow_write_to has no effect on .*: it is not a device"),
        (".", {"engine": "threads", "threads": 2}, "threads=2 has no effect: the threads engine"),
        (".", {"size": 1 << 50}, "to keep free; decrease size"),
        (".", {"size": 1}, "expected at least"),
        (".", {"size": (32 << 20) + 512}, "expected a multiple of 1 MiB"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_words(
    folder: Path, name: str, settings: dict[str, SettingValue], reason: str
) -> None:
    (folder / "file").write_bytes(bytes(32 << 20))
    (folder / "small").write_bytes(b"x")

    with pytest.raises(RefusedError, match=reason):
        list(run(step(folder / name, **settings)))


def test_an_existing_file_is_only_read(folder: Path) -> None:
    target = folder / "file"
    content = os.urandom(1 << 20) * 32
    target.write_bytes(content)

    list(run(step(target, depth=1)))

    assert target.read_bytes() == content


def test_a_sparse_file_is_found_out(folder: Path) -> None:
    target = folder / "sparse"
    with target.open("wb") as file:
        file.truncate(32 << 20)

    verdicts = {
        e.at["part"]: e.extra["verdict"]
        for e in run(step(target, depth=1))
        if isinstance(e, Estimate) and e.series == "validity"
    }

    assert verdicts["physical"] == "fail"


@pytest.mark.parametrize("byte", [0, 255], ids=["zeroed", "ones"])
def test_a_file_that_holds_no_data_is_not_physical(folder: Path, byte: int) -> None:
    target = folder / "blank"
    with target.open("wb") as file:
        file.write(bytes([byte]) * (16 << 20))
        os.fsync(file.fileno())
    found = [e for e in run(step(target, size=0, depth=1, preset="single-read")) if isinstance(e, Estimate)]
    (said,) = [e for e in found if e.series == "validity" and e.at["part"] == "physical" and "workload" in e.at]

    assert said.extra["verdict"] == "fail"
    assert f"sampled blocks are {'identical' if byte else 'zero'}: reads of deallocated" in str(said.extra["reasons"])


def test_leftovers_of_the_dead_are_told_from_files_of_the_living(folder: Path) -> None:
    alive = f".sizeup-here-{os.getpid()}-{process_start(os.getpid())}"
    dead = f".sizeup-here-{os.getpid()}-1"
    for name in (alive, dead, ".sizeup-elsewhere-1-1", ".sizeup-notes"):
        (folder / name).touch()

    assert find_leftovers(str(folder), "here") == [str(folder / dead)]


def test_a_leftover_is_reported_and_kept_unless_removal_was_asked_for(folder: Path) -> None:
    leftover = folder / f".sizeup-{os.uname().nodename}-{os.getpid()}-1"
    leftover.touch()

    gaps = [emission for emission in run(step(folder, depth=1)) if isinstance(emission, Gap)]
    # Another names the depth where neighbors left it no CPU.
    assert [gap.subject for gap in gaps if gap.subject.startswith("/")] == [str(leftover)]
    assert leftover.exists()

    list(run(step(folder, depth=1, remove_leftovers=True)))
    assert not leftover.exists()


def test_the_first_touch_of_an_existing_file_is_held_against_the_second(folder: Path) -> None:
    target = folder / "file"
    target.write_bytes(os.urandom(1 << 20) * 32)

    emissions = list(run(step(target, depth=1)))

    (touch,) = [e for e in emissions if isinstance(e, Estimate) and e.series == "first-touch"]
    assert touch.extra["blocks"] == 64
    assert 0 <= touch.value <= 1


def test_a_target_that_fails_at_its_first_touch_is_measured_all_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "preadv", broken)
    target = folder / "file"
    target.write_bytes(os.urandom(1 << 20) * 32)

    emissions = list(run(step(target, depth=1)))

    (gap,) = [e for e in emissions if isinstance(e, Gap) and "first touch" in e.subject]
    assert gap.reason.startswith("EIO")
    assert any(isinstance(e, Estimate) and e.series == "iops" for e in emissions)


@pytest.mark.parametrize("way", ["bait", "bait/inner"])
def test_no_link_is_followed_where_everybody_may_write(tmp_path: Path, way: str) -> None:
    (tmp_path / "victim/inner").mkdir(parents=True)
    (tmp_path / "everybodys").mkdir()
    (tmp_path / "everybodys").chmod(0o1777)
    (tmp_path / "everybodys/bait").symlink_to(tmp_path / "victim")

    with pytest.raises(RefusedError, match="bait is a symbolic link in a world-writable directory"):
        open_target(TargetSpec(f"{tmp_path}/everybodys/{way}", writes=False))


@pytest.mark.parametrize("way", ["bait", "bait/", "bait/inner", "mine/inner"])
def test_a_link_of_another_user_is_refused_wherever_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    (tmp_path / "victim/inner").mkdir(parents=True)
    (tmp_path / "bait").symlink_to("victim")
    (tmp_path / "mine").symlink_to(tmp_path / "bait")  # one's own leads on through the trap
    if os.geteuid() == 0:
        os.lchown(tmp_path / "bait", 12345, 12345)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)

    with pytest.raises(RefusedError, match="is a symbolic link of another user"):
        open_target(TargetSpec(f"{tmp_path}/{way}", writes=False))


@pytest.mark.parametrize("number", [errno.EPERM, errno.EACCES, errno.EROFS])
def test_a_directory_that_takes_no_file_names_the_way_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def make(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(target, "_make", make)

    with pytest.raises(RefusedError, match=f"{os.strerror(number)}; choose a directory that you may write to"):
        list(run(step(folder)))
