"""What the colors of series are apart from: those of a status, the background, and each other."""

import colorsys
from itertools import combinations

import pytest

from charts.contrast import contrast, linear, parts
from sizeup.charts import palette
from sizeup.charts.drawing import HEAT_LEVELS
from sizeup.tui.widgets.cells import _LOOKS

SETS = pytest.mark.parametrize("colors", [palette.DARK, palette.LIGHT], ids=["dark", "light"])
BACKGROUNDS = {palette.DARK: ("#12161b", "#191f26", "#121212"), palette.LIGHT: ("#ffffff", "#f6f7f9", "#e0e0e0")}
"""Of the paper and the panels of a report, and of the console."""
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


@SETS
def test_every_color_stands_out_from_its_backgrounds(colors: tuple[str, ...]) -> None:
    assert all(contrast(color, ground) >= 3 for color in colors for ground in BACKGROUNDS[colors])


@SETS
@pytest.mark.parametrize("vision", VISIONS)
def test_every_two_colors_differ_for_every_kind_of_color_vision(colors: tuple[str, ...], vision: str) -> None:
    seen = [lab(color, vision) for color in colors]
    apart = [sum((a - b) ** 2 for a, b in zip(*pair, strict=True)) ** 0.5 for pair in combinations(seen, 2)]

    assert min(apart) >= 18


@SETS
def test_no_series_has_the_color_of_a_status(colors: tuple[str, ...]) -> None:
    for color in colors:
        hue = colorsys.rgb_to_hls(*parts(color))[0] * 360
        assert max(parts(color)) - min(parts(color)) < 0.1 or 200 <= hue <= 310


def test_cells_of_a_matrix_are_blue_at_every_level() -> None:
    for level in range(HEAT_LEVELS):
        paper = _LOOKS[f"heat-{level}"].rpartition("#")[2]
        red, green, blue = bytes.fromhex(paper)

        assert blue > green > red
