"""The checks before a run: what they ask for, and what they make of it."""

import os
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fakes import HandContext
from plugins.direct_io.hand_made import interval, window
from sizeup.model.sample import Estimate
from sizeup_direct_io import comparisons, window_counters
from sizeup_direct_io.comparisons import (
    TOUCHES,
    WRITERS,
    Checks,
    direct_reader,
    read_twice,
    touch,
    touch_offsets,
    without_progress,
)
from sizeup_direct_io.presets import Durable, Stream
from sizeup_direct_io.target import ContentSample, OpenTarget, TargetKind, TargetSetup
from sizeup_direct_io.window_counters import CounterSource
from sizeup_direct_io.worker import Engine, EnginePolicy, Pattern, Worker

MIB = 1 << 20
FILES = list(range(100, 100 + WRITERS))
TARGET = 9


class FakeFiles:
    """A target and other files, whose writers reach what is set for the same file and for files of their own."""

    def __init__(self, patch: pytest.MonkeyPatch, rate: Callable[[Sequence[Any], int], float]) -> None:
        self._rate, self._seeds = rate, iter(range(1_000_000))
        self.rounds: list[Sequence[Any]] = []
        self.emptied: list[int] = []
        self.target = OpenTarget(TargetKind.MADE, "/u01", TARGET, 0, 1 << 30, None, 0)
        self.content: ContentSample | None = None
        self.call_with_timeout = lambda _, function: function()
        patch.setattr(comparisons, "measure", self.measure)
        patch.setattr(comparisons.os, "ftruncate", lambda file, size: self.emptied.append(file))
        patch.setattr(window_counters, "read_policy", lambda: EnginePolicy(dict.fromkeys(Engine, 0)))

    writer, empty = TargetSetup.writer, TargetSetup.empty

    def next_seed(self) -> int:
        return next(self._seeds)

    def more_files(self, count: int, *_: int) -> Iterator[list[int]]:
        yield from ()
        return FILES[:count]  # type: ignore[return-value]

    def workers(self, stream: Stream, *_: int) -> list[Stream]:
        return [stream]

    def measure(self, workers: Sequence[Any], streams: Sequence[str], *_: object) -> Iterator[Any]:
        yield from ()
        self.rounds.append(workers)
        iops = self._rate(workers, len(self.rounds))
        times = {round(iops): 98, 127: 2} if isinstance(workers[0], Stream) else {10: round(1000 * iops)}
        each = dict.fromkeys(streams, interval({}, times))
        return window(1000.0 * len(streams), each)

    def checks(self) -> Checks:
        return Checks(self, CounterSource(0), HandContext(), 0)  # type: ignore[arg-type]


def files_of(workers: Sequence[Worker]) -> list[int]:
    return sorted({worker.descriptor for worker in workers})


def test_writers_to_one_file_are_compared_with_as_many_that_have_one_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """300 of 1,000 IOPS when they overwrite; 900 of 1,000 when they extend; each round a fifth more or less."""

    def rate(workers: Sequence[Worker], number: int) -> float:
        alone = len(files_of(workers)) > 1
        extending = workers[0].pattern is Pattern.APPEND
        return (1000.0 if alone else 900.0 if extending else 300.0) * (0.8 if number % 4 in {1, 2} else 1.2)

    files = FakeFiles(monkeypatch, rate)
    overwriting, extending = without_progress(files.checks().concurrent(wanted=True, extends=False))

    assert overwriting.reasons == (
        "writers to one file reach 30 % of the IOPS of writers to separate files: they are serialized",
    )
    assert extending.reasons[0].startswith("writers extending one file reach 90 % of the IOPS of writers extending")
    over, extend = files.rounds[:4], files.rounds[4:]
    assert [files_of(each) for each in over] == [[TARGET], FILES, FILES, [TARGET]]
    assert [files_of(each) for each in extend] == [FILES[:1], FILES, FILES, FILES[:1]]
    assert {len(each) for each in files.rounds} == {WRITERS}
    assert all(worker.read_percent == 0 for each in files.rounds for worker in each)
    assert {len({worker.group for worker in each}) for each in extend[::3]} == {1}, "they take the blocks of one file"
    assert {len({worker.group for worker in each}) for each in extend[1:3]} == {WRITERS}
    assert {worker.size_bytes for each in (over[0], extend[0]) for worker in each} == {WRITERS * 16 * MIB}
    assert {worker.size_bytes for each in (over[1], extend[1]) for worker in each} == {16 * MIB}
    seeds = [worker.seed for each in files.rounds for worker in each]
    assert len(set(seeds)) == len(seeds)
    assert files.emptied == FILES * 5, "before each measurement, and at the end"


