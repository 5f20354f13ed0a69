"""The Sessions mode by keys: what its lists say, what it writes, and what it asks before it does."""

import gc
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.widgets import Input

import fleet_sessions
from consoles import Console, ended, pressed, records, settled, until
from fleet_sessions import Figures
from sizeup.model.sample import Outcome, Status
from sizeup.quantity import Origin
from sizeup.session import reader
from sizeup.session.records import OutcomeRecord
from sizeup.session.store import SUFFIX, annotate
from sizeup.session.value import Session
from sizeup.session.writer import Writer
from sizeup.sizing.keys import KEYS
from sizeup.tui.dialogs import TextDialog
from sizeup.tui.widgets.lists import KeyList
from tui.stored_sessions import packed, stored


async def test_a_long_session_is_scrolled_by_keys(console: Console, folder: Path) -> None:
    path = stored(folder, "one")
    for number in range(20):
        annotate(str(path), f"note {number}")
    async with console.shown(keys="5") as pilot:
        await settled(pilot)
        pane = console.app.screen.query_one("#detail-pane")
        await until(pilot, lambda: pane.max_scroll_y > 0)  # once the text is laid out
        top = pane.scroll_y
        await pressed(pilot, "tab", "end")
        await until(pilot, lambda: pane.scroll_y == pane.max_scroll_y)

        assert top == 0


@pytest.mark.parametrize(("columns", "rows", "drawn"), [(80, 24, False), (120, 40, True), (200, 60, True)])
async def test_the_chart_of_a_session_takes_the_columns_beside_its_text(
    console: Console, folder: Path, columns: int, rows: int, drawn: bool
) -> None:
    fleet_sessions.write(folder, "db01", fleet_sessions.records("db01", Figures(), fleet_sessions.server()))
    async with console.shown(columns, rows, keys="5") as pilot:
        await settled(pilot)
        picture, pane, left, other = map(console.app.screen.query_one, ("#picture", "#detail-pane", "#left", "#other"))

        assert (console.chart is not None) is drawn
        assert not drawn or (picture.region.y, picture.region.x) == (pane.region.y, pane.region.right)
        assert not drawn or (picture.region.bottom, picture.region.right) == (left.region.bottom, columns)
        assert pane.max_scroll_y == 0 or not drawn
        assert bool(other.region) is (rows == 60)
        assert rows != 60 or (other.region.y, other.region.bottom) == (pane.region.bottom, picture.region.bottom)


async def test_findings_are_cut_to_a_line_only_where_there_is_no_room(console: Console, folder: Path) -> None:
    long = "Update the microcode of the host, and have the hypervisor show the guest what it adds; then restart it."
    finding = replace(fleet_sessions.LINK_DOWN, remedy=long)
    found = replace(fleet_sessions.server(), findings=(finding,) * 4)
    fleet_sessions.write(folder, "db01", fleet_sessions.records("db01", Figures(), found))
    async with console.shown(120, 40, keys="5") as pilot:
        await settled(pilot)
        roomy = console.says("#detail")
        await pilot.resize_terminal(120, 30)
        await settled(pilot)
        cut = console.says("#detail")

    assert "then restart it." in " ".join(roomy.split())
    assert "then restart it." not in " ".join(cut.split())


async def test_a_bar_compares_the_iops_of_the_sessions_that_are_listed(console: Console, folder: Path) -> None:
    for name, iops in (("db01", 150_000.0), ("db02", 75_000.0)):
        figures = Figures(iops=iops)
        fleet_sessions.write(folder, name, fleet_sessions.records(name, figures, fleet_sessions.server()))
    stored(folder, "without")
    async with console.shown(120, 40, keys="5"):
        listed = console.app.screen.query_one(KeyList)
        bars = {line.split()[2]: line.count("▄") for line in console.entries().values()}
        colors = {str(span.style) for option in listed.options for span in option.prompt.spans}

    assert bars["db01"] == 2 * bars["db02"] > 20
    assert bars[os.uname().nodename.partition(".")[0]] == 0
    assert {"$s1", "$ok"} <= colors


