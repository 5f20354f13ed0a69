"""Our chase against an independent C loop: medians over alternating pairs, and their ratio.

Usage: python tests/benchmarks/memory_latency.py [PAIRS] [WORKING_SET_BYTES ...]
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sizeup_memory.binding import Allocation, ChasePoint, Latency, Pages, StopRule, new_job

KIB, MIB = 1 << 10, 1 << 20
SOURCE = Path(__file__).with_name("chase_peer.c")


def ours_ns(span: int, pages: Pages, cpu: int, seed: int) -> float:
    rule = StopRule(
        replicate_seconds=0.05,
        warm_up_seconds=0.3,
        budget_seconds=0.0,
        replicates_min=3,
        replicates_max=3,
        target=0.03,
        seed=seed,
    )
    latency = Latency([ChasePoint(span, 64, cpu, memory=Allocation(pages))], rule)
    job = new_job()
    status = latency.call(job)()
    if status < 0:
        raise SystemExit(f"{span} bytes: {os.strerror(-status)}")
    return float(job.estimate(0).median)


def main() -> None:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    spans = [int(text) for text in sys.argv[2:]] or [16 * KIB, 256 * KIB, 4 * MIB, 64 * MIB, 256 * MIB]
    cpu = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpu})
    with tempfile.TemporaryDirectory() as folder:
        peer = f"{folder}/chase_peer"
        subprocess.run(["gcc", "-O2", "-o", peer, str(SOURCE)], check=True)
        print("pages  working set  ours ns  peer ns  ratio  range of pair ratios  seconds ours/peer")
        for name, pages in (("thp", Pages.THP), ("4k", Pages.BASE)):
            for span in spans:
                ours, theirs, our_seconds, their_seconds = [], [], 0.0, 0.0
                for pair in range(pairs):
                    start = time.monotonic()
                    ours.append(ours_ns(span, pages, cpu, pair))
                    middle = time.monotonic()
                    done = subprocess.run([peer, str(span), name], check=True, capture_output=True, text=True)
                    theirs.append(float(done.stdout))
                    our_seconds += (middle - start) / pairs
                    their_seconds += (time.monotonic() - middle) / pairs
                ratios = sorted(a / b for a, b in zip(ours, theirs, strict=True))
                mine, other = statistics.median(ours), statistics.median(theirs)
                print(
                    f"{name:5}  {span >> 10:8} KiB  {mine:7.2f}  {other:7.2f}  {mine / other:5.3f}  "
                    f"{ratios[0]:.3f} to {ratios[-1]:.3f}  {our_seconds:.2f}/{their_seconds:.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
