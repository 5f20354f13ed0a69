"""What charts are drawn with, told by the user or by the terminal."""

from pathlib import Path

import pytest

from consoles import Console, records
from sizeup.terminal.capabilities import needs_ascii
from sizeup.text import plain
from sizeup.tui.options import Options

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
        (Options(), "⠤", "▄"),
        (Options(glyphs="block"), "▄", "⠤"),
        (Options(glyphs="ascii"), "..", "▄"),
        (Options(glyphs="block", ascii=True), "..", "▄"),
    ],
    ids=["auto", "block", "ascii", "all ascii"],
)
async def test_a_curve_is_drawn_with_the_glyphs_asked_for(
    tmp_path: Path, options: Options, drawn: str, absent: str
) -> None:
    console = Console(tmp_path, options=options)
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "null")
        await pilot.press("r")
        console.runner.write(records())
        console.tick()
        await pilot.pause()

        assert drawn in console.text
        assert absent not in console.text


def test_an_interval_is_not_taken_for_a_sum_in_ascii() -> None:
    assert plain("138 ns ±3.0%") == "138 ns ~3.0%"
    assert "?" not in plain("▁▂▃▄▅▆▇█▉▊▋▌▍▎▏▔▕▐")
