"""Findings in plain words: no name of a check or a load."""

from sizeup.model.finding import Finding, Severity
from sizeup.views.result.summary import worded


def test_a_load_is_named_in_words_and_other_findings_stay_as_they_are() -> None:
    costs = Finding("io.direct.cpus", Severity.INFO, "oltp-read: I/O costs 0.3 CPUs", ("CPUs used: 0.29",), "", "")
    disk = Finding("disk.failing", Severity.WARNING, "disk sda is failing", ("sda: SMART says so",), "", "")

    assert worded(costs).title == "random read 8 KiB: I/O costs 0.3 CPUs"
    assert worded(disk) == disk


def test_what_was_seen_names_no_check() -> None:
    seen = ("CPUs used: 0.29", "physical: 624 MB/s: the bandwidth of the path is unknown")
    found = worded(Finding("io.direct.cpus", Severity.INFO, "oltp-read: I/O costs 0.29 CPUs", seen, "", ""))

    assert found.evidence == ("CPUs used: 0.29", "624 MB/s: the bandwidth of the path is unknown")
