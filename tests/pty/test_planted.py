"""Root in a directory of everybody's: the console runs nothing that lies there."""

import sys
from pathlib import Path

from planted import names_that_ran, plant
from terminal import Terminal
from typed import start_null, wait_ended


def test_a_console_that_measures_and_exports_takes_no_planted_module(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    ran = plant(shared)
    command = [sys.executable, "-P", "-m", "sizeup"]  # as the installed script starts it
    environment = {"XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    with Terminal(command, environment=environment, directory=shared) as terminal:
        start_null(terminal, 200)
        wait_ended(terminal, 200)
        terminal.press("5")
        terminal.wait_quiet()
        terminal.press("e")
        terminal.wait_for("Into folder")
        terminal.press("enter")
        terminal.wait_for("Wrote")
        terminal.press("q")

        assert (names_that_ran(ran), terminal.wait()) == ("", 0)
