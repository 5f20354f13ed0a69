"""Charts in character cells."""

import math
from itertools import pairwise

import pytest
from msgspec.structs import replace

from sizeup.charts.cells import cursor_positions, draw, key_at
from sizeup.charts.chart import (
    RANGE,
    Axis,
    Bar,
    BarChart,
    Boundary,
    Callout,
    ChartPoint,
    DemandLine,
    HeatMap,
    Line,
    LineChart,
    Scale,
)
from sizeup.charts.drawing import GROUND, Drawing, Glyphs
from sizeup.charts.line_cells import EARLIER, line_readout

CURVE = LineChart(
    "Latency",
    Axis("Working set", "bytes", Scale.LOG2),
    Axis("Time", "ns", Scale.LOG10),
    (
        Line(
            "small pages",
            tuple(ChartPoint(2.0**k, 2.0 ** (k - 14), 2.0 ** (k - 14), 2.0 ** (k - 13)) for k in range(14, 21)),
        ),
        Line("huge pages", tuple(ChartPoint(2.0**k, 1.5, disturbed=k == 17) for k in range(14, 21))),
    ),
    (Boundary(2.0**17, "L1 128 KiB"), Boundary(2.0**30, "outside")),
)


def test_a_curve_in_ascii_says_all_without_color() -> None:
    lines = draw(CURVE, 40, 12, Glyphs.ASCII).text().splitlines()

    assert lines == [
        "o small pages  x huge pages  ! disturbed",
        "Time (ns)",
        "100 ................:L1 128 KiB......|",
        "                    :           |  **o",
        "                    :     |  ***o**",
        "                    |   **o**",
        " 10 ...........|..**o***..............",
        "          |  **o**  :",
        "    x*****x****x****!*****x*****x****x",
        "  1 o**.............:.................",
        " 16 KiB     64 KiB     256 KiB     1 MiB",
        "               Working set",
    ]


def test_an_axis_whose_end_is_stated_has_several_values_on_a_low_screen() -> None:
    chart = replace(CURVE, y=Axis("IOPS", "1/s", low=0.0, high=50.0), boundaries=())
    lines = draw(chart, 76, 10, Glyphs.BRAILLE).text().splitlines()

    assert [line.split()[0] for line in lines if "┄┄" in line][:2] == ["40", "20"]


def test_a_spread_of_any_size_is_drawn_off_the_plot() -> None:
    points = (ChartPoint(1.0, 1.0), ChartPoint(2.0, 2.0, -1.7e308, 1.7e308), ChartPoint(3.0, 4.0))
    chart = LineChart("Latency", Axis("Out", "1"), Axis("Time", "ns", low=0.0, high=4.0), (Line("one", points),))

    assert "Time" in draw(chart, 40, 12, Glyphs.ASCII).text()


def test_axes_carry_titles_ticks_and_units() -> None:
    text = draw(CURVE, 80, 20, Glyphs.BRAILLE).text()

    for words in ("Time (ns)", "Working set", "64 KiB", "1 MiB", "L1 128 KiB", "● small pages", "▲ huge pages", "×"):
        assert words in text
    assert "outside" not in text


def test_a_readout_names_every_line_with_its_interval() -> None:
    assert line_readout(CURVE, 1) == "32 KiB: small pages 2 ns (2 to 4), huge pages 1.5 ns"
    assert line_readout(CURVE, 3).endswith("huge pages 1.5 ns disturbed")
    assert cursor_positions(CURVE) == 7


def test_a_heat_map_prints_its_values_and_scrolls_to_the_cursor() -> None:
    nodes = tuple(map(str, range(32)))
    values = tuple(tuple(80.0 + abs(row - column) for column in range(32)) for row in range(32))
    chart = HeatMap("NUMA latency", "CPU node", "memory node", nodes, nodes, values, "ns")

    start, end = draw(chart, 80, 20, Glyphs.ASCII), draw(chart, 80, 20, Glyphs.ASCII, cursor=32 * 32 - 1)

    assert "CPU node down, memory node across, in ns" in start.text()
    assert start.text().splitlines()[3].split()[:4] == ["0", "80", "81", "82"]
    assert start.text().splitlines()[-1] == "16 of 32 rows, 19 of 32 columns shown"
    assert end.text().splitlines()[-1] == "CPU node 31, memory node 31: 80 ns"


