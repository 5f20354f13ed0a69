"""What a run does to a database-like load: p99 of a rate-limited fio job beside it and alone.

python tests/benchmarks/gentle_beside_fio.py DIR [--rounds 20] [--rate 500] [--beside gentle standard]

``gentle`` is a gentle run, ``standard`` the storage step of the standard plan at full load, ``quick`` that of the quick
plan, ``nothing`` the job once more. In each round the job runs alone and beside each of them, in drawn order; a ratio
is that of two jobs of one round, from the step's start on, preparation included. Needs fio; a host at rest.
"""

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

RUNS = {
    "gentle": ("--gentle", "--set", "io.direct.seconds=10", "io.direct.size=256MiB"),
    "standard": ("--full-load", "--plan", "standard", "--set"),
    "quick": ("--full-load", "--plan", "quick", "--set"),
    "nothing": (),
}
PATIENCE_SECONDS = 60.0


def p99_us(directory: Path, rate: int, seconds: float) -> float:
    """p99 of the job's completion latency, in us."""
    command = [
        "fio", "--name=beside", f"--filename={directory / 'beside.fio'}", "--size=512M", "--rw=randread", "--bs=8k",
        "--direct=1", "--ioengine=libaio", "--iodepth=4", f"--rate_iops={rate}", "--time_based", f"--runtime={seconds}",
        "--output-format=json",
    ]  # fmt: skip
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return float(told["jobs"][0]["read"]["clat_ns"]["percentile"]["99.000000"]) / 1e3


def beside(kind: str, directory: Path, rate: int, seconds: float) -> float:
    """p99 beside a run of this kind, in us; 'nothing' for alone."""
    if not RUNS[kind]:
        return p99_us(directory, rate, seconds)
    with tempfile.TemporaryDirectory() as state:
        session = Path(state, "run.sizeup.jsonl")
        command = [
            sys.executable, "-m", "sizeup", "run", "-q", "-p", "io.direct", "-o", str(session), *RUNS[kind],
            f"io.direct.path={directory}", "io.direct.cold_read=false",
        ]  # fmt: skip
        run = subprocess.Popen(
            command, env=os.environ | {"XDG_STATE_HOME": state}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while not session.exists() or b'"kind":"step-start"' not in session.read_bytes():
                assert run.poll() is None, f"the run ended with {run.returncode}"
                assert time.monotonic() < deadline, "the step did not start"
                time.sleep(0.05)
            found = p99_us(directory, rate, seconds)
            assert run.poll() is None, "the run ended before fio"
        finally:
            run.terminate()
            run.wait()
    return found


def interval(ratios: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the median, from two of the sorted ratios; all of them where there are fewer than six."""
    count, ranked = len(ratios), sorted(ratios)
    outside, below = 0.0, 0
    while below < count // 2 and outside + (share := math.comb(count, below) / 2**count) <= 0.025:
        outside, below = outside + share, below + 1
    low = max(below - 1, 0)
    return ranked[low], ranked[count - 1 - low]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--rate", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--beside", nargs="+", choices=RUNS, default=["gentle", "standard"])
    chosen = parser.parse_args()
    ratios: dict[str, list[float]] = {kind: [] for kind in chosen.beside}
    loads = []
    p99_us(chosen.directory, chosen.rate, 2)  # writes the file
    for number in range(chosen.rounds):
        loads.append(os.getloadavg()[0])
        found = {}
        for kind in random.sample(("alone", *ratios), len(ratios) + 1):
            ran = "nothing" if kind == "alone" else kind
            found[kind] = beside(ran, chosen.directory, chosen.rate, chosen.seconds)
        for kind, kept in ratios.items():
            kept.append(found[kind] / found["alone"])
        each = "  ".join(f"{kind} {us:8.0f} us" for kind, us in found.items())
        print(f"{number + 1:3}  load {loads[-1]:5.2f}  {each}", flush=True)
    for kind, kept in ratios.items():
        low, high = interval(kept)
        print(
            f"p99 beside {kind}, {chosen.rate} IOPS: {statistics.median(kept):.2f} times that alone, 95 % interval "
            f"{low:.2f} to {high:.2f}, {len(kept)} rounds, load average {min(loads):.1f} to {max(loads):.1f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
