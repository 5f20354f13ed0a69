"""What the driver sends where only ASCII is safe."""

from itertools import chain
from pathlib import Path

from rich.cells import cell_len
from textual._border import BORDER_CHARS
from textual.scrollbar import ScrollBarRender

import sizeup
from sizeup.report.cells import draw
from sizeup.report.drawing import Glyphs
from sizeup.tui.driver import plain
from sizeup.tui.terminal import few_colours, is_utf8, needs_ascii
from sizeup.views.chart import Axis, Line, LineChart, Point


def test_every_glyph_keeps_its_width() -> None:
    text = "╭─▼ Größe ±5 µs ● 日本 ⣿ 👍"

    assert plain(text).isascii()
    assert len(plain(text)) == cell_len(text)


def test_every_glyph_that_may_be_drawn_has_a_stand_in() -> None:
    sources = (Path(sizeup.__file__).parent).rglob("*.py")
    ours = {character for path in sources for character in path.read_text() if not character.isascii()}
    textual = "".join(chain.from_iterable(chain.from_iterable(BORDER_CHARS.values())))
    bars = "".join((*ScrollBarRender.VERTICAL_BARS, *ScrollBarRender.HORIZONTAL_BARS))

    assert [glyph for glyph in sorted({*ours, *textual, *bars}) if plain(glyph) == "?"] == []


def test_a_letter_with_a_mark_stays_a_letter() -> None:
    assert plain("Größe é Å 日") == "Gro?e e A ??"


def test_a_chart_in_ascii_needs_no_translation() -> None:
    chart = LineChart("t", Axis("x", "bytes"), Axis("y", "ns"), (Line("a", (Point(1, 1), Point(2, 2))),))

    text = draw(chart, 60, 15, Glyphs.ASCII).text()

    assert text.isascii()


def test_the_c_locale_is_known_though_python_claims_utf_8() -> None:
    assert not is_utf8({"LANG": "C", "LC_CTYPE": "C.UTF-8"})
    assert not is_utf8({"LC_CTYPE": "C.UTF-8"})
    assert not is_utf8({"LC_ALL": "C", "LANG": "en_US.UTF-8"})
    assert not is_utf8({"LANG": "de_DE.ISO-8859-1"})
    assert is_utf8({"LANG": "en_US.utf8"})
    assert is_utf8({"LC_ALL": "C.UTF-8"})


def test_the_linux_console_gets_ascii() -> None:
    assert needs_ascii({"TERM": "linux", "LANG": "en_US.UTF-8"})
    assert not needs_ascii({"TERM": "xterm", "LANG": "en_US.UTF-8"})


def test_sixteen_colours_are_told_by_the_name_of_the_terminal_unless_it_says_more() -> None:
    assert few_colours({"TERM": "linux"})
    assert few_colours({"TERM": "xterm"})
    assert not few_colours({"TERM": "xterm-256color"})
    assert not few_colours({"TERM": "xterm", "COLORTERM": "truecolor"})