def test_sixteen_nodes_fit_in_eighty_columns() -> None:
    nodes = tuple(map(str, range(16)))
    values = tuple(tuple(80.0 + 5 * abs(row - column) for column in range(16)) for row in range(16))

    lines = draw(HeatMap("t", "from", "to", nodes, nodes, values, "ns"), 80, 20, Glyphs.ASCII).text().splitlines()

    assert lines[2].split() == list(nodes)
    assert [line.split()[0] for line in lines[3:]] == list(nodes)


def test_bars_show_value_unit_and_interval() -> None:
    chart = BarChart("Clock", Axis("Cost", "ns"), (Bar("rdtsc", 8.0), Bar("gettimeofday", 25.0, 20.0, 30.0)))

    assert draw(chart, 50, 4, Glyphs.ASCII).text().splitlines() == [
        "Clock: Cost",
        "rdtsc        ########......................   8 ns",
        "gettimeofday ####################|---------| 25 ns",
    ]


@pytest.mark.parametrize("glyphs", Glyphs)
@pytest.mark.parametrize(
    "size", [(1, 1), (24, 7), (300, 100), *(pytest.param(size, marks=pytest.mark.ci) for size in ((10, 3), (80, 20)))]
)
@pytest.mark.parametrize(
    "chart",
    [
        CURVE,
        LineChart("empty", Axis("x", "bytes", Scale.LOG2), Axis("y", "ns"), ()),
        LineChart(
            "zeros", Axis("x", "1"), Axis("y", "ns", Scale.LOG10), (Line("z", (ChartPoint(0, 0), ChartPoint(0, 0))),)
        ),
        BarChart("empty", Axis("x", "ns"), ()),
        BarChart("zero", Axis("x", "ns"), (Bar("a", 0.0),)),
        HeatMap("empty", "a", "b", (), (), (), "ns"),
        HeatMap("hole", "a", "b", ("0",), ("0",), ((None,),), "ns"),
    ],
    ids=lambda chart: f"{type(chart).__name__}-{chart.title}",
)
def test_any_chart_fits_any_size(chart: LineChart | BarChart | HeatMap, size: tuple[int, int], glyphs: Glyphs) -> None:
    drawing = draw(chart, *size, glyphs, cursor=0 if cursor_positions(chart) else None)

    assert len(drawing.rows) == size[1]
    assert {len(row) for row in drawing.rows} == {size[0]}


def test_only_rows_that_differ_are_reported_as_changed() -> None:
    first = draw(CURVE, 64, 16, Glyphs.ASCII)
    second = draw(CURVE, 64, 16, Glyphs.ASCII)
    assert second.changed_rows(first) == []

    second.put(5, 3, "AB", "text")
    second.put(40, 3, "C", "text")

    assert second.changed_rows(first) == [3]


@pytest.mark.parametrize(("glyphs", "powers"), [(Glyphs.BRAILLE, (12, 16, 20, 25)), (Glyphs.ASCII, (20, 22, 24))])
def test_every_boundary_is_named_over_a_high_curve_and_without_room(glyphs: Glyphs, powers: tuple[int, ...]) -> None:
    high = tuple(ChartPoint(2.0**k, 90.0) for k in range(10, 31))
    bounds = tuple(Boundary(2.0**k, f"some level {k}") for k in powers)
    chart = LineChart("t", Axis("x", "bytes", Scale.LOG2), Axis("y", "ns", high=100.0), (Line("a", high),), bounds)

    text = draw(chart, 60, 16, glyphs).text()

    assert all(boundary.label in text for boundary in bounds)


def test_the_load_of_a_point_stands_beside_it() -> None:
    points = (ChartPoint(1e3, 1e3, label="1"), ChartPoint(2e3, 1.1e3, label="2"), ChartPoint(2.1e3, 4e3, label="64"))
    chart = LineChart("t", Axis("Rate", "1/s"), Axis("Latency", "ns"), (Line("median", points),))

    lines = draw(chart, 60, 16, Glyphs.ASCII).text().splitlines()

    assert [label for label in ("1", "2", "64") if any(f"o {label}" in line or f" {label} " in line for line in lines)]
    assert line_readout(chart, 2) == "2.1 k/s: median 4 us at 64"


def test_the_title_of_bars_does_not_repeat_its_axis() -> None:
    chart = BarChart("Clock: Cost", Axis("Cost", "ns", Scale.LOG10), (Bar("a", 10.0), Bar("b", 90.0)))

    assert draw(chart, 60, 6, Glyphs.ASCII).text().splitlines()[0] == "Clock: Cost, logarithmic"


