"""Findings that probes state: a sentence beside an estimate becomes a finding with its figure as evidence."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from sizeup.model.finding import Finding, Severity
from sizeup.model.sample import Estimate
from sizeup.session.validity import StepValidity
from sizeup.session.value import Point, Session, StepRun
from sizeup.text import uncapitalized
from sizeup.units import format_value


def probe_findings(session: Session) -> tuple[Finding, ...]:
    """One finding per estimate whose ``extra`` holds a ``statement``, in the order of the steps.

    ``consequence``, ``remedy``, ``severity`` and ``evidence`` (a line each) beside it are taken where the probe gives
    them; without ``evidence`` it is the figure with its caveats. A later
    round of a step may repeat a statement; only the last one counts. A statement that rests on a figure that is not
    valid is left out where it is information only; else it is marked, has the severity information, and never
    replaces one that is valid.
    """
    findings: dict[str, Finding] = {}
    for run in session.steps.values():
        for finding, valid in _of_step(run):
            if valid or finding.id not in findings:
                findings[finding.id] = finding
    return tuple(findings.values())


def _of_step(run: StepRun) -> Iterator[tuple[Finding, bool]]:
    """Each finding, and whether its figure is valid."""
    validity = StepValidity(run)
    for point in run.points.values():
        if point.estimate is not None and "statement" in point.estimate.extra:
            finding = _finding(run, point, point.estimate)
            invalid = validity.of(point)
            if invalid is not None:
                if finding.severity is Severity.INFO:
                    continue  # it neither warns nor informs
                title = f"{finding.title} (not valid: {invalid.cause})"
                evidence = (*finding.evidence, invalid.sentence())
                finding = replace(finding, title=title, severity=Severity.INFO, evidence=evidence)
            yield finding, invalid is None


def _coordinate_text(name: str, value: str | int | float) -> str:
    return value if isinstance(value, str) else f"{name.replace('_', ' ')} {format_value(value, '1')}"


def _finding(run: StepRun, point: Point, estimate: Estimate) -> Finding:
    extra = {name: str(value) for name, value in estimate.extra.items()}
    series = run.series.get(point.series)
    unit = series.unit if series is not None else ""
    what = point.series if series is None else uncapitalized(series.title)
    where = ", ".join(_coordinate_text(name, value) for name, value in point.at.items())
    figure = format_value(estimate.value, unit)
    apart = point.at.get(series.findings_by) if series is not None else None
    return Finding(
        id=f"{run.step.probe}.{point.series}{f'.{apart}' if apart else ''}",
        severity=Severity(extra.get("severity", Severity.INFO.value)),
        title=extra["statement"],
        evidence=tuple(extra.get("evidence", "").splitlines())
        or (f"{run.step.title}, {what}{f' at {where}' if where else ''}: {figure}", *estimate.caveats),
        consequence=extra.get("consequence", ""),
        remedy=extra.get("remedy", ""),
        probe=run.step.probe,
    )
