"""What the console sends beside a Textual application that draws the same run its own way: ratios, never rates."""

import sys
import time
from pathlib import Path

import pytest

from benchmarks.console import EMPTY, SIZEUP, Live, Program, run
from terminal import Terminal

pytestmark = pytest.mark.alone

# One more bar of a chart and one more second of a status line for each key, drawn by Textual as it comes.
_STOCK = Program(
    "Textual, a chart",
    (
        sys.executable,
        "-c",
        """
from textual.app import App
from textual.widgets import Static
class Stock(App):
    CSS = "#chart { height: 1fr; border: round $primary; }"
    def compose(self):
        yield Static(id="chart", markup=False)
        yield Static("Should carry", id="line")
    def on_mount(self):
        self.frame = 0
    def on_key(self):
        self.frame += 1
        width = max(self.size.width - 4, 1)
        heights = [(x * 7 + 3) % 20 if x < self.frame * 2 else 0 for x in range(width)]
        rows = ("".join("\\u2588" if height > row else " " for height in heights) for row in range(20, 0, -1))
        self.query_one("#chart").update("\\n".join(rows))
        self.query_one("#line").update(f"running {self.frame / 2} s")
Stock().run()
""",
    ),
)
_SECONDS = 8.0


def environment(home: Path) -> dict[str, str]:
    return {name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")}


def sent(terminal: Terminal, seconds: float) -> float:
    """Bytes per second from now on."""
    before, since = len(terminal.output), time.monotonic()
    terminal.pump(seconds)
    return (len(terminal.output) - before) / (time.monotonic() - since)


def test_an_idle_console_sends_no_more_than_an_empty_application(tmp_path: Path) -> None:
    rates = []
    for program in (SIZEUP, EMPTY):
        with Terminal(program.arguments, columns=120, rows=40, environment=environment(tmp_path)) as terminal:
            terminal.wait_for(program.shows)
            if program is SIZEUP:
                terminal.wait_for(
                    "(about "
                )  # half a second after the first screen the time of the quick plan is filled in
            terminal.wait_quiet(1.5)
            rates.append(sent(terminal, _SECONDS))

    ours, theirs = rates
    assert ours <= theirs + 1, f"{ours:.0f} bytes/s, the empty application {theirs:.0f}"


def test_a_run_that_is_shown_sends_less_than_a_chart_of_textual_alone(tmp_path: Path) -> None:
    ours = run(SIZEUP, Live("memory.latency"), 120, 40).bytes_per_second
    with Terminal(_STOCK.arguments, columns=120, rows=40, environment=environment(tmp_path)) as terminal:
        terminal.wait_for("Should carry")
        terminal.wait_quiet()
        before = len(terminal.output)
        for frame in range(1, round(2 * _SECONDS) + 1):  # twice a second, as fast as this machine can
            terminal.press("x")
            terminal.wait_for(f"running {frame / 2} s")
        terminal.wait_quiet()
        theirs = (len(terminal.output) - before) / _SECONDS

    assert 0 < ours < 0.5 * theirs, f"{ours:.0f} bytes/s, Textual's own {theirs:.0f}"
