"""The share bar in cells: one scale, fixed marks, and the span of what is not certain."""

import math
from unicodedata import name

import pytest

from sizeup.charts.share_bar import ScreenLook, ShareBar, column_of, draw_scale, draw_share
from tiers import one_in

COLUMNS = 36


def text(bar: ShareBar, look: ScreenLook, columns: int = COLUMNS) -> str:
    return "".join(run for run, _ in draw_share(bar, columns, look))


def tokens(bar: ShareBar, look: ScreenLook = ScreenLook.COLOR, columns: int = COLUMNS) -> list[str]:
    return [token for run, token in draw_share(bar, columns, look) for _ in run]


@pytest.mark.parametrize("look", ScreenLook)
@pytest.mark.parametrize("columns", one_in(3, [15, 20, 36, 76]))
@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.7, 1.0, 1.31, 3.0, math.inf])
def test_marks_stand_in_the_same_columns_on_every_bar(look: ScreenLook, columns: int, share: float) -> None:
    bar = ShareBar(share, share, n_plus_one=share * 1.3, last_year=share * 1.1, before=share * 0.9)
    drawn = text(bar, look, columns)

    assert len(drawn) == columns
    assert {drawn[column_of(mark, columns)] for mark in (0.7, 1.0)} == {"|" if look is ScreenLook.ASCII else "│"}


@pytest.mark.parametrize(
    ("look", "drawn"),
    [
        (ScreenLook.PLAIN, "■■■■■■■■■■■■■│▒▒▒▒│▓▓▓▓▓---◇---◆    "),
        (ScreenLook.ASCII, "=============|####|!!!!!---Y---N    "),
    ],
)
def test_zones_span_and_marks_without_color(look: ScreenLook, drawn: str) -> None:
    assert text(ShareBar(1.31, 1.75, n_plus_one=1.75, last_year=1.52), look) == drawn


def test_over_the_whole_is_longer_than_the_whole() -> None:
    whole, over = (text(ShareBar(share, share), ScreenLook.PLAIN).rstrip() for share in (1.0, 1.31))

    assert len(over) >= len(whole) + 5


@pytest.mark.parametrize("look", ScreenLook)
@pytest.mark.parametrize(("share", "token"), [(0.85, "warn"), (1.1, "bad")])
def test_a_share_just_past_a_line_has_a_cell_of_its_zone(look: ScreenLook, share: float, token: str) -> None:
    assert token in tokens(ShareBar(share, share), look, 22)


def test_what_is_not_certain_is_pale() -> None:
    drawn = tokens(ShareBar(0.55, 1.1))

    assert drawn.index("ok-pale") == round(0.55 / 2 * COLUMNS)
    assert "bad-pale" in drawn
    assert "warn" not in drawn
    assert text(ShareBar(0.55, 1.1), ScreenLook.SIXTEEN).count("─") >= 8


def test_an_open_end_reaches_the_edge_and_beyond() -> None:
    bar = ShareBar(0.1, math.inf)

    assert text(bar, ScreenLook.COLOR).endswith("▶")
    assert tokens(bar)[-2] == "bad-pale"
    assert text(bar, ScreenLook.ASCII).endswith(">")


def test_nothing_passes_without_a_demand() -> None:
    assert set(tokens(ShareBar(1.2, 1.2, judged=False))) <= {"s1", "dim", "hi", "track"}


def test_a_mark_beside_a_line_moves_off_it() -> None:
    drawn = text(ShareBar(0.2, 0.2, n_plus_one=1.0), ScreenLook.PLAIN)

    assert drawn[column_of(1.0, COLUMNS)] == "│"
    assert "◆" in drawn


@pytest.mark.parametrize("columns", [18, 36, 76])
def test_the_scale_names_the_marks_above_their_columns(columns: int) -> None:
    scale = "".join(run for run, _ in draw_scale(columns))

    assert len(scale) == columns
    assert scale.index("100") == column_of(1.0, columns)
    assert scale.index("70") in (column_of(0.7, columns), column_of(0.7, columns) - 1)


def test_ascii_is_ascii() -> None:
    drawn = text(ShareBar(0.3, math.inf, 1.5, 0.9, 0.6), ScreenLook.ASCII)

    assert drawn.isascii(), [name(character) for character in drawn if not character.isascii()]
