"""What each mode looks like as a whole, against pictures that somebody has looked at.

A picture holds colors, borders and places; what the words mean is asserted elsewhere. Where a screen is meant to look
different: ``SIZEUP_UPDATE_SNAPSHOTS=1 pytest -m ci tests/tui/test_snapshots.py``, then open the pictures that
``git status`` names, in a browser, and commit them.
"""

import difflib
import os
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import msgspec
import pytest
from textual.pilot import Pilot
from textual.widgets import Button

from consoles import Console, MakeConsole, ended, machine, records, until
from played_runs import PlayedRunner
from sizeup.model.finding import Finding, Severity
from sizeup.tui.console import without_web_fonts
from sizeup.tui.screens.probe_forms import ProbeForms

PICTURES = Path(__file__).parent / "snapshots"
UPDATE = "SIZEUP_UPDATE_SNAPSHOTS"
MODES = ("summary", "topology", "measure", "sizing", "sessions")


@pytest.fixture
def console(make_console: MakeConsole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Console:
    """A saved session of a machine with a finding, and two sessions in the store: nothing moves and nothing is live."""
    monkeypatch.setenv("HOME", str(tmp_path))  # which is shown as ~
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store = tmp_path / "state/sizeup/sessions"
    store.mkdir(parents=True)
    header, *lines = [*records(), *ended()]
    for day, name in enumerate(("first", "second"), start=1):
        started = msgspec.structs.replace(header, id=name, started=f"2026-01-0{day}T09:30:00Z")
        PlayedRunner(store / f"{name}.sizeup.jsonl").write([started, *lines])
    finding = Finding("n", Severity.WARNING, "Node 1 is short", ("1 GiB free",), "It swaps.", "Free some.", ("node:1",))
    found = machine(findings=(finding,))
    made = make_console(found)
    made.save([*records("memory.latency", found), *ended("memory.latency")])
    return made


class Pictures:
    """Compares pictures of a console with the kept ones, or keeps them where that is asked for."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._different: list[str] = []

    def take(self, name: str) -> None:
        """Draw the screen as it stands."""
        kept, drawn = PICTURES / f"{name}.svg", _drawn(self._console)
        if UPDATE in os.environ:
            PICTURES.mkdir(exist_ok=True)
            kept.write_text(drawn, encoding="utf-8")
            return
        before = kept.read_text(encoding="utf-8") if kept.exists() else ""
        if drawn != before:
            (Path.cwd() / kept.name).write_text(drawn, encoding="utf-8")
            lines = difflib.unified_diff([*_rows(before)], [*_rows(drawn)], "kept", "drawn", n=0, lineterm="")
            self._different.append("\n".join((f"{kept} differs from {Path.cwd() / kept.name}", *lines)))

    def compare(self) -> None:
        """Fail where one looked different."""
        assert not self._different, "\n".join((*self._different, f"If this is meant: {UPDATE}=1, see {__file__}"))


def _drawn(console: Console) -> str:
    """The screen as SVG by lines, without names that change wherever one character does, and without clips by rows."""
    picture = without_web_fonts(console.app.export_screenshot(title="sizeup"))
    picture = re.sub(r"terminal-\d+", "t", picture)
    picture = re.sub(
        r' clip-path="url\(#t-line-\d+\)"|<clipPath id="t-line-\d+">.*?</clipPath>\s*', "", picture, flags=re.DOTALL
    )
    return re.sub(r"[ \t]+$|^\s*\n", "", picture.replace("/><", "/>\n<"), flags=re.MULTILINE) + "\n"


def _rows(picture: str) -> Iterator[str]:
    """The text of a picture by rows, for a reader of a failure."""
    rows: dict[float, str] = {}
    for y, text in re.findall(r'<text [^>]*\by="([\d.]+)"[^>]*>(.*?)</text>', picture):
        rows[float(y)] = rows.get(float(y), "") + unescape(text).replace("\N{NO-BREAK SPACE}", " ")
    yield from (rows[y].rstrip() for y in sorted(rows))


async def settle(pilot: Pilot[int]) -> None:
    """Wait until what a key asks for is drawn, and what that asks for in turn."""
    for _ in range(3):
        await pilot.pause()
    await pilot.app.workers.wait_for_complete()


async def estimated(pilot: Pilot[int], probe: str) -> None:
    """Wait until the form of a probe is shown and its button says how long the run takes: both come later."""

    def done() -> bool:
        form = pilot.app.screen.query_one(ProbeForms).shown
        return (
            form is not None
            and form.form.manifest.name == probe
            and "about" in str(form.query_one("#run", Button).label)
        )

    await settle(pilot)
    await until(pilot, done)


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40)])
async def test_each_mode_looks_as_it_did(console: Console, columns: int, rows: int) -> None:
    pictures = Pictures(console)
    async with console.shown(columns, rows) as pilot:
        for number, mode in enumerate(MODES, start=1):
            await pilot.press(str(number))
            if mode == "measure":
                await console.choose(pilot, "memory.latency")
                await estimated(pilot, "memory.latency")
            if mode == "sessions":  # of the one under the cursor, once its file was read: it has no chart
                picture = console.app.screen.query_one("#picture")
                await until(pilot, lambda: "Node 1 is short" in console.text and not picture.region)  # noqa: B023
            await settle(pilot)
            pictures.take(f"{mode}-{columns}x{rows}")
    pictures.compare()


async def test_dialogs_look_as_they_did(console: Console) -> None:
    pictures = Pictures(console)
    async with console.shown() as pilot:
        for name, keys in (("help", ["question_mark"]), ("settings", ["3", "G", "s"])):
            await pilot.press(*keys)
            await settle(pilot)
            pictures.take(name)
            await pilot.press("escape")
    pictures.compare()
