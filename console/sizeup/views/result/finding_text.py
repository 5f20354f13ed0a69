"""Findings of a measurement in plain words: checks and loads have names inside the program."""

from __future__ import annotations

from msgspec.structs import replace

from sizeup.model.finding import Finding
from sizeup.session.validity import FAILED_CHECKS
from sizeup.views.run.points import coordinate_words


def worded(finding: Finding) -> Finding:
    """Return a finding that names its load in words, and whose evidence names no check."""
    load, colon, rest = finding.title.partition(": ")
    words = coordinate_words("workload", load)
    title = f"{words}: {rest}" if colon and words != load else finding.title
    evidence = tuple(dict.fromkeys(map(_plain, finding.evidence)))
    return replace(finding, title=title, evidence=evidence)


def _plain(reason: str) -> str:
    """Return a reason without the name of its check, by which the caveats of a figure are told apart."""
    name, colon, rest = reason.partition(": ")
    return rest if colon and name in FAILED_CHECKS else reason
