"""What the console sends for a frame: the same picture as Textual's own words, in far fewer bytes."""

from pathlib import Path
from typing import Any

import pyte
from rich.console import Console as RichConsole
from rich.segment import Segment
from rich.style import Style
from textual._compositor import Compositor
from textual.strip import Strip

from consoles import Console, records
from sizeup.model.sample import Estimate
from sizeup.session.records import EstimateRecord
from sizeup.tui.sending import _Spans
from sizeup.tui.widgets.lines import Line

COLOURS = RichConsole(force_terminal=True, color_system="256")


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


def test_a_span_is_sent_without_what_stands_beside_it() -> None:
    blue, red = Style.parse("blue on black"), Style.parse("red on black")
    strip = Strip([Segment("abcde", blue), Segment("  ", red), Segment("fghij", red)])

    sent = _Spans([{0: strip}], [(0, 4, 9)], [[12]]).render_segments(COLOURS)

    assert sent == "\x1b[0m\x1b[1;5H\x1b[34;40me  \x1b[31mfg\x1b[39;49m"


def test_reversed_blanks_are_not_taken_for_plain_ones() -> None:
    strip = Strip([Segment("a", Style.parse("white on black")), Segment("  ", Style.parse("reverse white on black"))])

    sent = _Spans([{0: strip}], [(0, 0, 3)], [[3]]).render_segments(COLOURS)

    assert sent == "\x1b[0m\x1b[1;1H\x1b[37;40ma\x1b[0;7;37;40m  \x1b[0m"


async def test_whole_screens_look_as_textual_would_have_drawn_them(tmp_path: Path) -> None:
    console = Console(tmp_path)
    async with console.shown(100, 30) as pilot:
        for mode in "12345":
            await pilot.press(mode)
            await pilot.pause()
            compositor, colours = console.app.screen._compositor, console.app.console
            ours = compositor.render_full_update().render_segments(colours)
            theirs = Compositor.render_full_update(compositor).render_segments(colours)

            # Textual keeps the codes of a style for good, whatever terminal they were made for: colours aside.
            shown, expected = (
                [cell._replace(fg="default", bg="default") for cell in picture(text, columns=100, rows=30)]
                for text in (ours, theirs)
            )
            assert shown == expected
            assert len(ours) < 0.7 * len(theirs)


async def test_a_live_chart_costs_little_and_a_moved_axis_not_much_more(tmp_path: Path) -> None:
    console = Console(tmp_path)
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "null")
        await pilot.press("r")
        console.runner.write(records())
        console.tick()
        await pilot.pause()
        compositor = console.app.screen._compositor
        sent: list[str] = []
        whole = compositor.render_full_update().render_segments(COLOURS)
        own = compositor.render_partial_update

        def recorded() -> Any:
            update = own()
            sent.append("" if update is None else update.render_segments(COLOURS))
            return update

        compositor.render_partial_update = recorded  # type: ignore[method-assign]

        async def measured(t_ns: int, value: float) -> int:
            """Bytes for one more estimate of the last point."""
            before = len("".join(sent))
            at = {"working_set_bytes": 1 << 26}
            console.runner.write([EstimateRecord(t_ns, "null", Estimate("latency", at, value))])
            console.tick()
            await pilot.pause()
            return len("".join(sent).encode()) - before

        wavered, outgrown = await measured(200, 63.0), await measured(300, 4000.0)

        assert 0 < wavered < 500
        assert wavered < outgrown < 5000
        now = picture(whole, *sent, columns=120, rows=40)
        assert now == picture(compositor.render_full_update().render_segments(COLOURS), columns=120, rows=40)


def test_colours_are_those_of_the_terminal() -> None:
    strip = Strip([Segment("a", Style.parse("#ff0000 on #000000"))])
    update = _Spans([{0: strip}], [(0, 0, 1)], [[1]])

    sent = {
        system: update.render_segments(RichConsole(force_terminal=True, color_system=system))  # type: ignore[arg-type]
        for system in ("standard", "256", "truecolor")
    }

    assert "\x1b[31;40m" in sent["standard"]
    assert "\x1b[38;5;196;48;5;16m" in sent["256"]
    assert "\x1b[38;2;255;0;0;48;2;0;0;0m" in sent["truecolor"]


async def test_a_second_that_passes_sends_its_digit_and_not_the_line(tmp_path: Path) -> None:
    console = Console(tmp_path)
    async with console.shown(120, 40) as pilot:
        line = console.app.screen.query_one("#status", Line)
        line.show(" running 10 s", "96 ns ")
        await pilot.pause()
        compositor, spans = console.app.screen._compositor, []
        own = compositor.render_partial_update

        def recorded() -> Any:
            update = own()
            spans.extend([] if update is None else update.spans)
            return update

        compositor.render_partial_update = recorded  # type: ignore[method-assign]
        line.show(" running 11 s", "96 ns ")
        await pilot.pause()

        # The time of the quick plan may be filled into another row meanwhile.
        assert [span for span in spans if span[0] == 38] == [(38, 10, 11)]
        assert " running 11 s" in console.text


async def test_a_question_over_a_mode_is_sent_as_sparingly_and_looks_the_same(tmp_path: Path) -> None:
    console = Console(tmp_path)
    async with console.shown(100, 30) as pilot:
        await pilot.press("question_mark")
        await pilot.pause()
        app = console.app
        compositor, colours = app.screen._compositor, app.console
        ours = compositor.render_full_update().render_segments(colours)
        theirs = Compositor.render_full_update(compositor).render_segments(colours)

        shown, expected = (
            [cell._replace(fg="default", bg="default") for cell in picture(text, columns=100, rows=30)]
            for text in (ours, theirs)
        )
        assert shown == expected
        assert len(ours) < len(theirs)
