"""What the checks of a run come to, in words that name neither a check nor a setting."""

import re

import pytest

from sizeup.model.checks import FAILED_CHECKS
from sizeup.probing.registry import load_registry
from sizeup_direct_io.point_verdict import overall, run_statement
from sizeup_direct_io.validity import Part, Reason, Validity, mixed_paths, warn

WHERE = "oltp-read on /u01"


def part(name: str, verdict: Validity, reason: str = "the reason", to_set: str = "") -> Part:
    return Part.of(name, [Reason(verdict, reason, to_set)])


@pytest.mark.parametrize(
    ("checks", "statement"),
    [
        ({"concurrent": "unknown", "steady": "fail"}, "Storage figures are uncertain: throughput was not steady"),
        (
            {"physical": "fail", "steady": "fail"},
            ("Storage figures are uncertain: the data may not have come from the device and throughput was not steady"),
        ),
        (
            {"direct": "fail", "steady": "fail"},
            "Storage figures are not valid: the I/O did not bypass the page cache and throughput was not steady",
        ),
        ({"direct": "pass", "steady": "warn"}, "Storage figures with a caveat: throughput varied"),
        ({"concurrent": "unknown"}, "Storage figures with a caveat: not checked: writers to one file"),
        ({"direct": "pass", "steady": "pass"}, "Storage figures passed every check"),
    ],
)
def test_the_checks_are_stated_in_words(checks: dict[str, str], statement: str) -> None:
    parts = [part(name, Validity(verdict)) for name, verdict in checks.items()]

    assert run_statement(WHERE, parts, ())["statement"] == statement


def test_the_figures_of_each_probe_have_their_name() -> None:
    parts = [part("steady", Validity.FAIL)]

    assert run_statement(WHERE, parts, (), "Figures of commits")["statement"] == (
        "Figures of commits are uncertain: throughput was not steady"
    )


def test_the_reasons_name_no_check_and_no_setting_and_the_gravest_comes_first() -> None:
    parts = [
        part("concurrent", Validity.UNKNOWN, "writers to one file: not checked", "set check_concurrency=true"),
        part("physical", Validity.UNKNOWN, "56 MB/s: the bandwidth of the path is unknown", "set path_limit"),
        part("steady", Validity.FAIL, "throughput drifted -60 %"),
        part("direct", Validity.PASS, "the page cache did not grow"),
    ]
    found = run_statement(WHERE, parts, ())

    assert found["evidence"].splitlines() == [
        "throughput drifted -60 %",
        "writers to one file: not checked",
        "56 MB/s: the bandwidth of the path is unknown",
    ]
    assert found["consequence"] == f"A verdict counts them as far as they reach ({WHERE})."
    unproven = run_statement(WHERE, [part("direct", Validity.FAIL)], ())
    assert unproven["consequence"] == f"No verdict uses them ({WHERE})."
    assert found["remedy"] == "Measure again while the machine is idle."
    assert not re.search(r"check_concurrency|path_limit|concurrent:|steady:", " ".join(found.values()))


def test_what_to_set_stays_with_the_check_itself() -> None:
    found = part("physical", Validity.UNKNOWN, "the bandwidth of the path is unknown", "set path_limit")

    (caveat,) = found.caveats
    assert caveat.text == "the bandwidth of the path is unknown; set path_limit"
    assert run_statement(WHERE, [found], ())["evidence"] == "the bandwidth of the path is unknown"


def test_a_path_that_was_lost_is_among_the_reasons_once() -> None:
    lost = "sda (SCSI device) went from running to offline"
    noise = part("physical", Validity.FAIL, "a cache")
    about_it = Part.of("steady", [warn("throughput drifted"), mixed_paths(lost)])
    (*_, told), (*_, told_apart) = overall(WHERE, [noise, about_it], (lost,)), overall(WHERE, [noise], (lost,))

    assert told.extra["evidence"].splitlines() == [mixed_paths(lost).text, "a cache", "throughput drifted"]
    assert told.extra["reasons"].count(lost) == 1
    assert told_apart.extra["evidence"].splitlines() == [lost, "a cache"]
    assert told_apart.extra["reasons"].count(lost) == 1


def test_many_reasons_are_counted() -> None:
    found = run_statement(WHERE, [part("steady", Validity.WARN)], [f"change {number}" for number in range(8)])

    assert found["evidence"].splitlines()[5:] == ["change 5", "3 further reasons"]


def test_a_check_that_failed_is_said_in_the_same_words_wherever_it_is_shown() -> None:
    (series,) = [one for one in load_registry().get("io.direct").manifest.series if one.name == "validity"]

    assert set(series.remedies) - {"cache"} <= set(FAILED_CHECKS)


@pytest.mark.parametrize(
    ("checks", "use"),
    [
        ({"steady": "fail"}, "A verdict counts them as far as they reach (oltp-read on /u01)."),
        ({"direct": "fail"}, "No verdict uses them (oltp-read on /u01)."),
        ({"steady": "warn"}, "They are used; read the reasons (oltp-read on /u01)."),
        ({"steady": "unknown"}, "They are used; read the reasons (oltp-read on /u01)."),
    ],
)
def test_it_is_said_what_becomes_of_the_figures(checks: dict[str, str], use: str) -> None:
    found = run_statement(WHERE, [part(name, Validity(verdict)) for name, verdict in checks.items()], ())

    assert found["consequence"] == use


def test_six_reasons_are_shown_and_the_others_counted() -> None:
    parts = [part("steady", Validity.WARN, f"reason {number}") for number in range(6)]
    assert run_statement(WHERE, parts, ())["evidence"].splitlines()[-1] == "reason 5"
    parts += [part("steady", Validity.WARN, "one more")]
    assert run_statement(WHERE, parts, ())["evidence"].splitlines()[5:] == ["reason 5", "1 further reason"]
