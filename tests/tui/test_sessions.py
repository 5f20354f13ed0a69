"""The Sessions mode by keys: what its lists say, what it writes, and what it asks before it does."""

from __future__ import annotations

import gzip
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from textual.widgets import Input

from consoles import Console, MakeConsole, PlayedRunner, ended, records
from declared import declaration_of, series_of
from sizeup.model.plan import Plan, Step
from sizeup.model.sample import Estimate, Outcome, Status
from sizeup.quantity import Origin
from sizeup.session import reader
from sizeup.session.reader import read_session
from sizeup.session.records import EstimateRecord, OutcomeRecord, PlanRecord, StepStartRecord
from sizeup.session.store import SUFFIX, annotate
from sizeup.session.writer import Writer
from sizeup.sizing.keys import KEYS
from sizeup.tui.options import Options
from sizeup.tui.screens.dialogs import TextDialog


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store's folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    place = tmp_path / "state/sizeup/sessions"
    place.mkdir(parents=True)
    return place


def stored(folder: Path, name: str, *, day: int = 1, probe: str = "null", done: bool = True, **header: Any) -> Path:
    """A session of the store."""
    path = folder / f"{name}{SUFFIX}"
    first, *lines = [*records(probe), *(ended(probe) if done else [])]
    facts = {"id": name, "started": f"2026-01-{day:02}T09:30:00Z", "host": os.uname().nodename, **header}
    PlayedRunner(path).write([msgspec.structs.replace(first, **facts), *lines])
    return path


def packed(path: Path) -> None:
    Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()


async def test_the_session_that_was_marked_last_is_the_baseline(console: Console, folder: Path) -> None:
    old, new = stored(folder, "old", day=1), stored(folder, "new", day=2)
    async with console.shown(120, 40) as pilot:
        await pilot.press("5", "m", "down", "m")
        await pilot.pause()
        assert sum("#baseline;" in line for line in console.entries().values()) == 1
        await pilot.press("c")
        assert console.told[-1].startswith("This is the baseline")
        await pilot.press("up", "c")
        await pilot.pause()
        await pilot.pause()
        assert f"A old ({os.uname().nodename}) B new ({os.uname().nodename})" in console.says("#detail")

    assert all("baseline" in read_session(str(path)).tags for path in (old, new))


def named(folder: Path, name: str, dram_ns: float, day: int) -> None:
    """A session with one named figure, its latency of DRAM."""
    step = Step("memory.latency", "memory.latency", "Memory latency", {}, 1.0, 2.0)
    series = tuple(series_of("memory.latency").values())
    declaration = declaration_of("memory.latency")
    first, found, *_ = records()
    facts = {"id": name, "started": f"2026-01-{day:02}T09:30:00Z", "host": os.uname().nodename}
    PlayedRunner(folder / f"{name}{SUFFIX}").write(
        [
            msgspec.structs.replace(first, **facts),
            found,
            PlanRecord(2, Plan("custom", (step,))),
            StepStartRecord(3, step, "sizeup 0", series, "curve", 0, declaration),
            EstimateRecord(4, step.id, Estimate("dram-thp-level", {"level": "DRAM"}, dram_ns)),
            *ended(step.id),
        ]
    )


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40)])
async def test_a_comparison_begins_with_its_conclusion_and_s_shows_the_statistics(
    console: Console, folder: Path, columns: int, rows: int
) -> None:
    named(folder, "old", 92.0, 1)
    named(folder, "new", 147.2, 2)
    async with console.shown(columns, rows) as pilot:
        await pilot.press("5", "down", "m", "up", "c")
        await pilot.pause()
        await pilot.pause()
        figures, hint = console.says("#detail"), str(console.app.screen.query_one("#session-pane").border_subtitle)
        await pilot.press("s")
        await pilot.pause()
        statistics = console.says("#detail")
        await pilot.press("s")
        await pilot.pause()
        again = console.says("#detail")

    assert figures.startswith("Cannot tell: 1 run per side, 4 or more needed: sizeup --batch --repeat 4.")
    assert re.search(r"DRAM latency.*92 ns.*147 ns", figures) or re.search(r"A 92 ns, B 147 ns", figures)
    assert "+60 %" in figures
    assert "p 1.000" not in figures
    assert "1.000" in statistics
    assert "memory.latency.dram-thp-level" in statistics
    assert again == figures
    assert "s: statistics" in hint


