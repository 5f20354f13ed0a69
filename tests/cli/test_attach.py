"""``sizeup session follow`` where there is no terminal: the summary so far."""

from pathlib import Path

import pytest

from sizeup.cli import run


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "sizeup/sessions"


def test_without_any_run_the_folder_is_named(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["session", "follow"]) == 2
    assert f"no unfinished run in {state}" in capsys.readouterr().err


def test_the_run_without_an_end_is_found(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--batch", "-p", "null", "--quiet"]) == 0
    saved = next(state.iterdir())
    assert run(["session", "follow"]) == 2
    # What a run that is still going on looks like.
    going_on = saved.with_name("going-on.sizeup.jsonl")
    going_on.write_bytes(b"".join(saved.read_bytes().splitlines(keepends=True)[:-1]))
    capsys.readouterr()

    assert run(["session", "follow"]) == 0

    assert "interrupted" in capsys.readouterr().out.splitlines()[0]
