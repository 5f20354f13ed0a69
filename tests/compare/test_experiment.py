"""What follows from the runs of an experiment: paired by round, of valid figures alone, and seldom wrong."""

import math
import random
from collections.abc import Callable, Sequence

import pytest

from sizeup.compare.comparison import Conclusion
from sizeup.compare.experiment import ExperimentResult, experiment_result, run_order
from sizeup.errors import UsageError
from sizeup.model.plan import Better, ExperimentRun, Plan, Series, Step
from sizeup.model.sample import Coordinates, Estimate, Outcome, Status
from sizeup.session.records import CommandRecord, ExperimentRecord, SessionRecord
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.views.comparison.experiment import conclusions, experiment_data, experiment_lines, experiment_table

HEADER = SessionRecord(1, "s1", "sizeup 0.1.0", "db01", "2026-01-31T09:30:00Z")
LATENCY = Series("latency", "Latency", "ns", Better.LOWER)
CURVE = Series("latency", "Latency", "ns", Better.LOWER, "size", "bytes", "Size")

Measure = Callable[[str, int], list[Point] | None]


def point(value: float, series: str = "latency", at: Coordinates | None = None) -> Point:
    at = at or {}
    return Point(series, at, estimate=Estimate(series, at, value))


def session(
    measure: Measure, *, rounds: int = 6, series: Sequence[Series] = (LATENCY,), done: int | None = None
) -> Session:
    """An experiment of one step a run; ``measure`` returns the points of a setting and round, None where it failed."""
    order = "".join(run_order(rounds))
    made = Session(HEADER)
    made.experiments.append(ExperimentRecord(1, "e1", "true", "false", "true", rounds, order, 1.0, 60.0, "ann"))
    for number, setting in enumerate(order[:done]):
        step = Step("p" if number == 0 else f"p~{number + 1}", "p", "P", {}, 1.0, 10.0)
        made.plans.append(Plan("custom", (step,), experiment_run=ExperimentRun("e1", setting, number // 2 + 1)))
        points = measure(setting, number // 2 + 1)
        run = StepRun(step, "sizeup 0.1.0", {one.name: one for one in series}, "curve", number)
        run.points = {point_key(one.series, one.at): one for one in points or ()}
        run.outcome = Outcome(Status.OK if points is not None else Status.CRASHED)
        made.steps[step.id] = run
    return made


def found(made: Session, **options: object) -> ExperimentResult:
    return experiment_result(made, "run", **options)  # type: ignore[arg-type]


def noisy(source: random.Random, change: float, spread: float, drift: float, rounds: int = 6) -> Session:
    """B is slower by ``change``; runs spread, and the machine drifts from the first run to the last."""
    numbers = iter(range(2 * rounds))

    def measure(setting: str, round_: int) -> list[Point]:
        level = 100 * (1 + change * (setting == "b")) * (1 + drift * next(numbers) / (2 * rounds - 1))
        return [point(level * math.exp(source.gauss(0, spread)))]

    return session(measure, rounds=rounds)


def test_the_order_is_balanced_against_drift() -> None:
    assert "".join(run_order(4)) == "abbabaab"
    for rounds in range(3, 21):
        order = "".join(run_order(rounds))
        assert {order[place : place + 2] for place in range(0, len(order), 2)} == {"ab", "ba"}
        first = sum(order[place] == "a" for place in range(0, len(order), 2))
        assert abs(2 * first - rounds) <= 1


def test_a_difference_is_a_ratio_of_b_to_a_with_its_interval() -> None:
    noise = dict(zip([(s, r) for r in range(1, 7) for s in "ab"], [0, 1, -1, 0, 2, 1, 0, -2, 1, 0, 1, 1], strict=True))
    result = found(session(lambda s, r: [point((110 if s == "b" else 100) + noise[s, r])]))

    (figure,) = result.figures
    assert (figure.metric, figure.runs, figure.verdict) == ("p.latency", (6, 6), Conclusion.WORSE)
    assert figure.medians == pytest.approx((110.5, 100.5), abs=0.6)
    assert figure.low is not None
    assert figure.high is not None
    assert 1.08 < figure.low < figure.ratio < figure.high < 1.12
    assert figure.p < 0.001
    (sentence,) = conclusions(result)
    assert sentence.startswith("p.latency: B is worse: +")
    assert sentence.endswith("p <0.001")
    assert experiment_table(result).rows[0][0] == "p.latency"
    (data,) = experiment_data(result, "run")["metrics"]
    assert (data["verdict"], data["ratio"], data["left_out"]) == ("worse", figure.ratio, [])


def test_two_figures_must_be_surer_than_one_alone() -> None:
    """The logarithms of the ratios are 0.095 and up or down by 0.077: p = 0.04 of one, 0.08 of the first of two."""
    series = (LATENCY, Series("other", "Other", "ns", Better.LOWER))

    def measure(setting: str, round_: int) -> list[Point]:
        value = 100.0 if setting == "a" else 110 * math.exp(0.077 * (-1) ** round_)
        return [point(value), point(value, "other")]

    made = session(measure, series=series)
    alone, both = (found(made, metrics=metrics).figures for metrics in (["p.latency"], ["p.latency", "p.other"]))

    assert [one.verdict for one in alone] == [Conclusion.WORSE]
    assert alone[0].low == pytest.approx(math.exp(math.log(1.1) - 2.571 * 0.077 / math.sqrt(5)), rel=1e-3)
    assert [one.verdict for one in both] == [Conclusion.UNDECIDED] * 2


def test_the_direction_that_is_better_is_that_of_the_series() -> None:
    for better, verdict in (
        (Better.LOWER, Conclusion.WORSE),
        (Better.HIGHER, Conclusion.BETTER),
        (Better.NEITHER, Conclusion.HIGHER),
    ):
        series = Series("latency", "Latency", "ns", better)
        made = session(lambda s, r: [point(120.0 + r if s == "b" else 100.0)], series=(series,))
        assert found(made).figures[0].verdict is verdict


def test_drift_within_rounds_is_paired_away() -> None:
    """Each round is twice as slow as the one before: an unpaired test would see nothing but that."""
    made = session(lambda s, r: [point(100 * 2**r * (1.1 if s == "b" else 1.0) * (1 + r % 2 / 100))])

    assert found(made).figures[0].verdict is Conclusion.WORSE


@pytest.mark.parametrize("why", ["crashed", "invalid", "zero", "infinite"])
def test_rounds_without_a_valid_figure_are_left_out(why: str) -> None:
    verdict = Series("check", "Check", "verdict", Better.HIGHER)

    def measure(setting: str, round_: int) -> list[Point] | None:
        if (setting, round_) != ("b", 2):
            return [point(100.0 + round_ % 2)]
        failed = Point("check", {"part": "all"}, estimate=Estimate("check", {"part": "all"}, 0.0))
        return {
            "crashed": None,
            "invalid": [point(900.0), failed],
            "zero": [point(0.0)],
            "infinite": [point(math.inf)],
        }[why]

    result = found(session(measure, series=(LATENCY, verdict)))

    (figure,) = result.figures
    assert figure.runs == (5, 5)
    assert figure.ratio == pytest.approx(1.0)
    ((number, reason),) = result.left_out["p.latency"]
    assert number == 2
    assert " under B" in reason
    assert conclusions(result)[1].startswith("p.latency: 1 round left out: ")


def test_an_experiment_that_is_all_invalid_concludes_nothing() -> None:
    verdict = Series("check", "Check", "verdict", Better.HIGHER)
    failed = Point("check", {"part": "all"}, estimate=Estimate("check", {"part": "all"}, 0.0))
    result = found(session(lambda s, r: [point(100.0 if s == "a" else 200.0), failed], series=(LATENCY, verdict)))

    (figure,) = result.figures
    assert (figure.verdict, figure.runs) == (Conclusion.TOO_FEW, (0, 0))
    assert conclusions(result)[0].startswith("p.latency: cannot decide: 0 valid rounds of 6; at least 3 are needed")
    assert experiment_table(result).rows[0][1:5] == ("–", "–", "–", "–")


def test_the_headline_is_the_farthest_point_that_most_rounds_have() -> None:
    def measure(setting: str, round_: int) -> list[Point]:
        sizes = [1, 2, 4] if (setting, round_) != ("a", 3) else [1, 2, 4, 8]
        return [point(100.0 * size + (setting == "b") * 50 * (size == 4), at={"size": size}) for size in sizes]

    (figure,) = found(session(measure, series=(CURVE,))).figures

    assert (figure.at, figure.points) == ({"size": 4}, 1)
    assert figure.ratio == pytest.approx(450 / 400)


def test_the_point_that_the_series_names_is_its_headline() -> None:
    series = Series("latency", "Latency", "ns", Better.LOWER, headline={"method": "y"})
    made = session(
        lambda s, r: [point(5.0, at={"method": "x"}), point(7.0 if s == "b" else 8.0, at={"method": "y"})],
        series=(series,),
    )

    (figure,) = found(made).figures
    assert (figure.at, figure.ratio) == ({"method": "y"}, pytest.approx(7 / 8))


def test_only_the_first_series_is_the_headline_unless_others_are_named() -> None:
    other = Series("rate", "Rate", "1/s", Better.HIGHER)
    made = session(lambda s, r: [point(10.0, "rate"), point(5.0)], series=(LATENCY, other))

    assert [figure.metric for figure in found(made).figures] == ["p.latency"]
    assert [figure.metric for figure in found(made, metrics=["p.rate"]).figures] == ["p.rate"]
    with pytest.raises(UsageError, match=r"--metric: unknown metric 'p\.rat' \(did you mean p\.rate\?\)"):
        found(made, metrics=["p.rat"])


def test_several_figures_share_the_level() -> None:
    names = ["latency", "b", "c", "d", "e"]
    series = [Series(name, name, "ns", Better.LOWER) for name in names]
    made = session(
        lambda s, r: [point((104.0 if s == "b" else 100.0) + (r * 7) % 5 * (s == "b"), name) for name in names],
        series=series,
    )
    alone = found(made).figures[0]
    together = found(made, metrics=[f"p.{name}" for name in names]).figures

    assert alone.corrected_p == alone.p
    assert [figure.corrected_p for figure in together] == [pytest.approx(5 * alone.p)] * 5


def test_a_small_certain_difference_is_below_the_minimum_effect() -> None:
    made = session(lambda s, r: [point((101.0 if s == "b" else 100.0) + r % 2 / 10)])

    assert found(made).figures[0].verdict is Conclusion.SAME
    assert conclusions(found(made))[0].startswith("p.latency: no difference of 2 % or more: +1.0 %")
    assert found(made, minimum_effect=0.005).figures[0].verdict is Conclusion.WORSE


def test_no_difference_says_what_is_excluded_and_noise_says_how_many_rounds() -> None:
    source = random.Random(1)
    quiet = found(noisy(source, 0.0, 0.01, 0.0))
    loud = found(noisy(source, 0.0, 0.15, 0.0))

    assert quiet.figures[0].verdict is Conclusion.SAME
    assert " no difference found; a change of " in conclusions(quiet)[0]
    assert loud.figures[0].verdict is Conclusion.UNDECIDED
    assert (loud.figures[0].more_runs or 0) > 6
    assert "more rounds would probably find a change of 10 %" in conclusions(loud)[0]


def test_an_experiment_that_was_canceled_early_concludes_nothing() -> None:
    result = found(session(lambda s, r: [point(100.0 if s == "a" else 200.0)], done=5))

    (figure,) = result.figures
    assert (figure.verdict, figure.runs, result.runs) == (Conclusion.TOO_FEW, (2, 2), (2, 3))
    expected = "p.latency: cannot decide: 2 valid rounds of 6; at least 3 are needed"
    assert conclusions(result)[0] == expected


def test_whether_the_setting_was_restored_is_stated() -> None:
    made = session(lambda s, r: [point(100.0)])
    made.commands.append(CommandRecord(2, "e1", "a", "true", 0.1, 0, 1))
    killed = experiment_lines(found(made))
    made.commands.append(CommandRecord(9, "e1", "restore", "true", 0.1, 1, 0, ("read-only", ""), "it exited with 1"))
    failed = experiment_lines(found(made))
    made.commands[-1] = CommandRecord(9, "e1", "restore", "true", 0.1, 0)
    restored = experiment_lines(found(made))

    assert killed[-1] == "! The setting was not restored. Restore it with: true"
    assert failed[-2:] == ["! The command of restore failed: it exited with 1 (read-only)", killed[-1]]
    assert restored[-1] == "  Restored: true"


def test_a_session_without_an_experiment_is_refused() -> None:
    with pytest.raises(UsageError, match="run: expected the session of an experiment, found none"):
        found(Session(HEADER))


@pytest.mark.ci
@pytest.mark.parametrize("spread", [0.01, 0.03])
@pytest.mark.parametrize("drift", [0.0, 0.1, -0.1])
def test_error_rates_of_six_rounds(spread: float, drift: float) -> None:
    """Equal settings differ in at most 5 %, a change of 10 % is found in at least 90 %, or the miss is undecided."""
    source = random.Random(20260131)
    equal = [found(noisy(source, 0.0, spread, drift)).figures[0] for _ in range(1000)]
    changed = [found(noisy(source, 0.1, spread, drift)).figures[0] for _ in range(400)]
    missed = [figure for figure in changed if figure.verdict is not Conclusion.WORSE]

    assert sum(figure.different for figure in equal) <= 0.05 * len(equal) + 7
    assert len(missed) <= 0.1 * len(changed)
    assert sum(figure.verdict is Conclusion.UNDECIDED for figure in missed) >= 0.95 * len(missed)
    held = sum((f.low or 9) <= 1.1 <= (f.high or 0) for f in changed)
    assert held >= 0.92 * len(changed)


@pytest.mark.ci
def test_error_rates_of_spikes_and_few_rounds() -> None:
    """A neighbor slows one run in ten by 30 %: equal settings still do not differ in more than 5 %."""
    source = random.Random(20260131)

    def spiky(setting: str, round_: int) -> list[Point]:
        return [point(100 * math.exp(source.gauss(0, 0.01)) * (1.3 if source.random() < 0.1 else 1.0))]

    for rounds in (3, 6):
        equal = [found(session(spiky, rounds=rounds)).figures[0] for _ in range(1000)]
        assert sum(figure.different for figure in equal) <= 0.05 * len(equal) + 7
