"""The Silly Little Benchmark's arithmetic: its operation count, its output line, its scaling verdict.

The operation is a store to a random line, independent of the one before: what it measures is
random-store throughput, not load-to-use latency.
"""

from __future__ import annotations

from collections.abc import Mapping

PAGE_BYTES = 4096
"""The original's page, whatever the machine's."""
_NO_GAIN = 1.1
"""Below this, more processes bring nothing that a second run would not."""
_SCALES = 0.9


def ops_per_second(ops: int, wall_us: int) -> float:
    """Throughput of one process, from gettimeofday's microseconds."""
    return ops * 1e6 / wall_us


def ns_per_op(ops: int, wall_us: int) -> float:
    """Average nanoseconds of one store in one process."""
    return wall_us * 1e3 / ops


def too_short(ops: int) -> str:
    """What to say where gettimeofday saw no time pass."""
    return f"{ops} stores took less than 1 us, too short to be timed; set more pages or more loops"


def output_line(ops: int, wall_us: int) -> str:
    """What ``memhammer`` prints, field by field as the original does."""
    return (
        f"Total ops {ops}  Avg nsec/op {ns_per_op(ops, wall_us):7.1f}  "
        f"gettimeofday usec {wall_us} TPUT ops/sec {ops_per_second(ops, wall_us):.1f}"
    )


def scaling(throughputs: Mapping[int, float]) -> dict[int, float]:
    """S(n): total throughput of n processes over that of one; needs an entry for 1."""
    one = throughputs[1]
    return {processes: total / one for processes, total in sorted(throughputs.items())}


def scaling_summary(speedups: Mapping[int, float]) -> str:
    """What S(n) says of the memory, in one sentence."""
    most = max(speedups)
    if most == 1:
        return "only one process was run, so nothing is known of scaling"
    best = max(speedups.values())
    if best < _NO_GAIN:
        return f"one process already saturates memory: S({most}) = {speedups[most]:.3f}"
    if speedups[most] >= _SCALES * most:
        return f"memory scales with the processes: S({most}) = {speedups[most]:.2f} of {most}"
    enough = min(processes for processes, gain in speedups.items() if gain >= _SCALES * best)
    return f"{enough} of {most} processes reach nine tenths of the most, S({enough}) = {speedups[enough]:.2f}"
