"""What was measured, in words."""

from sizeup.views.results import stated_once


def test_a_doubt_is_stated_once_and_those_that_differ_in_figures_are_counted() -> None:
    doubts = [
        "busy: 55 % before the run",
        "the second half ran +8%",
        "busy: 55 % before the run",
        "the second half ran -12%",
    ]

    assert stated_once(doubts) == [
        "busy: 55 % before the run",
        "the second half ran +8% (and 1 more with other figures)",
    ]
