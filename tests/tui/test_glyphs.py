"""What charts are drawn with, told by the user or by the terminal."""

import pytest

from consoles import MakeConsole
from sizeup.terminal.capabilities import needs_ascii
from sizeup.text import plain
from sizeup.tui.options import Options
from sizeup.tui.widgets.chart import ChartView

_UTF8 = {"TERM": "linux", "LANG": "de_DE.UTF-8"}


def test_the_linux_console_gets_ascii_unless_glyphs_are_named() -> None:
    assert [needs_ascii(_UTF8, glyphs) for glyphs in ("auto", "ascii", "block", "braille")] == [
        True,
        True,
        False,
        False,
    ]
    assert needs_ascii({"TERM": "linux", "LANG": "C"}, "block")


@pytest.mark.parametrize(
    ("options", "drawn", "absent"),
    [
        (Options(), "⠶", "▄"),
        (Options(glyphs="block"), "▄", "⠶"),
        (Options(glyphs="ascii"), "..", "▄"),
        (Options(glyphs="block", ascii=True), "..", "▄"),
    ],
    ids=["auto", "block", "ascii", "all ascii"],
)
async def test_a_curve_is_drawn_with_the_glyphs_asked_for(
    make_console: MakeConsole, options: Options, drawn: str, absent: str
) -> None:
    console = make_console(options=options)
    async with console.shown(120, 40) as pilot:
        await console.measure(pilot)

        cells = "\n".join("".join(row) for row in console.app.screen.query_one("#chart", ChartView).drawing.rows)
        assert drawn in cells
        assert absent not in cells


def test_an_interval_is_not_taken_for_a_sum_in_ascii() -> None:
    assert plain("138 ns ±3.0 %") == "138 ns ~3.0 %"
    assert "?" not in plain("▁▂▃▄▅▆▇█▉▊▋▌▍▎▏▔▕▐")
