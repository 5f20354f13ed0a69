"""Every command that writes leaves alone what a link in a directory of everybody's leads to, and says why."""

import os
import stat
from pathlib import Path

import pytest

from report.sessions import records, written
from sizeup.cli import run
from sizeup.errors import ExitStatus
from tiers import one_in


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def session(tmp_path: Path) -> str:
    return written(tmp_path / "one.sizeup.jsonl", *records())


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A link of somebody's in a directory of everybody's."""
    folder = tmp_path / "everybodys"
    folder.mkdir()
    folder.chmod(0o1777)
    (folder / "out").symlink_to(tmp_path / "victim")
    return folder / "out"


def slb(tmp_path: Path) -> str:
    path = tmp_path / "slb.txt"
    path.write_text("Total ops 131072  Avg nsec/op 94.1  gettimeofday usec 12334 TPUT ops/sec 10626885.1\n")
    return str(path)


MAKERS = {
    "export": ["session", "export", "SESSION", "--format", "text", "-o", "OUT"],
    "export --share": ["session", "export", "SESSION", "--format", "share", "-o", "OUT"],
    "capture": ["capture", "--sysroot", "TREE", "--force", "OUT"],
    "import": ["session", "import", "SLB", "-o", "OUT"],
    "a run": ["--batch", "-q", "-p", "null", "-o", "OUT"],
}
ADDERS = {
    "another run": ["--batch", "-q", "-p", "null", "--append", "OUT"],
    "the rest of a run": ["--batch", "-q", "--resume", "OUT"],
    "a note": ["session", "note", "OUT", "calm host"],
    "a tag": ["session", "note", "OUT", "--tag", "calm"],
}
CASES = [*((name, exists) for name in MAKERS for exists in (True, False)), *((name, True) for name in ADDERS)]


@pytest.mark.parametrize(("name", "victim_exists"), one_in(3, CASES))
def test_the_victim_of_a_planted_link_is_unchanged(
    planted: Path, tmp_path: Path, session: str, name: str, victim_exists: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    victim = tmp_path / "victim"
    # What is added to must be a session of this host.
    of_this_host = Path(session).read_bytes().replace(b'"db01"', f'"{os.uname().nodename}"'.encode())
    before = of_this_host if name in ADDERS else b""
    if victim_exists:
        victim.write_bytes(before)
    (tmp_path / "tree/sys").mkdir(parents=True)
    (tmp_path / "tree/proc").mkdir()
    words = {"OUT": str(planted), "SESSION": session, "SLB": slb(tmp_path), "TREE": str(tmp_path / "tree")}

    status = run([words.get(word, word) for word in {**MAKERS, **ADDERS}[name]])

    assert status == ExitStatus.REFUSED
    assert "out is a symbolic link in a world-writable directory, so it is not followed" in (capsys.readouterr().err)
    assert victim.exists() == victim_exists
    assert not victim_exists or victim.read_bytes() == before
    assert planted.is_symlink()


def test_a_session_is_its_owners_alone_and_so_are_the_directories_made_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = os.umask(0)
    try:
        assert run(["session", "import", slb(tmp_path)]) == ExitStatus.OK
        assert run(["session", "import", slb(tmp_path), "-o", str(tmp_path / "named")]) == ExitStatus.OK
    finally:
        os.umask(before)

    state = tmp_path / "state"
    found = [state, *state.rglob("*"), tmp_path / "named"]
    modes = {path.relative_to(tmp_path).parts[-1]: stat.S_IMODE(path.stat().st_mode) for path in found}
    (session,) = (state / "sizeup/sessions").iterdir()
    assert modes == {"state": 0o700, "sizeup": 0o700, "sessions": 0o700, session.name: 0o600, "named": 0o600}


def test_a_recording_that_appears_meanwhile_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from sizeup.discovery import capture

    (tmp_path / "sys").mkdir()
    (tmp_path / "proc").mkdir()
    out = tmp_path / "host.tar"
    discover = capture.discover
    monkeypatch.setattr(capture, "discover", lambda recorder: (out.write_text("theirs"), discover(recorder))[1])

    assert run(["capture", "--sysroot", str(tmp_path), str(out)]) == ExitStatus.USAGE

    assert "already exists" in capsys.readouterr().err
    assert out.read_text() == "theirs"
