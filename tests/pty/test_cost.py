"""What a start costs compared with an empty Textual application, interleaved on one machine: ratios, never seconds."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.console import EMPTY, SIZEUP, Program
from terminal import Terminal

pytestmark = pytest.mark.alone

_ROUNDS = 7
# A start takes 1.1 to 1.6 times the CPU time of the empty application, by host, and 1.15 times its memory; --help takes
# 0.16 times. The limits leave room for noise: they notice what a start begins to load.
_CPU_TIMES = 1.8
_RESIDENT_TIMES = 1.25
_HELP_TIMES = 0.28


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


def measure(home: Path) -> tuple[tuple[float, float, float], tuple[float, float]]:
    """CPU and memory of a start and CPU of ``--batch --help``, then CPU and memory of the empty application.

    The least of a few interleaved rounds: whatever else is at work adds to some of them, and takes from none.
    """
    start(SIZEUP, home)  # compiles what is not compiled yet
    ours, theirs, help_ = [], [], []
    for _ in range(_ROUNDS):
        ours.append(start(SIZEUP, home))
        theirs.append(start(EMPTY, home))
        help_.append(short("--batch", "--help"))
    (cpu, resident), (empty_cpu, empty_resident) = (map(min, zip(*starts, strict=True)) for starts in (ours, theirs))
    return (cpu, resident, min(help_)), (empty_cpu, empty_resident)


def test_a_start_stays_near_that_of_an_empty_textual_application(tmp_path: Path) -> None:
    (cpu, resident, help_), (empty_cpu, empty_resident) = measure(tmp_path)

    assert cpu < _CPU_TIMES * empty_cpu, f"CPU until it rests: {cpu / empty_cpu:.2f} times the empty application's"
    assert resident < _RESIDENT_TIMES * empty_resident, f"memory: {resident / empty_resident:.2f} times"
    assert help_ < _HELP_TIMES * empty_cpu, f"CPU of --batch --help: {help_ / empty_cpu:.2f} times a start of it"
