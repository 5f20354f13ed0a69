"""The answers of sizing as a table: a heading for each group, a row for each answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import DataTable

from sizeup.tui.actions import CURSOR_KEYS, bindings
from sizeup.views.inputs.sizing_table import AnswerRow

_STATUSES = ("pass", "warn", "fail", "uncertain", "assumed")
"""Verdicts that have a color, which their words say as well."""
_PADDING = 1
_FULL, _SOME = 76, 62
"""Columns from which every column has room, and from which all but range and confidence do."""
_WIDE = 110
_HEADING = "group "


class AnswerTable(DataTable[Text], inherit_bindings=False):
    """Rows with a cursor; left and right are the screen's, as no cell is selected alone."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("list"),
        Binding("enter", "select_cursor", show=False),
        *CURSOR_KEYS,
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"answers--{status}" for status in _STATUSES}
    DEFAULT_CSS = """
    AnswerTable > .answers--pass { color: $text-success; }
    AnswerTable > .answers--warn { color: $text-warning; }
    AnswerTable > .answers--fail { color: $text-error; text-style: bold; }
    AnswerTable > .answers--uncertain, AnswerTable > .answers--assumed { color: $text-warning; }
    AnswerTable { background: $background; scrollbar-size-vertical: 1; overflow-x: hidden; }
    AnswerTable:focus { background-tint: $foreground 0%; }
    AnswerTable > .datatable--header { background: $background; text-style: bold; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id, cursor_type="row", cell_padding=_PADDING, zebra_stripes=False)
        self._answers: tuple[AnswerRow, ...] = ()
        self._changes: Mapping[str, str] = {}

    @property
    def chosen(self) -> str:
        """Id of the answer under the cursor; empty on a heading."""
        if not self.row_count:
            return ""
        key = str(self.coordinate_to_cell_key(self.cursor_coordinate).row_key.value)
        return "" if key.startswith(_HEADING) else key

    @property
    def ids(self) -> list[str]:
        """Ids of the answers from the top down."""
        return [row.id for row in self._answers]

    def choose(self, answer: str) -> bool:
        """Put the cursor on an answer; whether there is such an answer."""
        if answer not in self.ids:
            return False
        self.move_cursor(row=self.get_row_index(answer), animate=False)
        return True

    def show(self, rows: Sequence[AnswerRow], changes: Mapping[str, str]) -> None:
        """Show answers in place of the last, the cursor on the same one; ``changes`` says what a change did to each."""
        chosen, top = self.chosen, self.scroll_offset.y
        self._answers, self._changes = tuple(rows), changes
        self.clear(columns=True)
        widths = self._widths()
        for name, width in widths.items():
            self.add_column(name, width=width, key=name)
        group = ""
        for row in rows:
            if row.group != group:
                group = row.group
                blank = (Text("") for _ in range(len(widths) - 1))
                self.add_row(Text(group, style="bold"), *blank, key=f"{_HEADING}{group}")
            self.add_row(*(self._cell(row, name, width) for name, width in widths.items()), key=row.id)
        if not self.choose(chosen):
            self.choose(next(iter(self.ids), ""))
        self.scroll_to(y=top, animate=False)

    def _widths(self) -> dict[str, int]:
        """Return the columns that there is room for, with their widths."""
        columns = (self.size.width or _WIDE + 1) - 1  # the scroll bar
        fixed = {"Change": 9} if any(self._changes.values()) else {}
        fixed["Value"] = 16 if columns >= _WIDE else 12
        if columns - 11 * len(fixed) + 11 >= _FULL:
            filled = {
                "Range": (22 if columns >= _WIDE else 14, any(row.range_ for row in self._answers)),
                "Confidence": (10, any(row.confidence for row in self._answers)),
            }
            fixed |= {name: width for name, (width, is_filled) in filled.items() if is_filled}
        left = columns - sum(width + 2 * _PADDING for width in fixed.values())
        basis = {"Basis": max(left * 2 // 5, 14)} if columns >= _SOME else {}
        answer = max(left - sum(width + 2 * _PADDING for width in basis.values()) - 2 * _PADDING, 12)
        every = {"Answer": answer, **fixed, **basis}
        return {name: every[name] for name in _ORDER if name in every}

    def _cell(self, row: AnswerRow, column: str, width: int) -> Text:
        texts = {
            "Change": self._changes.get(row.id, ""),
            "Answer": row.title,
            "Value": row.value,
            "Range": row.range_,
            "Basis": row.basis,
            "Confidence": row.confidence,
        }
        text = Text(texts[column], no_wrap=True)
        if column == "Change" and texts["Change"]:
            text = Text(f" {texts['Change']} ", style="bold reverse", no_wrap=True)
        elif column == "Value" and row.status in _STATUSES:
            text.stylize(self.get_component_rich_style(f"answers--{row.status}", partial=True))
        text.truncate(width, overflow="ellipsis")
        return text

    def action_first(self) -> None:
        """Go to the first answer."""
        self.scroll_to(y=0, animate=False)
        self.choose(next(iter(self.ids), ""))

    def action_last(self) -> None:
        """Go to the last answer."""
        self.choose(next(reversed(self.ids), ""))


_ORDER = ("Change", "Answer", "Value", "Range", "Basis", "Confidence")
