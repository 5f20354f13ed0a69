"""The commits of a workload, judged against those that a log made durable."""

import pytest

from sizeup.decoding import json_decoder
from sizeup.model.advice import Card
from sizeup.model.machine import Machine
from sizeup.model.records import ENCODER
from sizeup.model.sample import Estimate
from sizeup.quantity import Origin, Quantity, Uncertainty
from sizeup.session.value import Session
from sizeup.sizing.advise import Sizing, size
from sizeup.sizing.input_value import UnusedMeasurement
from sizeup.sizing.inputs.measured import measured
from sizeup.sizing.keys import parse_settings
from sizeup.views.cards.measured import measured_texts
from sizeup.views.result.answer import answer_details
from sizing.measured_sessions import put, session
from sizing.sized import card

LOAD = ("workload.iops=20000", "workload.io_kib=8", "workload.read_percent=60", "redo.mb_s=1", "redo.write_kib=8")
RATES = {1: 190.0, 8: 760.0, 64: 5200.0}


def at(committers: int, method: str = "fdatasync") -> dict[str, str | int | float]:
    return {"method": method, "record_bytes": 8192, "committers": committers}


def commits(**verdicts: float) -> Session:
    """A session of three numbers of committers, and other methods that are faster."""
    faster = [("commits", at(8, "O_DIRECT, O_DSYNC"), 9e9)]
    found = session("io.commit", *(("commits", at(count), rate) for count, rate in RATES.items()), *faster)
    for part, value in verdicts.items():
        put(found.steps["io.commit"], Estimate("validity", {**at(8), "part": part}, value, caveats=(f"{part}: x",)))
    return found


def judged(found: Session, *settings: str) -> Sizing:
    stated = parse_settings(settings)
    return size({**measured(found, stated), **stated})


def test_the_most_committers_that_the_workload_has_count() -> None:
    for given, rate in ((None, 760), (1, 190), (7, 190), (8, 760), (63, 760), (500, 5200)):
        stated = {} if given is None else {"workload.committers": Quantity(given, "1", Origin.USER, "--set")}
        value = measured(commits(), stated)["capacity.commits_s"]

        assert isinstance(value, Quantity)
        assert (value.value, value.unit, value.origin) == (rate, "1/s", Origin.MEASURED)
        assert [(one.end, one.upper) for one in value.uncertainties] == (
            [(190, False), (5200, True)] if given is None else []
        )


def test_a_rate_that_one_alone_would_miss_is_assumed() -> None:
    def status(*settings: str) -> tuple[str, tuple[str, ...]]:
        (found,) = (one for one in judged(commits(), *settings).cards if one.resource == "storage")
        return found.status, found.assumed

    def assumed(share: str) -> tuple[str, ...]:
        return (f"workload.committers=8 by default ({share})",)

    # 760 /s of 8 sessions: 190 /s of one alone are 400 / 190 = 211 %, 5,200 /s of 64 are 900 / 5,200 = 17 %.
    assert status("workload.commits_s=100") == ("pass", ())
    assert status("workload.commits_s=400") == ("assumed", assumed("211 % at 190 /s"))
    assert status("workload.commits_s=400", "workload.committers=8") == ("pass", ())
    assert status("workload.commits_s=400", "workload.committers=2") == ("fail", ())
    assert status("workload.commits_s=900") == ("fail", assumed("17 % at 5,200 /s"))
    assert status("workload.commits_s=6000") == ("fail", ()), "above those of the most sessions, too"
    assert status("workload.commits_s=900", "capacity.commits_s=2000") == ("pass", ()), "what was typed counts"


def test_what_was_unsteady_or_beside_others_leaves_its_ends_open() -> None:
    def seconds(**extra: float) -> Session:
        """8 sessions in two seconds, of 400 and of 1,100 commits; in three ramps, and not steady."""
        found = session("io.commit")
        run = found.steps["io.commit"]
        put(run, Estimate("commits", at(8), 750.0, 700.0, 800.0, replicates=3, extra=extra))
        (point,) = run.points.values()
        for second, value in ((1, 400.0), (2, 1100.0)):
            point.t_ns.append(second * 10**9)
            point.values.append(value)
            point.flags.append(0)
        put(run, Estimate("validity", {**at(8), "part": "steady"}, 0.0, caveats=("steady: x",)))
        return found

    def status(demand: int, found: Session) -> str:
        settings = (f"workload.commits_s={demand}", "workload.committers=8")
        return next(one for one in judged(found, *settings).cards if one.resource == "storage").status

    assert status(200, seconds()) == "pass", "50 % of the worst second"
    assert status(500, seconds()) == "uncertain", "125 % of the worst second, 45 % of the best"
    assert status(1200, seconds()) == "fail", "109 % of the best"
    shown = judged(seconds(), "workload.commits_s=500", "workload.committers=8", *LOAD, "capacity.iops=50000")
    lines = next(one for one in shown.advice if one.id == "verdict.storage").working
    assert "commits of the log: 500 commits/s / 750 commits/s = 66.6667 %" in lines
    assert "  only 400 commits/s are certain, because throughput was not steady" in lines
    assert ("Limit", "commits of the log at 67 % (not certain); storage at 40 %") in list(answer_details(shown))
    assert status(1200, seconds(others_share=0.5)) == "uncertain"


