"""Figures of other tools become a session that says where they are from, in our names and units."""

import contextlib
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from characters import ANY_CHARACTER
from importers import test_fio_text
from importers.results import (
    COUNTS,
    MATRIX,
    ORION,
    ORION_OUTPUT,
    SLB,
    SLOB,
    fio_file,
    fio_job,
    lscpu,
    old_direction,
    old_file,
    old_job,
)
from sizeup.cli import run
from sizeup.errors import ExitStatus, MalformedError, SizeupError
from sizeup.importers.imported import Imported, session_records
from sizeup.importers.kinds import KINDS, read_foreign
from sizeup.importers.slb import parse_slb
from sizeup.session.reader import read_session
from sizeup.session.value import Session
from sizeup.session.writer import Writer
from tiers import one_in

ORION_RAMP = """Large/Small,      1,      2,      4,     8,     16
          0,   2302,   4398,   7000,  8900,   9000
"""
"""IOPS that stop rising: the most is known."""


def session_of(tmp_path: Path, *parts: tuple[str, Imported]) -> Session:
    path = str(tmp_path / "imported.sizeup.jsonl")
    with Writer.create(path) as writer:
        writer.write(*session_records(parts, host="old01", now=datetime(2026, 1, 31, tzinfo=UTC)))
    return read_session(path)


def test_the_session_says_of_every_figure_that_it_was_imported(tmp_path: Path) -> None:
    parts = (("slb.txt", parse_slb(SLB, "slb.txt")), ("again.txt", parse_slb(SLB, "again.txt")))
    session = session_of(tmp_path, *parts)

    assert session.damage.sentences() == ()
    assert session.header.title == "Imported from slb.txt, again.txt"
    assert list(session.steps) == ["memory.hammer", "memory.hammer~2"]
    for step in session.steps.values():
        assert step.distribution == "imported from SLB memhammer"
        for point in step.points.values():
            assert point.estimate.caveats[0] == "imported from SLB memhammer, not measured by sizeup"
    assert session.missing_steps == ()


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ({"rate": "100m"}, "its rate was limited (rate=100m)). Measure without that limit to decide"),
        ({"rate_iops": "0,500"}, "its rate was limited (rate_iops=0,500)). Measure without that limit to decide"),
        ({"thinktime": "100"}, "its rate was limited (thinktime=100)). Measure without that limit to decide"),
        ({"rate": "0"}, "it was measured at queue depth 8 alone"),
    ],
)
def test_what_fio_was_limited_to_is_at_least_what_the_storage_gives(
    limit: dict[str, str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {"rw": "randread", "bs": "1m", "iodepth": "8", "direct": "1", "ioengine": "libaio", **limit}
    source, session = tmp_path / "fio.json", str(tmp_path / "imported.sizeup.jsonl")
    source.write_text(fio_file(fio_job(**{"job options": options})), encoding="utf-8")
    assert run(["session", "import", str(source), "-o", session]) == ExitStatus.OK

    assert run(["size", "--machine", session, "--set", "workload.mb_s=900"]) == ExitStatus.OK
    assert said in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("options", "milliseconds", "said"),
    [
        ({"rw": "randrw", "rwmixread": "70"}, 4000, "NOT CERTAIN Storage: 40,000 IOPS demand, 50,000 IOPS capacity"),
        ({"rw": "randrw", "rwmixread": "50"}, 1_800_000, "WARN Storage: 40,000 IOPS demand, 50,000 IOPS capacity"),
        ({"rw": "randwrite"}, 1_800_000, "WARN Storage: 40,000 IOPS demand, 50,000 IOPS capacity (80 %"),
    ],
)
def test_iops_of_a_mix_or_of_writes_of_fio_count_as_far_as_they_reach(
    options: dict[str, str], milliseconds: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """40,000 of 50,000 are 80 %; of 4 seconds of writes a tenth is certain."""
    load = {"bs": "8k", "iodepth": "8", "direct": "1", "ioengine": "libaio", **options}
    job = fio_job(**{"job options": load})
    done = {**job["read"], "iops": 50_000.0, "bw_bytes": 409_600_000, "runtime": milliseconds}
    done["total_ios"] = 50 * milliseconds
    half = {**done, "iops": 25_000.0, "bw_bytes": 204_800_000, "total_ios": 25 * milliseconds}
    both = {"read": job["write"], "write": done} if load["rw"] == "randwrite" else {"read": half, "write": half}
    source, session = tmp_path / "fio.json", str(tmp_path / "imported.sizeup.jsonl")
    source.write_text(fio_file({**job, **both}), encoding="utf-8")
    assert run(["session", "import", str(source), "-o", session]) == ExitStatus.OK

    demand = ("workload.iops=40000", "workload.read_percent=70", "workload.io_kib=4", "redo.mb_s=0")
    run(["size", "--machine", session, *(part for key in demand for part in ("--set", key))])
    assert said in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (ORION_RAMP, " 9,000 IOPS "),
        (fio_file(fio_job()), "ASSUMED Storage: 2,000 IOPS "),
        (SLB, "NO VERDICT Storage: "),
    ],
)
def test_figures_without_a_machine_are_sized_as_show_recommends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, shown: str
) -> None:
    source, session = tmp_path / "disks_1_iops.csv", str(tmp_path / "imported.sizeup.jsonl")
    source.write_text(text)
    assert run(["session", "import", str(source), "-o", session]) == ExitStatus.OK
    for command in (["size", "--machine"], ["size", "compare"]):
        assert run([*command, session, "--set", "workload.iops=2000"]) == ExitStatus.OK
    assert run(["session", "show", "--recompute", session]) == ExitStatus.OK
    assert run(["size", "--machine", session, "--set", "workload.iops=2000"]) == ExitStatus.OK

    assert shown in " ".join(capsys.readouterr().out.rpartition("Session saved")[2].split())


