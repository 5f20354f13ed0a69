"""Latency in character cells: over time, and as a histogram."""

from itertools import pairwise

import pytest

from sizeup.charts.cells import cursor_positions, draw, key_at
from sizeup.charts.chart import Axis, Bar, BarChart, Scale
from sizeup.charts.drawing import GROUND, Drawing, Glyphs
from sizeup.charts.latency_cells import Histogram, LatencySlice, Picture, Timeline

SECOND = 1e9


def timeline(slices: int, end: float = 20.0, marks: tuple[tuple[float, str], ...] = ()) -> Timeline:
    """Slices of 0.2 s: half of the requests at 1 ms, the slowest at 8 ms."""
    found = tuple(LatencySlice(number * 0.2 * SECOND, (1e6, 2e6, 4e6, 8e6)) for number in range(slices))
    rates = tuple((piece.t_ns, 1000.0) for piece in found)
    return Timeline(end * SECOND, found, Axis("IOPS", "1/s"), rates, "QD", marks)


def levels(drawing: Drawing, column: int) -> list[int]:
    """The levels of the halves of the cells of a column from the bottom."""
    found = []
    for y in reversed(range(drawing.height)):
        role, cell = drawing.roles[y][column], drawing.rows[y][column]
        front, _, back = role.partition(GROUND)
        if front.startswith("ramp-") and cell in " ▀▄█":
            upper, lower = int(front[5:]), int(back[5:]) if back else 0
            found += [lower, upper] if cell in " ▀" else [upper, 0]
    return found


def test_a_cell_of_one_level_is_a_blank_which_takes_a_third_of_the_bytes() -> None:
    drawing = draw(timeline(50), 60, 60, Glyphs.BRAILLE)
    pairs = [pair for row in zip(drawing.rows, drawing.roles, strict=True) for pair in zip(*row, strict=True)]
    alike = {cell for cell, role in pairs if GROUND in role and len(set(role.split(GROUND))) == 1}

    assert alike == {" "}


def test_a_wide_heat_map_joins_columns_to_square_cells_of_one_level() -> None:
    found = tuple(LatencySlice(at * 0.1 * SECOND, (1e6 * (1 + at % 9), 2e7, 4e7, 8e7)) for at in range(200))
    drawing = draw(Timeline(20 * SECOND, found), 140, 30, Glyphs.BRAILLE)
    changes = [sum(one != other for one, other in pairwise(roles)) for roles in drawing.roles]

    assert max(changes) <= 80
    assert not {"▀", "▄"} & set(drawing.text())


def test_a_run_fills_its_time_from_the_left_and_never_moves() -> None:
    half, more = (draw(timeline(count), 80, 24, Glyphs.BRAILLE) for count in (40, 45))

    filled = [
        max(x for y in range(24) for x in range(80) if drawing.roles[y][x].startswith("ramp-"))
        for drawing in (half, more)
    ]
    assert 28 < filled[0] < filled[1] < 60
    same = [y for y in range(24) if half.rows[y][: filled[0]] == more.rows[y][: filled[0]]]
    assert len(same) == 24
    assert half.rows[-1] == more.rows[-1]
    assert "20 s" in more.text()


def test_the_half_of_the_requests_is_brighter_than_the_tail() -> None:
    drawing = draw(timeline(100), 80, 30, Glyphs.BRAILLE)

    found = [level for level in levels(drawing, 30) if level]
    heat = found[: found.index(1) + 1]
    assert heat[0] == max(heat) >= 4
    assert heat[-1] == 1


def test_p99_is_drawn_over_it_with_its_newest_value() -> None:
    drawing = draw(timeline(40), 80, 30, Glyphs.BRAILLE)

    assert sum(row.count("━") for row in drawing.rows) > 20
    assert "last p99 4 ms" in drawing.text()


def test_each_load_is_named_where_it_began() -> None:
    marked = draw(timeline(40, marks=((0.0, "1"), (2 * SECOND, "2"), (6 * SECOND, "4"))), 80, 30, Glyphs.BRAILLE)
    alone = draw(timeline(40, marks=((0.0, "1"),)), 80, 30, Glyphs.BRAILLE)

    assert "".join(marked.rows[0]).split() == ["QD", "1", "2", "4"]
    assert "QD" not in alone.text()


HISTOGRAM = Histogram(
    Axis("Latency", "ns"),
    tuple((1e5 * 1.045**number, 1000 // (1 + abs(number - 20))) for number in range(90)),
    1.045,
    (("p50", 2.4e5), ("p99", 1e6)),
)


def test_a_histogram_has_no_gap_where_buckets_follow_each_other_and_names_its_percentiles() -> None:
    drawing = draw(HISTOGRAM, 70, 20, Glyphs.BRAILLE)

    bottom = "".join(drawing.rows[-3]).strip()
    assert " " not in bottom
    assert len(bottom) > 60
    assert "".join(drawing.rows[0]).split() == ["p50", "p99"]
    assert "1 ms" in drawing.text()


def test_the_highest_bar_of_a_histogram_is_that_of_the_most_counts() -> None:
    drawing = draw(HISTOGRAM, 70, 20, Glyphs.BRAILLE)

    heights = [sum(drawing.roles[y][x].startswith("ramp-") for y in range(20)) for x in range(70)]
    largest = max(HISTOGRAM.counts, key=lambda pair: pair[1])[0]
    share = (heights.index(max(heights)) - 1) / 68
    assert abs(1e5 * (1.045**90) ** share / largest - 1) < 0.3


def test_bars_apart_fill_the_room() -> None:
    bars = tuple(Bar(f"p{number}", 10.0**number) for number in range(1, 6))
    axis = Axis("Latency", "ns", Scale.LOG10, 1.0)

    apart, close = (draw(BarChart("", axis, bars, apart=rows), 60, 17, Glyphs.BRAILLE) for rows in (5, 1))
    assert [[y for y in range(17) if drawing.rows[y][0] == "p"] for drawing in (apart, close)] == [
        [1, 4, 7, 10, 13],
        [1, 2, 3, 4, 5],
    ]


@pytest.mark.parametrize("glyphs", Glyphs)
@pytest.mark.parametrize(
    "size", [(1, 1), (24, 7), (300, 100), *(pytest.param(size, marks=pytest.mark.ci) for size in ((10, 3), (80, 20)))]
)
@pytest.mark.parametrize(
    "picture",
    [
        timeline(40),
        Timeline(SECOND, ()),
        HISTOGRAM,
        Histogram(Axis("x", "ns"), ()),
        Histogram(Axis("x", "ns"), ((0.0, 1),)),
    ],
    ids=lambda picture: type(picture).__name__,
)
def test_any_picture_fits_any_size(picture: Picture, size: tuple[int, int], glyphs: Glyphs) -> None:
    drawing = draw(picture, *size, glyphs)

    assert {len(row) for row in drawing.rows} == {size[0]}
    assert cursor_positions(picture) == 0
    assert key_at(picture, 0) is None
