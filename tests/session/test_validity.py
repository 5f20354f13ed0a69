"""Which measured figures are valid, and what comparisons and reports do with one that is not."""

from array import array
from typing import Any

import pytest
from msgspec.structs import replace

from declared import declaration_of, series_of
from sizeup.compare.compare import compare
from sizeup.compare.comparison import Comparison, Conclusion
from sizeup.compare.digest import digest
from sizeup.compare.published_results import _headlines
from sizeup.model.plan import Declaration, Step
from sizeup.model.sample import Coordinates, Estimate, Outcome, Status
from sizeup.report.data import results_json
from sizeup.report.markdown import markdown
from sizeup.report.text import text
from sizeup.session.records import SessionRecord
from sizeup.session.validity import Invalid, StepValidity
from sizeup.session.value import Point, Session, StepRun, point_key
from sizeup.views.cards.cards import CardView
from sizeup.views.comparison.answer import conclusion_lines
from sizeup.views.document.document import document
from sizeup.views.result.summary import summary
from sizeup.views.run.finished import headline
from sizeup.views.run.results import results_data
from sizeup.views.run.step import point_value

SERIES = {name: series for name, series in series_of("io.direct").items() if name in ("rate", "validity")}
DRIFTED = "throughput drifted -25 % from the first half to the second"
STEADY = f"steady: {DRIFTED}"
REASON = "measured, but not valid because throughput was not steady"


def place(depth: int) -> dict[str, str | int | float]:
    return {"workload": "dss-rand", "queue_depth": depth}


def step(*estimates: Estimate, status: Status = Status.OK, **settings: Any) -> StepRun:
    plan = Step("io.direct.dss-rand", "io.direct", "Direct I/O", settings, 1.0, 2.0)
    run = StepRun(plan, "sizeup 0.1.0", SERIES, "curve", 0, outcome=Outcome(status))
    run.declaration = declaration_of("io.direct")
    for estimate in estimates:
        run.points[point_key(estimate.series, estimate.at)] = Point(estimate.series, estimate.at, estimate=estimate)
    return run


def rates(*values: float) -> list[Estimate]:
    return [Estimate("rate", place(2**power), value) for power, value in enumerate(values)]


def verdict(at: Coordinates, part: str, value: float) -> Estimate:
    return Estimate("validity", {**at, "part": part}, value, caveats=(STEADY,), extra={"reasons": STEADY})


def failed_run() -> StepRun:
    return step(*rates(1370e6, 1374e6), verdict({}, "steady", 0.0), verdict({}, "all", 0.0))


def session(run: StepRun, id_: str = "1") -> Session:
    header = SessionRecord(format=1, id=id_, tool="sizeup", host="host", started="2026-11-20T00:00:00Z")
    return Session(header, steps={run.step.id: run})


def of(run: StepRun) -> list[str]:
    """The cause against each figure of a step; empty for a valid one."""
    validity = StepValidity(run)
    return ["" if (found := validity.of(point)) is None else found.cause for point in run.points.values()]


def test_a_verdict_counts_at_its_own_place_and_that_of_the_run_everywhere() -> None:
    assert of(step(*rates(1e6, 2e6), verdict(place(2), "steady", 0.0))) == ["", "throughput was not steady", ""]
    assert of(step(*rates(1e6, 2e6), verdict(place(2), "steady", 0.5))) == ["", "", ""]
    assert of(failed_run())[:2] == ["throughput was not steady"] * 2


def test_a_side_check_that_the_run_does_not_count_takes_nothing_away() -> None:
    assert of(step(*rates(1e6), verdict({}, "extending", 0.0), verdict({}, "all", 1.0)))[0] == ""


