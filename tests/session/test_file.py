"""A session file survives what crashes, copies and strangers do to it."""

import gzip
import os
import re
from array import array
from pathlib import Path

import pytest
from msgspec.structs import replace

from sizeup.errors import MalformedError, UsageError
from sizeup.model.finding import Finding, Severity
from sizeup.model.plan import Better, Plan, Series, SeriesQuantity, Step
from sizeup.model.sample import Estimate, Outcome, Progress, Status
from sizeup.session.reader import SessionFollower, read_session
from sizeup.session.records import (
    ENCODER,
    FORMAT,
    LINE_LIMIT_BYTES,
    EndRecord,
    EstimateRecord,
    FindingRecord,
    NoteRecord,
    OutcomeRecord,
    PlanRecord,
    ProgressRecord,
    Record,
    SamplesRecord,
    SessionRecord,
    StepStartRecord,
)
from sizeup.session.value import Point, Session, point_key
from sizeup.session.writer import Writer

HEADER = SessionRecord(format=1, id="a1", tool="sizeup 0.1.0", host="db01", started="2026-01-31T09:30:00Z")
STEP = Step("null", "null", "Nothing", {"samples": 3}, 0.1, 5.0)
SERIES = Series("gap", "Time between two samples", "ns", Better.LOWER)
START = StepStartRecord(t_ns=10, step=STEP, distribution="sizeup 0.1.0", series=(SERIES,), chart="none")
BATCH = SamplesRecord("null", "gap", {}, (11, 12, 13), (1.0, 2.0, 3.0))
OUTCOME = OutcomeRecord(20, "null", Outcome(Status.OK))
WHOLE: tuple[Record, ...] = (
    HEADER,
    PlanRecord(5, Plan("quick", (STEP,))),
    START,
    BATCH,
    OUTCOME,
    EndRecord(30, "complete"),
)


def written(path: Path, *records: Record) -> Path:
    path.write_bytes(b"".join(ENCODER.encode(record) + b"\n" for record in records))
    return path


def samples(session: Session, step: str = "null") -> list[float]:
    return [value for point in session.steps[step].points.values() for value in point.values]


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "run.sizeup.jsonl"
    with Writer.create(str(path)) as writer:
        writer.write(*WHOLE)
        writer.sync()

    session = read_session(str(path))

    assert session.header == HEADER
    assert session.plan == Plan("quick", (STEP,))
    run = session.steps["null"]
    assert (run.step, run.outcome, run.series, run.finished) == (STEP, Outcome(Status.OK), {"gap": SERIES}, True)
    point = run.points[point_key("gap", {})]
    assert (list(point.t_ns), list(point.values), list(point.flags)) == ([11, 12, 13], [1.0, 2.0, 3.0], [0, 0, 0])
    assert session.end == EndRecord(30, "complete")
    assert session.damage.sentences() == ()
    assert session.last_ns == 30


def test_a_torn_last_line_is_forgiven_and_said(tmp_path: Path) -> None:
    path = written(tmp_path / "run", *WHOLE[:4])
    path.write_bytes(path.read_bytes() + b'{"kind":"samples","step":"nu')

    session = read_session(str(path))

    assert samples(session) == [1.0, 2.0, 3.0]
    assert session.damage.torn
    assert session.end is None


def test_appending_to_a_torn_file_costs_only_the_torn_line(tmp_path: Path) -> None:
    path = written(tmp_path / "run", *WHOLE[:4])
    path.write_bytes(path.read_bytes() + b'{"kind":"samples","step":"nu')

    with Writer.append(str(path)) as writer:
        writer.write(OUTCOME)

    session = read_session(str(path))
    assert session.outcomes == {"null": Outcome(Status.OK)}
    assert (session.damage.torn, session.damage.malformed) == (False, 1)


def test_every_prefix_of_a_file_opens_with_what_it_holds(tmp_path: Path) -> None:
    whole = written(tmp_path / "run", *WHOLE).read_bytes()
    ends = [match.start() for match in re.finditer(b"\n", whole)]
    for length in {*range(ends[0], len(whole), 17), *ends, *(end + 1 for end in ends)}:
        (tmp_path / "cut").write_bytes(whole[:length])
        session = read_session(str(tmp_path / "cut"))
        assert session.damage.malformed == 0


def test_the_follower_sees_what_the_reader_sees_in_any_portions(tmp_path: Path) -> None:
    whole = written(tmp_path / "run", *WHOLE).read_bytes()
    growing = tmp_path / "growing"
    follower = SessionFollower(str(growing))
    assert follower.poll() == 0
    assert follower.session is None

    with growing.open("ab", buffering=0) as file:
        for start in range(0, len(whole), 37):
            file.write(whole[start : start + 37])
            follower.poll()
    follower.close()

    assert follower.session == read_session(str(tmp_path / "run"))


