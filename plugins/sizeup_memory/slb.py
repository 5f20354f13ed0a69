"""Arithmetic of the Silly Little Benchmark: operation count, output line, scaling.

The operation is a store to a random line, independent of the previous one: it measures
random-store throughput, not load-to-use latency.
"""

from __future__ import annotations

from collections.abc import Mapping

PAGE_BYTES = 4096
"""The page size of the original, on any machine."""
_NO_GAIN = 1.1
"""A smaller speedup is within the variation of repeated runs."""
_SCALES = 0.9


def ops_per_second(ops: int, wall_us: int) -> float:
    """Return the throughput of one process, from microseconds of gettimeofday."""
    return ops * 1e6 / wall_us


def ns_per_op(ops: int, wall_us: int) -> float:
    """Return the average nanoseconds per store of one process."""
    return wall_us * 1e3 / ops


def too_short(ops: int) -> str:
    """Return the error for a run that was too short for gettimeofday."""
    return f"{ops} stores took less than 1 us, too short to be timed; increase pages or loops"


def output_line(ops: int, wall_us: int) -> str:
    """Return the output line of ``memhammer``, as of the original."""
    return (
        f"Total ops {ops}  Avg nsec/op {ns_per_op(ops, wall_us):7.1f}  "
        f"gettimeofday usec {wall_us} TPUT ops/sec {ops_per_second(ops, wall_us):.1f}"
    )


def scaling(throughputs: Mapping[int, float]) -> dict[int, float]:
    """Return S(n), the total throughput of n processes over that of one; needs an entry for 1."""
    one = throughputs[1]
    return {processes: total / one for processes, total in sorted(throughputs.items())}


def scaling_summary(speedups: Mapping[int, float]) -> str:
    """Return a one-sentence summary of S(n)."""
    most = max(speedups)
    if most == 1:
        return "scaling unknown: only one process was run"
    best = max(speedups.values())
    if best < _NO_GAIN:
        return f"one process already saturates memory: S({most}) = {speedups[most]:.3f}"
    if speedups[most] >= _SCALES * most:
        return f"memory scales with the processes: S({most}) = {speedups[most]:.2f} of {most}"
    enough = min(processes for processes, gain in speedups.items() if gain >= _SCALES * best)
    return f"{enough} of {most} processes reach nine tenths of the most, S({enough}) = {speedups[enough]:.2f}"
