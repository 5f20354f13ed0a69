"""Whatever a file holds, it is refused in one line or shown without a traceback, a hang or an escape code."""

import gzip
import random
import re
import time
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from damage import mutate
from sizeup.batch.standard_output import comparison_lines, session_lines
from sizeup.compare.compare import compare
from sizeup.compare.digest import digest
from sizeup.errors import SizeupError
from sizeup.fleet.fleet import FleetFiles, build_fleet
from sizeup.fleet.host_session import host_session
from sizeup.fleet.table import fleet_lines
from sizeup.session.reader import read_session
from sizeup.session.records import AnyRecord, SessionRecord, StepStartRecord
from sizeup.views.run.results import results_data

KEPT = (Path(__file__).parent / "formats/format-1.jsonl").read_bytes()
STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
SECONDS_EACH = 5.0


def check(path: Path, data: bytes) -> bool:
    """Open and show the file; whether it was taken for a session."""
    path.write_bytes(data)
    started = time.process_time()
    refusal = ""
    try:
        session = read_session(str(path))
        shown = "\n".join(session_lines(session, whole=True))
        msgspec.json.encode(results_data(session))
        first = digest(session, "new")
        shown += "\n".join(comparison_lines(compare([first], [replace(first, id="other")]), statistics=True))
        row = host_session(session, "db01")
        shown += "\n".join(fleet_lines(build_fleet(FleetFiles((row, replace(row, host="db02")), ()))))
    except SizeupError as error:
        refusal = shown = str(error)
    assert not STEERING.search(shown), repr(STEERING.search(shown))
    assert "\n" not in refusal
    assert time.process_time() - started < SECONDS_EACH
    return not refusal


def run(path: Path, seed: int, count: int) -> None:
    source = random.Random(seed)
    for number in range(count):
        data = mutate(source, KEPT)
        try:
            check(path, data)
        except BaseException:
            path.with_name(f"failed-{seed}-{number}").write_bytes(data)
            raise


@pytest.mark.ci
def test_a_few_hundred_mutated_sessions_are_refused_or_shown(tmp_path: Path) -> None:
    run(tmp_path / "mutant", seed=1, count=300)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 200))
def test_a_hundred_thousand_mutated_sessions_are_refused_or_shown(tmp_path: Path, seed: int) -> None:
    run(tmp_path / "mutant", seed=seed, count=1000)


def accepted(path: Path, data: bytes) -> list[AnyRecord]:
    """The records that were read of the file, samples without what their repetition leaves out."""
    path.write_bytes(data)
    found: list[AnyRecord] = []
    read_session(str(path), found.append)
    return found


@pytest.mark.parametrize("packed", [False, True])
def test_a_cut_file_keeps_every_whole_line(tmp_path: Path, *, packed: bool) -> None:
    path = tmp_path / "cut"
    whole = accepted(path, KEPT)
    for end in range(KEPT.index(b"\n") + 1, len(KEPT), 211):
        part = KEPT[:end]
        assert accepted(path, gzip.compress(part, 1) if packed else part) == whole[: part.count(b"\n")], end


def test_a_damaged_line_costs_itself_alone(tmp_path: Path) -> None:
    path, source = tmp_path / "damaged", random.Random(7)
    whole, lines = accepted(path, KEPT), KEPT.splitlines(keepends=True)
    assert len(whole) == len(lines)
    for number, record in enumerate(whole):
        if not isinstance(record, SessionRecord | StepStartRecord):  # without its start, nothing belongs to a step
            torn = bytes(byte ^ (1 << source.randrange(7)) for byte in lines[number][:-1]).replace(b"\n", b"?") + b"\n"
            found = accepted(path, b"".join([*lines[:number], torn, *lines[number + 1 :]]))
            assert found == [*whole[:number], *whole[number + 1 :]], record
            assert read_session(str(path)).damage.malformed == 1


JUDGED = (Path(__file__).parent / "formats/format-2.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("data", "old", "new"),
    [
        (JUDGED, b'"resource":"storage","status":"warn"', b'"resource":"storage","status":"of a later version"'),
        (JUDGED, b'"resource":"storage","status":"warn"', b'"resource":"a later one","status":""'),
        (KEPT, b'"kind":"step-start","t_ns":40', b'"kind":"step-start","t_ns":-40'),
    ],
)
def test_what_no_run_of_this_version_writes_is_shown_and_passes_nothing(
    tmp_path: Path, data: bytes, old: bytes, new: bytes
) -> None:
    assert old in data
    assert check(tmp_path / "later", data.replace(old, new))
    assert "PASS" not in session_lines(read_session(str(tmp_path / "later")))[2]