@pytest.mark.parametrize(
    ("parts", "bounds"),
    [("steady", True), ("direct", False), ("direct steady", False), ("cache", True), ("cache direct", False)],
)
def test_what_is_of_something_else_bounds_nothing_whatever_else_is_uncertain(parts: str, bounds: bool) -> None:
    run = step(
        *rates(1e6), *(suspicion() if part == "cache" else verdict(place(1), part, 0.0) for part in parts.split())
    )
    found = StepValidity(run).of(next(iter(run.points.values())))

    assert found is not None
    assert found.still_bounds is bounds


def suspicion(*caveats: str) -> Estimate:
    return Estimate("validity", {**place(1), "part": "physical"}, 0.5, caveats=caveats, extra={"sizing": "left out"})


def test_a_suspected_cache_is_said_before_another_check_that_failed() -> None:
    assert of(step(*rates(1e6), verdict(place(1), "steady", 0.0), suspicion()))[0] == "it may come from a cache"


AGAIN, AT_REST = "run Direct I/O again", "run Direct I/O again on an idle machine, with more time"
UNSTEADY = "run Direct I/O again on an idle machine, with more time"
LARGER = "run Direct I/O with a size several times the largest cache known, or with preset working-set"
LOOSE = Estimate("rate", place(1), -2.0, low=-2.3, high=-1.5, converged=False)


def whole(status: Status, reason: str = "") -> StepRun:
    run = step(*rates(1e6))
    run.outcome = Outcome(status, reason=reason)
    return run


def disturbed() -> StepRun:
    run = step(*rates(1e6))
    for key in run.points:
        run.points[key] = Point("rate", place(1), array("q", [1, 2]), array("d", [1.0, 2.0]), array("B", [1, 2]))
    return run


def placed(share: float, nodes: str) -> StepRun:
    return step(Estimate("rate", place(1), 2.0, extra={"share_where_asked": share, "pages_on_nodes": nodes}))


@pytest.mark.parametrize(
    ("run", "cause", "reasons", "remedy", "parts"),
    [
        (
            step(*rates(1e6), replace(verdict(place(1), "steady", 0.0), caveats=(STEADY, "physical: beyond the bus"))),
            "throughput was not steady",
            (DRIFTED,),
            UNSTEADY,
            ("steady",),
        ),
        (
            step(*rates(1e6), replace(verdict(place(1), "new", 0.0), caveats=("in words",))),
            "its new check failed",
            ("in words",),
            AGAIN,
            ("new",),
        ),
        (
            step(*rates(1e6), verdict(place(1), "steady", 0.0), suspicion("physical: beyond the bus")),
            "it may come from a cache",
            ("physical: beyond the bus",),
            LARGER,
            ("cache", "steady"),
        ),
        (
            step(*rates(1e6), suspicion()),
            "it may come from a cache",
            ("no reason was recorded",),
            LARGER,
            ("cache",),
        ),
        (step(LOOSE, precision=0.05), "it did not converge", ("interval ±20.0 %, target ±5.0 %",), AT_REST, ()),
        (step(LOOSE), "it did not converge", ("interval ±20.0 %",), AT_REST, ()),
        (step(replace(LOOSE, low=None)), "it did not converge", (), AT_REST, ()),
        (
            placed(0.98, "0:98,1:2"),
            "its memory lay on another node",
            ("98.0 % of the pages were where they were asked for",),
            f"free memory of that node, and {AGAIN}",
            (),
        ),
        (placed(0.5, ""), "where its memory lay is unknown", (), "allow move_pages or numa_maps, and run it again", ()),
        (
            disturbed(),
            "something else used the measured CPU",
            ("every sample was disturbed",),
            f"{AGAIN} on an idle machine",
            (),
        ),
        (whole(Status.FAILED), "its step failed", (), AGAIN, ()),
        (whole(Status.CRASHED, "killed"), "its step crashed", ("killed",), AGAIN, ()),
    ],
)
def test_a_figure_that_is_not_valid_has_a_cause_its_own_reasons_and_what_to_do(
    run: StepRun, cause: str, reasons: tuple[str, ...], remedy: str, parts: tuple[str, ...]
) -> None:
    found = StepValidity(run).of(next(iter(run.points.values())))

    loose = cause == "it did not converge"
    assert found == Invalid(cause, reasons, remedy, scatter=loose, parts=parts)
    begin = "measured, but did not converge" if loose else f"measured, but not valid because {cause}"
    assert found.sentence() == begin + (f" ({'; '.join(reasons)})" if reasons else "")


