"""Sessions get names that sort by time and never collide."""

import os
import resource
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sizeup.errors import UsageError
from sizeup.session.reader import read_session
from sizeup.session.records import NoteRecord, SessionRecord
from sizeup.session.store import (
    SUFFIX,
    annotate,
    baseline,
    command_name,
    directory,
    entries,
    find,
    latest,
    new_path,
    recent_sessions,
    start_of,
    unfinished,
)
from sizeup.session.writer import Writer

WHEN = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)


def test_a_session_is_named_after_host_and_time(tmp_path: Path) -> None:
    assert new_path("db01", WHEN, tmp_path).name == "db01-20260131T093000Z.sizeup.jsonl"


def test_a_second_session_of_the_same_second_gets_a_number(tmp_path: Path) -> None:
    new_path("db01", WHEN, tmp_path).touch()

    assert new_path("db01", WHEN, tmp_path).name == "db01-20260131T093000Z-2.sizeup.jsonl"


def test_a_host_name_cannot_leave_the_folder(tmp_path: Path) -> None:
    assert new_path("../../etc/x y", WHEN, tmp_path).parent == tmp_path


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot keep sessions here"):
        new_path("db01", WHEN, tmp_path / "file" / "sessions")


def test_the_default_folder_follows_xdg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/state")

    assert directory() == Path("/state/sizeup/sessions")


def test_what_has_no_end_is_unfinished_and_the_last_written_comes_first(tmp_path: Path) -> None:
    end, note = '{"kind":"end","t_ns":9,"status":"complete"}', '{"kind":"note","t_ns":3,"text":"end"}'
    continued = '{"kind":"continued","t_ns":10,"tool":"sizeup 0.1.0","started":""}'
    for number, (name, text) in enumerate(
        {
            "ended": f"{note}\n{end}\n",
            "going-on": f"{note}\n",
            "torn-in-its-end": f"{note}\n{end}",
            "noted-after-its-end": f"{end}\n{note}\n",
            "went-on-after-an-end": f"{end}\n{continued}\n",
            "long-line": '{"kind":"end", "x": "' + "y" * 10000 + '"}\n',
            "rubbish": "\n[]\n",
            "empty": "",
        }.items()
    ):
        path = tmp_path / f"{name}.sizeup.jsonl"
        path.write_text(text)
        os.utime(path, ns=(number, number))
    (tmp_path / "notes.txt").write_text("no session")

    names = [path.name.partition(".")[0] for path in unfinished(tmp_path)]

    assert names == ["rubbish", "long-line", "went-on-after-an-end", "torn-in-its-end", "going-on"]
    assert unfinished(tmp_path / "none") == []


def noted(path: Path, *notes: NoteRecord) -> Path:
    with Writer.create(str(path)) as writer:
        writer.write(SessionRecord(1, path.name, "sizeup 0", "db01", "2026-01-01T00:00:00Z"), *notes)
    return path


def test_the_baseline_is_the_session_that_was_marked_last_whichever_was_measured_last(tmp_path: Path) -> None:
    assert baseline(entries(tmp_path)) is None
    for name, written in (("a", "2026-01-03T00:00:00Z"), ("b", "2026-01-02T00:00:00Z"), ("c", "2026-01-04T00:00:00Z")):
        tags = ("calm",) if name == "c" else ("baseline",)
        noted(tmp_path / f"{name}.sizeup.jsonl", NoteRecord(1, "", "", written, tags))

    marked = baseline(entries(tmp_path))

    assert marked.path.name == "a.sizeup.jsonl"


def test_a_session_opened_elsewhere_is_listed_once_beside_those_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    inside, outside = (noted(where / "a.sizeup.jsonl") for where in (folder, tmp_path))

    assert {entry.path for entry in entries(folder, opened=str(outside))} == {inside, outside}
    assert [entry.path for entry in entries(folder, opened=os.path.relpath(inside))] == [inside]
    assert [entry.path for entry in entries(tmp_path / "none", opened=str(outside))] == [outside]


def test_a_session_that_found_no_room_at_all_leaves_no_file_unless_it_was_there_before(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.sizeup.jsonl" for name in ("new", "there")]
    paths[1].touch()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5, hard))
    try:
        for path in paths:
            with pytest.raises(UsageError, match="cannot write the session any further: File too large"):
                noted(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert [path.exists() for path in paths] == [False, True]


def test_a_note_that_finds_no_room_leaves_the_session_and_its_lock_alone(tmp_path: Path) -> None:
    path = noted(tmp_path / "torn.sizeup.jsonl")
    with path.open("ab") as file:
        file.write(b'{"kind":"no')
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for room in (0, 5):  # for nothing, and for a part of the note
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + room, hard))
        try:
            with pytest.raises(UsageError, match=r"cannot write the note: File too large; what was written before"):
                annotate(str(path), "calm")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert path.read_bytes().rstrip(b"\n") == before
    annotate(str(path), "calm")

    assert [note.text for note in read_session(str(path)).notes] == ["calm"]


