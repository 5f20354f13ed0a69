"""What ``--gentle`` and a full plan do to a database-like load: p99 of a rate-limited fio job beside them and alone.

python tests/benchmarks/gentle_beside_fio.py DIR [--pairs 20] [--rate 500] [--full]

Pairs are interleaved and their order is drawn; each ratio is that of two runs of fio next to each other. Needs fio.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUN = ("run", "-q", "-p", "io.direct", "--set", "io.direct.seconds=10", "io.direct.size=256MiB")


def p99_us(directory: Path, rate: int, seconds: float) -> float:
    """p99 of the job's completion latency, in us."""
    command = [
        "fio", "--name=beside", f"--filename={directory / 'beside.fio'}", "--size=512M", "--rw=randread", "--bs=8k",
        "--direct=1", "--ioengine=libaio", "--iodepth=4", f"--rate_iops={rate}", "--time_based", f"--runtime={seconds}",
        "--output-format=json",
    ]  # fmt: skip
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return float(told["jobs"][0]["read"]["clat_ns"]["percentile"]["99.000000"]) / 1e3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--rate", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--full", action="store_true", help="beside a run at full load")
    chosen = parser.parse_args()
    load = "--full-load" if chosen.full else "--gentle"
    ratios = []
    p99_us(chosen.directory, chosen.rate, 2)  # writes the file
    with tempfile.TemporaryDirectory() as state:
        for number in range(chosen.pairs):
            found = {}
            for beside in random.sample((True, False), 2):
                run = None
                if beside:
                    command = [sys.executable, "-m", "sizeup", *RUN, f"io.direct.path={chosen.directory}", load]
                    run = subprocess.Popen(
                        command, env=os.environ | {"XDG_STATE_HOME": state}, stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                    )  # fmt: skip
                found[beside] = p99_us(chosen.directory, chosen.rate, chosen.seconds)
                if run is not None:
                    assert run.poll() is None, "the run ended before fio"
                    run.terminate()
                    run.wait()
            ratios.append(found[True] / found[False])
            print(
                f"{number + 1:3}  alone {found[False]:8.0f} us  beside {found[True]:8.0f} us  {ratios[-1]:.2f}",
                flush=True,
            )
    low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    print(f"p99 beside {load}, {chosen.rate} IOPS: median {middle:.2f}, quartiles {low:.2f} to {high:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
