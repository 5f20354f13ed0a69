"""Runs that several hosts began together (``--start-at``): what they did in total, and how evenly it was shared.

One host that was late or refused spoils the run: the others had its share.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct

from sizeup.fleet.fleet import Fleet, usable
from sizeup.fleet.host_session import HostFigure, HostSession
from sizeup.text import first_of

_RATES = ("1/s", "bytes/s")
"""Units whose figures add up over hosts."""
_NAMED = 8
"""Hosts that a caveat names; more are counted."""


class TotalFigure(Struct, frozen=True):
    """One rate over all hosts of a synchronized run."""

    name: str
    title: str
    unit: str
    total: float
    shares: tuple[tuple[str, float], ...]
    """Each host with its share of the total."""
    fairness: float
    """Jain's index: 1 where all hosts had the same, 1/n where one had all."""


class SynchronizedRun(Struct, frozen=True):
    """All runs with one agreed start."""

    at: float
    """Seconds since the epoch."""
    hosts: tuple[str, ...]
    """Those that measured."""
    spoiled: tuple[str, ...]
    """Why the totals mean nothing, a sentence for each host; empty where all hosts measured."""
    caveats: tuple[str, ...]
    latest_ns: int
    """How late the last host began, by its own clock."""
    totals: tuple[TotalFigure, ...]
    """Empty where it is spoiled."""


def jain(values: Sequence[float]) -> float:
    """Return Jain's fairness index of shares (Jain, Chiu and Hawe 1984)."""
    largest = max(values)
    shares = [value / largest for value in values] if largest else []
    return sum(shares) ** 2 / (len(shares) * sum(share * share for share in shares)) if shares else 0.0


def synchronized_runs(fleet: Fleet) -> tuple[SynchronizedRun, ...]:
    """Return the runs that at least two hosts were to begin together, in the order of their start."""
    found: dict[float, dict[str, HostSession]] = defaultdict(dict)
    for host in fleet.hosts:
        for session in host.sessions:
            if session.start is not None:
                found[session.start.at].setdefault(host.name, session)
    return tuple(_run(fleet, at, sessions) for at, sessions in sorted(found.items()) if len(sessions) > 1)


def _run(fleet: Fleet, at: float, sessions: dict[str, HostSession]) -> SynchronizedRun:
    starts = {name: one.start for name, one in sessions.items() if one.start is not None}
    spoiled = tuple(f"{name}: {start.refused}" for name, start in starts.items() if start.refused)
    latest = max(start.delay_ns or 0 for start in starts.values())
    caveats = []
    unsynchronized = [name for name, start in starts.items() if start.clock_synchronized is False]
    if unsynchronized:
        caveats.append(f"the clock is not synchronized on {', '.join(unsynchronized)}")
    absent = [host.name for host in fleet.hosts if host.name not in sessions]
    if absent:
        caveats.append(f"no run at this start of {first_of(absent, _NAMED)}: a host that was late writes no session")
    measured = tuple(name for name, start in starts.items() if not start.refused)
    return SynchronizedRun(at, measured, spoiled, tuple(caveats), latest, () if spoiled else _totals(sessions))


def _totals(sessions: dict[str, HostSession]) -> tuple[TotalFigure, ...]:
    """Return the sums of figures that every host has, valid and of one workload, the newest of several passes."""
    by_name: dict[tuple[str, str], dict[str, HostFigure]] = defaultdict(dict)
    for host, session in sessions.items():
        newest_last = sorted(session.figures, key=lambda one: one.when or 0.0)
        for figure in (*session.figures, *newest_last):
            if figure.unit in _RATES and usable(figure):
                by_name[figure.name, figure.workload][host] = figure
    totals = []
    for (name, _), figures in by_name.items():
        if len(figures) < len(sessions):
            continue
        values = [figure.value for figure in figures.values()]
        first = next(iter(figures.values()))
        total = sum(values)
        shares = tuple((host, figure.value / total) for host, figure in figures.items())
        totals.append(TotalFigure(name, first.title, first.unit, total, shares, jain(values)))
    return tuple(totals)
