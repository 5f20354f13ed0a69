"""What the runs of a session did to the host, from their start to the end of the session."""

from __future__ import annotations

import math

from msgspec import Struct

from sizeup.session.value import Session


class Effect(Struct, frozen=True):
    """The use by the runs, their workers included."""

    cpu_seconds: float
    peak_memory_bytes: float
    """Of the largest process."""
    read_bytes: float | None
    """From storage; None where the kernel does not account for it."""
    written_bytes: float | None
    temporary_files: tuple[str, ...]
    """The directory of each temporary file, all of which are removed."""
    files_unknown: int
    """Steps that did not report their files: they have no end, or their worker died."""


def effect(session: Session) -> Effect | None:
    """Return what the runs did; None where the session does not record it."""
    runs: list[dict[str, float]] = []
    for record in session.environment:
        facts = {name: value for name, value in record.facts.items() if isinstance(value, int | float)}
        if "run_cpu_seconds" in facts:
            # Totals since a process began: where they fall, another one continued the session.
            same = bool(runs) and facts["run_cpu_seconds"] >= runs[-1]["run_cpu_seconds"]
            runs[-1 if same else len(runs) :] = [facts]
    if not runs:
        return None
    seconds, read, written = (
        sum(run.get(f"run_{name}", math.nan) for run in runs) for name in ("cpu_seconds", "read_bytes", "written_bytes")
    )
    known = not math.isnan(read + written)
    peak = max(run.get("run_peak_memory_bytes", 0) for run in runs)
    made = [
        None if step.outcome is None else step.outcome.temporary_files
        for step in (*session.earlier_attempts, *session.steps.values())
    ]
    files = tuple(folder for folders in made for folder in folders or ())
    return Effect(seconds, peak, read if known else None, written if known else None, files, made.count(None))
