"""The cold read: which existing data is read and which is left alone, and the rate that it shows."""

import errno
import os
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, suppress
from itertools import count, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from fakes import HandContext
from plugins.direct_io.small_runs import run, step
from sizeup.errors import SizeupError
from sizeup.model.machine import Gap
from sizeup.model.sample import Estimate, Progress
from sizeup.probing.api import Emission
from sizeup.procfs.mounts import MountEntry
from sizeup.text import plural
from sizeup_direct_io import binding, cold_read
from sizeup_direct_io import target as target_module
from sizeup_direct_io.binding import IoInterval
from sizeup_direct_io.call_with_timeout import CanceledError
from sizeup_direct_io.cold_read import ColdRead, cold_estimate, holds_old_data, open_old_files
from sizeup_direct_io.estimates import PointResult
from sizeup_direct_io.presets import SMALL_BYTES, STREAMS
from sizeup_direct_io.target import TargetSetup, TargetSpec
from sizeup_direct_io.window_counters import CounterSource
from sizeup_direct_io.worker import Engine, Pattern, Worker

GIB, MIB, MS = 1 << 30, 1 << 20, 1_000_000
SECRET = "payroll"


# The rate


def cold(times: dict[float, int], zero_share: float = 0.0, depth: int = 64) -> ColdRead:
    """Reads by their latency in ms, in 2.5 s."""
    in_ns = {round(ms * MS): count for ms, count in times.items()}
    interval = SimpleNamespace(histogram=lambda _: in_ns, reads=sum(times.values()))
    return ColdRead(cast("IoInterval", interval), 2.5, depth, 1, 4 * GIB, zero_share)


@pytest.mark.parametrize(
    ("read", "warm_ms", "rate", "share"),
    [
        # 64 in flight at 0.5 ms for 2.5 s.
        (cold({0.5: 320_000}), 0.4, 128_000.0, 0.0),
        # 36,000 x 1 ms and 600 x 20 ms: 12 of 48 s are slow. Alone: 48 / 2.5 = 19.2 in flight / 20 ms = 960.
        (cold({1.0: 36_000, 20.0: 600}), 0.1, 960.0, 0.25),
        # One slow read less stays below a quarter: all 36,599 count.
        (cold({1.0: 36_000, 20.0: 599}), 0.1, 14_639.6, 11.98 / 47.98),
        # All slow: 8,000 x 20 ms are 64 in flight; their rate is that of all.
        (cold({20.0: 8_000}), 0.1, 3_200.0, 1.0),
        # The queue was filled for a fifth of the time: 1,600 / 2.5 s, not 64 / 20 ms.
        (cold({20.0: 1_600}), 0.1, 640.0, 1.0),
        # Slow is ten times the warm median of 3 ms, and 30 ms is not more than that; of 0.1 ms it is 2 ms.
        (cold({30.0: 1_000}), 3.0, 400.0, 0.0),
        (cold({2.0: 1_000}), 0.1, 400.0, 0.0),
        # Few reads: 5 in 2.5 s, of which one took 0.8 of 0.816 s; alone 0.3264 in flight / 0.8 s.
        (cold({4e-3: 4_000, 800.0: 1}), 0.1, 0.408, 0.8 / 0.816),
        # A quarter of the blocks may never have been stored: reading them says nothing.
        (cold({0.5: 320_000}, zero_share=0.25), 0.4, 96_000.0, 0.0),
    ],
)
def test_the_rate_is_that_of_the_slow_reads_where_they_took_a_quarter_of_the_time(
    read: ColdRead, warm_ms: float, rate: float, share: float
) -> None:
    found = read.estimate({}, warm_ms * MS)

    assert (found.value, found.extra["slow_share"]) == (pytest.approx(rate), pytest.approx(share))
    assert found.at == {"workload": "cold-read", "queue_depth": 64}
    assert found.extra["all_iops"] == read.interval.reads / 2.5


