"""Inputs that a user enters for a session: recorded with the advice on them, shown from then on, kept by later runs."""

import errno
import os
from pathlib import Path

import pytest

from consoles import ended, machine, records
from played_runs import PlayedRunner
from sizeup.engine.advice import advice_record, save_advice
from sizeup.errors import UsageError
from sizeup.model.advice import AdviceSet
from sizeup.quantity import Origin
from sizeup.session.reader import read_session
from sizeup.session.records import AdviceRecord, EndRecord, NoteRecord, StatedInput
from sizeup.session.store import SUFFIX, unfinished
from sizeup.session.value import Session
from sizeup.sizing.keys import KEYS
from sizeup.sizing.recorded_inputs import recorded_inputs
from sizeup.sizing.session_advice import AdviceOrigin, session_advice

ENTERED = {
    "workload.iops": KEYS["workload.iops"].parse("20000", Origin.USER, "what-if"),
    "capacity.iops": KEYS["capacity.iops"].parse("40000..50000..60000", Origin.USER, "what-if"),
    "db.device": KEYS["db.device"].parse("sda", Origin.USER, "what-if"),
    "redo.mb_s": KEYS["redo.mb_s"].parse("3", Origin.IMPORTED, "awr.html"),
}


def finished(tmp_path: Path) -> str:
    path = tmp_path / f"run{SUFFIX}"
    first = AdviceRecord(150, AdviceSet())
    PlayedRunner(path).write([*records(found=machine()), *ended()[:1], first, *ended()[1:]])
    return str(path)


def test_saved_inputs_come_back_with_their_origin_and_the_advice_on_them_is_shown(tmp_path: Path) -> None:
    path = finished(tmp_path)
    save_advice(path, ENTERED)
    session = read_session(path)
    shown = session_advice(session)

    assert recorded_inputs(session) == ENTERED
    assert shown.origin is AdviceOrigin.RECORDED
    assert shown.given.find("verdict.storage") is not None
    assert shown.label.startswith("Worked out with 4 inputs entered by the user, 20")
    assert session.end == EndRecord(session.last_ns, "complete")
    assert not unfinished(tmp_path)
    assert session.damage.sentences() == ()


def test_recomputed_advice_and_a_later_run_keep_the_entered_inputs(tmp_path: Path) -> None:
    path = finished(tmp_path)
    save_advice(path, ENTERED)
    session = read_session(path)
    assert session.machine is not None
    later = advice_record(session.last_ns + 1, session.machine, session)

    assert later.stated == session.stated
    assert later.given.find("verdict.storage") is not None
    assert session_advice(session, recompute=True).given.find("verdict.storage") is not None


def test_inputs_that_are_taken_back_leave_advice_without_them(tmp_path: Path) -> None:
    path = finished(tmp_path)
    save_advice(path, ENTERED)
    save_advice(path, {})
    session = read_session(path)

    assert not session.stated
    assert session_advice(session).label == ""
    assert session_advice(session).given.find("verdict.storage") is None


def test_inputs_without_a_measurement_make_a_session_of_the_machine(tmp_path: Path) -> None:
    path = str(tmp_path / f"new{SUFFIX}")
    save_advice(path, ENTERED, machine())
    session = read_session(path)

    assert session.header.host == "db01"
    assert session.machine == machine()
    assert session_advice(session).given.find("verdict.storage") is not None
    assert not unfinished(tmp_path)


def test_a_full_disk_loses_nothing_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = finished(tmp_path)
    before = Path(path).read_bytes()

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(UsageError, match=r"cannot write the inputs: No space left on device.*is kept"):
        save_advice(path, ENTERED)
    with pytest.raises(UsageError, match="No space left on device"):
        save_advice(str(tmp_path / f"new{SUFFIX}"), ENTERED, machine())
    monkeypatch.undo()

    assert Path(path).read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == [f"run{SUFFIX}"]


def test_a_note_after_the_inputs_leaves_the_session_finished(tmp_path: Path) -> None:
    path = finished(tmp_path)
    save_advice(path, ENTERED)
    PlayedRunner(Path(path)).write([NoteRecord(999, "read")])

    assert not unfinished(tmp_path)


def test_an_unknown_or_impossible_recorded_input_is_left_out() -> None:
    header = records()[0]
    stated = (
        StatedInput("no.such", "1", Origin.USER, "typed"),
        StatedInput("workload.iops", "-5", Origin.USER, "typed"),
        StatedInput("workload.io_kib", "8KiB", Origin.USER, "typed"),
    )
    session = Session(header, stated=stated)  # type: ignore[arg-type]

    assert list(recorded_inputs(session)) == ["workload.io_kib"]


def test_inputs_that_contradict_the_machine_of_the_session_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="they contradict the machine"):
        save_advice(finished(tmp_path), {"db.device": KEYS["db.device"].parse("/u77", Origin.USER, "what-if")})


def test_a_session_without_a_machine_is_refused(tmp_path: Path) -> None:
    path = tmp_path / f"bare{SUFFIX}"
    PlayedRunner(path).write(records()[:1])

    with pytest.raises(UsageError, match="has no machine record"):
        save_advice(str(path), ENTERED)


def test_a_machine_that_has_lost_the_entered_device_is_sized_without_the_inputs(tmp_path: Path) -> None:
    path = finished(tmp_path)
    save_advice(path, ENTERED)
    session = read_session(path)
    changed = advice_record(session.last_ns + 1, machine(block_devices=()), session)

    assert not changed.stated
    assert changed.given.find("io.demand.headline") is not None
    session.machine = machine(block_devices=())
    assert not recorded_inputs(session)
    assert session_advice(session, recompute=True).given.advice
