"""The page about sizing: its transcripts line by line, and every command of it runs."""

import re
import shlex
from datetime import UTC, datetime, tzinfo
from pathlib import Path

import pytest

import purchase
from report.sessions import records, written
from sizeup import cli
from transcripts import DOCS, Transcript, transcripts

PAGE = (DOCS / "sizing.md").read_text(encoding="utf-8")
SHOWN = transcripts("sizing.md")
LISTED = [
    re.split(r"\s{3,}", line)[0].strip()
    for block in re.findall(r"```\n(sizeup .*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
] + re.findall(r"^    (sizeup .*)$", PAGE, re.MULTILINE)


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


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the files that the page names."""
    purchase.files(tmp_path)
    written(tmp_path / "run.sizeup.jsonl", *records())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sizeup.cli.size.datetime", _Day)
    return tmp_path


def test_the_page_answers_the_purchase_first() -> None:
    assert "--workload awr.txt" in SHOWN[0].command
    assert "--sysroot server-x" in SHOWN[0].command


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
@pytest.mark.parametrize("command", LISTED)
def test_a_listed_command_runs(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out


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
