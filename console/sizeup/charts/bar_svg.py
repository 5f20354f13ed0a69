"""Bar charts as SVG: bars with their intervals and values."""

from __future__ import annotations

from sizeup.charts import text_alternative
from sizeup.charts.axes import bar_axis_values, fit
from sizeup.charts.chart import Axis, Bar, BarChart, Scale
from sizeup.charts.markup import Markup, element, joined
from sizeup.charts.svg_elements import fitted, path_element, text_element, text_width


def bar_chart(chart: BarChart, width: float, top: float) -> tuple[Markup, float, float]:
    """Return the body of the picture, its width and its height."""
    labels = [fitted(bar.label, width / 3) for bar in chart.bars]
    formatted = [_bar_text(bar, chart.axis) for bar in chart.bars]
    left = 10 + max((text_width(label) for label in labels), default=0)
    right = max(width - 14 - max((text_width(text) for text in formatted), default=0), left + width * 0.22)
    # A bar's length is its value only from zero on.
    from_zero = [0.0] if chart.axis.scale is Scale.LINEAR else []
    ruler = fit(chart.axis, [*bar_axis_values(chart), *from_zero], min(5, int(width // 90)))

    def across(value: float) -> float:
        position = ruler.position(value)
        return left + (right - left) * min(max(position if position is not None else 0.0, 0.0), 1.0)

    top, pitch = top + 12, 28.0
    bottom = top + pitch * len(chart.bars)
    parts: list[Markup] = []
    for tick in ruler.ticks:
        parts.append(path_element([(across(tick.value), top), (across(tick.value), bottom)], class_="grid"))
        parts.append(text_element(across(tick.value), bottom + 16, tick.label, class_="quiet", text_anchor="middle"))
    start = across(0.0)
    for index, bar in enumerate(chart.bars):
        middle, end = top + pitch * (index + 0.5), across(bar.value)
        parts.append(text_element(left - 8, middle + 4, labels[index], text_anchor="end"))
        said = element("title", f"{bar.label}: {text_alternative.with_interval(bar, chart.axis.unit)}")
        across_bar = {"x": min(start, end), "y": middle - 9, "width": abs(end - start), "height": 18}
        parts.append(element("rect", said, **across_bar, class_="bar"))
        after = max(start, end)
        if bar.low is not None and bar.high is not None:
            low, high = across(bar.low), across(bar.high)
            parts.append(path_element([(low, middle), (high, middle)], class_="extent"))
            parts.append(path_element([(low, middle - 4), (low, middle + 4)], class_="extent"))
            back = high - 5 if ruler.leaves(bar.high) > 0 else high  # an arrow where it goes on beyond the axis
            parts.append(path_element([(back, middle - 4), (high, middle), (back, middle + 4)], class_="extent"))
            after = max(after, high)
        parts.append(text_element(after + 6, middle + 4, formatted[index]))
    parts.append(path_element([(start, top), (start, bottom)], class_="base"))
    parts.append(text_element((left + right) / 2, bottom + 36, ruler.title, class_="quiet", text_anchor="middle"))
    return (
        joined(*parts),
        max(width, right + 14 + max((text_width(text) for text in formatted), default=0)),
        bottom + 46,
    )


def _bar_text(bar: Bar, axis: Axis) -> str:
    value = bar.text(axis.unit)
    return fitted(f"{value}, {bar.note}" if bar.note else value, 300)
