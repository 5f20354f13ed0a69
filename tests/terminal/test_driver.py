"""What the driver sends where only ASCII is safe."""

import codecs
from itertools import chain
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual._border import BORDER_CHARS
from textual.scrollbar import ScrollBarRender

import sizeup
from sizeup.charts.cells import draw
from sizeup.charts.chart import Axis, ChartPoint, Line, LineChart
from sizeup.charts.drawing import Glyphs
from sizeup.terminal.capabilities import colors, is_utf8, locale, mouse_holds_escape, needs_ascii
from sizeup.text import ascii_fallback, plain


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
    chart = LineChart("t", Axis("x", "bytes"), Axis("y", "ns"), (Line("a", (ChartPoint(1, 1), ChartPoint(2, 2))),))

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


@pytest.mark.parametrize(
    ("environment", "drawn"),
    [({"TERM": "xterm"}, 16), ({"TERM": "linux"}, 16), ({"TERM": "tmux-256color"}, 256),
     ({"TERM": "screen.xterm-256color"}, 256), ({"TERM": "xterm", "COLORTERM": "truecolor"}, 1 << 24),
     ({"TERM": "alacritty"}, 16), ({"TERM": "vt100"}, 0), ({"TERM": "vt220"}, 0), ({"TERM": "xterm-mono"}, 0),
     ({"TERM": "dumb"}, 0), ({}, 0), ({"TERM": "xterm-256color", "NO_COLOR": "1"}, 0),
     ({"TERM": "xterm-256color", "NO_COLOR": ""}, 256)],
)  # fmt: skip
def test_colors_are_told_by_the_name_of_the_terminal_unless_it_says_more(
    environment: dict[str, str], drawn: int
) -> None:
    assert colors(environment) == drawn


def test_gnu_screen_is_told_from_tmux_whatever_its_name() -> None:
    assert mouse_holds_escape({"TERM": "screen.xterm-256color", "STY": "1.pts-0.db01"})
    assert mouse_holds_escape({"TERM": "screen-256color"})  # as over ssh, which passes the name alone
    assert not mouse_holds_escape({"TERM": "screen-256color", "TMUX": "/tmp/tmux-0/default,1,0"})
    assert not mouse_holds_escape({"TERM": "xterm-256color"})


def test_the_locale_is_the_users_and_not_what_python_made_of_it() -> None:
    assert locale({"LANG": "C", "LC_CTYPE": "C.UTF-8"}) == "C"
    assert locale({"LC_CTYPE": "UTF-8", "LANG": "C"}) == "UTF-8"
    assert locale({"LC_ALL": "de_DE.ISO-8859-1", "LANG": "C.UTF-8"}) == "de_DE.ISO-8859-1"
    assert locale({}) == "C"


def test_what_an_encoding_lacks_is_printed_in_ascii_and_a_files_name_as_it_is() -> None:
    codecs.register_error("test-ascii-fallback", ascii_fallback)

    assert "126 ns ±3.9 % … ● \udce9".encode("latin-1", "test-ascii-fallback") == b"126 ns \xb13.9 % ~ o \xe9"
