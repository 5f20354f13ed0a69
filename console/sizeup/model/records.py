"""Records of a running step, the same from the worker that writes them to the session file that keeps them.

A worker encodes what its probe yields as one of these; the runner checks them and the recorder logs them unchanged.
``session.records`` adds the records that the runner itself writes.
"""

from __future__ import annotations

import msgspec

from sizeup.model.machine import Gap
from sizeup.model.sample import Coordinates, Estimate


class Record(msgspec.Struct, frozen=True, tag_field="kind", omit_defaults=True):
    """What every record has in common."""


class SamplesRecord(Record, frozen=True, tag="samples"):
    """A batch of one series at one point of one step."""

    step: str
    series: str
    at: Coordinates
    t_ns: tuple[int, ...]
    values: tuple[float, ...]
    flags: tuple[int, ...] = ()


class EstimateRecord(Record, frozen=True, tag="estimate"):
    """What the samples of a point say so far; the last one for a step, series and point counts."""

    t_ns: int
    step: str
    estimate: Estimate


class ProgressRecord(Record, frozen=True, tag="progress"):
    """How far a step is; at most one a second is kept."""

    t_ns: int
    step: str
    done: float
    remaining_seconds: float | None = None
    activity: str = ""


class GapRecord(Record, frozen=True, tag="gap"):
    """Something could not be known while running."""

    t_ns: int
    gap: Gap
    step: str | None = None


StepRecord = SamplesRecord | EstimateRecord | ProgressRecord | GapRecord

ENCODER = msgspec.json.Encoder()
