"""The question of an experiment on a terminal: no means nothing is executed, Ctrl-C restores."""

from collections.abc import Callable
from pathlib import Path

from sizeup.session.reader import read_session
from terminal import PATIENCE_SECONDS, Terminal

COMMANDS = ("--a", "echo a >> log", "--b", "echo b >> log", "--restore", "sleep 0.3; echo restored >> log")
FAST = ("-p", "null", "--set", "null.samples=5", "--set", "null.interval=0.2ms", "--settle", "0", "--rounds", "3")
SLOW = ("-p", "null", "--set", "null.samples=100000", "--set", "null.interval=1ms", "--settle", "0")


def test_only_yes_executes(sizeup: Callable[..., Terminal], tmp_path: Path) -> None:
    for answer in ("n", "", "maybe"):
        with sizeup("experiment", *COMMANDS, *FAST, "-o", "run") as terminal:
            terminal.wait_for("Execute this? [y/N]")
            terminal.press(*answer, "enter")
            assert terminal.wait() == 3
        assert not (tmp_path / "log").exists()
        assert not (tmp_path / "run").exists()

    with sizeup("experiment", *COMMANDS, *FAST, "-o", "run") as terminal:
        terminal.wait_for("Execute this? [y/N]")
        terminal.press("y", "enter")
        assert terminal.wait() == 0
    assert (tmp_path / "log").read_text().split() == [*"abbaba", "restored"]


def test_ctrl_c_at_the_question_executes_nothing(sizeup: Callable[..., Terminal], tmp_path: Path) -> None:
    with sizeup("experiment", *COMMANDS, *FAST) as terminal:
        terminal.wait_for("Execute this? [y/N]")
        terminal.press("ctrl+c")
        assert terminal.wait() == 130
    assert not (tmp_path / "log").exists()


def test_ctrl_c_again_and_again_still_restores(sizeup: Callable[..., Terminal], tmp_path: Path) -> None:
    with sizeup("experiment", *COMMANDS, *SLOW, "--yes", "-o", "run") as terminal:
        terminal.wait_for("run 1 of 12")
        assert terminal.pump(PATIENCE_SECONDS, lambda: b'"kind":"samples"' in (tmp_path / "run").read_bytes())
        terminal.press("ctrl+c")
        terminal.wait_for("restoring: ")
        terminal.press("ctrl+c")
        terminal.press("ctrl+c")
        assert terminal.wait() == 130

    assert (tmp_path / "log").read_text().split() == ["a", "restored"]
    assert read_session(str(tmp_path / "run")).commands[-1].exit_status == 0