def test_the_warm_median_is_carried_on_to_the_queue_depth_of_the_read() -> None:
    """A ramp that ended at QD 8 with 1 ms has 8 ms at QD 64: slow is 80 ms, so 50 ms are not."""
    points = [
        SimpleNamespace(at={"queue_depth": depth}, pooled=SimpleNamespace(quantile_ns=lambda *_, ms=ms: ms * MS))
        for depth, ms in ((8, 1.0), (1, 9.0))
    ]
    setup = SimpleNamespace(target=SimpleNamespace(mount=SimpleNamespace(point="/u01")))

    found = cold_estimate(cast("TargetSetup", setup), cold({50.0: 100}), cast("list[PointResult]", points))

    assert (found.extra["slow_share"], found.extra["mount_point"]) == (0.0, "/u01")


# The search


@pytest.fixture
def all_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of any age and of 64 KiB; the search takes as long as it needs."""
    monkeypatch.setattr(cold_read, "OLD_SECONDS", -1e6)
    monkeypatch.setattr(cold_read, "SMALLEST_FILE_BYTES", 64 << 10)
    monkeypatch.setattr(cold_read, "SEARCH_SECONDS", 600.0)


def write(path: Path, mib: int = 1) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(os.urandom(mib * MIB))
        os.fsync(file.fileno())
    return path


def found_in(
    folder: Path, reads: int = 640, *, start: Path | None = None, canceled: bool = False, seed: int = 1
) -> tuple[dict[int, int], int]:
    """The reads in flight by inode of what is found in a folder, taken for a mount point, and the bytes of all."""
    folder = folder.resolve()
    where = str(start or folder), str(folder), folder.stat().st_dev
    with ExitStack() as opened:
        found = open_old_files(*where, reads, seed, opened, lambda: canceled)
        return {os.fstat(file.descriptor).st_ino: file.reads for file in found.files}, found.size_bytes


def inodes(*paths: Path) -> list[int]:
    return [path.stat().st_ino for path in paths]


@pytest.mark.parametrize(
    ("changed", "holds"),
    [
        ({}, True),
        ({"st_ctime": 1e9 - 86400}, False),
        ({"st_dev": 8}, False),
        ({"st_mode": stat.S_IFIFO}, False),
        ({"st_size": 16 << 10, "st_blocks": 32}, False),
        ({"st_blocks": 1945}, False),
        ({"st_blocks": 1946}, True),
    ],
)
def test_old_data_is_a_day_old_and_allocated(
    changed: dict[str, float], holds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1 MiB are 2,048 blocks of 512 bytes, of which 5 % (102.4) may be missing."""
    monkeypatch.setattr(cold_read, "time", SimpleNamespace(time=lambda: 1e9))
    status = {
        "st_mode": stat.S_IFREG, "st_dev": 7, "st_size": MIB, "st_blocks": 2048, "st_ctime": 1e9 - 86401, **changed,
    }  # fmt: skip

    assert holds_old_data(cast("os.stat_result", SimpleNamespace(**status)), 7) == holds


