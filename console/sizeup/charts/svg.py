"""Charts as SVG: scalable, readable without color, light or dark as the reader's system is.

Series differ by color, marker and dash; colors are CSS variables, so that a page or the reader's
system chooses between light and dark. Every picture carries a title and a description for those
who hear it.
"""

from __future__ import annotations

from sizeup.charts import palette, text_alternative
from sizeup.charts.bar_svg import bar_chart
from sizeup.charts.chart import BarChart, Chart, HeatMap, LineChart
from sizeup.charts.heat_svg import heat_map
from sizeup.charts.line_svg import line_chart
from sizeup.charts.markup import Markup, element, joined, number, style_sheet
from sizeup.charts.svg_elements import fitted, text_element


def _variables(paper: str, ink: str, muted: str, grid: str, series: tuple[str, ...]) -> str:
    colors = {"paper": paper, "ink": ink, "muted": muted, "grid": grid}
    colors |= {f"s{index}": color for index, color in enumerate(series)}
    return ";".join(f"--{name}:{color}" for name, color in colors.items())


LIGHT = _variables("#ffffff", "#1b1f24", "#57606a", "#dfe3e8", palette.LIGHT)
DARK = _variables("#12161b", "#e6e9ed", "#a3adb8", "#2c343d", palette.DARK)

STYLE = style_sheet("sizeup.charts", "chart.css")

_WIDTH = 720
"""Of a chart that has a page, or a file, to itself."""
_TITLE_HEIGHT = 22.0
_MARGIN = 8


def standalone(chart: Chart) -> str:
    """A file of its own, light or dark as the reader's system asks."""
    picture = draw(chart, "chart")
    scheme = f":root{{{LIGHT}}}@media (prefers-color-scheme:dark){{:root{{{DARK}}}}}"
    style = element("style", Markup(scheme + STYLE + "svg{background:var(--paper)}"))
    opening, rest = picture.split(">", 1)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{opening} xmlns="http://www.w3.org/2000/svg">{style}{rest}\n'


def draw(chart: Chart, name: str, *, width: int = _WIDTH, titled: bool = True, css_class: str = "chart") -> Markup:
    """The picture for use within a page whose style sheet holds ``STYLE``; ``name`` is unique in that page.

    ``width`` is that of the plot in pixels, from which labels may stand out; a heat map is as wide as its cells
    need. The values appear under the pointer.
    """
    top = _TITLE_HEIGHT if titled else 0.0
    match chart:
        case LineChart():
            body, wide, height = line_chart(chart, width, top)
        case BarChart():
            body, wide, height = bar_chart(chart, width, top)
        case HeatMap():
            body, wide, height = heat_map(chart, top)
    return element(
        "svg",
        element("title", chart.title, id=f"{name}-title"),
        element("desc", text_alternative.sentence(chart), id=f"{name}-text"),
        text_element(0, 18, fitted(chart.title, wide * 0.85), class_="title") if titled else joined(),
        body,
        viewBox=f"-{_MARGIN} 0 {number(wide + 2 * _MARGIN)} {number(height)}",
        width=wide + 2 * _MARGIN,
        height=height,
        role="img",
        aria_labelledby=f"{name}-title {name}-text",
        class_=css_class,
    )
