"""A newcomer's way, by keys that stand on the screen when they are pressed: from the start to a page to send."""

import sys
from pathlib import Path

from fleet_sessions import Figures, records, server, write
from sizeup.session.reader import read_session
from terminal import Terminal

MOST_KEYS = 12
NOTE = "the host was idle"


class Newcomer:
    """Presses what the screen offers, and counts."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.keys = 0

    def press(self, key: str, offered: str) -> None:
        """Press a key once the screen names it, as ``offered``, and what it does."""
        self.terminal.wait_for(offered)
        self.terminal.wait_quiet()
        self.terminal.press(key)
        self.keys += 1


def test_from_the_start_to_a_masked_report_with_one_note_by_keys_that_the_screen_names(tmp_path: Path) -> None:
    environment = {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path)}
    with Terminal([sys.executable, "-m", "sizeup"], environment=environment, directory=tmp_path) as terminal:
        newcomer = Newcomer(terminal)
        newcomer.press("r", "r Measure")
        newcomer.press("enter", "Memory and clock only: nothing is written")
        terminal.wait_for("no disk (about", 600)
        newcomer.press("5", "5 Sessions")
        newcomer.press("n", "n Note")
        terminal.wait_for("Note for readers of this session")
        terminal.wait_quiet()
        terminal.press(*NOTE)
        newcomer.press("enter", "Enter OK")
        terminal.wait_for(NOTE)
        newcomer.press("e", "e Export")
        newcomer.press("enter", "Web page for sharing, names and addresses masked")
        terminal.wait_for("Wrote")
        newcomer.press("q", "q Quit")
        assert terminal.wait() == 0

    sessions = tmp_path / "state/sizeup/sessions"
    (page,), (path,) = sessions.glob("*.html"), sessions.glob("*.jsonl")
    session = read_session(str(path))
    text = page.read_text()
    assert newcomer.keys <= MOST_KEYS
    assert [note.text for note in session.notes] == [NOTE]
    assert NOTE in text
    assert session.header.host not in page.name
    assert f">{session.header.host}<" not in text


def test_a_note_a_comparison_and_its_page_take_at_most_seven_keys(tmp_path: Path) -> None:
    store = tmp_path / "state/sizeup/sessions"
    store.mkdir(parents=True)
    for day, iops in ((1, 150e3), (2, 110e3)):
        found = records("db01", Figures(iops=iops), server(), started=f"2026-01-0{day}T09:00:00Z")
        write(store, "db01", found, f"db01-{day}")
    environment = {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path)}
    with Terminal([sys.executable, "-m", "sizeup"], environment=environment, directory=tmp_path) as terminal:
        newcomer = Newcomer(terminal)
        newcomer.press("5", "5 Sessions")
        newcomer.press("n", "n Note")
        terminal.wait_for("Note for readers of this session")
        terminal.wait_quiet()
        terminal.press(*NOTE)
        newcomer.press("enter", "Enter OK")
        newcomer.press("c", "c Compare")
        newcomer.press("e", "e Export")
        newcomer.press("enter", "The comparison, then this session")
        terminal.wait_for("Wrote")
        terminal.press("q")
        assert terminal.wait() == 0

    (page,) = store.glob("*.compared.html")
    assert newcomer.keys <= 7
    assert NOTE in page.read_text()
    assert "CANNOT TELL" in page.read_text()
