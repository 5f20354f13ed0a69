"""The sentence of a verdict: its figures in as many digits as are known."""

import math

import pytest

from sizeup.model.advice import Bounds, Card, ShareFacts
from sizeup.sizing.verdict import share_text
from sizeup.views.result.band import Number, band_sentence, share_number


def test_a_capacity_that_is_hardly_known_has_three_digits_of_what_is_certain() -> None:
    demand, capacity = Bounds(20_000, 20_000, 20_000), Bounds(47_618.3, 25.6637, None)
    card = Card("storage", "uncertain", share=0.42, facts=ShareFacts(demand, capacity, "IOPS"))

    assert band_sentence(card) == "Storage is not certain: 20,000 IOPS wanted, 47,620 IOPS measured, 25.7 IOPS certain."


@pytest.mark.parametrize(
    ("low", "number"),
    [
        (83.45, Number("479", "%", "of storage capacity at worst")),
        (25.0, Number("0.54", "%", "of storage capacity as measured")),  # 1,600 % at worst say nothing
        # of its links, while its drives are unknown
        (74_630.0, Number("0.54", "%", "of storage capacity as measured")),
    ],
)
def test_the_large_number_of_what_is_not_certain_is_its_worst_as_far_as_that_says_something(
    low: float, number: Number
) -> None:
    facts = ShareFacts(Bounds(400, 400, 400), Bounds(74_630, low, 78_660), "IOPS")

    assert share_number(Card("storage", "uncertain", share=400 / 74_630, facts=facts)) == number


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.5, "50 %"), (1.001, ">100 %"), (9.99, "999 %"), (9.996, ">999 %"), (527.82, ">999 %"), (math.inf, ">999 %")],
)
def test_a_share_beyond_what_can_be_read_has_one_form(share: float, text: str) -> None:
    assert share_text(share) == text
