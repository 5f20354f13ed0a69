"""How often a comparison of equal machines cries wolf, and how often it finds a true change.

The noise is that of twelve sessions of the quick plan each on a two-CPU guest, while others used it and while
nobody did; see ``docs/results/simulations.md``.
"""

import math
import random

import pytest
from msgspec import Struct
from msgspec.structs import replace

from sizeup.compare.compare import compare
from sizeup.compare.comparison import LEVEL, LEVEL_WITHOUT_TIMES, Conclusion
from sizeup.compare.conditions import Decision, parse_condition
from sizeup.compare.digest import Digest, RunValue
from sizeup.compare.statistics import median, rank_sum_p
from sizeup.model.plan import Better, Series
from sizeup.session.value import point_key

PAIRS = 800
TURNS, BLOCKS, LONG_BLOCKS = "ABBAABBAABBA", "AAAAAABBBBBB", "AAAAAAAABBBBBBBB"
SERIES = Series("s", "S", "ns", Better.LOWER)
Runs = dict[str, list[list[float]]]
"""The samples of each run, by side, in order of time."""


class Noise(Struct, frozen=True):
    """Of logarithms: spreads are shares of the value."""

    run: float
    run_likeness: float
    """Lag-1 correlation of runs that follow each other."""
    sample: float
    sample_likeness: float
    samples: int


CONTENDED = Noise(run=0.05, run_likeness=0.2, sample=0.06, sample_likeness=0.46, samples=30)
CALM = Noise(run=0.012, run_likeness=0.11, sample=0.013, sample_likeness=0.55, samples=55)


def as_measured(noise: Noise) -> Noise:
    """Without samples: the scatter of runs that was measured has their error in it already."""
    return replace(noise, run=0.96 * noise.run, sample=0.0, samples=1)


def walk(source: random.Random, spread: float, likeness: float, count: int) -> list[float]:
    """A stationary series in which each value resembles the one before."""
    values = [source.gauss(0, spread)]
    for _ in range(count - 1):
        values.append(likeness * values[-1] + source.gauss(0, spread * math.sqrt(1 - likeness**2)))
    return values


def runs(source: random.Random, noise: Noise, order: str, change: float, drift: float = 0.0) -> Runs:
    """Runs of both sides; ``drift`` is from the first run to the last."""
    sides: Runs = {"A": [], "B": []}
    levels = walk(source, noise.run, noise.run_likeness, len(order))
    for place, (side, level) in enumerate(zip(order, levels, strict=True)):
        drifted = drift * (place / (len(order) - 1) - 0.5)
        shift = level + drifted + (math.log(change) if side == "A" else 0)
        inner = walk(source, noise.sample, noise.sample_likeness, noise.samples)
        sides[side].append([math.exp(shift + value) for value in inner])
    return sides


def digests(first: Runs, order: str, *others: Runs) -> tuple[list[Digest], list[Digest]]:
    """Both sides, with a metric for the first samples and one for each of the others."""
    places = {side: [float(time) for time, letter in enumerate(order) if letter == side] for side in "AB"}

    def digest(side: str, number: int, when: float) -> Digest:
        run = f"{side}{number}"
        values = tuple(
            RunValue(
                f"p.s{metric}", point_key("s", {}), {}, SERIES, median(sides[side][number]), f"{run}~1", {}, "", when
            )
            for metric, sides in enumerate((first, *others))
        )
        return Digest("", run, "db01", "", "", None, {}, values, ())

    ours, theirs = ([digest(side, *place) for place in enumerate(places[side])] for side in "AB")
    return ours, theirs


def spread(deviation: float) -> Noise:
    """Runs of a server that others hardly use."""
    return Noise(run=deviation, run_likeness=0.1, sample=0.0, sample_likeness=0.0, samples=1)


@pytest.mark.parametrize("noise", [pytest.param(CONTENDED, id="contended"), pytest.param(CALM, id="calm")])
@pytest.mark.parametrize("order", [TURNS, BLOCKS, LONG_BLOCKS])
def test_equal_machines_differ_in_at_most_five_of_a_hundred_pairs(order: str, noise: Noise) -> None:
    source = random.Random(20260131)
    question = parse_condition("p.s0 > +2 %"), parse_condition("p.s0 < -2 %")
    wolf = status = 0
    for _ in range(PAIRS):
        comparison = compare(*digests(runs(source, noise, order, 1.0), order), questions=question)
        assert comparison.level == LEVEL
        wolf += comparison.metrics[0].different
        status += comparison.condition_met

    assert wolf / PAIRS <= 0.05
    assert status / PAIRS <= 0.05


