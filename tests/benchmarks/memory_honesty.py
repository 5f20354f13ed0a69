"""Whether the latency probe's promises hold here: intervals, canceling, a busy neighbor on the same CPU.

Usage: python tests/benchmarks/memory_honesty.py [intervals|cancel|busy]...
"""

import os
import random
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from sizeup_memory.binding import Allocation, ChasePoint, Latency, Pages, StopRule, new_job

KIB, MIB = 1 << 10, 1 << 20
SPANS = (16 * KIB, 256 * KIB, 2 * MIB, 16 * MIB, 64 * MIB, 256 * MIB)
SESSIONS = 6
CPU = max(os.sched_getaffinity(0))
SPIN = "while True: pass"


def rule(replicates: int, seed: int) -> StopRule:
    """The standard plan's, with a number of replicates of its own."""
    return StopRule(0.05, 0.1, 0.0, replicates, replicates, 0.03, seed)


def chase(spans: tuple[int, ...], replicates: int, seed: int) -> list[Any]:
    points = [ChasePoint(span, 64, CPU, memory=Allocation(Pages.THP)) for span in spans]
    job, latency = new_job(), Latency(points, rule(replicates, seed))
    status = latency.call(job)()
    if status < 0:
        raise SystemExit(job.reason)
    return [job.estimate(index) for index in range(len(spans))]


def intervals() -> None:
    sessions = [chase(SPANS, 7, seed) for seed in range(SESSIONS)]
    held = 0
    print("working set  grand median ns  mean half width  sessions whose interval holds it")
    for index, span in enumerate(SPANS):
        points = [session[index] for session in sessions]
        grand = statistics.median(point.median for point in points)
        inside = sum(point.low <= grand <= point.high for point in points)
        width = statistics.fmean((point.high - point.low) / 2 / point.median for point in points)
        held += inside
        print(f"{span >> 10:8} KiB  {grand:15.2f}  {width:15.1%}  {inside} of {SESSIONS}")
    print(f"in all {held} of {SESSIONS * len(SPANS)}, {held / SESSIONS / len(SPANS):.0%}")


def cancel(trials: int = 40) -> None:
    before = available_bytes()
    for load in (0, 8):
        spinners = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(load)]
        times = []
        for trial in range(trials):
            points = [ChasePoint(span, 64, CPU, memory=Allocation(Pages.THP)) for span in SPANS]
            job, latency = new_job(), Latency(points, rule(60, trial))
            thread = threading.Thread(target=latency.call(job))
            thread.start()
            time.sleep(random.uniform(0.01, 0.3))
            start = time.monotonic()
            job.cancel()
            thread.join()
            times.append(time.monotonic() - start)
        for spinner in spinners:
            spinner.kill()
            spinner.wait()
        times.sort()
        p95 = times[round(0.95 * (len(times) - 1))]
        kept = (before - available_bytes()) >> 20
        print(f"load {load}: canceled, with the memory back, within {p95 * 1e3:.1f} ms (p95 of {trials}),")
        print(f"  {times[-1] * 1e3:.1f} ms at most; {kept} MiB less available than before")


def available_bytes() -> int:
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


def busy() -> None:
    spans = SPANS[:2]
    alone, disturbed, shares = [], [], []
    for pair in range(5):
        alone.append([point.median for point in chase(spans, 5, pair)])
        spinner = subprocess.Popen(["taskset", "-c", str(CPU), sys.executable, "-c", SPIN])
        time.sleep(0.1)
        points = chase(spans, 5, pair)
        spinner.kill()
        spinner.wait()
        disturbed.append([point.median for point in points])
        shares.append([point.disturbed_share for point in points])
    print("working set  alone ns  beside a busy loop ns  ratio  batches flagged")
    for index, span in enumerate(spans):
        one = statistics.median(row[index] for row in alone)
        two = statistics.median(row[index] for row in disturbed)
        flagged = statistics.median(row[index] for row in shares)
        print(f"{span >> 10:8} KiB  {one:8.3f}  {two:21.3f}  {two / one:5.3f}  {flagged:.0%}")


if __name__ == "__main__":
    for part in sys.argv[1:] or ["intervals", "cancel", "busy"]:
        {"intervals": intervals, "cancel": cancel, "busy": busy}[part]()
