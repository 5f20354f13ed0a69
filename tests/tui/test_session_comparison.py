"""Two sessions compared in the Sessions mode: the baseline, the conclusion, the figures and the statistics."""

import os
import re
from pathlib import Path

import pytest
from textual.widgets import Input

from consoles import Console, pressed
from sizeup.session.reader import read_session
from tui.stored_sessions import named, stored


async def test_the_session_that_was_marked_last_is_the_baseline(console: Console, folder: Path) -> None:
    old, new = stored(folder, "old", day=1), stored(folder, "new", day=2)
    async with console.shown(120, 40, keys=("5", "b", "down", "b")) as pilot:
        assert sum(line.startswith("* ") for line in console.entries().values()) == 1
        await pilot.press("c")
        assert console.told[-1].startswith("This is the baseline")
        await pressed(pilot, "up", "c")
        await pilot.pause()
        assert f"A (baseline) old ({os.uname().nodename}) B (new) new ({os.uname().nodename})" in console.says(
            "#detail"
        )

    assert all("baseline" in read_session(str(path)).tags for path in (old, new))


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40)])
async def test_a_comparison_begins_with_its_conclusion_and_s_shows_the_statistics(
    console: Console, folder: Path, columns: int, rows: int
) -> None:
    named(folder, "old", 92.0, 1)
    named(folder, "new", 147.2, 2)
    async with console.shown(columns, rows, keys=("5", "down", "b", "up", "c")) as pilot:
        await pilot.pause()
        figures, hint = console.says("#detail"), str(console.app.screen.query_one("#session-pane").border_subtitle)
        await pressed(pilot, "s")
        statistics = console.says("#detail")
        await pressed(pilot, "s")
        again = console.says("#detail")

    assert figures.startswith("Too few runs to tell: 1 run before, 1 after, 4 of each needed.")
    assert re.search(r"DRAM latency.*92 ns.*147 ns", figures) or re.search(r"A 92 ns, B 147 ns", figures)
    assert "60 % longer" in figures
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
    async with console.shown(keys=("5", "down", "b", "up", "c")) as pilot:
        await pilot.pause()
        screen = console.app.screen
        compared, wide = console.says("#detail"), screen.query_one("#list-pane").region.width
        rows = console.text.splitlines()
        await pressed(pilot, "escape")
        await pilot.pause()

        assert "memory.bandwidth.of-all.latency" in compared
        assert re.search(r"A \S+ ns, B \S+ ns: \+0\.0%, p 1\.000; \? too few runs", compared)
        assert any(row.split()[1:2] == ["memory.bandwidth.of-all.latency"] for row in rows)  # not folded
        assert wide == 0
        assert screen.query_one("#list-pane").region.width > 0
        newer = f"{os.uname().nodename}, 2026-01-02 09:30:00 UTC"
        assert console.says("#detail").startswith(newer)
        await pressed(pilot, "c")
        assert screen.has_class("-compared")
        await pressed(pilot, "slash")  # the search, too, puts the session in place of the comparison
        await pilot.pause()
        assert isinstance(console.app.focused, Input)
        assert not screen.has_class("-compared")
        assert console.says("#detail").startswith(newer)


async def test_in_120_columns_the_figures_of_two_sessions_stand_in_a_table_beside_the_list(
    console: Console, folder: Path
) -> None:
    for number, name in enumerate(("old", "new")):
        stored(folder, name, day=number + 1, probe="memory.latency")
    async with console.shown(120, 40, keys=("5", "down", "b", "up", "c")) as pilot:
        await pilot.pause()

        figures = r"memory\.latency\.latency \S+ ns \S+ ns \+0\.0% 1\.000 \? too few runs"
        assert re.search(figures, " ".join(console.says("#detail").split()))


async def test_sessions_that_share_no_figure_say_so(console: Console, folder: Path) -> None:
    stored(folder, "old", day=1, probe="clock.cost")
    stored(folder, "new", day=2)
    async with console.shown(120, 40, keys=("5", "down", "b", "up", "c")) as pilot:
        await pilot.pause()

        assert "! nothing measured on both sides" in console.says("#detail")
        assert "p 1.000" not in console.says("#detail")
        assert console.chart is None


async def test_without_a_baseline_the_session_chosen_in_the_dialog_is_compared(console: Console, folder: Path) -> None:
    named(folder, "old", 92.0, 1)
    named(folder, "new", 147.2, 2)
    async with console.shown(120, 40, keys="5") as pilot:
        await pressed(pilot, "c")
        await pressed(pilot, "enter")
        await pilot.pause()

        assert console.says("#detail").startswith("Too few runs to tell: 1 run before")
        assert console.app.screen.has_class("-compared")
        assert re.search(r"Quantity +A +B", console.text)  # the table, for which the width beside the list is too small
        await pressed(pilot, "escape")
        await pilot.pause()
        assert not console.app.screen.has_class("-compared")


@pytest.mark.parametrize("keys", [(), ("down",)])
async def test_without_a_baseline_the_older_session_is_a_whichever_was_selected(
    console: Console, folder: Path, keys: tuple[str, ...]
) -> None:
    named(folder, "y", 92.0, 1)
    named(folder, "x", 147.2, 2)
    async with console.shown(120, 40) as pilot:
        await pressed(pilot, "5", *keys)
        await pressed(pilot, "c")
        await pressed(pilot, "enter")
        await pilot.pause()
        says, title = console.says("#detail"), str(console.app.screen.query_one("#session-pane").border_title)

    assert re.search(r"A \(baseline\) y .*B \(new\) x ", says)
    assert "60 % longer" in says
    assert title == "No baseline marked: A is the older, B the newer"


async def test_in_80_columns_the_figures_of_a_comparison_are_seen_without_scrolling(
    console: Console, folder: Path
) -> None:
    named(folder, "old", 92.0, 1)
    named(folder, "new", 147.2, 2)
    async with console.shown(keys="5c") as pilot:
        await pressed(pilot, "enter")
        await pilot.pause()

        assert re.search(r"DRAM latency +92 ns +147 ns|A 92 ns, B 147 ns", console.text)
