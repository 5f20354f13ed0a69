"""A newcomer's ways, by keys that stand on the screen when they are pressed: none takes more than was asked for."""

import sys
from collections.abc import Callable
from pathlib import Path

from fleet_sessions import Figures, records, server, write
from sizeup.model.plan import Step
from sizeup.session.reader import read_session
from terminal import PATIENCE_SECONDS, Terminal
from trees import machine

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

    def write(self, text: str, shown: str = "") -> None:
        """Type a name or a number where the screen takes one; its letters do not count."""
        self.terminal.wait_quiet()
        self.terminal.press(*text)
        self.terminal.wait_for(shown or text)


def test_from_the_start_to_a_masked_report_with_one_note_by_keys_that_the_screen_names(tmp_path: Path) -> None:
    environment = {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path)}
    with Terminal([sys.executable, "-m", "sizeup"], environment=environment, directory=tmp_path) as terminal:
        newcomer = Newcomer(terminal)
        newcomer.press("r", "r Measure")
        newcomer.press("enter", "Memory and clock only: nothing is written")
        terminal.wait_for("Measure memory and the clock", 600)
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


Start = Callable[..., Terminal]


def test_what_the_machine_is_takes_no_key_and_its_layout_one(sizeup: Start, tmp_path: Path) -> None:
    root = machine(tmp_path / "root", "2-sockets-smt")
    with sizeup("--sysroot", root) as terminal:
        newcomer = Newcomer(terminal)
        terminal.wait_for("4 cores, 2.5 GHz, 2 sockets")
        assert newcomer.keys == 0

        newcomer.press("2", "2 Topology")
        terminal.wait_for("Socket 0")
        terminal.wait_for("Socket 1")
        assert newcomer.keys <= 1


def test_a_curve_takes_at_most_three_keys(sizeup: Start) -> None:
    with sizeup() as terminal:
        newcomer = Newcomer(terminal)
        newcomer.press("r", "r Measure")
        newcomer.press("enter", "Memory and clock only: nothing is written")
        terminal.wait_for("Working set")  # below the curve of the memory latency, which is drawn in dots
        assert terminal.pump(PATIENCE_SECONDS, lambda: any("\u2800" < sign <= "\u28ff" for sign in terminal.text))

        assert newcomer.keys <= 3


def test_a_curve_takes_at_most_three_keys_from_the_list_of_measurements_too(sizeup: Start) -> None:
    with sizeup() as terminal:
        newcomer = Newcomer(terminal)
        newcomer.press("3", "3 Measure")
        newcomer.press("down", "Memory latency")
        newcomer.press("r", "Memory: Memory latency")
        terminal.wait_for("Working set")

        assert newcomer.keys <= 3


def test_a_random_read_of_a_typed_directory_takes_at_most_five_keys_and_a_sixth_on_a_busy_host(
    sizeup: Start, tmp_path: Path
) -> None:
    target = tmp_path / "data"
    target.mkdir()
    with sizeup(columns=120, rows=40) as terminal:
        newcomer = Newcomer(terminal)
        newcomer.press("3", "3 Measure")
        newcomer.press("m", "m Target")
        newcomer.write(str(target), target.name)
        newcomer.press("enter", "Enter Take, measure")
        newcomer.press("r", "r Measure  Enter Choose")
        step = _begun(terminal, tmp_path)

    assert newcomer.keys <= 5
    assert (step.probe, step.settings["path"]) == ("io.direct", str(target))


def _begun(terminal: Terminal, state: Path) -> Step:
    """Wait for the plan of a run, and return its only step."""
    sessions = state / "sizeup/sessions"
    assert terminal.pump(PATIENCE_SECONDS, lambda: any(map(_planned, sessions.glob("*.jsonl")))), terminal.text
    (path,) = sessions.glob("*.jsonl")
    (step,) = _planned(path)
    return step


def _planned(path: Path) -> tuple[Step, ...]:
    plan = read_session(str(path)).plan
    return () if plan is None else plan.steps


def test_a_run_at_another_depth_and_block_size_takes_at_most_five_keys(sizeup: Start, tmp_path: Path) -> None:
    target = tmp_path / "data"
    target.mkdir()
    with sizeup(columns=120, rows=40) as terminal:
        newcomer = Newcomer(terminal)
        newcomer.press("3", "3 Measure")
        newcomer.press("d", "d Depth")
        newcomer.write("16", "d Depth 16 ")
        newcomer.press("tab", "Tab Take, next field")
        newcomer.write("16", "b Block 16")
        newcomer.press("enter", "Enter Take, measure")
        terminal.wait_for("Measure where? In a directory: a temporary file")
        newcomer.write(str(target), target.name)
        newcomer.press("enter", "Enter Take, measure")
        step = _begun(terminal, tmp_path)

    assert newcomer.keys <= 5
    settings = {name: step.settings[name] for name in ("path", "depth", "block")}
    assert settings == {"path": str(target), "depth": 16, "block": 16384}


def test_another_assumption_and_its_verdict_take_at_most_five_keys(sizeup: Start, tmp_path: Path) -> None:
    path = write(tmp_path, "db01", records("db01", Figures(), server()))
    with sizeup(str(path), columns=120, rows=40) as terminal:
        terminal.wait_for("Detected")
        terminal.press("4")
        for name, value in (("workload.iops", "20000"), ("capacity.iops", "50000"), ("workload.growth", "30")):
            _enter(Newcomer(terminal), name, value)
        terminal.wait_for("PASS")
        assert "FAIL" not in terminal.text
        terminal.press("1")
        terminal.wait_for("Detected")

        newcomer = Newcomer(terminal)
        newcomer.press("4", "4 Sizing")
        _enter(newcomer, "horizon", "5")
        terminal.wait_for("FAIL")
        assert newcomer.keys <= 5


def _enter(newcomer: Newcomer, name: str, value: str) -> None:
    newcomer.press("a", "a Any input")
    newcomer.terminal.wait_for("Which input?")
    newcomer.write(name)
    newcomer.press("enter", "Enter Choose")
    newcomer.terminal.wait_for("Enter takes it")
    newcomer.write(value)
    newcomer.press("enter", "Enter takes it")


def test_the_last_session_is_opened_again_by_one_key(sizeup: Start, tmp_path: Path) -> None:
    store = tmp_path / "sizeup/sessions"
    store.mkdir(parents=True)
    write(store, "db01", records("db01", Figures(), server()))
    with sizeup() as terminal:
        newcomer = Newcomer(terminal)
        newcomer.press("o", "o Last session")
        terminal.wait_for("150k IOPS at QD 32")

        assert newcomer.keys <= 1
