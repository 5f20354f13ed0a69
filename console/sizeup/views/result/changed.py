"""What changed on a host since it was measured before: facts of the machine, and the figures of its resources."""

from __future__ import annotations

from contextlib import suppress

from sizeup.errors import SizeupError
from sizeup.model.machine import Machine
from sizeup.session.store import directory, last_written_first, start_of
from sizeup.session.value import Session

_MOST_LOOKED_AT = 20
_FIGURES = {"storage": "IOPS", "memory": "DRAM latency"}


def session_before(host: str, started: str, path: str) -> Session | None:
    """Return the latest session of a host that was started before another one; None where the newest hold none."""
    for one in last_written_first(directory())[:_MOST_LOOKED_AT]:
        if str(one) != path and one.name.startswith(f"{host}-") and "" < start_of(one) < started:
            from sizeup.session.reader import read_session  # not at the top, as below

            with suppress(SizeupError, OSError):  # what cannot be read is the Sessions mode's to report
                session = read_session(str(one), samples=False)
                if session.header.host == host and session.machine is not None:
                    return session
    return None


def changes(before: Session, machine: Machine, session: Session | None) -> tuple[tuple[str, str, str], ...]:
    """Return what differs as name, value before and value now; figures of resources first."""
    # Not at the top: a start without an earlier session needs neither.
    from sizeup.compare.drift import drift
    from sizeup.views.cards.measured import measured_texts

    found = []
    sides = () if session is None else (before, session)
    for resource, name in _FIGURES.items() if sides else ():
        was, now = (measured_texts(one, resource).brief for one in sides)
        if was and now:
            found.append((name, was, now if was != now else f"{now} (same)"))
    facts = () if before.machine is None else drift(before.machine, machine).drifted
    return (*found, *((one.fact, str(one.baseline), str(one.now)) for one in facts))
