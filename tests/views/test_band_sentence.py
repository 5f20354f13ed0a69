"""The sentence of a verdict: its figures in as many digits as are known."""

from sizeup.model.advice import Bounds, Card, ShareFacts
from sizeup.views.result.band import band_sentence


def test_a_capacity_that_is_hardly_known_has_three_digits_of_what_is_certain() -> None:
    demand, capacity = Bounds(20_000, 20_000, 20_000), Bounds(47_618.3, 25.6637, None)
    card = Card("storage", "uncertain", share=0.42, facts=ShareFacts(demand, capacity, "IOPS"))

    assert band_sentence(card) == "Storage is not certain: 20,000 IOPS wanted, 47,620 IOPS measured, 25.7 IOPS certain."
