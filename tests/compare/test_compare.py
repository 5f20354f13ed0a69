"""A comparison says what differs, what cannot be decided, and why it may mislead."""

import math
from pathlib import Path

import pytest
from msgspec.structs import replace

from sizeup.batch.standard_output import comparison_lines
from sizeup.compare.compare import compare, interleaved
from sizeup.compare.comparison import EXCLUDED_CHANGE, Comparison, Conclusion, Figure
from sizeup.compare.digest import Digest, RunValue, digest_side
from sizeup.compare.figures import excluded_change
from sizeup.compare.machines import Difference
from sizeup.compare.statistics import ratio_interval, shift_beside_trend
from sizeup.errors import UsageError
from sizeup.model.machine import Machine, Platform
from sizeup.model.plan import Better, Series
from sizeup.model.topology import Package
from sizeup.session.value import point_key
from sizeup.views.comparison.answer import ChangeResult, change_rows, comparison_band, side_lines
from sizeup.views.comparison.comparison import verdict_text

LATENCY = Series("thp", "Latency", "ns", Better.LOWER, "size", "bytes")
RATE = Series("rate", "Rate", "bytes/s", Better.HIGHER)
NEITHER = Series("count", "Count", "1", Better.NEITHER)
OLD = Machine(packages=(Package((0,), 0),), cpu_model="Old", platform=Platform(kernel="5.10"))
NEW = replace(OLD, cpu_model="New")


def session(number: int, *values: tuple[Series, dict[str, int], float], machine: Machine = OLD, **facts: str) -> Digest:
    return Digest(
        path=f"s{number}",
        id=str(number),
        host="db01",
        started="",
        tool="",
        machine=machine,
        facts={"kernel": "5.10", **facts},
        values=tuple(
            RunValue(
                f"p.{series.name}", point_key(series.name, at), at, series, value, f"{number}~1", {}, "sizeup 0.1.0"
            )
            for series, at, value in values
        ),
        damage=(),
    )


def side(values: list[float], series: Series = LATENCY, start: int = 0) -> list[Digest]:
    return [session(start + number, (series, {}, value)) for number, value in enumerate(values)]


FAST = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2]
SLOW = [110.0, 111.0, 109.0, 110.5, 109.5, 110.2]


def figure(comparison: Comparison) -> Figure:
    (only,) = comparison.metrics
    return only


@pytest.mark.parametrize(
    ("series", "first", "verdict"),
    [
        (LATENCY, SLOW, Conclusion.WORSE),
        (LATENCY, [value * 0.9 for value in FAST], Conclusion.BETTER),
        (RATE, SLOW, Conclusion.BETTER),
        (NEITHER, SLOW, Conclusion.HIGHER),
        (NEITHER, [value * 0.9 for value in FAST], Conclusion.LOWER),
        (LATENCY, [value + 0.3 for value in FAST], Conclusion.SAME),
    ],
)
def test_a_difference_is_worded_by_what_is_better(series: Series, first: list[float], verdict: Conclusion) -> None:
    found = figure(compare(side(first, series, 10), side(FAST, series)))

    assert found.verdict is verdict
    assert found.runs == (6, 6)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.ratio <= found.high


def test_a_change_below_the_minimum_effect_is_none_however_certain() -> None:
    found = figure(compare(side([value * 1.019 for value in FAST], start=10), side(FAST)))

    assert found.p < 0.05
    assert found.verdict is Conclusion.SAME


@pytest.mark.parametrize(
    ("low", "high", "excluded"), [(0.94, 1.06, True), (0.94, 1.08, False), (0.93, 1.06, False), (None, None, False)]
)
def test_a_large_change_is_excluded_where_the_interval_holds_neither_a_rise_nor_a_fall(
    low: float | None, high: float | None, excluded: bool
) -> None:
    """7 % up is 1.07 times, 7 % down is 1 / 1.07 = 0.935 times."""
    found = figure(compare(side(FAST, start=10), side(FAST)))

    assert (excluded_change(replace(found, low=low, high=high)) < EXCLUDED_CHANGE) is excluded


def test_three_runs_a_side_are_too_few_whatever_they_say() -> None:
    found = figure(compare(side([500.0, 501.0, 502.0], start=10), side(FAST[:3])))

    assert found.verdict is Conclusion.TOO_FEW
    assert (found.low, found.high) == (None, None)


