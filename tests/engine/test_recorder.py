"""A run is logged as it happens, and the log comes first."""

import time
from pathlib import Path

from fakes import QuietControl
from sizeup.engine.recorder import Recorder
from sizeup.model.plan import Plan, Refusal, SettingValue, Step
from sizeup.model.sample import Status
from sizeup.probing.registry import load_registry
from sizeup.session.reader import read_session
from sizeup.session.records import OutcomeRecord, Record, SessionRecord
from sizeup.session.writer import Writer

HEADER = SessionRecord(format=1, id="a1", tool="sizeup 0.1.0", host="db01", started="2026-01-31T09:30:00Z")


def null(id_: str = "null", **settings: SettingValue) -> Step:
    return Step(id_, "null", "", {"samples": 5, "interval": 0.0001, "misbehave": "no"} | settings, 1.0, 10.0)


def test_each_step_ends_in_an_outcome_and_a_crash_stops_no_other(tmp_path: Path) -> None:
    path = tmp_path / "run"
    heard: list[Record] = []

    def listen(record: Record) -> None:
        heard.append(record)
        if isinstance(record, OutcomeRecord):
            assert record.step in read_session(str(path)).outcomes, "told before it was logged"

    with Writer.create(str(path)) as writer:
        recorder = Recorder(writer, origin_ns=time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW), listeners=[listen])
        recorder.put(HEADER)
        recorder.refuse(Plan("quick", refusals=(Refusal("io.direct", "io.direct", "no target"),)))
        recorder.run([null(misbehave="segfault"), null("null~2")], load_registry(), QuietControl())

    session = read_session(str(path))
    assert {id_: outcome.status for id_, outcome in session.outcomes.items()} == {
        "io.direct": Status.REFUSED,
        "null": Status.CRASHED,
        "null~2": Status.OK,
    }
    assert [[len(point.values) for point in run.points.values()] for run in session.steps.values()] == [[5], [5]]
    assert session.steps["null"].distribution.startswith("sizeup ")
    assert heard[0] == HEADER


def test_a_canceled_run_starts_no_further_step(tmp_path: Path) -> None:
    control = QuietControl()
    control.cancel_run = True
    with Writer.create(str(tmp_path / "run")) as writer:
        recorder = Recorder(writer, origin_ns=0)
        recorder.put(HEADER)
        recorder.run([null()], load_registry(), control)

    assert read_session(str(tmp_path / "run")).steps == {}
