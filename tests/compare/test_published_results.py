"""A published case can stand as one side: its printed figure beside what was measured."""

from pathlib import Path

import pytest

from importers.results import FOUR, ONE, TWO
from sizeup.batch.standard_output import comparison_lines
from sizeup.cli import run
from sizeup.compare.compare import compare
from sizeup.compare.comparison import Conclusion
from sizeup.compare.published_results import digest_sides, published_digest
from sizeup.errors import ExitStatus, UsageError
from sizeup.importers.slb import PROBE, STORE
from sizeup.model.plan import Step
from sizeup.model.sample import Estimate, Outcome, Status
from sizeup.session.records import EstimateRecord, OutcomeRecord, SessionRecord, StepStartRecord
from sizeup.session.writer import Writer

KEPT = Path(__file__).parents[1] / "session/formats/format-1.jsonl"


@pytest.fixture
def imported(tmp_path: Path) -> str:
    """The published series of 1, 2 and 4 processes, as somebody has it in a file."""
    (tmp_path / "slb.txt").write_text(ONE + TWO + FOUR)
    path = str(tmp_path / "slb.sizeup.jsonl")
    assert run(["session", "import", str(tmp_path / "slb.txt"), "-o", path]) == ExitStatus.OK
    return path


def test_imported_random_stores_stand_beside_as_many_printed_ones_of_the_same_size(imported: str) -> None:
    comparison = compare(*digest_sides([imported], ["preset:slb-e5320"]))

    assert {figure.metric: figure.medians for figure in comparison.metrics} == {
        **{
            f"memory.random_store_time.{count}x786432000-stores": pytest.approx((time, time), rel=1e-3)
            for count, time in ((1, 131.3), (2, 250.55), (4, 504.1))
        },
        # 7,982,567.2 / 7,617,487.7 and 7,933,208.2 / 7,617,487.7
        "memory.random_store_scaling.2x786432000-stores": pytest.approx((1.0479, 1.0479), rel=1e-4),
        "memory.random_store_scaling.4x786432000-stores": pytest.approx((1.0414, 1.0414), rel=1e-4),
    }
    assert {figure.verdict for figure in comparison.metrics} == {Conclusion.TOO_FEW}
    assert comparison.differences == ()
    assert comparison.sides[1][0].source.startswith("K. Closson")


@pytest.mark.parametrize("case", ["slb-dl585", "slb-opteron850", "suma-8proc"])
def test_random_stores_of_another_or_an_unknown_size_are_not_compared(imported: str, case: str) -> None:
    comparison = compare(*digest_sides([imported], [f"preset:{case}"]))

    assert comparison.metrics == ()
    assert "Compared with as many processes of the same size only" in comparison.sides[1][0].note


def test_a_pointer_chase_is_not_compared_with_random_stores() -> None:
    comparison = compare(*digest_sides([str(KEPT)], ["preset:slb-e5320"]))

    assert comparison.metrics == ()
    assert "Random stores, not load-to-use latency" in comparison.sides[1][0].note
    assert "memory.latency.dram-thp" in comparison.only_new
    (warning,) = comparison.warnings
    assert "clock.cost: not measured: its step crashed" in warning


def test_measured_random_stores_are_matched_by_their_pages(tmp_path: Path) -> None:
    step = Step("memory.hammer", "memory.hammer", "Random stores", {}, 1, 10)
    points = [
        Estimate("random-store", {"processes": count}, 60.0, extra={"pages": pages})
        for count, pages in ((1, 131_072), (2, 262_144))
    ]
    path = str(tmp_path / "hammer.sizeup.jsonl")
    with Writer.create(path) as writer:
        writer.write(
            SessionRecord(1, "s", "sizeup 0", "db01", "2026-01-01T00:00:00Z"),
            StepStartRecord(0, step, "sizeup 0", (STORE,), declaration=PROBE.manifest.declaration()),
            *(EstimateRecord(1, step.id, point) for point in points),
            OutcomeRecord(2, step.id, Outcome(Status.OK)),
        )

    # Two processes had another size: neither their time nor S(2) stands beside the printed one.
    (figure,) = compare(*digest_sides([path], ["preset:slb-e5320"])).metrics
    assert figure.metric == "memory.random_store_time.1x131072-pages"
    assert figure.medians == pytest.approx((60.0, 131.3), rel=1e-3)


def test_printed_cycles_become_time_at_the_printed_clock() -> None:
    (value,) = published_digest("clock-rdtsc").values

    assert (value.metric, round(value.value, 1)) == ("clock.gettimeofday_ns", 124.6)


def test_two_published_cases_compare_with_each_other() -> None:
    (figure,) = compare(*digest_sides(["preset:clock-rdtscp"], ["preset:clock-rdtsc"])).metrics

    assert figure.ratio < 1


def test_an_unknown_case_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"unknown preset 'slb-e532' \(did you mean slb-e5320"):
        digest_sides([str(KEPT)], ["preset:slb-e532"])


def test_the_text_says_where_a_case_was_printed_and_what_it_stands_beside(imported: str) -> None:
    lines = comparison_lines(compare(*digest_sides([imported], ["preset:slb-e5320"])), points=False)

    assert "! memory.random_store_time.1x786432000-stores was measured as memory.hammer" in lines
    assert any(line.startswith("Machines: not compared, because B (new)") for line in lines)
    assert any("Silly Little Benchmark" in line and "K. Closson" in line for line in lines)


def test_the_printed_table_and_its_scaling_stand_on_the_first_screen(imported: str) -> None:
    lines = comparison_lines(compare(*digest_sides([imported], ["preset:slb-e5320"])))[:25]

    rows = [line.split() for line in lines if "-stores" in line and not line.startswith("!")]
    shown = {row[0]: row[1:5] for row in rows}
    for name, printed in {"time.1": "131", "time.2": "251", "time.4": "504"}.items():
        assert shown[f"memory.random_store_{name}x786432000-stores"] == [printed, "ns", printed, "ns"]
    for name, printed in {"scaling.2": "1.05", "scaling.4": "1.04"}.items():
        assert shown[f"memory.random_store_{name}x786432000-stores"] == [printed, "x", printed, "x"]
