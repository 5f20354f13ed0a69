"""What runner and worker say to each other: one job down, JSON lines up.

The job is the first line of the worker's standard input; the word ``cancel`` may follow. Messages
come up on a descriptor of their own, so that nothing a probe prints can be taken for one.
"""

from __future__ import annotations

import msgspec

from sizeup.model.gap import Gap
from sizeup.model.plan import Step
from sizeup.model.sample import Estimate, Progress, Samples

CANCEL = b"cancel"


class StepJob(msgspec.Struct, frozen=True):
    """All that a worker needs."""

    target: str
    """``package.module:Class``."""
    step: Step
    origin_ns: int
    """The run's start on CLOCK_MONOTONIC_RAW; negative where a file is continued after a reboot."""
    descriptor: int
    """Where messages go."""
    parent: int
    """Process id of the runner: a worker whose parent is another one has lost it already."""


class Message(msgspec.Struct, frozen=True, tag_field="kind", omit_defaults=True):
    """What every message has in common."""


class SamplesMessage(Message, frozen=True, tag="samples"):
    """A batch."""

    samples: Samples


class EstimateMessage(Message, frozen=True, tag="estimate"):
    """What a point says so far."""

    estimate: Estimate


class ProgressMessage(Message, frozen=True, tag="progress"):
    """How far the step is."""

    progress: Progress


class GapMessage(Message, frozen=True, tag="gap"):
    """Something could not be known."""

    gap: Gap


class Refused(Message, frozen=True, tag="refused"):
    """The probe raised ``RefusedError``; nothing follows."""

    reason: str


class Failed(Message, frozen=True, tag="failed"):
    """The probe raised something else; nothing follows."""

    reason: str


class Done(Message, frozen=True, tag="done"):
    """The probe came to its end; nothing follows."""


AnyMessage = SamplesMessage | EstimateMessage | ProgressMessage | GapMessage | Refused | Failed | Done

JOB: msgspec.json.Decoder[StepJob] = msgspec.json.Decoder(StepJob)
MESSAGE: msgspec.json.Decoder[AnyMessage] = msgspec.json.Decoder(AnyMessage)
ENCODER = msgspec.json.Encoder()
