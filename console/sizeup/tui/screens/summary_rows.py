"""The rows, panels and pictures of the first screen as styled lines of a width."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from textual.content import Content

from sizeup.charts.drawing import GROUND, Drawing
from sizeup.charts.share_bar import ScreenLook, ShareBar, draw_scale, draw_share, mark_sign, zone, zone_signs
from sizeup.model.advice import StageUse
from sizeup.model.finding import Finding
from sizeup.sizing.verdict import ShareStatus, share_text
from sizeup.text import capitalized, cell_len, clipped
from sizeup.tui.widgets.band import small_badge
from sizeup.tui.widgets.lists import hanging
from sizeup.units import format_in, format_rate
from sizeup.views.cards.balance import Balance
from sizeup.views.cards.table import fitted
from sizeup.views.result.band import status_token
from sizeup.views.result.resource_rows import ResourceRow
from sizeup.views.result.summary import SEVERITY_WORDS

_NAME = 9
_LEAST_BAR = 12
_BAR = {0: 26, 106: 36, 156: 76}
"""Columns of a bar from so many columns of the table on."""
_SHORT_BAR = 22
"""The same where texts need the columns."""
_TEXTS_FROM = 100
"""With fewer columns what was detected and measured gives way to the bars."""
_TEXT = 12
"""The least columns that a text is worth showing in."""
_PARTS = {"memory": "Memory", "storage": "Storage", "network": "Network"}
"""What a machine is balanced by."""
_SPREAD = 24
"""Columns that texts stand further apart at most where no bars follow them."""
_MOST_ROWS = 5
"""Of a bar of the balance."""
_LOW = 9
"""Rows up to which the balance has none to spare."""
_LEAST_NOTE = 16
"""Columns from which on something stands beside the value of a fact."""
_SIGNS = {"ok": "●", "warn": "▲", "bad": "▼", "acc": "?"}
_BADGE_WORDS = ("FAIL", "WARN")


class RowTable:
    """The table of resources at a width: its header, its lines, and the legend of its bars."""

    def __init__(self, rows: Sequence[ResourceRow], width: int, look: ScreenLook, years: float = 0.0) -> None:
        self._rows, self._look = rows, look
        judged = any(row.demand or row.used for row in rows)
        wide = next(bar for least, bar in reversed(_BAR.items()) if width >= least)
        self._bar = _LEAST_BAR if judged else 0
        self._status = max([6, *(cell_len(row.status) + 2 for row in rows)])
        self._numbers = [
            (title, max(5, len(title), *(cell_len(text) for text in texts)), texts, colored)
            for title, texts, colored in (
                ("Used", [row.used for row in rows], True),
                ("N+1", [row.n_plus_one for row in rows], False),
                (f"In {format_in(years, 'years')}", [row.last_year for row in rows if width >= 112], False),
            )
            if any(texts)
        ]
        demand = max([0, *(cell_len(row.demand) for row in rows)])
        self._demand = max(demand, 6) if demand else 0
        while (fixed := self._fixed()) > width and (self._demand or len(self._numbers) > 1 or self._bar):
            if self._demand:
                self._demand = 0
            elif len(self._numbers) > 1:
                self._numbers.pop()
            else:
                self._bar = 0
        self._bar += min(wide - _LEAST_BAR, width - fixed) if self._bar else 0
        fixed = self._fixed()
        texts = [("Detected", [row.detected for row in rows]), ("Measured", [row.measured for row in rows])]
        if not judged:
            texts.append(("Can deliver", [(row.delivers,) if row.delivers else () for row in rows]))
        texts = [one for one in texts if any(one[1])] if width >= _TEXTS_FROM or not judged else []
        wanted = sum(_wanted(title, cells) + 2 for title, cells in texts)
        short = max(_SHORT_BAR, wide // 2)
        if self._bar > short:  # words that are cut say less than a bar that is shorter
            spared = min(max(wanted - width + fixed, 0), self._bar - short)
            self._bar, fixed = self._bar - spared, fixed - spared
        self._texts = self._fit(texts, width - fixed)
        free = max(width - fixed - sum(wide + 2 for _, wide, _ in self._texts), 0)
        spread = 0 if judged or not self._texts else min(free // len(self._texts), _SPREAD)
        self._texts = [(title, wide + spread, cells) for title, wide, cells in self._texts]
        self._gap = " " * (free if judged else 0)

    def _fixed(self) -> int:
        """Return the columns of everything but the texts."""
        numbers = sum(wide + 2 for _, wide, _, _ in self._numbers)
        parts = sum(columns + 2 for columns in (self._demand, self._bar) if columns)
        return _NAME + self._status + 2 + numbers + parts

    @staticmethod
    def _fit(texts: list[tuple[str, list[tuple[str, ...]]]], free: int) -> list[tuple[str, int, list[tuple[str, ...]]]]:
        """Return the columns of texts that there is room for, each as wide as it needs or as its part of the room."""
        while texts and free < (_TEXT + 2) * len(texts):
            texts = texts[:-1]
        wanted = [_wanted(title, cells) for title, cells in texts]
        while wanted and sum(wanted) + 2 * len(wanted) > free:
            wanted[wanted.index(max(wanted))] -= 1
        return [(title, wide, cells) for (title, cells), wide in zip(texts, wanted, strict=True)]

    @property
    def header(self) -> Content:
        """The names of the columns, and above the bars their scale."""
        parts: list[Content] = [Content.styled("Resource".ljust(_NAME), "$dim")]
        parts += [Content.styled(f"{clipped(title, wide):{wide}}  ", "$dim") for title, wide, _ in self._texts]
        parts.append(Content(self._gap))
        if self._demand:
            parts.append(Content.styled(f"{'Demand':>{self._demand}}  ", "$dim"))
        if self._bar:
            parts += [styled(draw_scale(self._bar)), Content("  ")]
        parts += [Content.styled(f"{title:>{wide}}  ", "$dim") for title, wide, _, _ in self._numbers]
        parts.append(Content.styled("Status" if self._numbers or self._demand else "Health", "$dim"))
        return Content("").join(parts)

    def lines(self) -> Iterator[tuple[str, Content]]:
        """Yield name and line of each resource."""
        for number, row in enumerate(self._rows):
            yield row.resource, self._line(number, row)

    def _line(self, number: int, row: ResourceRow) -> Content:
        parts = [Content.styled(row.title.ljust(_NAME), "bold $hi")]
        for _, wide, cells in self._texts:
            text = fitted(cells[number], wide) if cells[number] else ""
            parts.append(Content.styled(text, "$s1" if cells[number] is row.measured else "$foreground"))
            parts.append(Content(" " * (wide - cell_len(text) + 2)))
        if not (self._texts or row.demand or row.bar or row.used):  # what would else be an empty row
            room = self._fixed() + len(self._gap) - _NAME - self._status - 2
            parts.append(Content.styled(f"{fitted((*row.detected, *row.measured), room - 2):{room}}", "$dim"))
            return Content("").join([*parts, status_content(row.status, row.token, self._look)])
        parts.append(Content(self._gap))
        if self._demand:
            parts.append(Content.styled(f"{' ' * (self._demand - cell_len(row.demand))}{row.demand}  ", "bold $hi"))
        if self._bar:
            drawn = Content(" " * self._bar) if row.bar is None else styled(draw_share(row.bar, self._bar, self._look))
            parts += [drawn, Content("  ")]
        color = f"bold ${row.token}" if row.token in ("warn", "bad") else "bold $hi"
        for _, wide, texts, colored in self._numbers:
            parts.append(Content.styled(f"{texts[number]:>{wide}}  ", color if colored else "$foreground"))
        parts.append(status_content(row.status, row.token, self._look, badge=number == 0))
        return Content("").join(parts)


def bar_legend(bars: Sequence[ShareBar], look: ScreenLook, years: float, lost: str = "") -> Content:
    """Return what the signs of bars are, as far as they occur; ``lost`` is what fails. Empty without bars."""
    if not bars:
        return Content("")
    words = [("ok", "to 70"), ("warn", "to 100"), ("bad", "over")]
    words += [("ok-pale", "not certain")] if any(bar.worst > bar.best for bar in bars) else []
    parts = [Content.styled("Bar: ", "$dim")]
    for sign, (token, text) in zip(zone_signs(look), words, strict=False):
        parts += [Content.styled(sign, f"${token}"), Content.styled(f" {text}  ", "$dim")]
    for name, text in (
        ("n_plus_one", f"N+1{f': {lost} lost' if lost else ''}"),
        ("last_year", f"in {format_in(years, 'years')}"),
        ("before", "before the change"),
    ):
        if any(getattr(bar, name) is not None for bar in bars):
            parts += [Content.styled(f" {mark_sign(name, look)}", "$hi"), Content.styled(f" {text} ", "$dim")]
    return Content("").join(parts)


def _wanted(title: str, cells: Iterable[Sequence[str]]) -> int:
    """Return the columns that a column of texts needs."""
    return max([len(title), *(cell_len(", ".join(parts)) for parts in cells)])


def styled(runs: Iterable[tuple[str, str]]) -> Content:
    """Return runs of text in the colors of their tokens."""
    return Content.assemble(*((text, f"${token}" if token else "") for text, token in runs))


def status_content(status: str, token: str, look: ScreenLook, *, badge: bool = False) -> Content:
    """Return a status as a sign and its word in color; the worst row alone may have it as a badge."""
    if not status or not token:
        return Content.styled(status, "$dim")
    if badge and status in _BADGE_WORDS:
        return small_badge(status, token, look)
    return Content.styled(f"{_SIGNS[token]} {status}", "$ok" if "ok" in token else f"bold ${token}")


def finding_lines(finding: Finding, look: ScreenLook, width: int, folded: int = 0) -> Content:
    """Return a finding in two lines, its fact and what to do; one that needs nothing done in a line.

    ``folded`` gives the fact of a warning as many lines as it needs from 1 on, and all of each finding from 2 on.
    """
    word = SEVERITY_WORDS[finding.severity]
    is_grave, indent = word in _BADGE_WORDS, len(word) + 3
    title, action = (
        hanging(text, width, indent, indent) if folded >= least else clipped(f"{' ' * indent}{text}", width)
        for text, least in ((capitalized(finding.title), 2 - is_grave), (finding.remedy or finding.consequence, 2))
    )
    badge = small_badge(word, status_token(word), look) if is_grave else Content.styled(f" {word} ", "$dim")
    first = Content.assemble(badge, " ", (title[indent:], "$hi" if is_grave else "$dim"))
    return first + Content.styled(f"\n{action}", "$dim") if is_grave and action.strip() else first


def stage_lines(stages: Sequence[StageUse], width: int, look: ScreenLook) -> Content:
    """Return the stages of a path in lines with bars on one scale, the bottleneck first and marked."""
    bar = min(max(width // 2 - 9, 15), 40)
    name = max(width - bar - 10, 8)
    head = Content.assemble(" " * name, styled(draw_scale(bar)))
    lines = [head]
    for number, stage in enumerate(stages):
        token = status_token(stage.status.upper()) if stage.status else zone(stage.share)
        sure = token in ("ok", "warn", "bad")
        words = ", ".join(filter(None, (stage.name, stage.unit)))
        title = Content(words).truncate(name - 3, ellipsis=True, pad=True)
        worst = math.inf if stage.worst is None else max(stage.worst, stage.share)
        share = ShareBar(stage.best if stage.status == ShareStatus.UNCERTAIN.value else stage.share, worst)
        lines.append(
            Content.assemble(
                ("· " if number else "▶ ", "$dim" if number else f"${token}" if sure else "$hi"),
                title.stylize("bold $hi" if not number else "$foreground"),
                " ",
                styled(draw_share(share, bar, look)),
                (f"{share_text(stage.share):>8}", f"bold ${token}" if token in ("warn", "bad") else "bold $hi"),
            )
        )
    return Content("\n").join(lines)


def change_lines(changes: Sequence[tuple[str, str, str]], width: int) -> Content:
    """Return what changed, a line each: name, before and now."""
    name = min(max((cell_len(what) for what, _, _ in changes), default=0), width // 2)
    return Content("\n").join(
        Content.assemble(
            (Content(what).truncate(name, ellipsis=True, pad=True).plain, "$dim"), f"  {was} → ", (now, "$hi")
        ).truncate(width, ellipsis=True)
        for what, was, now in changes
    )


def fact_lines(title: str, facts: Sequence[tuple[str, str, str]], width: int, rows: int) -> Content:
    """Return facts in at most so many rows: name, value, and where there is room what vendors recommend."""
    name, value = (max(cell_len(one[part]) for one in facts) + 2 for part in (0, 1))
    room = width - name - value if any(more for *_, more in facts) else 0
    note = "recommended by vendors"
    if min(room - _LEAST_NOTE, width - cell_len(f"{title}  {note}")) < 0:
        note, room = "", 0
    lines = [Content.assemble((title, "bold $hi"), (f"{note:>{max(width - cell_len(title), 0)}}", "$dim"))]
    for text, found, more in facts[: rows - 1]:
        beside = f"{' ' * (value - cell_len(found))}{clipped(more, room)}" if room else ""
        shown = Content.assemble((text.ljust(name), "$dim"), found, (beside, "$dim"))
        lines.append(shown.truncate(width, ellipsis=True))
    return Content("\n").join(lines)


def load_lines(found: Balance, width: int, look: ScreenLook) -> Content:
    """Return what typical loads take of the storage, a bar each."""
    bar = min(max(width // 2 - 6, 15), 40)
    return Content("\n").join(
        Content.assemble(
            name.ljust(max(width - bar - 19, 12)),
            (f"{format_rate(rate):>10} ", "$dim"),
            styled(draw_share(share, bar, look)),
            (f"{share_text(share.best):>7}", "bold $hi"),
        )
        for name, rate, share in found.loads()
    )


def draw_balance(found: Balance, width: int, height: int, look: ScreenLook) -> Drawing:
    """Return what the CPUs can use against what the parts deliver, in bars on one logarithmic axis."""
    drawing = Drawing(width, height)
    decades = found.decades()
    left = max([len("CPU can use"), *(len(one.title) for one in found.supplies)]) + 2
    columns = width - left - 12
    if columns < 10 or height < 6:
        return drawing

    def column(value: float) -> int:
        part = (math.log10(value) - decades[0]) / max(len(decades) - 1, 1)
        return left + round(min(max(part, 0.0), 1.0) * (columns - 1))

    drawing.put(0, 1, "CPU can use", "title")
    low, typical, high = map(column, (found.least, found.typical, found.most))
    for x in range(low, high + 1):
        drawing.put(x, 1, "=" if look is ScreenLook.PLAIN else "█", _ramp(x - low, high - low))
    for x, role in ((low, "faint"), (high, "faint"), (typical, "acc")):
        for y in range(2, height - 2):
            drawing.put(x, y, "┊", role)
    drawing.put(typical, 1, "┃", "hi")
    drawing.put(max(typical - 4, 0), 0, f"{format_rate(found.typical)} typical load", "text")
    drawing.put(high + 2, 1, format_rate(found.most) + " light scans" * (width - high > _SPREAD), "dim")
    text = format_rate(found.least)
    drawing.put(low - len(text) - 1, 1, text if low - len(text) - 1 > len("CPU can use") else "", "dim")
    unknown = [title for name, title in _PARTS.items() if name not in {one.resource for one in found.supplies}]
    rows = [*((one.title, one.bytes_per_second) for one in found.supplies), *((title, 0.0) for title in unknown)]
    pitch, sentence = max((height - 5) // len(rows), 1), found.sentence()
    thick = min(max(pitch // 2, 1), _MOST_ROWS)
    tops = range(3 if height > _LOW else 2, height - 1 - thick - bool(sentence), pitch)
    for top, (title, rate) in zip(tops, rows, strict=False):
        middle, end = top + thick // 2, column(rate) if rate else left
        drawing.put(0, middle, title, "text")
        for x, y in product(range(left, end), range(top, top + thick)):
            drawing.put(x, y, "▄" if thick == 1 else "█", _ramp(x - left, columns))
        if thick > 1:
            drawing.shade(range(end, left + columns), range(top, top + thick), "track")
        elif look in (ScreenLook.COLOR, ScreenLook.SIXTEEN):
            drawing.put(end, top, "▄" * (left + columns - end), "track")
        ground = f"{GROUND}track" if thick > 1 else ""
        words = f"  {format_rate(rate)} " if rate else " unknown until measured "
        drawing.put(end, middle, words, f"{'title' if rate else 'text'}{ground}")
        drawing.put(end, middle, "●" if rate else " ", f"s1{ground}")
    drawing.put(0, height - 3, sentence.ljust(width) if sentence else "", "text")
    free = 0
    for power in decades:
        x = column(10.0**power)
        label = format_rate(10.0**power)
        drawing.put(x, height - 2, "╷", "faint")
        start = min(max(x - len(label) // 2, 0), width - len(label))
        if start >= free:  # else its words would stand on those before it
            drawing.put(start, height - 1, label, "dim")
            free = start + len(label) + 2
    return drawing


def _ramp(at: int, columns: int) -> str:
    """Return the token of the ramp of magnitude at a column."""
    return f"ramp-{1 + min(at * 4 // max(columns, 1), 3)}"
