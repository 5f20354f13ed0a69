"""The pictures of the documentation: what draws them, and that nothing in them asks for anything."""

import re
from pathlib import Path

import pyte
import pytest

from benchmarks.terminal_picture import Frame, Shot, captured, frame, moving, still
from terminal import faint_as_blink

ROOT = Path(__file__).parents[1]
PICTURES = sorted((ROOT / "docs/pictures").glob("*.svg"))


def shown(*lines: str) -> Frame:
    return captured("\n".join(lines), 12, len(lines))


def test_pieces_of_a_row_stand_at_their_columns_in_their_colors() -> None:
    picture = still(shown("\x1b[31mred\x1b[0m  \x1b[1m<b>\x1b[0m"), "a title & more")

    texts = re.findall(r'<text class="([^"]*)" x="([^"]*)"[^>]*>([^<]*)</text>', picture)
    assert [(x, text) for _, x, text in texts] == [("0", "red"), ("41", "&lt;b&gt;")]
    assert texts[1][0].split()[1] == "b"
    assert f".{texts[0][0]}{{fill:#cc0000}}" in picture
    assert "<title>a title &amp; more</title>" in picture


def test_a_layer_of_a_moving_picture_holds_what_changed_and_comes_in_its_time() -> None:
    shots = [Shot(0, shown("one", "two")), Shot(2.5, shown("one", "too"))]

    first, second = moving(shots, 10, "x").split('<g class="l"')

    assert ">one</text>" in first
    assert re.findall(r">([^<]+)</text>", second) == ["too"]
    assert "@keyframes l1{0%{visibility:hidden}25.00%,to{visibility:visible}}" in first


def test_faint_is_kept_and_the_parts_of_a_color_are_not_taken_for_it() -> None:
    assert list(faint_as_blink((2, 38, 2, 2, 5, 2, 22))) == [5, 38, 2, 2, 5, 2, 22, 25]
    assert list(faint_as_blink((48, 5, 2, 2))) == [48, 5, 2, 5]


def test_a_wide_character_has_two_columns() -> None:
    screen = pyte.Screen(4, 1)
    pyte.Stream(screen).feed("\u4e2d!")

    assert 'textLength="24.6"' in still(frame(screen), "x")


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.name)
def test_a_picture_of_the_documentation_is_small_and_asks_for_nothing(path: Path) -> None:
    text = path.read_text()

    assert len(text) < 1_000_000
    assert not re.search(r"<script|@import|url\(|href=\"(?!data:image/png;base64,)", text)


def test_every_picture_that_a_page_shows_is_there_and_each_is_shown() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    linked = {
        (page.parent / link).resolve() for page in pages for link in re.findall(r"\((\S+\.svg)\)", page.read_text())
    }

    assert linked == set(PICTURES)