def curve(number: int, factor: float, sizes: tuple[int, ...] = (1, 2, 4)) -> Digest:
    return session(number, *((LATENCY, {"size": size}, factor * size) for size in sizes))


def test_a_curve_is_one_figure_per_run_and_its_points_are_exploratory() -> None:
    comparison = compare([curve(10 + n, v) for n, v in enumerate(SLOW)], [curve(n, v) for n, v in enumerate(FAST)])

    found = figure(comparison)
    assert (found.points, found.at, found.verdict) == (3, None, Conclusion.WORSE)
    assert (found.ratio, found.share_of_pairs_lower) == (pytest.approx(1.1, abs=0.01), 0.0)
    assert [dict(point.at or {}) for point in comparison.points] == [{"size": 1}, {"size": 2}, {"size": 4}]


def test_a_curve_is_compared_over_the_points_that_all_runs_have() -> None:
    comparison = compare(
        [curve(10 + n, v, (1, 2)) for n, v in enumerate(SLOW)], [curve(n, v, (2, 4)) for n, v in enumerate(FAST)]
    )

    assert (figure(comparison).points, figure(comparison).medians[1]) == (1, pytest.approx(200.2, abs=1))
    apart = [[curve(first, 100.0, (1,)), curve(first + 1, 100.0, (2,))] for first in (0, 10)]
    assert figure(compare(apart[1], apart[0])).runs == (1, 1)  # the first point that each side has in some run


def test_a_point_whose_scatter_hides_a_change_of_all_does_not_outweigh_the_others() -> None:
    """Three runs of the slower side were fast at one point by as much as the side is slower."""

    def run(number: int, level: float, odd: float) -> Digest:
        steady = ((LATENCY, {"size": size}, level * (100 + number / 100)) for size in (1, 2, 4))
        return session(number, *steady, (LATENCY, {"size": 8}, level * odd))

    slow = [run(number, 1.1, 90.0 if number < 3 else 100.0) for number in range(6)]
    fast = [run(6 + number, 1.0, 100.0) for number in range(6)]

    assert figure(compare(slow, fast)).verdict is Conclusion.WORSE


def behind_caches(memory: float, first: int = 0) -> list[Digest]:
    """Six runs with the same caches before memory of this latency."""
    caches = [(LATENCY, {"size": size}, 100.0) for size in (1, 2, 4)]
    points = (*caches, (LATENCY, {"size": 8}, memory))
    return [
        session(number, *((series, at, value + number / 100) for series, at, value in points))
        for number in range(first, first + 6)
    ]


@pytest.mark.parametrize("runs", [4, 6])
def test_a_change_at_one_point_is_no_scatter_of_it(runs: int) -> None:
    """Memory of half the speed behind the same caches."""
    found = figure(compare(behind_caches(200.0)[:runs], behind_caches(100.0, 6)))

    assert found.verdict is Conclusion.WORSE
    assert found.ratio == pytest.approx(2**0.25, rel=0.01)


def test_a_change_too_small_for_the_whole_curve_is_pointed_at() -> None:
    comparison = compare(behind_caches(106.0), behind_caches(100.0, 6))

    assert figure(comparison).verdict is Conclusion.SAME
    assert "  Single points differ in p.thp: see --points" in comparison_lines(comparison, points=False)
    assert "see --points" not in " ".join(comparison_lines(comparison, points=True))


def test_points_that_a_neighbor_slows_together_leave_the_word_to_the_one_that_stays() -> None:
    def run(number: int, level: float) -> Digest:
        busy = 2.0 if number % 3 == 0 else 1.0
        slowed = ((LATENCY, {"size": size}, level * busy * 100) for size in (1, 2, 4))
        return session(number, *slowed, (LATENCY, {"size": 8}, level * (100 + number / 100)))

    found = figure(compare([run(number, 1.1) for number in range(6)], [run(6 + number, 1.0) for number in range(6)]))

    assert found.verdict is Conclusion.WORSE
    assert found.ratio == pytest.approx(1.1, abs=0.01)


