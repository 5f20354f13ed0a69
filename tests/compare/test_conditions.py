"""An acceptance gate passes only what the runs show to pass; what they leave open is undecided, never a pass."""

import math

import pytest
from msgspec.structs import replace

from sizeup.compare.compare import compare
from sizeup.compare.comparison import ConditionResult
from sizeup.compare.conditions import Decision, parse_condition
from sizeup.compare.digest import Digest, RunValue, digest
from sizeup.errors import UsageError
from sizeup.model.plan import Better, Plan, Series, Step
from sizeup.model.sample import Coordinates, Estimate, Outcome, Status
from sizeup.session.records import SessionRecord
from sizeup.session.value import Point, Session, StepRun, point_key

LATENCY = Series("thp", "Latency", "ns", Better.LOWER, "size", "bytes")
IOPS = Series("iops", "IOPS", "1/s", Better.HIGHER)
RATE = Series("rate", "Rate", "bytes/s", Better.HIGHER)
VERDICT = Series("validity", "Validity", "verdict", Better.HIGHER)
MET, NOT_MET, UNDECIDED = Decision.MET, Decision.NOT_MET, Decision.UNDECIDED

FAST = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2]
SLOW = [value + 10 for value in FAST]
NOISY = [70.0, 140.0, 95.0, 125.0, 80.0, 110.0]


def run(number: int, *values: RunValue) -> Digest:
    return Digest(f"s{number}", str(number), "db01", "", "", None, {}, values, ())


def value(number: int, figure: float, series: Series = LATENCY, *, within: float | None = 0.01, **at: int) -> RunValue:
    """A figure of one run with its own interval of plus and minus ``within``."""
    low, high = (None, None) if within is None else (figure * (1 - within), figure * (1 + within))
    key = point_key(series.name, at)
    return RunValue(f"p.{series.name}", key, at, series, figure, f"{number}~1", {}, "", low=low, high=high)


def side(figures: list[float], start: int = 0, *, within: float | None = 0.01, **at: int) -> list[Digest]:
    return [run(start + n, value(start + n, figure, within=within, **at)) for n, figure in enumerate(figures)]


def answers(
    condition: str | list[str], first: list[Digest], base: list[Digest] | None = None
) -> tuple[ConditionResult, ...]:
    conditions = [condition] if isinstance(condition, str) else condition
    return compare(first, base or [], questions=[parse_condition(text) for text in conditions]).conditions


def answer(condition: str, first: list[Digest], base: list[Digest] | None = None) -> ConditionResult:
    (only,) = answers(condition, first, base)
    return only


@pytest.mark.parametrize(
    ("condition", "first", "decision"),
    [
        ("p.thp > +5%", SLOW, MET),
        ("p.thp > 5%", SLOW, MET),
        ("p.thp >= 5%", SLOW, MET),
        ("p.thp > +15%", SLOW, NOT_MET),
        ("p.thp < -5%", SLOW, NOT_MET),
        ("p.thp > +5%", FAST, NOT_MET),
        ("p.thp < -5%", [one - 10 for one in FAST], MET),
        # The bound lies within what the runs leave open.
        ("p.thp > +5%", NOISY, UNDECIDED),
        ("p.thp > +10%", SLOW, UNDECIDED),
        # Asked for an improvement that did not come.
        ("p.thp > -10%", FAST, MET),
        ("p.thp > -10%", [one * 0.8 for one in FAST], NOT_MET),
    ],
)
def test_a_change_is_decided_by_the_interval_of_the_ratio(
    condition: str, first: list[float], decision: Decision
) -> None:
    assert answer(condition, side(first, 10), side(FAST)).decision is decision


def test_a_change_below_the_minimum_effect_is_none_however_certain() -> None:
    calm = [100 + n / 100 for n in range(6)]

    assert answer("p.thp > +1%", side([one * 1.015 for one in calm], 10), side(calm)).decision is NOT_MET
    assert answer("p.thp > +1%", side([one * 1.025 for one in calm], 10), side(calm)).decision is MET


@pytest.mark.parametrize("runs", [1, 3])
def test_a_threefold_slowdown_with_too_few_runs_is_undecided_and_never_passed(runs: int) -> None:
    found = answer("p.thp > +5%", side([300.0] * runs, 10), side([100.0] * runs))

    assert found.decision is UNDECIDED
    assert (
        found.why
        == f"too few runs ({runs} new, {runs} baseline); take at least five a side (sizeup --batch --repeat 5)"
    )


def test_a_session_against_itself_decides_no_change() -> None:
    found = answer("p.thp > +5%", side(FAST), side(FAST))

    assert (found.decision, found.why) == (UNDECIDED, "both sides hold the same session")


