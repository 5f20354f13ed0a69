"""Axes: round numbers, the ends that were asked for, units said once."""

import itertools

import pytest

from sizeup.charts.axes import Ruler, fit
from sizeup.charts.chart import Axis, BarChart, Scale
from tiers import one_in

KIB, MIB, GIB = 1024, 1024**2, 1024**3


def labels(ruler: Ruler) -> list[str]:
    return [tick.label for tick in ruler.ticks]


def test_a_linear_axis_starts_at_zero_and_names_round_values_with_the_unit_in_the_title() -> None:
    ruler = fit(Axis("Latency", "ns"), [3.1, 131.3, 88], most_ticks=5)

    assert ruler.title == "Latency (ns)"
    assert labels(ruler) == ["0", "50", "100", "150"]
    assert (ruler.low, ruler.high) == (0, 150)
    assert ruler.position(75) == 0.5


@pytest.mark.parametrize(("title", "shown"), [("Cost", "Cost, logarithmic"), ("", "logarithmic")])
def test_lengths_that_are_logarithms_are_said_to_be_without_a_title_too(title: str, shown: str) -> None:
    assert BarChart("", Axis(title, "ns", Scale.LOG10), ()).axis_title == shown


@pytest.mark.parametrize(
    ("highest", "ticks", "high"),
    [(92.0, ["0", "50", "100"], 100.0), (76.0, ["0", "50", "100"], 100.0), (131.0, ["0", "50", "100", "150"], 150.0),
     (103.0, ["0", "50", "100"], 103.0), (74.0, ["0", "50"], 74.0)],
)  # fmt: skip
def test_a_linear_axis_leaves_no_more_than_half_of_a_step_blank(highest: float, ticks: list[str], high: float) -> None:
    ruler = fit(Axis("Latency", "ns"), [3.1, highest], most_ticks=4 if highest > 100 else 3)

    assert labels(ruler) == ticks
    assert ruler.high == high


@pytest.mark.parametrize(("title", "unit"), [("IOPS", ""), ("Commits", "per s")])
def test_a_rate_has_its_prefix_at_the_number_also_where_ticks_differ_in_it(title: str, unit: str) -> None:
    ruler = fit(Axis(title, "1/s", Scale.LOG10), [500.0, 200e3], most_ticks=9)

    assert labels(ruler) == ["500", "1k", "2k", "5k", "10k", "20k", "50k", "100k", "200k"]
    assert ruler.unit == unit


def test_of_a_stated_end_no_tick_beyond_it_is_counted() -> None:
    ruler = fit(Axis("IOPS", "1/s", high=67e3), [4e3, 64e3], most_ticks=4)

    assert (labels(ruler), ruler.high) == (["0", "20k", "40k", "60k"], 67e3)


def test_one_value_on_a_logarithmic_axis_lies_between_round_numbers() -> None:
    assert labels(fit(Axis("Latency", "ns", Scale.LOG10), [2.01e6, 4.01e6, 8.03e6], most_ticks=4)) == ["2", "5", "10"]


def test_an_axis_of_verdicts_has_words_for_its_ticks() -> None:
    ruler = fit(Axis("Verdict", "verdict"), [1.0, 0.5], most_ticks=9)

    assert (labels(ruler), ruler.low, ruler.high) == (["fail", "warn", "pass"], 0, 1)


def test_a_linear_axis_is_cut_only_where_that_was_asked_for() -> None:
    assert fit(Axis("Latency", "ns"), [96, 99], most_ticks=4).low == 0
    assert fit(Axis("Latency", "ns", low=95), [96, 99], most_ticks=4).low == 95
    assert fit(Axis("Change", "1"), [-5, -3], most_ticks=4).high == 0


def test_sizes_on_a_logarithmic_axis_fall_on_whole_prefixes() -> None:
    axis = Axis("Working set", "bytes", Scale.LOG2)

    assert labels(fit(axis, [4 * KIB, 4 * GIB], most_ticks=6)) == ["32 KiB", "1 MiB", "32 MiB", "1 GiB"]
    assert labels(fit(axis, [4 * KIB, 4 * GIB], most_ticks=11)) == [
        "4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB", "4 MiB", "16 MiB", "64 MiB", "256 MiB", "1 GiB", "4 GiB",
    ]  # fmt: skip


