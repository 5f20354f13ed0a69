"""What the console costs beside the consoles people know, all in one run on one machine.

Run by hand on an otherwise idle machine, from the root of the checkout:

    PYTHONPATH=tests python -m benchmarks.console

It prints the Markdown table that stands in ``docs/results/performance.md``. Every program gets the same
pseudo-terminal, the same refresh of one second and the same reader; a program that is not installed is
left out and named. Absolute times are this machine's; the ratios are what to look at.
"""

import argparse
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sizeup.probing.registry import load_registry
from sizeup.tui.screens.probe_text import card_groups
from terminal import Terminal
from typed import fill_form

_BTOP_CONFIGURATION = "update_ms = 1000\nshow_init = False\n"

_MINIMAL_TEXTUAL = """
from textual.app import App
from textual.widgets import Footer, Header, Tree
class Minimal(App):
    def compose(self):
        yield Header()
        tree = Tree("root")
        tree.root.expand()
        for number in range(20):
            tree.root.add_leaf(str(number))
        yield tree
        yield Footer()
Minimal().run()
"""


@dataclass(frozen=True)
class Program:
    """One program to be measured."""

    name: str
    arguments: tuple[str, ...]
    key: str = "down"
    """Moves something on the first screen, so that it is answered at once."""
    shows: str = ""
    """On the screen once it is whole, for a program that greets first and pauses then."""


SIZEUP = Program("sizeup", (sys.executable, "-m", "sizeup"), shows="Detected")
EMPTY = Program("Textual, 20 rows", (sys.executable, "-c", _MINIMAL_TEXTUAL), shows="19")
PROGRAMS = (
    SIZEUP,
    Program("htop", ("htop", "-d", "10")),
    Program("btop", ("btop",)),
    Program("s-tui", ("s-tui", "-r", "1")),
    Program("glances", ("glances", "-t", "1"), key="1"),  # one line per CPU, or one for all
    EMPTY,
)


FORMS = {
    "first paint ms": ".0f",  # from before the fork to the first byte that leaves something on the screen
    "whole ms": ".0f",  # to the last byte before the first pause of 0.3 s
    "CPU to whole ms": ".0f",  # of all its processes when that pause was over
    "idle CPU %": ".2f",  # of one CPU
    "bytes/s": ",.0f",  # when idle
    "RSS MB": ".0f",
    "PSS MB": ".0f",  # a page that several processes share counts in parts
    "key ms p50": ".1f",
    "p90": ".1f",
}
"""What one start of a program cost, and how that is written."""
Cost = dict[str, float]


def measure(program: Program, columns: int, rows: int, idle_seconds: float, keys: int) -> Cost:
    """Start a program, leave it idle for a while, then press keys."""
    with tempfile.TemporaryDirectory() as home:
        configuration = Path(home, "btop")
        configuration.mkdir()
        (configuration / "btop.conf").write_text(_BTOP_CONFIGURATION)
        environment = {**_at_home(home), "XDG_CACHE_HOME": home}
        with Terminal(program.arguments, columns=columns, rows=rows, environment=environment) as terminal:
            terminal.pump(20, lambda: any(terminal.lines))
            first_paint = terminal.last_byte_seconds
            terminal.wait_for(program.shows, 20)
            settled = terminal.wait_quiet(0.3, 20)
            settled_cpu = terminal.cpu_seconds()
            terminal.pump(1.0)
            idle_cpu, idle_bytes = idle(terminal, idle_seconds)
            resident, proportional = terminal.resident_bytes(), terminal.proportional_bytes()
            echoes = sorted(echo_ms(terminal, program.key, keys))
    slow = echoes[int(0.9 * (len(echoes) - 1) + 0.5)]
    times = (first_paint * 1e3, settled * 1e3, settled_cpu * 1e3)
    figures = (*times, idle_cpu, idle_bytes, resident / 1e6, proportional / 1e6, statistics.median(echoes), slow)
    return dict(zip(FORMS, figures, strict=True))


def medians(costs: Sequence[Cost]) -> Cost:
    """Return the median of each figure."""
    return {name: statistics.median(cost[name] for cost in costs) for name in FORMS}


