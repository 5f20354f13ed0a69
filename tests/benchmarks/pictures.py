"""The pictures of the documentation: screens of real consoles, and a tour that moves.

Run by hand on an otherwise idle machine, from the root of the checkout; it takes about three minutes:

    python tests/benchmarks/pictures.py docs/pictures --mount /var/tmp

It measures memory, clock and, in a temporary file of at most 1 GiB on the mount, storage. The map and the licenses are
those of a recorded machine. The last scene of the tour, the report, needs Chromium.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.terminal_picture import COLUMN, ROW, Frame, Shot, Style, frame, line, moving, photograph, still
from terminal import Terminal

COLUMNS, ROWS = 120, 40
TOUR_ROWS = 36
RECORDING = Path(__file__).parents[1] / "machines" / "8-sockets-16-nodes-256-cores.tar.gz"
CAPTION = Style("#121212", "#8ab4f8", bold=True)
TYPED = (("CPU utilization that", "60"), ("growth per", "10"), ("planning horizon", "1"))
"""What the tour types into Sizing: the words that find an input, and its value."""
REPORTED = ("workload.cpu_percent=60", "workload.growth_percent=10", "workload.horizon_years=6")
"""The same, after the change, for the report."""
LARGEST = 1_000_000
"""Bytes of the tour."""


class Camera:
    """Takes shots of a terminal for a tour, with a caption below; the time of the tour is not that of the run."""

    def __init__(self) -> None:
        self.shots: list[Shot] = []
        self.seconds = 0.0

    def look(self, terminal: Terminal, caption: str, seconds: float) -> None:
        """Show the screen for a while."""
        shown = captioned(frame(terminal.screen), caption)
        if not self.shots or self.shots[-1].frame != shown:
            self.shots.append(Shot(self.seconds, shown))
        self.seconds += seconds

    def press(self, terminal: Terminal, caption: str, *keys: str, seconds: float = 1.0) -> None:
        """Press keys, each of which is named in the caption, and show what follows."""
        for key in keys:
            terminal.press(key)
            terminal.pump(0.7)
            self.look(terminal, f"{caption}    key: {key.capitalize() if len(key) > 1 else key}", seconds)

    def type(self, terminal: Terminal, caption: str, text: str) -> None:
        """Type as quickly as a person does."""
        for character in text:
            terminal.press(character)
            terminal.pump(0.25)
            self.look(terminal, caption, 0.18)

    def watch(self, terminal: Terminal, caption: str, until: Callable[[], bool], faster: float) -> None:
        """Show what happens until then, so many times faster."""
        for _ in range(1000):
            ended = terminal.pump(0.25 * faster, until)
            self.look(terminal, f"{caption}    shown {faster:g} times faster", 0.25)
            if ended:
                return
        raise AssertionError(f"the run did not end; the screen shows:\n{terminal.text}")

    def end(self, png: bytes, caption: str, seconds: float) -> None:
        """Show a picture in place of the screen, and end."""
        last = self.shots[-1].frame
        self.shots.append(Shot(self.seconds, captioned(last[:-1], caption), png))
        self.seconds += seconds


def captioned(shown: Frame, caption: str) -> Frame:
    """A screen with a line of text below."""
    return (*shown, line(f" {caption}", len(shown[0]), CAPTION))


def rests(terminal: Terminal) -> bool:
    """Whether the first line says that nothing runs."""
    return terminal.screen.display[0].rstrip().endswith("idle")


class Studio:
    """Starts consoles on one store and keeps what they draw."""

    def __init__(self, pictures: Path, scratch: Path, mount: str) -> None:
        self.pictures, self.scratch, self.mount = pictures, scratch, mount
        self.home = {name: str(scratch) for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")}
        self.home["SIZEUP_RUN_BUSY"] = "ignore"

    def console(self, *arguments: str, rows: int = ROWS) -> Terminal:
        """The console in true color, its files in a folder of its own."""
        command = [sys.executable, "-m", "sizeup", *arguments]
        environment = {**self.home, "COLORTERM": "truecolor"}
        terminal = Terminal(command, columns=COLUMNS, rows=rows, environment=environment, directory=self.scratch)
        terminal.wait_for("Detected")
        terminal.wait_quiet()
        return terminal

    def run(self, *arguments: str) -> None:
        """Run a command on the store."""
        command = [sys.executable, "-m", "sizeup", *arguments]
        subprocess.run(command, env={**os.environ, **self.home}, check=True, capture_output=True)

    def press(self, terminal: Terminal, *keys: str) -> None:
        """Press keys as slowly as somebody who looks."""
        for key in keys:
            terminal.press(key)
            terminal.pump(0.6)

    def measure(self, terminal: Terminal) -> None:
        """Run the quick plan with its storage step from the summary."""
        self.press(terminal, "r")
        terminal.wait_for("Which directory")
        self.press(terminal, "end", "enter", "ctrl+u", *self.mount, "enter")
        terminal.pump(20, lambda: not rests(terminal))
        assert terminal.pump(300, lambda: rests(terminal)), terminal.text
        terminal.wait_quiet()

    def keep(self, terminal: Terminal, name: str) -> None:
        """Keep the screen under a name."""
        self.write(f"console-{name}.svg", still(frame(terminal.screen), f"sizeup: the screen {name.capitalize()}"))

    def write(self, name: str, text: str) -> None:
        """Write a picture."""
        (self.pictures / name).write_text(text, encoding="utf-8")
        print(f"{name}: {len(text) / 1e3:.0f} kB")

    def screens(self) -> None:
        """Draw each screen."""
        self.run("--batch", "--plan", "quick", "--mount", self.mount)
        with self.console() as terminal:
            self.measure(terminal)
            self.keep(terminal, "summary")
            self.press(terminal, "3")
            terminal.wait_for("Direct I/O")
            terminal.wait_quiet()
            self.keep(terminal, "measure")
            self.press(terminal, "5", "c")
            terminal.wait_for("Can the runs be compared")
            terminal.wait_quiet()
            self.keep(terminal, "sessions")
        with self.console("--sysroot", str(RECORDING)) as terminal:
            self.press(terminal, "2")
            terminal.wait_for("Between the nodes")
            terminal.wait_quiet()
            self.keep(terminal, "topology")
            self.press(terminal, "4", "a", *"random iops", "enter", *"20k", "enter")
            self.keep(terminal, "sizing")

    def tour(self) -> None:
        """Draw the tour: what the machine is, what it delivers, whether a workload fits, and the report of it."""
        camera = Camera()
        with self.console(rows=TOUR_ROWS) as terminal:
            camera.look(terminal, "sizeup: this machine and its problems, within a second", 3.5)
            self._topology(camera, terminal)
            self._memory(camera, terminal)
            self._storage(camera, terminal)
            self._sizing(camera, terminal)
            report = self._report(camera, terminal)
        camera.end(report, f"sizeup session export -o report.html --set {' '.join(REPORTED)}", 6.0)
        picture = moving(camera.shots, camera.seconds, "A tour of sizeup, from the summary to the report")
        assert len(picture) <= LARGEST, f"{len(picture):,} bytes"
        self.write("tour.svg", picture)
        print(f"{camera.seconds:.0f} s, {len(camera.shots)} shots")

    def _topology(self, camera: Camera, terminal: Terminal) -> None:
        camera.press(terminal, "Topology: sockets, caches, cores, memory and devices", "2", seconds=2.0)
        camera.press(terminal, "Topology: the facts of each part", "j", "j", "j", seconds=1.2)

    def _memory(self, camera: Camera, terminal: Terminal) -> None:
        caption = "Measure: memory latency"
        camera.press(terminal, caption, "3", "j", "r", seconds=1.2)
        terminal.pump(10, lambda: not rests(terminal))
        camera.watch(terminal, caption, lambda: rests(terminal), 2)
        camera.look(terminal, caption, 3.0)

    def _storage(self, camera: Camera, terminal: Terminal) -> None:
        caption = "Measure: storage, random reads"
        camera.press(terminal, caption, "k", "m", seconds=0.6)
        camera.type(terminal, caption, self.mount)
        camera.press(terminal, caption, "enter", seconds=0.8)
        terminal.wait_for("Cancel")
        camera.press(terminal, "Measure: storage asks before it writes, Cancel preselected", "down", seconds=2.0)
        terminal.press("enter")
        terminal.pump(10, lambda: not rests(terminal))
        camera.watch(terminal, caption, lambda: rests(terminal), 4)
        camera.look(terminal, caption, 3.0)

    def _sizing(self, camera: Camera, terminal: Terminal) -> None:
        caption = "Sizing: does a workload fit?"
        camera.press(terminal, caption, "4", seconds=1.5)
        for name, value in TYPED:
            camera.press(terminal, caption, "a", seconds=0.4)
            camera.type(terminal, caption, name)
            camera.press(terminal, caption, "enter", seconds=0.3)
            camera.type(terminal, caption, value)
            camera.press(terminal, caption, "enter", seconds=1.0)
        camera.look(terminal, caption, 2.0)
        camera.press(terminal, "Sizing: one assumption changed, and the verdict moves", *"+++++", seconds=0.8)
        camera.press(terminal, "Summary: the verdict with its reason", "1", seconds=4.0)

    def _report(self, camera: Camera, terminal: Terminal) -> bytes:
        caption = "Sessions: saved as it was measured"
        camera.press(terminal, caption, "5", seconds=2.0)
        camera.press(terminal, "Sessions: export", "e", "down", "enter", seconds=1.0)
        terminal.wait_for("Wrote", 60)
        camera.look(terminal, "Sessions: export", 1.5)
        session = max(self.scratch.glob("sizeup/sessions/*.jsonl"), key=lambda path: path.stat().st_mtime)
        page = self.scratch / "report.html"
        self.run("session", "export", str(session), "--format", "html", "-o", str(page), "--set", *REPORTED)
        photograph(page, round(COLUMNS * COLUMN), TOUR_ROWS * ROW, self.scratch / "report.png")
        return (self.scratch / "report.png").read_bytes()


def main(arguments: Sequence[str]) -> None:
    """Draw them all, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pictures", type=Path, help="where the pictures are written")
    parser.add_argument("--mount", default="/var/tmp", metavar="DIR", help="the directory whose storage is measured")
    parser.add_argument("--only", choices=("screens", "tour"))
    parsed = parser.parse_args(arguments)
    for kind, draw in (("screens", Studio.screens), ("tour", Studio.tour)):
        if parsed.only in (None, kind):
            with tempfile.TemporaryDirectory() as scratch:
                draw(Studio(parsed.pictures, Path(scratch), parsed.mount))


if __name__ == "__main__":
    main(sys.argv[1:])
