"""A run is logged as it happens, and the log comes first."""

import time
from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import replace

from fakes import QuietControl
from sizeup.engine.run import Recorder
from sizeup.model.machine import Gap
from sizeup.model.plan import Plan, Refusal, SettingValue, Step
from sizeup.model.records import StepRecord
from sizeup.model.sample import Estimate, Progress, Status
from sizeup.probing.registry import Registry, load_registry
from sizeup.probing.wire import Ending, Message
from sizeup.session.reader import read_session
from sizeup.session.records import AnyRecord, OutcomeRecord, Record, SessionRecord
from sizeup.session.writer import Writer

HEADER = SessionRecord(format=1, id="a1", tool="sizeup 0.1.0", host="db01", started="2026-01-31T09:30:00Z")


def null(id_: str = "null", **settings: SettingValue) -> Step:
    return Step(id_, "null", "", {"samples": 5, "interval": 0.0001, "misbehave": "no"} | settings, 1.0, 600.0)


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


def test_what_a_probe_yields_is_logged_as_the_record_that_its_worker_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one_of_each.py").write_text(
        "from sizeup.model.machine import Gap\n"
        "from sizeup.model.sample import *\n"
        "class Probe:\n"
        "    def run(self, step, context):\n"
        "        yield Samples('s', {'x': 1}, (context.now_ns(),), (2.5,), (4,))\n"
        "        yield Estimate('s', {'x': 1}, 2.5)\n"
        "        yield Progress(0.5, 1.0, 'halfway')\n"
        "        yield Gap('7 samples of s', 'dropped')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    probe = replace(load_registry().get("null"), target="one_of_each:Probe")
    registry = Registry({"null": probe}, ())
    heard: list[Record] = []
    with Writer.create(str(tmp_path / "run")) as writer:
        origin_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        recorder = Recorder(writer, origin_ns=origin_ns, listeners=[heard.append])
        recorder.put(HEADER)
        recorder.run([null()], registry, QuietControl())

    session = read_session(str(tmp_path / "run"))
    (point,) = session.steps["null"].points.values()
    assert (list(point.values), list(point.flags)) == ([2.5], [4])
    assert point.estimate == Estimate("s", {"x": 1}, 2.5)
    assert session.steps["null"].progress == Progress(0.5, 1.0, "halfway")
    assert session.gaps == [Gap("7 samples of s", "dropped")]
    assert heard[2:-1] == [record for record in heard if isinstance(record, StepRecord)]
    assert all(0 < record.t_ns < session.last_ns for record in heard[3:-1])  # type: ignore[attr-defined]


def test_a_message_of_a_worker_is_the_record_of_the_file() -> None:
    messages, records = get_args(Message), get_args(AnyRecord)

    assert set(messages) - set(records) == {Ending}
    assert Ending.__struct_config__.tag not in {kind.__struct_config__.tag for kind in records}


def test_a_canceled_run_starts_no_further_step(tmp_path: Path) -> None:
    control = QuietControl()
    control.cancel_run = True
    with Writer.create(str(tmp_path / "run")) as writer:
        recorder = Recorder(writer, origin_ns=0)
        recorder.put(HEADER)
        recorder.run([null()], load_registry(), control)

    assert read_session(str(tmp_path / "run")).steps == {}
