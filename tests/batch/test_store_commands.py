"""Saved sessions can be found again, named, noted and let go."""

import json
from pathlib import Path

import pytest

from batch.conftest import Run
from sizeup.session.reader import read_session
from sizeup.session.store import SUFFIX
from sizeup.session.writer import Writer

RUN = ("--batch", "-q", "-p", "null", "--set", "null.samples=3", "--set", "null.interval=0")


@pytest.fixture
def saved(sizeup: Run, tmp_path: Path) -> Path:
    """A state directory with one session."""
    assert sizeup(*RUN).returncode == 0
    (path,) = (tmp_path / "state/sizeup/sessions").iterdir()
    return path


def test_a_note_a_tag_and_a_title_are_kept_and_found(sizeup: Run, saved: Path) -> None:
    name = saved.name.removesuffix(".sizeup.jsonl")

    assert sizeup("note", name, "after the", "BIOS update", "--tag", "bios").returncode == 0
    assert sizeup("sessions", "tag", name[:8], "spare", "db").returncode == 0
    assert sizeup("sessions", "rename", str(saved), "The old server").returncode == 0

    session = read_session(str(saved))
    assert (session.title, session.tags) == ("The old server", ("bios", "spare", "db"))
    assert session.notes[0].text == "after the BIOS update"
    assert session.end is not None
    listed = sizeup("sessions").stdout
    assert name in listed
    assert "The old server; #bios #spare #db; complete" in listed
    assert name in sizeup("sessions", "search", "bios", "NULL").stdout
    assert name not in sizeup("sessions", "search", "bios", "unheard").stdout
    data = json.loads(sizeup("sessions", "--json").stdout)
    assert data["schema"] == "sizeup.sessions/1"
    assert data["sessions"][0]["notes"] == ["after the BIOS update"]


def test_an_unfinished_session_says_how_to_finish_it(sizeup: Run, saved: Path) -> None:
    lines = saved.read_text().splitlines(keepends=True)
    saved.write_text("".join(line for line in lines if '"outcome"' not in line and '"kind":"end"' not in line))

    listed = sizeup("sessions").stdout

    assert "0 steps measured, 1 not (interrupted)" in listed
    assert f"unfinished, resume it with: sizeup --batch --resume {saved}" in listed


def test_a_run_that_goes_on_is_not_called_unfinished(sizeup: Run, saved: Path) -> None:
    lines = saved.read_text().splitlines(keepends=True)
    saved.write_text("".join(line for line in lines if '"outcome"' not in line and '"kind":"end"' not in line))

    with Writer.append(str(saved)):
        listed = sizeup("sessions").stdout
        status = json.loads(sizeup("sessions", "--json").stdout)["sessions"][0]["status"]

    assert "being measured now" in listed
    assert "interrupted" not in listed
    assert "unfinished" not in listed
    assert status == "running"


def test_a_run_that_ended_with_a_failed_step_is_not_called_complete(sizeup: Run, saved: Path) -> None:
    text = saved.read_text()
    assert '"outcome":{"status":"ok"' in text
    saved.write_text(text.replace('"outcome":{"status":"ok"', '"outcome":{"status":"failed"'))

    listed = sizeup("sessions").stdout

    assert "1 of 1 steps did not finish" in listed
    assert "complete" not in listed


def test_deleting_asks_and_without_a_terminal_needs_a_yes(sizeup: Run, saved: Path) -> None:
    refused = sizeup("sessions", "delete", str(saved))
    assert refused.returncode == 3
    assert "nothing was deleted" in refused.stderr
    assert "add --yes to confirm" in refused.stderr
    assert saved.exists()

    assert sizeup("sessions", "delete", str(saved), "--yes").returncode == 0
    assert not saved.exists()


def test_a_session_is_opened_by_its_name_as_it_is_shown(sizeup: Run, saved: Path) -> None:
    name = saved.name.removesuffix(SUFFIX)

    assert sizeup("open", name, "--text").returncode == 0
    assert "list sessions with: sizeup session list" in sizeup("open", "unheard", "--text").stderr


def test_what_is_no_session_or_is_being_written_is_not_deleted(sizeup: Run, saved: Path, tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("dear all\n")
    assert sizeup("sessions", "delete", "letter", "--yes").returncode == 2
    assert (tmp_path / "letter").exists()
    with Writer.append(str(saved)):
        assert "is being written by a run" in sizeup("sessions", "delete", str(saved), "--yes").stderr
        assert sizeup("note", str(saved), "while it runs").returncode == 0
    assert read_session(str(saved)).notes[0].text == "while it runs"


def test_pruning_keeps_the_latest_and_the_tagged(sizeup: Run, saved: Path) -> None:
    for _ in range(2):
        sizeup(*RUN)
    sizeup("sessions", "tag", str(saved), "keep")
    before = set(saved.parent.iterdir())

    assert sizeup("sessions", "prune", "--keep", "1", "--yes").returncode == 0

    after = set(saved.parent.iterdir())
    assert saved in after
    assert len(before - after) == 1


def test_a_broken_file_is_listed_with_its_reason(sizeup: Run, saved: Path) -> None:
    (saved.parent / "other.sizeup.jsonl").write_text("hello\n")

    (broken,) = (row for row in json.loads(sizeup("sessions", "--json").stdout)["sessions"] if row["problem"])
    assert "expected a sizeup session" in broken["problem"]
    listed = "".join(sizeup("sessions").stdout.split())  # a long path is folded
    assert "".join(broken["problem"].split()) in listed


def test_a_name_that_fits_none_or_many_is_refused(sizeup: Run, saved: Path) -> None:
    sizeup(*RUN)

    assert "2 sessions start with this name" in sizeup("show", saved.name[:3]).stderr
    assert "no session in" in sizeup("show", "unheard").stderr
    assert sizeup("show", "unheard").returncode == 2


def test_a_session_shows_as_text_and_as_data(sizeup: Run, saved: Path) -> None:
    assert "3 samples of nothing" in sizeup("show", str(saved)).stdout
    assert json.loads(sizeup("show", str(saved), "--json").stdout)["schema"] == "sizeup.results/1"


def test_a_compressed_session_is_read_and_not_added_to(sizeup: Run, saved: Path) -> None:
    import gzip

    packed = saved.with_name(saved.name + ".gz")
    packed.write_bytes(gzip.compress(saved.read_bytes()))

    assert sizeup("show", str(packed)).returncode == 0
    assert "unpack it first" in sizeup("note", str(packed), "hello").stderr


def test_every_command_finds_a_session_by_its_name_and_the_latest_without_one(sizeup: Run, saved: Path) -> None:
    name = saved.name.removesuffix(SUFFIX)

    for command in (
        ("open", "--text", name),
        ("open", "--text"),
        ("show", name[:8]),
        ("show",),
        ("show", f"{name}{SUFFIX}"),
        ("export", name, "--json"),
        ("compare", name, "--against", name),
        ("size", "--machine", name),
        ("attach", "--text", name),
        ("export", "latest", "--format", "text"),
    ):
        done = sizeup(*command)
        assert done.returncode == 0, (command, done.stderr)
        assert done.stdout


@pytest.mark.parametrize("command", [("open",), ("show",)])
def test_without_a_session_the_latest_is_said_to_be_missing(sizeup: Run, command: tuple[str, ...]) -> None:
    done = sizeup(*command, *(("--text",) if command == ("open",) else ()))

    assert done.returncode == 2
    assert "yet; make one with: sizeup --batch" in done.stderr