def test_verdicts_are_printed_as_words() -> None:
    chart = HeatMap("Validity", "Place", "part", ("the whole step",), ("direct", "steady"), ((1.0, 0.5),), "verdict")

    lines = draw(chart, 60, 8, Glyphs.ASCII).text().splitlines()

    assert lines[0] == "Validity"
    assert lines[3].split()[-2:] == ["pass", "warn"]


def test_no_number_stands_on_an_axis_without_values() -> None:
    text = draw(LineChart("t", Axis("x", "1"), Axis("y", "ns"), ()), 60, 12, Glyphs.ASCII).text()

    assert not any(character.isdigit() for line in text.splitlines()[2:9] for character in line)


def test_names_of_bars_that_begin_alike_stay_apart_where_they_are_cut() -> None:
    names = ("clock_gettime-monotonic-raw", "clock_gettime-monotonic-coarse")
    chart = BarChart("Cost", Axis("Cost", "ns"), tuple(Bar(name, 5.0) for name in names))

    first, second = draw(chart, 48, 4, Glyphs.ASCII).text().splitlines()[1:3]

    assert first.split()[0].endswith("raw")
    assert second.split()[0].endswith("coarse")


def test_every_line_is_named_in_as_many_rows_as_that_takes() -> None:
    names = ("mean", "median", "90th percentile", "99th percentile", "99.9th percentile")
    lines = tuple(
        Line(name, (ChartPoint(1.0, 1.0 + number), ChartPoint(2.0, 3.0))) for number, name in enumerate(names)
    )
    chart = LineChart("Step", Axis("Out", "1"), Axis("Latency", "ns"), lines)

    assert all(name in draw(chart, 48, 18, Glyphs.ASCII).text() for name in names)
    assert "+2 more" in draw(chart, 48, 12, Glyphs.ASCII).text()


def test_what_the_numbers_at_points_mean_is_said() -> None:
    points = (ChartPoint(1e3, 1e3, label="1"), ChartPoint(2e3, 2e3, label="64"))
    chart = LineChart("t", Axis("Rate", "1/s"), Axis("Wait", "ns"), (Line("median", points),), labels="queue depth")

    assert "1 to 64: queue depth" in draw(chart, 60, 16, Glyphs.ASCII).text()
    assert line_readout(chart, 1) == "2 k/s: median 2 us at 64 queue depth"


def test_of_several_lines_the_chosen_one_is_read_first_and_the_others_are_counted_where_they_do_not_fit() -> None:
    assert line_readout(CURVE, 1, None, 1) == "32 KiB: huge pages 1.5 ns, small pages 2 ns (2 to 4)"
    assert line_readout(CURVE, 1, 50, 1) == "32 KiB: huge pages 1.5 ns, +1"
    assert key_at(MATRIX, 3) == ("latency", (("from", 1), ("to", 1)))


MATRIX = HeatMap(
    "NUMA: latency, from node to node",
    "from",
    "to",
    ("0", "1"),
    ("0", "1"),
    ((80.0, 140.0), (140.0, 80.0)),
    "ns",
    keys=tuple(tuple(("latency", (("from", row), ("to", column))) for column in (0, 1)) for row in (0, 1)),
)


@pytest.mark.parametrize("height", [10, 15, 20])
def test_a_chart_without_lines_whose_title_is_too_long_is_drawn(height: int) -> None:
    chart = LineChart(f"{'a long name ' * 5}: over time", Axis("Time", "ns"), Axis("IOPS", "1/s"), ())
    text = draw(chart, 50, height, Glyphs.BRAILLE).text()

    assert "no samples yet" in text
    assert ("over time" in text) == (height >= 15)


def test_a_title_too_long_is_told_by_its_end() -> None:
    assert draw(MATRIX, 30, 8, Glyphs.ASCII).text().splitlines()[0] == "latency, from node to node"


def test_bars_that_do_not_fit_are_reached_by_the_readout() -> None:
    chart = BarChart("t", Axis("Cost", "ns"), tuple(Bar(f"way {number}", 5.0) for number in range(20)))

    assert "12 more below" in draw(chart, 40, 10, Glyphs.ASCII).text()
    assert "way 19 5 ns" in draw(chart, 40, 10, Glyphs.ASCII, cursor=19).text().splitlines()[-1]
    assert sum("way 19" in line for line in draw(chart, 40, 10, Glyphs.ASCII, cursor=19).text().splitlines()) == 2