@pytest.mark.ci
@pytest.mark.parametrize("drift", [0.0, 0.05, -0.1])
@pytest.mark.parametrize("deviation", [0.02, 0.04])
@pytest.mark.parametrize("order", [TURNS, BLOCKS])
def test_a_drift_is_not_taken_for_a_difference(order: str, deviation: float, drift: float) -> None:
    source = random.Random(20260131)
    pairs = (digests(runs(source, spread(deviation), order, 1.0, drift), order) for _ in range(PAIRS))

    assert sum(compare(*pair).metrics[0].different for pair in pairs) / PAIRS <= 0.05


def test_without_times_the_level_is_lower() -> None:
    timed = digests(runs(random.Random(20260131), CALM, BLOCKS, 1.1), BLOCKS)
    ours, theirs = (
        [replace(run, values=tuple(replace(value, when=None) for value in run.values)) for run in side]
        for side in timed
    )
    comparison = compare(ours, theirs)

    assert comparison.level == LEVEL_WITHOUT_TIMES
    assert comparison.metrics[0].different


def test_many_equal_metrics_are_no_reason_for_more_false_alarms() -> None:
    """In any of eight metrics that vary each for itself: corrected for their number."""
    source = random.Random(20260131)
    wolf = 0
    for _ in range(200):
        first, *others = (runs(source, spread(0.04), TURNS, 1.0) for _ in range(8))
        comparison = compare(*digests(first, TURNS, *others))
        assert len(comparison.metrics) == 8
        wolf += any(figure.different for figure in comparison.metrics)

    assert wolf / 200 <= 0.05


@pytest.mark.parametrize(
    ("order", "noise"),
    [
        pytest.param(TURNS, CONTENDED, id="turns-contended"),
        pytest.param(TURNS, CALM, id="turns-calm"),
        pytest.param(BLOCKS, CALM, id="blocks-calm"),
    ],
)
def test_a_change_of_ten_percent_is_found_in_four_of_five_pairs(order: str, noise: Noise) -> None:
    source = random.Random(20260131)
    pairs = (digests(runs(source, as_measured(noise), order, 1.1), order) for _ in range(PAIRS))
    found = sum(compare(*pair).metrics[0].different for pair in pairs)

    assert found / PAIRS >= 0.8


@pytest.mark.ci
@pytest.mark.parametrize("drift", [0.0, 0.05, -0.05])
@pytest.mark.parametrize("deviation", [0.02, 0.04])
@pytest.mark.parametrize("order", [TURNS, BLOCKS])
def test_a_change_of_ten_percent_is_found_or_the_runs_cannot_decide(order: str, deviation: float, drift: float) -> None:
    source = random.Random(20260131)
    pairs = (digests(runs(source, spread(deviation), order, 1.1, drift), order) for _ in range(PAIRS))
    figures = [compare(*pair).metrics[0] for pair in pairs]
    missed = [figure for figure in figures if not figure.different]
    undecided = [figure for figure in missed if figure.verdict is Conclusion.UNDECIDED and figure.more_runs]

    assert len(missed) <= 0.2 * PAIRS or order == BLOCKS
    assert len(undecided) >= 0.95 * len(missed)


def test_so_many_more_runs_find_it() -> None:
    """What the runs that cannot decide ask for does."""
    source = random.Random(20260131)
    noise, asked = spread(0.08), []
    for _ in range(200):
        figure = compare(*digests(runs(source, noise, TURNS, 1.1), TURNS)).metrics[0]
        if figure.verdict is Conclusion.UNDECIDED and figure.more_runs:
            asked.append(figure.more_runs)
    assert len(asked) >= 50
    longer = "ABBA" * round((6 + median(asked)) / 2)
    pairs = (digests(runs(source, noise, longer, 1.1), longer) for _ in range(200))

    assert sum(compare(*pair).metrics[0].different for pair in pairs) / 200 >= 0.7


@pytest.mark.parametrize("order", [TURNS, BLOCKS])
def test_a_gate_passes_next_to_no_slowdown_of_twice_its_bound(order: str) -> None:
    """What the runs leave open is undecided: a pass has to be shown."""
    source = random.Random(20260131)
    question = parse_condition("p.s0 > +5 %")
    pairs = (digests(runs(source, as_measured(CONTENDED), order, 1.1), order) for _ in range(400))
    decisions = [compare(*pair, questions=[question]).conditions[0].decision for pair in pairs]

    assert decisions.count(Decision.NOT_MET) / 400 <= 0.025
    if order == TURNS:
        assert decisions.count(Decision.MET) / 400 >= 0.6


def test_raw_samples_would_cry_wolf_most_of_the_time() -> None:
    source = random.Random(20260131)
    wolf = 0
    for _ in range(200):
        sides = runs(source, CONTENDED, TURNS, 1.0)
        flat = {side: [value for run in sides[side] for value in run] for side in "AB"}
        wolf += rank_sum_p(flat["A"], flat["B"]) <= LEVEL

    assert wolf / 200 > 0.5