def test_the_mean_is_taken_over_one_direction_only() -> None:
    first = [session(10 + n, (LATENCY, {}, v), (RATE, {}, v)) for n, v in enumerate(SLOW)]
    base = [session(n, (LATENCY, {}, v), (RATE, {}, v)) for n, v in enumerate(FAST)]

    assert compare(first, base).means == ()


@pytest.mark.parametrize(("invalid", "means"), [("", [(pytest.approx(1.1, abs=0.01), 2)]), ("drift", [])])
def test_a_figure_that_is_not_valid_is_no_part_of_a_mean(invalid: str, means: list[tuple[float, int]]) -> None:
    other = replace(LATENCY, name="other")

    def runs(values: list[float], start: int) -> list[Digest]:
        found = [session(start + n, (LATENCY, {}, v), (other, {}, v)) for n, v in enumerate(values)]
        return [replace(one, values=(one.values[0], replace(one.values[1], invalid=invalid))) for one in found]

    comparison = compare(runs(SLOW, 10), runs(FAST, 0))

    assert [(mean.ratio, mean.metrics) for mean in comparison.means] == means
    assert all(mean.better is Better.LOWER for mean in comparison.means)


def test_hardware_comes_first_and_only_where_it_differs() -> None:
    first = [session(1, (LATENCY, {}, 1.0), machine=NEW)]

    assert compare(first, [session(0, (LATENCY, {}, 1.0))]).differences == (Difference("CPU", "New", "Old"),)


def test_what_may_mislead_is_said() -> None:
    first = [session(1, (LATENCY, {}, 1.0), kernel="6.1", governor="powersave", load="gentle")]
    base = [session(1, (LATENCY, {}, 1.0), governor="performance", load="full")]

    warnings = compare(first, base).warnings

    assert "both sides hold the same session" in warnings
    assert "kernel differs: 6.1 (baseline: 5.10)" in warnings
    assert "governor differs: powersave (baseline: performance)" in warnings
    assert "load differs: gentle (baseline: full)" in warnings
    assert any("not interleaved" in warning for warning in warnings)


def test_like_sides_that_took_turns_have_no_warning_and_each_cause_has_its_own() -> None:
    first, base = (at_times(side(SLOW[:4], start=start), times) for start, times in ((10, ODD[:4]), (0, EVEN[:4])))
    busy = {"others_busy_percent": 20.0, "others_busy": "dd"}
    causes = {
        "the new side mixes hosts: db01, db02": {"host": "db02"},
        "s10: it ends early": {"damage": ("it ends early",)},
        "s10: not valid": {"invalid_results": ("not valid",)},
        "s10: other processes used 20 % of a CPU at its end: dd": {"facts": {**first[0].facts, **busy}},
    }

    assert compare(first, base).warnings == ()
    quiet = replace(first[0], facts={**first[0].facts, **busy, "others_busy_percent": 19.9})
    assert compare([quiet, *first[1:]], base).warnings == ()
    for warning, change in causes.items():
        found = compare([replace(first[0], **change), *first[1:]], base).warnings  # type: ignore[arg-type]
        assert [one for one in found if "interleaved" not in one] == [warning]


def test_a_point_counts_by_its_scatter_beside_one_percent() -> None:
    """One point never scatters and is 21 % slower, the other scatters by 1 %: two thirds and one third of the whole."""
    odd = [math.exp(log) for log in (-0.02, 0.0, 0.0, 0.02)]
    new, old = (
        [session(start + n, (LATENCY, {"size": 1}, level), (LATENCY, {"size": 2}, one)) for n, one in enumerate(odd)]
        for start, level in ((10, 1.21), (0, 1.0))
    )

    assert figure(compare(new, old)).ratio == pytest.approx(1.21 ** (2 / 3))


def test_a_trend_that_opposes_what_the_ranks_say_is_no_difference() -> None:
    """The new side is 5 % faster, and came after a fall of 2 % a run: beside it, it is slower."""
    fallen = [100 * 0.98**run * (1.03 if run >= 6 else 1.0) for run in range(12)]
    times = [float(run) for run in range(12)]
    base, first = at_times(side(fallen[:6]), times[:6]), at_times(side(fallen[6:], start=10), times[6:])
    found = figure(compare(first, base))

    assert found.ratio < 1
    assert found.p == 1.0
    same = [100 * 0.98**run * (0.97 if run >= 6 else 1.0) for run in range(12)]
    base, first = at_times(side(same[:6]), times[:6]), at_times(side(same[6:], start=10), times[6:])
    assert figure(compare(first, base)).p < 0.05


