"""The fleet for programs: one JSON document, one CSV row for each figure of each host, and JUnit XML."""

from __future__ import annotations

import codecs
import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from sizeup.charts.markup import Markup, element
from sizeup.compare.profile import AcceptanceResult
from sizeup.fleet.against import FleetDrift
from sizeup.fleet.fleet import FileProblem, Fleet, Host, Outlier, usable
from sizeup.fleet.host_session import HostFigure
from sizeup.fleet.profile import Acceptance
from sizeup.fleet.synchronized import SynchronizedRun
from sizeup.report.data import inert

SCHEMA = "sizeup.fleet/1"
COLUMNS = (
    "host", "machine_type", "model", "cpu", "sockets", "cores", "memory_bytes", "status", "card", "figure", "title",
    "unit", "better", "value", "low", "high", "state", "workload", "peers_median", "ratio", "outlier", "session",
    "started",
)  # fmt: skip


def fleet_data(
    fleet: Fleet,
    accepted: Sequence[Acceptance] = (),
    drift: FleetDrift | None = None,
    runs: Sequence[SynchronizedRun] = (),
) -> dict[str, Any]:
    """Return the document of ``--json``, in base units."""
    return {
        "schema": SCHEMA,
        "hosts": [
            {
                "host": host.name,
                "machine_type": host.type.name,
                "compared_with": host.compared_as.name,
                "status": host.status.value,
                "run": host.sessions[0].grade or None,
                "run_sentence": host.sessions[0].sentence,
                "sessions": [{"path": one.path, "id": one.id, "started": one.started} for one in host.sessions],
                "figures": [
                    {
                        **figure_data(figure),
                        "state": figure_state(host, figure),
                        "reason": figure.invalid or None,
                        "workload": figure.workload,
                        "peers_median": _peers_median(fleet, host, figure),
                    }
                    for figure in host.figures.values()
                ],
                "outliers": [_outlier(outlier) for outlier in host.outliers],
                "findings": host.findings,
            }
            for host in fleet.hosts
        ],
        "machine_types": [
            {
                "name": name,
                "hosts": len(hosts),
                "figures": {figure: found for (of, figure), found in fleet.spreads.items() if of == name},
            }
            for name, hosts in fleet.types.items()
        ],
        "acceptance": [
            {
                "host": one.host,
                "result": one.result.value,
                "checks": [
                    {"figure": check.limit.figure, "limit": check.kind, "result": check.result.value,
                     "sentence": check.sentence}
                    for check in one.checks
                ],
            }
            for one in accepted
        ],
        "drift": drift,
        "synchronized_runs": runs,
        "files": fleet.problems,
    }  # fmt: skip


def figure_state(host: Host, figure: HostFigure) -> str:
    """Return in a word whether a figure counts: ``valid``, ``not converged``, ``not valid``, ``other settings``."""
    if not usable(figure):
        return "not valid"
    if figure.name in host.other_workload:
        return "other settings"
    return "not converged" if figure.scatter else "valid"


def figure_data(figure: HostFigure) -> dict[str, Any]:
    """Return what a figure is, and its value with its interval."""
    low, high = figure.interval or (None, None)
    about = {name: getattr(figure, name) for name in ("name", "title", "card", "unit", "better", "value")}
    return {**about, "low": low, "high": high}


def _peers_median(fleet: Fleet, host: Host, figure: HostFigure) -> float | None:
    limits = fleet.spreads.get((host.compared_as.name, figure.name))
    return limits.median if limits is not None and limits.hosts else None


def _outlier(outlier: Outlier) -> dict[str, Any]:
    found, figure = outlier.differences, outlier.figure
    return {
        "figure": figure.name, "title": figure.title, "unit": figure.unit, "value": figure.value,
        "median": outlier.median, "ratio": outlier.ratio, "peers": outlier.peers,
        "conclusion": outlier.conclusion.value,
        "differs_in": [
            {"fact": one.fact, "value": one.value, "peers": one.peers_value, "peers_with_it": one.peers,
             "relevant": one.relevant}
            for one in found.found
        ],
        "peers_looked_at": found.peers,
        "problem": found.problem or None,
    }  # fmt: skip


def _rows(fleet: Fleet) -> Iterator[tuple[str | float | bool | None, ...]]:
    """Return a row for each figure of each host, in the order of ``COLUMNS``; one without figures has a row, too."""
    for host in fleet.hosts:
        newest = next((one for one in host.sessions if one.packed_machine), host.sessions[0])
        about = (
            host.name, host.type.name, newest.model or None, newest.cpu_model or None, newest.sockets, newest.cores,
            newest.memory_bytes, host.status.value,
        )  # fmt: skip
        out = {outlier.figure.name: outlier for outlier in host.outliers}
        for figure in host.figures.values():
            median = _peers_median(fleet, host, figure)
            low, high = figure.interval or (None, None)
            outlier = out.get(figure.name)
            yield (
                *about, figure.card, figure.name, figure.title, figure.unit, figure.better.value, figure.value, low,
                high, figure_state(host, figure), figure.workload, median, figure.value / median if median else None,
                outlier.conclusion.value if outlier is not None else None, figure.path, figure.started,
            )  # fmt: skip
        if not host.figures:
            yield (*about, *(None,) * (len(COLUMNS) - len(about) - 2), newest.path, newest.started)


def write_csv(fleet: Fleet, file: TextIO | codecs.StreamWriter) -> None:
    """Write the rows; what is unknown is empty."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in _rows(fleet):
        writer.writerow(["" if value is None else inert(value) for value in row])


def junit(accepted: Sequence[Acceptance], unread: Sequence[FileProblem]) -> str:
    """Return the result of an acceptance profile as build servers show it: a suite per host, a case per limit.

    What is undecided is an error, and so is a file that could not be read.
    """
    tags = {AcceptanceResult.FAIL: "failure", AcceptanceResult.UNDECIDED: "error"}
    suites, sums = [], Counter(tests=len(unread), failures=0, errors=len(unread))
    for one in accepted:
        results = Counter(check.result for check in one.checks)
        failures, errors = results[AcceptanceResult.FAIL], results[AcceptanceResult.UNDECIDED]
        counts = {"tests": len(one.checks), "failures": failures, "errors": errors}
        cases = []
        for check in one.checks:
            tag = tags.get(check.result)
            problem = element(tag, message=check.sentence) if tag else Markup()
            name = f"{check.limit.figure}.{check.kind}"
            cases.append(element("testcase", problem, classname=one.host, name=name))
        suites.append(element("testsuite", *cases, name=one.host, **counts))
        sums.update(counts)
    if unread:
        cases = [
            element("testcase", element("error", message=problem.problem), classname="files", name=problem.path)
            for problem in unread
        ]
        suites.append(element("testsuite", *cases, name="files", tests=len(cases), failures=0, errors=len(cases)))
    document = element("testsuites", *suites, name="sizeup fleet", **sums)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{document}\n'
