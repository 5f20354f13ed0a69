"""What changed on a host since it was measured before: facts of the machine, and the figures of its resources."""

from __future__ import annotations

from sizeup.compare.drift import drift
from sizeup.model.machine import Machine
from sizeup.session.store import entries
from sizeup.session.value import Session
from sizeup.views.cards.measured import measured_texts

_FIGURES = {"storage": "IOPS", "memory": "DRAM latency"}


def session_before(host: str, started: str, path: str) -> Session | None:
    """Return the latest session of a host that was started before another one; None where there is none."""
    found = (entry.session for entry in entries() if entry.session is not None and str(entry.path) != path)
    return next(
        (one for one in found if one.header.host == host and one.machine is not None and one.header.started < started),
        None,
    )


def changes(before: Session, machine: Machine, session: Session | None) -> tuple[tuple[str, str, str], ...]:
    """Return what differs as name, value before and value now; figures of resources first."""
    found = []
    sides = () if session is None else (before, session)
    for resource, name in _FIGURES.items() if sides else ():
        was, now = (measured_texts(one, resource).brief for one in sides)
        if was and now:
            found.append((name, was, now if was != now else f"{now} (same)"))
    facts = () if before.machine is None else drift(before.machine, machine).drifted
    return (*found, *((one.fact, str(one.baseline), str(one.now)) for one in facts))
