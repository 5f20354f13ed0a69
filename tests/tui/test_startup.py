"""The start of the console: what it leaves out, and that what it draws first is what it would draw last."""

import asyncio
import fcntl
import gc
import os
import struct
import subprocess
import sys
import termios
import weakref
from pathlib import Path
from typing import Any

import pytest
from textual.color import Color
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.widget import Widget

from consoles import machine, pressed, screen_text
from sizeup.charts.chart import Axis, Bar, BarChart
from sizeup.charts.drawing import SERIES, Glyphs, heat_role
from sizeup.terminal.driver import ConsoleDriver
from sizeup.tui.console import ConsoleApp
from sizeup.tui.options import Options
from sizeup.tui.runs import Runs
from sizeup.tui.screens import summary
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.screens.summary_rows import RowTable
from sizeup.tui.startup import load
from sizeup.tui.themes import TEXTUAL_NAMES
from sizeup.tui.widgets.cells import CellView
from sizeup.tui.widgets.chart import ChartView
from sizeup.tui.widgets.lists import KeyList
from tiers import one_in
from tui.stored_sessions import stored

_IMPORTS = """
import os, sys
from sizeup import cli
from sizeup.cli import console
from sizeup.tui import app
import sizeup.tui.console
print(*sorted(set(sys.argv[1:]) & set(sys.modules)))
"""
_UNUSED = (
    "argparse", "gettext", "psutil", "pyudev", "statistics", "sizeup.charts.line_cells", "sizeup.engine",
    "sizeup.live", "sizeup.model.sample", "sizeup.probing", "sizeup.report", "sizeup.session.reader",
    "sizeup.session.records", "sizeup.session.value", "sizeup.session.writer", "sizeup.sizing.inputs.measured",
    "sizeup.sizing.sensitivity", "sizeup.views.run.step", "sizeup.views.machine.topology",
)  # fmt: skip


@pytest.fixture
def app(tmp_path: Path) -> ConsoleApp:
    return ConsoleApp(Runs(str(tmp_path / "run.sizeup.jsonl")), machine())


def test_the_start_loads_nothing_that_the_first_screen_has_no_use_for() -> None:
    done = subprocess.run([sys.executable, "-c", _IMPORTS, *_UNUSED], capture_output=True, text=True, check=True)

    assert done.stdout.split() == []


