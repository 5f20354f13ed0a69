"""Texts and paths of an SVG picture, and how wide a text is there."""

from __future__ import annotations

from collections.abc import Sequence

from sizeup.charts.markup import Markup, element, empty, number
from sizeup.text import one_line

_NARROW, _BROAD = frozenset("ijlt.,:;|'()[] "), frozenset("mwMW@%→")


def text_element(x: float, y: float, text: str, **attributes: str | float) -> Markup:
    """Return a text on one line."""
    return element("text", one_line(text), x=x, y=y, **attributes)


def path_element(points: Sequence[tuple[float, float]], **attributes: str | float) -> Markup:
    """Return straight lines from point to point."""
    return empty("path", d="M" + "L".join(f"{number(x)} {number(y)}" for x, y in points), **attributes)


def text_width(text: str) -> float:
    """Return the pixels of a text of 12 pixel height, rather too many: nothing here can measure the reader's font."""
    return sum(
        4.6 if character in _NARROW else 11.4 if character in _BROAD else 8.4 if character.isupper() else 7.4
        for character in text
    )


def fitted(text: str, width: float) -> str:
    """Return the text on one line, cut with an ellipsis where it would be wider than ``width`` pixels."""
    line = one_line(text)
    while text_width(line) > width + 0.01 and len(line) > 2:  # a width made for this text may have been rounded
        line = one_line(line, len(line) - 1)
    return line
