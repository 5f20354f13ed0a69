"""Ways of being fooled and of failing, staged on loop devices; needs root, run by hand.

pytest -m lab tests/plugins/direct_io/test_staged.py
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from fakes import HandContext
from plugins.direct_io.small_runs import run, step
from plugins.direct_io.staging import MIB, MakeMount, command, unmount, untouched
from sizeup.errors import RefusedError, SizeupError
from sizeup.model.plan import SettingValue
from sizeup.model.sample import Estimate, Samples
from sizeup_direct_io import binding
from sizeup_direct_io.target import PROTECTED_BYTES, TargetSetup

pytestmark = [pytest.mark.lab, pytest.mark.skipif(os.geteuid() != 0, reason="loop devices need root")]


def verdicts(path: Path, **settings: SettingValue) -> dict[str, str]:
    """The verdict of each part, the worst over all points."""
    order = ["pass", "unknown", "warn", "fail"]
    found: dict[str, str] = {}
    for emission in run(step(path, **{"seconds": 1.0, "depth": 1, **settings})):
        if isinstance(emission, Estimate) and emission.series == "validity":
            part, verdict = str(emission.at["part"]), str(emission.extra["verdict"])
            found[part] = max(found.get(part, "pass"), verdict, key=order.index)
    return found


@pytest.mark.parametrize(("kind", "options"), [("ext4", ""), ("xfs", "")])
def test_a_written_file_is_direct_and_its_writers_concurrent(mounted: MakeMount, kind: str, options: str) -> None:
    # More than twice 256 MiB: the target, and as much in files of their own for the writers.
    found = verdicts(mounted(kind, size_mib=700, options=options), size=256 * MIB, path_limit=1e12)

    assert (found["direct"], found["physical"]) == ("pass", "pass")
    assert found["concurrent"] in {"pass", "warn"}


def test_writers_that_a_lock_serializes_are_found_out(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A direct write into a hole takes the inode's lock for itself: the files stay as sparse as they were made.
    monkeypatch.setattr(binding, "allocate", lambda _descriptor, _size: False)
    monkeypatch.setattr(TargetSetup, "fill", lambda *_: iter(()))

    found = [verdicts(place, size=256 * MIB)["concurrent"]]
    while "fail" not in found and len(found) < 3:  # a host that is busy hides what a lock costs
        found.append(verdicts(place, size=256 * MIB)["concurrent"])
    assert "pass" not in found
    assert found[-1] == "fail"


def test_journaled_data_is_not_direct(mounted: MakeMount) -> None:
    assert verdicts(mounted("ext4", options="data=journal"))["direct"] == "fail"


def test_an_unwritten_file_is_found_out(place: Path) -> None:
    with (place / "unwritten").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, 64 * MIB)

    found = verdicts(place / "unwritten")

    assert (found["direct"], found["physical"]) == ("fail", "fail")


def test_buffered_reads_are_found_out(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "O_DIRECT", 0)

    # A file that one window cannot read into the cache whole.
    assert verdicts(place, size=512 * MIB, seconds=0.5, check_concurrency=False)["direct"] == "fail"


def test_canceling_a_frozen_step_does_not_wait_for_it(mounted: MakeMount) -> None:
    point = mounted("ext4")
    context = HandContext()
    canceled_at = 0.0
    samples = 0
    try:
        for emission in run(step(point, preset="oltp-7030", seconds=30.0, stall=20.0, depth=1), context):
            if isinstance(emission, Samples):
                samples += 1
                if samples == 20:
                    command("fsfreeze", "--freeze", str(point))
                    threading.Timer(0.5, context.cancel).start()
                    canceled_at = time.monotonic() + 0.5
        took = time.monotonic() - canceled_at
    finally:
        command("fsfreeze", "--unfreeze", str(point))
    time.sleep(1.5)
    print(f"back {took:.2f} s after the cancel")
    assert took < 2.0


def test_a_full_disk_is_refused_or_ended_with_words_and_nothing_is_left(mounted: MakeMount) -> None:
    point = mounted("ext4", size_mib=200)
    free = os.statvfs(point).f_bavail

    with pytest.raises(RefusedError, match="to keep free; decrease size"):
        list(run(step(point, size=1 << 30)))
    eater = point / "eater"
    with pytest.raises(SizeupError):  # noqa: PT012 - the space goes in the middle of the run
        for _ in run(step(point, preset="load", size=160 * MIB, reserve=1 * MIB, ramps=3, depth=1)):
            if not eater.exists():
                with suppress(OSError), eater.open("wb") as file:
                    os.posix_fallocate(file.fileno(), 0, 150 * MIB)
    eater.unlink(missing_ok=True)
    command("sync", "-f", str(point))

    assert os.statvfs(point).f_bavail >= free - 16
    assert [name for name in os.listdir(point) if name != "lost+found"] == []


def other_names(place: Path, device: str) -> Iterator[Path]:
    """A device by its name, a link to it, a node of one's own, and its number."""
    number = os.stat(device).st_rdev
    link, node = place / "innocent", place / "node"
    link.symlink_to(device)
    os.mknod(node, 0o600 | 0o060000, number)
    yield from (Path(device), link, node)
    by_number = Path(f"/dev/block/{os.major(number)}:{os.minor(number)}")
    if by_number.exists():  # udev makes it
        yield by_number


