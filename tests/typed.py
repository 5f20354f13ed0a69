"""What a person types to have the console run something, and what becomes of it."""

import time
from pathlib import Path

from terminal import Terminal


def start_null(terminal: Terminal, samples: int) -> None:
    """Run the probe that measures nothing, a sample each millisecond, by keys alone."""
    terminal.wait_for("Should carry")
    terminal.press("3")
    terminal.wait_for("Touches")
    terminal.press("G")
    terminal.wait_for("Measures nothing")
    terminal.press("s")
    terminal.wait_for("Settings of null")
    terminal.wait_quiet()  # the first field is ready a moment after it is drawn
    terminal.press(str(samples), "enter")  # in place of what is selected
    terminal.pump(5, lambda: "Settings of null" not in terminal.text)
    terminal.press("r")
    # A short run may have ended before it is drawn.
    assert terminal.pump(30, lambda: "running null" in terminal.text or "last null" in terminal.text), terminal.text


def measure_a_little(terminal: Terminal, tmp_path: Path) -> None:
    """Wait until the file holds some batches of samples, however slow this machine is."""
    folder = tmp_path / "sizeup/sessions"
    assert terminal.pump(20, lambda: sum(path.read_bytes().count(b'"kind":"samples"') for path in folder.iterdir()) > 1)


def gone(terminal: Terminal) -> bool:
    """Whether nobody is left soon, the run included."""
    deadline = time.monotonic() + 5
    while terminal.processes() and time.monotonic() < deadline:
        time.sleep(0.02)
    return not terminal.processes()
