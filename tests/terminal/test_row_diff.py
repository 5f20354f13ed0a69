"""What the console sends for a frame: the same picture as Textual's own words, in far fewer bytes."""

from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any
from weakref import WeakSet

import pyte
import pytest
from rich.console import Console as RichConsole
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.app import App
from textual.screen import Screen
from textual.strip import Strip

from consoles import Console, pressed, settled, until
from sizeup.model.sample import Estimate
from sizeup.session.records import EstimateRecord
from sizeup.terminal.row_diff import RowDiffer, RowUpdate
from sizeup.tui.widgets.lines import NoticeLine

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


def sent(differ: RowDiffer, *rows: Strip, colors: RichConsole = COLORS) -> str:
    """What the terminal is sent for a screen of these rows."""
    return differ.changes(enumerate([(0, one)] for one in rows), [one.cell_length for one in rows], colors)


def row(*segments: tuple[str, str]) -> Strip:
    """A row of texts and their styles."""
    return Strip([Segment(text, Style.parse(style)) for text, style in segments])


def test_of_a_changed_row_only_changed_cells_are_sent() -> None:
    differ = RowDiffer()
    sent(differ, row(("idle, nothing measured", "white on black")), row(("below", "red")))

    same = row(("idle, nothing measured", "white on black")), row(("below", "red"))
    assert sent(differ, *same) == ""
    weighed = row(("idle, nothing weighed.", "white on black")), same[1]
    assert sent(differ, *weighed) == "\x1b[0m\x1b[1;15H\x1b[37;40mweighed.\x1b[39;49m"
    differ.forget()
    assert "idle, nothing" in sent(differ, *weighed)


def frame(differ: RowDiffer, *rows: Strip, changed: tuple[int, int, int]) -> RowUpdate:
    """A frame of a screen of these rows, cut at column 3, of which Textual has rendered anew what changed."""
    update = ChopsUpdate([dict(zip((0, 3), one.divide([3, 6]), strict=True)) for one in rows], [changed], [[3, 6]] * 2)
    screen: Any = SimpleNamespace(_compositor=SimpleNamespace(render_strips=lambda: [*rows]))
    return RowUpdate(differ, screen, update)


def test_a_frame_looks_at_what_was_rendered_anew_and_at_all_where_one_before_it_was_not_sent() -> None:
    differ = RowDiffer()
    before, after = (row(("abcdef", "white on black")),) * 2, (row(("aBcdeF", "white on black")),) * 2
    sent(differ, *before)

    assert frame(differ, *after, changed=(1, 3, 6)).render_segments(COLORS) == "\x1b[0m\x1b[2;6H\x1b[37;40mF\x1b[39;49m"
    frame(differ, *after, changed=(1, 0, 3))
    made_up = frame(differ, *after, changed=(0, 0, 3)).render_segments(COLORS)
    assert made_up == "\x1b[0m\x1b[1;2H\x1b[37;40mBcdeF\x1b[2;2HB\x1b[39;49m"
    assert frame(differ, *before, changed=(0, 3, 6)).render_segments(COLORS).count("f") == 1


def test_of_a_style_only_what_differs_is_sent() -> None:
    update = row(("abc", "blue on black"), ("  ", "bold red on black"), ("fg", "red on black"))

    assert sent(RowDiffer(), update) == "\x1b[0m\x1b[1;1H\x1b[34;40mabc  \x1b[31mfg\x1b[39;49m"


def test_reversed_blanks_are_not_taken_for_plain_ones() -> None:
    update = row(("a", "white on black"), ("  ", "reverse white on black"))

    assert sent(RowDiffer(), update) == "\x1b[0m\x1b[1;1H\x1b[37;40ma\x1b[0;7;37;40m  \x1b[0m"


def test_nothing_is_known_of_a_terminal_of_another_size() -> None:
    differ = RowDiffer()
    sent(differ, row(("abc", "red")))

    assert "abc" in sent(differ, row(("abcd", "red")))


def test_a_wide_glyph_is_sent_whole_though_one_of_its_columns_is_right() -> None:
    differ, screen = RowDiffer(), pyte.Screen(6, 1)
    stream = pyte.Stream(screen)
    for text in ("a日本b", "日x本b", "日本xb", "ab日本", "abcdef"):
        stream.feed(sent(differ, row((text, "red"))))
        assert screen.display == [text]