@pytest.mark.parametrize(
    "run",
    [
        placed(0.99, "0:99,1:1"),
        step(replace(LOOSE, converged=True)),
        step(replace(LOOSE, low=-2.5), precision=0.25),
        whole(Status.OK),
    ],
)
def test_a_figure_just_within_its_limits_is_valid(run: StepRun) -> None:
    assert of(run) == [""]


@pytest.mark.parametrize(("half", "cause"), [(0.04, ""), (0.06, "it did not converge")])
def test_a_figure_is_held_against_the_interval_that_was_aimed_at(half: float, cause: str) -> None:
    wide = Estimate("rate", place(1), 1.0, low=1 - half, high=1 + half, converged=False)
    other = step(wide, width=0.05)
    other.declaration = Declaration(precision="width")

    assert of(step(wide, precision=0.05)) == [cause]
    assert of(other) == [cause]
    assert of(step(replace(wide, converged=True), precision=0.05)) == [""]
    assert of(step(replace(wide, low=None, high=None), precision=0.05)) == ["it did not converge"]


def test_a_step_says_in_one_clause_what_of_it_is_not_valid() -> None:
    loose = Estimate("rate", place(8), 1.0, converged=False)

    assert StepValidity(step(*rates(1e6))).summary() == ""
    assert StepValidity(failed_run()).summary() == f"{REASON} ({DRIFTED})"
    assert StepValidity(step(*rates(1e6, 2e6), loose)).summary() == "1 of 3 figures did not converge"
    unsteady = step(*rates(1e6, 2e6), verdict(place(1), "steady", 0.0))
    assert StepValidity(unsteady).summary() == "1 of 2 figures is not valid: throughput was not steady"
    assert StepValidity(step(*rates(1e6, 2e6), verdict(place(1), "steady", 0.0), loose)).summary() == (
        "2 of 3 figures are not valid: throughput was not steady (1); not converged (1)"
    )


def sides(first: StepRun, base: StepRun) -> Comparison:
    return compare(
        [digest(session(first, str(number)), "new") for number in range(6)],
        [digest(session(base, str(10 + number)), "old") for number in range(6)],
    )


def test_nothing_follows_from_comparing_what_is_not_valid_and_it_is_said() -> None:
    comparison = sides(failed_run(), step(*rates(100e6, 101e6)))
    (figure,) = comparison.metrics

    assert (figure.verdict, figure.different) == (Conclusion.NOT_VALID, False)
    assert {point.verdict for point in comparison.points} == {Conclusion.NOT_VALID}
    assert figure.invalid_text == "not valid on the new side: throughput was not steady"
    assert any(
        line.startswith("Not compared, as B is not valid (throughput was not steady): ")
        for line in conclusion_lines(comparison)
    )
    assert f"new: io.direct.dss-rand: {REASON} ({DRIFTED})" in comparison.warnings
    assert sides(step(*rates(1370e6, 1374e6)), step(*rates(100e6, 101e6))).metrics[0].verdict is Conclusion.BETTER


def test_a_point_that_is_valid_is_compared_beside_one_that_is_not() -> None:
    first = step(*rates(1370e6, 1374e6), verdict(place(2), "steady", 0.0))

    assert [point.verdict for point in sides(first, step(*rates(100e6, 101e6))).points] == [
        Conclusion.BETTER,
        Conclusion.NOT_VALID,
    ]