@pytest.mark.usefixtures("all_old")
def test_old_files_are_found_from_any_folder_and_nothing_else(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large, middle = write(folder / "a" / "b" / "c" / "large", 3), write(folder / "middle", 2)
    small, elsewhere = write(folder / "z" / "small"), write(folder / "mounted" / "elsewhere", 4)
    swap = write(folder / "swap", 4)
    os.link(middle, folder / "again")
    (folder / "link").symlink_to(large)
    (folder / "way").symlink_to(large.parent)
    os.mkfifo(folder / "pipe")
    with (folder / "sparse").open("wb") as sparse:
        sparse.truncate(8 * MIB)
    mount = MountEntry("server:/", str(folder.resolve() / "mounted"), "nfs", ())
    monkeypatch.setattr(cold_read, "read_mountinfo", lambda: (mount,))
    monkeypatch.setattr(cold_read, "read_swaps", lambda: (str(swap), "/dev/none"))

    for start in (None, large.parent, folder / "way"):
        found, total = found_in(folder, start=start)
        assert (found.keys(), total) == ({*inodes(large, middle, small)}, 6 * MIB)
    assert found_in(folder, canceled=True) == ({}, 0)
    assert elsewhere.exists()
    monkeypatch.setattr(cold_read, "_MOST_FOUND", 1)
    assert found_in(folder) == ({inodes(large)[0]: 640}, 3 * MIB)
    monkeypatch.setattr(cold_read, "SEARCH_SECONDS", -1.0)
    assert found_in(folder) == ({}, 0)


@pytest.mark.usefixtures("all_old")
def test_reads_draw_their_files_by_size_and_stand_for_what_can_be_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 640 draws 480 are expected on 3 of 4 MiB, give or take 11 (their standard deviation)."""
    large, small = write(folder / "large", 3), write(folder / "small")
    (large_inode,), (small_inode,) = inodes(large), inodes(small)

    found, total = found_in(folder)
    assert (sum(found.values()), total) == (640, 4 * MIB)
    assert 400 < found[large_inode] < 560

    opened = cold_read._open
    monkeypatch.setattr(cold_read, "_open", lambda path, *rest: None if path.endswith("e") else opened(path, *rest))
    found, total = found_in(folder)
    assert found == {small_inode: 640}
    assert 0.5 * MIB < total < 2 * MIB, "a quarter of the draws can be read"
    monkeypatch.setattr(cold_read, "_open", lambda *_: None)
    assert found_in(folder) == ({}, 0)


@pytest.mark.usefixtures("all_old")
def test_extents_that_were_never_written_are_left_out(folder: Path) -> None:
    write(folder / "written")
    with (folder / "reserved").open("wb") as reserved:
        with suppress(OSError):
            os.posix_fallocate(reserved.fileno(), 0, 2 * MIB)
        extents = binding.extents(reserved.fileno(), 2 * MIB, flush=False)
    if extents is None or not extents.unwritten_bytes:
        pytest.skip("this file system does not tell what was never written")

    assert found_in(folder)[0].keys() == {*inodes(folder / "written")}


@pytest.mark.usefixtures("all_old")
@pytest.mark.parametrize("kind", ["fifo", "another file", "gone"])
def test_what_takes_the_place_of_a_file_is_not_opened(kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(folder / "file")
    another = write(folder / "b" / "another")
    taken: list[Path] = []

    def replaced(status: os.stat_result, _: int) -> bool:
        if not taken:
            taken.append(path)
            path.unlink()
            if kind == "fifo":
                os.mkfifo(path)
            elif kind == "another file":
                another.rename(path)
        return stat.S_ISREG(status.st_mode)

    monkeypatch.setattr(cold_read, "holds_old_data", replaced)
    monkeypatch.setattr(cold_read, "_entries", lambda _: [entry for entry in os.scandir(folder) if entry.is_file()])

    assert found_in(folder) == ({}, 0)


# The read


@pytest.fixture
def prepared(folder: Path, all_old: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], TargetSetup]]:
    """Opens a target on a file system that ends at the folder of the test, with 1 MiB as enough."""
    real = target_module.read_mount
    monkeypatch.setattr(cold_read, "LEAST_BYTES", MIB)
    monkeypatch.setattr(
        target_module, "read_mount", lambda descriptor: replace(real(descriptor), point=str(folder.resolve()))
    )
    made = []

    def prepare(path: Path) -> TargetSetup:
        setup = TargetSetup(HandContext(), 5.0, 0)
        made.append(setup)
        spec = TargetSpec(str(path), writes=False, size_bytes=16 * MIB, reserve_bytes=MIB if path.is_dir() else 0)
        list(setup.prepare(spec, "auto", [STREAMS["read"]], remove_leftovers=False))
        return setup

    yield prepare
    for setup in made:
        setup.close()


def read(setup: TargetSetup, depth: int = 4) -> tuple[list[Emission], ColdRead | None]:
    found: list[Emission] = []
    context = cast("HandContext", setup._context)
    reading = cold_read.cold_read(setup, depth, context, CounterSource(setup.target.device_number, None))
    while True:
        try:
            found.append(next(reading))
        except StopIteration as end:
            return found, cast("ColdRead | None", end.value)


def reason(emissions: list[Emission]) -> str:
    (gap,) = [each for each in emissions if isinstance(each, Gap)]
    return gap.reason


def measured(workers: list[Worker], found: list[Any]) -> Callable[..., Generator[Emission, None, Any]]:
    """Stands in for the measurement: notes the workers, and returns or raises what was found."""

    def measure(those: list[Worker], *_: object) -> Generator[Emission, None, Any]:
        workers.extend(those)
        yield Progress(0.0)
        if isinstance(found[0], Exception):
            raise found[0]
        return found[0]

    return measure


def point(requests: int = 1000, charged: int | None = None) -> SimpleNamespace:
    return SimpleNamespace(
        requests=requests, seconds=2.5, requested_bytes=1000, uncertainty_bytes=10,
        charged_bytes=lambda *, reads, writes: (charged if reads and not writes else None, None),
        intervals={"cold-read": SimpleNamespace()},
    )  # fmt: skip


def test_each_read_in_flight_has_a_thread_and_a_region_of_its_own(
    folder: Path, prepared: Callable[[Path], TargetSetup], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder / SECRET, 3)
    write(folder / "b" / SECRET)
    workers: list[Worker] = []
    monkeypatch.setattr(cold_read, "measure", measured(workers, [point()]))

    emissions, found = read(prepared(folder), depth=16)

    assert found is not None
    assert (found.sampled_bytes, found.depth, found.zero_share) == (4 * MIB, 16, 0.0)
    regions = sorted((one.descriptor, one.start_bytes, one.size_bytes) for one in workers)
    assert len(regions) == 16
    assert all(start % SMALL_BYTES == 0 and size >= SMALL_BYTES for _, start, size in regions)
    for (descriptor, start, size), (following, begin, _) in pairwise(regions):
        assert following != descriptor or begin == start + size
    for one in workers:
        assert (one.engine, one.pattern, one.depth, one.block_bytes) == (
            Engine.THREADS, Pattern.SHUFFLED, 1, SMALL_BYTES,
        )  # fmt: skip
        assert (one.read_percent, one.error_limit, one.huge_pages) == (100, 1, False)
    words = [each.activity for each in emissions if isinstance(each, Progress) and each.activity]
    assert words[1:] == [f"reading {plural(found.files, 'old file')} of 4 MiB, 2.5 s"]
    assert SECRET not in repr(emissions)
    for descriptor in {one.descriptor for one in workers}:
        with pytest.raises(OSError, match="Bad file"):
            os.fstat(descriptor)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (point(requests=0), "no read completed within 2.5 s"),
        (point(charged=939), "only 94 % of the reads were direct"),
        (OSError(errno.EIO, "Input/output error", f"/{SECRET}"), "EIO (Input/output error)"),
        (point(charged=940), ""),
    ],
)
def test_a_read_that_shows_nothing_is_a_gap_with_its_reason(
    result: object, expected: str, folder: Path, prepared: Callable[[Path], TargetSetup],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    write(folder / SECRET)
    monkeypatch.setattr(cold_read, "measure", measured([], [result]))

    emissions, found = read(prepared(folder))

    assert (found is None) == bool(expected)
    if expected:
        assert reason(emissions).startswith(f"not measured: {expected}")
    assert SECRET not in repr(emissions)


def test_files_without_data_too_few_and_changed_ones_are_gaps(
    folder: Path, prepared: Callable[[Path], TargetSetup], monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = prepared(folder)
    assert reason(read(setup)[0]).startswith("not measured: found 0 B in files")

    file = folder / SECRET
    file.write_bytes(bytes(MIB))
    with file.open("rb") as zeros:
        os.fsync(zeros.fileno())
    monkeypatch.setattr(cold_read, "measure", measured([], [point()]))
    assert reason(read(setup)[0]) == "not measured: 100 % of the blocks hold only zero bytes"

    write(file)
    search = vars(cold_read)["_old_data"]

    def twice(*told: Any) -> cold_read.OldData:
        found: cold_read.OldData = search(*told)
        return replace(found, files=(*found.files, *found.files))

    monkeypatch.setattr(cold_read, "_old_data", twice)
    old = iter((True, False))
    monkeypatch.setattr(cold_read, "_is_old", lambda _: next(old))
    assert reason(read(setup)[0]) == "not measured: a file was written meanwhile", "one of two"


def test_a_named_file_needs_age_and_size(
    folder: Path, prepared: Callable[[Path], TargetSetup], monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = prepared(write(folder / SECRET, 16))
    workers: list[Worker] = []
    monkeypatch.setattr(cold_read, "measure", measured(workers, [point()]))

    assert read(setup)[1] is not None
    assert {one.descriptor for one in workers} == {setup.target.descriptor}
    monkeypatch.setattr(cold_read, "OLD_SECONDS", 86400)
    assert "found 0 B" in reason(read(setup)[0])
    monkeypatch.setattr(cold_read, "OLD_SECONDS", -1e6)
    monkeypatch.setattr(cold_read, "LEAST_BYTES", 32 * MIB)
    assert "found 16 MiB in files " in reason(read(setup)[0])


@pytest.mark.parametrize(
    ("alignment", "taken"), [(None, True), ((512, 4096), True), ((0, 0), False), ((4, 65536), False)]
)
def test_a_file_that_takes_no_direct_reads_of_8_kib_is_not_taken(
    alignment: tuple[int, int] | None, taken: bool, folder: Path, all_old: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(folder / "base" / "data.dbf")
    monkeypatch.setattr(cold_read.binding, "alignment", lambda _: alignment)

    assert found_in(folder) == ((dict.fromkeys(inodes(path), 640), MIB) if taken else ({}, 0))


@pytest.mark.parametrize(("size", "enough"), [(4 << 30, True), ((4 << 30) - 1, False)])
def test_less_than_4_gib_may_have_stayed_in_a_cache(size: int, enough: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cold_read, "_old_data", lambda *_: cold_read.OldData((), size))
    monkeypatch.setattr(cold_read, "_workers", lambda *_: iter(()))
    monkeypatch.setattr(cold_read, "measure", measured([], [SizeupError("so far")]))
    setup = SimpleNamespace(
        target=SimpleNamespace(path="/u01", kind=None), call_with_timeout=lambda _doing, function, *_: function()
    )
    found = list(cold_read.cold_read(cast("TargetSetup", setup), 4, HandContext(), CounterSource(0)))

    assert ("so far" in reason(found)) is enough


def test_a_search_ends_within_a_folder_of_many_files(folder: Path, all_old: None) -> None:
    for number in range(20):
        write(folder / "base" / str(number))
    asked = count()
    where = str(folder.resolve())
    search = cold_read._Search(folder.stat().st_dev, lambda: next(asked) >= 8)
    search.look_around(where, where)

    assert 0 < len(search.best) < 10


def test_a_canceled_run_ends_in_the_search(folder: Path, prepared: Callable[[Path], TargetSetup]) -> None:
    setup = prepared(folder)
    cast("HandContext", setup._context).cancel()
    with suppress(CanceledError):  # the search may have ended before anybody looked
        assert read(setup)[1] is None


@pytest.mark.ci
@pytest.mark.usefixtures("prepared")
def test_a_run_reads_existing_data_and_leaves_no_trace_of_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(folder / SECRET, 64)
    content = file.read_bytes()
    os.utime(file, (1e9, 1e9))
    chosen = step(folder, preset="survey", cold_read=True, search=3.0, confirm=0.0)
    monkeypatch.setattr(cold_read, "LEAST_BYTES", 64 * MIB)

    for _ in range(5):  # all may be read before the first sample, on a busy host
        emissions = list(run(chosen))
        found = [each for each in emissions if isinstance(each, Estimate) and each.at.get("workload") == "cold-read"]
        if found:
            break

    (estimate,) = found
    assert estimate.series == "iops"
    assert 0 < estimate.value <= float(estimate.extra["all_iops"])
    assert 0 < int(estimate.extra["reads"]) <= 64 * MIB // SMALL_BYTES, "each block once"
    assert (estimate.extra["files"], estimate.extra["sampled_bytes"]) == (1, 64 * MIB)
    assert {str(each.at["workload"]) for each in emissions if isinstance(each, Estimate) and each.series == "iops"} == {
        "oltp-read", "oltp-7030", "dss-rand", "cold-read",
    }  # fmt: skip
    assert SECRET not in repr(emissions)
    assert (file.stat().st_atime, file.stat().st_mtime) == (1e9, 1e9)
    assert file.read_bytes() == content


def test_a_plan_says_what_is_read_and_how_to_leave_it_out(tmp_path: Path) -> None:
    assert "read at random for 2.5 s" in step(tmp_path, cold_read=True).touches
    assert "cold_read=false" in step(tmp_path, cold_read=True).touches
    assert "read at random" not in step(tmp_path).touches
