"""Charts as SVG: well formed whatever the text, readable without color, and saying in words what they show."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from charts.contrast import contrast
from report.charts import BARS, CHARTS, CURVE, MATRIX
from sizeup.charts import svg
from sizeup.charts.chart import (
    Axis,
    Bar,
    BarChart,
    Boundary,
    Callout,
    Chart,
    ChartPoint,
    DemandLine,
    HeatMap,
    Line,
    LineChart,
)
from sizeup.charts.palette import blend
from sizeup.fleet import page
from sizeup.report import html

SVG = "{http://www.w3.org/2000/svg}"


def drawn(chart: Chart) -> ElementTree.Element:
    return ElementTree.fromstring(svg.standalone(chart))


def texts(root: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.title[:12])
def test_every_chart_is_well_formed_says_in_words_what_it_shows_and_names_no_other_place(chart: Chart) -> None:
    markup = svg.standalone(chart)

    assert "<script" not in markup
    assert "\x1b" not in markup
    assert re.findall(r"""(?:href|src|url\()[^>]*""", markup) == []
    assert re.findall(r"https?://[^\s\"]+", markup) == ["http://www.w3.org/2000/svg"]
    root = drawn(chart)
    title, words = root.find(f"{SVG}title"), root.find(f"{SVG}desc")

    assert words.text
    assert (root.tag, root.attrib["role"]) == (f"{SVG}svg", "img")
    assert root.attrib["aria-labelledby"] == f"{title.attrib['id']} {words.attrib['id']}"


def test_the_words_of_a_curve_give_its_lowest_and_highest_point() -> None:
    words = drawn(CURVE).findtext(f"{SVG}desc") or ""

    assert "huge pages: 1.2 ns at 4 KiB to 96 ns at 512 MiB" in words


def test_lines_differ_by_marker_and_dash_and_not_by_color_alone() -> None:
    lines = tuple(Line(f"line {index}", (ChartPoint(1, index), ChartPoint(2, index))) for index in range(6))
    root = drawn(LineChart("Six", Axis("x", "1"), Axis("y", "1"), lines))
    dashes = {path.get("stroke-dasharray") for path in root.iter(f"{SVG}path") if "line " in path.get("class", "")}
    outlines = {path.get("d") for path in root.iter(f"{SVG}path") if "mark" in path.get("class", "").split()}

    assert len(dashes) == 6
    assert len(outlines) == 6  # a circle, triangles, and four-cornered ones that differ in proportion


def test_both_axes_carry_their_title_and_unit() -> None:
    shown = texts(drawn(CURVE))

    assert "Load-to-use latency (ns)" in shown
    assert any(text.startswith("Working set") for text in shown)
    assert "1 MiB" in shown


def test_a_disturbed_point_is_hollow_and_the_legend_says_why() -> None:
    root = drawn(CURVE)

    assert sum("hollow" in mark.get("class", "") for mark in root.iter()) == 1
    assert "hollow: disturbed while it was measured" in texts(root)


def test_intervals_are_whiskers_where_points_are_few() -> None:
    assert sum("whisker" in path.get("class", "") for path in drawn(CURVE).iter(f"{SVG}path")) == 3 * 2


def test_intervals_are_a_band_where_points_are_many() -> None:
    line = Line("", tuple(ChartPoint(x, 10, 9, 11) for x in range(1, 30)))
    root = drawn(LineChart("Many", Axis("x", "1"), Axis("y", "1"), (line,)))

    assert sum("band" in path.get("class", "") for path in root.iter(f"{SVG}path")) == 1


def test_a_wide_interval_ends_in_an_arrow_at_the_edge() -> None:
    points = (ChartPoint(1, 10, 9, 11), ChartPoint(2, 20, -60, 100))
    root = drawn(LineChart("Wide", Axis("x", "1"), Axis("y", "1"), (Line("", points),)))
    plain = drawn(LineChart("Wide", Axis("x", "1"), Axis("y", "1"), (Line("", points[:1]),)))
    bars = drawn(BarChart("Wide", Axis("y", "1"), (Bar("a", 10, 5, 50), Bar("b", 12))))
    widths = [float(bar.attrib["width"]) for bar in bars.iter(f"{SVG}rect")]

    def whiskers(of: ElementTree.Element) -> int:
        return sum("whisker" in path.get("class", "") for path in of.iter(f"{SVG}path"))

    assert whiskers(root) == whiskers(plain) + 3 + 2  # the line with its ends, and two arrows
    assert "100" not in texts(root)
    assert max(widths) > 0.5 * 400


def test_bars_start_at_zero_and_print_their_value_and_note() -> None:
    root = drawn(BARS)
    widths = [float(bar.attrib["width"]) for bar in root.iter(f"{SVG}rect")]

    assert widths[1] / widths[0] == pytest.approx(342 / 24, rel=0.02)
    assert "24 ns, vdso" in texts(root)


def test_a_bar_below_zero_reaches_to_the_left_of_the_zero_line() -> None:
    root = drawn(BarChart("Change", Axis("Change", "%"), (Bar("better", 4), Bar("worse", -4))))
    better, worse = (float(bar.attrib["x"]) for bar in root.iter(f"{SVG}rect"))

    assert worse < better


def test_a_heat_map_prints_its_values_and_the_unit_once() -> None:
    shown = texts(drawn(MATRIX))

    assert shown.count("131") == 2
    assert "–" in shown
    assert any("Values in ns." in text for text in shown)


def test_a_heat_map_too_large_to_print_its_values_keeps_them_in_words() -> None:
    names = tuple(map(str, range(64)))
    root = drawn(HeatMap("Cores", "from", "to", names, names, tuple((45.0,) * 64 for _ in names), "ns"))

    assert "45" not in texts(root)
    assert "45 ns" in (root.findtext(f"{SVG}desc") or "")


@pytest.mark.parametrize("value", [0.0, -5.0, 5e-324, 1e308, -1e308])
def test_values_at_the_ends_of_what_a_float_can_hold_are_drawn(value: float) -> None:
    points = (ChartPoint(1, value, value, value), ChartPoint(2, 1.0))

    drawn(LineChart("Odd", Axis("x", "1"), Axis("y", "ns"), (Line("", points),)))
    drawn(BarChart("Odd", Axis("y", "ns"), (Bar("one", value), Bar("two", 1.0))))
    drawn(HeatMap("Odd", "r", "c", ("0",), ("0", "1"), ((value, 1.0),), "ns"))


@pytest.mark.parametrize("palette", [svg.LIGHT, svg.DARK], ids=["light", "dark"])
def test_texts_and_lines_stand_out_from_the_paper(palette: str) -> None:
    colors = dict(pair.removeprefix("--").split(":") for pair in palette.split(";"))
    paper, text = colors["bg"], colors["text"]

    assert contrast(text, paper) >= 7
    assert contrast(colors["dim"], paper) >= 4.5
    assert all(
        contrast(colors[f"s{index}"], colors[ground]) >= 3 for index in range(1, 5) for ground in ("bg", "raise")
    )
    # The strongest cell of a heat map is half of the first color over the paper; its value is printed on it.
    assert contrast(colors["hi"], blend(colors["s1"], paper, 0.5)) >= 4.5


def test_the_title_of_a_small_matrix_is_never_cut() -> None:
    whole = "Latency, p99, read, small, normal, of a step with a name of its own"
    for length in range(1, len(whole)):
        title = whole[:length].strip()

        assert title in texts(drawn(HeatMap(title, "small", "large", ("1",), ("0", "1"), ((1.0, 2.0),), "ns")))


def test_each_marked_point_shows_its_value_and_interval_while_it_is_pointed_at() -> None:
    marks = [path for path in drawn(CURVE).iter(f"{SVG}path") if "mark" in path.get("class", "").split()]
    shown = [mark.findtext(f"{SVG}title") for mark in marks]

    assert "4 KiB: 1.2 ns (1.1 to 1.3)" in shown
    assert "512 MiB: 96 ns (50 to 130)" in shown
    assert len([text for text in shown if text]) == 5


@pytest.mark.parametrize("style", [svg.STYLE, html.STYLE, page._MORE_STYLE], ids=["chart", "report", "fleet"])
def test_a_style_sheet_is_one_line_without_comments_and_with_every_value_filled_in(style: str) -> None:
    assert style.count("{") == style.count("}") > 10
    assert re.search(r"/\*|\n|  |</", style) is None
    colors = set(re.findall(r"var\(--(\w+)\)", style))
    assert colors <= set(re.findall(r"--(\w+):", html.STYLE))


def test_values_of_a_long_line_are_as_many_as_its_marks() -> None:
    line = Line("", tuple(ChartPoint(x, x) for x in range(1, 1000)))
    root = drawn(LineChart("Many", Axis("x", "1"), Axis("y", "1"), (line,)))

    marks = [path for path in root.iter(f"{SVG}path") if "mark" in path.get("class", "").split()]
    assert 20 <= len(marks) == sum(mark.find(f"{SVG}title") is not None for mark in marks) <= 30


def test_bars_and_cells_name_their_value_while_they_are_pointed_at() -> None:
    bars = [bar.findtext(f"{SVG}title") for bar in drawn(BARS).iter(f"{SVG}rect")]
    cells = [cell.findtext(f"{SVG}title") for cell in drawn(MATRIX).iter(f"{SVG}rect")]

    assert bars[0] == "clock_gettime: 24 ns (23 to 25)"
    assert (cells[0] or "").startswith("CPU node 0, memory node")
    assert (cells[0] or "").endswith(" 0: 89 ns")
    assert (cells[3] or "").endswith(": not measured")


@pytest.mark.parametrize("chart", [CURVE, BARS], ids=["line", "bars"])
@pytest.mark.parametrize("width", [334, 524, 720])
def test_a_chart_is_drawn_for_the_width_it_is_given(chart: Chart, width: int) -> None:
    root = ElementTree.fromstring(svg.draw(chart, "one", width=width, titled=False))

    # Labels beside a bar may stand out by their own width.
    assert width <= float(root.attrib["width"]) <= width * 1.5
    assert not [text for text in root.iter(f"{SVG}text") if text.get("class") == "title"]


RAMP = (ChartPoint(10e3, 1e6), ChartPoint(20e3, 1e6), ChartPoint(30e3, 2e6))


def ramp(**changes: Any) -> ElementTree.Element:
    return drawn(LineChart("Ramp", Axis("IOPS", "1/s", low=0.0), Axis("Latency", "ns"), (Line("", RAMP),), **changes))


def boxes(root: ElementTree.Element, css_class: str) -> list[tuple[float, float]]:
    """Left and right end of each rectangle of a class."""
    found = [box for box in root.iter(f"{SVG}rect") if box.get("class") == css_class]
    return [(x := float(box.get("x", "")), x + float(box.get("width", ""))) for box in found]


def test_a_demand_has_a_line_and_the_band_up_to_the_limit_with_what_is_missing() -> None:
    root = ramp(demand=DemandLine(40e3, "fail", ("Demand", "40,000"), 30e3, ("10k", "short")))
    (band,) = boxes(root, "fail missing")
    (line,) = (path for path in root.iter(f"{SVG}path") if path.get("class") == "fail demand")
    marks = [path for path in root.iter(f"{SVG}path") if "mark" in path.get("class", "").split()]
    last = float(re.findall(r"[\d.]+", marks[-1].get("transform", ""))[0])

    assert band[0] == pytest.approx(last, abs=0.2)  # the limit is the last point
    assert line.get("d", "").startswith(f"M{band[1]:.1f}".removesuffix(".0"))
    assert {"Demand", "40,000", "10k", "short"} <= set(texts(root))


def test_what_is_spare_beyond_the_axis_ends_at_its_edge() -> None:
    (band,) = boxes(ramp(demand=DemandLine(20e3, "pass", ("Demand",), 900e3, ("880k", "spare"))), "pass missing")

    assert band[1] <= 720
    assert band[0] < band[1]


def test_words_of_a_callout_stand_left_of_its_point_and_are_cut_at_the_edge() -> None:
    root = ramp(callouts=(Callout(10e3, 1e6, ("Limit", "a very long line of words that has no room at all here")),))
    first, second = (
        text
        for text in root.iter(f"{SVG}text")
        if text.get("text-anchor") == "end" and text.get("class") in ("strong", "halo")
    )

    assert first.text == "Limit"
    assert (second.text or "").endswith("…")


def test_words_of_a_callout_do_not_lie_on_the_line() -> None:
    falling = tuple(ChartPoint(x, y) for x, y in ((10e3, 9e6), (20e3, 8.8e6), (30e3, 1e6)))
    words = ("Limit of the path", "30k IOPS")
    root = drawn(
        LineChart(
            "", Axis("IOPS", "1/s"), Axis("p99", "ns"), (Line("p99", falling),), callouts=(Callout(30e3, 1e6, words),)
        )
    )
    (line,) = (path for path in root.iter(f"{SVG}path") if (path.get("class") or "").startswith("line"))
    places = [tuple(map(float, pair.split())) for pair in (line.get("d") or "").lstrip("M").split("L")]
    tops = [float(text.get("y") or 0) for text in root.iter(f"{SVG}text") if text.text in words]
    left = min(float(text.get("x") or 0) for text in root.iter(f"{SVG}text") if text.text in words) - 120
    (x0, y0), (x1, y1) = places[-2:]
    beside = [y0 + (y1 - y0) * part / 100 for part in range(101) if x0 + (x1 - x0) * part / 100 >= left]

    assert len(tops) == 2
    assert not any(min(tops) - 12 <= y <= max(tops) for y in beside)


def test_words_of_a_callout_do_not_cross_a_demand_to_their_left() -> None:
    words = ("Limit", "a line that has room without the demand")
    limit = (Callout(30e3, 2e6, words),)
    spare = ramp(callouts=limit, demand=DemandLine(25e3, "pass", ("Demand",), 30e3))

    assert words[1] in texts(ramp(callouts=limit))
    assert words[1] not in texts(spare)
    assert any(text.endswith("…") for text in texts(spare))


def test_the_area_between_lines_that_cross_has_the_color_of_each_side() -> None:
    new, old = (tuple(ChartPoint(x, y) for x, y in zip((1, 2, 3), ys, strict=True)) for ys in ((1, 1, 5), (2, 2, 2)))
    root = drawn(
        LineChart("Both", Axis("x", "1"), Axis("y", "1/s"), (Line("new", new), Line("old", old, earlier=True)))
    )
    shaded = [path for path in root.iter(f"{SVG}path") if path.get("class") in ("gained", "lost")]

    assert [path.get("class") for path in shaded] == ["lost", "lost", "gained"]


@pytest.mark.parametrize(
    ("unit", "ahead", "kind"),
    [("1/s", 2.0, "gained"), ("1/s", 0.5, "lost"), ("ns", 2.0, "lost"), ("ns", 0.5, "gained")],
)
def test_the_area_to_an_earlier_run_says_which_is_better(unit: str, ahead: float, kind: str) -> None:
    points = tuple(ChartPoint(x, 100.0) for x in (1, 2, 3))
    faster = tuple(ChartPoint(x, 100.0 * ahead) for x in (1, 2, 3))
    lines = (Line("new", faster), Line("old", points, earlier=True))
    root = drawn(LineChart("Both", Axis("x", "1"), Axis("y", unit), lines))
    classes = [path.get("class") for path in root.iter(f"{SVG}path")]

    assert {"gained", "lost"} & set(classes) == {kind}
    assert classes.count("line earlier") == 2  # in the legend, too
    assert {one for one in classes if one.startswith("mark")} == {"mark i0 f0", "mark earlier hollow"}
    assert len(boxes(ramp(boundaries=(Boundary(15e3, "L1", ends_region=True),)), "region")) == 1
