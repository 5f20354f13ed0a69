"""One session shows one answer: what it recorded, in every form, until recomputed advice is asked for and labeled."""

import ast
import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from report.sessions import machine, records, written
from sizeup import cli
from sizeup.model.advice import Advice, AdviceSet, OpenQuestion
from sizeup.model.sample import Outcome, Status
from sizeup.quantity import Origin, Quantity
from sizeup.session.builder import SessionBuilder
from sizeup.session.reader import read_session
from sizeup.session.records import (
    ENCODER,
    AdviceRecord,
    EndRecord,
    EstimateRecord,
    Record,
    SamplesRecord,
    SessionRecord,
)
from sizeup.sizing.inputs import measured as measured_module
from sizeup.sizing.inputs.measured import measured
from sizeup.sizing.keys import parse_settings
from sizeup.sizing.session_advice import AdviceOrigin, AdviceSelector, session_advice
from sizeup.views.result.summary import summary

CONSOLE = Path(__file__).parents[2] / "console" / "sizeup"
RECORDED = "777 MB/s by the rule of another day"
NEED = "io.demand.ghz-rule"
FIGURE = "value.ghz-per-license"
Export = Callable[..., str]


def advice(verdict: str = RECORDED, value: float = 777e6) -> AdviceSet:
    quantity = Quantity(value, "Hz", Origin.RULE, FIGURE)
    need = Quantity(value, "bytes/s", Origin.RULE, NEED)
    old = Advice("io.gone", "Gone", "an answer that no rule of today gives", None, (), (), ())
    question = OpenQuestion("capacity.mb_s", "I/O supply", "what storage delivers", "--set capacity.mb_s=N")
    one = Advice(FIGURE, "Clock rate per license", verdict, quantity, (), (), ())
    rule = Advice(NEED, "I/O need by the GHz rule", verdict, need, (), (), ())
    return AdviceSet((one, old, rule), (question,), rules={"io-need": "2020-02-02"})