async def test_sessions_without_iops_leave_no_column_for_them(console: Console, folder: Path) -> None:
    stored(folder, "without")
    async with console.shown(120, 40, keys="5") as pilot:
        await settled(pilot)
        header = console.says("#columns")
        (line,) = console.entries().values()

    assert "IOPS" not in header
    assert line.index("PASS") < 60


@pytest.mark.parametrize(("columns", "rows"), [(40, 12), (60, 20), (80, 24), (120, 40), (200, 60)])
async def test_a_line_of_the_list_is_not_cut_before_how_the_run_went(
    console: Console, folder: Path, columns: int, rows: int
) -> None:
    stored(folder, "one", host="a-host-with-a-long-name.example.com")
    async with console.shown(columns, rows, keys="5") as pilot:
        await settled(pilot)
        listed = console.app.screen.query_one(KeyList)
        (option,) = listed.options

        assert "● PASS" in option.prompt.plain[: listed.size.width]
        assert columns < 120 or option.prompt.plain.endswith("1 step, complete")


async def test_what_is_no_session_has_a_band_and_no_chart_of_another_one(console: Console, folder: Path) -> None:
    (folder / f"zz{SUFFIX}").write_text("no session\n")
    fleet_sessions.write(folder, "db01", fleet_sessions.records("db01", Figures(), fleet_sessions.server()))
    async with console.shown(120, 40, keys="5") as pilot:
        seen = []
        for _ in range(2):
            await settled(pilot)
            seen.append(("NOT READABLE" in console.text, console.chart is not None))
            await pressed(pilot, "j" if not seen[1:] else "k")

    assert sorted(seen) == [(False, True), (True, False)]


async def test_a_store_without_sessions_says_how_one_comes_and_what_it_is_for(console: Console, folder: Path) -> None:
    async with console.shown(120, 40, keys="5"):
        assert "NO SESSIONS" in console.text
        assert "Next  3 leads to the measurements, where r runs one" in console.text
        assert re.search(
            r"Started +Host +DRAM +IOPS +Run +│\n.*09:30 +db01 +96 ns +150k +VALID +\(example\)", console.text
        )
        assert "Compare with the baseline" not in console.text, "nothing to do with what is not there"
        pane, words = (console.app.screen.query_one(name).region for name in ("#detail-pane", "#detail"))
        assert words.height == 10
        assert abs(2 * words.y + words.height - 2 * pane.y - pane.height) <= 1, "it stands in the middle"
        assert f"Kept in {folder}" in console.text.replace("~", str(Path.home()))
        assert "c  compares two of them" in console.text
        assert "Enter Open" not in console.text
        assert console.chart is None


async def test_each_run_is_kept_once_whatever_screens_have_shown_it(folder: Path) -> None:
    console = Console(folder)
    first, found, *run = records()
    async with console.shown(120, 40) as pilot:
        for number in range(3):
            begun = [replace(first, id="kept once"), found] if number == 0 else []
            await console.measure(pilot, [*begun, *run])
            await console.end(pilot, ended())
            await settled(pilot, "5")
            listed = console.app.screen
            await settled(pilot, "1")
        gc.collect()
        kept = [one for one in gc.get_objects() if type(one) is Session and one.header.id == "kept once"]

        assert len(console.runs.session.plans) == 3
        assert kept == [console.runs.session]
        assert len(listed._figures) == 1


async def test_a_note_and_a_torn_line_are_read_of_the_session_that_is_shown(folder: Path) -> None:
    console = Console(folder)
    async with console.shown(120, 40) as pilot:
        await console.measure(pilot, records())
        await console.end(pilot, ended())
        annotate(str(console.runner.path), "after the run")
        await settled(pilot, "5")
        noted = console.says("#detail")
        with console.runner.path.open("ab") as file:
            file.write(b'{"kind":"no')
        await settled(pilot, "1", "5")
        torn = console.says("#detail")

    assert ["after the run" in noted, "is torn" in noted] == [True, False]
    assert ["after the run" in torn, "is torn" in torn] == [True, True]


