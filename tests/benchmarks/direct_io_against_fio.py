"""Our engines beside fio on one file: alternating pairs, ratios of medians, by hand on a calm machine.

    python tests/benchmarks/direct_io_against_fio.py FILE --case NAME --pairs 5 --seconds 4 --append RESULTS

FILE is a written file of a few GiB. Every pair runs fio and then us, or us and then fio, on the same
job; each line of RESULTS is one run. ``--summary RESULTS`` prints the medians and ratios.
"""

import argparse
import bisect
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from fakes import HandContext
from sizeup.procfs.stat import read_pressure
from sizeup_direct_io.comparisons import without_progress
from sizeup_direct_io.measure import Window, measure
from sizeup_direct_io.window_counters import CounterSource
from sizeup_direct_io.worker import Engine, Pattern, Worker

KIB = 1024
RAMP_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Case:
    """One job, ours and fio's."""

    engine: Engine
    block_bytes: int = 8 * KIB
    depth: int = 1
    read_percent: int = 100
    pattern: Pattern = Pattern.RANDOM
    dsync: bool = False
    huge_pages: bool = False
    fio: tuple[str, ...] = ()
    """What tunes fio beyond its defaults."""


TUNED = ("--fixedbufs", "--registerfiles", "--nonvectored=1", "--iodepth_batch_complete_min=1", "--norandommap")


def cases() -> Iterator[tuple[str, Case]]:
    """Every job by name."""
    for depth in (1, 4, 16, 64):
        yield f"uring-{depth}", Case(Engine.IO_URING, depth=depth)
        yield f"aio-{depth}", Case(Engine.AIO, depth=depth)
        yield f"threads-{depth}", Case(Engine.THREADS, depth=depth)
    for depth in (16, 64):
        deep = (*TUNED, f"--iodepth_batch_complete_max={depth}", f"--iodepth_batch={depth // 4}")
        yield f"uring-{depth}-tuned", Case(Engine.IO_URING, depth=depth, fio=deep)
    yield "mixed-16", Case(Engine.IO_URING, depth=16, read_percent=70)
    large = {"block_bytes": 1024 * KIB, "depth": 4, "pattern": Pattern.SEQUENTIAL}
    yield "scan-4k", Case(Engine.IO_URING, **large)
    yield "scan-huge", Case(Engine.IO_URING, huge_pages=True, fio=("--mem=mmaphuge", "--iomem_align=2m"), **large)
    for size in (512, 4 * KIB, 8 * KIB, 64 * KIB, 128 * KIB):
        log = {"block_bytes": size, "read_percent": 0, "pattern": Pattern.SEQUENTIAL, "dsync": True}
        yield f"redo-{size}", Case(Engine.THREADS, **log)