def idle(terminal: Terminal, seconds: float) -> tuple[float, float]:
    """CPU in percent and bytes per second of a program left alone."""
    cpu, written, since = terminal.cpu_seconds(), len(terminal.output), time.monotonic()
    terminal.pump(seconds)
    elapsed = time.monotonic() - since
    return 100 * (terminal.cpu_seconds() - cpu) / elapsed, (len(terminal.output) - written) / elapsed


def echo_ms(terminal: Terminal, key: str, times: int) -> list[float]:
    """Milliseconds from a key to the first byte of its answer; a refresh that happens to come first counts too."""
    waits = []
    for number in range(times):
        terminal.pump(0.15 + 0.01 * (number % 7))  # out of step with a refresh each second
        written, since = len(terminal.output), time.monotonic()
        # Up and down in turn, so that the end of a list never leaves a key unanswered.
        terminal.press("up" if key == "down" and number % 2 else key)
        if terminal.pump(1.0, lambda written=written: len(terminal.output) > written):
            waits.append((terminal.started + terminal.last_byte_seconds - since) * 1e3)
    return waits or [float("nan")]


@dataclass(frozen=True)
class Live:
    """A probe to be watched, and what the form is to say instead of its defaults."""

    probe: str
    typed: tuple[tuple[str, str], ...] = ()
    """Settings and their values."""
    keys: tuple[str, ...] = ()
    """Pressed before the start."""
    answer: tuple[str, ...] = ()
    """To the question that a probe which may write asks first."""


_STANDARD = ("p", "down", "enter")
"""Choose the plan after the quick one."""


def lives(folder: str) -> tuple[Live, ...]:
    """A curve that is refined, a ramp, and bars; files are made in ``folder``."""
    settings = (("path", folder), ("size", "256M"), ("seconds", "2"), ("warmup", "0.5"))
    return (
        Live("memory.latency", keys=_STANDARD),
        Live("io.direct", settings, answer=("down", "enter")),
        Live("clock.cost"),
    )


@dataclass(frozen=True)
class RunCost:
    """What the console cost over a whole run."""

    seconds: float
    cpu_percent: float
    """Of the console's own process, the probe's worker not counted."""
    bytes_per_second: float
    worst_bytes: int
    """In any second."""


def run(program: Program, live: Live, columns: int, rows: int) -> RunCost:
    """Watch one probe from its start to its end."""
    with (
        tempfile.TemporaryDirectory() as home,
        Terminal(program.arguments, columns=columns, rows=rows, environment=_at_home(home)) as terminal,
    ):
        _choose(terminal, live)
        clock = (~terminal.process.pid << 3) | 2
        cpu, written, since = time.clock_gettime(clock), len(terminal.output), time.monotonic()
        terminal.press("r")
        if live.answer:
            terminal.wait_for("creates a temporary file")
            terminal.wait_quiet(0.2)
            terminal.press(*live.answer)
        each: list[int] = []
        terminal.wait_for("RUNNING", 20)
        while not terminal.pump(1.0, lambda: "RUNNING" not in terminal.text) and len(each) < 600:
            each.append(len(terminal.output) - written - sum(each))
        elapsed = time.monotonic() - since
        total = len(terminal.output) - written
        return RunCost(
            seconds=elapsed,
            cpu_percent=100 * (time.clock_gettime(clock) - cpu) / elapsed,
            bytes_per_second=total / elapsed,
            worst_bytes=max([*each, total - sum(each)]),
        )


def leave_ms(program: Program, columns: int, rows: int) -> tuple[float, float]:
    """From ``q`` to the end when idle, and from SIGTERM to the end, which comes after all is saved, during a run."""
    with tempfile.TemporaryDirectory() as home:
        with Terminal(program.arguments, columns=columns, rows=rows, environment=_at_home(home)) as terminal:
            _choose(terminal, Live("memory.latency", keys=_STANDARD))
            terminal.press("r")
            terminal.wait_for("RUNNING", 20)
            terminal.pump(1.0)
            cancel_ms = _until_end(terminal, lambda: terminal.process.send_signal(signal.SIGTERM))
        with Terminal(program.arguments, columns=columns, rows=rows, environment=_at_home(home)) as terminal:
            terminal.wait_for("Detected")
            terminal.wait_quiet()
            return _until_end(terminal, lambda: terminal.press("q")), cancel_ms


