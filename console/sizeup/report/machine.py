"""A machine, and how it differs from another, as plain text, calm and within the width of a terminal."""

from __future__ import annotations

from sizeup.compare.drift import Drift
from sizeup.discovery.findings.memory import growth_findings
from sizeup.model.finding import Finding, gravity
from sizeup.model.machine import Machine
from sizeup.report.table import PROSE_COLUMNS, table_lines
from sizeup.text import plural, wrap
from sizeup.views.comparison.drift import fact_table
from sizeup.views.machine.difference import MachineComparison
from sizeup.views.machine.machine import growth_section, machine_sections
from sizeup.views.machine.section import Section

_LABEL_COLUMNS = 14
_GAPS_SHOWN = 5
FINDINGS_PAGE = "  Every finding, its thresholds and its remedies: sizeup help findings"


def section_lines(section: Section, width: int | None) -> list[str]:
    """Heading, facts with their labels in a column, then the table."""
    lines = [section.title]
    for label, text in section.facts:
        wrapped = wrap(text, (width or PROSE_COLUMNS) - _LABEL_COLUMNS - 2, break_words=False) or [""]
        lines.append(f"  {label:<{_LABEL_COLUMNS}}{wrapped[0]}")
        lines.extend(" " * (_LABEL_COLUMNS + 2) + rest for rest in wrapped[1:])
    if section.table is not None:
        lines.extend(table_lines(section.table, width))
    return lines


def finding_lines(finding: Finding, width: int) -> list[str]:
    """Severity and title, then evidence, consequence and what to do."""
    lines = [f"  {finding.severity.value}: {finding.title}"]
    for text in (*finding.evidence, finding.consequence, finding.remedy):
        # Names and addresses stay whole, so that they can be copied and found.
        lines.extend(wrap(text, width, "    ", "      ", break_words=False))
    lines.extend(f"      {command}" for command in finding.command.splitlines())
    return lines


def machine_text(machine: Machine, width: int | None = PROSE_COLUMNS, only: str | None = None) -> str:
    """Everything a first look needs, or the part called ``only`` (``PARTS``); ``--json`` has the rest.

    Without a ``width``, each row of a table is one line, so that tools find it.
    """
    lines: list[str] = []
    sections = machine_sections(machine, only)
    for section in sections:
        lines.extend([*section_lines(section, width), ""])
    width = width or PROSE_COLUMNS
    if only not in (None, "findings"):
        return "\n".join(lines[:-1]) + "\n" if lines else f"This machine has nothing to show under {only}.\n"
    if only == "findings" and not machine.findings:
        lines.extend(["No findings.", ""])
    if machine.findings:
        lines.append("Findings")
        for finding in sorted(machine.findings, key=gravity):
            lines.extend(finding_lines(finding, width))
        lines.extend(["", FINDINGS_PAGE, ""])
    stated = "\n".join(f"{label}: {text}" for section in sections for label, text in section.facts)
    gaps = [text for gap in machine.gaps if (text := f"{gap.subject}: {gap.reason}") not in stated]
    if gaps:
        lines.append("Not readable")
        for text in gaps[:_GAPS_SHOWN]:
            lines.extend(wrap(text, width, "  ", "    ", break_words=False))
        if len(gaps) > _GAPS_SHOWN:
            lines.append(f"  and {len(gaps) - _GAPS_SHOWN} more; --json lists them")
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


def growth_text(before: Machine, after: Machine, width: int | None = PROSE_COLUMNS) -> str:
    """Two looks at the memory of each node, and what to know about the difference."""
    lines = section_lines(growth_section(before, after), width)
    found = growth_findings(before, after)
    if found:
        lines += ["", "Findings"]
        for finding in found:
            lines.extend(finding_lines(finding, width or PROSE_COLUMNS))
    return "\n".join(lines) + "\n"


def differences_text(comparison: MachineComparison, columns: int | None = PROSE_COLUMNS) -> str:
    """Each fact that differs, with both values one under the other: they may be long; then the parts that differ."""
    width = columns or PROSE_COLUMNS
    lines: list[str] = []
    for difference in comparison.root.changed:
        lines.append(difference.what)
        for label, text in (("this", difference.new), ("other", difference.baseline)):
            wrapped = wrap(text, width - 9, break_words=False) or [""]
            lines.append(f"  {label:<5}  {wrapped[0]}")
            lines.extend(" " * 9 + rest for rest in wrapped[1:])
    parts = [part for part in comparison.parts if part.key != "machine"]
    if parts:
        lines += ["", "Parts, from the other machine to this one"]
    for part in parts:
        lines.extend(wrap(part.marked_label, width, "  ", "    ", break_words=False))
        for name, value in part.facts[: len(part.changed)]:
            lines.extend(wrap(f"{name}: {value}", width, "      ", " " * 8, break_words=False))
    return "\n".join(lines) + "\n" if lines else "no difference\n"


def drift_text(found: Drift, width: int = 80) -> str:
    """Return the facts that drifted, then those that only one side knows."""
    other = f"The baseline is of another machine: {found.other_machine}." if found.other_machine else ""
    total = plural(found.compared, "fact")
    drifted = f"{len(found.drifted)} of {total} drifted" if found.drifted else f"Nothing drifted: {total} compared"
    lines = [*wrap(other, width), drifted]
    if found.drifted:
        lines += table_lines(fact_table(found.drifted), width)
    if found.undecided:
        lines += ["", "Not comparable, because one side does not know them"]
        lines += table_lines(fact_table(found.undecided), width)
    return "\n".join(lines) + "\n"
