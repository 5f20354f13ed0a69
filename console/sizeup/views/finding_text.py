"""Findings in plain words: the checks of a measurement, and the loads that it ran, have names inside the program."""

from __future__ import annotations

import re

from msgspec.structs import replace

from sizeup.model.finding import Finding
from sizeup.session.validity import FAILED_CHECKS
from sizeup.text import plural
from sizeup.views.points import coordinate_words

_VERDICT = re.compile(r"validity: (pass|warn|fail|unknown) \(([^()]*)\)(.*)")
_WARNED = {
    "direct": "part of the I/O may have used the page cache",
    "physical": "part of the data may have come from a cache",
    "steady": "throughput varied",
    "concurrent": "writers to one file slow each other down",
    "extending": "writers that extend one file slow each other down",
    "submitters": "the submitting threads were busy",
}
_UNCHECKED = {
    "direct": "whether the page cache was bypassed",
    "physical": "whether the data came from the device",
    "steady": "whether throughput was steady",
    "concurrent": "writers to one file",
    "extending": "writers that extend one file",
    "submitters": "whether the submitting threads were the bottleneck",
}
_REMEDIES = {
    "direct": "Measure on a file system that supports direct I/O.",
    "physical": "Measure in a directory, with a file several times as large as every cache.",
    "steady": "Measure again while the machine is idle.",
    "submitters": "Measure with more submitting threads.",
}
_OPTION = re.compile(r"; (set|use|give) [a-z_]+ [^;]*")
"""What names a setting, which stands in the form of the probe and in its documentation."""
_MOST_REASONS = 6


def worded(finding: Finding) -> Finding:
    """Return a finding whose title names no check or load as the program does; any other as it is."""
    found = _VERDICT.fullmatch(finding.title)
    if found is None:
        load, colon, rest = finding.title.partition(": ")
        words = coordinate_words("workload", load)
        title = f"{words}: {rest}" if colon and words != load else finding.title
        evidence = tuple(dict.fromkeys(_plain(entry) for entry in finding.evidence))
        return replace(finding, title=title, evidence=evidence)
    by_status: dict[str, list[str]] = {}
    for part in found[2].split(", "):
        name, _, status = part.rpartition(" ")
        by_status.setdefault(status, []).append(name)
    failed, warned, unknown = (by_status.get(status, []) for status in ("fail", "warn", "unknown"))
    clauses = [FAILED_CHECKS.get(name, f"its {name} check failed") for name in failed]
    clauses += [_WARNED.get(name, f"its {name} check warns") for name in warned] if not failed else []
    if unknown and not clauses:
        clauses = [f"not checked: {', '.join(_UNCHECKED.get(name, name) for name in unknown)}"]
    subject, _, reasons = finding.consequence.partition(": ")
    about = f" ({subject})" if reasons else ""
    state = "Storage figures are not valid" if failed else "Storage figures with a caveat" if clauses else ""
    title = f"{state}: {' and '.join(clauses)}" if clauses else "Storage figures passed every check"
    use = "They are not used for a verdict." if failed else "They are used; read the reasons."
    evidence = _reasons(reasons)
    return replace(
        finding,
        title=f"{title}{found[3]}",
        evidence=(*evidence, *finding.evidence[1:]) or finding.evidence,
        consequence=f"{use}{about}" if clauses else "",
        remedy=finding.remedy or " ".join(_REMEDIES[name] for name in failed if name in _REMEDIES),
    )


def _reasons(text: str) -> tuple[str, ...]:
    """Return the reasons of all checks, without the names of checks and settings."""
    found = map(_plain, _OPTION.sub("", text).removesuffix(".").split("; "))
    kept = [reason for reason in dict.fromkeys(found) if reason]
    more = len(kept) - _MOST_REASONS
    return (*kept[:_MOST_REASONS], *((f"{plural(more, 'further reason')}",) if more > 0 else ()))


def _plain(reason: str) -> str:
    """Return a reason without the name of its check, and without the names of settings."""
    name, colon, rest = _OPTION.sub("", reason).partition(": ")
    if not colon or name not in _UNCHECKED:
        return _OPTION.sub("", reason)
    return f"not checked: {_UNCHECKED[name]}" if rest.startswith("not checked") else rest