def test_a_note_that_would_be_cut_is_told_by_its_sign() -> None:
    names = ("clock_gettime-monotonic", "clock_gettime-process")
    bars = (Bar(names[0], 15.6, note="not converged"), Bar(names[1], 165.0))
    lines = draw(BarChart("t", Axis("Cost", "ns"), bars), 44, 6, Glyphs.ASCII).text().splitlines()

    assert lines[1].endswith("15.6 ns !")
    assert lines[-1] == "! not converged"


def test_two_charts_with_long_legends_are_told_apart_by_their_titles() -> None:
    lines = tuple(
        Line(f"a long percentile {number}", (ChartPoint(1.0, 1.0), ChartPoint(2.0, 3.0))) for number in (1, 2)
    )
    for title in ("reads", "writes"):
        chart = LineChart(f"Direct I/O on /a/long/path: {title}", Axis("Out", "1"), Axis("Latency", "ns"), lines)

        assert draw(chart, 30, 18, Glyphs.ASCII).text().splitlines()[0] == title


def test_every_bar_is_drawn_where_there_are_rows_for_the_bars_alone() -> None:
    bars = tuple(Bar(name, 1e9) for name in ("need", "supply"))
    chart = BarChart("I/O", Axis("transfer rate", "bytes/s"), bars, "balanced")

    text = draw(chart, 60, 3, Glyphs.BRAILLE).text()

    assert [line.split(" ")[0] for line in text.splitlines()] == ["I/O:", "need", "supply"]
    assert "1 more below" not in text


def test_both_ends_of_a_range_are_on_the_axis() -> None:
    bars = (Bar("a", 10.0, 5.0, 100.0, RANGE), Bar("b", 12.0))
    text = draw(BarChart("t", Axis("Time", "ns"), bars), 60, 6, Glyphs.ASCII).text()

    assert ">" not in text


def test_the_cursor_reads_a_point_that_lies_outside_the_axis() -> None:
    points = (ChartPoint(1.0, 0.5), ChartPoint(2.0, 0.9), ChartPoint(1e9, 1.0))
    chart = LineChart("t", Axis("Cycle", "ns", low=1.0, high=2.0), Axis("Share", "%"), (Line("a", points),))

    lines = draw(chart, 40, 14, Glyphs.ASCII, cursor=2).text().splitlines()

    assert lines[-1].startswith("1 s: a 1")
    assert lines[:-2] == draw(chart, 40, 14, Glyphs.ASCII).text().splitlines()[:-2]


def test_a_count_that_is_read_says_what_it_counts() -> None:
    chart = LineChart("t", Axis("Queue depth", "1"), Axis("Rate", "1/s"), (Line("a", (ChartPoint(4.0, 8.0),)),))

    assert line_readout(chart, 0) == "queue depth 4: a 8 /s"


@pytest.mark.parametrize("title", ["", "Memory latency: Chase", "Chase"])
def test_the_only_line_is_named_once(title: str) -> None:
    line = Line("Chase", (ChartPoint(1.0, 1.0), ChartPoint(2.0, 90.0)))
    chart = LineChart(title, Axis("Size", "bytes"), Axis("Chase", "ns"), (line,), subject=title and "Chase")

    text = draw(chart, 60, 20, Glyphs.ASCII).text()

    assert text.splitlines()[0].rstrip() == "ns  o Chase"
    assert text.count("Chase") == 1


def test_bars_below_each_other_stay_apart() -> None:
    chart = BarChart("", Axis("", "ns"), (Bar("one", 10.0), Bar("other", 10.0)))

    assert "▇▇" in draw(chart, 40, 2, Glyphs.BRAILLE).text()
    assert "██" in draw(chart, 40, 2, Glyphs.BLOCK).text()


NODES = HeatMap("t", "cpu node", "memory node", ("0", "1"), ("0", "1"), ((90.0, 160.0), (160.0, 90.0)), "ns")


def test_the_cells_of_a_small_matrix_fill_the_room_with_digits_below_digits() -> None:
    drawing = draw(NODES, 60, 12, Glyphs.BRAILLE)
    rows = drawing.text().splitlines()

    filled = [sum(GROUND in role for role in roles) for roles in drawing.roles]
    assert filled[3:9] == [24] * 6
    assert rows[4].index("90") + 2 == rows[7].index("160") + 3 == rows[2].index("0") + 1
    assert [line.split()[0] for line in (rows[4], rows[7])] == ["0", "1"]


def test_a_matrix_without_room_keeps_small_cells() -> None:
    rows = draw(NODES, 60, 9, Glyphs.BRAILLE).text().splitlines()

    assert rows[3:5] == ["0   90 160", "1  160  90"]


