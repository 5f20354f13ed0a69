"""What a fleet needs of one session: the machine, the named figures and how the run went; the samples are let go."""

from __future__ import annotations

import zlib
from functools import cache

import msgspec
from msgspec import Struct

from sizeup.compare.digest import epoch
from sizeup.compare.headlines import by_round, headlines
from sizeup.decoding import json_decoder
from sizeup.model.finding import Severity
from sizeup.model.machine import Machine
from sizeup.model.plan import Better
from sizeup.session.reader import read_session
from sizeup.session.records import LINE_LIMIT_BYTES
from sizeup.session.value import Session, StepRun
from sizeup.views.run.run_status import run_status

_FASTEST = 1
"""The level of compression: a machine is packed once, and unpacked for few hosts."""


class HostFigure(Struct, frozen=True):
    """One named figure of one pass of a plan on one host."""

    card: str
    """``storage``, ``memory``, ``cpu``, ``clock``; empty where the probe declares none."""
    name: str
    """Stable: quantity and probe."""
    title: str
    unit: str
    better: Better
    value: float
    workload: str
    """The plan and what the user set of the probe, without the target: only equal ones are compared."""
    when: float | None
    """Seconds since the epoch when its step began; None where the session does not say."""
    invalid: str = ""
    """Why it is not valid; empty where it is."""
    scatter: bool = False
    """Whether it did not converge."""
    interval: tuple[float, float] | None = None
    """The 95 % interval within the run."""
    distribution: str = ""
    """Who provides the probe, with version."""
    path: str = ""
    """The session file that it is of."""
    started: str = ""
    """When that session began, ISO 8601."""


class SynchronizedStart(Struct, frozen=True):
    """The start that a run was to share with those of other hosts."""

    at: float
    """Seconds since the epoch, as given with ``--start-at``."""
    delay_ns: int | None
    """How late the first step began; None where none did."""
    clock_synchronized: bool | None = None
    """None where the kernel did not say."""
    refused: str = ""
    """Why nothing was measured at that time; empty where it was."""


class HostFinding(Struct, frozen=True):
    """A problem of the machine that discovery found."""

    id: str
    severity: Severity
    title: str


class HostSession(Struct, frozen=True):
    """One session file without its samples."""

    path: str
    id: str
    host: str
    started: str
    when: float | None
    tool: str
    model: str
    """Product name; empty where it is unknown."""
    cpu_model: str
    sockets: int | None
    cores: int | None
    memory_bytes: int | None
    packed_machine: bytes
    """The machine, packed; empty where the run ended before it was known."""
    grade: str
    """``PASS``, ``WARN`` or ``FAIL``: how the run went; empty where nothing was measured."""
    cause: str
    """One or two words: ``interrupted``, ``failed``; empty where everything was measured."""
    sentence: str
    figures: tuple[HostFigure, ...] = ()
    damage: tuple[str, ...] = ()
    start: SynchronizedStart | None = None
    """None for a run without ``--start-at``."""
    findings: tuple[HostFinding, ...] = ()
    """Those of discovery that are more than information."""

    @property
    def machine(self) -> Machine | None:
        """Return what discovery found, unpacked."""
        return unpacked_machine(self.packed_machine) if self.packed_machine else None


def unpacked_machine(packed: bytes) -> Machine | None:
    """Return the machine of a session, which is kept packed; None where it is none: Parquet may be another's."""
    try:
        unpacked = zlib.decompressobj().decompress(packed, LINE_LIMIT_BYTES)
        return _machine_decoder().decode(unpacked)
    except (zlib.error, msgspec.MsgspecError, ValueError, RecursionError):
        return None


@cache
def _machine_decoder() -> msgspec.json.Decoder[Machine]:
    return json_decoder(Machine)


def read_host_session(path: str) -> HostSession:
    """Read one session file; raises ``SizeupError`` where it is none.

    Samples are read only where a step gave no estimates.
    """
    session = read_session(path, samples=False)
    runs = session.steps.values()
    if any(run.finished and all(point.estimate is None for point in run.points.values()) for run in runs):
        session = read_session(path)
    return host_session(session, path)


def host_session(session: Session, path: str) -> HostSession:
    """Reduce a session to what a fleet needs."""
    header, machine, status = session.header, session.machine, run_status(session)
    rounds = by_round(session.steps.values()).values()
    grave = (one for one in session.findings if not one.probe and one.severity is not Severity.INFO)
    known = machine or Machine()  # of which nothing is known
    figures = (
        HostFigure(
            one.card, one.name, one.series.title, one.series.unit, one.series.better, one.value,
            _workload(session, one.run), _moment(session, one.run.started_ns), one.invalid, one.scatter, one.interval,
            one.run.distribution, path, header.started,
        )
        for runs in rounds for one in headlines(runs)
    )  # fmt: skip
    return HostSession(
        path, header.id, header.host, header.started, epoch(header.started), header.tool,
        known.platform.model or "", known.cpu_model or "", known.socket_count, known.core_count, known.memory_bytes,
        b"" if machine is None else zlib.compress(msgspec.json.encode(machine), _FASTEST),
        status.grade.value, status.cause, status.sentence,
        tuple(figures),
        session.damage.sentences(), _start(session),
        tuple(HostFinding(one.id, one.severity, one.title) for one in grave),
    )  # fmt: skip


def _workload(session: Session, run: StepRun) -> str:
    """Return the plan that a step belongs to and the user's settings of its probe: ``quick, preset=redo``."""
    id_ = run.step.id
    plans = [plan for plan in session.plans if any(step.id == id_ for step in plan.steps)]
    if not plans:
        return ""
    target = run.declaration.target
    left_out = () if target is None else (target.setting, target.more)
    chosen = plans[-1].settings.get(run.step.probe, {})
    settings = (f"{name}={value}" for name, value in sorted(chosen.items()) if name not in left_out)
    return ", ".join((plans[-1].name, *settings))


def _moment(session: Session, t_ns: int) -> float | None:
    """Return when a time of the session was, in seconds since the epoch."""
    begun = [(record.t_ns, record.started) for record in session.continued if record.t_ns <= t_ns]
    start_ns, started = max([(0, session.header.started), *begun], key=lambda start: start[0])
    seconds = epoch(started)
    return None if seconds is None else seconds + (t_ns - start_ns) / 1e9


def _start(session: Session) -> SynchronizedStart | None:
    """Return the start of the last run that had one agreed on."""
    agreed = [record.facts for record in session.environment if "start_at_seconds" in record.facts]
    at = agreed[-1]["start_at_seconds"] if agreed else None
    if not isinstance(at, int | float) or isinstance(at, bool):
        return None
    synchronized = agreed[-1].get("clock_synchronized")
    end = session.end
    refused = end.reason or end.status if end is not None and end.status != "complete" else ""
    if not refused and not any(run.finished for run in session.steps.values()):
        refused = "interrupted" if end is None else "no step was measured"
    first = min(session.steps.values(), key=lambda run: run.started_ns, default=None)
    delay = None if first is None else first.start_delay_ns
    return SynchronizedStart(float(at), delay, synchronized if isinstance(synchronized, bool) else None, refused)