def test_a_device_in_use_is_never_written_to_whatever_its_name(
    place: Path, mounted: MakeMount, loop: Callable[[int], str]
) -> None:
    device = loop(100)
    point = mounted("ext4", device=device)
    command("mount", "-o", "remount,ro", str(point))

    with untouched(device) as number:
        for path in other_names(place, device):
            with pytest.raises(RefusedError, match="set allow_write_to"):
                list(run(step(path, preset="redo")))
            with pytest.raises(RefusedError, match="mounted on"):
                list(run(step(path, preset="redo", allow_write_to=number)))


def test_the_disk_under_a_mounted_partition_is_never_written_to(place: Path, loop: Callable[[int], str]) -> None:
    device = loop(100)
    command("addpart", device, "1", "2048", "163840")
    partition = f"{device}p1"
    point = place / "partition"
    point.mkdir()
    command("mkfs.ext4", "-q", partition)
    command("mount", "-o", "ro", partition, str(point))
    with untouched(device) as number:
        try:
            for path in other_names(place, device):
                with pytest.raises(RefusedError, match=r"p1 is mounted on"):
                    list(run(step(path, preset="redo", allow_write_to=number)))
        finally:
            unmount(point)
            command("delpart", device, "1")


def test_a_signature_or_a_swap_area_is_respected(loop: Callable[[int], str]) -> None:
    device = loop(64)
    command("mkswap", device)

    with untouched(device) as number, pytest.raises(RefusedError, match="signature of swap"):
        list(run(step(Path(device), preset="redo", allow_write_to=number)))


def test_a_free_device_is_written_to_by_its_full_name_and_keeps_its_edges(loop: Callable[[int], str]) -> None:
    device = loop(64)
    number = os.stat(device).st_rdev
    edge = bytes(PROTECTED_BYTES)

    with pytest.raises(RefusedError, match="set allow_write_to"):
        list(run(step(Path(device), preset="fsync", allow_write_to="loop")))
    list(run(step(Path(device), preset="fsync", allow_write_to=f"{os.major(number)}:{os.minor(number)}")))

    content = Path(device).read_bytes()
    assert content[:PROTECTED_BYTES] == edge
    assert content[-PROTECTED_BYTES:] == edge
    assert content[PROTECTED_BYTES : 2 * PROTECTED_BYTES] != edge


def test_a_read_only_file_system_is_refused(mounted: MakeMount) -> None:
    point = mounted("ext4", size_mib=64)
    command("mount", "-o", "remount,ro", str(point))

    with pytest.raises(RefusedError, match="Read-only file system"):
        list(run(step(point)))