async def test_in_80_columns_a_comparison_has_the_width_and_its_names_stay_whole(
    console: Console, folder: Path
) -> None:
    for number, name in enumerate(("old", "new")):
        stored(folder, name, day=number + 1, probe="memory.bandwidth.of-all")
    async with console.shown() as pilot:
        await pilot.press("5", "down", "m", "up", "c")
        await pilot.pause()
        await pilot.pause()
        screen = console.app.screen
        compared, wide = console.says("#detail"), screen.query_one("#list-pane").region.width
        rows = console.text.splitlines()
        await pilot.press("escape")
        await pilot.pause()
        await pilot.pause()

        assert "memory.bandwidth.of-all.latency" in compared
        assert re.search(r"\S+ ns, baseline \S+ ns: \+0\.0%, p 1\.000; \? too few runs", compared)
        assert any(row.split()[1:2] == ["memory.bandwidth.of-all.latency"] for row in rows)  # not folded
        assert wide == 0
        assert screen.query_one("#list-pane").region.width > 0
        assert console.says("#detail").startswith(f"{os.uname().nodename}, 2026-01-02 09:30:00 UTC")


async def test_in_120_columns_the_figures_of_two_sessions_stand_in_a_table_beside_the_list(
    console: Console, folder: Path
) -> None:
    for number, name in enumerate(("old", "new")):
        stored(folder, name, day=number + 1, probe="memory.latency")
    async with console.shown(120, 40) as pilot:
        await pilot.press("5", "down", "m", "up", "c")
        await pilot.pause()
        await pilot.pause()

        figures = r"memory\.latency\.latency \S+ ns \S+ ns \+0\.0% 1\.000 \? too few runs"
        assert re.search(figures, " ".join(console.says("#detail").split()))


async def test_sessions_that_share_no_figure_say_so(console: Console, folder: Path) -> None:
    stored(folder, "old", day=1, probe="clock.cost")
    stored(folder, "new", day=2)
    async with console.shown(120, 40) as pilot:
        await pilot.press("5", "down", "m", "up", "c")
        await pilot.pause()
        await pilot.pause()

        assert "! nothing measured on both sides" in console.says("#detail")
        assert "p 1.000" not in console.says("#detail")
        assert console.chart is None


async def test_a_long_session_is_scrolled_by_keys(console: Console, folder: Path) -> None:
    stored(folder, "one")
    async with console.shown() as pilot:
        await pilot.press("5")
        await pilot.pause()
        pane = console.app.screen.query_one("#detail-pane")
        top = pane.scroll_y
        await pilot.press("tab", "end")
        await pilot.pause()
        await pilot.pause()

        assert pane.max_scroll_y > 0
        assert (top, pane.scroll_y) == (0, pane.max_scroll_y)


async def test_a_summary_says_where_the_rest_of_it_is(console: Console, folder: Path) -> None:
    path = stored(folder, "one")
    with Writer.append(str(path)) as writer:
        for number in range(12):
            writer.write(OutcomeRecord(300 + number, f"step{number}", Outcome(Status.REFUSED, "not here")))
    async with console.shown(120, 50) as pilot:
        await pilot.press("5")
        await pilot.pause()
        await pilot.pause()

        assert re.search(r"And \d+ more: Enter opens it, e exports it\.", console.says("#detail"))
        assert "further down" not in console.says("#detail")


async def test_a_run_that_goes_on_is_not_called_cut_short(console: Console, folder: Path) -> None:
    path = stored(folder, "one", done=False)
    with Writer.append(str(path)):
        async with console.shown(120, 40) as pilot:
            await pilot.press("5", "R")
            await pilot.pause()

            (line,) = console.entries().values()
            assert "being measured now" in line
            assert "interrupted" not in line
            assert console.told[-1] == "a run is writing it"


