"""Ratios in a comparison: no exponent, however large."""

import pytest

from sizeup.views.comparison.comparison import change


@pytest.mark.parametrize(("ratio", "text"), [(12.0, "x 12"), (12.34, "x 12.3"), (1533.0, "x 1,530"), (0.5, "x 0.5")])
def test_a_ratio_has_separators_and_no_exponent(ratio: float, text: str) -> None:
    assert change(ratio) == text
