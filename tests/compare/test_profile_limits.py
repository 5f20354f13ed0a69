"""A limit of a profile is met or missed by both ends of a figure; what only touches the bound decides nothing."""

import pytest

from sizeup.compare.profile import AcceptanceResult, ProfileLimit, requirements
from sizeup.quantity import Origin, Quantity

PASS, FAIL, UNDECIDED = AcceptanceResult.PASS, AcceptanceResult.FAIL, AcceptanceResult.UNDECIDED


@pytest.mark.parametrize(
    ("low", "high", "of_at_least_100", "of_at_most_100"),
    [
        (100.0, 100.0, PASS, PASS),
        (100.0, 120.0, PASS, UNDECIDED),
        (80.0, 100.0, UNDECIDED, PASS),
        (80.0, 120.0, UNDECIDED, UNDECIDED),
        (100.5, 120.0, PASS, FAIL),
        (80.0, 99.5, FAIL, PASS),
    ],
)
def test_an_end_at_the_bound_meets_it_and_misses_nothing(
    low: float, high: float, of_at_least_100: AcceptanceResult, of_at_most_100: AcceptanceResult
) -> None:
    figures = {"f": Quantity((low + high) / 2, "1", Origin.MEASURED, "a run", low=low, high=high)}

    (found,) = requirements(ProfileLimit("f", "Figure", "1", least=100.0), figures)
    assert found.result is of_at_least_100
    (found,) = requirements(ProfileLimit("f", "Figure", "1", most=100.0), figures)
    assert found.result is of_at_most_100