@pytest.mark.ci
async def test_whole_screens_look_as_textual_would_have_drawn_them(tmp_path: Path) -> None:
    console = Console(tmp_path, frames=True)
    async with console.shown(100, 30) as pilot:
        differ, written = RowDiffer(), ""
        for mode in "12345":
            await pressed(pilot, mode)
            colors, compositor = console.app.console, console.app.screen._compositor
            ours = sent(differ, *compositor.render_strips(), colors=colors)
            theirs = compositor.render_full_update().render_segments(colors)
            written += ours

            # Textual keeps the codes of a style for good, whatever terminal they were made for: colors aside.
            shown, expected = (
                [cell._replace(fg="default", bg="default") for cell in picture(text, columns=100, rows=30)]
                for text in (written, theirs)
            )
            assert shown == expected
            assert len(ours) < 0.8 * len(theirs)


class DrawnApp:
    """What an app shows from now on, as its terminal would be sent it."""

    def __init__(self, app: App[Any], monkeypatch: pytest.MonkeyPatch) -> None:
        self._app = app
        self._differ = RowDiffer()
        self._sent = [self._whole(self._differ)]
        monkeypatch.setattr(app, "_display", self._display)

    def _whole(self, differ: RowDiffer) -> str:
        screen = self._app.screen
        update = screen._compositor.render_update(full=True, screen_stack=self._app._background_screens)
        assert isinstance(update, LayoutUpdate)
        return RowUpdate(differ, screen, update).render_segments(COLORS)

    def _display(self, screen: Screen[Any], update: Any) -> None:
        if update is not None:
            self._sent.append(RowUpdate(self._differ, screen, update).render_segments(COLORS))

    @property
    def bytes(self) -> int:
        """So far."""
        return len("".join(self._sent).encode())

    @property
    def is_true(self) -> bool:
        """Whether a terminal that was told all of it shows what the app does."""
        columns, rows = self._app.size
        whole = self._whole(RowDiffer())
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
            await until(pilot, lambda: watched.bytes > before)
            return watched.bytes - before

        # The median of three: whatever else the screen redraws in between is drawn once.
        wavered = median([await measured(200 + step, 63.0 + step / 10) for step in range(3)])
        outgrown = median([await measured(300 + step, 4000.0 * 10**step) for step in range(3)])

        assert 0 < wavered < 500
        assert wavered < outgrown < 5000
        assert watched.is_true


def test_colors_are_those_of_the_terminal() -> None:
    told = {
        system: sent(
            RowDiffer(),
            row(("a", "#ff0000 on #000000")),
            colors=RichConsole(force_terminal=True, color_system=system),  # type: ignore[arg-type]
        )
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
        line = console.app.screen.query_one(NoticeLine)
        line.show("running 10 s", wrong=False)
        await pilot.pause(0.7)  # the time of the quick plan is filled in meanwhile
        watched = DrawnApp(console.app, monkeypatch)
        before = watched.bytes
        line.show("running 11 s", wrong=False)
        await pilot.pause()

        assert 0 < watched.bytes - before < 60
        assert watched.is_true
        assert " running 11 s" in console.text


@pytest.mark.ci
@pytest.mark.parametrize(("key", "share"), [("question_mark", 0.8), ("colon", 0.95), ("q", 0.3)])
async def test_a_dialog_costs_its_own_cells_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, share: float
) -> None:
    """But for the commands, below which the screen is dimmed: about as much as the screen, unless bytes are few."""
    console = Console(tmp_path, frames=True)
    async with console.shown(120, 40) as pilot:
        await console.measure(pilot)
        await settled(pilot)  # before that the screen has fewer cells to draw
        watched = DrawnApp(console.app, monkeypatch)
        whole = watched.bytes
        costs: list[int] = []
        for _ in range(3):  # the least counts: what was read of stored sessions is shown when it is there
            for one in (key, "escape"):
                before = watched.bytes
                await pressed(pilot, one)

                assert watched.is_true
                costs.append(watched.bytes - before)

    for cost in (min(costs[::2]), min(costs[1::2])):
        assert 0 < cost < share * whole


@pytest.mark.ci
async def test_what_another_program_wrote_on_the_screen_goes_with_a_key(tmp_path: Path) -> None:
    console = Console(tmp_path, frames=True)
    async with console.shown(120, 40) as pilot:
        forgotten: list[bool] = []
        console.app._frames.forget = lambda: forgotten.append(True)  # type: ignore[method-assign]
        await pilot.press("ctrl+l")

        assert forgotten == [True]


class _Text(str):
    """A text that says when nobody holds it any more."""

    __slots__ = ("__weakref__",)


@pytest.mark.parametrize(("words", "most"), [("p99 {} ms", 0), ("⣿ {} µs", 256)])
def test_of_texts_that_never_come_again_few_are_held(words: str, most: int) -> None:
    differ, texts = RowDiffer(), WeakSet[_Text]()
    for number in range(1000):
        texts.add(text := _Text(words.format(number)))
        sent(differ, Strip([Segment(text, None)], len(text)))
    del text

    assert len(texts) <= most