async def test_the_first_mode_is_drawn_once_in_the_colors_of_the_theme_and_reads_no_probes(
    app: ConsoleApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[int] = []
    tables: list[RowTable] = []
    render_line, made = KeyList.render_line, summary.RowTable
    monkeypatch.setattr(
        KeyList,
        "render_line",
        lambda self, y: lines.extend([y] * (self.id == "entries")) or render_line(self, y),
    )
    monkeypatch.setattr(summary, "RowTable", lambda *how, **named: tables.append(made(*how, **named)) or tables[-1])
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        drawn, height = sorted(lines), app.screen.query_one(KeyList).size.height
        colors = [
            (segment.style.color, segment.style.bgcolor)
            for shown in (app.screen.query_one(name, Widget) for name in ("#band", "#entries", "#findings"))
            for line in range(shown.size.height)
            for segment in shown.render_line(line)
            if segment.style is not None and not segment.text.isspace()
        ]

        assert len(colors) > 5
        assert all(color is not None and color != ground for color, ground in colors)
        assert "registry" not in vars(app)
        assert f"(about {summary.MEASURE_SECONDS} s)" in screen_text(app)
    assert drawn == list(range(height))
    assert len(tables) == 1


@pytest.mark.ci
async def test_a_new_mode_has_no_style_sheet_parsed_twice(app: ConsoleApp, monkeypatch: pytest.MonkeyPatch) -> None:
    again: list[Stylesheet] = []
    monkeypatch.setattr(Stylesheet, "reparse", lambda sheet: again.append(sheet))
    async with app.run_test() as pilot:
        for key in "12345":
            await pressed(pilot, key)

        assert again == []


async def test_no_mode_is_styled_again_as_a_whole(app: ConsoleApp, monkeypatch: pytest.MonkeyPatch) -> None:
    styled: list[str] = []
    whole = ConsoleApp.update_styles

    def watched(self: ConsoleApp, node: DOMNode, animate: bool = True) -> None:
        if isinstance(node, ModeScreen):
            styled.append(node.SCOPE)
        whole(self, node, animate)

    monkeypatch.setattr(ConsoleApp, "update_styles", watched)
    async with app.run_test() as pilot:
        await pilot.pause()
        await pressed(pilot, "2", "1")

    assert styled == []


@pytest.mark.ci
async def test_a_mode_that_is_first_seen_after_a_change_of_theme_has_the_new_one(app: ConsoleApp) -> None:
    async with app.run_test() as pilot:
        app.theme = "textual-light"
        await pressed(pilot, "2")
        light = app.screen.styles.background
        app.theme = "textual-dark"
        await pilot.pause()

        assert light.brightness > 0.8
        assert app.screen.styles.background.brightness < 0.2


async def test_every_role_has_a_look_in_the_colors_of_the_theme_once_it_is_drawn(app: ConsoleApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        chart = ChartView(Glyphs.BRAILLE)
        await app.screen.query_one("#below").mount(chart)
        chart.show(BarChart("Title", Axis("Rate", "bytes/s"), (Bar("one", 1e6), Bar("two", 2e6))))
        await pilot.pause()
        assert {*chart._styles} == {"", *(role for y in range(chart.size.height) for _, role in chart.drawing.runs(y))}
        assert not CellView._get_component_classes()
        for theme in ("sizeup-dark", "sizeup-light"):
            app.theme = theme
            await asyncio.sleep(0)
            chart._styles.clear()
            dark = chart._style("series-0", chart.rich_style)
            chart._styles.clear()

            assert dark.color.triplet == Color.parse(app.current_theme.variables["s1"]).rich_color.triplet
            assert dark.bgcolor == chart.rich_style.bgcolor
        for share in (0.0, 0.5, 1.0):
            assert chart._style(heat_role(share), chart.rich_style).bgcolor != chart.rich_style.bgcolor
        series = [chart._style(f"series-{index}", chart.rich_style) for index in range(SERIES)]
        assert len({style.color for style in series}) > 3


def test_the_size_is_that_of_the_terminal_that_is_drawn_on_unless_the_environment_says_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 45, 123, 0, 0))
    driver = ConsoleDriver.__new__(ConsoleDriver)
    for name in ("COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    with open(slave, "w") as driver._file:
        found = driver._get_terminal_size()
        monkeypatch.setenv("COLUMNS", "77")
        said = driver._get_terminal_size()
    os.close(master)

    assert found == (123, 45)
    assert said[0] == 77


@pytest.mark.parametrize("theme", one_in(2, ["dark", "light", "color-blind"]))
async def test_the_borders_of_panes_with_and_without_focus_stand_out_from_the_ground(
    app: ConsoleApp, theme: str
) -> None:
    def luminance(color: Color) -> float:
        parts = [part / 255 for part in color.rgb]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    async with app.run_test() as pilot:
        app.theme = TEXTUAL_NAMES[theme]
        await pilot.pause()
        ground = luminance(Color.parse(app.theme_variables["background"]))
        for name in ("acc",):
            border = luminance(Color.parse(app.theme_variables[name]))
            assert (max(border, ground) + 0.05) / (min(border, ground) + 0.05) >= 3, name


def test_a_console_that_stays_open_finds_its_garbage(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    alive: list[int] = []

    def run(app: ConsoleApp, **how: Any) -> None:
        seen = []
        for _ in range(30_000):
            one = _Node()
            one.itself = one
            seen.append(weakref.ref(one))
        alive.append(sum(one() is not None for one in seen))

    monkeypatch.setattr(ConsoleApp, "run", run)
    before = gc.get_threshold()
    gc.set_threshold(150_000, 20, 100)  # as the start has it
    try:
        assert load("/", str(stored(folder, "one")))(Options()) == 0
    finally:
        gc.set_threshold(*before)

    assert alive[0] < 15_000


class _Node:
    itself: Any
