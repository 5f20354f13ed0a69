"""Whether sizeup grows: memory, descriptors, threads, children and files over many runs.

Run by hand, from the root of the checkout; ^C ends it early with what it has:

    PYTHONPATH=tests python -m benchmarks.soak engine --cycles 2000
    PYTHONPATH=tests python -m benchmarks.soak processes --cycles 2000
    PYTHONPATH=tests python -m benchmarks.soak console --cycles 210 --skip 150 --every 60
    PYTHONPATH=tests python -m benchmarks.soak console --cycles 300 --skip 150
    PYTHONPATH=tests python -m benchmarks.soak screens --cycles 200

``engine`` discovers, probes, saves and closes again and again in one process; ``processes`` starts a process for each
and takes its peak; ``console`` presses ``r`` in one console on a pseudo-terminal and looks at every mode in between.
What the one session of all its runs takes in memory is stated and taken off; its caches are full after 150 runs.
The slope is that of least squares over the means of blocks of cycles; its interval is Student's. The first cycles,
in which caches fill, run without a pause and are not judged.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

os.environ["SIZEUP_RUN_BUSY"] = "ignore"
from benchmarks.console import SIZEUP, Live, _at_home, _choose
from sizeup.engine.run import run
from sizeup.engine.spec import RunSpec
from sizeup.session.reader import SessionFollower
from sizeup.session.records import Record
from terminal import Terminal

BLOCKS = 20
STUDENT = 2.101
"""Of 18 degrees of freedom, at 97.5 %."""
_QUICK = ("null.samples=20",)

Sample = dict[str, float]
"""What is held after a cycle, by name; memory in KiB."""


class _Silent:
    def show(self, line: str) -> None:
        pass

    def __call__(self, record: Record) -> None:
        pass


def held(pids: Sequence[int]) -> Sample:
    """Memory, descriptors and threads of processes, and how many there are beside the first."""
    sample: Sample = {
        "RSS KiB": 0,
        "PSS KiB": 0,
        "anonymous KiB": 0,
        "descriptors": 0,
        "threads": 0,
        "children": len(pids) - 1,
    }
    for pid in pids:
        with suppress(OSError):
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text().split()
            sample["RSS KiB"] += int(rollup[rollup.index("Rss:") + 1])
            sample["PSS KiB"] += int(rollup[rollup.index("Pss:") + 1])
            sample["anonymous KiB"] += int(rollup[rollup.index("Anonymous:") + 1])  # without pages of files
            sample["descriptors"] += len(os.listdir(f"/proc/{pid}/fd"))
            sample["threads"] += len(os.listdir(f"/proc/{pid}/task"))
    return sample


def files(*folders: Path) -> set[Path]:
    """Files below the folders."""
    return {path for folder in folders for path in folder.rglob("*") if path.is_file()}


def engine(home: Path, pauses: Sequence[float]) -> Iterator[Sample]:
    """Runs of the engine in this process; each session is removed."""
    for number, pause in enumerate(pauses):
        path = home / f"{number}.sizeup.jsonl"
        run(RunSpec(probes=("null",), assignments=_QUICK, output=str(path)), _Silent())
        path.unlink()
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        yield held([os.getpid(), *map(int, children)]) | {"files": len(files(home))}
        time.sleep(pause)


def processes(home: Path, pauses: Sequence[float]) -> Iterator[Sample]:
    """Runs as processes, whose sessions stay in the store; the peak of each, and what is left beside its session."""
    command = [*SIZEUP.arguments, "run", "-q", "-p", "null", "--set", *_QUICK]
    for number, pause in enumerate(pauses):
        process = subprocess.Popen(
            command, env=os.environ | _at_home(str(home)) | {"TMPDIR": str(home)}, stdout=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, process.returncode
        yield {"peak RSS KiB": usage.ru_maxrss, "files": len(files(home)) - number - 1}
        time.sleep(pause)


def console(home: Path, pauses: Sequence[float]) -> Iterator[Sample]:
    """Runs of one console, which shows its other modes in between; it keeps them all, as they are one session."""
    saved = home / "sizeup/sessions"

    def ended() -> int:
        return sum(path.read_bytes().count(b'"kind":"outcome"') for path in saved.glob("*.jsonl"))

    with Terminal(SIZEUP.arguments, columns=120, rows=40, environment=_at_home(str(home))) as terminal:
        _choose(terminal, Live("null"))
        for number, pause in enumerate(pauses):
            due = time.monotonic() + pause
            terminal.press("3", "r")
            assert terminal.pump(60, lambda number=number: ended() > number), terminal.text
            terminal.pump(60, lambda: len(terminal.processes()) == 1)
            for mode in "12453":
                terminal.press(mode)
                terminal.pump(0.3)
            terminal.pump(due - time.monotonic())
            del terminal.output[:]
            (session,) = saved.iterdir()
            sample = held(terminal.processes()) | {"files": len(files(home)) - 1}
            yield sample | {"session KB": session.stat().st_size / 1e3}
        terminal.press("q")
        assert terminal.wait() == 0, terminal.text


def kept_kib(home: Path) -> float:
    """What the results of a run take in memory, in the mean, by the session of a console; beside one read before.

    As the console reads and keeps it, and in a process of its own, whose memory is in use: what was freed before takes
    sessions without growing.
    """
    (path,) = (home / "sizeup/sessions").iterdir()
    followers = [SessionFollower(str(path)) for _ in range(9)]
    (first, *others) = followers
    session, before = first.read_to_end(), held([os.getpid()])["anonymous KiB"]
    for follower in others:
        follower.read_to_end()
    assert session is not None, path
    return (held([os.getpid()])["anonymous KiB"] - before) / len(others) / len(session.plans)


def screens(home: Path, pauses: Sequence[float]) -> Iterator[Sample]:
    """Every mode of one console again and again, without a run: what grows here is no result."""
    with Terminal(SIZEUP.arguments, columns=120, rows=40, environment=_at_home(str(home))) as terminal:
        _choose(terminal, Live("null"))
        for pause in pauses:
            for mode in "12453":
                terminal.press(mode)
                terminal.pump(0.6)
            terminal.pump(pause)
            del terminal.output[:]
            yield held(terminal.processes()) | {"files": len(files(home))}
        terminal.press("q")
        assert terminal.wait() == 0, terminal.text


def slope(values: Sequence[float]) -> tuple[float, float]:
    """Growth per cycle and half of its 95 % interval."""
    size = len(values) // BLOCKS
    values = values[len(values) % BLOCKS :]
    blocks = [statistics.fmean(values[size * block : size * (block + 1)]) for block in range(BLOCKS)]
    fit = statistics.linear_regression(range(BLOCKS), blocks)
    residual = sum((value - fit.intercept - fit.slope * block) ** 2 for block, value in enumerate(blocks))
    squares = (BLOCKS**3 - BLOCKS) / 12
    return fit.slope / size, STUDENT * (residual / (BLOCKS - 2) / squares) ** 0.5 / size


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = {kind.__name__: kind for kind in (engine, processes, console, screens)}
    parser.add_argument("kind", choices=kinds)
    parser.add_argument("--cycles", type=int, default=2000)
    parser.add_argument("--every", type=float, default=0, metavar="SECONDS")
    parser.add_argument("--skip", type=int, metavar="CYCLES", help="not judged; the first fifth if not set")
    chosen = parser.parse_args()
    skipped = chosen.cycles // 5 if chosen.skip is None else chosen.skip
    pauses = [0.0] * skipped + [chosen.every] * (chosen.cycles - skipped)
    columns: dict[str, array[float]] = {}  # 8 bytes a sample, so that this program grows by less than what it looks for
    with tempfile.TemporaryDirectory() as home:
        with suppress(KeyboardInterrupt):
            for sample in kinds[chosen.kind](Path(home), pauses):
                for name, value in sample.items():
                    columns.setdefault(name, array("d")).append(value)
                cycles = len(columns["files"])
                if cycles % max(chosen.cycles // 40, 1) == 0:
                    print(cycles, sample, file=sys.stderr, flush=True)
        kept = 0.0
        if chosen.kind == "console":
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                kept = pool.submit(kept_kib, Path(home)).result()
    cycles = len(columns["files"])
    grown = False
    print(f"{chosen.kind}: {cycles} cycles, those after the first {skipped} judged")
    for name, column in columns.items():
        values = column[skipped:]
        growth, half = slope(values)
        if "KiB" in name:
            growth -= kept
        wrong = growth + half > 1 if "KiB" in name else "KB" not in name and values[-1] > values[0]
        grown |= wrong
        print(
            f"{name:13} {values[0]:12,.0f} to {values[-1]:12,.0f}, {growth:+.3f} ± {half:.3f} a cycle"
            f"{'  GROWS' if wrong else ''}"
        )
    if kept:
        print(f"{kept:.1f} KiB a run are its results, which one session keeps; they are taken off above")
    return int(grown)


if __name__ == "__main__":
    sys.exit(main())