def test_a_figure_that_is_wrong_is_not_used_and_one_that_varied_is() -> None:
    wrong = session("io.commit", ("commits", at(8), 760.0))
    put(wrong.steps["io.commit"], Estimate("validity", {**at(8), "part": "direct"}, 0.0, caveats=("direct: x",)))

    assert isinstance(measured(wrong)["capacity.commits_s"], UnusedMeasurement)
    (note,) = (
        note for one in judged(wrong, "workload.commits_s=100", *LOAD, "capacity.iops=50000").cards
        for note in one.notes if note.startswith("Commits (100 /s wanted)")
    )  # fmt: skip
    assert "not judged. 760 /s was measured but is not used" in note
    assert isinstance(measured(commits(steady=0.0))["capacity.commits_s"], Quantity)
    assert "capacity.commits_s" not in measured(session("io.direct", machine=Machine()))


@pytest.mark.parametrize(
    ("settings", "status", "share", "not_judged"),
    [
        ((*LOAD, "capacity.iops=50000", "capacity.commits_s=4000"), "pass", 0.5, ""),
        ((*LOAD, "capacity.iops=50000", "capacity.commits_s=1500"), "fail", 4 / 3, ""),
        ((*LOAD, "capacity.iops=25000", "capacity.commits_s=9000"), "warn", 0.805, ""),
        ((*LOAD, "capacity.commits_s=9000"), "pass", 2 / 9, "its IOPS"),
        (("workload.mb_s=100", "capacity.commits_s=9000"), "pass", 2 / 9, "its MB/s"),
        (("capacity.commits_s=9000",), "pass", 2 / 9, ""),
    ],
)
def test_the_log_is_a_stage_of_the_storage(
    settings: tuple[str, ...], status: str, share: float, not_judged: str
) -> None:
    found = card("storage", "workload.commits_s=2000", *settings)

    assert (found.status, found.not_judged) == (status, not_judged)
    assert found.share == pytest.approx(share, rel=0.01)
    assert [one.name for one in found.stages if one.name == "commits of the log"]
    assert not found.unmeasured
    assert ("commits of the log" in found.statement) is (share != 0.805)


def test_the_card_of_the_storage_names_the_rate_at_8_committers() -> None:
    assert measured_texts(commits(), "storage").texts == ("760 commits/s at 8",)
    found = commits()
    put(found.steps["io.commit"], Estimate("commits", at(8), 760.0, extra={"upper_bound": 1}))
    assert measured_texts(found, "storage").texts == ("at most 760 commits/s at 8",)


def test_the_share_of_the_storage_is_of_the_figures_beside_it() -> None:
    """Of the IOPS nothing is certain, which decides: 16,500 / 66,080 = 25 %. Commits: 2,400 / 2,912 = 82 %."""
    unsure = Uncertainty(0.0, "they may come from a cache")
    iops = Quantity(66_080.0, "1/s", Origin.MEASURED, "io.direct", uncertainties=(unsure,))
    wanted = ("workload.iops=16500", "redo.mb_s=0", "workload.commits_s=2400", "capacity.commits_s=2912")
    inputs = {**parse_settings(wanted), "capacity.iops": iops}
    found = next(one for one in size(inputs).cards if one.resource == "storage")

    assert (found.status, found.demand) == ("uncertain", "16,500 IOPS")
    assert found.detected == "66,080 IOPS (storage)"
    assert found.share == pytest.approx(16_500 / 66_080)
    open_end = next(one for one in found.stages if one.unit == "IOPS")
    assert (open_end.best, open_end.worst) == (pytest.approx(0.25, rel=0.01), None)
    assert json_decoder(Card).decode(ENCODER.encode(found)) == found, "what a session records can be read back"
