"""The records of a session file, one JSON object a line, distinguished by ``kind``.

History of the format:
    1  the first: session, continued, environment, machine, plan, step-start, samples, estimate,
       progress, outcome, gap, finding, advice, note, experiment, command, end.
    2  cards hold what was judged as values (facts), and assumptions, notes and what comes later apart.

A reader skips and counts kinds it does not know, ignores fields it does not know, and refuses a
``format`` above its own. Times are integers, nanoseconds since the run began, so that they stay
exact below 2**53. Values are in base units.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from sizeup import __version__
from sizeup.decoding import json_decoder
from sizeup.model.advice import AdviceSet
from sizeup.model.finding import Finding
from sizeup.model.machine import Machine
from sizeup.model.plan import Declaration, Plan, Series, Step
from sizeup.model.records import ENCODER, EstimateRecord, GapRecord, ProgressRecord, Record, SamplesRecord
from sizeup.model.sample import Outcome
from sizeup.quantity import Origin

# Defined below, where workers need them, and part of this format like the rest.
__all__ = ["ENCODER", "EstimateRecord", "GapRecord", "ProgressRecord", "Record", "SamplesRecord"]

FORMAT = 2
TOOL = f"sizeup {__version__}"
"""What writes sessions."""
GZIP_MAGIC = b"\x1f\x8b"
"""How a packed file begins."""
LINE_LIMIT_BYTES = 16 << 20
"""Longer lines are skipped and counted; the machine record of 1,000 LUNs takes about 1 MiB."""
FILE_LIMIT_BYTES = 4 << 30
DECOMPRESSED_LIMIT_BYTES = 1 << 30
"""What a gzip file may unpack to: a kilobyte of it can claim a gigabyte."""
SAMPLES_LIMIT = 20_000_000
"""Samples kept of one file, 17 bytes each; more are counted and left out."""
ITEMS_LIMIT = 100_000
"""Points, steps, findings, notes and so on kept of one file, each."""


class SessionRecord(Record, frozen=True, tag="session"):
    """First line of every file."""

    format: int
    id: str
    tool: str
    """Name and version that wrote it, such as ``sizeup 0.1.0``."""
    host: str
    started: str
    """ISO 8601, UTC."""
    title: str = ""
    sysroot: str = "/"


class ContinuedRecord(Record, frozen=True, tag="continued"):
    """Another run continues the file; ``t_ns`` continues from the last record, ``started`` is when that was."""

    t_ns: int
    tool: str
    started: str
    """ISO 8601, UTC."""


class EnvironmentRecord(Record, frozen=True, tag="environment"):
    """What else was going on; repeated where it changed."""

    t_ns: int
    facts: dict[str, str | int | float | bool | None]
    """Unit last in each name: ``load_1min``, ``psi_cpu_some_avg10_percent``, ``steal_percent``."""


class MachineRecord(Record, frozen=True, tag="machine"):
    """What discovery found."""

    t_ns: int
    machine: Machine


class PlanRecord(Record, frozen=True, tag="plan"):
    """What the run is going to do."""

    t_ns: int
    plan: Plan


class StepStartRecord(Record, frozen=True, tag="step-start"):
    """A worker was started."""

    t_ns: int
    step: Step
    distribution: str
    """Who provides the probe, with version: ``sizeup 0.1.0``."""
    series: tuple[Series, ...] = ()
    chart: str = "curve"
    start_delay_ns: int = 0
    """How long after the start agreed on (``--start-at``) the first step began."""
    declaration: Declaration = Declaration()
    """What the probe's manifest declares of the results, apart from their series."""


class OutcomeRecord(Record, frozen=True, tag="outcome"):
    """How a step ended; also written for refused steps that never started."""

    t_ns: int
    step: str
    outcome: Outcome


class FindingRecord(Record, frozen=True, tag="finding"):
    """Something the user should know."""

    t_ns: int
    finding: Finding


class StatedInput(msgspec.Struct, frozen=True, omit_defaults=True):
    """An input of sizing that a user entered, or took from a file."""

    key: str
    value: str
    """As it is typed: a number with its unit."""
    origin: Origin
    source: str
    caveats: tuple[str, ...] = ()


class AdviceRecord(Record, frozen=True, tag="advice"):
    """All advice as it was given at that time; a later record takes the place of an earlier one."""

    t_ns: int
    given: AdviceSet
    stated: tuple[StatedInput, ...] = ()
    """The inputs that it rests on besides those of the machine and its measurements."""
    written: str = ""
    """ISO 8601, UTC, where inputs were stated: that may be long after the run."""
    imported: tuple[StatedInput, ...] = ()
    """What files state of the inputs that were entered in its place."""


class NoteRecord(Record, frozen=True, tag="note"):
    """What a person wrote."""

    t_ns: int
    text: str
    author: str = ""
    written: str = ""
    """ISO 8601, UTC: a note may be added long after the run."""
    tags: tuple[str, ...] = ()
    title: str = ""
    """A new title of the session; empty where the note gives none."""


class ExperimentRecord(Record, frozen=True, tag="experiment"):
    """An experiment begins: which settings are compared, and how."""

    t_ns: int
    id: str
    a: str
    """The command that makes setting A, for ``/bin/sh -c``."""
    b: str
    restore: str
    """The command that ends the experiment."""
    rounds: int
    order: str
    """The setting of each run: ``abbabaab``."""
    settle_seconds: float
    """Wait after each command before the run."""
    command_limit_seconds: float
    user: str
    """Who ran the commands."""


class CommandRecord(Record, frozen=True, tag="command"):
    """A command of an experiment was executed."""

    t_ns: int
    experiment: str
    setting: str
    """``a``, ``b`` or ``restore``."""
    command: str
    seconds: float
    exit_status: int | None = None
    """None where it did not end by itself."""
    round: int = 0
    """0 for ``restore``."""
    output: tuple[str, ...] = ()
    """The last lines of standard output and standard error."""
    problem: str = ""
    """Why it did not succeed; empty where it did."""


class EndRecord(Record, frozen=True, tag="end"):
    """Last line of a finished run; a file without one was interrupted."""

    t_ns: int
    status: str
    """``complete``, ``canceled``, ``terminated``."""
    reason: str = ""
    terminal_lost_ns: int | None = None
    """When the terminal was lost and the run went on; None where it was not."""


AnyRecord = (
    SessionRecord | ContinuedRecord | EnvironmentRecord | MachineRecord | PlanRecord | StepStartRecord | SamplesRecord
    | EstimateRecord | ProgressRecord | OutcomeRecord | GapRecord | FindingRecord | AdviceRecord | NoteRecord
    | ExperimentRecord | CommandRecord | EndRecord
)  # fmt: skip


@cache
def decoder() -> msgspec.json.Decoder[Any]:
    """Reads any record; made on first use."""
    return json_decoder(AnyRecord)


def schema_text() -> str:
    """The schema of one line of a session file."""
    schema = msgspec.json.schema(AnyRecord)
    heading = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"sizeup session, format {FORMAT}: one line of a *.sizeup.jsonl file",
    }
    return msgspec.json.format(msgspec.json.encode(heading | schema), indent=2).decode() + "\n"