async def test_a_summary_says_where_the_rest_of_it_is(console: Console, folder: Path) -> None:
    path = stored(folder, "one")
    with Writer.append(str(path)) as writer:
        for number in range(12):
            writer.write(OutcomeRecord(300 + number, f"step{number}", Outcome(Status.REFUSED, "not here")))
    async with console.shown(120, 50, keys="5") as pilot:
        await pilot.pause()

        assert "Run FAIL 1 of 13 steps measured" in console.says("#detail") or "refused" in console.says("#detail")
        assert "9 more refused" in console.says("#detail")
        assert "further down" not in console.says("#detail")


async def test_a_run_that_goes_on_is_not_called_cut_short(console: Console, folder: Path) -> None:
    path = stored(folder, "one", done=False)
    with Writer.append(str(path)):
        async with console.shown(120, 40, keys="5R"):
            (line,) = console.entries().values()
            assert line.endswith(" now")
            assert "interrupted" not in line
            assert console.told[-1] == "a run is writing it"


async def test_damage_and_what_is_no_session_are_told_in_the_list(console: Console, folder: Path) -> None:
    with stored(folder, "one").open("a") as file:
        file.write("rubbish\n")
    (folder / f"two{SUFFIX}").write_text("no session\n")
    async with console.shown(keys="5") as pilot:
        await pilot.pause()

        lines = {Path(path).name.partition(".")[0]: line for path, line in console.entries().items()}
        assert lines["one"].startswith("! ")
        assert lines["two"].startswith("! two expected a sizeup session")


async def test_a_note_that_cannot_be_kept_is_asked_for_again_with_what_was_typed(
    console: Console, folder: Path
) -> None:
    packed(stored(folder, "one"))
    async with console.shown(keys="5n") as pilot:
        await pressed(pilot, *"quiet", "enter")

        assert "is compressed and cannot be added to" in console.told[-1]
        assert isinstance(console.app.screen, TextDialog)
        assert console.app.screen.query_one(Input).value == "quiet"


async def test_a_packed_session_such_as_a_masked_copy_is_opened(console: Console, folder: Path) -> None:
    packed(stored(folder, "one", host="elsewhere"))
    async with console.shown(keys=("5", "enter")) as pilot:
        await pilot.pause()

        assert console.told == []
        assert console.app.runs.session.header.host == "elsewhere"
        await pressed(pilot, "5", "u")


async def test_a_session_that_has_gone_is_not_opened_as_an_empty_one(console: Console, folder: Path) -> None:
    path = stored(folder, "one")
    async with console.shown(keys="5") as pilot:
        path.unlink()
        await pressed(pilot, "enter")

        assert console.told == [f"{path}: cannot open the session: it is empty, or has gone"]
        assert console.app.runs is console.runs
        assert console.entries() == {}


async def test_what_was_measured_elsewhere_is_not_resumed_here(console: Console, folder: Path) -> None:
    stored(folder, "one", done=False, host="db-prod-07.example.com")
    async with console.shown(keys="5R"):
        assert "measured on db-prod-07.example.com" in console.told[-1]
        assert console.runner.arguments == []


async def test_the_session_of_this_console_says_that_typed_inputs_are_not_in_it(console: Console, folder: Path) -> None:
    stored(folder, "other")
    path = stored(folder, "own", day=2)
    console.app.runs.path = str(path)
    console.app.stated = {"workload.cpu_percent": KEYS["workload.cpu_percent"].parse("97", Origin.USER, "what-if")}
    async with console.shown(120, 40, keys="5") as pilot:
        own = console.says("#detail")
        await pressed(pilot, "e")
        question = console.text
        await pressed(pilot, "escape", "down")
        other = console.says("#detail")

    assert "entered in the console" in own
    assert "With the inputs entered in the console" in question
    assert "entered in the console" not in other


async def test_a_session_names_keys_and_no_options_of_a_command(console: Console, folder: Path) -> None:
    stored(folder, "one")
    async with console.shown(120, 40, keys="5"):
        words = f"{console.says('#detail')} {console.text}"

    assert re.search(r"Next +Enter opens it", words)
    assert "--set" not in words
    assert "sizeup size" not in words