def run_fio(case: Case, path: str, seconds: float) -> dict[str, Any]:
    """One run of fio; its latency is submission to completion, as ours is."""
    engine = {Engine.IO_URING: "io_uring", Engine.AIO: "libaio", Engine.THREADS: "psync"}[case.engine]
    kind = "rw" if case.read_percent not in {0, 100} else "read" if case.read_percent else "write"
    rw = kind if case.pattern is Pattern.SEQUENTIAL else f"rand{kind}"
    threads = case.engine is Engine.THREADS
    command = [
        "fio",
        "--name=job",
        f"--filename={path}",
        "--direct=1",
        f"--ioengine={engine}",
        f"--bs={case.block_bytes}",
        f"--rw={rw}",
        f"--rwmixread={case.read_percent}",
        f"--iodepth={1 if threads else case.depth}",
        f"--numjobs={case.depth if threads else 1}",
        "--thread",
        "--group_reporting",
        "--time_based",
        f"--runtime={seconds:g}",
        f"--ramp_time={RAMP_SECONDS:g}",
        "--randrepeat=0",
        "--lat_percentiles=1",
        "--output-format=json+",
        *(("--sync=dsync",) if case.dsync else ()),
        *case.fio,
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    sides = [job[side] for side in ("read", "write") if job[side]["total_ios"]]
    requests = sum(side["total_ios"] for side in sides)
    iops = sum(side["iops"] for side in sides)
    percent = (job["usr_cpu"] + job["sys_cpu"]) * (case.depth if threads else 1)
    bins = Counter[int]()
    for side in sides:
        bins.update({int(value): count for value, count in side["lat_ns"]["bins"].items()})
    return {"iops": iops, "requests": requests, "cpu_us": percent / 100 / iops * 1e6, "bins": bins}


def run_ours(case: Case, path: str, seconds: float) -> dict[str, Any]:
    """One run of ours, sampled live as in a session."""
    flags = os.O_RDWR | os.O_DIRECT | (os.O_DSYNC if case.dsync else 0)
    descriptor = os.open(path, flags)
    threads = case.engine is Engine.THREADS
    size_bytes = os.fstat(descriptor).st_size // case.block_bytes * case.block_bytes
    workers = [
        Worker(
            engine=case.engine,
            descriptor=descriptor,
            block_bytes=case.block_bytes,
            start_bytes=0,
            size_bytes=size_bytes,
            pattern=case.pattern,
            seed=random.getrandbits(62),
            read_percent=case.read_percent,
            depth=1 if threads else case.depth,
            huge_pages=case.huge_pages,
        )
        for _ in range(case.depth if threads else 1)
    ]
    place = CounterSource(os.fstat(descriptor).st_dev)
    window = Window(RAMP_SECONDS, seconds, 0.0, 1.0, 5.0)
    try:
        measured = without_progress(
            measure(workers, ("all",), {"queue_depth": case.depth}, window, HandContext(), place)
        )
    finally:
        os.close(descriptor)
    interval = measured.intervals["all"]
    bins = Counter(interval.histogram("read")) + Counter(interval.histogram("write"))
    cpu_ns = (interval.user_ns + interval.system_ns) / max(1, interval.usage_requests)
    return {
        "iops": interval.requests / interval.seconds,
        "requests": interval.requests,
        "cpu_us": cpu_ns / 1e3,
        "bins": bins,
    }


def quantile(bins: Counter[int], share: float) -> float:
    """A quantile of a histogram, in nanoseconds."""
    values, rank = sorted(bins), share * bins.total()
    return float(values[bisect.bisect_left([*itertools.accumulate(bins[value] for value in values)], rank)])


def record(name: str, case: Case, path: str, pairs: int, seconds: float, results: str) -> None:
    """Run alternating pairs, appending each run as it ends."""
    for pair in range(pairs):
        sides = [("fio", run_fio), ("ours", run_ours)]
        for side, runner in sides if pair % 2 == 0 else reversed(sides):
            pressure = read_pressure("cpu")
            run = runner(case, path, seconds)
            line = {"case": name, "side": side, "psi_avg10": pressure and pressure.some_avg10_percent, **run}
            with open(results, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


def _pooled(runs: Iterable[dict[str, Any]]) -> Counter[int]:
    return sum((run["bins"] for run in runs), Counter[int]())


def against_itself(runs: list[dict[str, Any]], share: float) -> tuple[float, float]:
    """Return the range of a pooled percentile's ratio between the halves of one side's runs, over all ways to halve."""
    ratios = []
    for chosen in itertools.combinations(range(len(runs)), len(runs) // 2):
        others = [run for number, run in enumerate(runs) if number not in chosen]
        ratios.append(quantile(_pooled(runs[number] for number in chosen), share) / quantile(_pooled(others), share))
    return min(ratios), max(ratios)


def summarize(results: str) -> None:
    """Print medians, and the median of the ratios of pairs; p99 beside the range that fio has against itself."""
    runs: dict[str, dict[str, list[dict[str, Any]]]] = {}
    with open(results, encoding="utf-8") as file:
        for text in file:
            line = json.loads(text)
            line["bins"] = Counter({int(value): count for value, count in line["bins"].items()})
            runs.setdefault(line["case"], {"fio": [], "ours": []})[line["side"]].append(line)
    head = ("case", "pairs", "fio IOPS", "ours", "ratio", "p50 us fio/ours", "ratio", "p99 ratio", "fio's own")
    print(f"| {' | '.join(head)} | CPU us fio/ours | ratio |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name, sides in runs.items():
        pairs = list(zip(sides["fio"], sides["ours"], strict=False))
        fio, ours = (
            (
                statistics.median(run["iops"] for run in sides[side]),
                statistics.median(quantile(run["bins"], 0.5) for run in sides[side]) / 1e3,
                quantile(_pooled(sides[side]), 0.99),
                statistics.median(run["cpu_us"] for run in sides[side]),
            )
            for side in ("fio", "ours")
        )
        iops = statistics.median(b["iops"] / a["iops"] for a, b in pairs)
        p50 = statistics.median(quantile(b["bins"], 0.5) / quantile(a["bins"], 0.5) for a, b in pairs)
        cpu = statistics.median(b["cpu_us"] / a["cpu_us"] for a, b in pairs)
        least, most = against_itself(sides["fio"], 0.99)
        print(
            f"| {name} | {len(pairs)} | {fio[0]:,.0f} | {ours[0]:,.0f} | {iops:.2f} "
            f"| {fio[1]:.0f} / {ours[1]:.0f} | {p50:.2f} | {ours[2] / fio[2]:.2f} | {least:.2f} to {most:.2f} "
            f"| {fio[3]:.1f} / {ours[3]:.1f} | {cpu:.2f} |"
        )


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?")
    parser.add_argument("--case", action="append", choices=[name for name, _ in cases()])
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--append", default="direct-io-against-fio.jsonl")
    parser.add_argument("--summary")
    given = parser.parse_args()
    if given.summary:
        summarize(given.summary)
        return
    for name, case in cases():
        if given.case is None or name in given.case:
            record(name, case, given.file, given.pairs, given.seconds, given.append)


if __name__ == "__main__":
    main()
