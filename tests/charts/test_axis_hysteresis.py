"""Axes of a live chart: they move seldom, and always hold what is drawn."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from sizeup.charts.axes import hold_axes
from sizeup.charts.chart import Axis, Bar, BarChart, Chart, ChartPoint, Line, LineChart, Scale


def chart(*values: float, scale: Scale = Scale.LINEAR, title: str = "t") -> LineChart:
    points = tuple(ChartPoint(float(x), value) for x, value in enumerate(values))
    return LineChart(title, Axis("x", "1"), Axis("Time", "ns", scale), (Line("a", points),))


def ends(shown: Chart) -> tuple[float | None, float | None]:
    assert isinstance(shown, LineChart)
    return shown.y.low, shown.y.high


def test_a_climbing_value_moves_the_axis_a_few_times_and_not_with_each_sample() -> None:
    shown: Chart | None = None
    seen = []
    for highest in range(1, 1000):
        shown = hold_axes(chart(1.0, float(highest)), shown)
        seen.append(ends(shown))

    assert len(set(seen)) <= 10
    assert all(high is not None and high >= value for value, (_, high) in enumerate(seen, start=1))


def test_an_axis_that_has_become_much_too_long_is_drawn_anew() -> None:
    wide = hold_axes(chart(900.0), None)

    assert ends(hold_axes(chart(700.0), wide)) == ends(wide)
    assert ends(hold_axes(chart(100.0), wide)) == (None, 200.0)


def test_an_interval_far_beyond_the_values_does_not_lengthen_the_axis() -> None:
    points = (ChartPoint(1.0, 20.0, -60.0, 100.0),)
    line = replace(chart(20.0), lines=(Line("a", points),))
    bars = BarChart("b", Axis("Cost", "ns"), (Bar("a", 20.0, -60.0, 100.0),))

    assert ends(hold_axes(line, None)) == (None, 50.0)
    assert hold_axes(bars, None).axis.high == 50.0  # type: ignore[union-attr]


def test_once_logarithmic_stays_logarithmic_while_samples_waver() -> None:
    first = hold_axes(chart(1.0, 100.0, scale=Scale.LOG10), None)
    then = hold_axes(chart(7.0, 100.0), first)

    assert ends(first) == (0.5, 200.0)
    assert isinstance(then, LineChart)
    assert then.y == first.y  # type: ignore[union-attr]


def test_another_picture_starts_with_ends_of_its_own() -> None:
    first = hold_axes(chart(900.0), None)

    assert ends(hold_axes(chart(1.0, title="other"), first)) == (None, 2.0)


def test_bars_keep_their_length_while_the_longest_wavers() -> None:
    bars = BarChart("b", Axis("Cost", "ns"), (Bar("a", 90.0), Bar("b", 20.0)))
    first = hold_axes(bars, None)
    then = hold_axes(replace(bars, bars=(Bar("a", 95.0), Bar("b", 20.0))), first)

    assert isinstance(first, BarChart)
    assert isinstance(then, BarChart)
    assert then.axis == first.axis == replace(bars.axis, high=200.0)


@given(
    st.lists(st.lists(st.floats(1e-9, 1e15), min_size=1, max_size=3), min_size=1, max_size=6), st.sampled_from(Scale)
)
def test_whatever_comes_lies_within_the_axis(frames: list[list[float]], scale: Scale) -> None:
    shown: Chart | None = None
    for values in frames:
        shown = hold_axes(chart(*values, scale=scale), shown)
        low, high = ends(shown)
        assert high is not None
        assert max(values) <= high
        assert low is None or low <= min(values)
