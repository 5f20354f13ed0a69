"""The band of a screen: a large badge, what it means, what to do next, and one large number."""

from __future__ import annotations

from msgspec.structs import replace
from textual.content import Content
from textual.reactive import reactive
from textual.renderables.digits import DIGITS, DIGITS3X3_BOLD
from textual.widget import Widget

from sizeup.charts.share_bar import ScreenLook
from sizeup.text import cell_len, clipped, wrap
from sizeup.views.band import Band, NextStep, Number

_NUMBER_FROM_COLUMNS = 100
"""On a narrower screen the sentence needs the columns of the number."""
_MARGIN = 2
_PART = " · "
"""What stands between the parts of what a verdict rests on."""
_ROWS = 3
"""Of the badge."""


class BandView(Widget):
    """Five rows with a large badge, or three with a small one."""

    DEFAULT_CSS = """
    BandView { height: 5; background: $raise; padding: 1 2 0 2; }
    BandView.-small { height: 3; padding: 0 2; }
    """
    band: reactive[Band | None] = reactive(None)
    look: reactive[ScreenLook] = reactive(ScreenLook.COLOR)

    def show(self, band: Band | None, look: ScreenLook) -> None:
        """Show a band in place of the last; None hides it."""
        self.display = band is not None
        self.band, self.look = band, look

    def render(self) -> Content:
        """All rows, each cut at the edge."""
        if self.band is None:
            return Content("")
        return Content("\n").join(band_rows(self.band, self.size.width, self.look, small=self.has_class("-small")))


def band_rows(band: Band, width: int, look: ScreenLook, *, small: bool) -> list[Content]:
    """Return a band in four rows of a width, with a small badge in three."""
    number: list[Content] = []
    narrow = width < _NUMBER_FROM_COLUMNS
    if small:
        badge = [small_badge(band.word, band.status, look), Content(""), Content("")]
    else:
        badge = _large_badge(band, 13 if narrow else 14, look)
        if band.number is not None and not narrow:
            number = _large_number(band.number, band.number.token or band.status, look)
        if band.before is not None and not narrow:
            badge = [was + row for was, row in zip(_before(band.before, look), badge, strict=True)]
    indent = max(row.cell_length for row in badge) + _MARGIN
    free = width - indent - max((row.cell_length + _MARGIN for row in number[:_ROWS]), default=0)
    rows = []
    if not small and not number:  # whose name would stand in a row of its own
        badge.append(Content(""))
    texts = _texts(band, max(free, 0), len(badge), narrow=narrow)
    for line, (left, text) in enumerate(zip(badge, texts, strict=True)):
        row = left.truncate(indent, pad=True) + text.truncate(max(free, 0), ellipsis=True, pad=True)
        rows.append((row + Content(" " * _MARGIN) + number[line] if number else row).truncate(width))
    return [*rows, number[_ROWS].truncate(width).right(width)] if number else rows


def _texts(band: Band, free: int, most: int, *, narrow: bool) -> list[Content]:
    """Return the sentence, what to do next, and what both rest on or else the other thing to do, in ``most`` rows.

    What to do is wrapped where there is a row for it.
    """
    gap = " " if narrow else "  "
    spare = max(most - _ROWS, int(narrow))  # of a small one that of the basis
    is_short = narrow or cell_len(band.sentence) > free
    rows = [Content.styled(clipped((band.short if is_short else "") or band.sentence, free), "bold $hi")]
    for lead, step in zip(("Next", "or  "), band.steps, strict=False):
        start = Content.assemble((lead, "bold $acc" if lead == "Next" else "$dim"), gap)
        row = start + step_content(step)
        lines = wrap(step.text, max(free - start.cell_length, 1)) if row.cell_length > free and spare else []
        if len(lines) > 1:
            rows.append(start + lines[0])
            start, step, spare = Content(" " * start.cell_length), replace(step, text=" ".join(lines[1:])), spare - 1  # noqa: PLW2901
            row = start + step_content(step)
        if row.cell_length > free and step.text and step.key:  # the key stays in sight
            key = Content.assemble(" ", (step.key, "bold $acc"))
            row = start + clipped(step.text, free - start.cell_length - key.cell_length) + key
        rows.append(row)
    why = Content.assemble(("   " if band.basis else "", ""), (band.why, "bold $acc"), (" why", "$dim"))
    why = why if band.why else Content("")
    basis = band.basis
    while cell_len(basis) + why.cell_length > free and _PART in basis:  # what stands last goes first
        basis = basis.rpartition(_PART)[0]
    basis_row = Content.styled(clipped(basis, free - why.cell_length), "$dim") + why
    return [*rows, *([basis_row] if len(rows) < most else []), *[Content("")] * most][:most]


def step_content(step: NextStep) -> Content:
    """Return something to do with its key in iris."""
    return Content.assemble(
        step.text, "  " if step.text and step.key else "", (step.key, "bold $acc"), f" {step.does}" if step.key else ""
    )


def small_badge(word: str, token: str, look: ScreenLook) -> Content:
    """Return a badge of one row: a word on its color, or in brackets where there is none."""
    if look in (ScreenLook.PLAIN, ScreenLook.ASCII):
        return Content.styled(f"[{word}]", "bold")
    return Content.styled(f" {word} ", f"bold $ink on ${token}")


def _large_badge(band: Band, columns: int, look: ScreenLook) -> list[Content]:
    columns = max(columns, cell_len(band.word) + 4)
    if look in (ScreenLook.PLAIN, ScreenLook.ASCII):
        edge = "━" * (columns - 2)
        rows = (f"┏{edge}┓", f"┃{band.word.center(columns - 2)}┃", f"┗{edge}┛")
        return [Content.styled(row, "bold") for row in rows]
    return [Content.styled(word.center(columns), f"bold $ink on ${band.status}") for word in ("", band.word, "")]


def _before(before: tuple[str, str, str], look: ScreenLook) -> list[Content]:
    """Return what a change replaced, with an arrow to what it led to."""
    word, token, share = before
    middle = Content.assemble(small_badge(word, token, look), f" {share}", ("  ━━━▶  ", "bold $acc"))
    return [
        row.truncate(middle.cell_length, pad=True) for row in (Content.styled("before", "$dim"), middle, Content(""))
    ]


def large_digits(text: str) -> list[str]:
    """Return a number in three rows of digits; a point or a comma takes one column of the last."""
    places = [(DIGITS.find(character) * _ROWS, character) for character in text]
    return [
        "".join(
            DIGITS3X3_BOLD[at + row].ljust(3) if at >= 0 else character if row == _ROWS - 1 else " "
            for at, character in places
        )
        for row in range(_ROWS)
    ]


def _large_number(number: Number, token: str, look: ScreenLook) -> list[Content]:
    """Return the digits in three rows of one width, and their name beneath."""
    style = f"bold ${token}"
    texts = ["", "", number.text]
    if look is not ScreenLook.ASCII:
        texts = large_digits(number.text)
    width = max(map(len, texts))
    unit = f" {number.unit}" if number.unit else ""
    rows = [
        Content.styled(text.rjust(width) + (unit if line == _ROWS - 1 else " " * len(unit)), style)
        for line, text in enumerate(texts)
    ]
    return [*rows, Content.styled(number.name, "$dim")]
