"""Tabs of which there are too many for a row."""

import pytest

from sizeup.tui.widgets.lines import visible_tabs

NAMES = ("IOPS", "Latency", "Latency vs IOPS", "Over time", "Table", "Validity")


@pytest.mark.parametrize(
    ("chosen", "width", "shown"),
    [
        ("IOPS", 80, NAMES),
        ("IOPS", 40, ("IOPS", "Latency", "Latency vs IOPS", ">")),
        ("Table", 40, ("<", "Over time", "Table", "Validity")),
        ("Validity", 5, ("<", "Validity")),
        ("gone", 40, ("IOPS", "Latency", "Latency vs IOPS", ">")),
    ],
)
def test_the_tabs_around_the_chosen_one_are_shown_whole(chosen: str, width: int, shown: tuple[str, ...]) -> None:
    assert visible_tabs(NAMES, chosen, width) == shown