def test_a_newer_format_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "new"
    path.write_text(f'{{"kind":"session","format":{FORMAT + 1},"shape":"unheard of"}}\n')

    with pytest.raises(UsageError, match=rf"newer sizeup \(format {FORMAT + 1}; this one reads up to {FORMAT}\)"):
        read_session(str(path))


@pytest.mark.parametrize(
    "content",
    [b"", b"hello\n", b"\x00\xff\xfe", b"[1,2]\n", b'{"kind":"samples"}\n', b"{" * 100_000, b'{"kind":"session"}\n'],
)
def test_a_file_that_is_no_session_is_said_to_be_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)

    with pytest.raises(MalformedError, match="expected a sizeup session"):
        read_session(str(path))


def test_a_missing_file_a_folder_and_a_fifo_are_refused_without_waiting(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected a session file, but there is no such file"):
        read_session(str(tmp_path / "none"))
    with pytest.raises(UsageError, match="expected a session file, found"):
        read_session(str(tmp_path))
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(UsageError, match="expected a session file, found"):
        read_session(str(tmp_path / "fifo"))


def test_unknown_kinds_and_fields_are_skipped_and_malformed_lines_are_located(tmp_path: Path) -> None:
    path = written(tmp_path / "run", *WHOLE[:3])
    with path.open("ab") as file:
        file.write(b'{"kind":"hologram","t_ns":1}\n')
        file.write(b'{"kind":"samples","step":"null","series":"gap","at":{},"t_ns":[1],"values":[1,2]}\n')
        file.write(b'{"kind":"samples","step":"null","series":"gap","at":{},"t_ns":[14],"values":[4],"new":1}\n')
        file.write(b"[" * 100_000 + b"\n")
        file.write(b'{"kind":"note","t_ns":1,"text":"\xff"}\n')

    session = read_session(str(path))

    assert samples(session) == [4.0]
    assert (session.damage.unknown, session.damage.malformed) == (1, 3)
    assert session.damage.first.startswith("line 5: expected as many times")


def test_more_declarations_than_a_manifest_has_are_refused(tmp_path: Path) -> None:
    """Each is held against every point, so that a file of a stranger could keep the reader busy for hours."""
    many = tuple(SeriesQuantity(f"q.{number}") for number in range(65))
    path = written(tmp_path / "run", *WHOLE[:2], replace(START, series=(replace(SERIES, quantities=many),)))
    enough = written(tmp_path / "other", *WHOLE[:2], replace(START, series=(replace(SERIES, quantities=many[:64]),)))

    assert read_session(str(path)).damage.malformed == 1
    assert read_session(str(enough)).damage.malformed == 0


def test_numbers_that_no_column_holds_are_refused_whole(tmp_path: Path) -> None:
    path = written(tmp_path / "run", *WHOLE[:4])
    with path.open("ab") as file:
        file.write(b'{"kind":"samples","step":"null","series":"gap","at":{},"t_ns":[1e400],"values":[1]}\n')
        file.write(b'{"kind":"samples","step":"null","series":"gap","at":{},"t_ns":[%d],"values":[1]}\n' % 2**70)
        file.write(b'{"kind":"samples","step":"null","series":"gap","at":{},"t_ns":[1],"values":[1],"flags":[300]}\n')
        file.write(b'{"kind":"samples","step":"null","series":"gap","at":{},"t_ns":[1],"values":[NaN]}\n')
        file.write(b'{"kind":"samples","step":"null","series":"gap","at":{},"t_ns":[1],"values":[null]}\n')

    session = read_session(str(path))

    assert samples(session) == [1.0, 2.0, 3.0]
    assert session.damage.malformed == 5


def test_a_line_without_end_is_forgotten_as_it_grows(tmp_path: Path) -> None:
    path = written(tmp_path / "run", *WHOLE[:3])
    with path.open("ab") as file:
        file.write(b'{"kind":"note","text":"' + b"x" * (LINE_LIMIT_BYTES + 10) + b'"}\n')
        file.write(ENCODER.encode(BATCH) + b"\n")

    session = read_session(str(path))

    assert session.damage.too_long == 1
    assert samples(session) == [1.0, 2.0, 3.0]


def test_a_repeated_batch_counts_once(tmp_path: Path) -> None:
    session = read_session(str(written(tmp_path / "run", *WHOLE[:4], BATCH, *WHOLE[4:])))

    assert samples(session) == [1.0, 2.0, 3.0]
    assert session.damage.duplicates == 1


def test_a_point_without_an_estimate_is_worth_the_median_of_what_nothing_disturbed() -> None:
    point = Point("s", {})
    assert point.value is None

    for value, flags in ((9.0, 1), (1.0, 0), (2.0, 0), (3.0, 0)):
        point.values.append(value)
        point.flags.append(flags)
    assert (point.value, list(point.undisturbed)) == (2.0, [1.0, 2.0, 3.0])

    point.values.append(4.0)
    point.flags.append(0)
    assert point.value == 2.5

    point.estimate = Estimate("s", {}, 7.0)
    assert point.value == 7.0
    assert Point("s", {}, values=array("d", [5.0]), flags=array("B", [1])).value == 5.0


def test_no_control_character_leaves_the_reader(tmp_path: Path) -> None:
    hostile = "\x1b[2J\u202egnp\x9b31m\x7f\ttext\nsecond"
    finding = Finding("x", Severity.INFO, hostile, (hostile,), hostile, hostile)
    path = written(tmp_path / "run", HEADER, FindingRecord(1, finding), NoteRecord(2, hostile))

    session = read_session(str(path))

    assert session.findings[0].title == "\ufffd[2J\ufffdgnp\ufffd31m\ufffd text\nsecond"
    assert not set(session.notes[0].text) & set("\x1b\x9b\x7f\t\u202e")


def test_a_gzipped_session_reads_like_a_plain_one_and_a_truncated_one_as_far_as_it_goes(tmp_path: Path) -> None:
    plain = written(tmp_path / "run", *WHOLE)
    packed = tmp_path / "run.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read_session(str(packed)) == read_session(str(plain))

    packed.write_bytes(packed.read_bytes()[:-20])
    assert read_session(str(packed)).header == HEADER


def test_a_gzip_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sizeup.session.reader.DECOMPRESSED_LIMIT_BYTES", 1 << 20)
    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(gzip.compress(ENCODER.encode(HEADER) + b"\n" + b"\n" * (2 << 20)))

    with pytest.raises(UsageError, match="refused: it holds more than"):
        read_session(str(bomb))


def test_a_resumed_step_replaces_its_first_attempt_and_keeps_it(tmp_path: Path) -> None:
    again = SamplesRecord("null", "gap", {}, (41,), (9.0,))
    session = read_session(str(written(tmp_path / "run", *WHOLE[:4], START, again, OUTCOME)))

    assert samples(session) == [9.0]
    assert [len(run.points) for run in session.earlier_attempts] == [1]


def test_the_missing_steps_are_those_without_a_good_end(tmp_path: Path) -> None:
    steps = tuple(Step(id_, "null", "", {}, 1, 1) for id_ in ("null", "null~2", "null~3"))
    plan = PlanRecord(1, Plan("quick", steps))
    crashed = OutcomeRecord(2, "null~2", Outcome(Status.CRASHED, signal="SIGSEGV"))
    starts = [StepStartRecord(2, step, "sizeup 0.1.0") for step in steps[:2]]

    session = read_session(str(written(tmp_path / "run", HEADER, plan, starts[0], OUTCOME, starts[1], crashed)))

    assert [step.id for step in session.missing_steps] == ["null~2", "null~3"]


def test_the_latest_estimate_and_progress_count(tmp_path: Path) -> None:
    estimates = [EstimateRecord(t, "null", Estimate("gap", {"size": 1}, float(t))) for t in (1, 2)]
    records = (HEADER, START, *estimates, ProgressRecord(3, "null", 0.5, 2.0, "warming up"))

    run = read_session(str(written(tmp_path / "run", *records))).steps["null"]

    assert [point.estimate and point.estimate.value for point in run.points.values()] == [2.0]
    assert run.progress == Progress(0.5, 2.0, "warming up")


def test_an_existing_session_is_never_written_over(tmp_path: Path) -> None:
    path = written(tmp_path / "run", *WHOLE)

    with pytest.raises(UsageError, match="already exists"):
        Writer.create(str(path))


def test_two_writers_never_share_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "run")
    with Writer.create(path), pytest.raises(UsageError, match="another sizeup is writing"):
        Writer.append(path)


def test_a_place_that_cannot_be_written_is_named_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none/run: cannot write the session: No such file or directory"):
        Writer.create(str(tmp_path / "none" / "run"))


def test_a_full_disk_is_said_and_keeps_what_was_written() -> None:
    with Writer.create("/dev/full") as writer, pytest.raises(UsageError, match="No space left on device"):
        writer.write(HEADER)