def _at_home(home: str) -> dict[str, str]:
    return {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_STATE_HOME": home}


def _choose(terminal: Terminal, live: Live) -> None:
    """Put the cursor on a probe and fill in its form."""
    terminal.wait_for("Detected")
    terminal.press("3")
    terminal.wait_for("Touches")
    probes = load_registry().probes
    listed = [probe.name for _, found in card_groups(probes.values()) for probe in found]
    terminal.press("g", *["j"] * listed.index(live.probe))
    terminal.wait_quiet(0.3)
    if live.typed:
        fill_form(terminal, probes[live.probe].manifest, dict(live.typed))
    terminal.press(*live.keys)
    terminal.wait_quiet(0.2)


def _until_end(terminal: Terminal, leave: Callable[[], None]) -> float:
    since = time.monotonic()
    leave()
    while terminal.process.poll() is None and time.monotonic() - since < 10:
        terminal.pump(0.002)
    return (time.monotonic() - since) * 1e3


def table(costs: dict[str, Cost]) -> list[str]:
    """The Markdown table, and below it the first program's costs as ratios to each peer's."""
    titles = " | ".join(FORMS)
    lines = [f"| | {titles} |", "|---|" + "---:|" * len(FORMS)]
    for name, cost in costs.items():
        cells = (format(cost[figure], form) for figure, form in FORMS.items())
        lines.append(f"| {name} | {' | '.join(cells)} |")
    (first, ours), *others = costs.items()
    lines += ["", f"| {first} / | {titles.replace(' ms', '').replace(' MB', '')} |", "|---|" + "---:|" * len(FORMS)]
    for name, cost in others:
        ratios = [f"{ours[figure] / cost[figure]:.2f}" if cost[figure] else "-" for figure in FORMS]
        lines.append(f"| {name} | {' | '.join(ratios)} |")
    return lines


def run_table(folder: str, columns: int, rows: int, times: int) -> list[str]:
    """The Markdown table of whole runs, shown live; a probe's runs by their medians."""
    lines = ["| a whole run, shown live | s | CPU % of the console | bytes/s | in the worst second |"]
    lines.append("|---|---:|---:|---:|---:|")
    for live in lives(folder):
        costs = [run(SIZEUP, live, columns, rows) for _ in range(times)]
        lines.append(
            f"| {live.probe} | {statistics.median(cost.seconds for cost in costs):.0f} "
            f"| {statistics.median(cost.cpu_percent for cost in costs):.2f} "
            f"| {statistics.median(cost.bytes_per_second for cost in costs):,.0f} "
            f"| {max(cost.worst_bytes for cost in costs):,} |"
        )
    return lines


def main(arguments: Sequence[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these programs, the first being the one compared")
    parser.add_argument("--columns", type=int, default=120)
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--starts", type=int, default=5, help="of each program, interleaved; the medians are shown")
    parser.add_argument("--idle", type=float, default=10.0, metavar="SECONDS")
    parser.add_argument("--keys", type=int, default=20)
    parser.add_argument("--run", metavar="FOLDER", help="watch whole runs as well, one making its file in FOLDER")
    parser.add_argument("--runs", type=int, default=1, metavar="TIMES", help="each of the whole runs")
    parsed = parser.parse_args(arguments)
    chosen = []
    for program in PROGRAMS:
        if parsed.only and program.name not in parsed.only:
            continue
        if shutil.which(program.arguments[0]) is None:
            print(f"{program.name}: not installed, left out", file=sys.stderr)
            continue
        chosen.append(program)
    found: dict[str, list[Cost]] = {program.name: [] for program in chosen}
    for start in range(parsed.starts):
        for program in chosen:  # interleaved, so that a slow minute affects all alike
            print(f"start {start + 1} of {parsed.starts}, {program.name} ...", file=sys.stderr)
            found[program.name].append(measure(program, parsed.columns, parsed.rows, parsed.idle, parsed.keys))
    print(f"{parsed.columns}x{parsed.rows}, {parsed.starts} starts, {parsed.idle:g} s idle, {parsed.keys} keys\n")
    print("\n".join(table({name: medians(costs) for name, costs in found.items()})))
    if parsed.run:
        print("", *run_table(parsed.run, parsed.columns, parsed.rows, parsed.runs), sep="\n")
        quit_ms, cancel_ms = leave_ms(SIZEUP, parsed.columns, parsed.rows)
        print(f"\nq to the end, idle: {quit_ms:.0f} ms; SIGTERM to the end, running: {cancel_ms:.0f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
