"""Lists with the keys of vi, whose items may hold any text of the hardware."""

from __future__ import annotations

import re
import textwrap
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.style import Style as VisualStyle
from textual.widgets import OptionList

from sizeup.tui.actions import bindings


def hanging(text: str, width: int, first: int, rest: int) -> str:
    """Text folded to a width, its first line and the others indented by so much; as it is while there is no width."""
    if width <= max(first, rest) + 8:
        return " " * first + text
    # No line ends between a figure and its unit.
    together = _BEFORE_UNIT.sub(_NO_BREAK, text)
    folded = textwrap.fill(
        together, width, initial_indent=" " * first, subsequent_indent=" " * rest, break_on_hyphens=False
    )
    return folded.replace(_NO_BREAK, " ")


_NO_BREAK = "\N{NO-BREAK SPACE}"
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:[kKMGT]?i?B(?:/s)?(?:/GHz)?|[kMG]?Hz|IOPS|[mnu]?s|%|x|k/s|M/s)(?![\w/]))")


class KeyList(OptionList):
    """A list of lines."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list")]
    DEFAULT_CSS = """
    KeyList {
        border: none;
        padding: 0;
        background: $background;
        text-wrap: nowrap;
        text-overflow: ellipsis;
        scrollbar-size-vertical: 1;
    }
    KeyList > .option-list--option-disabled { color: $foreground; }
    KeyList:focus { border: none; background-tint: $foreground 0%; }
    """

    def __init__(self, *content: Any, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        # A string is text: markup in the name of a device is no markup of ours.
        super().__init__(*content, id=id, classes=classes, markup=False)

    def get_visual_style(self, *component_classes: str, partial: bool = False) -> VisualStyle:
        """The style of a part of the list, with the reversal that Textual leaves out and a cursor may live by."""
        style = super().get_visual_style(*component_classes, partial=partial)
        reverse = any(self.get_component_styles(name).text_style.reverse for name in component_classes)
        return style + VisualStyle(reverse=True) if reverse else style

    def on_resize(self) -> None:
        """Keep the line under the cursor in sight where the list becomes shorter."""
        self.scroll_to_highlight()
