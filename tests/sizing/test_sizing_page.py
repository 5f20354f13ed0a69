"""The page about sizing: its transcripts line by line, and its figures."""

import json
import shlex
from datetime import UTC, datetime, tzinfo
from pathlib import Path

import pytest

import purchase
from benchmarks import whatif
from report.sessions import records, written
from sizeup import cli
from sizeup.sizing.rules import MAXIMUM_AGE_DAYS, shipped
from sizeup.sizing.storage_paths import PACKET_EFFICIENCY
from transcripts import DOCS, Transcript, transcripts

PAGE = (DOCS / "explanation" / "sizing.md").read_text(encoding="utf-8")
WORDS = " ".join(PAGE.split())
SHOWN = transcripts("explanation/sizing.md")
JSON = (DOCS / "reference" / "json.md").read_text(encoding="utf-8")
COSTS = (DOCS / "results" / "sizing-speed.md").read_text(encoding="utf-8")


class _Day(datetime):
    """The clock on the day of the transcripts."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> "_Day":
        return cls(2026, 11, 22, tzinfo=tz or UTC)


class _LaterDay(_Day):
    """The clock when the prices are more than a year old."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> "_LaterDay":
        return cls(2027, 8, 4, tzinfo=tz or UTC)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the page names, made once: each set is hundreds of them."""
    path = tmp_path_factory.mktemp("page")
    purchase.files(path)
    written(path / "run.sizeup.jsonl", *records())
    return path


@pytest.fixture
def folder(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same as the working directory."""
    monkeypatch.chdir(made)
    monkeypatch.setattr("sizeup.cli.size.datetime", _Day)
    return made


def test_the_page_answers_the_purchase_first() -> None:
    assert "--workload awr.txt" in SHOWN[0].command
    assert "--machine server-x" in SHOWN[0].command


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("shown", SHOWN, ids=range(len(SHOWN)))
def test_a_transcript_is_what_the_command_prints_on_one_screen(
    shown: Transcript, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(shown.arguments) == 0
    printed = capsys.readouterr().out

    assert printed == shown.output
    assert len(printed.splitlines()) <= 25
    assert max(map(len, printed.splitlines())) <= 80


@pytest.mark.usefixtures("folder")
def test_a_price_older_than_a_year_warns_on_the_screen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sizeup.cli.size.datetime", _LaterDay)
    assert cli.run(SHOWN[0].arguments) == 0
    printed = capsys.readouterr().out

    assert len(printed.splitlines()) <= 25
    assert (
        "! The list price of Oracle Database Enterprise Edition is of 2026-08-03, more than a year old: "
        "compare it with the vendor's list"
    ) in " ".join(printed.split())


@pytest.mark.ci
def test_the_table_of_costs_has_the_rows_that_its_command_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(whatif, "ROUNDS", 1)
    whatif.main()
    printed = [line.split("|")[1] for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]

    assert [line.split("|")[1] for line in COSTS.splitlines() if line.startswith("| ")] == printed


@pytest.mark.parametrize(
    ("figure", "scale", "text"),
    [
        ("flash.gain.schema", 1, "{} times with the whole database on flash"),
        ("flash.gain.indexes-and-hottest-table", 1, "{} times with the hottest table"),
        ("flash.gain.indexes-and-hot-tables", 1, "{} times with the four hottest"),
        ("memory.buffer-share", 100, "else with `--rules-of-thumb` {} % of the database (`db.gb`; ASSUMED)"),
        ("share.pass-to", 100, "the workload takes at most {} % of the capacity"),
        ("share.fail-above", 100, "more than {} %"),
    ],
)
def test_a_figure_of_the_page_is_that_of_its_rule(figure: str, scale: float, text: str) -> None:
    assert text.format(f"{shipped().figure(figure).value * scale:g}") in WORDS


def test_other_figures_of_the_page_follow_from_the_rules() -> None:
    assert f"packet headers leave {PACKET_EFFICIENCY:.1%}".replace("%", " %") in WORDS
    assert f"{shipped().figure('flash.gain.indexes').value - 1:.0%} with the indexes alone".replace("%", " %") in WORDS
    assert f"{shipped().figure('flash.gain.cache').value - 1:.1%} as a cache".replace("%", " %") in WORDS
    assert f"more than {MAXIMUM_AGE_DAYS} days ago" in WORDS


@pytest.mark.usefixtures("folder")
def test_the_worked_answer_of_the_page_is_what_its_command_gives(capsys: pytest.CaptureFixture[str]) -> None:
    command = next(line for line in JSON.splitlines() if line.startswith("sizeup size --machine none --json"))
    assert cli.run(shlex.split(command)[1:]) == 0
    advice = next(one for one in json.loads(capsys.readouterr().out)["advice"] if one["id"] == "io.demand.ghz-rule")
    figures = {one["key"]: one["quantity"]["value"] for one in advice["inputs"] if one["quantity"]}

    product = figures["machine.cores"] * figures["machine.ghz"] * figures["io.ghz-rule.exact"]
    assert (figures["machine.cores"], figures["machine.ghz"]) == (32, 2.9e9)
    assert product == pytest.approx(1.16e9)
    assert advice["quantity"]["value"] == pytest.approx(1.16e9)
    assert "whose product is its 1.16e9 bytes/s" in JSON
