"""Findings in plain words: no name of a check, a load or a setting."""

from __future__ import annotations

import re

import pytest

from sizeup.model.finding import Finding, Severity
from sizeup.views.finding_text import worded

REASONS = (
    "simple on /u01: concurrent: not checked: check_concurrency is off; physical: 56.4 MB/s: the bandwidth of the path "
    "is unknown; set path_limit to compare with it; steady: throughput drifted -60% from the first half to the second."
)


def finding(title: str, consequence: str = "") -> Finding:
    return Finding("io.direct.validity", Severity.WARNING, title, ("validity at all: fail",), consequence, "")


@pytest.mark.parametrize(
    ("checks", "title"),
    [
        ("fail (concurrent unknown, steady fail)", "Storage figures are not valid: throughput was not steady"),
        ("warn (direct pass, steady warn)", "Storage figures with a caveat: throughput varied"),
        ("unknown (concurrent unknown)", "Storage figures with a caveat: not checked: writers to one file"),
        ("pass (direct pass, steady pass)", "Storage figures passed every check"),
        ("fail (other fail)", "Storage figures are not valid: its other check failed"),
    ],
)
def test_the_checks_of_a_measurement_are_said_in_words(checks: str, title: str) -> None:
    assert worded(finding(f"validity: {checks}")).title == title


def test_the_reasons_name_no_check_and_no_setting() -> None:
    found = worded(finding("validity: fail (concurrent unknown, steady fail)", REASONS))
    text = " ".join((found.title, *found.evidence, found.consequence, found.remedy))

    assert "throughput drifted -60% from the first half to the second" in found.evidence
    assert "not checked: writers to one file" in found.evidence
    assert not re.search(r"check_concurrency|path_limit|concurrent:|steady:", text)
    assert found.remedy == "Measure again while the machine is idle."


def test_a_load_is_named_in_words_and_other_findings_stay_as_they_are() -> None:
    assert worded(finding("oltp-read: I/O costs 0.3 CPUs")).title == "random read 8 KiB: I/O costs 0.3 CPUs"
    assert worded(finding("disk sda is failing")) == finding("disk sda is failing")


def test_what_was_seen_names_no_check_and_no_setting_either() -> None:
    seen = ("CPUs used: 0.29", "physical: 624 MB/s: the bandwidth of the path is unknown; set path_limit to compare")
    found = worded(Finding("io.direct.cpus", Severity.INFO, "oltp-read: I/O costs 0.29 CPUs", seen, "", ""))

    assert found.evidence == ("CPUs used: 0.29", "624 MB/s: the bandwidth of the path is unknown")
