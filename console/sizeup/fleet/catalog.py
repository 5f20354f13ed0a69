"""Rank one machine among like ones of a catalog: a folder of sessions that several owners share.

Machines are like if they have the same CPU, as many sockets and cores, and are both virtual (with the same caches) or
both not. Their product and memory may differ, as those who bought the same CPU ask what they made of it. Figures are
compared only if they were measured by the same version of the probe, with the same workload, and are valid.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

from msgspec import Struct

from sizeup.compare.headlines import CARD_ORDER
from sizeup.errors import MalformedError
from sizeup.fleet.fleet import FileProblem, FleetFiles, usable
from sizeup.fleet.host_session import HostFigure, HostSession
from sizeup.masking import Secret
from sizeup.model.plan import Better
from sizeup.text import counted

LEAST_MACHINES = 5
"""Of fewer the percentile says more about who shares sessions than about the machine."""


class LeftOut(Enum):
    """Why a like machine does not count for a figure."""

    NOT_MEASURED = "not measured"
    OTHER_WORKLOAD = "other workload or settings"
    OTHER_VERSION = "other version of the probe"
    NOT_VALID = "not valid"
    NOT_CONVERGED = "did not converge"


class Standing(Struct, frozen=True):
    """One figure of the machine, and where it lies among those of like machines."""

    figure: HostFigure
    values: tuple[float, ...]
    """Of like machines, one each, in ascending order."""
    left_out: Mapping[LeftOut, int]
    """How many like machines do not count, by why."""

    @property
    def placed(self) -> bool:
        """Whether there is a percentile."""
        return usable(self.figure) and len(self.values) >= LEAST_MACHINES

    @property
    def percentile(self) -> float:
        """Return the percentile of the figure; see ``percentile``."""
        return percentile(self.figure.value, self.values, self.figure.better)

    @property
    def percentile_range(self) -> tuple[float, float] | None:
        """Return those of both ends of the 95 % interval, for a figure that did not converge."""
        if not self.figure.scatter or self.figure.interval is None:
            return None
        ends = sorted(percentile(end, self.values, self.figure.better) for end in self.figure.interval)
        return ends[0], ends[1]

    @property
    def exceeded(self) -> int:
        """Return how many like machines it is better than; higher than, where neither direction is better."""
        own, lower = self.figure.value, self.figure.better is Better.LOWER
        return sum(value > own if lower else value < own for value in self.values)

    @property
    def median(self) -> float:
        """Return the figure of the like machine in the middle."""
        return statistics.median(self.values)


class CatalogComparison(Struct, frozen=True):
    """A machine beside a catalog."""

    own: HostSession
    machine_type: str
    """What like machines have in common: ``2 x Intel Xeon Gold 6430, 64 cores, not virtual``."""
    standings: tuple[Standing, ...]
    like: tuple[HostSession, ...]
    """The newest session of each like machine."""
    own_sessions: int
    """Sessions of the same host in the catalog, which do not count."""
    other_types: int
    """Hosts that are not like it."""
    without_machine: int
    """Sessions that do not say what they were measured on."""
    problems: tuple[FileProblem, ...]

    @property
    def unread(self) -> tuple[FileProblem, ...]:
        """Return the files of which nothing could be used."""
        return tuple(problem for problem in self.problems if not problem.read)

    @property
    def placed(self) -> tuple[Standing, ...]:
        """Return the figures that have a percentile."""
        return tuple(standing for standing in self.standings if standing.placed)


def percentile(value: float, others: Sequence[float], better: Better) -> float:
    """Return the share of ``others`` that a value is better than, in percent; equal ones count half.

    100 is the best and 0 the worst of them; where neither direction is better, 100 is the highest.
    """
    equal = sum(other == value for other in others)
    lower = sum(other < value for other in others)
    exceeded = len(others) - lower - equal if better is Better.LOWER else lower
    return 100 * (exceeded + equal / 2) / len(others)


def place(own: HostSession, catalog: FleetFiles, pseudonym: str | None = None) -> CatalogComparison:
    """Compare a session with a catalog; raises ``MalformedError`` where it lacks a machine or figures.

    ``pseudonym`` is another name of its host, that in masked files.
    """
    if not own.packed_machine or not own.cpu_model:
        what = "a CPU" if own.packed_machine else "a machine"
        raise MalformedError(f"{own.path}: expected a session with {what}, found none; like machines cannot be found")
    if not own.figures:
        raise MalformedError(f"{own.path}: expected measured figures, found none; measure with: sizeup --batch")
    with_machine = [session for session in catalog.sessions if session.packed_machine]
    mine = _kind(own)
    # A masked copy of the session has another name for the host, which further sessions may have, too.
    names = {own.host, pseudonym, *(session.host for session in with_machine if _same_run(session, own))}
    own_sessions = 0
    hosts: dict[str, list[HostSession]] = defaultdict(list)
    other_hosts: set[tuple[str, _Kind]] = set()
    for session in with_machine:
        kind = _kind(session, mine)
        if session.host in names and session.cpu_model == own.cpu_model:
            own_sessions += 1
        elif kind == mine:
            hosts[session.host].append(session)
        else:
            other_hosts.add((session.host, kind))
    for sessions in hosts.values():
        sessions.sort(key=lambda one: (one.when or 0.0, one.path), reverse=True)
    # One figure of each name and workload: the newest valid one.
    ranked = sorted(own.figures, key=lambda one: (usable(one), not one.scatter, one.when or 0.0))
    best = {(one.name, one.workload): one for one in (*own.figures, *ranked)}
    figures = sorted(best.values(), key=lambda figure: CARD_ORDER.get(figure.card, len(CARD_ORDER)))
    sockets = f"{own.sockets} x " if own.sockets else ""
    guest = "not virtual" if mine[3] is None else "virtual"
    return CatalogComparison(
        own,
        f"{sockets}{short_cpu(own.cpu_model)}, {counted(own.cores, 'core')}, {guest}",
        tuple(_standing(figure, hosts.values()) for figure in figures),
        tuple(sessions[0] for sessions in hosts.values()),
        own_sessions,
        len(other_hosts),
        len(catalog.sessions) - len(with_machine),
        catalog.problems,
    )


def short_cpu(name: str) -> str:
    """Return the name of a CPU without marks and clock: ``Intel Xeon Gold 6430``."""
    plain = name.partition("@")[0].replace("(R)", "").replace("(TM)", "").replace("(tm)", "")
    return " ".join(word for word in plain.split() if word not in ("CPU", "Processor"))


_Kind = tuple[str, int | None, int | None, tuple[tuple[int, int], ...] | None]


def _kind(session: HostSession, own: _Kind | None = None) -> _Kind:
    """Return what like machines have in common: CPU, sockets, cores and, of virtual ones, the caches.

    Many hypervisors name a CPU only ``Intel Xeon Processor``, and the sizes of its caches tell generations apart. A
    machine is unpacked only where the rest is as of ``own``.
    """
    known = session.cpu_model, session.sockets, session.cores
    machine = None if own is not None and known != own[:3] else session.machine
    if machine is None or machine.platform.is_guest is not True:
        return (*known, None)
    return (*known, tuple(sorted({(cache.level, cache.size_bytes or 0) for cache in machine.caches})))


def _same_run(session: HostSession, own: HostSession) -> bool:
    """Whether it is the session itself, or a masked copy, in which the start and all figures are as they were."""
    if session.id == own.id:
        return True
    masked = session.host.startswith(f"{Secret.HOST.value}-") or own.host.startswith(f"{Secret.HOST.value}-")
    values = [(figure.name, figure.value) for figure in session.figures]
    return masked and session.started == own.started and values == [(one.name, one.value) for one in own.figures]


def _standing(figure: HostFigure, hosts: Iterable[Sequence[HostSession]]) -> Standing:
    values = []
    left_out: Counter[LeftOut] = Counter()
    for sessions in hosts:
        found = [(_reason(theirs, figure), theirs) for session in sessions for theirs in session.figures]
        counting = [theirs for reason, theirs in found if reason is None]
        if counting:
            values.append(max(counting, key=lambda one: one.when or 0.0).value)
        else:
            # The reason of the figure that came nearest.
            reasons = [reason for reason, _ in found if reason is not None]
            left_out[max(reasons, key=list(LeftOut).index, default=LeftOut.NOT_MEASURED)] += 1
    return Standing(figure, tuple(sorted(values)), left_out)


def _reason(theirs: HostFigure, own: HostFigure) -> LeftOut | None:
    """Return why a figure does not count; None where it does."""
    if theirs.name != own.name or theirs.unit != own.unit:
        return LeftOut.NOT_MEASURED
    if theirs.workload != own.workload:
        return LeftOut.OTHER_WORKLOAD
    if theirs.distribution != own.distribution:
        return LeftOut.OTHER_VERSION
    if not usable(theirs):
        return LeftOut.NOT_VALID
    return LeftOut.NOT_CONVERGED if theirs.scatter else None
