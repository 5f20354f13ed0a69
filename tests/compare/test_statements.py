"""A probe may state a sentence beside a figure; it becomes a finding with the figure as its evidence."""

from sizeup.engine.run import probe_findings
from sizeup.model.finding import Finding, Severity
from sizeup.model.plan import Better, Series, Step
from sizeup.model.sample import Estimate, Outcome, Status
from sizeup.session.records import SessionRecord
from sizeup.session.value import Point, Session, StepRun, point_key

HEADER = SessionRecord(format=1, id="1", tool="sizeup", host="host", started="2026-11-20T00:00:00Z")


def step(id_: str, *estimates: Estimate, status: Status = Status.OK) -> StepRun:
    series = {"io-timing": Series("io-timing", "Share of a core", "1", Better.LOWER)}
    run = StepRun(
        Step(id_, "clock.cost", "Clock cost", {}, 1.0, 2.0), "sizeup", series, "bars", 0, outcome=Outcome(status)
    )
    for estimate in estimates:
        point = Point(estimate.series, estimate.at, estimate=estimate)
        run.points[point_key(estimate.series, estimate.at)] = point
    return run


def test_a_sentence_becomes_a_finding_and_figures_without_one_do_not() -> None:
    said = Estimate("io-timing", {"iops": 100000}, 0.0036, caveats=("shared",), extra={"statement": "it costs a bit"})
    silent = Estimate("io-timing", {"iops": 5}, 0.1, extra={"reads_per_io": 2})

    assert probe_findings(Session(HEADER, steps={"clock.cost": step("clock.cost", said, silent)})) == (
        Finding(
            id="clock.cost.io-timing",
            severity=Severity.INFO,
            title="it costs a bit",
            evidence=("Clock cost, share of a core at iops 100000: 0.0036", "shared"),
            consequence="",
            remedy="",
            probe="clock.cost",
        ),
    )


def test_each_value_of_a_declared_coordinate_has_a_finding_of_its_own() -> None:
    said = [Estimate("knee", {"mix": name}, 8.0, extra={"statement": name}) for name in ("small", "large")]
    run = step("p", *said)

    assert [finding.id for finding in probe_findings(Session(HEADER, steps={"p": run}))] == ["clock.cost.knee"]
    run.series = {"knee": Series("knee", "Knee", "1", Better.NEITHER, findings_by="mix")}
    found = probe_findings(Session(HEADER, steps={"p": run}))
    assert [finding.id for finding in found] == ["clock.cost.knee.small", "clock.cost.knee.large"]


def test_the_last_round_has_the_last_word() -> None:
    first = step("clock.cost", Estimate("io-timing", {}, 1.0, extra={"statement": "first"}))
    second = step("clock.cost~2", Estimate("io-timing", {}, 2.0, extra={"statement": "second", "severity": "warning"}))

    (finding,) = probe_findings(Session(HEADER, steps={"clock.cost": first, "clock.cost~2": second}))

    assert (finding.title, finding.severity) == ("second", Severity.WARNING)


def test_a_statement_about_a_figure_that_is_not_valid_says_so_and_warns_of_nothing() -> None:
    said = Estimate("io-timing", {}, 2.0, extra={"statement": "it is slow", "severity": "warning"})

    (finding,) = probe_findings(Session(HEADER, steps={"clock.cost": step("clock.cost", said, status=Status.FAILED)}))

    assert finding.title == "it is slow (not valid: its step failed)"
    assert finding.severity is Severity.INFO
    assert finding.evidence[-1] == "measured, but not valid because its step failed"


def test_information_that_is_not_valid_is_no_finding() -> None:
    said = Estimate("knee", {}, 64.0, extra={"statement": "knee 21.1 k/s at QD 64"})

    assert probe_findings(Session(HEADER, steps={"p": step("p", said)})) != ()
    assert probe_findings(Session(HEADER, steps={"p": step("p", said, status=Status.FAILED)})) == ()


def test_a_later_round_that_is_not_valid_does_not_have_the_last_word() -> None:
    first = step("clock.cost", Estimate("io-timing", {}, 1.0, extra={"statement": "first"}))
    second = step("clock.cost~2", Estimate("io-timing", {}, 2.0, extra={"statement": "second"}), status=Status.FAILED)

    (finding,) = probe_findings(Session(HEADER, steps={"clock.cost": first, "clock.cost~2": second}))

    assert finding.title == "first"
