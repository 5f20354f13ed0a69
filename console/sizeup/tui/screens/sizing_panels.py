"""The panels of the Sizing mode: shares before and after a change, what changes the answer most, and cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace
from textual.content import Content

from sizeup.charts.share_bar import ScreenLook, draw_scale, draw_share, mark_sign
from sizeup.model.advice import Card
from sizeup.sizing.licensing.table import Row
from sizeup.sizing.sensitivity import Swing
from sizeup.sizing.verdict import capacity_text, share_text
from sizeup.text import cell_len
from sizeup.tui.screens.summary_rows import status_content, styled
from sizeup.views.cards.cards import TITLES, card_status
from sizeup.views.inputs.input_names import input_label
from sizeup.views.inputs.sensitivity import cost_of
from sizeup.views.result.band import card_bar, status_token

_NAME, _USED, _WORST = 9, 13, 7
_LEAST_BAR = 10
_MOST_INPUTS = 5
_LABEL = 24
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
            lines += [_share_note(card), Content("")]
    legend = [("before", "before the change"), ("n_plus_one", "N+1"), ("last_year", "last year")]
    signs = [part for name, text in legend for part in ((mark_sign(name, look), "$hi"), (f" {text}   ", "$dim"))]
    return Content("\n").join([*lines, *([Content.assemble(" " * _NAME, *signs)] if high else [])])


def _narrow_lines(cards: Sequence[Card], before: Mapping[str, float | None], width: int, look: ScreenLook) -> Content:
    """Return two lines for each resource: its share and status, and its bar across the whole width."""
    lines = [styled(draw_scale(width))]
    for card in cards:
        was, bar = before.get(card.resource), card_bar(card)
        used = "" if card.share is None else share_text(card.share)
        was = None if was is None or used in ("", share_text(was)) else was
        used = used if was is None else f"{share_text(was)} → {used}"
        status = card_status(card) if card.share is not None else "NO VERDICT"
        shown = status_content(status, status_token(status.partition(" (")[0]), look)
        gap = " " * max(width - _NAME - cell_len(used) - 2 - shown.cell_length, 1)
        lines.append(
            Content.assemble((TITLES[card.resource].ljust(_NAME), "bold $hi"), gap, (used, "bold $hi"), "  ", shown)
        )
        lines.append(Content("") if bar is None else styled(draw_share(replace(bar, before=was), width, look)))
    return Content("\n").join(lines)


def _share_line(card: Card, before: float | None, columns: int, look: ScreenLook, *, worst: bool) -> Content:
    bar, token = card_bar(card), status_token(card_status(card).partition(" (")[0])
    changed = before is not None and card.share is not None and share_text(before) != share_text(card.share)
    used = "" if card.share is None else share_text(card.share)
    was = f"{share_text(before)} → " if changed and before is not None else ""
    most = max((share for share in (card.n_plus_one, card.last_year) if share is not None), default=None)
    drawn = Content(" " * columns)
    if bar is not None:
        drawn = styled(draw_share(replace(bar, before=before if changed else None), columns, look))
    color = "bold $hi" if "ok" in token else f"bold ${token}"
    status = card_status(card) if card.share is not None else "NO VERDICT"
    return Content.assemble(
        (TITLES[card.resource].ljust(_NAME), "bold $hi"),
        drawn,
        (" " * max(_USED - cell_len(was + used), 0) + was, "$dim"),
        (used, color),
        (f"{'' if most is None else share_text(most):>{_WORST + 1}}" if worst else "", "$foreground"),
        "   ",
        status_content(status, token, look),
    )


def _share_note(card: Card) -> Content:
    """Return the figures behind a share, and what would pass."""
    parts = [f"{card.demand} of {capacity_text(card.facts)}" if card.facts is not None else card.demand]
    if card.n_plus_one is not None:
        parts.append(f"after a failure {share_text(card.n_plus_one)}")
    if card.last_year is not None:
        parts.append(f"in {card.horizon_years:g} years {share_text(card.last_year)}")
    needs = f"  needs {card.needs}" if card.needs else ""
    return Content.assemble(" " * _NAME, (", ".join(parts), "$dim"), (needs, "$warn"))


def factor_lines(share: float | None, swings: Sequence[Swing], width: int, look: ScreenLook) -> Content:
    """Return how far the share that decides moves with each of its strongest inputs, to both sides of it."""
    if share is None or not swings:
        return Content.styled("No numeric input changes the answer.", "$dim")
    ends = [(min(one.at_low, one.at_high), max(one.at_low, one.at_high)) for one in swings[:_MOST_INPUTS]]
    half = max((width - _LABEL - 16) // 2, 4)
    most = max([abs(end - share) for pair in ends for end in pair] or [1.0]) or 1.0
    sign, middle = ("=", "|") if look is ScreenLook.ASCII else ("▄", "│")
    lines = [Content.assemble(" " * (_LABEL + 6 + half), (share_text(share), "bold $hi"))]
    for swing, (low, high) in zip(swings, ends, strict=False):
        left, right = (round(min(abs(end - share) / most, 1.0) * half) for end in (low, high))
        low_text, high_text = ("" if not columns else share_text(end) for end, columns in ((low, left), (high, right)))
        lines.append(
            Content.assemble(
                Content(input_label(swing.key)).truncate(_LABEL, ellipsis=True, pad=True),
                (f"{low_text:>{half - left + 7}} ", "$dim"),
                (sign * left, "$s1"),
                (middle, "$hi"),
                (sign * right, "$s2"),
                (f" {high_text}", "$dim"),
            )
        )
    return Content("\n").join(lines)


def cost_lines(rows: Sequence[Row], chosen: str, width: int, look: ScreenLook, most_rows: int) -> Content:
    """Return what editions cost over the term, those of the chosen vendor first, with bars on one scale."""
    known = sorted(
        (row for row in rows if row.term_cost is not None or row.forbidden), key=lambda row: row.pack != chosen
    )[:most_rows]
    if not known:
        return Content.styled("Unknown: the license count lacks an input.", "$dim")
    most = max((row.term_cost.value for row in known if row.term_cost is not None), default=0.0) or 1.0
    name = max(cell_len(row.title) for row in known) + 2
    price = max(cell_len(_price(row)) for row in known) + 1
    columns = width - name - price - _UNITS
    if columns < _LEAST_BAR // 2:  # the names and prices go before the bars
        columns, name = 0, max(width - price - _UNITS, 8)
    sign = "=" if look is ScreenLook.ASCII else "▄"
    lines = []
    for number, row in enumerate(known):
        value = 0.0 if row.term_cost is None else row.term_cost.value
        full = round(value / most * columns)
        units = "" if row.units is None or row.free or row.forbidden else f"{row.units.value:g} x"
        bars = ((sign * full, "$s4"), (sign * (columns - full), "$track"))
        shown = bars if not row.forbidden else ((" " * columns, ""),)
        lines.append(
            Content.assemble(
                (Content(row.title).truncate(name, ellipsis=True, pad=True).plain, "bold $hi" if not number else ""),
                (f"{units:<{_UNITS}}", "$dim"),
                *shown,
                (f"{_price(row):>{price}}", "bold $hi" if not number else "$foreground"),
            )
        )
    return Content("\n").join(lines)


def _price(row: Row) -> str:
    return "not permitted" if row.forbidden else cost_of(row)