ODD, EVEN = [float(2 * n + 1) for n in range(6)], [float(2 * n) for n in range(6)]


def at_times(sessions: list[Digest], times: list[float], host: str = "db01") -> list[Digest]:
    return [
        replace(session, host=host, values=tuple(replace(value, when=time) for value in session.values))
        for session, time in zip(sessions, times, strict=True)
    ]


def test_blocks_are_judged_beside_their_trend_and_more_strictly_without_times() -> None:
    first, base = side(SLOW, start=10), side(FAST)
    odd, even, later = ODD, EVEN, [time + 100 for time in ODD]
    turns, blocks = (
        compare(at_times(first, odd), at_times(base, even)),
        compare(at_times(first, later), at_times(base, even)),
    )

    assert turns.level == blocks.level == 0.05
    assert (figure(turns).verdict, figure(blocks).verdict) == (Conclusion.WORSE, Conclusion.WORSE)
    assert figure(blocks).p > figure(turns).p - 1e-12
    assert any("must stand out from the trend" in warning for warning in blocks.warnings)
    assert not interleaved(at_times(first[:1], [1.0]), at_times(base[:1], [0.0]))  # one run a side takes no turns
    for one, two in ((first, base), (base, first)):
        assert not interleaved(at_times(one[:1], [1.0]), at_times(two[:2], [0.0, 2.0]))
    assert interleaved(at_times(first[:2], [0.0, 3.0]), at_times(base[:2], [1.0, 2.0])), "ABBA"
    assert interleaved(at_times(first[:2], [0.0, 2.0]), at_times(base[:2], [1.0, 3.0])), "ABAB"
    assert not interleaved(at_times(first[:2], [0.0, 1.0]), at_times(base[:2], [2.0, 3.0])), "AABB"
    elsewhere = compare(at_times(first, odd, "db02"), at_times(base, even))
    assert any("not interleaved on one host" in warning for warning in elsewhere.warnings)
    assert compare(first, base).level == 0.02
    assert any("lowered from 0.05 to 0.02" in warning for warning in compare(first, base).warnings)


def test_what_grows_from_run_to_run_is_no_difference_of_the_later_side() -> None:
    """The ranks part the sides cleanly; the trend explains all of it."""
    grown = [100 * 1.01**run * (1.002 if run % 2 else 1) for run in range(12)]
    times = [float(run) for run in range(12)]
    base, first = at_times(side(grown[:6]), times[:6]), at_times(side(grown[6:], start=10), times[6:])
    found = figure(compare(first, base))

    assert found.p > 0.05
    shift = shift_beside_trend(grown[6:], grown[:6], [*times[6:], *times[:6]])
    assert shift is not None
    ranks, trend = ratio_interval(grown[6:], grown[:6])[1:], shift.interval(0.05)
    assert trend[0] < 1 < trend[1] < (ranks[0] or 0)
    assert (found.low, found.high) == (pytest.approx(trend[0]), pytest.approx(ranks[1]))
    assert not found.different


def test_ranks_and_trend_that_point_in_opposite_directions_decide_nothing() -> None:
    """The later side is higher only for its trend; beside it, it is lower."""
    base = [math.exp(0.02 * run) for run in range(6)]
    first = [math.exp(0.02 * run - 0.05) for run in range(6, 12)]
    found = figure(
        compare(
            at_times(side(first, start=10), [float(run) for run in range(6, 12)]),
            at_times(side(base), [*map(float, range(6))]),
        )
    )

    assert (found.p, found.different) == (1.0, False)


def test_what_the_runs_leave_open_is_said_with_how_many_more_would_decide() -> None:
    wide, other = [100.0, 110.0, 92.0, 104.0, 96.0, 101.0], [104.0, 97.0, 112.0, 95.0, 108.0, 101.5]
    found = figure(compare(side(wide, start=10), side(other)))

    assert (found.verdict, found.different) == (Conclusion.UNDECIDED, False)
    assert found.more_runs == 5  # at a deviation of 6.2 % and level 0.02
    assert verdict_text(found) == "? cannot decide; 5 more runs"
    uneven = compare(side(wide, start=10), side(other[:5]))
    assert figure(uneven).more_runs == 7  # 12 at a deviation of 6.6 %, of which the smaller side has 5
    assert figure(compare(side(FAST, start=10), side(FAST))).more_runs is None
    few = figure(compare(side(SLOW[:2], start=10), side(FAST[:2])))
    assert (few.verdict, few.more_runs) == (Conclusion.TOO_FEW, 3)
    hopeless = figure(compare(side([value**9 for value in wide], start=10), side([value**9 for value in other])))
    assert verdict_text(hopeless) == "? cannot decide; over 100 more runs"