async def test_damage_and_what_is_no_session_are_told_in_the_list(console: Console, folder: Path) -> None:
    with stored(folder, "one").open("a") as file:
        file.write("rubbish\n")
    (folder / f"two{SUFFIX}").write_text("no session\n")
    async with console.shown() as pilot:
        await pilot.press("5")
        await pilot.pause()
        await pilot.pause()

        lines = {Path(path).name.partition(".")[0]: line for path, line in console.entries().items()}
        assert "! damaged; 1 step, complete" in lines["one"]
        assert lines["two"].startswith("! two expected a sizeup session")


async def test_a_note_that_cannot_be_kept_is_asked_for_again_with_what_was_typed(
    console: Console, folder: Path
) -> None:
    packed(stored(folder, "one"))
    async with console.shown() as pilot:
        await pilot.press("5", "n")
        await pilot.pause()
        await pilot.press(*"quiet", "enter")
        await pilot.pause()

        assert "is compressed and cannot be added to" in console.told[-1]
        assert isinstance(console.app.screen, TextDialog)
        assert console.app.screen.query_one(Input).value == "quiet"


async def test_a_packed_session_such_as_a_masked_copy_is_opened(console: Console, folder: Path) -> None:
    packed(stored(folder, "one", host="elsewhere"))
    async with console.shown() as pilot:
        await pilot.press("5", "enter")
        await pilot.pause()
        await pilot.pause()

        assert console.told == []
        assert "saved session" in console.status
        assert console.app.runs.session is not None
        assert console.app.runs.session.header.host == "elsewhere"
        await pilot.press("5", "u")
        await pilot.pause()


async def test_a_session_that_has_gone_is_not_opened_as_an_empty_one(console: Console, folder: Path) -> None:
    path = stored(folder, "one")
    async with console.shown() as pilot:
        await pilot.press("5")
        await pilot.pause()
        path.unlink()
        await pilot.press("enter")
        await pilot.pause()

        assert console.told == [f"{path}: cannot open the session: it is empty, or has gone"]
        assert console.app.runs is console.runs
        assert console.entries() == {}


async def test_what_was_measured_elsewhere_is_not_resumed_here(console: Console, folder: Path) -> None:
    stored(folder, "one", done=False, host="db-prod-07.example.com")
    async with console.shown() as pilot:
        await pilot.press("5", "R")
        await pilot.pause()

        assert "measured on db-prod-07.example.com" in console.told[-1]
        assert console.runner.arguments == []


async def test_a_masked_page_has_no_name_of_its_session_and_replaces_nothing(console: Console, folder: Path) -> None:
    stored(folder, "oracleprod")
    taken = folder / "sizeup-20260101T093000Z.shared.html"
    taken.write_text("kept")
    async with console.shown() as pilot:
        await pilot.press("5", "e")
        await pilot.pause()
        assert console.app.screen.query_one("#folder", Input).value == str(folder)
        await pilot.press("enter")
        await console.app.workers.wait_for_complete()

    assert taken.read_text() == "kept"
    made = folder / "sizeup-20260101T093000Z-2.shared.html"
    assert console.told[-1] == f"Wrote {made}; read it before you send it"
    assert made.read_text().startswith("<!doctype html>")


