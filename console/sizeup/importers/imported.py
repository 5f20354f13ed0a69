"""What other tools measured, as records of a session of its own: marked as imported, never as measured here."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.masking import IMPORTER
from sizeup.model.machine import Machine
from sizeup.model.plan import Declaration, Plan, Series, Settings, Step
from sizeup.model.sample import Coordinates, Estimate, Outcome, Status
from sizeup.probing.registry import RegisteredProbe, load_registry
from sizeup.session.records import (
    FORMAT,
    TOOL,
    EndRecord,
    EstimateRecord,
    MachineRecord,
    NoteRecord,
    OutcomeRecord,
    PlanRecord,
    Record,
    SessionRecord,
    StepStartRecord,
)
from sizeup.session.store import utc_text
from sizeup.session.value import IMPORTED

_REGISTRY = load_registry()


def probe_giving(quantity: str) -> RegisteredProbe:
    """The probe that measures a quantity: figures under its names stand beside those that were measured here."""
    probe = _REGISTRY.giving(quantity)
    if probe is None:
        raise UsageError(f"no probe that measures {quantity} is installed; reinstall sizeup")
    return probe


STORAGE = probe_giving("storage.random_iops")
IOPS = STORAGE.series_giving("storage.random_iops")
RATE = STORAGE.series_giving("storage.bandwidth")
LATENCY_MEAN = STORAGE.series_giving("storage.read_latency")
LATENCY_P50 = STORAGE.series_giving("storage.read_latency_p50")
LATENCY_P99 = STORAGE.series_giving("storage.read_latency_p99")
QUEUE_DEPTH = IOPS.axis or "queue_depth"

SMALL_BYTES, LARGE_BYTES = 8 << 10, 1 << 20
_WORKLOADS = {
    ("random", SMALL_BYTES, 100): "oltp-read",
    ("random", SMALL_BYTES, 70): "oltp-7030",
    ("random", LARGE_BYTES, 100): "dss-rand",
    ("sequential", LARGE_BYTES, 100): "dss-scan",
}


def workload(pattern: str, block: int, read_percent: int) -> str:
    """The name that presets give to such requests, or one that says what they are."""
    known = _WORKLOADS.get((pattern, block, read_percent))
    return known or f"{pattern}-{format_block_size(block)}-{read_percent}r"


def of_mix(block: int, read_percent: int) -> dict[str, str | int | float]:
    """Return what an estimate of such requests records of them, for sizing."""
    return {"block_bytes": block, "write_percent": 100 - read_percent}


def format_block_size(block: int) -> str:
    """A size of requests without loss: ``1m``, ``8k``, ``512b``."""
    if block % LARGE_BYTES == 0:
        return f"{block >> 20}m"
    return f"{block >> 10}k" if block % 1024 == 0 else f"{block}b"


def load(requests: str, queue_depth: int) -> Coordinates:
    """Where a point of such requests lies at a queue depth."""
    return {"workload": requests, QUEUE_DEPTH: queue_depth}


class ImportedStep(Struct, frozen=True):
    """One step's worth of another tool's figures."""

    id: str
    probe: str
    """A probe of ours where the figures mean the same, so that they can be compared; else the tool's own name."""
    title: str
    series: tuple[Series, ...]
    estimates: tuple[Estimate, ...]
    settings: Settings
    chart: str = "curve"


class Imported(Struct, frozen=True):
    """What one file says."""

    tool: str
    """Name and version where the file tells it: ``fio-3.33``."""
    steps: tuple[ImportedStep, ...] = ()
    machine: Machine | None = None
    """None where the file says nothing about the machine."""
    taken: datetime | None = None
    """When it was measured; None where the file does not say."""
    notes: tuple[str, ...] = ()
    """What was left out, and why."""
    summary: tuple[str, ...] = ()
    """The figures in a few lines, where a count of them would hide what the tool is for."""


def session_records(parts: Sequence[tuple[str, Imported]], *, host: str | None, now: datetime) -> Iterator[Record]:
    """The session of these files, each with the name it came under; ``host`` is for the user to say."""
    names = ", ".join(name for name, _ in parts)
    taken = min((part.taken for _, part in parts if part.taken is not None), default=now)
    yield SessionRecord(
        FORMAT,
        str(uuid.uuid4()),
        TOOL,
        host or "imported",
        utc_text(taken.astimezone(UTC)),
        title=f"Imported from {names}",
    )
    for _, part in parts:
        if part.machine is not None:
            yield MachineRecord(0, part.machine)
    runs: list[tuple[str, ImportedStep, Step]] = []
    seen: Counter[str] = Counter()
    for tool, measured in ((part.tool, step) for _, part in parts for step in part.steps):
        seen[measured.id] += 1  # a later file of the same kind is another round of it
        id_ = measured.id if seen[measured.id] == 1 else f"{measured.id}~{seen[measured.id]}"
        touches = f"nothing: read from a file of {tool}"
        step = Step(id_, measured.probe, measured.title, measured.settings, 0, 0, touches=touches)
        runs.append((tool, measured, step))
    yield PlanRecord(0, Plan("imported", tuple(step for _, _, step in runs)))
    for tool, measured, step in runs:
        probe = _REGISTRY.probes.get(measured.probe)
        declared = Declaration() if probe is None else probe.manifest.declaration()
        yield StepStartRecord(0, step, f"{IMPORTED}{tool}", measured.series, measured.chart, 0, declared)
        for estimate in measured.estimates:
            caveats = (f"imported from {tool}, not measured by sizeup", *estimate.caveats)
            yield EstimateRecord(0, step.id, replace(estimate, caveats=caveats))
        yield OutcomeRecord(0, step.id, Outcome(Status.OK))
    for name, part in parts:
        for note in (f"Imported from {name}, written by {part.tool}.", *part.notes):
            yield NoteRecord(0, note, author=IMPORTER, written=utc_text(now.astimezone(UTC)))
    yield EndRecord(0, "complete")
