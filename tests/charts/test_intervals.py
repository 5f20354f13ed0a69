"""Intervals of charts in character cells."""

import re

import pytest

from sizeup.charts.cells import draw
from sizeup.charts.chart import Axis, Bar, BarChart, ChartPoint, Line, LineChart, Scale
from sizeup.charts.drawing import Glyphs


def test_an_interval_reaches_no_farther_than_values_can() -> None:
    points = (ChartPoint(1.0, 5.0, -4.0, 14.0), ChartPoint(2.0, 8.0))
    chart = LineChart("t", Axis("Out", "1"), Axis("Rate", "1/s"), (Line("a", points),))

    assert "-" not in "".join(
        line.partition("|")[0] for line in draw(chart, 40, 14, Glyphs.ASCII).text().splitlines()[2:9]
    )


WIDE = (ChartPoint(1.0, 10.0), ChartPoint(2.0, 20.0, -60.0, 100.0), ChartPoint(3.0, 22.0, 20.0, 24.0))
"""The interval of the second is four times as wide as its value."""


@pytest.mark.parametrize(
    ("scale", "highest"), [(Scale.LINEAR, "30"), (Scale.LOG10, "20")], ids=["linear", "logarithmic"]
)
@pytest.mark.parametrize(
    ("glyphs", "above", "below"), [(Glyphs.ASCII, "^", "v"), (Glyphs.BLOCK, "↑", "↓"), (Glyphs.BRAILLE, "↑", "↓")]
)
def test_a_wide_interval_is_cut_with_a_mark_and_leaves_the_axis_to_the_values(
    glyphs: Glyphs, above: str, below: str, scale: Scale, highest: str
) -> None:
    chart = LineChart("t", Axis("Out", "1"), Axis("Time", "ns", scale), (Line("a", WIDE),))
    lines = draw(chart, 40, 20, glyphs).text().splitlines()
    labels = [found.group(1) for line in lines if (found := re.match(r" *(\d+) [┄·.]", line))]
    axis = len(lines) - 2

    assert labels[0] == highest
    assert [sum(line.count(mark) for line in lines) for mark in (above, below)] == [1, 1]
    if scale is Scale.LINEAR:
        assert [lines[2].count(above), lines[axis - 1].count(below)] == [1, 1]


@pytest.mark.parametrize("glyphs", list(Glyphs))
def test_on_a_logarithmic_axis_a_wide_interval_does_not_cross_a_line_far_from_it(glyphs: Glyphs) -> None:
    high = (ChartPoint(1.0, 1e4), ChartPoint(2.0, 4e4, 1.0, 9e9), ChartPoint(3.0, 9e4))
    low = tuple(ChartPoint(x, 100.0) for x in (1.0, 2.0, 3.0))
    axis = Axis("IOPS", "1/s", Scale.LOG10)
    chart = LineChart("t", Axis("Out", "1"), axis, (Line("small", high), Line("large", low)))
    drawing = draw(chart, 60, 30, glyphs)

    column = next(row.index(mark) for row in drawing.rows for mark in "^↑" if mark in row)
    rows = [y for y, roles in enumerate(drawing.roles) if roles[column] in ("series-0", "interval")]
    cut = [y for y in rows if drawing.rows[y][column] in "^v↑↓"]
    assert 2 <= len(rows) <= 9
    assert cut == [rows[0], rows[-1]]
    # The value stands out of what is not certain of it.
    assert {drawing.roles[y][column] for y in cut} == {"interval"}
    assert "series-0" in {drawing.roles[y][column] for y in rows}


@pytest.mark.parametrize(("glyphs", "beyond"), [(Glyphs.ASCII, ">"), (Glyphs.BRAILLE, "→")])
def test_a_wide_interval_of_a_bar_is_cut_with_a_mark(glyphs: Glyphs, beyond: str) -> None:
    bars = (Bar("a", 10.0, -30.0, 50.0), Bar("b", 12.0, 11.0, 13.0))
    lines = draw(BarChart("t", Axis("Time", "ns"), bars), 60, 4, glyphs).text().splitlines()

    assert [line.count(beyond) for line in lines[1:3]] == [1, 0]
    assert lines[1].index(beyond) < lines[1].index("10 ns")
    assert len(lines[2].split()[1]) > 25  # the longest bar has most of the axis
