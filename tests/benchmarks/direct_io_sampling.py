"""What watching costs: requests a second in short windows with and without live samples, in turns.

Usage: python tests/benchmarks/direct_io_sampling.py FOLDER [--pairs N] [--window SECONDS] [--depth N] [--hertz N]

One job runs all the time; only who looks at it changes. A sample is what the probe yields in a run, encoded and
written as its worker writes it. The ratio, with over without, is the median over pairs with the 95 % interval of its
order statistics.
"""

import argparse
import math
import os
import statistics
import time

from fakes import HandContext
from sizeup.model.records import ENCODER
from sizeup.model.sample import Samples
from sizeup.probing.worker import record_of
from sizeup.procfs.stat import read_pressure
from sizeup_direct_io.binding import IoJob
from sizeup_direct_io.comparisons import without_progress
from sizeup_direct_io.measure import _Sampler
from sizeup_direct_io.presets import STREAMS
from sizeup_direct_io.target import TargetSetup, TargetSpec


def watched(watch: _Sampler, context: HandContext, seconds: float, hertz: float, sink: int) -> float:
    """Sample so often for so long; requests a second meanwhile."""
    start, first = time.monotonic(), watch.take()["small"]
    for number in range(1, round(seconds * hertz) + 1):
        time.sleep(max(0.0, start + number / hertz - time.monotonic()))
        for emission in watch.live(context, warming_up=False):
            assert isinstance(emission, Samples)
            os.write(sink, ENCODER.encode(record_of("io.direct", 0, emission)) + b"\n")
    interval = watch.take()["small"].since(first)
    return interval.requests / interval.seconds


def alone(watch: _Sampler, seconds: float) -> float:
    """Look away for so long; requests a second meanwhile."""
    first = watch.take()["small"]
    time.sleep(seconds)
    interval = watch.take()["small"].since(first)
    return interval.requests / interval.seconds


def interval(ratios: list[float]) -> tuple[float, float]:
    """The 95 % interval of a median by its order statistics, whatever the distribution."""
    ordered, count = sorted(ratios), len(ratios)
    reach = math.ceil(0.98 * math.sqrt(count))
    return ordered[max(0, count // 2 - reach)], ordered[min(count - 1, count // 2 + reach)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--pairs", type=int, default=120)
    parser.add_argument("--window", type=float, default=0.5)
    parser.add_argument("--depth", type=int, default=16)
    parser.add_argument("--hertz", type=float, default=5.0)
    asked = parser.parse_args()
    context, sink = HandContext(), os.open("/dev/null", os.O_WRONLY)
    setup = TargetSetup(context, 5.0, 0)
    try:
        without_progress(
            setup.prepare(
                TargetSpec(asked.folder, writes=False, size_bytes=1 << 30),
                "auto",
                [STREAMS["read"]],
                remove_leftovers=False,
            )
        )
        with IoJob(list(setup.workers(STREAMS["read"], asked.depth, 0, huge_pages=True))) as job:
            watch = _Sampler(job, ("small",), {"workload": "oltp-read", "queue_depth": asked.depth})
            alone(watch, 2.0)
            ratios, rates = [], []
            for pair in range(asked.pairs):
                if pair % 2:
                    without = alone(watch, asked.window)
                with_ = watched(watch, context, asked.window, asked.hertz, sink)
                if not pair % 2:
                    without = alone(watch, asked.window)
                ratios.append(with_ / without)
                rates.append(without)
    finally:
        setup.close()
    low, high = interval(ratios)
    pressure = read_pressure("cpu")
    print(
        f"{asked.depth} out, {asked.hertz:g} Hz, {len(ratios)} pairs of {asked.window:g} s: "
        f"{statistics.median(rates):,.0f} requests a second alone, ratio {statistics.median(ratios):.4f} "
        f"({low:.4f} to {high:.4f}); PSI after {pressure.some_avg10_percent if pressure else math.nan:.0f} %"
    )


if __name__ == "__main__":
    main()
