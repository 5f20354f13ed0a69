"""How often like hosts are reported by mistake, and how often a slow one is found: simulated fleets.

The rates that docs/results/simulations.md states; the full table of the page takes a minute.
"""

import math
import random

import pytest

from sizeup.fleet.outliers import FEW_HOSTS, LARGE_CHANGE, LEAST_HOSTS, SMALL_CHANGE, small_change_sigmas, spread

METRICS = 8


def false_alarms(hosts: int, scatter: float, fleets: int) -> float:
    """The share of fleets of like hosts in which any figure of any host stands out."""
    chance = random.Random(hosts)
    return sum(any(_alarm(chance, hosts, scatter) for _ in range(METRICS)) for _ in range(fleets)) / fleets


def _alarm(chance: random.Random, hosts: int, scatter: float) -> bool:
    values = [chance.lognormvariate(0, scatter) for _ in range(hosts)]
    limits = spread(values)
    return limits.stands_out(min(values)) or limits.stands_out(max(values))


def detection(hosts: int, scatter: float, fleets: int, factor: float = 1.6) -> float:
    """The share of fleets in which one host that is slower by the factor is found."""
    chance = random.Random(hosts)
    found = 0
    for _ in range(fleets):
        values = [chance.lognormvariate(0, scatter) for _ in range(hosts)]
        values[0] *= factor
        found += spread(values).stands_out(values[0])
    return found / fleets


@pytest.mark.ci
@pytest.mark.parametrize("hosts", [3, 5, 8, 12, 30, 100])
def test_the_rates_of_the_page(hosts: int) -> None:
    fleets = 600 if hosts < 100 else 250
    for scatter in (0.01, 0.02, 0.03, 0.05):
        assert false_alarms(hosts, scatter, fleets) <= 0.065  # 5 %, and what chance adds in so many fleets
    assert detection(hosts, 0.02 if hosts < 5 else 0.03, 1000) >= 0.95
    if hosts >= 12:
        assert detection(hosts, 0.05, 1000) >= 0.95


def test_a_tiny_mad_does_not_make_a_small_difference_an_outlier() -> None:
    alike = [100.0] * 20

    assert spread(alike).sigma == 0
    assert not spread([*alike, 100 * (1 + SMALL_CHANGE) - 0.01]).stands_out(100 * (1 + SMALL_CHANGE) - 0.01)
    assert spread([*alike, 111.0]).stands_out(111.0)
    assert spread([*alike, 89.0]).stands_out(89.0)
    assert spread([100.0] * (FEW_HOSTS - 1) + [111.0]).stands_out(111.0)
    assert not spread([100.0] * (FEW_HOSTS - 2) + [111.0]).stands_out(111.0)


def test_few_hosts_report_a_large_difference_alone() -> None:
    few = [100.0] * (FEW_HOSTS - 2)

    assert not spread([*few, 120.0]).stands_out(120.0)
    assert spread([*few, 126.0]).stands_out(126.0)
    assert not spread([100.0, 160.0]).stands_out(160.0)
    assert spread([98.0, 100.0, 102.0, 130.0]).stands_out(130.0)
    assert LEAST_HOSTS == 3
    assert LARGE_CHANGE == 0.25


def test_scatter_within_the_runs_is_scatter() -> None:
    values = [100.0, 101.0, 99.0, 100.0, 130.0]

    assert spread(values).stands_out(130.0)
    assert spread(values).sigma == pytest.approx(1.4826 * math.log(101 / 100), rel=1e-3)
    assert not spread(values, [(85.0, 115.0)] * 5).stands_out(130.0)
    assert spread([0.0, -1.0]).hosts == 0
    assert spread(values, [(100.0, 100.0)] * 3 + [(85.0, 115.0)] * 2).sigma == spread(values).sigma, "three scatter not"
    assert not spread([1.0, 1.0, 1.0]).stands_out(0.0)


def test_the_limit_falls_with_the_number_of_hosts() -> None:
    assert [round(small_change_sigmas(hosts), 1) for hosts in (8, 12, 30, 300)] == [8.8, 7.3, 5.6, 4.6]


def test_an_outlier_does_not_hide_another() -> None:
    values = [100.0, 100.5, 99.5, 101.0, 99.0, 100.2, 99.8, 160.0, 165.0, 170.0]

    assert [value for value in values if spread(values).stands_out(value)] == [160.0, 165.0, 170.0]