def test_many_conditions_need_more_of_each_than_one_alone() -> None:
    """Five runs a side reach p = 0.008: enough for one condition at 0.02, too little beside three others."""
    first, base = side(SLOW[:5], 10), side(FAST[:5])

    assert answer("p.thp > +5%", first, base).decision is MET
    assert {one.decision for one in answers(["p.thp > +5%"] * 4, first, base)} == {UNDECIDED}
    assert {one.decision for one in answers(["p.thp > -5%"] * 4, side(FAST[:5], 10), base)} == {UNDECIDED}


def test_a_point_of_a_curve_is_asked_about_by_its_place_also_where_it_is_the_only_one() -> None:
    def curve(figures: list[float], start: int, sizes: tuple[int, ...]) -> list[Digest]:
        return [
            run(start + n, *(value(start + n, figure * (1.2 if size == 4 else 1.0), size=size) for size in sizes))
            for n, figure in enumerate(figures)
        ]

    base = side(FAST, size=4)

    assert answer("p.thp[size=4] > +5%", curve(FAST, 10, (2, 4)), base).decision is MET
    assert answer("p.thp[size=4] > +5%", curve(FAST, 10, (4,)), base).decision is MET
    assert answer("p.thp[size=2] > +5%", curve(FAST, 10, (2, 4)), base).why == "not measured on the baseline"
    with pytest.raises(UsageError, match=r"p.thp has no such point; it has: size=2; size=4$"):
        answer("p.thp[size=3] > +5%", curve(FAST, 10, (2, 4)), base)


def test_what_one_side_did_not_measure_is_undecided_and_what_neither_knows_an_error() -> None:
    first, base = [run(10, value(10, 1.0))], [run(0, value(0, 1.0, RATE))]

    assert answer("p.thp > +5%", first, base).why == "not measured on the baseline"
    assert answer("p.rate < -5%", first, base).why == "not measured on the new side"
    assert answer("p.rate < 1 GB/s", first, base).why == "not measured on the new side"
    with pytest.raises(UsageError, match=r"no metric p.htp \(did you mean p.thp\?\); they have: p.thp, p.rate$"):
        answer("p.htp > +5%", first, base)
    with pytest.raises(UsageError, match=r"no metric p.htp"):
        answer("p.htp > 5ns", first)


@pytest.mark.parametrize("figure", [0.0, -1.0, math.nan, math.inf])
def test_figures_without_a_ratio_decide_no_change(figure: float) -> None:
    first, base = side([figure] * 6, 10), side(FAST)

    assert answer("p.thp > +5%", first, base).why == "no point with an amount above 0 on both sides"
    assert answer("p.thp > +5%", base, first).decision is UNDECIDED


@pytest.mark.parametrize(
    ("condition", "series", "figure", "decision"),
    [
        ("p.thp > 150ns", LATENCY, 160.0, MET),
        ("p.thp > 150ns", LATENCY, 140.0, NOT_MET),
        ("p.thp > 150 ns", LATENCY, 150.5, UNDECIDED),
        ("p.thp >= 0.5 ms", LATENCY, 600_000.0, MET),
        ("p.thp < 1 us", LATENCY, 1200.0, NOT_MET),
        ("p.iops < 100k", IOPS, 90_000.0, MET),
        ("p.iops < 100k", IOPS, 110_000.0, NOT_MET),
        ("p.iops < 100k", IOPS, 100_500.0, UNDECIDED),
        ("p.iops <= 0.1M IOPS", IOPS, 90_000.0, MET),
        ("p.rate < 20 GB/s", RATE, 19e9, MET),
        ("p.rate < 20 GiB/s", RATE, 20.5e9, MET),
        ("p.rate < 20 GB/s", RATE, 20.5e9, NOT_MET),
    ],
)
def test_an_absolute_bound_is_decided_by_the_interval_of_the_only_run(
    condition: str, series: Series, figure: float, decision: Decision
) -> None:
    first = [run(10, value(10, figure, series))]

    assert answer(condition, first).decision is decision
    assert answer(condition, first, [run(0, value(0, 1.0, series))]).decision is decision


def test_a_bound_counts_itself_only_where_it_is_asked_to() -> None:
    first = [run(10, value(10, 150.0, within=0.0))]

    assert answer("p.thp > 150ns", first).decision is NOT_MET
    assert answer("p.thp >= 150ns", first).decision is MET
    assert answer("p.thp < 150ns", first).decision is NOT_MET
    assert answer("p.thp <= 150ns", first).decision is MET


def test_some_runs_must_agree_and_many_are_judged_by_their_median() -> None:
    low, odd = [100.0, 101.0, 99.0], 200.0

    assert answer("p.thp > 150ns", side(low)).decision is NOT_MET
    middle = answer("p.thp > 150ns", side([101.0, 99.0, 100.0])).reading
    assert middle is not None
    assert middle.value == 100.0
    assert answer("p.thp > 150ns", side([*low, odd])).decision is UNDECIDED
    assert answer("p.thp > 150ns", side(low * 3, within=None)).decision is NOT_MET
    assert answer("p.thp > 150ns", side([*low * 3, odd], within=None)).decision is NOT_MET