def test_what_did_not_converge_is_compared_over_its_runs_and_said() -> None:
    loose = [replace(estimate, converged=False) for estimate in rates(1370e6, 1374e6)]
    comparison = sides(step(*loose), step(*rates(100e6, 101e6)))

    assert comparison.metrics[0].verdict is Conclusion.BETTER
    assert "new: io.direct.dss-rand: 2 of 2 figures did not converge" in comparison.warnings


def test_a_step_that_failed_is_not_compared_and_is_said() -> None:
    comparison = sides(step(*rates(1e6), status=Status.FAILED), step(*rates(1e6)))

    assert comparison.metrics == ()
    assert "new: io.direct.dss-rand: measured, but not valid because its step failed" in comparison.warnings


def test_no_figure_that_is_not_valid_stands_beside_a_published_one() -> None:
    found = session(failed_run())
    valid = session(step(*rates(1370e6, 1374e6)))

    assert list(_headlines(digest(found, "a"), found)) == []
    assert [value.value for value in _headlines(digest(valid, "b"), valid)] == [1374e6]


def test_reports_show_what_is_not_valid_and_say_why() -> None:
    found = session(failed_run())
    written = document(found)

    for page in (text(written), markdown(written)):
        shown = " ".join(page.split())
        assert "1.37 GB/s" in shown
        assert f"easured, but not valid because throughput was not steady ({DRIFTED})" in shown
    assert REASON in results_json(found)


def test_the_data_of_each_figure_say_whether_it_is_valid() -> None:
    run = step(*rates(1e6, 2e6), verdict(place(2), "steady", 0.0))
    (data,) = results_data(session(run))["steps"]

    assert [result["invalid_reason"] for result in data["results"]] == ["", f"{REASON} ({DRIFTED})", ""]


def test_the_line_and_the_chart_of_a_step_say_that_it_is_not_valid() -> None:
    assert point_value(failed_run()) == "1.37 GB/s at random read 1 MiB, queue depth 2, not valid"
    assert point_value(step(*rates(1e6, 2e6))) == "2 MB/s at random read 1 MiB, queue depth 2"
    assert headline(failed_run(), None).caption.endswith(f"M{REASON[1:]} ({DRIFTED}).")


def storage_card(run: StepRun) -> CardView:
    return next(card for card in summary(None, session(run), None).cards if card.resource == "storage")


def test_the_card_says_that_every_rate_is_uncertain_and_shows_one_that_is_valid() -> None:
    mixed = step(*rates(1e6, 2e6), verdict(place(2), "steady", 0.0))

    assert storage_card(failed_run()).found.texts == ("1.37 GB/s, uncertain",)
    assert any(f"{REASON} ({DRIFTED})" in note for note in storage_card(failed_run()).found.notes)
    assert storage_card(mixed).found.texts == ("1 MB/s",)


def test_samples_that_were_all_disturbed_are_no_valid_figure() -> None:
    """The probe made no estimate of them; the median of what is there stands for nothing."""
    run = step()
    for depth, flags in ((1, [1, 2, 1]), (2, [1, 0, 1]), (4, [0, 0, 0])):
        point = Point("rate", place(depth), array("q", [1, 2, 3]), array("d", [5.0, 6.0, 7.0]), array("B", flags))
        run.points[point_key("rate", point.at)] = point
    found = [StepValidity(run).of(point) for point in run.points.values()]

    assert found[0].cause == "something else used the measured CPU"
    assert not found[0].scatter
    assert found[1:] == [None, None]
    assert "1 of 3 figures is not valid" in StepValidity(run).summary()
    assert [value.value for value in digest(session(run), "a").values] == [6.0, 6.0]


def test_a_step_without_figures_was_not_measured() -> None:
    assert StepValidity(step(status=Status.REFUSED)).summary() == "not measured: its step was refused"
    assert StepValidity(step(*rates(1e6), status=Status.REFUSED)).summary().startswith("measured, but not valid")
