"""The checks of the terminal in ``sizeup doctor``: type, size, colors, encoding and connection."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from sizeup.terminal.link import Link
from sizeup.text import one_line
from sizeup.units import format_count, format_ns, format_rate
from sizeup.views.machine.doctor import Check, CheckStatus, limited_check

_SLOW_LINE_BYTES_PER_SECOND = 50e3
_SLOW_ANSWER_NS = 150e6

MULTIPLEXERS = ("tmux", "screen")
"""Programs that answer terminal queries themselves and redraw on their own."""


class TerminalFacts(Struct, frozen=True):
    """What the environment and the terminal report."""

    present: bool
    """Both standard input and standard error, where the console draws, are terminals."""
    term: str
    columns: int
    rows: int
    colors: int
    """How many colors the console uses; 0 for none."""
    no_color: bool
    """Whether NO_COLOR is set."""
    locale: str
    locale_utf8: bool
    ascii_only: bool
    """Whether the console uses ASCII characters only."""
    around: tuple[str, ...]
    """Multiplexers and connections between this process and the terminal, nearest first."""
    link: Link | None
    """None if there is no terminal, it was not queried, or it does not answer."""

    @property
    def answerer(self) -> str:
        """Return the multiplexer that answers instead of the terminal; empty without one."""
        return self.around[0] if self.around and self.around[0] in MULTIPLEXERS else ""


def terminal_checks(facts: TerminalFacts) -> Iterator[Check]:
    """Return the checks of the terminal."""
    area = "terminal"
    if not facts.present:
        remedy = "The console needs a terminal on standard input and standard error; sizeup --batch does not."
        yield Check(area, "type", None, "no terminal here", status=CheckStatus.UNAVAILABLE, remedy=remedy)
        return
    dumb = facts.term in ("", "dumb")
    yield Check(
        area,
        "type",
        facts.term,
        one_line(facts.term, 40) or "TERM is not set",
        status=CheckStatus.UNAVAILABLE if dumb else CheckStatus.OK,
        remedy="The console needs a terminal that can move the cursor; set TERM to its type, or use sizeup --batch."
        if dumb
        else "",
    )
    small, size = facts.columns < 80 or facts.rows < 24, f"{facts.columns}x{facts.rows}"
    shown = f"{facts.columns} columns, {facts.rows} rows"
    remedy = "The console needs 80 x 24 to show everything; enlarge the window."
    yield limited_check(area, "size", size, shown, remedy, limited=small)
    yield _colors(facts)
    yield _encoding(facts)
    if facts.around:
        yield Check(area, "reached through", ", ".join(facts.around), ", ".join(facts.around))
    yield _line(facts, asked=not dumb)


def _colors(facts: TerminalFacts) -> Check:
    remedy = ""
    if facts.colors:
        shown = format_count(facts.colors)
        if facts.colors <= 16 and not facts.term.startswith("linux"):
            remedy = "If the terminal supports more colors, set TERM=xterm-256color or COLORTERM=truecolor."
    else:
        shown = f"none ({'NO_COLOR is set' if facts.no_color else 'by TERM'})"
    return Check("terminal", "colors", facts.colors, shown, remedy=remedy)


def _line(facts: TerminalFacts, *, asked: bool) -> Check:
    """Return the check of the connection's speed."""
    area, name = "terminal", "connection"
    if facts.link is None:
        return Check(area, name, None, f"unknown: the terminal {'does not answer' if asked else 'was not queried'}")
    if facts.answerer:
        return Check(area, name, None, f"unknown: {facts.answerer} answers instead of the terminal")
    slow = facts.link.bytes_per_second < _SLOW_LINE_BYTES_PER_SECOND or facts.link.answer_ns > _SLOW_ANSWER_NS
    speed = facts.link.bytes_per_second
    shown = f"latency {format_ns(facts.link.answer_ns)}, bandwidth {format_rate(speed)} or more"
    remedy = "Start the console with sizeup --low-bandwidth, which redraws every 2 s. Measurements are not affected."
    return limited_check(area, name, round(speed), shown, remedy, limited=slow, unit="bytes/s")


def _encoding(facts: TerminalFacts) -> Check:
    """Return the check of the locale's encoding against the one that the terminal draws."""
    draws = facts.link.utf8 if facts.link is not None else None
    locale = one_line(facts.locale, 30)
    shown = f"{'UTF-8' if facts.locale_utf8 else 'not UTF-8'} by the locale ({locale})"
    if draws is not None:
        shown += f", {facts.answerer or 'the terminal'} draws {'UTF-8' if draws else 'single bytes'}"
    remedy = ""
    if facts.locale_utf8 and draws is False:
        remedy = "Lines and charts will be garbled; use sizeup --ascii."
    elif facts.locale_utf8 and facts.ascii_only:
        remedy = "The console uses ASCII, because the font of this terminal lacks most other characters; "
        remedy += "sizeup --glyphs block also uses lines and half blocks."
    elif not facts.locale_utf8 and draws:
        remedy = "The console uses ASCII; set LC_ALL=C.UTF-8 for finer charts."
    elif not facts.locale_utf8:
        remedy = "The console uses ASCII."
    value = "ascii" if facts.ascii_only or draws is False else "utf-8"
    return limited_check("terminal", "encoding", value, shown, remedy, limited=bool(remedy))
