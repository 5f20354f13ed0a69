"""What is refused as a directory to measure in, before anything runs."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from sizeup import cli
from sizeup.probing.planner import why_not_measurable


def test_a_directory_that_can_be_written_is_accepted(tmp_path: Path) -> None:
    assert why_not_measurable(str(tmp_path)) == ""


@pytest.mark.parametrize(
    ("blocks", "free", "flags", "reason"),
    [(0, 0, 0, "has no capacity"), (9, 9, os.ST_RDONLY, "is read-only"), (9, 0, 0, "has no free space")],
)
def test_a_file_system_that_holds_no_file_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, blocks: int, free: int, flags: int, reason: str
) -> None:
    shown = SimpleNamespace(f_blocks=blocks, f_bavail=free, f_flag=flags)
    monkeypatch.setattr(os, "fstatvfs", lambda _: shown)

    assert why_not_measurable(str(tmp_path)).endswith(reason)


def test_a_directory_without_permission_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "access", lambda *_, **__: False)

    assert why_not_measurable(str(tmp_path)) == "no permission to create a file in it"


def test_a_directory_that_is_gone_is_told(tmp_path: Path) -> None:
    assert why_not_measurable(str(tmp_path / "gone")) == "cannot be opened: No such file or directory"


def test_a_run_on_a_pseudo_file_system_is_refused_before_it_begins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    status = cli.run(("--batch", "--plan", "quick", "--mount", "/proc/self", "-o", "run"))
    printed = capfd.readouterr()

    assert status == 3
    assert "--mount /proc/self: its file system (proc) has no capacity; nothing was measured" in printed.err
    assert printed.out == ""
    assert list(tmp_path.iterdir()) == []
