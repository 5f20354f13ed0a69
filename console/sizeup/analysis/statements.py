"""Findings that probes state: a sentence beside an estimate becomes a finding with its figure as evidence."""

from __future__ import annotations

from collections.abc import Iterator

from sizeup.model.finding import Finding, Severity
from sizeup.model.sample import Estimate
from sizeup.session.value import Point, Session, StepRun
from sizeup.units import format_value


def stated(session: Session) -> tuple[Finding, ...]:
    """One finding per estimate whose ``extra`` holds a ``statement``, in the order of the steps.

    ``consequence``, ``remedy`` and ``severity`` beside it are taken where the probe gives them. A later
    round of a step says the same again; only its last word counts.
    """
    findings = {finding.id: finding for run in session.steps.values() for finding in _of_step(run)}
    return tuple(findings.values())


def _of_step(run: StepRun) -> Iterator[Finding]:
    for point in run.points.values():
        if point.estimate is not None and "statement" in point.estimate.extra:
            yield _finding(run, point, point.estimate)


def _placed(name: str, value: str | int | float) -> str:
    return value if isinstance(value, str) else f"{name.replace('_', ' ')} {format_value(value, '1')}"


def _finding(run: StepRun, point: Point, estimate: Estimate) -> Finding:
    said = {name: str(value) for name, value in estimate.extra.items()}
    series = run.series.get(point.series)
    unit = series.unit if series is not None else ""
    what = point.series if series is None else f"{series.title[:1].lower()}{series.title[1:]}"
    where = ", ".join(_placed(name, value) for name, value in point.at.items())
    figure = format_value(estimate.value, unit)
    workload = point.at.get("workload")
    return Finding(
        id=f"{run.step.probe}.{point.series}{f'.{workload}' if workload else ''}",
        severity=Severity(said.get("severity", Severity.INFO.value)),
        title=said["statement"],
        evidence=(f"{run.step.title}, {what}{f' at {where}' if where else ''}: {figure}", *estimate.doubts),
        consequence=said.get("consequence", ""),
        remedy=said.get("remedy", ""),
        probe=run.step.probe,
    )
