"""What was measured, in words."""

import pytest

from sizeup.views.run.points import coordinate_words
from sizeup.views.run.results import stated_once


def test_a_caveat_is_stated_once_and_those_that_differ_in_figures_are_counted() -> None:
    caveats = [
        "busy: 55 % before the run",
        "the second half ran +8 %",
        "busy: 55 % before the run",
        "the second half ran -12 %",
    ]

    assert stated_once(caveats) == [
        "busy: 55 % before the run",
        "the second half ran +8 % (1 similar)",
    ]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("oltp-read", "random read 8 KiB"),
        ("oltp-7030 reads", "random 70/30 8 KiB (reads)"),
        ("sequential-1m-0r", "sequential write 1 MiB"),
        ("random-4k-100r", "random read 4 KiB"),
        ("random-512b-50r writes", "random 512 B, 50 % reads (writes)"),
        ("random 4096-65536 100r", "random 4096-65536 100r"),
    ],
)
def test_a_workload_of_an_importer_stands_in_words_as_those_of_presets(name: str, words: str) -> None:
    assert coordinate_words("workload", name) == words