@pytest.mark.parametrize(
    ("kind", "why"),
    [(TargetKind.WRITABLE_DEVICE, "a device"), (TargetKind.DEVICE, "only read"), (TargetKind.FILE, "only read")],
)
def test_writers_to_one_file_need_a_file_of_the_run(
    kind: TargetKind, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = FakeFiles(monkeypatch, lambda *_: 1.0)
    files.target = replace(files.target, kind=kind)
    (part,) = without_progress(files.checks().concurrent(wanted=True, extends=False))

    assert part.reasons == (f"writers to one file: not checked, as the target is {why}",)
    assert files.rounds == []


def test_the_cost_of_a_flush_is_what_durable_writes_take_longer_at_the_median(monkeypatch: pytest.MonkeyPatch) -> None:
    """20 and 30 ns without, 60 and 90 with; one in fifty takes 127 ns."""
    files = FakeFiles(monkeypatch, lambda _, number: {1: 20, 2: 60, 3: 90, 4: 30}[number])
    (found,) = [each for each in files.checks().flush_cost() if isinstance(each, Estimate)]

    assert (found.value, found.extra["direct_ns"], found.extra["durable_ns"]) == (50, 25, 75)
    streams = [each[0] for each in files.rounds]
    assert [stream.durable for stream in streams] == [Durable.NO, Durable.DSYNC, Durable.DSYNC, Durable.NO]
    assert {(stream.read_percent, stream.block_bytes) for stream in streams} == {(0, 8192)}


def test_a_first_touch_samples_what_the_target_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    def reader(_: int, contents: dict[int, bytes]) -> Callable[[int], int]:
        def read(offset: int) -> int:
            contents[offset] = bytes(8192) if offset < 256 * MIB else os.urandom(8192)
            return 5

        return read

    files = FakeFiles(monkeypatch, lambda *_: 1.0)
    monkeypatch.setattr(comparisons, "direct_reader", reader)

    assert without_progress(touch(files)) == ([5] * TOUCHES, [5] * TOUCHES)  # type: ignore[arg-type]
    assert files.content == ContentSample(TOUCHES, zero=TOUCHES // 4, repeated=0)


def test_blocks_are_spread_over_the_whole_target_and_aligned() -> None:
    offsets = touch_offsets(MIB, 64 * MIB, random.Random(1))

    assert len({(offset - MIB) // MIB for offset in offsets}) == TOUCHES
    assert max(offsets) > 64 * MIB
    assert all(offset % 8192 == 0 and MIB <= offset <= 65 * MIB - 8192 for offset in offsets)
    assert offsets != sorted(offsets)


def test_each_block_is_read_once_and_then_all_of_them_again() -> None:
    seen: list[int] = []

    def read(offset: int) -> int:
        seen.append(offset)
        return 9_000_000 if seen.count(offset) == 1 else 90_000

    first, second = read_twice([8, 4, 2], read)

    assert (first, second, seen) == ([9_000_000] * 3, [90_000] * 3, [8, 4, 2, 8, 4, 2])


def test_a_volume_that_takes_seconds_for_each_block_is_asked_for_a_few_only() -> None:
    first, second = read_twice(range(TOUCHES), lambda _offset: 2_000_000_000)

    assert len(first) == len(second) == 8


def test_what_a_block_holds_is_kept_by_its_offset(tmp_path: Path) -> None:
    content = os.urandom(4 * 8192)
    (tmp_path / "file").write_bytes(content)
    try:
        descriptor = os.open(tmp_path / "file", os.O_RDONLY | os.O_DIRECT)
    except OSError as error:
        pytest.skip(f"{tmp_path} takes no direct I/O: {error}")
    contents: dict[int, bytes] = {}
    try:
        times = read_twice([16384, 0], direct_reader(descriptor, contents))
    finally:
        os.close(descriptor)

    assert contents == {16384: content[16384:24576], 0: content[:8192]}
    assert all(spent_ns > 0 for spent_ns in (*times[0], *times[1]))
