"""Figures of two sessions, one row each: both values, the change from zero with its interval, and what follows."""

from __future__ import annotations

from collections.abc import Sequence

from sizeup.charts.drawing import Drawing, Glyphs, cut
from sizeup.text import cell_len, plural
from sizeup.tui.widgets.scrolled import ScrolledRows
from sizeup.views.comparison.answer import SCALE, SHADED, ChangeResult, ChangeRow

_CARD, _VALUE, _RESULT = 8, 10, 13
"""Columns of the resource, of each value, and of what follows."""
_LEAST_BAR, _WIDEST_BAR, _LEAST_TITLE = 13, 101, 17
_AROUND = 7
"""Rows of the screen above and below what is compared."""
_TICKS = (-30, -20, -10, 0, 10, 20, 30)


class ChangeTable(ScrolledRows):
    """Improvement is to the right; what counts as the same is shaded."""

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self.in_ascii = glyphs is Glyphs.ASCII
        self._rows: tuple[ChangeRow, ...] = ()
        self._notes: list[str] = []

    def show(self, rows: tuple[ChangeRow, ...], interval: str, nothing: str) -> None:
        """Show rows with intervals of this confidence, or why there is ``nothing``."""
        self._rows = rows
        bracket = f"├─●─┤ {interval} interval, improvement to the right."
        self._notes = (
            ["", f"Shaded: within ±{SHADED * 100:.0f} % counts as the same.  {bracket}"] if rows else [nothing]
        )
        more = [row.more_runs for row in rows if row.result is ChangeResult.CANNOT_TELL]
        if more:
            known = [count for count in more if count is not None]
            needed = f"{plural(max(known), 'more run')} of each side" if known else "more than 100 more runs"
            self._notes.append(f"? CANNOT TELL: the runs allow both; {needed} would tell.")
        self.styles.height = len(rows) + len(self._notes) + 3
        self.styles.max_height = max(self.screen.size.height * 60 // 100 - _AROUND, 4)
        self._redraw()

    def _redraw(self) -> None:
        width, height = self.size
        if height:
            notes = self._notes if height > len(self._rows) + len(self._notes) else []
            shown = self._visible(self._rows, height - 1 - len(notes))
            self.border_subtitle = self.border_subtitle or "slower or less ◀   ▶ faster or more"
            self.present(self.drawn(shown, notes, width, height))

    def drawn(self, shown: Sequence[ChangeRow], notes: Sequence[str], width: int, height: int) -> Drawing:
        """Return a heading, rows and notes in so many columns; the bars take what the words leave."""
        drawing = Drawing(width, height)
        change = max((cell_len(row.change) for row in shown), default=0)
        title = max((cell_len(row.title) for row in shown), default=0)
        fixed = _CARD + 2 * (_VALUE + 1) + change + _RESULT + 6
        title = max(min(title, width - fixed - 29), min(_LEAST_TITLE, width - fixed + _CARD))
        bar = min(width - fixed - title, _WIDEST_BAR) // 2 * 2 - 1
        left, right = _CARD + title + 2 * (_VALUE + 1) + 2, width - _RESULT - change - 2
        if shown:
            head = f"{'Figure':{_CARD + title}} {'Baseline':>{_VALUE}} {'New':>{_VALUE}}"
            drawing.put(0, 0, head, "dim")
            drawing.put(right, 0, f"{'Change':>{change}}  Result", "dim")
        if bar >= _LEAST_BAR:
            self._draw_bars(drawing, range(left, left + bar), shown)
        for y, row in enumerate(shown, start=1):
            changed = row.result not in (ChangeResult.SAME, ChangeResult.CANNOT_TELL, ChangeResult.NOT_VALID)
            bold = "title" if changed else "text"
            drawing.put(0, y, row.card if y == 1 or shown[y - 2].card != row.card else "", "acc")
            drawing.put(_CARD, y, cut(row.title if cell_len(row.title) <= title else row.short, title), bold)
            drawing.put(_CARD + title + 1, y, f"{row.baseline:>{_VALUE}}", "s3")
            drawing.put(_CARD + title + _VALUE + 2, y, f"{row.new:>{_VALUE}}", "s1")
            drawing.put(right, y, f"{row.change:>{change}}", bold if changed else "dim")
            drawing.put(width - _RESULT, y, f"{row.result.sign} {row.result.word}", row.result.status)
        for y, note in enumerate(notes, start=len(shown) + 1):
            drawing.put(0, y, note, "dim")
        return drawing

    def _draw_bars(self, drawing: Drawing, columns: range, rows: Sequence[ChangeRow]) -> None:
        """Draw scale, zero and change of each row into these columns."""
        middle = columns[len(columns) // 2]
        half = len(columns) // 2

        def column(share: float) -> int:
            return middle + round(max(min(share / SCALE, 1.0), -1.0) * half)

        step = 1 if half >= 3 * (len("+30") + 1) else 3
        for tick in _TICKS[::step]:
            text = f"{tick:+d}" if tick else "0 %"
            drawing.put(column(tick / 100) - len(text) // 2, 0, text, "hi" if not tick else "dim")
        for y, row in enumerate(rows, start=1):
            drawing.put(middle, y, "│", "dim")
            if row.better is not None:
                at, role = column(row.better), "dim"
                if row.result in (ChangeResult.FASTER, ChangeResult.SLOWER):
                    role = "s1" if row.result is ChangeResult.FASTER else "s2"
                start, end = sorted((middle, at))
                drawing.put(start, y, "━" * (end - start + 1), f"{role}-pale" if role != "dim" else "line")
                if row.low is not None and row.high is not None:
                    low, high = column(row.low), column(row.high)
                    drawing.put(low, y, "─" * (high - low + 1), role)
                    drawing.put(low, y, "├" if row.low >= -SCALE else "◀", role)
                    drawing.put(high, y, "┤" if row.high <= SCALE else "▶", role)
                beyond = "◀" if row.better < -SCALE else "▶" if row.better > SCALE else "●"
                drawing.put(at, y, beyond, "hi")
            drawing.shade(range(column(-SHADED), column(SHADED) + 1), range(y, y + 1), "track")
