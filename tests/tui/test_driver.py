"""What the driver sends where only ASCII is safe."""

from rich.cells import cell_len

from sizeup.report.cells import Glyphs, draw
from sizeup.tui.driver import plain
from sizeup.tui.terminal import is_utf8, needs_ascii
from sizeup.views.chart import Axis, Line, LineChart, Point


def test_every_glyph_keeps_its_width() -> None:
    text = "╭─▼ Größe ±5 µs ● 日本 ⣿ 👍"

    assert plain(text).isascii()
    assert len(plain(text)) == cell_len(text)


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
