"""What preparing a target does to it: only a file that the run created is flushed and evicted."""

import errno
import os
from collections import Counter
from pathlib import Path

import pytest

from fakes import HandContext
from sizeup.errors import RefusedError
from sizeup_direct_io import binding, window_counters
from sizeup_direct_io import target as target_module
from sizeup_direct_io.disks import NearCpus
from sizeup_direct_io.presets import STREAMS, Stream
from sizeup_direct_io.target import OpenTarget, TargetKind, TargetSetup, TargetSpec, open_target, staggered_block
from sizeup_direct_io.worker import Engine, EnginePolicy, Pattern

MIB = 1 << 20
FORBIDDEN = (
    "fsync", "fdatasync", "sync", "truncate", "ftruncate", "posix_fallocate", "write", "pwrite", "pwritev", "writev",
)  # fmt: skip


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What is called that may change the page cache, or make the kernel write data out."""
    made: list[object] = []

    def extents(_descriptor: int, size_bytes: int, *, flush: bool) -> binding.Extents:
        made.append(("FIEMAP", flush))
        return binding.Extents(size_bytes, 0, 0, 0, 1)

    monkeypatch.setattr(binding, "extents", extents)
    monkeypatch.setattr(os, "posix_fadvise", lambda _descriptor, *rest: made.append(("fadvise", *rest)))
    for name in FORBIDDEN:
        monkeypatch.setattr(os, name, lambda *_, name=name: made.append(name))
    policy = EnginePolicy(errors=dict.fromkeys(Engine, 0), io_uring_disabled=None, aio_in_use=None, aio_limit=None)
    monkeypatch.setattr(window_counters, "read_policy", lambda: policy)
    return made


def prepared(kind: TargetKind, path: Path, monkeypatch: pytest.MonkeyPatch) -> TargetSetup:
    path.write_bytes(bytes(MIB))
    descriptor = os.open(path, os.O_RDONLY)
    target = OpenTarget(kind, str(path), descriptor, 0, MIB, None, os.fstat(descriptor).st_dev)
    monkeypatch.setattr(target_module, "open_target", lambda _: target)
    monkeypatch.setattr(TargetSetup, "fill", lambda *_: iter(()))
    setup = TargetSetup(HandContext(), 5.0, 0)
    list(setup.prepare(TargetSpec(str(path), writes=False), "auto", [Stream("read", 8192)], remove_leftovers=False))
    setup.close()
    return setup


@pytest.mark.parametrize("kind", [TargetKind.FILE, TargetKind.DEVICE, TargetKind.WRITABLE_DEVICE])
def test_what_the_run_did_not_create_is_neither_evicted_nor_flushed(
    kind: TargetKind, tmp_path: Path, calls: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(kind, tmp_path / "existing", monkeypatch)

    assert calls == [("FIEMAP", False)]


def test_a_file_of_the_run_is_flushed_for_its_extents_and_evicted(
    tmp_path: Path, calls: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target_module, "find_leftovers", lambda *_: [])

    prepared(TargetKind.MADE, tmp_path / "made", monkeypatch)

    assert calls == [("FIEMAP", True), ("fadvise", 0, 0, os.POSIX_FADV_DONTNEED)]


@pytest.mark.usefixtures("calls")
def test_a_device_that_was_removed_since_it_was_opened_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = tmp_path / "nvme3n1"
    device.mkdir()
    monkeypatch.setattr(target_module, "find_device_folder", lambda _: str(device))

    setup = prepared(TargetKind.DEVICE, tmp_path / "node", monkeypatch)

    assert setup.describe_loss() == ""
    device.rmdir()
    expected = f"device nvme3n1 of {tmp_path}/node was removed during the run; see the kernel log"
    assert setup.describe_loss() == expected


@pytest.mark.usefixtures("calls")
def test_nothing_is_said_of_a_device_that_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_module, "find_device_folder", lambda _: None)

    assert TargetSetup(HandContext(), 5.0, 0).describe_loss() == "", "before it is open"
    assert prepared(TargetKind.FILE, tmp_path / "file", monkeypatch).describe_loss() == ""


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENXIO, r": the device is gone; see the kernel log$"),
        (errno.ENODEV, r": the device is gone; see the kernel log$"),
        (errno.EACCES, r": Permission denied$"),
    ],
)
def test_a_device_that_is_gone_before_the_run_is_refused_with_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(target_module, "_open_existing", fail)
    (tmp_path / "file").touch()

    with pytest.raises(RefusedError, match=words):
        open_target(TargetSpec(str(tmp_path / "file"), writes=False))


def starts(setup: TargetSetup, stream: Stream, count: int) -> list[tuple[int, int, int]]:
    """Where each worker starts, and the start and end of its region, in blocks."""
    workers = list(setup.workers(stream, count, 0, huge_pages=True, engine=Engine.IO_URING))
    block = stream.block_bytes
    return [
        (worker.start_bytes // block + worker.first_block, worker.start_bytes // block,
         (worker.start_bytes + worker.size_bytes) // block)
        for worker in workers
    ]  # fmt: skip


@pytest.fixture
def four_gib(monkeypatch: pytest.MonkeyPatch) -> TargetSetup:
    """A target of 4 GiB that is not opened."""
    setup = TargetSetup(HandContext(), 5.0, 0)
    setup.target = OpenTarget(TargetKind.FILE, "/u01/file", -1, 0, 4 << 30, None, 0)
    monkeypatch.setattr(TargetSetup, "_descriptor", lambda *_: -1)
    return setup


@pytest.mark.parametrize("disks", [2, 4, 8, 16])
@pytest.mark.parametrize("stripe_blocks", [1, 4, 16])
def test_sequential_streams_do_not_start_on_the_same_disk_of_a_stripe(
    four_gib: TargetSetup, disks: int, stripe_blocks: int
) -> None:
    found = starts(four_gib, STREAMS["scan"], 16)

    assert all(low <= at < high for at, low, high in found)
    assert found[0][0] == 0
    by_disk = Counter(at // stripe_blocks % disks for at, _, _ in found)
    assert max(by_disk.values()) <= 16 // disks + 1


def test_a_single_stream_and_what_ends_with_its_region_start_at_its_first_block(four_gib: TargetSetup) -> None:
    assert starts(four_gib, STREAMS["scan"], 1) == [(0, 0, 4096)]
    once = Stream("once", MIB, Pattern.ONCE, streams=True)
    assert [at - low for at, low, _ in starts(four_gib, once, 4)] == [0] * 4
    assert {at for at, _, _ in starts(four_gib, STREAMS["large"], 64)} == {0}


@pytest.mark.parametrize("blocks", [1, 2, 3, 16, 1000, 4096])
def test_a_stream_starts_within_its_region_however_small(blocks: int) -> None:
    assert all(0 <= staggered_block(index, blocks) < blocks for index in range(64))


@pytest.mark.usefixtures("calls")
def test_the_workers_of_a_target_run_near_its_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def find(device_number: int, allowed: set[int]) -> NearCpus:
        asked.extend((device_number, allowed))
        return NearCpus(((0, 1), (8, 9)), "two nodes")

    monkeypatch.setattr(target_module, "find_near_cpus", find)
    setup = prepared(TargetKind.FILE, tmp_path / "file", monkeypatch)
    workers = setup.workers(Stream("read", 8192), 3, 0, huge_pages=True, engine=Engine.THREADS)

    assert [worker.cpus for worker in workers] == [(0, 1), (8, 9), (0, 1)]
    assert setup.usable_cpus() == 4
    deep = setup.workers(Stream("read", 8192), 256, 0, huge_pages=True, engine=Engine.AIO)
    assert [worker.depth for worker in deep] == [64] * 4, "no more threads than CPUs near the device"
    assert asked == [tmp_path.stat().st_dev, os.sched_getaffinity(0)]
