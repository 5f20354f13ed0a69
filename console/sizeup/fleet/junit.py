"""The result of an acceptance profile as JUnit XML, which build servers show: a suite per host, a case per limit."""

from __future__ import annotations

from collections.abc import Sequence

from sizeup.charts.markup import Markup, element
from sizeup.compare.profile import AcceptanceResult, Requirement
from sizeup.fleet.files import FileProblem
from sizeup.fleet.profile import Acceptance


def junit(accepted: Sequence[Acceptance], unread: Sequence[FileProblem]) -> str:
    """Return the document; what is undecided is an error, and so is a file that could not be read."""
    suites = [_suite(one.host, [_case(one.host, check) for check in one.checks], one.checks) for one in accepted]
    if unread:
        cases = [
            element("testcase", element("error", message=problem.problem), classname="files", name=problem.path)
            for problem in unread
        ]
        suites.append(element("testsuite", *cases, name="files", tests=len(cases), failures=0, errors=len(cases)))
    checks = [check for one in accepted for check in one.checks]
    counts = {"tests": len(checks) + len(unread), "failures": _count(checks, AcceptanceResult.FAIL)}
    errors = _count(checks, AcceptanceResult.UNDECIDED) + len(unread)
    document = element("testsuites", *suites, name="sizeup fleet", **counts, errors=errors)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{document}\n'


def _count(checks: Sequence[Requirement], result: AcceptanceResult) -> int:
    return sum(check.result is result for check in checks)


def _suite(name: str, cases: Sequence[Markup], checks: Sequence[Requirement]) -> Markup:
    counts = {"failures": _count(checks, AcceptanceResult.FAIL), "errors": _count(checks, AcceptanceResult.UNDECIDED)}
    return element("testsuite", *cases, name=name, tests=len(cases), **counts)


def _case(host: str, check: Requirement) -> Markup:
    tag = {AcceptanceResult.FAIL: "failure", AcceptanceResult.UNDECIDED: "error"}.get(check.result)
    problem = element(tag, message=check.sentence) if tag else Markup()
    return element("testcase", problem, classname=host, name=f"{check.limit.figure}.{check.kind}")
