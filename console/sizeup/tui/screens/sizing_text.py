"""The lines of the Sizing mode, folded to their pane, and what it opens: licenses, published cases, factors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby

from msgspec.structs import replace
from textual.content import Content
from textual.widgets.option_list import Option

from sizeup.charts.chart import Axis, BarChart
from sizeup.charts.share_bar import ScreenLook, ShareBar, draw_scale, draw_share, track_sign
from sizeup.charts.table import Table
from sizeup.compare.published_results import PREFIX
from sizeup.model.advice import AdviceSet, Card
from sizeup.model.machine import Machine
from sizeup.report.text import table_lines
from sizeup.session.reader import read_session
from sizeup.sizing.advise import Sizing, described, size
from sizeup.sizing.inputs.presets import find_preset
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.table import Row
from sizeup.sizing.recorded_inputs import session_inputs
from sizeup.sizing.rules import shipped
from sizeup.sizing.sensitivity import Swing, tornado
from sizeup.sizing.session_advice import ShownAdvice
from sizeup.sizing.sizing_comparison import compare_sizings
from sizeup.sizing.verdict import capacity_text, share_text
from sizeup.text import capitalized, cell_len, clipped, padded
from sizeup.tui.dialogs import PageDialog
from sizeup.tui.screens.summary_rows import bar_legend, status_content, styled
from sizeup.tui.widgets.lists import hanging
from sizeup.units import format_in
from sizeup.views.cards.cards import TITLES, card_status
from sizeup.views.inputs.advice import advice_lines
from sizeup.views.inputs.input_names import input_label
from sizeup.views.inputs.sensitivity import FACTORS, cost_of, tornado_chart
from sizeup.views.inputs.sizing_comparison import sizing_comparison_table
from sizeup.views.inputs.sizing_table import NO_WORKLOAD
from sizeup.views.inputs.whatif import ASSUMED, UNKNOWN, InputRow
from sizeup.views.result.band import card_bar, status_token
from sizeup.views.result.licenses import license_table

WIDE = 100
"""Columns from which a page has room for wide tables."""
_LABELS = ("from  ", "rule  ", "id    ")
"""What some lines of a working begin with."""
WORKLOAD_HELP = (
    "No verdict yet",
    "  A verdict compares the demand of a workload with the capacity of this machine.",
    "  Enter what is known of it: IOPS wanted with Share of reads and Block size, or Throughput.",
    "  For a verdict on the CPU, enter CPU utilization; a finds every other input, such as Redo rate.",
    "  {key} asks for these figures, or for a file of them: an AWR, Statspack, sar or iostat report.",
)
"""Heading and text behind the row that asks for a workload; ``{key}`` is that of the workload."""


ANSWERS = "Answers"


def working_lines(given: AdviceSet, chosen: str, recorded: ShownAdvice | None, workload_key: str) -> list[str]:
    """Return heading and working of the chosen row; ``recorded`` is what a session recorded in its place.

    ``workload_key`` asks for the workload.
    """
    if chosen == NO_WORKLOAD:
        return [line.format(key=workload_key) for line in WORKLOAD_HELP]
    advice = given.find(chosen)
    if advice is not None:
        heading, *rest = advice_lines(advice, sources=True)
        old = "" if recorded is None else recorded.recorded_verdict(advice)
        return [heading, *([f"  Recorded: {old}"] if old else []), *rest]
    question = next((item for item in given.questions if chosen == f"? {item.key}"), None)
    if question is None:
        return [""]
    return ["Not answered", question.sentence(f"enter {input_label(question.key)}"), "", "Enter goes to the input."]


def working_line(line: str, width: int) -> str:
    """A line of a working, with what does not fit under its text."""
    words = line.lstrip()
    label = next((len(label) for label in _LABELS if words.startswith(label)), 2)
    return hanging(words, width, len(line) - len(words), len(line) - len(words) + label)


def input_line(row: InputRow, width: int) -> Content:
    """Return label and value: a dot where it was changed with what was found, a tilde where nobody chose it."""
    sign = "●" if row.changed else "~" if row.origin.startswith(ASSUMED) else " "
    value, free = row.value, width - cell_len(row.label) - 3
    was = f"{row.found.removeprefix(ASSUMED).strip()} → " if row.found not in ("", UNKNOWN) else ""
    if cell_len(was + value) > free or was == f"{value} → ":
        was = ""
    shown = Content(value).truncate(max(free, 6), ellipsis=True)
    gap = " " * max(width - 2 - cell_len(row.label) - cell_len(was) - shown.cell_length, 1)
    style = "$dim" if value == UNKNOWN else "bold $hi" if row.changed else "$foreground"
    return Content.assemble(
        (sign, "$acc" if row.changed else "$dim"), f" {row.label}{gap}", (was, "$dim"), shown.stylize(style)
    )


def input_options(rows: Iterable[InputRow], width: int, *, apart: bool = False) -> list[Option]:
    """Return the lines of the inputs, under a heading for each subject; ``apart`` with blank lines between those."""
    options: list[Option] = []
    for question, members in groupby(rows, lambda row: row.question):
        options += [Option("", disabled=True)] if apart and options else []
        options.append(Option(Content.styled(question, "bold $acc"), disabled=True))
        options += [Option(input_line(row, width), id=row.key) for row in members]
    return options


def licenses_page(sizing: Sizing, width: int, what_if: str, in_console: Callable[[str], str]) -> PageDialog:
    """Return every vendor's licenses for a machine; ``what_if`` ends the title.

    ``in_console`` puts keys in the place of options of the command line.
    """
    table = license_table(sizing, shipped())
    table = replace(table, note=in_console(table.note))
    if width < WIDE:
        # The products name their vendors, too.
        rows = tuple(row[1:] for row in table.rows)
        table = Table(table.title, table.columns[1:], rows, note=table.note)
    return PageDialog(table.title + what_if, table_lines(table, width))


def comparison_page(name: str, sizing: Sizing, width: int, what_if: str) -> PageDialog:
    """Return a published case, ``preset:NAME``, or the machine of a session, by its path, beside a machine."""
    if name.startswith(PREFIX):
        preset = find_preset(name.removeprefix(PREFIX))
        other, called = size(preset.values()), preset.name
        heading = [f"{preset.name}: {preset.title}", f"From {preset.source}", capitalized(preset.note)]
    else:
        session = read_session(name)
        other = size(described(session.machine or Machine(), session_inputs(session)))
        called = session.header.host
        heading = [f"{called}, {session.header.started.replace('T', ' ').removesuffix('Z')} UTC", name]
    compared = sizing_comparison_table(compare_sizings(sizing, other, "this machine", called))
    lines = [*(hanging(line, width, 0, 2) for line in heading if line), ""]
    if width >= WIDE:
        lines += table_lines(compared, width)
    else:  # five columns have no room
        for figure, here, there, above, below in compared.rows:
            words = f"{here} here, {there} there; this machine is {above}, the case {below}"
            lines += [hanging(figure, width, 0, 4), hanging(words, width, 2, 4)]
    if not compared.rows:
        lines.append("Nothing to compare: the two have no figure in common.")
    return PageDialog(f"This machine{what_if} compared with {called}", lines)


def factors_chart(sizing: Sizing, answer: str, what_if: str) -> BarChart:
    """Return which inputs move an answer most."""
    advice = sizing.find(answer)
    if advice is None or advice.quantity is None:
        title, note = (
            "Not answered" if advice is None else advice.title,
            "This answer is not a number, so no input moves it.",
        )
        return BarChart(f"{FACTORS}: {title}", Axis(title, "1"), (), note)
    drawn = tornado_chart(advice, tornado(sizing.inputs, advice.id, shipped()), FACTORS)
    return replace(drawn, title=drawn.title + what_if) if what_if else drawn


_NAME, _USED, _WORST = 9, 14, 7
_LEAST_BAR = 10
_MOST_INPUTS = 5
_UNITS = 8
"""Columns of how many licenses are required."""


def share_lines(
    now: Sequence[Card], before: Mapping[str, float | None], width: int, look: ScreenLook, *, high: bool
) -> Content:
    """Return a line for each resource with a demand, its share before and now; where there is room with its figures.

    ``before`` are the shares before the change, by resource.
    """
    cards = [card for card in now if card.demand and card.resource != "license"]
    worst = any(card.n_plus_one is not None or card.last_year is not None for card in cards)
    status = max((cell_len(card_status(card)) for card in cards), default=0) + 2
    columns = width - _NAME - _USED - status - 3 - (_WORST + 1 if worst else 0)
    if not cards:
        return Content.assemble(
            ("w", "bold $acc"), (" enters a workload, whose share of each resource stands here.", "$dim")
        )
    if columns < _LEAST_BAR:
        return _narrow_lines(cards, before, width, look)
    titles = "".join((f"{'Used':>{_USED}}", f"{'Worst':>{_WORST + 1}}" if worst else "", "   Status"))
    lines = [Content.assemble(" " * _NAME, styled(draw_scale(columns)), (titles, "$dim"))]
    for card in cards:
        lines.append(_share_line(card, before.get(card.resource), columns, look, worst=worst))
        if high:
            lines += [_share_note(card).truncate(width, ellipsis=True), Content("")]
    bars = [bar for card in cards if (bar := _changed_bar(card, before.get(card.resource))) is not None]
    years = max(card.horizon_years for card in cards)
    return Content("\n").join([*lines, *([bar_legend(bars, look, years)] if high and bars else [])])


def _narrow_lines(cards: Sequence[Card], before: Mapping[str, float | None], width: int, look: ScreenLook) -> Content:
    """Return two lines for each resource: its share and status, and its bar across the whole width."""
    lines = [styled(draw_scale(width))]
    for card in cards:
        bar = _changed_bar(card, before.get(card.resource))
        used = "" if card.share is None else share_text(card.share)
        used = used if bar is None or bar.before is None else f"{share_text(bar.before)} → {used}"
        status = card_status(card)
        shown = status_content(status, status_token(status.partition(" (")[0]), look)
        gap = " " * max(width - _NAME - cell_len(used) - 2 - shown.cell_length, 1)
        lines.append(
            Content.assemble((TITLES[card.resource].ljust(_NAME), "bold $hi"), gap, (used, "bold $hi"), "  ", shown)
        )
        lines.append(Content("") if bar is None else styled(draw_share(bar, width, look)))
    return Content("\n").join(lines)


def _changed_bar(card: Card, before: float | None) -> ShareBar | None:
    """Return the share of a card as a bar, with what it was ``before`` where the figure changed."""
    bar, changed = card_bar(card), before is not None and share_text(before) != share_text(card.share or 0.0)
    return None if bar is None else replace(bar, before=before if changed else None)


def _share_line(card: Card, before: float | None, columns: int, look: ScreenLook, *, worst: bool) -> Content:
    bar, token = _changed_bar(card, before), status_token(card_status(card).partition(" (")[0])
    used = "" if card.share is None else share_text(card.share)
    was = "" if bar is None or bar.before is None else f"{share_text(bar.before)} → "
    most = max((share for share in (card.n_plus_one, card.last_year) if share is not None), default=None)
    drawn = Content(" " * columns) if bar is None else styled(draw_share(bar, columns, look))
    color = "bold $hi" if "ok" in token else f"bold ${token}"
    return Content.assemble(
        (TITLES[card.resource].ljust(_NAME), "bold $hi"),
        drawn,
        (" " * max(_USED - cell_len(was + used), 0) + was, "$dim"),
        (used, color),
        (f"{'' if most is None else share_text(most):>{_WORST + 1}}" if worst else "", "$foreground"),
        "   ",
        status_content(card_status(card), token, look),
    )


def _share_note(card: Card) -> Content:
    """Return the figures behind a share, and what would pass."""
    parts = [f"{card.demand} of {capacity_text(card.facts)}" if card.facts is not None else card.demand]
    if card.n_plus_one is not None:
        parts.append(f"after a failure {share_text(card.n_plus_one)}")
    if card.last_year is not None:
        parts.append(f"in {format_in(card.horizon_years, 'years')} {share_text(card.last_year)}")
    needs = f"  needs {card.needs}" if card.needs else ""
    return Content.assemble(" " * _NAME, (", ".join(parts), "$dim"), (needs, "$warn"))


def factor_lines(share: float | None, swings: Sequence[Swing], width: int) -> Content:
    """Return how far the share that decides moves with each of its strongest inputs, to both sides of it."""
    if share is None or not swings:
        return Content.styled("No numeric input changes the answer.", "$dim")
    ends = [(min(one.at_low, one.at_high, share), max(one.at_low, one.at_high, share)) for one in swings[:_MOST_INPUTS]]
    label = min(max(cell_len(input_label(one.key)) for one in swings[:_MOST_INPUTS]), max(width - 28, 12))
    half = max((width - label - 16) // 2, 4)
    most = max([abs(end - share) for pair in ends for end in pair] or [1.0]) or 1.0
    lines = [Content.assemble(" " * (label + 6 + half), (share_text(share), "bold $hi"))]
    for swing, (low, high) in zip(swings, ends, strict=False):
        left, right = (round(min(abs(end - share) / most, 1.0) * half) for end in (low, high))
        if not left + right:
            continue
        low_text, high_text = ("" if not columns else share_text(end) for end, columns in ((low, left), (high, right)))
        lines.append(
            Content.assemble(
                padded(clipped(input_label(swing.key), label), label),
                (f"{low_text:>{half - left + 7}} ", "$dim"),
                ("▄" * left, "$s1"),
                ("│", "$hi"),
                ("▄" * right, "$s2"),
                (f" {high_text}", "$dim"),
            )
        )
    return Content("\n").join(lines)


def cost_lines(rows: Sequence[Row], chosen: str, width: int, look: ScreenLook, most_rows: int) -> Content:
    """Return what editions cost over the term, those of the chosen vendor first, with bars on one scale."""
    known = sorted(
        (row for row in rows if row.term_cost is not None or row.forbidden or (row.missing and row.pack == chosen)),
        key=lambda row: row.pack != chosen,
    )[:most_rows]
    if not known:
        return Content.styled("Unknown: the license count lacks an input.", "$dim")
    most = max((row.term_cost.value for row in known if row.term_cost is not None), default=0.0) or 1.0
    name = max(cell_len(row.title) for row in known) + 2
    price = max(cell_len(_price(row)) for row in known) + 1
    columns = width - name - price - _UNITS
    if columns < _LEAST_BAR // 2:  # the names and prices go before the bars
        columns, name = 0, max(width - price - _UNITS, 8)
    lines = []
    for number, row in enumerate(known):
        value = 0.0 if row.term_cost is None else row.term_cost.value
        full = round(value / most * columns)
        units = "" if row.units is None or row.free or row.forbidden else f"{row.units.value:g} x"
        cost, style = _price(row), "bold $hi" if not number else "$foreground"
        gap = price - cell_len(cost)
        shown: tuple[tuple[str, str], ...] = (
            (f"{units:<{_UNITS}}", "$dim"),
            ("▄" * full, "$s4"),
            (track_sign(look) * (columns - full) + " " * gap, "$track"),
        )
        if row.term_cost is None:
            room = _UNITS + columns + gap
            needs = f"needs {input_label(row.missing)}" if row.missing in KEYS else row.missing
            shown = ((padded(clipped(needs, room - 1), room), "$dim"),)
        title = padded(clipped(row.title, name), name)
        lines.append(Content.assemble((title, "bold $hi" if not number else ""), *shown, (cost, style)))
    return Content("\n").join(lines)


def _price(row: Row) -> str:
    return "not permitted" if row.forbidden else "unknown" if row.missing else cost_of(row)
