"""Sessions get names that sort by time and never collide."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from sizeup.errors import UsageError
from sizeup.session.store import directory, new_path

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