@pytest.mark.parametrize("glyphs", list(Glyphs))
def test_of_two_lines_in_the_same_cells_neither_hides_the_other(glyphs: Glyphs) -> None:
    points = tuple(ChartPoint(x, 5.0) for x in (1.0, 9.0))
    chart = LineChart("t", Axis("Out", "1"), Axis("Rate", "1/s"), (Line("B", points), Line("A", points)))

    roles = draw(chart, 60, 12, glyphs).roles
    row = next(row for row in roles[2:] if sum(role.startswith("series-") for role in row) > 20)

    assert min(row.count("series-0"), row.count("series-1")) > 10


DEPTHS = tuple(ChartPoint(2.0**k, 1000.0 * k) for k in range(9))
RAMP = LineChart(
    "",
    Axis("Queue depth", "1", Scale.LOG2),
    Axis("IOPS", "1/s"),
    (Line("now", DEPTHS), Line("before", tuple(ChartPoint(point.x, 9000.0) for point in DEPTHS), earlier=True)),
    callouts=(Callout(64.0, 6000.0, ("6k", "best")),),
)


def test_an_earlier_run_is_thin_and_dashed_beside_this_one() -> None:
    drawing = draw(RAMP, 80, 24, Glyphs.BRAILLE)

    row = next(y for y in range(1, 24) if drawing.roles[y].count(EARLIER) > 20)
    dots = [(ord(cell) - 0x2800).bit_count() for y in range(24) for cell in drawing.rows[y] if cell > "\u2800"]
    gaps = drawing.roles[row][10:70].count("line") + drawing.roles[row][10:70].count("")
    assert 10 < gaps < 50
    assert "●" not in "".join(drawing.rows[row])
    assert max(dots) >= 4
    assert "┄┄ before" in drawing.text()


def test_words_stand_at_the_point_that_matters_and_hide_no_line() -> None:
    drawing = draw(RAMP, 80, 24, Glyphs.BRAILLE)
    plain = draw(replace(RAMP, callouts=()), 80, 24, Glyphs.BRAILLE)

    at = next(y for y, row in enumerate(drawing.rows) if "6k" in "".join(row[5:]))
    column = "".join(drawing.rows[at]).index("6k", 5)
    assert "".join(drawing.rows[at + 1])[column:].startswith("best")
    assert drawing.roles[at][column] == "title"
    assert all(not role.startswith("series-") for role in plain.roles[at][column : column + 4])


@pytest.mark.parametrize(("limit", "status"), [(30_500.0, "fail"), (60_000.0, "pass")])
def test_what_is_missing_or_spare_is_a_band_beside_the_demand(limit: float, status: str) -> None:
    points = (ChartPoint(1e3, 4e5), ChartPoint(limit, 9e6))
    demand = DemandLine(40_000.0, status, ("Demand", "40,000"), limit, ("much", "so"))
    axes = Axis("IOPS", "1/s"), Axis("p99", "ns", Scale.LOG10)

    drawing = draw(LineChart("", *axes, (Line("p99", points),), demand=demand), 80, 24, Glyphs.BRAILLE)

    row = drawing.roles[12]
    line = drawing.rows[12].index("┃")
    shaded = [x for x, role in enumerate(row) if role.endswith(f"@{status}")]
    assert row[line] == f"status-{status}"
    assert shaded == list(range(shaded[0], shaded[-1] + 1))
    assert (shaded[-1] == line - 1) == (limit < 40_000)
    assert (shaded[0] == line + 1) == (limit > 40_000)
    assert all(words in drawing.text() for words in ("Demand", "40,000", "much", "so"))


def test_the_words_of_a_demand_near_the_edge_stand_on_one_side_of_it() -> None:
    demand = DemandLine(75_000.0, "fail", ("Demand", "75,000 IOPS of random reads"), 30_000.0)
    axes = Axis("IOPS", "1/s"), Axis("p99", "ns")
    line = Line("p99", (ChartPoint(1e3, 4e5), ChartPoint(30_000.0, 9e6)))
    drawing = draw(LineChart("", *axes, (line,), demand=demand), 80, 24, Glyphs.BRAILLE)
    rows = ["".join(row) for row in drawing.rows]

    sides = {row.index(words) < row.index("┃") for words in demand.words for row in rows if words in row}
    assert sides == {True}


