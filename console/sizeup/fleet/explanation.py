"""What a host that stands out differs in from most of its peers, the facts most relevant to the figure first.

That a fact differs does not prove that it is the cause, so it is only reported as a difference.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from sizeup.compare.drift import drift
from sizeup.fleet.host_session import HostFigure, HostSession, unpacked_machine
from sizeup.model.machine import Machine
from sizeup.text import one_line
from sizeup.views.comparison.answer import fact_cards

MOST_PEERS = 32
"""As many peers as are looked at: what most of these have, most of all have."""
_SHARED = 0.1
"""A value that this share of the peers has as well is not particular to the host."""
_VERSION = "probe version"

_STATES = ("state", "link", "paths in use", "missing", "speed", "rate", "paths", "targets", "luns")
"""How a fact of a part ends that says whether it works: these come first."""


class PeerDifference(Struct, frozen=True):
    """One fact in which a host differs from most of its peers."""

    fact: str
    value: str
    peers_value: str
    """What most of them have."""
    peers: int
    """How many of them have that."""
    relevant: bool
    """Whether it is about the resource that the figure is of."""


class PeerDifferences(Struct, frozen=True):
    """What was found, and how much was looked at."""

    found: tuple[PeerDifference, ...] = ()
    peers: int = 0
    """Peers whose machine is known."""
    problem: str = ""
    """Why nothing could be compared; empty where it was."""


def differences(
    figure: HostFigure, sessions: Sequence[HostSession], peers: Sequence[tuple[Sequence[HostSession], HostFigure]]
) -> PeerDifferences:
    """Return the facts that a host does not share with its peers; sessions are the newest first."""
    machine = _machine(sessions)
    if machine is None:
        return PeerDifferences(problem="its sessions contain no machine")
    step = max(1, -(-len(peers) // MOST_PEERS))
    known = [(other, theirs) for them, theirs in peers[::step] if (other := _machine(them)) is not None]
    if not known:
        return PeerDifferences(problem="the sessions of its peers contain no machine")
    values: dict[str, Counter[str]] = defaultdict(Counter)
    own: dict[str, str] = {}
    undecided: Counter[str] = Counter()
    cards: dict[str, tuple[str, ...]] = {}
    for other, theirs in known:
        found = drift(other, machine)
        for fact in found.drifted:
            values[fact.fact][fact.baseline or ""] += 1
            own[fact.fact] = fact.now or ""
            cards[fact.fact] = fact.cards or fact_cards(fact.fact)
        undecided.update(fact.fact for fact in found.undecided)
        if theirs.distribution != figure.distribution:
            values[_VERSION][theirs.distribution] += 1
            own[_VERSION] = figure.distribution
    unique = [
        PeerDifference(one_line(fact), one_line(own[fact]), one_line(value), count, figure.card in cards.get(fact, ()))
        for fact, counts in values.items()
        for value, count in counts.most_common(1)
        if 2 * count > len(known) and len(known) - counts.total() - undecided[fact] <= _SHARED * len(known)
    ]
    unique.sort(key=lambda one: (not one.relevant, not one.fact.lower().endswith(_STATES)))
    return PeerDifferences(tuple(unique), len(known))


def _machine(sessions: Sequence[HostSession]) -> Machine | None:
    return next((_unpacked(session.packed_machine) for session in sessions if session.packed_machine), None)


_unpacked = lru_cache(2 * MOST_PEERS)(unpacked_machine)
"""Machines are kept: the outliers of one type have the same peers."""