def test_the_command_finds_out_what_each_file_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    texts = {
        "r.json": fio_file(fio_job()),
        "s.txt": ORION,
        "s_iops.csv": f"ORION VERSION 11.2.0.4.0\n\nThe maximum of small I/Os in IOPS\n{MATRIX}",
        "slb.txt": SLB,
        "awr_info.txt": SLOB,
        "c.json": lscpu(*COUNTS),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    out = tmp_path / "old.sizeup.jsonl"

    files = [str(tmp_path / name) for name in texts]
    assert run(["session", "import", *files, "--host", "old01", "-o", str(out)]) == ExitStatus.OK
    assert run(["session", "import", files[0]]) == ExitStatus.OK
    assert len(list((tmp_path / "state").rglob("*.sizeup.jsonl"))) == 1
    assert run(["session", "import", files[0], "--host", "db\udcff"]) == ExitStatus.USAGE
    assert len(list((tmp_path / "state").rglob("*.sizeup.jsonl"))) == 1

    session = read_session(str(out))
    assert session.header.host == "old01"
    assert list(session.steps) == [
        "io.direct.fio.db",
        "io.direct.orion",
        "io.direct.orion-iops",
        "memory.hammer",
        "slob",
    ]
    assert session.machine is not None
    assert "c.json: lscpu, the machine" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "expected the JSON of fio"),
        (b"hello", "expected the JSON of fio"),
        (b'{"fio version": "fio-3.1", "jobs": [', "expected the JSON of fio"),
        (b'{"fio version": "fio-3.1", "jobs": []}', "at least one fio job that read or wrote data"),
        (b'{"lscpu": ' + b"[" * 100_000, "expected the output of lscpu -J"),
        (b'{"lscpu": [{"field": "CPU(s):", "data": "9"}, {"field": "Socket(s):", "data": "99999"}]}', "at most 8192"),
        (b"ORION VERSION 11\n", "Maximum Small IOPS"),
        (b"ORION VERSION 11\n" * 2, "expected the summary of one run of ORION, found 2"),
        (b"nsec/op", "expected lines of memhammer"),
        (b"FILE|SESSIONS|LIO|\n", "rows of numbers"),
        (b'\xff\xfe{"fio version"', "expected the JSON of fio"),
    ],
)
def test_what_is_no_result_is_refused_in_one_line_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, said: str
) -> None:
    (tmp_path / "odd").write_bytes(content)

    assert run(["session", "import", str(tmp_path / "odd"), "-o", str(tmp_path / "out")]) == ExitStatus.USAGE

    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert not (tmp_path / "out").exists()


WHOLE = {
    "fio": fio_file(fio_job()),
    "fio-text": test_fio_text.TWICE,
    "orion": ORION,
    "orion-matrix": MATRIX,
    "slb": SLB,
    "slob": SLOB,
    "lscpu": lscpu(*COUNTS, ("L2 cache", "1 MiB")),
}


SAMPLES = (*WHOLE.items(), ("orion", ORION_OUTPUT), ("fio", old_file("fio-2.1.3", old_job(read=old_direction()))))


@pytest.mark.parametrize(("kind", "text"), one_in(3, SAMPLES))
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_damaged_results_are_read_or_refused_and_never_a_traceback(kind: str, text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    dropped = data.draw(st.integers(0, 40))
    damaged = text[:at] + data.draw(st.text(ANY_CHARACTER, max_size=12)) + text[at + dropped :]

    told = ""
    try:
        list(session_records([("x", KINDS[kind][1](damaged, "x"))], host=None, now=datetime(2026, 1, 31, tzinfo=UTC)))
    except MalformedError as error:
        told = str(error)
    assert "\n" not in told


@pytest.mark.parametrize(("kind", "text"), one_in(3, WHOLE.items()))
def test_a_number_without_end_is_refused_or_left_out(kind: str, text: str, tmp_path: Path) -> None:
    for match in list(re.finditer(r"\d+", text))[:40]:
        for digits in (5000, 400, 20):
            (tmp_path / "results").write_text(text[: match.start()] + "9" * digits + text[match.end() :])
            with contextlib.suppress(SizeupError):
                read_foreign(str(tmp_path / "results"), kind)


@pytest.mark.parametrize(("direct", "verdict"), [("1", "PASS"), ("0", "NOT CERTAIN")])
def test_what_the_page_cache_may_have_served_decides_nothing(
    direct: str, verdict: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {"rw": "randread", "bs": "8k", "iodepth": "8", "direct": direct, "ioengine": "libaio"}
    source, session = tmp_path / "fio.json", str(tmp_path / "imported.sizeup.jsonl")
    source.write_text(fio_file(fio_job(**{"job options": options})), encoding="utf-8")
    assert run(["session", "import", str(source), "-o", session]) == ExitStatus.OK
    capsys.readouterr()

    load = ["workload.iops=1000", "workload.read_percent=100", "redo.mb_s=0", "workload.io_kib=8"]
    assert run(["size", "--machine", session, "--set", *load]) == ExitStatus.OK
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith(verdict), text
    assert ("measured without direct I/O" in text) == (direct == "0")
