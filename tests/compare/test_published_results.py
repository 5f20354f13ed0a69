"""A published case can stand as one side: its printed figure beside what was measured."""

from pathlib import Path

import pytest

from sizeup.batch.comparison import comparison_lines
from sizeup.compare.compare import compare
from sizeup.compare.comparison import Conclusion
from sizeup.compare.published_results import digest_sides, published_digest
from sizeup.errors import UsageError

KEPT = Path(__file__).parents[1] / "session/formats/format-1.jsonl"


def test_the_printed_latency_stands_beside_the_measured_one() -> None:
    comparison = compare(*digest_sides([str(KEPT)], ["preset:slb-e5320"]))

    (figure,) = comparison.metrics
    assert (figure.metric, figure.verdict) == ("memory.local_ns", Conclusion.TOO_FEW)
    assert figure.medians == pytest.approx((1.22, 131.3))
    assert comparison.differences == ()
    assert "memory.latency.dram-thp" in comparison.only_new
    (warning,) = comparison.warnings
    assert "clock.cost: measured, but not valid because its step crashed" in warning
    assert comparison.sides[1][0].source.startswith("K. Closson")


def test_printed_cycles_become_time_at_the_printed_clock() -> None:
    (value,) = published_digest("clock-rdtsc").values

    assert (value.metric, round(value.value, 1)) == ("clock.gettimeofday_ns", 124.6)


def test_two_published_cases_compare_with_each_other() -> None:
    (figure,) = compare(*digest_sides(["preset:clock-rdtscp"], ["preset:clock-rdtsc"])).metrics

    assert figure.ratio < 1


def test_an_unknown_case_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"unknown preset 'slb-e532' \(did you mean slb-e5320"):
        digest_sides([str(KEPT)], ["preset:slb-e532"])


def test_the_text_says_where_a_case_was_printed_and_what_it_stands_beside() -> None:
    lines = comparison_lines(compare(*digest_sides([str(KEPT)], ["preset:slb-e5320"])), points=False)

    assert "! memory.local_ns was measured as memory.latency.dram-thp dram-thp at working_set_bytes=16384" in lines
    assert any(line.startswith("Machines: not compared, because A (baseline)") for line in lines)
    assert any("Silly Little Benchmark" in line and "K. Closson" in line for line in lines)
