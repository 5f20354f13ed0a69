"""Saved sessions can be found again, named, noted and let go."""

import gzip
import json
import shutil
from pathlib import Path

import pytest

from batch.conftest import Run, measured
from sizeup.session.reader import read_session
from sizeup.session.store import SUFFIX
from sizeup.session.writer import Writer

RUN = ("--batch", "-q", "-p", "null", "--set", "null.samples=3", "--set", "null.interval=0")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A session of one run."""
    return measured(tmp_path_factory.mktemp("run"), *RUN[4:])


@pytest.fixture
def saved(sizeup: Run, tmp_path: Path, session: bytes) -> Path:
    """A state directory with that session, under the name that a run gives."""
    path = tmp_path / "state/sizeup/sessions/20260101T093000Z.sizeup.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(session)
    return path


def test_a_note_a_tag_and_a_title_are_kept_and_found(sizeup: Run, saved: Path) -> None:
    name = saved.name.removesuffix(".sizeup.jsonl")

    assert sizeup("session", "note", name, "after the", "BIOS update", "--tag", "bios").returncode == 0
    assert sizeup("session", "note", name[:8], "--tag", "spare", "--tag", "db").returncode == 0
    assert sizeup("session", "rename", str(saved), "The old server").returncode == 0

    session = read_session(str(saved))
    assert (session.title, session.tags) == ("The old server", ("bios", "spare", "db"))
    assert session.notes[0].text == "after the BIOS update"
    assert session.end is not None
    listed = sizeup("session", "list").stdout
    assert name in listed
    assert "The old server; #bios #spare #db; complete" in listed
    assert name in sizeup("session", "list", "bios", "NULL").stdout
    assert name not in sizeup("session", "list", "bios", "unheard").stdout
    data = json.loads(sizeup("session", "list", "--json").stdout)
    assert data["schema"] == "sizeup.sessions/1"
    assert data["sessions"][0]["notes"] == ["after the BIOS update"]


def test_an_unfinished_session_says_how_to_finish_it_unless_it_goes_on(sizeup: Run, saved: Path) -> None:
    lines = saved.read_text().splitlines(keepends=True)
    saved.write_text("".join(line for line in lines if '"outcome"' not in line and '"kind":"end"' not in line))

    listed = sizeup("session", "list").stdout
    with Writer.append(str(saved)):
        during = sizeup("session", "list").stdout
        status = json.loads(sizeup("session", "list", "--json").stdout)["sessions"][0]["status"]

    assert "0 steps measured, 1 not (interrupted)" in listed
    assert f"unfinished, resume it with: sizeup --batch --resume {saved}" in listed
    assert "being measured now" in during
    assert "interrupted" not in during
    assert "unfinished" not in during
    assert status == "running"


def test_a_run_that_ended_with_a_failed_step_is_not_called_complete(sizeup: Run, saved: Path) -> None:
    text = saved.read_text()
    assert '"outcome":{"status":"ok"' in text
    saved.write_text(text.replace('"outcome":{"status":"ok"', '"outcome":{"status":"failed"'))

    listed = sizeup("session", "list").stdout

    assert "1 of 1 steps did not finish" in listed
    assert "complete" not in listed


def test_deleting_asks_and_without_a_terminal_needs_a_yes(sizeup: Run, saved: Path) -> None:
    refused = sizeup("session", "delete", str(saved))
    assert refused.returncode == 3
    assert "nothing was deleted" in refused.stderr
    assert "add --yes to confirm" in refused.stderr
    assert saved.exists()

    assert sizeup("session", "delete", str(saved), "--yes").returncode == 0
    assert not saved.exists()


def test_what_is_no_session_or_is_being_written_is_not_deleted(sizeup: Run, saved: Path, tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("dear all\n")
    assert sizeup("session", "delete", "letter", "--yes").returncode == 2
    assert (tmp_path / "letter").exists()
    with Writer.append(str(saved)):
        assert "is being written by a run" in sizeup("session", "delete", str(saved), "--yes").stderr
        assert sizeup("session", "note", str(saved), "while it runs").returncode == 0
    assert read_session(str(saved)).notes[0].text == "while it runs"


def test_pruning_keeps_the_latest_and_the_tagged(sizeup: Run, saved: Path) -> None:
    for _ in range(2):
        sizeup(*RUN)
    sizeup("session", "note", str(saved), "--tag", "keep")
    before = set(saved.parent.iterdir())

    assert sizeup("session", "prune", "--keep", "1", "--yes").returncode == 0

    after = set(saved.parent.iterdir())
    assert saved in after
    assert len(before - after) == 1


def test_a_broken_file_is_listed_with_its_reason(sizeup: Run, saved: Path) -> None:
    (saved.parent / "other.sizeup.jsonl").write_text("hello\n")

    (broken,) = (row for row in json.loads(sizeup("session", "list", "--json").stdout)["sessions"] if row["problem"])
    assert "expected a sizeup session" in broken["problem"]
    listed = "".join(sizeup("session", "list").stdout.split())  # a long path is folded
    assert "".join(broken["problem"].split()) in listed


def test_a_name_that_fits_none_or_many_is_refused(sizeup: Run, saved: Path) -> None:
    shutil.copy(saved, saved.with_name(f"{saved.name[:8]}-later{SUFFIX}"))

    refused = sizeup("session", "show", "unheard")
    assert "2 sessions start with this name" in sizeup("session", "show", saved.name[:3]).stderr
    assert refused.returncode == 2
    assert "no session in" in refused.stderr
    assert "list sessions with: sizeup session list" in refused.stderr


def test_a_session_shows_as_text_and_as_data(sizeup: Run, saved: Path) -> None:
    assert "3 samples of nothing" in sizeup("session", "show", str(saved)).stdout
    assert json.loads(sizeup("session", "show", str(saved), "--json").stdout)["schema"] == "sizeup.results/1"


def test_a_compressed_session_is_read_and_not_added_to(sizeup: Run, saved: Path) -> None:
    packed = saved.with_name(saved.name + ".gz")
    packed.write_bytes(gzip.compress(saved.read_bytes()))

    assert sizeup("session", "show", str(packed)).returncode == 0
    assert "unpack it first" in sizeup("session", "note", str(packed), "hello").stderr


def test_every_command_finds_a_session_by_its_name_and_the_latest_without_one(sizeup: Run, saved: Path) -> None:
    name = saved.name.removesuffix(SUFFIX)

    for command in (
        ("show", name[:8]),
        ("show",),
        ("show", f"{name}{SUFFIX}"),
        ("export", name, "--json"),
        ("compare", name, "--against", name),
        ("export", "latest", "--format", "text"),
    ):
        done = sizeup("session", *command)
        assert done.returncode == 0, (command, done.stderr)
        assert done.stdout
    assert sizeup("size", "--machine", name).returncode == 0


def test_without_a_session_the_latest_is_said_to_be_missing(sizeup: Run) -> None:
    done = sizeup("session", "show")

    assert done.returncode == 2
    assert "yet; make one with: sizeup --batch" in done.stderr
