"""What the console sends for a frame: the same picture as Textual's own words, in far fewer bytes."""

from pathlib import Path
from typing import Any

import pyte
import pytest
from rich.console import Console as RichConsole
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.app import App
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip

from consoles import Console
from sizeup.model.sample import Estimate
from sizeup.session.records import EstimateRecord
from sizeup.terminal.frame_diff import FrameDiffer
from sizeup.tui.widgets.lines import StatusLine

COLORS = RichConsole(force_terminal=True, color_system="256")


def picture(*written: str, columns: int, rows: int) -> list[Any]:
    """What a terminal shows: of a blank only what can be seen of it."""
    screen = pyte.Screen(columns, rows)
    stream = pyte.Stream(screen)
    for text in written:
        stream.feed(text)
    cells = [screen.buffer[y][x] for y in range(rows) for x in range(columns)]
    return [
        cell._replace(fg="default", bold=False, italics=False) if cell.data == " " and not cell.reverse else cell
        for cell in cells
    ]


def sent(sender: FrameDiffer, update: Any, colors: RichConsole = COLORS) -> str:
    """What the terminal is told of an update."""
    return str(sender.changed(update).render_segments(colors))  # type: ignore[union-attr]


def span(strip: Strip, first: int, behind: int) -> ChopsUpdate:
    """A part of a screen of one row."""
    return ChopsUpdate([{0: strip}], [(0, first, behind)], [[strip.cell_length]])


def row(*segments: tuple[str, str]) -> LayoutUpdate:
    """A whole screen of one row."""
    strip = Strip([Segment(text, Style.parse(style)) for text, style in segments])
    return LayoutUpdate([[strip]], Region(0, 0, strip.cell_length, 1))


def test_a_span_is_sent_without_what_stands_beside_it() -> None:
    blue, red = Style.parse("blue on black"), Style.parse("red on black")
    strip = Strip([Segment("abcde", blue), Segment("  ", red), Segment("fghij", red)])

    assert sent(FrameDiffer(), span(strip, 4, 9)) == "\x1b[0m\x1b[1;5H\x1b[34;40me  \x1b[31mfg\x1b[39;49m"


def test_reversed_blanks_are_not_taken_for_plain_ones() -> None:
    update = row(("a", "white on black"), ("  ", "reverse white on black"))

    assert sent(FrameDiffer(), update) == "\x1b[0m\x1b[1;1H\x1b[37;40ma\x1b[0;7;37;40m  \x1b[0m"


def test_what_the_terminal_shows_already_is_not_sent_again() -> None:
    sender = FrameDiffer()
    sent(sender, row(("idle, nothing measured", "white on black")))

    assert sent(sender, row(("idle, nothing measured", "white on black"))) == ""
    weighed = row(("idle, nothing weighed.", "white on black"))
    assert sent(sender, weighed) == "\x1b[0m\x1b[1;15H\x1b[37;40mweighed.\x1b[39;49m"
    sender.forget()
    assert "idle, nothing" in sent(sender, weighed)


def test_nothing_is_known_of_a_terminal_of_another_size() -> None:
    sender = FrameDiffer()
    sent(sender, row(("abc", "red")))

    assert "abc" in sent(sender, row(("abcd", "red")))


def test_a_wide_glyph_is_sent_whole_though_one_of_its_columns_is_right() -> None:
    sender, screen = FrameDiffer(), pyte.Screen(6, 1)
    stream = pyte.Stream(screen)
    for text in ("a日本b", "日x本b", "日本xb", "ab日本", "abcdef"):
        stream.feed(sent(sender, row((text, "red"))))
        assert screen.display == [text]


@pytest.mark.ci
async def test_whole_screens_look_as_textual_would_have_drawn_them(tmp_path: Path) -> None:
    console = Console(tmp_path, frames=True)
    async with console.shown(100, 30) as pilot:
        sender, written = FrameDiffer(), ""
        for mode in "12345":
            await pilot.press(mode)
            await pilot.pause()
            colors, update = console.app.console, console.app.screen._compositor.render_full_update()
            ours, theirs = sent(sender, update, colors), update.render_segments(colors)
            written += ours

            # Textual keeps the codes of a style for good, whatever terminal they were made for: colors aside.
            shown, expected = (
                [cell._replace(fg="default", bg="default") for cell in picture(text, columns=100, rows=30)]
                for text in (written, theirs)
            )
            assert shown == expected
            assert len(ours) < 0.8 * len(theirs)


