"""How often a comparison of equal machines cries wolf, and how often it finds a true change.

The noise is that of twelve sessions of the quick plan on a shared two-CPU guest: samples within a run depend
on each other (lag-1 correlation 0.46, spread 6 %), runs scatter by 5 % and resemble their neighbours (0.2).
"""

import math
import random
from dataclasses import dataclass

import pytest

from sizeup.analysis.compare import LEVEL, LEVEL_IN_BLOCKS, compare, parse_question
from sizeup.analysis.digest import Digest, RunValue
from sizeup.analysis.statistics import median, rank_sum_p
from sizeup.model.plan import Better, Series
from sizeup.session.log import point_key

PAIRS = 2000
TURNS, BLOCKS = "ABBAABBAABBA", "AAAAAABBBBBB"
SERIES = Series("s", "S", "ns", Better.LOWER)


@dataclass(frozen=True)
class Noise:
    """Of logarithms: spreads are shares of the value."""

    run: float = 0.05
    run_likeness: float = 0.2
    sample: float = 0.06
    sample_likeness: float = 0.46
    samples: int = 30


def walk(source: random.Random, spread: float, likeness: float, count: int) -> list[float]:
    """A stationary series in which each value resembles the one before."""
    values = [source.gauss(0, spread)]
    for _ in range(count - 1):
        values.append(likeness * values[-1] + source.gauss(0, spread * math.sqrt(1 - likeness**2)))
    return values


def runs(source: random.Random, noise: Noise, order: str, change: float) -> dict[str, list[list[float]]]:
    """The samples of each run, by side, in order of time."""
    sides: dict[str, list[list[float]]] = {"A": [], "B": []}
    for side, level in zip(order, walk(source, noise.run, noise.run_likeness, len(order)), strict=True):
        shift = level + (math.log(change) if side == "A" else 0)
        inner = walk(source, noise.sample, noise.sample_likeness, noise.samples)
        sides[side].append([math.exp(shift + value) for value in inner])
    return sides


def digests(sides: dict[str, list[list[float]]], order: str, metrics: int = 1) -> tuple[list[Digest], list[Digest]]:
    places = {side: [time for time, letter in enumerate(order) if letter == side] for side in "AB"}
    built = {
        side: [
            Digest(
                "",
                f"{side}{number}",
                "db01",
                "",
                "",
                None,
                {},
                tuple(
                    RunValue(
                        f"p.s{metric}",
                        point_key("s", {}),
                        {},
                        SERIES,
                        median(samples),
                        f"{side}{number}~1",
                        {},
                        "",
                        float(places[side][number]),
                    )
                    for metric in range(metrics)
                ),
                (),
            )
            for number, samples in enumerate(sides[side])
        ]
        for side in "AB"
    }
    return built["A"], built["B"]


@pytest.mark.parametrize("order", [TURNS, BLOCKS])
def test_equal_machines_differ_in_at_most_five_of_a_hundred_pairs(order: str) -> None:
    source = random.Random(20260131)
    question = parse_question("p.s0 > +2%"), parse_question("p.s0 < -2%")
    wolf = status = 0
    for _ in range(PAIRS):
        comparison = compare(*digests(runs(source, Noise(), order, 1.0), order), questions=question)
        assert comparison.level == (LEVEL if order == TURNS else LEVEL_IN_BLOCKS)
        wolf += comparison.metrics[0].different
        status += comparison.alarm

    assert wolf / PAIRS <= 0.05
    assert status / PAIRS <= 0.05


def test_a_change_of_ten_percent_is_found_in_four_of_five_pairs() -> None:
    source = random.Random(20260131)
    # The scatter of runs that was measured has the sampling error in it already.
    noise = Noise(run=0.048, sample=0.0, samples=1)
    found = sum(compare(*digests(runs(source, noise, TURNS, 1.1), TURNS)).metrics[0].different for _ in range(PAIRS))

    assert found / PAIRS >= 0.8


def test_raw_samples_would_cry_wolf_most_of_the_time() -> None:
    source = random.Random(20260131)
    wolf = 0
    for _ in range(200):
        sides = runs(source, Noise(), TURNS, 1.0)
        flat = {side: [value for run in sides[side] for value in run] for side in "AB"}
        wolf += rank_sum_p(flat["A"], flat["B"]) <= LEVEL

    assert wolf / 200 > 0.5
