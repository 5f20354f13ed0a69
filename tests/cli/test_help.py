"""Pages of the documentation from the installed package: the list, one page in a pipe and on a terminal."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from sizeup.cli import help as pages
from sizeup.cli import page_text, run
from sizeup.errors import UsageError

ROOT = Path(__file__).parents[2]


def test_every_page_is_listed_with_its_heading_in_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help"]) == 0
    lines = capsys.readouterr().out.splitlines()

    listed = [line.split()[0] for line in lines if line.startswith("  ")]
    assert listed == [page.name for page in pages.installed_pages()]
    assert len(set(listed)) == len(listed)
    assert max(map(len, lines)) <= 80
    assert {"Findings", "Exit statuses"} <= {line[2:].partition("  ")[2].strip() for line in lines}


def test_a_page_in_a_pipe_is_its_text(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")

    assert run(["help", "findings"]) == 0
    assert capsys.readouterr().out == (ROOT / "docs/reference/findings.md").read_text(encoding="utf-8")


def test_without_utf8_a_page_is_ascii(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")

    assert run(["help", "memory.latency"]) == 0
    assert capsys.readouterr().out.isascii()


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("findngs", "there is no page 'findngs' (did you mean findings?); list the pages with: sizeup help"),
        ("cloc", "there is no page 'cloc' (did you mean clock-cost?); list the pages with: sizeup help"),
        ("../../pyproject", "there is no page '../../pyproject'; list the pages with: sizeup help"),
        ("", "there is no page ''; list the pages with: sizeup help"),
    ],
)
def test_an_unknown_page_names_the_nearest(name: str, answer: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help", name]) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert answer in shown.err


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("sizing", "explanation/sizing.md"),
        ("reference/keys", "reference/keys.md"),
        ("direct-io", "explanation/methods/direct-io.md"),
        ("methods/direct-io.md", "explanation/methods/direct-io.md"),
        ("Memory.Latency", "explanation/methods/memory-latency.md"),
    ],
)
def test_a_page_is_found_by_its_name_its_path_or_its_probe(name: str, file: str) -> None:
    assert pages.find_page(name).file == pages.directory() / file


def _shown(text: str, *related: str, width: int = 80) -> str:
    file = io.StringIO()
    page_text.print_page(text, list(related), file, width)
    return file.getvalue()


def test_on_a_terminal_a_page_has_no_targets_pictures_or_comments() -> None:
    shown = _shown("# One\n\n<!-- run -->\n![A picture](a.svg)\nSee [two](two.md#here), `code`.\n", "two")

    assert [line.strip() for line in shown.splitlines()] == [
        "One", "", "See two, code.", "", "Related pages, printed by sizeup help PAGE: two",
    ]  # fmt: skip


def test_code_keeps_its_lines_and_prose_does_not_exceed_the_width() -> None:
    command = "sizeup " + "--option " * 20
    lines = [line.rstrip() for line in _shown(f"```\n{command}\n```\n\n{'word ' * 60}\n").splitlines()]

    assert lines[0] == f"    {command.rstrip()}"
    assert max(map(len, lines[1:])) <= 80


def test_a_table_too_wide_for_the_terminal_loses_nothing() -> None:
    words = [f"{letter * 30}" for letter in "abcd"]
    shown = _shown(f"| w | x | y | z |\n|---|---|---|---|\n| {' | '.join(words)} |\n")

    assert [shown.count(letter) for letter in "abcd"] == [30] * 4
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.ci
def test_every_page_can_be_printed_on_a_terminal() -> None:
    for page in pages.installed_pages():
        shown = _shown(page.file.read_text(encoding="utf-8"))
        assert "\x1b" not in shown
        assert "…" not in shown or "…" in page.file.read_text(encoding="utf-8"), page.name


def test_every_page_that_the_program_names_exists() -> None:
    sources = [*(ROOT / "console").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    named = set(re.findall(r"sizeup help ([a-z][\w./-]*)", text)) - {"man", "schema", "completion"}

    assert {"findings", "commands"} <= named
    assert {pages.find_page(name).name for name in named} == named


def test_a_word_of_one_title_or_heading_finds_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"disks": "# Measure a drive\n\n## Ports\n", "space": "# Room\n\nMeasure.\n\n## A drive\n\n## Ports\n"}
    (tmp_path / "how-to").mkdir()
    for name, text in texts.items():
        (tmp_path / f"how-to/{name}.md").write_text(text)
    monkeypatch.setattr(pages, "directory", lambda: tmp_path)

    assert [pages.find_page(word).name for word in ("Space", "measure", "DRIVE", "room")] == [
        "space", "disks", "disks", "space",
    ]  # fmt: skip
    with pytest.raises(UsageError, match=r"no page 'ports' \(did you mean disks or space\?\)"):
        pages.find_page("ports")


def test_pages_are_found_in_the_package_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "__file__", str(tmp_path / "console/sizeup/cli/help.py"))
    assert pages.directory() == tmp_path / "docs"
    (tmp_path / "console/sizeup/docs").mkdir(parents=True)
    assert pages.directory() == tmp_path / "console/sizeup/docs"


def test_without_pages_the_directory_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pages, "directory", lambda: tmp_path)
    assert run(["help"]) == 2
    assert capsys.readouterr().err.startswith(f"sizeup: {tmp_path}: no page of the documentation")
