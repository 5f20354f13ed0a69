"""What the first screen says, in styled lines: the verdict, the cards and the findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace
from textual.content import Content

from sizeup.model.finding import Finding
from sizeup.text import cell_len, plural
from sizeup.tui.option_text import by_keys
from sizeup.tui.widgets.lists import hanging
from sizeup.views.cards.table import CardLine
from sizeup.views.result.summary import SEVERITY_WORDS, Summary, finding_line
from sizeup.views.result.verdict import VerdictText

_FINDING_INDENT = 9
"""Columns of the severity and what separates it."""
_NARROW = 60
"""On fewer columns what decides stands below its status."""


class StatusStyles(Struct, frozen=True):
    """What a status word looks like, and the meter beside it."""

    badges: Mapping[str, str]
    """On a color of their own, so that the words stay legible on a cursor of any color."""
    meters: Mapping[str, str]


_COLORS = {"FAIL": "$error", "WARN": "$warning", "NOT CERTAIN": "$warning", "PASS": "$success"}
_ANSI_COLORS = {"FAIL": "ansi_red", "WARN": "ansi_yellow", "NOT CERTAIN": "ansi_yellow", "PASS": "ansi_green"}
_STYLES = StatusStyles({word: f"bold auto 95% on {color}" for word, color in _COLORS.items()}, _COLORS)
_ANSI_STYLES = StatusStyles(
    {word: f"ansi_black on {color}" for word, color in _ANSI_COLORS.items()}
    | {"FAIL": "bold ansi_bright_white on ansi_red"},
    _ANSI_COLORS,
)


def in_console(shown: Summary, keymap: Mapping[str, str]) -> Summary:
    """Return what is shown with keys of the console in place of options of the command line."""
    verdict = shown.verdict
    return replace(
        shown,
        verdict=replace(verdict, statement=by_keys(verdict.statement, keymap), fix=by_keys(verdict.fix, keymap)),
        findings=tuple(
            (key, replace(finding, remedy=by_keys(finding.remedy, keymap))) for key, finding in shown.findings
        ),
    )


def status_styles(*, ansi: bool) -> StatusStyles:
    """Return the styles of a theme that leaves its colors to the terminal, or of one that has its own."""
    return _ANSI_STYLES if ansi else _STYLES


_MORE_TEXT = "Enter on the card shows the rest."


def verdict_content(
    verdict: VerdictText, width: int, styles: StatusStyles, most_rows: int, more: str = _MORE_TEXT
) -> Content:
    """Return the verdict in lines: what decides, what to do, what it rests on; a rule of thumb is dim.

    Of what decides, the sentences that have room in ``most_rows`` rows are shown, and the first in any case; ``more``
    says where the rest stands.
    """
    badge = styles.badges.get(verdict.status)
    word = f" {verdict.label} "
    below = width < _NARROW and len(word) > 8
    indent = 8 if below else max(len(word) + 3, 8)
    statement = _first_sentences(verdict.statement, width, indent, most_rows, more)
    shown = f"\n{statement}" if below else statement[len(word) + 1 :]
    parts: list[str | tuple[str, str]] = [" ", (word, badge or "bold reverse"), shown]
    for name, text in (("Fix", verdict.fix), ("Basis", verdict.basis)):
        if text:
            parts += ["\n", (f"  {name}", "bold"), hanging(text, width, indent, indent)[len(name) + 2 :]]
    return Content.assemble(*parts)


def _first_sentences(text: str, width: int, indent: int, most_rows: int, more: str) -> str:
    """Return a text folded behind an indent, cut at the end of a sentence where it has no room."""
    folded = hanging(text, width, indent, indent)
    sentences = text.split(". ")
    while folded.count("\n") >= most_rows and len(sentences) > 1:
        sentences.pop()
        folded = hanging(f"{'. '.join(sentences)}. {more}", width, indent, indent)
    return folded


def card_content(line: CardLine, styles: StatusStyles) -> Content:
    """Return a card with its meter and its status in color."""
    start, end = line.meter
    badge = styles.badges.get(line.status, "")
    return Content.assemble(
        " ",
        line.text[:start],
        (line.text[start:end], styles.meters.get(line.status, "")),
        line.text[end:].removesuffix(" ") if badge else line.text[end:],
        (f" {line.label} " if badge else line.label, badge),
    )


def findings_heading(shown: Summary) -> Content:
    """Return the line above the findings: how many there are, and how many of each severity."""
    count = len(shown.findings)
    words = Counter(SEVERITY_WORDS[finding.severity] for _, finding in shown.findings)
    counts = f" ({', '.join(f'{number} {word}' for word, number in words.items())})" if words else ""
    return Content.assemble(" ", (plural(count, "finding") if count else "No findings", "bold"), counts)


def finding_content(finding: Finding, styles: StatusStyles, wide: int = 0, fold: int = 0) -> Content:
    """Return a finding in a line: its severity and what is wrong; within ``wide`` columns what follows, too.

    Folded to the width ``fold`` where there is one.
    """
    word, title = SEVERITY_WORDS[finding.severity], finding_line(finding)
    line: list[str | tuple[str, str]] = [" ", (f" {word} ", styles.badges.get(word, "")), "  "]
    if wide and cell_len(title) <= wide:
        line += [title + " " * (wide - cell_len(title)), "  ", (finding.consequence, "dim")]
    else:
        line.append(hanging(title, fold, _FINDING_INDENT, _FINDING_INDENT)[_FINDING_INDENT:] if fold else title)
    return Content.assemble(*line)
