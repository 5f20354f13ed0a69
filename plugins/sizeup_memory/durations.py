"""Estimates how long a step takes, from what it does on its machine."""

from __future__ import annotations

from collections.abc import Collection

from sizeup.model.plan import Settings

_LIMIT_OVER_ESTIMATE = 4
_LIMIT_EXTRA_SECONDS = 120.0
"""For a slow or emulated machine."""
_ALLOCATED_PER_SECOND = 1e9
"""Bytes that one thread populates and whose placement is verified; one page of 4 KiB takes about 4 us."""
_ALLOCATING_THREADS = 8
"""More of them hardly allocate faster: they share locks and memory bandwidth."""
_LINK_NS = 30
"""Per cache line of a pointer chase: its stores overlap."""
_LINE_BYTES = 64
SETTLE_SECONDS = 0.005
"""What streams run before each replicate, beside the warm-up."""


def measuring_seconds(settings: Settings, points: int, setup_seconds: float = 0.0) -> float:
    """Return how long interleaved points take; ``setup_seconds`` is spent before each replicate.

    After its budget no replicate beyond the minimum starts.
    """
    replicate = setup_seconds + float(settings["warm_up"]) + float(settings["replicate"])
    least = points * int(settings["replicates"]) * replicate
    most = points * int(settings["replicates_max"]) * replicate
    return min(most, max(least, float(settings["budget"])) + replicate)


def allocating_seconds(sizes: Collection[int]) -> float:
    """Return how long threads take to allocate these sizes at the same time."""
    return max(max(sizes, default=0), sum(sizes) / _ALLOCATING_THREADS) / _ALLOCATED_PER_SECOND


def linking_seconds(size: int) -> float:
    """Return how long it takes to link a pointer chase through ``size`` bytes."""
    return size / _LINE_BYTES * _LINK_NS / 1e9


def limit_seconds(estimated_seconds: float) -> float:
    """Return the time limit of a step."""
    return _LIMIT_OVER_ESTIMATE * estimated_seconds + _LIMIT_EXTRA_SECONDS
