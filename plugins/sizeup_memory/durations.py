"""How long a step takes, from what it does on its machine."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Any

from sizeup.model.plan import Step
from sizeup_memory.binding import Pages, StepSettings, StopRule

_LIMIT_OVER_ESTIMATE = 4
_LIMIT_EXTRA_SECONDS = 120.0
"""For a slow or emulated machine."""
_BASE_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_CLEARING_SECONDS_PER_BYTE = 0.1e-9
_FAULT_SECONDS = 0.8e-6
"""Per base page that one thread populates, whose placement is verified, and that is given back."""
_VERIFYING_SECONDS = 0.1e-6
"""Of these, for the query alone, which is of every base page also of a huge page."""
_GUEST_SECONDS_PER_BYTE = 0.7e-9
"""More in a guest whose host must first find the memory; not if the same memory has just been given back."""
_ALLOCATING_THREADS = 4
"""More of them on one node hardly allocate faster: they share locks and memory bandwidth."""
_LINK_NS = 30
"""Per cache line of a pointer chase: its stores overlap."""
_LINE_BYTES = 64
_START_SECONDS = 0.2
"""Until a worker process measures."""
PROCESS_SECONDS = 0.001
"""Per process that a worker forks: it copies page tables."""
_THREAD_SECONDS = 0.0001
EXPECTED_REPLICATES = 10
"""Of a point that converges where replicates deviate by as much as the target: docs/explanation/statistics.md."""
SETTLE_SECONDS = 0.015
"""What streams run in each replicate beside the warm-up and the measured time: they settle, and one window more."""


def measuring_seconds(rule: StopRule, points: int, setup_seconds: float = 0.0) -> float:
    """Return how long interleaved points are expected to take; ``setup_seconds`` is spent in each replicate."""
    return rounds_seconds(points * (setup_seconds + rule.warm_up_seconds + rule.replicate_seconds), rule)


def rounds_seconds(every: float, rule: StopRule) -> float:
    """Return how long rounds of ``every`` seconds are expected to take, each with one replicate of every point.

    A point ends with its first replicate that ends after the budget: together they take one round more.
    """
    fewest = rule.replicates_min
    expected = min(rule.replicates_max, max(fewest, EXPECTED_REPLICATES))
    return min(expected * every, max(fewest * every, rule.budget_seconds + every))


def allocating_seconds(
    sizes: Collection[int], *, nodes: int = 1, pages: Pages = Pages.BASE, guest: bool = False
) -> float:
    """Return how long threads take to allocate these sizes at the same time, spread over ``nodes``.

    ``guest``: for the first time in a virtual machine.
    """
    parallel = max(max(sizes, default=0), sum(sizes) / (_ALLOCATING_THREADS * nodes))
    per_page = _FAULT_SECONDS if pages is Pages.BASE else _VERIFYING_SECONDS
    finding = _GUEST_SECONDS_PER_BYTE if guest else 0.0
    return parallel * (_CLEARING_SECONDS_PER_BYTE + finding + per_page / _BASE_PAGE_BYTES)


def linking_seconds(size: int) -> float:
    """Return how long it takes to link a pointer chase through ``size`` bytes."""
    return size / _LINE_BYTES * _LINK_NS / 1e9


def thread_seconds(threads: int) -> float:
    """Return how long it takes to start threads and to end them."""
    return threads * _THREAD_SECONDS


def starting_seconds(threads: int = 0) -> float:
    """Return how long a worker and its threads take to start."""
    return _START_SECONDS + thread_seconds(threads)


def step(
    id_: str, title: str, settings: StepSettings, seconds: float, touches: str, cpus: Sequence[int], **more: Any
) -> Step:
    """Return a step; its id begins with the name of its probe, ``more`` are its other fields."""
    probe = ".".join(id_.split(".")[:2])
    limit = _LIMIT_OVER_ESTIMATE * seconds + _LIMIT_EXTRA_SECONDS
    return Step(id_, probe, title, settings.stored(), seconds, limit, touches=touches, cpus=tuple(cpus), **more)
