"""The pictures of the documentation, by the console's own key P on a real run.

Run by hand, from the root of the checkout; the map and the sizing are those of a recorded machine:

    python tests/benchmarks/pictures.py docs/pictures
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from terminal import Terminal

COLUMNS, ROWS = 120, 50
RECORDING = Path(__file__).parents[1] / "machines" / "8-sockets-16-nodes-256-cores.tar.gz"


class Studio:
    """Starts consoles on one store and keeps what they draw."""

    def __init__(self, pictures: Path, scratch: Path) -> None:
        self.pictures, self.scratch = pictures, scratch

    def console(self, *arguments: str) -> Terminal:
        """The console in true color, its files in a folder of its own."""
        environment = {"XDG_STATE_HOME": str(self.scratch), "XDG_CONFIG_HOME": str(self.scratch)}
        environment["COLORTERM"] = "truecolor"
        command = [sys.executable, "-m", "sizeup", *arguments]
        terminal = Terminal(command, columns=COLUMNS, rows=ROWS, environment=environment, directory=self.scratch)
        terminal.wait_for(" idle")
        terminal.wait_quiet()
        return terminal

    def press(self, terminal: Terminal, *keys: str) -> None:
        """Press keys as slowly as somebody who looks."""
        for key in keys:
            terminal.press(key)
            terminal.wait_quiet(0.5)

    def measure(self, terminal: Terminal) -> None:
        """Run the quick plan from Summary."""
        terminal.press("r")
        terminal.wait_for("Saved: press 5", 120)
        terminal.wait_quiet()

    def keep(self, terminal: Terminal, name: str) -> None:
        """Keep the screen under a name."""
        terminal.pump(20, lambda: "Wrote" not in terminal.text)  # of the picture before
        terminal.press("P")
        if not terminal.pump(30, lambda: any(self.scratch.glob("*.svg"))):
            raise AssertionError(f"no picture was written; the screen shows:\n{terminal.text}")
        terminal.wait_quiet(0.5)
        (drawn,) = self.scratch.glob("*.svg")
        drawn.replace(self.pictures / f"console-{name}.svg")
        print(f"console-{name}.svg")


def main() -> None:
    """Draw them all."""
    pictures = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        studio = Studio(pictures, Path(scratch))
        with studio.console() as terminal:
            studio.measure(terminal)
            studio.press(terminal, "5", "m")
        with studio.console() as terminal:
            studio.measure(terminal)
            studio.keep(terminal, "summary")
            studio.press(terminal, "3", "j", "j", "j", "j", "j", "j")
            studio.keep(terminal, "measure")
            studio.press(terminal, "5", "c")
            studio.keep(terminal, "sessions")
        with studio.console("--sysroot", str(RECORDING)) as terminal:
            studio.press(terminal, "2", "t")
            studio.keep(terminal, "topology")
            studio.press(terminal, "4", "j", "j", "right", "right", "t")
            studio.keep(terminal, "sizing")


if __name__ == "__main__":
    main()
