"""Each preset is what its name has always meant."""

import pytest

from sizeup_direct_io.measure import stream_coordinates
from sizeup_direct_io.presets import Durable, Stream, Sweep, sweeps, with_target_size
from sizeup_direct_io.worker import Pattern

CUSTOM = Stream("custom", 16384, Pattern.SEQUENTIAL, read_percent=30, durable=Durable.DSYNC, rate=100.0)


def of(preset: str, depth: int = 0, pages: str = "both") -> tuple[Sweep, ...]:
    return sweeps(preset, depth=depth, pages=pages, custom=CUSTOM)


def test_small_reads_rise_by_doublings_up_to_256() -> None:
    (sweep,) = of("oltp-read")

    assert [point.at["queue_depth"] for point in sweep.points] == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert {(stream.block_bytes, stream.read_percent) for point in sweep.points for stream, _ in point.loads} == {
        (8192, 100)
    }


@pytest.mark.parametrize(
    ("preset", "depths"),
    [
        ("oltp-read", [[1, 4, 16, 64]]),
        ("dss-rand", [[1, 4, 16, 64]]),
        ("dss-scan", [[4, 16, 64]]),
        ("simple", [[1, 8, 64], [1, 8, 64]]),
        ("load", [[1, 4]]),
    ],
)
def test_with_little_time_there_are_fewer_depths(preset: str, depths: list[list[int]]) -> None:
    coarse = sweeps(preset, depth=0, pages="huge", coarse=True)

    assert [[point.at["queue_depth"] for point in sweep.points] for sweep in coarse] == depths


@pytest.mark.parametrize("preset", ["redo", "normal"])
def test_with_little_time_there_are_some_of_the_points(preset: str) -> None:
    (whole,), (coarse,) = of(preset), sweeps(preset, depth=0, pages="huge", coarse=True)

    few, all_of_them = [dict(point.at) for point in coarse.points], [dict(point.at) for point in whole.points]
    assert len(few) in {4, 5}
    assert [point for point in few if point not in all_of_them] == []


def test_a_depth_caps_the_rise() -> None:
    assert [point.at["queue_depth"] for point in of("oltp-7030", depth=5)[0].points] == [1, 2, 4]


def test_large_reads_stand_side_by_side_on_both_page_sizes() -> None:
    (sweep,) = of("dss-rand", depth=2)

    assert [(point.at["queue_depth"], point.at["pages"]) for point in sweep.points] == [
        (1, "huge"),
        (1, "4k"),
        (2, "huge"),
        (2, "4k"),
    ]
    assert all(point.huge_pages == (point.at["pages"] == "huge") for point in sweep.points)


def test_a_scan_keeps_four_requests_out_for_each_stream() -> None:
    (sweep,) = of("dss-scan", depth=8, pages="huge")

    assert [(point.at["queue_depth"], point.loads[0][1]) for point in sweep.points] == [(4, 1), (8, 2)]


def test_the_matrix_has_every_mix_but_the_empty_one() -> None:
    (sweep,) = of("normal")

    assert len(sweep.points) == 24
    assert not sweep.rising
    assert all(point.loads for point in sweep.points)
    # A stream alone in its mix is named as well, or its cell would be missing from the stream's matrix.
    assert {
        stream_coordinates(point.at, stream.name, len(point.loads))["stream"]
        for point in sweep.points
        for stream, _ in point.loads
    } == {"small", "large"}


def test_working_sets_double_from_a_sixteenth_to_all_of_the_target() -> None:
    (sweep,) = of("working-set")

    assert [point.share for point in sweep.points] == [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1]
    assert dict(with_target_size(sweep.points[0], 1 << 30).at) == {
        "workload": "working-set",
        "queue_depth": 16,
        "working_set_bytes": 1 << 26,
    }
    assert not sweep.rising


@pytest.mark.parametrize(("depth", "count"), [(0, 32), (5, 5)])
def test_the_search_for_a_cliff_writes_at_random_at_one_depth(depth: int, count: int) -> None:
    (sweep,) = of("sustained", depth=depth)

    assert [dict(point.at) for point in sweep.points] == [{"workload": "sustained", "queue_depth": count}]
    assert sweep.points[0].loads == ((Stream("small", 8192, Pattern.RANDOM, read_percent=0), count),)
    assert not sweep.rising


def test_the_log_is_written_in_order_and_durably_in_every_size() -> None:
    (sweep,) = of("redo")

    assert [point.at["block_bytes"] for point in sweep.points] == [512 << shift for shift in range(9)]
    assert {
        (stream.durable, stream.pattern, stream.read_percent) for point in sweep.points for stream, _ in point.loads
    } == {(Durable.DSYNC, Pattern.SEQUENTIAL, 0)}


def test_the_log_under_load_is_paced_and_compared_with_itself_alone() -> None:
    (sweep,) = of("redo+oltp")

    assert [tuple(stream.name for stream, _ in point.loads) for point in sweep.points] == [("log",), ("log", "small")]
    assert all(point.loads[0][0].rate > 0 for point in sweep.points)


def test_custom_is_what_was_asked_for() -> None:
    ((point,),) = [sweep.points for sweep in of("custom", depth=3)]
    ((stream, count),) = point.loads

    assert (stream.block_bytes, stream.pattern, stream.read_percent, stream.durable, stream.rate, count) == (
        16384,
        Pattern.SEQUENTIAL,
        30,
        Durable.DSYNC,
        100.0,
        3,
    )
    assert point.at["workload"] == "sequential 30/70 16 KiB"


@pytest.mark.parametrize(
    ("preset", "writes", "extends"),
    [
        ("oltp-read", False, False),
        ("oltp-7030", True, False),
        ("redo", True, False),
        ("load", True, True),
        ("fsync", True, False),
        ("sustained", True, False),
        ("normal", False, False),
    ],
)
def test_what_writes_and_what_grows_is_known_beforehand(preset: str, writes: bool, extends: bool) -> None:
    assert [
        (sweep.writes, any(stream.extends for point in sweep.points for stream, _ in point.loads))
        for sweep in of(preset)
    ] == [(writes, extends)]