def test_the_start_of_a_session_is_read_from_its_first_line(tmp_path: Path) -> None:
    assert start_of(noted(tmp_path / "one.sizeup.jsonl")) == "2026-01-01T00:00:00Z"
    for text in ("", "[]", "rubbish", '{"kind":"session"}'):
        (tmp_path / "two.sizeup.jsonl").write_text(text)
        assert start_of(tmp_path / "two.sizeup.jsonl") == ""
    assert start_of(tmp_path / "none") == ""


def test_a_session_goes_on_while_its_writer_lives(tmp_path: Path) -> None:
    path = noted(tmp_path / "one.sizeup.jsonl")
    with Writer.append(str(path)):
        assert [entry.going_on for entry in entries(tmp_path)] == [True]
    assert [entry.going_on for entry in entries(tmp_path)] == [False]


def test_a_session_that_only_another_user_reads_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("theirs", "ours"):
        noted(tmp_path / f"{name}.sizeup.jsonl")
    opened = Path.open

    def refused(path: Path, *arguments: str) -> object:
        if path.name.startswith("theirs"):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *arguments)

    monkeypatch.setattr(Path, "open", refused)

    assert [path.name for path in unfinished(tmp_path)] == ["ours.sizeup.jsonl"]


def test_a_store_that_cannot_be_listed_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(UsageError, match="cannot list the sessions: Not a directory"):
        unfinished(tmp_path / "file")


def test_a_session_is_found_by_its_name_with_and_without_suffix_and_as_the_latest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")  # A file of the working directory comes before a session of that name.
    for number, name in enumerate((f"a-1{SUFFIX}", f"b-1{SUFFIX}", f"b-2{SUFFIX}.gz")):
        (tmp_path / name).write_bytes(b"x")
        os.utime(tmp_path / name, (number, number))

    assert (
        find("a", tmp_path) == find("a-1", tmp_path) == find(f"a-1{SUFFIX}", tmp_path) == str(tmp_path / f"a-1{SUFFIX}")
    )
    assert find("b-2", tmp_path) == find(f"b-2{SUFFIX}.gz", tmp_path) == str(tmp_path / f"b-2{SUFFIX}.gz")
    assert find("latest", tmp_path) == str(tmp_path / f"b-1{SUFFIX}")
    with pytest.raises(UsageError, match="2 sessions start with this name: b-1, b-2"):
        find("b", tmp_path)


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (('{"kind":"plan"}', '{"kind":"end"}'), "measured"),
        (('{"kind":"plan"}', '{"kind":"advice","stated":[{"key":"workload.iops"}]}', '{"kind":"end"}'), "later"),
        (('{"kind":"plan"}', '{"kind":"step-start"}', '{"kind":"end"}'), "later"),
        (('{"kind":"plan"}',), "later"),
        (('{"kind":"session"}',), "later"),
    ],
)
def test_the_latest_session_is_none_in_which_every_step_was_refused(
    tmp_path: Path, lines: tuple[str, ...], found: str
) -> None:
    measured, later = tmp_path / f"measured{SUFFIX}", tmp_path / f"later{SUFFIX}"
    measured.write_text('{"kind":"plan"}\n{"kind":"step-start"}\n{"kind":"end"}\n')
    later.write_text("\n".join(lines) + "\n")
    for number, path in enumerate((measured, later)):
        os.utime(path, (number, number))

    assert latest(tmp_path) == tmp_path / f"{found}{SUFFIX}"
    measured.unlink()
    assert latest(tmp_path) == later


def test_without_any_session_the_latest_is_asked_for_in_vain(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no session in .* yet; make one with: sizeup --batch"):
        find("latest", tmp_path / "none")


def test_a_command_calls_a_session_by_its_name_in_the_store_and_by_its_path_elsewhere(tmp_path: Path) -> None:
    assert command_name(str(directory() / f"db01-1{SUFFIX}")) == "db01-1"
    assert command_name(str(tmp_path / "a b")) == f"'{tmp_path}/a b'"


def test_a_tag_with_a_hyphen_takes_one_back(tmp_path: Path) -> None:
    path = new_path("db01", WHEN, tmp_path)
    with Writer.create(str(path)) as writer:
        writer.write(SessionRecord(format=1, id="1", tool="sizeup", host="db01", started="2026-01-31T09:30:00Z"))
    annotate(str(path), tags=("baseline", "kept"))
    annotate(str(path), tags=("-baseline",))

    assert read_session(str(path)).tags == ("kept",)
    assert baseline(entries(tmp_path)) is None


def test_a_store_that_cannot_be_listed_has_no_recent_sessions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))

    assert recent_sessions({}, "") == {}