async def test_searching_reads_no_file_again_and_coming_back_only_those_that_changed(
    console: Console, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(folder, "old", day=1)
    new = stored(folder, "new", day=2)
    read: list[str] = []
    before = reader.read_session
    monkeypatch.setattr(reader, "read_session", lambda path, **how: read.append(path) or before(path, **how))  # type: ignore[func-returns-value]
    async with console.shown(keys="5") as pilot:
        read.clear()
        await pressed(pilot, "slash", *"old")
        assert read == []
        assert [Path(path).name for path in console.entries()] == [f"old{SUFFIX}"]
        await pilot.press("escape", "1")
        annotate(str(new), "calm")
        read.clear()
        await pressed(pilot, "5")

        assert read == [str(new)]
        await pressed(pilot, "up")
        assert "calm" in console.says("#detail")


async def test_keys_that_find_no_session_say_so(console: Console, folder: Path) -> None:
    async with console.shown(keys="5cbneR") as pilot:
        assert console.told == ["no session is selected"] * 5
        (folder / f"two{SUFFIX}").write_text("no session\n")
        await pressed(pilot, "1", "5", "c", "b", "n", "e", "R")

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


async def test_b_takes_the_mark_of_the_baseline_back_and_no_note_shows_it(console: Console, folder: Path) -> None:
    stored(folder, "one")
    async with console.shown(120, 40, keys="5") as pilot:
        await pressed(pilot, "b")
        (marked,), told = console.entries().values(), console.told[-1]
        noted = str(console.app.screen.query_one("#detail-pane").border_title)
        await pressed(pilot, "b")
        (plain,) = console.entries().values()

        assert (marked[0], told) == ("*", "Marked as the baseline")
        assert plain.split()[0] != "*"
        assert console.told[-1] == "No longer the baseline"
        assert "the baseline" in noted
        assert "#baseline" not in console.says("#detail")


async def test_the_list_begins_at_the_session_that_is_open_and_the_export_names_it(
    console: Console, folder: Path
) -> None:
    older = stored(folder, "older")
    stored(folder, "newer")
    async with console.shown(120, 40) as pilot:
        console.app.show_session(str(older))
        await pressed(pilot, "5", "e")
        await pilot.pause()

        assert f"Export {older.name.removesuffix(SUFFIX)}" in console.text


async def test_the_cursor_follows_the_session_that_the_other_modes_show(console: Console, folder: Path) -> None:
    older, newer = stored(folder, "older"), stored(folder, "newer", day=2)
    async with console.shown(120, 40, keys="5") as pilot:
        on = []
        for shown in (older, newer, older):
            console.app.show_session(str(shown))
            await pressed(pilot, "5")
            await settled(pilot)
            on.append(console.app.screen.query_one(KeyList).highlighted_option.id)

    assert on == [str(older), str(newer), str(older)]


async def test_a_cursor_on_the_newest_goes_to_the_session_that_is_newest_now(console: Console, folder: Path) -> None:
    older = [stored(folder, name) for name in ("one", "two")]
    for number, path in enumerate(older):
        os.utime(path, (10**9 + number, 10**9 + number))
    chosen = []
    async with console.shown(120, 40, keys="5") as pilot:
        listed = console.app.screen.query_one("#sessions", KeyList)
        for name, key in (("three", ""), ("four", "down"), ("five", "")):
            await pressed(pilot, *filter(None, (key,)))
            before = listed.highlighted_option
            path = stored(folder, name)
            console.app.screen.show_machine()
            await settled(pilot)
            after = listed.highlighted_option
            assert before is not None
            assert after is not None
            chosen.append((before.id == listed.options[0].id, after.id == before.id, after.id == str(path)))

    assert [one[1:] for one in chosen] == [(False, True), (True, False), (True, False)]


async def test_the_last_line_offers_the_way_back_only_while_a_session_is_shown(console: Console, folder: Path) -> None:
    stored(folder, "one")
    async with console.shown(120, 40, keys="5") as pilot:
        await settled(pilot)
        live = console.keys
        await pressed(pilot, "enter")
        await settled(pilot)
        summary = console.keys
        await pressed(pilot, "5")
        await settled(pilot)
        saved = console.keys

    assert "This host" not in live
    assert "Measure" not in summary, "nothing can be measured in a session"
    assert "This host" in saved
