"""A submitting thread whose CPU is full limits the figure, whatever all other CPUs do."""

import pytest

from sizeup.procfs.stat import HostStat, parse_cpu_stats
from sizeup_direct_io.binding import WorkerUsage
from sizeup_direct_io.measure import busiest_share
from sizeup_direct_io.validity import Validity, check_submitters

SECOND = 1_000_000_000
STAT = """cpu  900 0 100 24000 0 50 50 0 0 0
cpu0 100 0 50 800 10 20 20 5 0 0
cpu17 7 1 2 3 4 5 6 8 0 0
intr 5 1
"""


def used(share: float, *, cpu: int = 0) -> tuple[WorkerUsage, WorkerUsage]:
    """Return a thread's use at the ends of a window of 10 s."""
    return WorkerUsage(SECOND, 5, cpu), WorkerUsage(11 * SECOND, 5 + round(share * 10 * SECOND), cpu)


def ticks(*, own: int, interrupts: int, idle: int, stolen: int = 0) -> HostStat:
    return HostStat(own, 0, 0, idle, 0, 0, interrupts, stolen)


NONE = ticks(own=0, interrupts=0, idle=0)


def test_one_full_thread_among_many_idle_ones_is_found() -> None:
    before, after = zip(*[used(0.02)] * 255, used(0.99), strict=True)

    share = busiest_share(before, after, {}, {})

    assert share == pytest.approx(0.99)
    part = check_submitters(share, 256)
    assert part.verdict is Validity.WARN
    assert tuple(caveat.text for caveat in part.caveats) == (
        "the submitting CPU was 99 % busy: the figure is a lower limit of the device; increase threads",
    )


@pytest.mark.parametrize(("share", "verdict"), [(0.94, Validity.PASS), (0.95, Validity.WARN)])
def test_a_cpu_is_full_from_nineteen_twentieths_on(share: float, verdict: Validity) -> None:
    assert check_submitters(share, 1).verdict is verdict


def test_threads_that_share_the_work_are_not_added_up() -> None:
    before, after = zip(*[used(0.6)] * 8, strict=True)

    part = check_submitters(busiest_share(before, after, {}, {}), 8)

    assert (part.verdict, part.reasons) == (
        Validity.PASS,
        ("the CPU of the busiest of 8 submitting threads was 60 % busy",),
    )


def test_interrupts_on_the_cpu_of_the_thread_count() -> None:
    before, after = used(0.7, cpu=3)
    later = ticks(own=700, interrupts=290, idle=10)

    assert busiest_share([before], [after], {3: NONE}, {3: later}) == pytest.approx(0.99)
    moved = WorkerUsage(after.time_ns, after.cpu_ns, 4)
    assert busiest_share([before], [moved], {3: NONE, 4: NONE}, {3: later, 4: later}) == pytest.approx(0.7)


def test_a_cpu_that_others_fill_is_not_that_of_an_idle_thread() -> None:
    before, after = used(0.1, cpu=3)

    assert busiest_share([before], [after], {3: NONE}, {3: ticks(own=1000, interrupts=0, idle=0)}) == pytest.approx(0.1)


def test_stolen_time_is_not_work() -> None:
    before, after = used(0.5, cpu=3)
    earlier, later = ticks(own=100, interrupts=0, idle=50), ticks(own=600, interrupts=0, idle=150, stolen=400)

    assert busiest_share([before], [after], {3: earlier}, {3: later}) == pytest.approx(500 / 600)


def test_what_was_not_published_is_unknown() -> None:
    unpublished = WorkerUsage(0, 0, -1)

    assert busiest_share([unpublished], [used(0.5)[1]], {}, {}) is None
    assert busiest_share([used(0.5)[1]], [used(0.5)[1]], {}, {}) is None
    assert busiest_share([used(1.01)[0]], [used(1.01)[1]], {}, {}) == 1.0
    part = check_submitters(None, 1)
    assert part.verdict is Validity.UNKNOWN
    assert "too short" in part.reasons[0]


def test_the_cpus_of_proc_stat_are_told_apart() -> None:
    assert parse_cpu_stats(STAT) == {0: HostStat(100, 0, 50, 800, 10, 20, 20, 5), 17: HostStat(7, 1, 2, 3, 4, 5, 6, 8)}
    assert parse_cpu_stats("cpu0 1 2 3\n") == {}