class DrawnApp:
    """What an app shows from now on, as its terminal would be told."""

    def __init__(self, app: App[Any], monkeypatch: pytest.MonkeyPatch) -> None:
        self._app = app
        self._sender = FrameDiffer()
        self._sent = [sent(self._sender, self._whole())]
        monkeypatch.setattr(app, "_display", self._display)

    def _whole(self) -> Any:
        return self._app.screen._compositor.render_update(full=True, screen_stack=self._app._background_screens)

    def _display(self, screen: Screen[Any], update: Any) -> None:
        if update is not None:
            self._sent.append(sent(self._sender, update))

    @property
    def bytes(self) -> int:
        """So far."""
        return len("".join(self._sent).encode())

    @property
    def is_true(self) -> bool:
        """Whether a terminal that was told all of it shows what the app does."""
        columns, rows = self._app.size
        whole = sent(FrameDiffer(), self._whole())
        return picture(*self._sent, columns=columns, rows=rows) == picture(whole, columns=columns, rows=rows)


@pytest.mark.ci
async def test_a_live_chart_costs_little_and_a_moved_axis_not_much_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    console = Console(tmp_path, frames=True)
    async with console.shown(120, 40) as pilot:
        await console.measure(pilot)
        watched = DrawnApp(console.app, monkeypatch)

        async def measured(t_ns: int, value: float) -> int:
            """Bytes for one more estimate of the last point."""
            before = watched.bytes
            at = {"working_set_bytes": 1 << 26}
            console.runner.write([EstimateRecord(t_ns, "null", Estimate("latency", at, value))])
            console.tick()
            await pilot.pause()
            return watched.bytes - before

        wavered, outgrown = await measured(200, 63.0), await measured(300, 4000.0)

        assert 0 < wavered < 500
        assert wavered < outgrown < 5000
        assert watched.is_true


def test_colors_are_those_of_the_terminal() -> None:
    told = {
        system: sent(
            FrameDiffer(), row(("a", "#ff0000 on #000000")), RichConsole(force_terminal=True, color_system=system)
        )  # type: ignore[arg-type]
        for system in ("standard", "256", "truecolor")
    }

    assert "\x1b[31;40m" in told["standard"]
    assert "\x1b[38;5;196;48;5;16m" in told["256"]
    assert "\x1b[38;2;255;0;0;48;2;0;0;0m" in told["truecolor"]


@pytest.mark.ci
async def test_a_second_that_passes_sends_its_digit_and_not_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    console = Console(tmp_path, frames=True)
    async with console.shown(120, 40) as pilot:
        line = console.app.screen.query_one("#status", StatusLine)
        line.show(" running 10 s", "96 ns ")
        await pilot.pause(0.7)  # the time of the quick plan is filled in meanwhile
        watched = DrawnApp(console.app, monkeypatch)
        before = watched.bytes
        line.show(" running 11 s", "96 ns ")
        await pilot.pause()

        assert 0 < watched.bytes - before < 60
        assert watched.is_true
        assert " running 11 s" in console.text


@pytest.mark.ci
@pytest.mark.parametrize(("key", "share"), [("question_mark", 0.8), ("colon", 0.8), ("q", 0.3)])
async def test_a_dialog_costs_its_own_cells_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, share: float
) -> None:
    console = Console(tmp_path, frames=True)
    async with console.shown(120, 40) as pilot:
        await console.measure(pilot)
        watched = DrawnApp(console.app, monkeypatch)
        whole = watched.bytes
        for pressed in (key, "escape"):
            before = watched.bytes
            await pilot.press(pressed)
            await pilot.pause()

            assert watched.is_true
            assert 0 < watched.bytes - before < share * whole


@pytest.mark.ci
async def test_what_another_program_wrote_on_the_screen_goes_with_a_key(tmp_path: Path) -> None:
    console = Console(tmp_path, frames=True)
    async with console.shown(120, 40) as pilot:
        forgotten: list[bool] = []
        console.app._frames.forget = lambda: forgotten.append(True)  # type: ignore[method-assign]
        await pilot.press("ctrl+l")

        assert forgotten == [True]
