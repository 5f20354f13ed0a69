"""A machine as plain text, calm and within the width of a terminal."""

from __future__ import annotations

import textwrap

from sizeup.compare.machines import Difference
from sizeup.discovery.findings.memory import growth_findings
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import Machine
from sizeup.report.table import table_lines, wrap
from sizeup.views.difference import MachineComparison
from sizeup.views.machine import growth_section, machine_sections
from sizeup.views.section import Section
from sizeup.views.topology_item import ItemChange

_LABEL_COLUMNS = 14
_GAPS_SHOWN = 5
FINDINGS_PAGE = "  Every finding, its thresholds and its remedies: sizeup help findings"


def section_lines(section: Section, width: int) -> list[str]:
    """Heading, facts with their labels in a column, then the table."""
    lines = [section.title]
    for label, text in section.facts:
        wrapped = wrap(text, width - _LABEL_COLUMNS - 2, break_words=False) or [""]
        lines.append(f"  {label:<{_LABEL_COLUMNS}}{wrapped[0]}")
        lines.extend(" " * (_LABEL_COLUMNS + 2) + rest for rest in wrapped[1:])
    if section.table is not None:
        lines.extend(table_lines(section.table, width))
    return lines


def finding_lines(finding: Finding, width: int) -> list[str]:
    """Severity and title, then evidence, consequence and what to do."""
    lines = [f"  {finding.severity.value}: {finding.title}"]
    for text in (*finding.evidence, finding.consequence, finding.remedy):
        # An address stays whole, so that it can be copied.
        lines.extend(wrap(text, width, "    ", "      ", break_words="://" not in text))
    lines.extend(f"      {command}" for command in finding.command.splitlines())
    return lines


def machine_text(machine: Machine, width: int = 80, only: str | None = None) -> str:
    """Everything a first look needs, or the part called ``only`` (``PARTS``); ``--json`` has the rest."""
    lines: list[str] = []
    for section in machine_sections(machine, only):
        lines.extend([*section_lines(section, width), ""])
    if only not in (None, "findings"):
        return "\n".join(lines[:-1]) + "\n" if lines else f"This machine has nothing to show under {only}.\n"
    if only == "findings" and not machine.findings:
        lines.extend(["No findings.", ""])
    if machine.findings:
        order = list(Severity)
        lines.append("Findings")
        for finding in sorted(machine.findings, key=lambda finding: order.index(finding.severity)):
            lines.extend(finding_lines(finding, width))
        lines.extend(["", FINDINGS_PAGE, ""])
    if machine.gaps:
        lines.append("Not readable")
        for gap in machine.gaps[:_GAPS_SHOWN]:
            lines.extend(
                textwrap.wrap(f"{gap.subject}: {gap.reason}", width, initial_indent="  ", subsequent_indent="    ")
            )
        if len(machine.gaps) > _GAPS_SHOWN:
            lines.append(f"  and {len(machine.gaps) - _GAPS_SHOWN} more; --json lists them")
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


def growth_text(before: Machine, after: Machine, width: int = 80) -> str:
    """Two looks at the memory of each node, and what to know about the difference."""
    lines = section_lines(growth_section(before, after), width)
    found = growth_findings(before, after)
    if found:
        lines += ["", "Findings"]
        for finding in found:
            lines.extend(finding_lines(finding, width))
    return "\n".join(lines) + "\n"


def differences_text(differences: tuple[Difference, ...], comparison: MachineComparison, width: int = 80) -> str:
    """Each fact that differs, with both values one under the other: they may be long; then the parts that differ."""
    lines: list[str] = []
    for difference in differences:
        lines.append(difference.what)
        for label, text in (("this", difference.new), ("other", difference.baseline)):
            wrapped = textwrap.wrap(text, width - 9) or [""]
            lines.append(f"  {label:<5}  {wrapped[0]}")
            lines.extend(" " * 9 + rest for rest in wrapped[1:])
    parts = [part for part in comparison.parts if part.key != "machine"]
    if parts:
        lines += ["", "Parts, from the other machine to this one"]
    for part in parts:
        lines.extend(textwrap.wrap(part.label, width, initial_indent="  ", subsequent_indent="    "))
        for name, value in part.facts:
            if part.change is ItemChange.CHANGED and name.startswith(ItemChange.CHANGED.sign):
                lines.extend(
                    textwrap.wrap(f"{name}: {value}", width, initial_indent="      ", subsequent_indent=" " * 8)
                )
    return "\n".join(lines) + "\n" if lines else "no difference\n"
