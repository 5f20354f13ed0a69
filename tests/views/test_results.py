"""What was measured, in words."""

from sizeup.views.run.results import stated_once


def test_a_caveat_is_stated_once_and_those_that_differ_in_figures_are_counted() -> None:
    caveats = [
        "busy: 55 % before the run",
        "the second half ran +8%",
        "busy: 55 % before the run",
        "the second half ran -12%",
    ]

    assert stated_once(caveats) == [
        "busy: 55 % before the run",
        "the second half ran +8% (1 similar)",
    ]
