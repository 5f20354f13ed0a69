"""What a start costs beside an empty Textual application, both on one machine by turns: ratios, never seconds."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.console import EMPTY, SIZEUP, Program
from terminal import Terminal

pytestmark = pytest.mark.alone

_ROUNDS = 7
# A start takes 1.2 times the CPU time and 1.17 times the memory of the empty application.
_CPU_TIMES = 1.3
_RESIDENT_TIMES = 1.25
_HELP_TIMES = 0.28
"""60 ms there."""


def start(program: Program, home: Path) -> tuple[float, int]:
    """CPU seconds until it rests, and resident bytes then."""
    environment = {name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")}
    with Terminal(program.arguments, columns=120, rows=40, environment=environment) as terminal:
        terminal.wait_for(program.shows)
        terminal.wait_quiet(1.0)  # long enough for what a screen might put off until it stands
        return terminal.cpu_seconds(), terminal.resident_bytes()


def short(*arguments: str) -> float:
    """CPU seconds of a command that ends by itself."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "sizeup", *arguments], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rounds(home: Path) -> Iterator[tuple[float, float, float]]:
    """Each round as ratios: CPU and memory of the console, CPU of ``--batch --help``, to the empty application."""
    start(SIZEUP, home)  # compiles what is not compiled yet
    for _ in range(_ROUNDS):
        ours, theirs = start(SIZEUP, home), start(EMPTY, home)
        yield ours[0] / theirs[0], ours[1] / theirs[1], short("--batch", "--help") / theirs[0]


def test_a_start_stays_near_that_of_an_empty_textual_application(tmp_path: Path) -> None:
    cpu, resident, help_ = map(statistics.median, zip(*rounds(tmp_path), strict=True))

    assert cpu < _CPU_TIMES, f"CPU until it rests: {cpu:.2f} times the empty application's"
    assert resident < _RESIDENT_TIMES, f"resident memory: {resident:.2f} times the empty application's"
    assert help_ < _HELP_TIMES, f"CPU of --batch --help: {help_:.2f} times the empty application's start"