async def test_a_key_that_cannot_be_kept_is_told_with_the_masked_copy(
    console: Console, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(folder, "one")
    async with console.shown() as pilot:
        await pilot.press("5", "e", "down", "down")
        await pilot.pause()
        monkeypatch.setenv("XDG_STATE_HOME", "/proc")
        await pilot.press("enter")
        await console.app.workers.wait_for_complete()

    assert "Wrote" in console.told[-1]
    assert "the masking key cannot be saved" in console.told[-1]


async def test_the_session_of_this_console_says_that_typed_inputs_are_not_in_it(console: Console, folder: Path) -> None:
    stored(folder, "other")
    path = stored(folder, "own", day=2)
    console.app.runs.path = str(path)
    console.app.stated = {"workload.cpu_percent": KEYS["workload.cpu_percent"].parse("97", Origin.USER, "what-if")}
    async with console.shown(120, 40) as pilot:
        await pilot.press("5")
        await pilot.pause()
        own = console.says("#detail")
        await pilot.press("e")
        await pilot.pause()
        question = console.says(".text Static")
        await pilot.press("escape", "down")
        await pilot.pause()
        other = console.says("#detail")

    for words in (own, question):
        assert "Inputs typed in Sizing are not saved. Repeat them with: sizeup size" in " ".join(words.split())
    assert "Sizing are not saved" not in other


async def test_a_session_names_keys_and_no_options_of_a_command(console: Console, folder: Path) -> None:
    stored(folder, "one")
    async with console.shown(120, 40) as pilot:
        await pilot.press("5")
        await pilot.pause()
        words = " ".join(console.says("#detail").split())

    assert "name an edition and prices in Sizing: Enter opens it, then 4" in words
    assert "--set" not in words
    assert "sizeup size" not in words


async def test_an_export_goes_into_the_folder_that_is_entered_and_the_next_one_too(
    console: Console, tmp_path: Path, folder: Path
) -> None:
    stored(folder, "one")
    elsewhere = tmp_path / "for the customer"
    elsewhere.mkdir()
    async with console.shown() as pilot:
        await pilot.press("5", "e")
        await pilot.pause()
        await pilot.press("tab")
        console.app.screen.query_one("#folder", Input).value = str(elsewhere)
        await pilot.press("enter", "down", "enter")
        await console.app.workers.wait_for_complete()
        told = console.told[-1]
        await pilot.press("e")
        await pilot.pause()
        again = console.app.screen.query_one("#folder", Input).value

    assert told == f"Wrote {elsewhere}/one.html"
    assert (elsewhere / "one.html").is_file()
    assert again == str(elsewhere)


@pytest.mark.parametrize(
    ("entered", "words"),
    [
        ("", "Enter a folder."),
        ("{tmp}/none", "no such folder. Create it first, or enter another."),
        ("{tmp}/report.html", "is a file that exists, and is left as it is. Enter a folder."),
        ("/proc", "you may not write there. Enter another folder."),
    ],
)
async def test_a_folder_that_takes_no_file_is_refused_with_the_reason(
    console: Console, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, entered: str, words: str
) -> None:
    stored(folder, "one")
    (tmp_path / "report.html").write_text("kept")
    before = os.access
    monkeypatch.setattr(os, "access", lambda path, *how: path != "/proc" and before(path, *how))
    async with console.shown() as pilot:
        await pilot.press("5", "e")
        await pilot.pause()
        console.app.screen.query_one("#folder", Input).value = entered.format(tmp=tmp_path)
        await pilot.press("enter")
        await pilot.pause()
        said = " ".join(console.says("#message").split())
        focused = console.app.focused

    assert said.endswith(words)
    assert isinstance(focused, Input)
    assert console.told == []
    assert (tmp_path / "report.html").read_text() == "kept"


async def test_a_full_disk_is_told_and_another_folder_asked_for(
    console: Console, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(path: str, kind: str, place: str) -> tuple[bool, str]:
        return True, f"{place}: cannot write: No space left on device"

    monkeypatch.setattr("sizeup.tui.screens.sessions.write_export", full)
    stored(folder, "one")
    async with console.shown() as pilot:
        await pilot.press("5", "e")
        await pilot.pause()
        await pilot.press("enter")
        await console.app.workers.wait_for_complete()
        await pilot.pause()
        said = "".join(console.says("#message").split())

    assert console.told[-1].endswith(".shared.html: cannot write: No space left on device")
    assert said.startswith(f"!{folder}/sizeup-")
    assert said.endswith("Nospaceleftondevice")


async def test_a_masked_session_is_not_put_beside_the_others(
    console: Console, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    stored(folder, "one")
    async with console.shown() as pilot:
        await pilot.press("5", "e")
        await pilot.pause()
        await pilot.press("down", "down", "enter")
        await pilot.pause()
        said = console.says("#message")
        await pilot.press("enter")
        await console.app.workers.wait_for_complete()

    assert "would be listed as one of them" in " ".join(said.split())
    assert any(name.endswith(".shared.sizeup.jsonl.gz") for name in os.listdir(tmp_path))
    assert not any(name.endswith(".gz") for name in os.listdir(folder))


async def test_an_export_that_cannot_begin_is_told_and_ends_nothing(
    console: Console, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(folder, "one")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    async with console.shown() as pilot:
        await pilot.press("5", "e")
        await pilot.pause()
        await pilot.press("enter")
        await console.app.workers.wait_for_complete()

        assert console.told[-1].endswith(".shared.html: cannot write: No such file or directory")
        assert console.app.is_running


async def test_the_search_puts_the_session_in_place_of_the_comparison(console: Console, folder: Path) -> None:
    for number, name in enumerate(("old", "new")):
        stored(folder, name, day=number + 1)
    async with console.shown() as pilot:
        await pilot.press("5", "down", "m", "up", "c")
        await pilot.pause()
        await pilot.press("slash")
        await pilot.pause()
        await pilot.pause()

        assert isinstance(console.app.focused, Input)
        assert not console.app.screen.has_class("-compared")
        assert console.says("#detail").startswith(f"{os.uname().nodename}, 2026-01-02 09:30:00 UTC")


async def test_readonly_exports_nothing(make_console: MakeConsole, folder: Path) -> None:
    stored(folder, "one")
    console = make_console(options=Options(readonly=True))
    async with console.shown() as pilot:
        await pilot.press("5", "e")
        await pilot.pause()

        assert console.told == ["read-only: nothing is written"]
        assert console.answers == []


async def test_searching_reads_no_file_again_and_coming_back_only_those_that_changed(
    console: Console, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(folder, "old", day=1)
    new = stored(folder, "new", day=2)
    read: list[str] = []
    before = reader.read_session
    monkeypatch.setattr(reader, "read_session", lambda path, **how: read.append(path) or before(path, **how))  # type: ignore[func-returns-value]
    async with console.shown() as pilot:
        await pilot.press("5")
        await pilot.pause()
        read.clear()
        await pilot.press("slash", *"old")
        await pilot.pause()
        assert read == []
        assert [Path(path).name for path in console.entries()] == [f"old{SUFFIX}"]
        await pilot.press("escape", "1")
        annotate(str(new), "calm")
        read.clear()
        await pilot.press("5")
        await pilot.pause()

        assert read == [str(new)]
        assert "calm" in console.entries()[str(new)]


async def test_keys_that_find_no_session_say_so(console: Console, folder: Path) -> None:
    async with console.shown() as pilot:
        await pilot.press("5", "c", "m", "n", "e", "R")
        await pilot.pause()
        assert console.told == ["no session is selected"] * 5
        (folder / f"two{SUFFIX}").write_text("no session\n")
        await pilot.press("1", "5", "c", "m", "n", "e", "R")
        await pilot.pause()

        assert len(console.told) == 10
        assert all("expected a sizeup session" in words for words in console.told[5:])
        assert len(console.app.screen_stack) == 1


def _appended(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\x00\xff rubbish \x1b[2J\n" * 50)


def _replaced(path: Path) -> None:
    other = path.with_suffix(".new")
    other.write_bytes(b"\x1b]0;owned\x07no session\n")
    other.replace(path)


_CHANGES: dict[str, Callable[[Path], object]] = {
    "removed": os.unlink,
    "emptied": lambda path: os.truncate(path, 0),
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "rubbish appended": _appended,
    "replaced": _replaced,
    "made a folder": lambda path: (path.unlink(), path.mkdir()),
    "unreadable": lambda path: path.chmod(0),
}


async def test_a_session_that_changes_while_it_is_shown_is_no_end(console: Console, folder: Path) -> None:
    for number in range(len(_CHANGES)):
        stored(folder, f"running{number}", done=False)  # without an end, so that it is followed
    async with console.shown() as pilot:
        for number, change in enumerate(_CHANGES.values()):
            path = folder / f"running{number}{SUFFIX}"
            console.app.show_session(str(path))
            change(path)
            console.tick()
            for mode in "12345":
                await pilot.press(mode)
            assert "\x1b" not in console.text
            await pilot.press("u")

            assert console.app.runs is console.runs
