"""Figures of ORION, from its summary, its output and its matrix."""

import pytest

from importers.results import MATRIX, ORION, ORION_OUTPUT, caveats, figures
from sizeup.errors import MalformedError
from sizeup.importers.orion import parse_orion, parse_orion_matrix


def test_orion_gives_its_three_best_figures_and_the_latency_at_the_most_requests() -> None:
    imported = parse_orion(ORION, "disks_summary.txt")

    assert imported.tool == "ORION 11.2.0.4.0"
    assert figures(imported) == {
        ("rate", "dss-rand", 4): 200 * 1024**2,
        ("iops", "oltp-read", 17): 9000.0,
        ("latency-mean", "oltp-read", 1): 120_500.0,
        ("latency-mean", "oltp-read", 17): 1_800_000.0,
    }
    assert any("megabyte" in caveat for caveat in caveats(imported))


def test_orion_of_a_mix_keeps_the_latencies_of_reads_and_writes_apart() -> None:
    writes = "Small Write Latency: avg=2200 us, min=700 us, max=12000 us, std dev=400 us @ Small=17 and Large=0\n"
    text = ORION.replace("Write: 0%", "Write: 50%").replace("\nMinimum Small", f"{writes}\nMinimum Small")

    assert {place: value for place, value in figures(parse_orion(text, "x")).items() if place[0] == "latency-mean"} == {
        ("latency-mean", "random-8k-50r", 1): 120_500.0,
        ("latency-mean", "random-8k-50r reads", 1): 120_000.0,
        ("latency-mean", "random-8k-50r reads", 17): 1_800_000.0,
        ("latency-mean", "random-8k-50r writes", 17): 2_200_000.0,
    }


def test_orion_of_version_10_left_out_the_milliseconds() -> None:
    text = "ORION VERSION 10.2.0.1.0\nMinimum Small Latency=6.55 @ Small=1 and Large=0\n"

    assert figures(parse_orion(text, "old.txt")) == {("latency-mean", "oltp-read", 1): 6_550_000.0}


def test_orion_on_the_terminal_says_what_it_tested_by_its_command_line_alone() -> None:
    imported = parse_orion(ORION_OUTPUT, "orion.log")

    assert imported.tool == "ORION 19.5.0.0.0"
    assert str(imported.steps[0].settings["command"]).startswith("-run oltp -testname disks")
    assert figures(imported) == {
        ("iops", "random-8k-50r", 12): 30000.0,
        ("latency-mean", "random-8k-50r reads", 12): 200_500.0,
        ("latency-mean", "random-8k-50r writes", 12): 300_500.0,
    }
    assert not caveats(imported)
    extra = next(one.extra for one in imported.steps[0].estimates if one.series == "iops")
    assert extra == {"block_bytes": 8192, "write_percent": 50}


def test_orion_on_the_terminal_without_its_command_line_assumes_the_defaults_and_says_so() -> None:
    imported = parse_orion(ORION_OUTPUT.split("\n", 1)[1], "orion.log")

    assert figures(imported)["iops", "oltp-read", 12] == 30000.0
    assert any("its defaults are assumed" in caveat for caveat in caveats(imported))


def test_orions_matrix_gives_a_point_for_each_mix_that_was_tested() -> None:
    assert figures(parse_orion_matrix(MATRIX, "disks_1_iops.csv")) == {
        ("iops", "oltp-read", 1): 2302.0,
        ("iops", "oltp-read", 2): 4398.0,
        ("matrix-iops", 1, 1): 1900.0,
    }


def test_orions_rates_go_by_large_requests_out() -> None:
    text = "Large/Small,      0,      1\n          1, 271.58, 250.00\n          2, 374.26\n"

    assert figures(parse_orion_matrix(text, "disks_1_mbps.csv")) == {
        ("rate", "dss-rand", 1): 271.58 * 1024**2,
        ("rate", "dss-rand", 2): 374.26 * 1024**2,
        ("matrix-rate", 1, 1): 250.0 * 1024**2,
    }


@pytest.mark.parametrize(
    ("above", "factor", "doubted"),
    [
        ("", 1e6, True),
        ("ORION VERSION 12.1.0.1.0\nThe average latency sustained by small I/Os in microseconds.\n", 1e3, False),
    ],
)
def test_orions_latencies_are_milliseconds_unless_it_says_so(above: str, factor: float, *, doubted: bool) -> None:
    imported = parse_orion_matrix(f"{above}Large/Small,  1\n  0,  0.43\n", "disks_1_lat.csv")

    assert figures(imported) == {("latency-mean", "oltp-read", 1): pytest.approx(0.43 * factor)}
    assert any("milliseconds" in caveat for caveat in caveats(imported)) is doubted


@pytest.mark.parametrize(
    ("text", "name"),
    [(MATRIX, "x.csv"), ("Large/Small, 1\n 0, many\n", "a_iops.csv"), ("Large/Small, 1\n 0\n", "a_iops.csv")],
)
def test_a_matrix_that_does_not_say_what_it_is_or_holds_nothing_is_refused(text: str, name: str) -> None:
    with pytest.raises(MalformedError, match=name):
        parse_orion_matrix(text, name)