def test_sizes_on_a_linear_axis_step_by_powers_of_two() -> None:
    assert labels(fit(Axis("Memory", "bytes"), [0, 96 * GIB], most_ticks=5)) == ["0", "32", "64", "96"]


def test_a_logarithmic_axis_shows_decades_and_their_thirds_where_there_is_room() -> None:
    axis = Axis("Response time", "ns", Scale.LOG10)

    assert labels(fit(axis, [1e4, 1e8], most_ticks=6)) == ["10 us", "100 us", "1 ms", "10 ms", "100 ms"]
    assert labels(fit(axis, [1.5, 120], most_ticks=6)) == ["2", "5", "10", "20", "50", "100"]
    assert fit(axis, [0.0, 1e4], most_ticks=6).position(0) is None


def test_ends_that_the_axis_states_are_kept() -> None:
    ruler = fit(Axis("Share", "1", low=0, high=0.7), [0.2], most_ticks=5)

    assert (ruler.low, ruler.high) == (0, 0.7)
    assert labels(ruler) == ["0", "0.2", "0.4", "0.6"]


def test_ticks_that_three_digits_cannot_tell_apart_are_spelled_in_full() -> None:
    assert labels(fit(Axis("Load", "1", low=100.2), [100.6], most_ticks=6)) == [
        "100.2",
        "100.3",
        "100.4",
        "100.5",
        "100.6",
    ]


def test_units_that_differ_along_the_axis_stay_with_their_numbers() -> None:
    ruler = fit(Axis("Throughput", "bytes/s"), [0, 1.5e9], most_ticks=5)

    assert ruler.title == "Throughput"
    assert labels(ruler) == ["0", "500 MB/s", "1 GB/s", "1.5 GB/s"]


ODD = [[], [5.0], [7.0, 7.0], [0.0], [-3.0, 4.0], [1e-9, 1e18], [float("nan"), 2.0], [5e-324], [-1e308, 1e308]]


@pytest.mark.parametrize("scale", Scale)
@pytest.mark.parametrize("values", ODD)
@pytest.mark.parametrize("most_ticks", one_in(3, [0, 2, 3, 9]))
def test_any_data_gives_a_usable_axis(scale: Scale, values: list[float], most_ticks: int) -> None:
    ruler = fit(Axis("Anything", "ns", scale), values, most_ticks)

    assert ruler.low < ruler.high
    assert len(ruler.ticks) <= max(most_ticks, 3)
    assert all(-1e-6 <= (ruler.position(tick.value) or 0) <= 1 + 1e-6 for tick in ruler.ticks)
    assert len({tick.label for tick in ruler.ticks}) == len(ruler.ticks)


@pytest.mark.parametrize("scale", Scale)
@pytest.mark.parametrize(
    ("low", "high"), one_in(4, itertools.product([None, -1e308, 0.0, 1e-150, 5e-324, 1e308], repeat=2))
)
def test_ends_outside_the_range_of_a_chart_are_not_taken(scale: Scale, low: float | None, high: float | None) -> None:
    ruler = fit(Axis("Anything", "1", scale, low, high), [0.0, -1.0], most_ticks=5)

    assert ruler.low < ruler.high
    assert ruler.ticks


@pytest.mark.parametrize("value", [5e-324, 1e-300, 1e300, 1e308])
def test_values_far_outside_a_logarithmic_axis_have_a_place_all_the_same(value: float) -> None:
    ruler = fit(Axis("Working set", "bytes", Scale.LOG2), [4 * KIB, 4 * GIB], most_ticks=6)

    assert ruler.position(value) is not None


def test_counts_are_named_by_whole_numbers() -> None:
    counts, shares = fit(Axis("Processes", "1"), [1.0, 2.0], 5), fit(Axis("Load", "1"), [0.5, 2.0], 5)

    assert [tick.label for tick in counts.ticks] == ["0", "1", "2"]
    assert "0.5" in [tick.label for tick in shares.ticks]


@pytest.mark.parametrize("high", [5e-324, 1e-160, 0.0, -1.0])
def test_an_end_that_is_too_close_to_zero_to_divide_leaves_an_axis_of_one(high: float) -> None:
    ruler = fit(Axis("Throughput", "bytes/s", low=0.0, high=high), [high], 5)

    assert (ruler.low, ruler.high) == (0.0, 1.0)
