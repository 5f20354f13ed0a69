"""``sizeup doctor`` on whatever machine this is."""

import json
import sys
from pathlib import Path

import pytest

from sizeup.cli import run
from sizeup.cli.doctor import store_facts
from sizeup.config import KEYS
from terminal import Terminal


def test_without_a_terminal_the_rest_is_examined_all_the_same(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    assert run(["doctor", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)

    assert report["schema"] == "sizeup.doctor/1"
    assert report["checks"][0]["area"] == "load"
    assert {check["area"] for check in report["checks"]} == {"load", "terminal", "access", "machine", "files", "probes"}


@pytest.mark.ci
def test_on_a_terminal_its_type_and_encoding_are_told(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sizeup", "doctor"]
    with Terminal(command, rows=80, environment={"XDG_CONFIG_HOME": str(tmp_path)}) as terminal:
        assert terminal.wait() == 0

        assert terminal.lines[0] == "Load"
        assert "UTF-8 by the locale" in terminal.text
        assert "null               can run" in terminal.text


def test_the_keys_are_listed_with_who_set_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("SIZEUP_RUN_PLAN", "full")

    assert run(["doctor", "--keys"]) == 0
    assert 'run.plan = "full"  (SIZEUP_RUN_PLAN)' in capsys.readouterr().out
    assert run(["doctor", "--keys", "--json"]) == 0
    keys = json.loads(capsys.readouterr().out)["keys"]

    assert [key["name"] for key in keys] == [key.name for key in KEYS]
    assert keys[0]["set"] == {"value": "full", "source": "SIZEUP_RUN_PLAN"}


def test_a_folder_that_is_not_there_yet_is_judged_by_the_one_above(tmp_path: Path) -> None:
    facts = store_facts(tmp_path / "a/b")

    assert facts.writable
    assert facts.free_bytes
    assert not (tmp_path / "a").exists()
    (tmp_path / "file").write_text("")
    assert not store_facts(tmp_path / "file/sessions").writable


@pytest.mark.parametrize(
    ("command", "status", "words"),
    [
        (("doctor",), 0, ""),
        (("session", "list"), 2, "cannot list the sessions: "),
        (("session", "follow"), 2, "cannot list the sessions: "),
        (("session", "show", "unheard"), 2, "no such file, and no session in "),
        (("--batch", "-p", "null"), 2, "cannot keep sessions here: "),
    ],
)
def test_a_folder_of_sessions_that_cannot_be_looked_into_is_named(
    command: tuple[str, ...],
    status: int,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Such as that of another user; a name that is too long fails alike, also for root."""
    monkeypatch.setenv("XDG_STATE_HOME", "/tmp/" + 300 * "x")

    assert run(command) == status
    assert words in capsys.readouterr().err