def with_advice(*given: AdviceSet) -> list[Record]:
    *start, end = [record for record in records() if not isinstance(record, AdviceRecord)]
    return [*start, *(AdviceRecord(5 * 10**9, one) for one in given), end]


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A session whose recorded advice differs from what the rules of today give."""
    return written(tmp_path / "old.sizeup.jsonl", *with_advice(advice()))


@pytest.fixture
def output(capsys: pytest.CaptureFixture[str]) -> Export:
    def run(*arguments: str) -> str:
        assert cli.run(arguments) == 0
        return capsys.readouterr().out

    return run


def figure_in(form: str, text: str) -> str:
    """The figure of the need that a report shows, to the digit, wherever its form has it."""
    if form == "json":
        document = json.loads(text)
        return next(str(item["quantity"]["value"]) for item in document["advice"] if item["id"] == FIGURE)
    if form == "csv":
        return next(row["value"] for row in csv.DictReader(io.StringIO(text)) if row["series"] == FIGURE)
    return "777000000.0" if "777 MB/s by the rule" in text.replace("\\", "") else "another"


@pytest.mark.parametrize("form", ["text", "html", "markdown", "json", "csv"])
def test_each_report_shows_the_recorded_figure_and_labels_a_recomputed_one(
    form: str, path: str, output: Export
) -> None:
    shown = output("session", "export", path, "--format", form)
    recomputed = output("session", "export", path, "--format", form, "--recompute")

    assert figure_in(form, shown) == "777000000.0"
    assert "ecomputed" not in shown
    if form == "csv":
        assert "recomputed" in {row["kind"] for row in csv.DictReader(io.StringIO(recomputed))}
        assert float(figure_in(form, recomputed)) == pytest.approx(2 * 1.86e9)
    elif form == "json":
        assert float(figure_in(form, recomputed)) == pytest.approx(2 * 1.86e9)
        assert json.loads(recomputed)["advice_origin"]["origin"] == "recomputed"
        assert json.loads(recomputed)["advice_recorded"][0]["verdict"] == RECORDED
    else:
        words = " ".join(recomputed.replace("\\", "").split())
        assert "Recomputed with the rules of 20" in words
        assert "Recorded with the rules of 2020-02-02" in words
        assert f"Recorded: {RECORDED}" in words
        assert "an answer that no rule of today gives" in words


def test_show_prints_what_was_recorded_and_recomputes_on_request(path: str, output: Export) -> None:
    assert RECORDED in output("session", "show", path)
    words = " ".join(output("session", "show", path, "--recompute").split())
    assert "Recomputed with the rules of 20" in words
    assert RECORDED in words


def test_size_says_that_it_recomputes_a_session(path: str, output: Export) -> None:
    verdict, *_, said = output("size", "--machine", path).strip().split("\n\n")

    assert "Recomputed" not in verdict
    assert said.startswith("Recomputed with the rules of 20")
    assert json.loads(output("size", "--machine", path, "--json"))["recomputed"].startswith("Recomputed")
    assert "recomputed" not in json.loads(output("size", "--machine", "none", "--json"))


def test_the_summary_shows_what_was_recorded(path: str) -> None:
    session = read_session(path)
    shown = summary(session.machine, session, session_advice(session))

    assert shown.given is session.advice


def test_a_chart_or_a_shared_file_is_not_recomputed(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("svg", "share"):
        assert cli.run(["session", "export", path, "--format", form, "--recompute"]) == 2
        assert f"--recompute has no effect on the format {form}" in capsys.readouterr().err


def test_a_session_without_advice_says_so_and_how_to_get_it(tmp_path: Path, output: Export) -> None:
    items = [*with_advice()[:-1], EndRecord(6 * 10**9, "canceled")]
    early = written(tmp_path / "early.sizeup.jsonl", *items)

    words = " ".join(output("session", "show", early).split())
    assert "This session recorded no advice: the run ended before it." in words
    assert "sizeup session show --recompute FILE" in words
    assert session_advice(read_session(early)).given == AdviceSet()
    assert "The session recorded no advice." in " ".join(output("session", "show", early, "--recompute").split())


def test_without_a_machine_nothing_can_be_recomputed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = SessionRecord(1, "s", "sizeup 0", "db01", "2026-01-01T00:00:00Z")
    path = written(tmp_path / "empty.sizeup.jsonl", header, EndRecord(2, "complete"))

    assert cli.run(["session", "show", path, "--recompute"]) == 2
    assert "expected a machine or measurements to size by, found neither" in capsys.readouterr().err
    assert cli.run(["session", "show", path]) == 0


def test_advice_from_before_the_measurements_says_so(tmp_path: Path) -> None:
    start = [record for record in with_advice() if not isinstance(record, EndRecord)]
    early = written(tmp_path / "killed.sizeup.jsonl", *start[:2], AdviceRecord(2, advice()), *start[2:])

    assert "Recorded before these measurements" in session_advice(read_session(early)).label


def test_the_last_advice_replaces_all_of_the_first(tmp_path: Path) -> None:
    session = read_session(
        written(tmp_path / "two.sizeup.jsonl", *with_advice(advice(), AdviceSet(advice("better", 1e6).advice[:1])))
    )

    assert [item.verdict for item in session_advice(session).given.advice] == ["better"]


def test_an_id_that_a_file_repeats_is_shown_once(tmp_path: Path) -> None:
    twice = AdviceSet(advice().advice[:1] + advice("second").advice[:1], advice().questions * 2)
    session = read_session(written(tmp_path / "twice.sizeup.jsonl", *with_advice(twice)))

    given = session_advice(session).given
    assert [item.verdict for item in given.advice] == ["second"]
    assert len(given.questions) == 1


def test_the_console_recomputes_on_request_and_takes_it_back(path: str) -> None:
    session = read_session(path)
    selector = AdviceSelector("press 4, then r")

    first = selector.of_session(session)
    assert selector.of_session(session) is first
    selector.toggle(session)
    second = selector.of_session(session)
    selector.toggle(session)

    assert (first.origin, second.origin) == (AdviceOrigin.RECORDED, AdviceOrigin.RECOMPUTED)
    assert selector.of_session(session) == first
    assert selector.of_machine(machine(), session).origin is AdviceOrigin.CURRENT


def test_advice_is_chosen_again_once_a_step_has_ended(path: str) -> None:
    session = read_session(path)
    selector = AdviceSelector()
    selector.toggle(session)
    first = selector.of_session(session)
    session.outcomes["another"] = Outcome(Status.OK)

    assert selector.of_session(session) is not first


def test_what_a_session_measured_is_worked_out_once_for_each_of_its_states(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, selector, calls = read_session(path), AdviceSelector(), []
    monkeypatch.setattr(measured_module, "measured", lambda one, _: calls.append(one.revision) or {})

    for _ in range(3):
        selector.of_machine(machine(), session)
    session.revision += 1
    selector.of_machine(machine(), session)
    selector.of_machine(machine(), read_session(path))
    selector.of_machine(machine(), read_session(path), parse_settings(["db.gb=4000"]))  # old data may count no more

    assert calls == [session.revision - 1, session.revision, session.revision - 1, session.revision - 1]


def test_a_session_has_a_new_revision_whenever_what_it_measured_changes() -> None:
    header, *rest = records()
    builder = SessionBuilder("session")
    builder.add(ENCODER.encode(header))
    grew = Counter[type[Record]]()
    for record in rest:
        known, revision = measured(builder.session), builder.session.revision
        builder.add(ENCODER.encode(record))
        grew[type(record)] += builder.session.revision > revision
        assert measured(builder.session) == known or builder.session.revision > revision

    assert grew[EstimateRecord]
    assert not grew[SamplesRecord]


MAY_SIZE = {
    "cli/size_compare.py": "sizes servers that the user compares",
    "cli/size_design.py": "sizes a delivered machine beside its order",
    "cli/size_emit.py": "works out what settings follow from",
    "cli/size.py": "sizes what the user describes and published cases, and labels a session as recomputed",
    "engine/advice.py": "gives the advice that is recorded",
    "tui/screens/sizing_state.py": "what-if inputs",
    "tui/screens/sizing_text.py": "published cases beside this machine",
    "views/result/repair.py": "the shares after a repair, of advice that was worked out with its inputs",
}


def sizers(source: str) -> Iterator[str]:
    """The functions that work advice out, as far as a module imports them."""
    if "sizeup.sizing" not in source:
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sizeup.sizing"):
            yield from (name.name for name in node.names if name.name in {"advise", "size"})
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name == "sizeup.sizing.advise")


def test_no_other_module_works_advice_out() -> None:
    modules = {str(path.relative_to(CONSOLE)): path for path in CONSOLE.rglob("*.py")}
    found = {name for name, path in modules.items() if not name.startswith("sizing/") and any(sizers(path.read_text()))}

    assert found == set(MAY_SIZE)


@pytest.mark.parametrize(
    "violation",
    [
        "from sizeup.sizing.advise import HEADLINE, size",
        "from sizeup.sizing import advise",
        "import sizeup.sizing.advise",
        "def late():\n    from sizeup.sizing.advise import size",
    ],
)
def test_a_module_that_works_advice_out_is_found(violation: str) -> None:
    assert list(sizers(violation))
    assert not list(sizers("from sizeup.sizing.advise import HEADLINE, Sizing"))
