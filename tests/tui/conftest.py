"""A terminal's environment that is the same everywhere, and a console with a fake runner."""

from functools import partial
from pathlib import Path

import pytest

from consoles import Console, MakeConsole
from sizeup.live import storage_targets
from sizeup.tui.screens import mount_choice


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What the developer's terminal asks for, and the sessions of his store, must not change what is drawn.

    What the console keeps goes into the current folder, which is the test's own.
    """
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "COLORTERM", "TEXTUAL_THEME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "no store"))
    for module in (mount_choice, storage_targets):  # whatever the disk of the test's folder holds
        monkeypatch.setattr(module, "keeps_reserve", lambda _: True)


@pytest.fixture
def make_console(tmp_path: Path) -> MakeConsole:
    """Makes consoles with a fake runner that writes into the test's folder."""
    return partial(Console, tmp_path)


@pytest.fixture
def console(make_console: MakeConsole) -> Console:
    """A console on the regular machine."""
    return make_console()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store's folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = tmp_path / "state/sizeup/sessions"
    path.mkdir(parents=True)
    return path
