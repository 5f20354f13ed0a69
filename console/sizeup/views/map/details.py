"""What is known of the selected part: what is wrong with it, why that matters and what to do, then its facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from sizeup.model.finding import Finding, Severity, gravity
from sizeup.model.machine import Machine
from sizeup.text import capitalized, plural
from sizeup.views.band import Band, NextStep
from sizeup.views.machine.facts import machine_line
from sizeup.views.machine.topology_item import TopologyItem, every, find
from sizeup.views.map.cells import Cell, Row, beside, wrapped
from sizeup.views.result.summary import SEVERITY_WORDS

_ROLES = {Severity.CRITICAL: "status-fail", Severity.WARNING: "status-warn", Severity.INFO: "dim"}
Problem = tuple[Severity, str, TopologyItem | None, str]
"""How much it matters, what is wrong, with which part, and what to do about it."""
_LEAST_COLUMN = 38
"""Columns that a column of facts needs beside another one."""
_GAP = 2


def details(item: TopologyItem, findings: Sequence[Finding], width: int, rows: int) -> list[Row]:
    """Return findings and facts about a part in at most so many rows, and how many facts are left out."""
    told = about(item, findings)
    advice = [[*_named("Why care", one.consequence, 8, width), *_named("Do", one.remedy, 8, width)] for one in told]
    whole = len(told) == 1 or sum(map(len, advice)) <= rows // 3
    lines: list[Row] = []
    for finding, words in zip(told, advice, strict=True):
        role, word = _ROLES[finding.severity], SEVERITY_WORDS[finding.severity]
        first, *rest = wrapped(capitalized(finding.title), width - len(word) - 3, "text")
        sign = "▼" if finding.severity is Severity.CRITICAL else "▲"
        entry: list[Row] = [(Cell(f"{sign} {word} ", role), *first)]
        entry += [(Cell(" " * (len(word) + 3), "text"), *row) for row in rest]
        entry += words if whole else ()
        if lines and len(lines) + len(entry) > rows - 1:
            left = len(told) - told.index(finding)
            lines.append((Cell(f"{plural(left, 'more finding')}: 1 Summary", "dim"),))
            break
        lines += entry
    left_rows = rows - len(lines) - bool(lines)
    if left_rows < 1 or not item.facts:
        return lines[:rows]
    return [*lines, *([()] if lines else []), *_facts(item.facts, width, left_rows)]


def about(item: TopologyItem, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings about a part, the gravest first; for the machine all, which say what is wrong where."""
    keys = {item.key, *item.also}
    whole = item.key == "machine"
    told = [
        one for one in findings if (one.severity is not Severity.INFO if whole else keys.intersection(one.subjects))
    ]
    return sorted(told, key=gravity)


def _named(name: str, text: str, names: int, width: int) -> Iterator[Row]:
    for number, row in enumerate(wrapped(text, width - names - _GAP, "text")):
        yield (Cell(f"{'' if number else name:{names}}{' ' * _GAP}", "dim"), *row)


def _facts(facts: Sequence[tuple[str, str]], width: int, rows: int) -> list[Row]:
    """Return facts in one column, or in several where one is too high; the last row counts what is left out."""
    most = max(width // _LEAST_COLUMN, 1)
    for count in range(1, most + 1):
        each = (width - _GAP * (count - 1)) // count
        names = min(max(len(name) for name, _ in facts), each // 2)
        entries = [list(_named(name, text, names, each)) for name, text in facts]
        columns, left = _filled(entries, count, rows)
        if not left or count == most:
            shown = beside(columns, [each] * len(columns), _GAP)
            return [*shown[: rows - 1], (Cell(f"{plural(left, 'more fact')}: t", "dim"),)] if left else shown
    return []


def _filled(entries: Sequence[Sequence[Row]], count: int, rows: int) -> tuple[list[list[Row]], int]:
    """Return entries in columns of at most so many rows, and how many have no room."""
    columns: list[list[Row]] = [[]]
    for number, entry in enumerate(entries):
        if len(columns[-1]) + len(entry) > rows - (len(columns) == count and number < len(entries) - 1):
            if len(columns) == count:
                return columns, len(entries) - number
            columns.append([])
        columns[-1] += entry
    return columns, 0


def problems(root: TopologyItem, findings: Sequence[Finding]) -> list[Problem]:
    """Return the findings, the gravest first, and the faults of parts that no finding is about."""
    told = about(replace(root, key="machine"), findings)
    found: list[Problem] = []
    for finding in told:
        ways = [find(root, subject) for subject in finding.subjects]
        part = next((way[-1] for way in ways if way), None)
        found.append((finding.severity, capitalized(finding.title), part, finding.remedy))
    named = {subject for finding in findings for subject in finding.subjects}
    others = [item for item in every(root) if item.trouble and named.isdisjoint((item.key, *item.also))]
    return [*found, *((Severity.WARNING, f"{item.name}: {item.trouble}", item, "") for item in others)]


def topology_band(machine: Machine, found: Sequence[Problem], place: str) -> Band:
    """Return the band of a machine: what is gravest and what to do, and what it is; ``place`` goes there."""
    words = f"{machine_line(machine)}."
    if not found:
        return Band("OK", "ok", words, basis="No problem was found in devices and settings")
    grave = [severity for severity, *_ in found if severity is Severity.CRITICAL]
    severity, text, part, remedy = found[0]
    step = NextStep(remedy, *((place, "goes there") if part is not None else ("1", "says why")))
    word = f"{len(grave or found)} {SEVERITY_WORDS[severity]}"
    return Band(word, "bad" if grave else "warn", f"{text}.", steps=(step,), basis=words)
