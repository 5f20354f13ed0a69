"""What can be read on what, and which colors stay apart."""

from collections.abc import Mapping
from itertools import combinations

import pytest
from rich.color import Color, ColorSystem
from textual.theme import Theme

from charts.contrast import contrast, linear
from sizeup.charts import palette
from sizeup.charts.drawing import GROUND, heat_role
from sizeup.tui import themes


def sent(color: str) -> str:
    """A color as Rich sends it to a terminal of 256 colors."""
    return Color.parse(color).downgrade(ColorSystem.EIGHT_BIT).get_truecolor().hex


SETS = {
    "dark": palette.DARK,
    "light": palette.LIGHT,
    "256 colors": {name: sent(color) for name, color in palette.DARK_256.items()},
}
BY_SET = pytest.mark.parametrize("colors", SETS.values(), ids=SETS)
TEXTS = ("dim", "text", "hi", "acc", "ok", "warn", "bad", "s1", "s2", "s3", "s4")
# Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB.
VISIONS = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no green": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "no blue": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}


def lab(color: str, vision: str) -> tuple[float, float, float]:
    """CIE L*a*b* of a color as it is seen."""
    red, green, blue = (
        min(max(sum(a * b for a, b in zip(row, linear(color), strict=True)), 0.0), 1.0) for row in VISIONS[vision]
    )
    x, y, z = (
        value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116
        for value in (
            (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505,
            0.2126 * red + 0.7152 * green + 0.0722 * blue,
            (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089,
        )
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@BY_SET
@pytest.mark.parametrize("surface", palette.SURFACES)
def test_text_of_every_token_can_be_read_on_every_surface(colors: Mapping[str, str], surface: str) -> None:
    read = {name: contrast(colors[name], colors[surface]) for name in TEXTS}

    # Bars and the markers of the fourth series are large, which WCAG 2.2 asks 3 of.
    assert {name for name, found in read.items() if found < 4.5} <= {"s4"}
    assert min(read.values()) >= 3.5


@BY_SET
def test_words_on_a_badge_can_be_read(colors: Mapping[str, str]) -> None:
    assert all(contrast(colors["ink"], colors[name]) >= 5.5 for name in ("acc", "ok", "warn", "bad"))


@BY_SET
@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize(("names", "least"), [(("s1", "s2", "s3", "s4"), 20), (("ok", "warn", "bad"), 15)])
def test_series_and_statuses_differ_for_every_kind_of_color_vision(
    colors: Mapping[str, str], vision: str, names: tuple[str, ...], least: float
) -> None:
    seen = [lab(colors[name], vision) for name in names]
    apart = [sum((a - b) ** 2 for a, b in zip(*pair, strict=True)) ** 0.5 for pair in combinations(seen, 2)]

    assert min(apart) >= least


@pytest.mark.parametrize("theme", themes.OWN, ids=lambda theme: theme.name)
def test_every_theme_has_every_token(theme: Theme) -> None:
    assert {*palette.DARK, "ok-pale", "s1-pale"} - {"text", "bg"} <= theme.variables.keys()


@pytest.mark.parametrize("theme", themes.OWN, ids=lambda theme: theme.name)
def test_figures_of_a_matrix_can_be_read_at_every_level(theme: Theme) -> None:
    roles = list(dict.fromkeys(heat_role(level / 100) for level in range(101)))

    assert len(roles) > 4
    for ink, ground in (role.split(GROUND) for role in roles):
        pair = [theme.variables[name] for name in (ink, ground)]
        assert pair[0] != pair[1]
        assert pair[0].startswith("ansi") or contrast(*pair) >= 4.5
