"""An HTML report as lines of text: a line for each row of a table and each heading, an underline after each table."""

from __future__ import annotations

from html.parser import HTMLParser

TABLE_END = f"{'':10}{'-' * 61}"
"""What ends a table, as the same reports end it in text."""
EMPTY = "N/A"
"""What stands for an empty cell before others, so that these keep their columns."""
_ENDS_LINE = frozenset({"tr", "h1", "h2", "h3", "h4", "p", "br", "li", "table", "title", "div", "pre", "ul"})


class _Lines(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self._cells: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag in ("style", "script"):
            self._hidden += 1
        elif tag in _ENDS_LINE:
            self._end_line()
        elif tag in ("td", "th"):
            self._cells.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("style", "script"):
            self._hidden = max(self._hidden - 1, 0)
        elif tag in _ENDS_LINE:
            self._end_line()
        if tag == "table":
            self.lines.append(TABLE_END)

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        text = " ".join(data.split())
        if not self._cells:
            self._cells.append(text)
        elif text:
            self._cells[-1] = f"{self._cells[-1]} {text}".strip()

    def _end_line(self) -> None:
        while self._cells and not self._cells[-1]:
            self._cells.pop()
        if self._cells:
            self.lines.append("  ".join(cell or EMPTY for cell in self._cells))
        self._cells = []

    def close(self) -> None:
        super().close()
        self._end_line()


def html_lines(text: str) -> str:
    """Return the lines of an HTML document; cells of a row are two spaces apart."""
    parser = _Lines()
    parser.feed(text)
    parser.close()
    return "\n".join(parser.lines)