@pytest.mark.parametrize("rows", [11, 24])
def test_the_words_of_a_demand_are_whole_beside_the_end_of_a_curve(rows: int) -> None:
    end = ChartPoint(33_000.0, 9e6)
    demand = DemandLine(30_000.0, "warn", ("Demand", "30,000 IOPS"), 33_000.0, ("3k", "spare"))
    axes = Axis("IOPS", "1/s"), Axis("p99", "ns")
    line, limit = Line("p99", (ChartPoint(1e3, 4e5), end)), Callout(end.x, end.y, ("64",))
    text = draw(LineChart("", *axes, (line,), callouts=(limit,), demand=demand), 80, rows, Glyphs.BRAILLE).text()

    assert all(words in text for words in demand.words)
    assert "●" in text


@pytest.mark.parametrize("rows", range(8, 14))
def test_what_is_spare_is_not_written_over_the_axis(rows: int) -> None:
    demand = DemandLine(400.0, "warn", ("Demand", "400 IOPS"), 75_000.0, ("74.6k", "spare"))
    axes = Axis("IOPS", "1/s"), Axis("p99", "ns")
    line = Line("p99", (ChartPoint(1e3, 4e5), ChartPoint(75_000.0, 9e6)))
    *_, ticks, _ = draw(LineChart("", *axes, (line,), demand=demand), 80, rows, Glyphs.BRAILLE).text().splitlines()

    assert "spare" not in ticks
    assert ticks.split()[0] == "0"


def test_regions_are_bands_of_background_by_turns() -> None:
    ends = tuple(Boundary(2.0**k, f"L{k}", ends_region=True) for k in (14, 16, 18))
    chart = replace(CURVE, boundaries=ends, x=Axis("Working set", "bytes", Scale.LOG2, low=2.0**12))

    row = draw(chart, 80, 24, Glyphs.BRAILLE).roles[20]

    assert sum(one.endswith("@tile") != other.endswith("@tile") for one, other in pairwise(row)) == 4


@pytest.mark.parametrize(("high", "last"), [(2.0**20, "DRAM"), (2.0**17, "L3 256 KiB")])
def test_a_region_is_named_within_itself_and_dram_beyond_all_caches(high: float, last: str) -> None:
    ends = [(2.0**14, "L1 16 KiB"), (2.0**15, "a level too narrow for its name"), (2.0**18, "L3 256 KiB")]
    regions = tuple(Boundary(x, label, ends_region=True) for x, label in [*ends, (math.inf, "DRAM")])
    line = Line("a", tuple(ChartPoint(2.0**k, 90.0) for k in range(10, 21) if 2.0**k <= high))
    axis = Axis("Working set", "bytes", Scale.LOG2, low=2.0**10, high=high)
    drawing = draw(LineChart("t", axis, Axis("y", "ns"), (line,), regions), 80, 14, Glyphs.ASCII)

    rows = list(map("".join, drawing.rows))
    bounds = [at for at, mark in enumerate(rows[4]) if mark == ":"]
    places = {name: row.index(name) for name in ("L1 16 KiB", last) for row in rows if name in row}
    assert places["L1 16 KiB"] + len("L1 16 KiB") <= bounds[0]
    assert places[last] > bounds[-1]
    assert "too narrow" not in drawing.text()


def test_a_cell_that_is_shaded_twice_has_the_last_ground() -> None:
    """The lost area of a comparison lies over the band of a cache."""
    drawing = Drawing(3, 1)
    drawing.put(1, 0, "●", "series-0")
    drawing.shade(range(3), range(1), "tile")
    drawing.shade(range(1, 3), range(1), "s2-pale")

    assert drawing.roles == [["@tile", "series-0@s2-pale", "@s2-pale"]]


def test_a_value_too_long_for_its_row_is_cut_at_its_end() -> None:
    """Without its first digits it would be another value."""
    drawing = draw(BarChart("", Axis("", "ns"), (Bar("a", 123.0),)), 4, 1, Glyphs.ASCII)

    assert drawing.text().startswith("1")


def test_bars_with_rows_between_them_have_a_track_and_their_values_below_each_other() -> None:
    bars = (Bar("this run", 50.0), Bar("11-20", 100.0))
    lines = draw(BarChart("", Axis("", "ns"), bars, apart=2), 40, 5, Glyphs.BRAILLE).text().splitlines()

    assert [line.rstrip() for line in lines[1:4:2]] == ["", ""]
    assert [len(line.rstrip()) for line in lines[::2][:2]] == [40, 40]
    assert abs(lines[0].count("▇") * 2 - lines[2].count("▇")) <= 1
    assert lines[0].count("▇") + lines[0].count("┄") == lines[2].count("▇")
