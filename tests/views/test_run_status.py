"""How a run went, in the first line of every report: the worst of its problems decides."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from report.sessions import CLOCK, LATENCY, records, written
from sizeup.model.plan import Plan
from sizeup.model.sample import Outcome, Status
from sizeup.report.html import page
from sizeup.report.markdown import markdown
from sizeup.report.text import text
from sizeup.session.reader import read_session
from sizeup.session.records import EndRecord, EstimateRecord, OutcomeRecord, PlanRecord, Record
from sizeup.session.value import Session
from sizeup.views.document.document import document
from sizeup.views.result.sessions import state
from sizeup.views.run.run_status import RunGrade, run_status


def finished() -> list[Record]:
    """A run whose every step was measured and whose every figure is valid."""
    kept: list[Record] = []
    for record in records():
        if isinstance(record, EstimateRecord):
            kept.append(replace(record, estimate=replace(record.estimate, converged=True)))
        elif isinstance(record, PlanRecord):
            kept.append(replace(record, plan=Plan("standard", (LATENCY, CLOCK))))
        elif isinstance(record, OutcomeRecord) and record.step == "io.direct":
            continue
        elif isinstance(record, OutcomeRecord):
            kept.append(replace(record, outcome=Outcome(Status.OK)))
        else:
            kept.append(record)
    return kept


def ending(outcome: Outcome, step: str = "clock.cost") -> list[Record]:
    """The same run with another end of one step."""
    return [
        replace(record, outcome=outcome) if isinstance(record, OutcomeRecord) and record.step == step else record
        for record in finished()
    ]


def session_of(path: Path, items: list[Record]) -> Session:
    return read_session(written(path / "one.sizeup.jsonl", *items))


def test_a_canceled_step_of_an_earlier_run_is_not_called_complete(tmp_path: Path) -> None:
    """The last run of the session planned one step and finished it; the one before it was canceled in another."""
    items = [
        replace(record, plan=Plan("standard", (LATENCY,))) if isinstance(record, PlanRecord) else record
        for record in ending(Outcome(Status.CANCELED))
    ]
    session = session_of(tmp_path, items)

    assert run_status(session).words == "run WARN (canceled)"
    assert state(session) == "1 of 2 steps did not finish"
    assert state(read_session(written(tmp_path / "whole.sizeup.jsonl", *finished()))) == "complete"


def test_a_run_as_planned_passes(tmp_path: Path) -> None:
    status = run_status(session_of(tmp_path, finished()))

    assert (status.grade, status.words, status.sentence) == (RunGrade.PASS, "run PASS", "2 of 2 steps measured")


@pytest.mark.parametrize(
    ("items", "words", "sentence"),
    [
        (finished()[:-1], "run FAIL (interrupted)", "the last run has no end: it was interrupted, or is still running"),
        ([*finished()[:-1], EndRecord(9, "canceled")], "run WARN (canceled)", "2 of 2 steps measured"),
        (ending(Outcome(Status.FAILED, "no space left")), "run FAIL (failed)", "Clock cost failed (no space left)"),
        (ending(Outcome(Status.CRASHED, "", "SIGSEGV")), "run FAIL (crashed)", "Clock cost crashed"),
        (
            ending(Outcome(Status.TIMED_OUT, "60 s")),
            "run FAIL (timed out)",
            "1 of 2 steps measured; Clock cost timed out",
        ),
        (ending(Outcome(Status.REFUSED, "no target.")), "run WARN (refused)", "Clock cost refused (no target)"),
        (records(), "run WARN (refused)", "2 of 2 steps measured; io.direct refused (no target was named); "),
        (records()[:1], "run FAIL (interrupted)", "0 of 0 steps measured; the last run has no end"),
        ([records()[0], EndRecord(9, "complete")], "nothing measured", "No step was planned or measured"),
    ],
)
def test_what_went_wrong_stands_first_with_its_cause(
    items: list[Record], words: str, sentence: str, tmp_path: Path
) -> None:
    session = session_of(tmp_path, items)
    status = run_status(session)

    assert status.words == words
    assert sentence in status.sentence
    shown = document(session)
    assert text(shown).partition("\n")[0].endswith(words)
    assert markdown(shown).partition("\n")[0].endswith(words)
    assert status.sentence.partition("(")[0] in page(shown).partition('class="rows"')[0]


def test_a_failure_leads_whatever_came_before_it(tmp_path: Path) -> None:
    items = ending(Outcome(Status.REFUSED, "one node"), "memory.latency")
    items[-1:] = [OutcomeRecord(8, "io.direct", Outcome(Status.FAILED, "disk full")), items[-1]]
    status = run_status(session_of(tmp_path, items))

    assert status.words == "run FAIL (failed)"
    assert status.sentence == "1 of 3 steps measured; io.direct failed (disk full); Memory latency refused (one node)"


def test_a_run_of_which_nothing_was_measured_fails_whatever_the_cause(tmp_path: Path) -> None:
    items = records()

    assert run_status(session_of(tmp_path, [*items[:5], items[-1]])).words == "run FAIL (refused)"


def test_a_long_title_does_not_hide_the_status(tmp_path: Path) -> None:
    shown = replace(document(session_of(tmp_path, finished()[:-1])), title="before the firmware update " * 9)

    assert text(shown).partition("\n")[0].endswith(": run FAIL (interrupted)")
    assert len(text(shown).partition("\n")[0]) <= 80
