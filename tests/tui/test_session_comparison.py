"""Two sessions compared: the answer first, a row for each figure, the curves of both, and what else changed."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from consoles import Console, pressed, settled
from fleet_sessions import Figures, records, server, with_port_down, write
from sizeup.charts.chart import LineChart
from sizeup.session.reader import read_session
from sizeup.tui.screens.compare_screen import ChangeTable, CompareScreen
from sizeup.tui.screens.sessions import SessionsScreen
from sizeup.views.comparison.answer import ChangeResult, ChangeRow
from tui.stored_sessions import named, stored


def rows(console: Console) -> list[str]:
    """The table of changes, as it is drawn."""
    return console.app.screen.query_one(ChangeTable).drawing.text().splitlines()


def before_and_after(folder: Path, rounds: int = 1, *, converged: bool = True) -> None:
    """Two sessions of one host, between which a port lost its link."""
    old = records("db01", Figures(), server(), started="2026-01-01T09:00:00Z", rounds=rounds)
    write(folder, "db01", old, "old")
    new = {"started": "2026-01-02T09:00:00Z", "rounds": rounds, "converged": converged, "half": 0.3}
    write(folder, "db01", records("db01", Figures(iops=110e3), with_port_down(server()), **new), "new")


async def test_the_session_that_was_marked_last_is_the_baseline(console: Console, folder: Path) -> None:
    old, new = stored(folder, "old", day=1), stored(folder, "new", day=2)
    async with console.shown(120, 40, keys=("5", "b", "down", "b")) as pilot:
        assert sum(line.startswith("* ") for line in console.entries().values()) == 1
        await pilot.press("c")
        assert console.told[-1].startswith("This is the baseline")
        await pressed(pilot, "up", "c")
        basis = console.app.screen.band().basis

    assert basis.startswith("baseline 1 Jan")
    assert "new 2 Jan" in basis
    assert all("baseline" in read_session(str(path)).tags for path in (old, new))


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (120, 40)])
async def test_a_comparison_begins_with_its_answer_and_says_how_many_runs_are_missing(
    console: Console, folder: Path, columns: int, lines: int
) -> None:
    named(folder, "old", 92.0, 1)
    named(folder, "new", 147.2, 2)
    async with console.shown(columns, lines, keys=("5", "down", "b", "up", "c")) as pilot:
        await pilot.pause()
        screen = console.app.screen
        band, table = screen.band(), rows(console)
        await pressed(pilot, "t")
        statistics = console.text
        await pressed(pilot, "escape", "escape")
        back = console.app.screen

    assert (band.word, band.number.text) == ("CANNOT TELL", "3")
    assert band.steps[0].key == "r"
    (row,) = [line for line in table if "DRAM latency" in line]
    assert re.search(r"DRAM latency +92 ns +147 ns.* 60 % longer +\? CANNOT TELL", row)
    assert "3 more runs of each side would tell" in " ".join(table)
    assert "p" in statistics
    assert "memory.latency.dram-thp-level" in statistics
    assert isinstance(back, SessionsScreen)


async def test_a_session_that_was_opened_elsewhere_is_compared_with_one_of_the_store(
    console: Console, folder: Path, tmp_path: Path
) -> None:
    stored(folder, "one")
    opened = stored(tmp_path, "opened", day=2)
    async with console.shown(120, 40) as pilot:
        console.app.show_session(str(opened))
        await settled(pilot, "5", "c")
        shown = console.app.screen

    assert isinstance(shown, CompareScreen)


async def test_with_one_session_alone_the_key_that_begins_another_is_named_and_does(
    console: Console, folder: Path
) -> None:
    stored(folder, "one")
    async with console.shown(120, 40, keys="5c") as pilot:
        await pressed(pilot, "N")
        told = [*console.told]

    assert told[-2].startswith("No other session to compare with: N begins one")
    assert told[-1].startswith("The next runs go into a new session")


async def test_what_else_changed_is_named_with_the_likely_cause_first(console: Console, folder: Path) -> None:
    before_and_after(folder, rounds=6)
    async with console.shown(120, 40, keys=("5", "c")) as pilot:
        await pressed(pilot, "enter")
        await pilot.pause()
        causes = console.says("#else")

    first, _, rest = causes.partition("likely cause")
    assert "host4" in first
    assert "Can the runs be compared?" in rest
    assert "Interleaved" in rest


@pytest.mark.parametrize(("columns", "lines", "names"), [(100, 24, False), (120, 40, True), (200, 60, True)])
async def test_rows_that_are_left_name_settings_that_are_the_same(
    console: Console, folder: Path, columns: int, lines: int, names: bool
) -> None:
    before_and_after(folder)
    async with console.shown(columns, lines, keys=("5", "c")) as pilot:
        await pressed(pilot, "enter")
        await pilot.pause()
        causes, scrolls = console.says("#else"), console.app.screen.query_one("#causes").max_scroll_y

    assert ("Settings that are the same" in causes) is names
    assert bool(re.search("governor +performance", causes)) is names
    assert not names or not scrolls


@pytest.mark.parametrize(("columns", "lines"), [(120, 40), (200, 60)])
async def test_a_change_that_the_runs_cannot_tell_has_no_cause_and_figures_that_scatter_are_counted(
    console: Console, folder: Path, columns: int, lines: int
) -> None:
    before_and_after(folder, converged=False)
    async with console.shown(columns, lines, keys=("5", "c")) as pilot:
        await pressed(pilot, "enter")
        await pilot.pause()
        causes, band = console.says("#else"), console.app.screen.band()

    assert band.word == "CANNOT TELL"
    assert "host4" in causes
    assert "likely cause" not in causes
    assert re.search(r"All figures valid\s+no, (\d+) of \1 did not converge", causes)


async def test_without_curves_all_changes_stand_on_a_low_screen(console: Console, folder: Path) -> None:
    before_and_after(folder)
    async with console.shown(80, 24, keys=("5", "c")) as pilot:
        await pressed(pilot, "enter")
        await pilot.pause()
        table, shown = console.app.screen.query_one(ChangeTable), rows(console)
        edge, is_drawn = str(table.border_subtitle), console.app.screen.query_one("#charts").display

    assert not is_drawn
    assert "more rows" not in edge
    assert any(line.startswith("Clock") for line in shown)
    assert not any("Shaded" in line for line in shown)  # no bars, nothing shaded


async def test_b_swaps_the_sides_and_z_gives_the_curves_the_screen_but_not_the_last_line(
    console: Console, folder: Path
) -> None:
    named(folder, "old", 92.0, 1)
    named(folder, "new", 147.2, 2)
    async with console.shown(120, 40, keys=("5", "c")) as pilot:
        await pressed(pilot, "enter")
        before = rows(console)
        await pressed(pilot, "b")
        swapped = rows(console)
        await pressed(pilot, "z")
        last = console.text.splitlines()[-1]
        hidden = not console.app.screen.query_one(ChangeTable).region.height
        await pressed(pilot, "escape")
        still = isinstance(console.app.screen, CompareScreen)

    assert re.search(r"92 ns +147 ns", " ".join(before))
    assert re.search(r"147 ns +92 ns", " ".join(swapped))
    assert "Zoom" in last
    assert "Quit" in last
    assert (hidden, still) == (True, True)


async def test_the_curves_of_both_have_two_fifths_of_the_screen(console: Console, folder: Path) -> None:
    for number, name in enumerate(("old", "new")):
        stored(folder, name, day=number + 1, probe="memory.latency")
    for columns, lines in ((80, 24), (120, 40), (200, 60)):
        async with Console(folder.parent).shown(columns, lines, keys=("5", "c")) as pilot:
            await pressed(pilot, "enter")
            await pilot.pause()
            screen = pilot.app.screen
            overlay = screen.query_one("#overlay")
            assert overlay.region.height >= 0.4 * lines
            assert isinstance(overlay.chart, LineChart)
            assert [line.earlier for line in overlay.chart.lines] == [False, True]


async def test_sessions_that_share_no_figure_say_so(console: Console, folder: Path) -> None:
    stored(folder, "old", day=1, probe="clock.cost")
    stored(folder, "new", day=2)
    async with console.shown(120, 40, keys=("5", "down", "b", "up", "c")) as pilot:
        await pilot.pause()

        assert any("nothing measured on both sides" in line for line in rows(console))
        assert console.chart is None


@pytest.mark.parametrize("keys", [(), ("down",)])
async def test_without_a_baseline_the_older_session_is_the_baseline_whichever_was_selected(
    console: Console, folder: Path, keys: tuple[str, ...]
) -> None:
    named(folder, "y", 92.0, 1)
    named(folder, "x", 147.2, 2)
    async with console.shown(120, 40) as pilot:
        await pressed(pilot, "5", *keys, "c")
        await pilot.pause()
        assert re.search(r"92 ns +147 ns", " ".join(rows(console)))
        named(folder, "z", 100.0, 3)
        await pressed(pilot, "escape", "1", "5", "c")
        assert len(console.answers) == 2


def drawn(*given: ChangeRow) -> list[str]:
    """What a table of changes draws at 120 columns."""
    return ChangeTable().drawn(given, (), 116, len(given) + 1).text().splitlines()


def test_improvement_is_to_the_right_and_what_lies_beyond_the_scale_has_an_arrow() -> None:
    worse = ChangeRow(
        "IOPS", "Storage", "40 k/s", "31 k/s", -0.23, -0.28, -0.2, "23 % less", ChangeResult.SLOWER, "IOPS"
    )
    better = replace(worse, better=0.1, low=0.05, high=0.15, change="10 % more", result=ChangeResult.FASTER)
    beyond = replace(worse, better=-0.9, low=-1.1, high=-0.7, change="90 % longer")
    head, *lines = drawn(worse, better, beyond)
    zero = head.index("0 %")

    assert lines[0].index("●") < zero < lines[1].index("●")
    assert lines[0].index("├") < lines[0].index("●") < lines[0].index("┤") < zero
    assert "◀" in lines[2]
    assert "●" not in lines[2]
    assert "▼ SLOWER" in lines[0]
    assert "▲ FASTER" in lines[1]


def test_rows_that_are_not_valid_recede_and_their_reason_is_said_once() -> None:
    results = (ChangeResult.NOT_VALID, ChangeResult.NOT_VALID, ChangeResult.CANNOT_TELL)
    rows = [ChangeRow("IOPS", "Storage", "1", "2", None, None, None, "", result, "IOPS", None) for result in results]
    drawing = ChangeTable().drawn(rows, [], 100, 5)

    assert [drawing.roles[y][100 - 13] for y in range(1, 4)] == ["dim", "dim", "warn"]