def test_parameters_that_differ_are_named() -> None:
    def with_budget(number: int, budget: float) -> Digest:
        plain = session(number, (LATENCY, {}, 1.0))
        return replace(plain, values=tuple(replace(value, settings={"budget": budget}) for value in plain.values))

    warnings = compare([with_budget(1, 2.5)], [with_budget(0, 12.0)]).warnings

    assert "p.thp: parameters differ: budget=2.5 (baseline: budget=12.0)" in warnings


def test_parameters_of_points_that_only_one_side_has_are_not_compared() -> None:
    def with_depths(number: int, *depths: int) -> Digest:
        plain = session(number, *((RATE, {"depth": depth}, 1.0) for depth in depths))
        values = (replace(value, settings={"depth": depth}) for value, depth in zip(plain.values, depths, strict=True))
        return replace(plain, values=tuple(values))

    found = compare([with_depths(1, 4, 1)], [with_depths(0, 4, 64)])

    assert not found.other_settings
    assert not any("parameters" in warning for warning in found.warnings)


def test_without_a_named_figure_on_both_sides_what_is_not_valid_has_rows() -> None:
    def invalid(number: int) -> Digest:
        plain = session(number, (RATE, {}, 1.0), (LATENCY, {}, 2.0))
        return replace(plain, values=tuple(replace(value, invalid="not steady") for value in plain.values))

    found = compare([invalid(1)], [invalid(0)])
    band = comparison_band(found)

    assert [row.result for row in change_rows(found)] == [ChangeResult.NOT_VALID] * 2
    assert band.word == "CANNOT TELL"
    assert [step.text for step in band.steps] == ["Measure both again: not steady."]
    assert "new, 1 run" in band.basis
    assert not compare([session(1, (RATE, {}, 1.0))], [session(0, (RATE, {}, 1.0))]).headlines


def test_what_was_noted_in_a_session_stands_beside_its_name() -> None:
    noted = [replace(session(number, (RATE, {}, 1.0)), note=f"note {number}") for number in (1, 0)]

    assert [line.partition("; ")[2] for line in side_lines(compare(noted[:1], noted[1:]))] == [
        "note: note 0",
        "note: note 1",
    ]


def test_metrics_of_one_side_are_listed() -> None:
    comparison = compare([session(1, (LATENCY, {}, 1.0))], [session(0, (RATE, {}, 1.0))])

    assert (comparison.metrics, comparison.only_new, comparison.only_baseline) == ((), ("p.thp",), ("p.rate",))


def test_an_empty_folder_is_no_side(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected sessions"):
        digest_side([str(tmp_path)])


def test_verdicts_are_compared_as_words_and_a_failed_one_is_not_passed_over() -> None:
    verdict = Series("validity", "Validity", "verdict", Better.HIGHER)
    places = [{"part": "steady", "queue_depth": depth} for depth in (1, 2, 4, 8, 16)]
    first = session(1, *((verdict, at, 0.0) for at in places), (LATENCY, {}, 100.0))  # type: ignore[arg-type]
    base = session(2, *((verdict, at, 1.0) for at in places), (LATENCY, {}, 100.0))  # type: ignore[arg-type]

    found = compare([first], [base])

    assert [figure.metric for figure in found.metrics] == ["p.thp"]
    assert found.points == found.only_new == found.only_baseline == ()
    assert found.warnings[-1] == (
        "p.validity: 5 of 5 verdicts differ: part steady, queue_depth 1: fail (baseline: pass); "
        "part steady, queue_depth 2: fail (baseline: pass); "
        "part steady, queue_depth 4: fail (baseline: pass); and 2 more"
    )
    assert not [words for words in compare([base], [base]).warnings if "verdicts" in words]
