"""Sessions in the store of a test."""

import gzip
import os
from pathlib import Path
from typing import Any

import msgspec

from consoles import Console, ended, machine, records
from declared import declaration_of, series_of
from played_runs import PlayedRunner
from sizeup.model.plan import Plan, Step
from sizeup.model.sample import Estimate
from sizeup.session.records import EstimateRecord, PlanRecord, Record, StepStartRecord
from sizeup.session.store import SUFFIX


def saved(tmp_path: Path, *given: Record, probe: str = "null") -> Console:
    """A console on a saved session of a probe with this advice."""
    console, end = Console(tmp_path), ended(probe)
    PlayedRunner(console.runner.path).write([*records(probe, found=machine()), *end[:1], *given, *end[1:]])
    console.runs.follow()
    console.app.measures = False
    session = console.runs.session
    console.app.machine = session.machine
    return console


def stored(folder: Path, name: str, *, day: int = 1, probe: str = "null", done: bool = True, **header: Any) -> Path:
    """A session of the store."""
    path = folder / f"{name}{SUFFIX}"
    first, *lines = [*records(probe), *(ended(probe) if done else [])]
    facts = {"id": name, "started": f"2026-01-{day:02}T09:30:00Z", "host": os.uname().nodename, **header}
    PlayedRunner(path).write([msgspec.structs.replace(first, **facts), *lines])
    return path


def packed(path: Path) -> None:
    Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()


def named(folder: Path, name: str, dram_ns: float, day: int) -> None:
    """A session with one named figure, its latency of DRAM."""
    step = Step("memory.latency", "memory.latency", "Memory latency", {}, 1.0, 2.0)
    series = tuple(series_of("memory.latency").values())
    declaration = declaration_of("memory.latency")
    first, found, *_ = records()
    facts = {"id": name, "started": f"2026-01-{day:02}T09:30:00Z", "host": os.uname().nodename}
    PlayedRunner(folder / f"{name}{SUFFIX}").write(
        [
            msgspec.structs.replace(first, **facts),
            found,
            PlanRecord(2, Plan("custom", (step,))),
            StepStartRecord(3, step, "sizeup 0", series, "curve", 0, declaration),
            EstimateRecord(4, step.id, Estimate("dram-thp-level", {"level": "DRAM"}, dram_ns)),
            *ended(step.id),
        ]
    )