def test_runs_without_an_interval_decide_nothing_while_they_are_few() -> None:
    found = answer("p.thp > 150ns", side([100.0], within=None))

    assert (found.decision, found.why) == (UNDECIDED, "1 run without an interval; take six (sizeup --batch --repeat 6)")
    assert answer("p.thp > 150ns", side([100.0] * 5, within=None)).decision is UNDECIDED
    assert answer("p.thp > 150ns", side([100.0] * 6, within=None)).decision is NOT_MET
    assert answer("p.thp > 150ns", side([math.nan] * 6)).why == "a run gave no number"


def test_an_absolute_bound_holds_for_every_point_and_names_the_one_beyond() -> None:
    """The mean over a curve would hide memory of 189 ns behind caches of 2 ns."""
    first = [run(1, value(1, 2.0, size=16), value(1, 189.0, size=256), value(1, 149.5, size=64))]

    found = answer("p.thp > 150ns", first)
    assert (found.decision, found.reading and dict(found.reading.at)) == (MET, {"size": 256})
    found = answer("p.thp > 200ns", first)
    assert (found.decision, found.reading and found.reading.value) == (NOT_MET, 189.0)
    found = answer("p.thp[size=64] > 150ns", first)
    assert (found.decision, found.why) == (UNDECIDED, "the interval contains the limit")
    assert answer("p.thp > 150ns", [run(1, value(1, 2.0, size=16), value(1, 149.5, size=64))]).decision is UNDECIDED


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("p.thp > 150", "p.thp: expected a value in ns, us, ms, s, min, h, d, y, found '150'"),
        ("p.thp > 100k", "expected a value in ns"),
        ("p.thp > 2 GB/s", "expected a value in ns"),
        ("p.iops < 5 ms", "p.iops: expected a number such as 250, 100k or 1.5M, found '5 ms'"),
        ("p.validity < 1", "p.validity is a verdict, which has no limit"),
    ],
)
def test_a_bound_of_another_unit_is_an_error_that_names_the_right_ones(condition: str, expected: str) -> None:
    first = [run(1, value(1, 1.0), value(1, 1.0, IOPS), value(1, 1.0, VERDICT))]

    with pytest.raises(UsageError) as refused:
        answers(condition, first)
    assert expected in str(refused.value)


@pytest.mark.parametrize(
    "text", ["", "p.thp", "p.thp > fast", "p.thp => 5%", "p.thp > +5 %x", "p.thp[size] > 5%", "\x1b[2J", "p.thp > %"]
)
def test_a_condition_that_cannot_be_read_shows_one_that_can(text: str) -> None:
    with pytest.raises(UsageError, match="--fail-if"):
        answers(text, side(FAST), side(FAST, 10))


def test_figures_that_their_own_run_calls_invalid_decide_nothing() -> None:
    def invalid(digests: list[Digest]) -> list[Digest]:
        return [replace(one, values=tuple(replace(each, invalid="steady") for each in one.values)) for one in digests]

    first, base = side(SLOW, 10), side(FAST)

    assert answer("p.thp > +5%", invalid(first), base).why == "not valid on the new side: steady"
    assert answer("p.thp > +5%", first, invalid(base)).why == "not valid on the baseline: steady"
    assert answer("p.thp > 50ns", invalid(first)).why == "validity: fail (steady)"


def test_a_session_says_which_of_its_figures_are_invalid_and_what_their_intervals_are() -> None:
    """The verdict of a probe on a point is about all figures of that point and of no other."""
    step = Step("io.direct", "io.direct", "", {}, 0, 0)
    series = {one.name: one for one in (RATE, VERDICT)}
    sequence = StepRun(step, "", series, "curve", 0, outcome=Outcome(Status.OK))
    figures: list[tuple[str, Coordinates, float]] = [
        ("rate", {"queue_depth": 1}, 10.0),
        ("rate", {"queue_depth": 4}, 30.0),
        ("validity", {"queue_depth": 4, "part": "steady"}, 0.0),
        ("validity", {"queue_depth": 1, "part": "steady"}, 0.5),
        ("validity", {"part": "concurrent"}, 0.0),
    ]
    for name, at, figure in figures:
        estimate = Estimate(name, at, figure, low=figure - 1, high=figure + 1)
        sequence.points[point_key(name, at)] = Point(name, at, estimate=estimate)
    session = Session(SessionRecord("", "1", "", "db01", ""), plans=[Plan("p", (step,))], steps={step.id: sequence})

    found = {(one.metric, one.value): (one.low, one.high, one.invalid) for one in digest(session, "s").values}
    assert found["io.direct.rate", 10.0] == (9.0, 11.0, "")
    assert found["io.direct.rate", 30.0] == (29.0, 31.0, "throughput was not steady")
