"""What changed in a fleet since an earlier fleet run: figures of each host, and facts of its machine.

A change that most hosts have is one of the fleet, such as a new kernel; a host stands out by its change beside theirs.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict

from msgspec import Struct

from sizeup.compare.drift import drift
from sizeup.fleet.fleet import FileProblem, Fleet, Host, usable
from sizeup.fleet.outliers import LARGE_CHANGE, LEAST_HOSTS, SMALL_CHANGE, spread
from sizeup.model.plan import Better
from sizeup.text import one_line


class FigureChange(Struct, frozen=True):
    """A figure that changed."""

    figure: str
    title: str
    unit: str
    better: Better
    before: float
    now: float
    host: str = ""
    """Empty where it is the median of all hosts."""
    hosts: int = 1
    """Hosts that have it on both sides."""

    @property
    def ratio(self) -> float:
        """Return how many times the earlier figure it is."""
        return self.now / self.before


class FactChange(Struct, frozen=True):
    """A fact that changed, and on which hosts."""

    fact: str
    before: str
    now: str
    hosts: tuple[str, ...]


class FleetDrift(Struct, frozen=True):
    """The result of a comparison with an earlier fleet run."""

    hosts: int
    """Hosts of both runs."""
    figures: int
    """Figures that were compared."""
    of_fleet: tuple[FigureChange, ...]
    of_hosts: tuple[FigureChange, ...]
    facts: tuple[FactChange, ...]
    """Those of most hosts first."""
    missing: tuple[str, ...]
    """Hosts of the earlier run alone."""
    new: tuple[str, ...]
    problems: tuple[FileProblem, ...] = ()
    """Files of the earlier run that could not be read, or only in part."""


def fleet_drift(earlier_run: Fleet, now: Fleet) -> FleetDrift:
    """Return what changed between two runs of a fleet, host by host."""
    earlier = {host.name: host for host in earlier_run.hosts}
    pairs = [(earlier[host.name], host) for host in now.hosts if host.name in earlier]
    by_figure: dict[tuple[str, str], list[FigureChange]] = defaultdict(list)
    for old, new in pairs:
        for name, figure in new.figures.items():
            before = old.figures.get(name)
            if before is None or before.workload != figure.workload or not usable(before) or not usable(figure):
                continue
            values = figure.title, figure.unit, figure.better, before.value, figure.value
            by_figure[new.type.name, name].append(FigureChange(name, *values, new.name))
    of_fleet, of_hosts = [], []
    for changes in by_figure.values():
        limits = spread([change.ratio for change in changes])
        ratio = limits.median if len(changes) >= LEAST_HOSTS else 1.0
        if 0 < ratio < math.inf and abs(math.log(ratio)) >= math.log1p(SMALL_CHANGE):
            first, middle = changes[0], spread([change.before for change in changes]).median
            about = first.figure, first.title, first.unit, first.better, middle, middle * ratio
            of_fleet.append(FigureChange(*about, hosts=len(changes)))
        for change in changes:
            out = limits.stands_out(change.ratio)
            if limits.hosts < LEAST_HOSTS:
                out = abs(math.log(change.now) - math.log(change.before)) >= math.log1p(LARGE_CHANGE)
            of_hosts += [change] if out else []
    names = {host.name for host in now.hosts}
    return FleetDrift(
        len(pairs),
        sum(map(len, by_figure.values())),
        tuple(of_fleet),
        tuple(of_hosts),
        _facts(pairs),
        tuple(name for name in earlier if name not in names),
        tuple(host.name for host in now.hosts if host.name not in earlier),
        earlier_run.problems,
    )


def _facts(pairs: list[tuple[Host, Host]]) -> tuple[FactChange, ...]:
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for old, new in pairs:
        sides = [next((one.machine for one in host.sessions if one.packed_machine), None) for host in (old, new)]
        if sides[0] is None or sides[1] is None:
            continue
        for fact in drift(sides[0], sides[1]).drifted:
            found[one_line(fact.fact), one_line(fact.baseline or ""), one_line(fact.now or "")].append(new.name)
    counts = Counter({key: len(hosts) for key, hosts in found.items()})
    return tuple(FactChange(*key, tuple(found[key])) for key, _ in counts.most_common())
