"""A chart on the screen: what it shows while it is hidden, and when it is shown again."""

from consoles import Console, until
from sizeup.charts.chart import Axis, Bar, BarChart
from sizeup.charts.drawing import Glyphs
from sizeup.tui.widgets.chart import ChartView


def picture(name: str) -> BarChart:
    return BarChart(name, Axis("Rate", "bytes/s"), (Bar("one", 1e6), Bar("two", 2e6)))


async def test_a_hidden_chart_forgets_its_picture_when_another_comes(console: Console) -> None:
    """Else the first frame in which it is shown again has all cells of a picture that is not meant."""
    async with console.shown() as pilot:
        chart = ChartView(Glyphs.BRAILLE)
        await console.app.screen.query_one("#below").mount(chart)
        chart.show(picture("Before"))
        await until(pilot, lambda: "Before" in chart.drawing.text())
        chart.display = False
        await until(pilot, lambda: not chart.size)

        chart.show(picture("After"))
        hidden = chart.drawing.text()
        chart.display = True

        await until(pilot, lambda: "After" in chart.drawing.text())
        assert hidden == ""
