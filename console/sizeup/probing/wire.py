"""The messages between runner and worker: one job down, JSON lines up.

The job is the first line of the worker's standard input; the word ``cancel`` may follow. Records of the step, as the
session file keeps them, and one ending come up on a descriptor of their own, so that nothing a probe prints can be
taken for one.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from sizeup.decoding import json_decoder
from sizeup.model.plan import Step
from sizeup.model.records import StepRecord

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


class Ending(msgspec.Struct, frozen=True, tag_field="kind", tag="ending", omit_defaults=True):
    """The last message of a worker; nothing follows."""

    status: Literal["ok", "refused", "failed"]
    """Refused: the probe raised ``RefusedError``; failed: it raised something else."""
    reason: str = ""
    temporary_files: tuple[str, ...] = ()
    """The directory of each that was made."""


Message = StepRecord | Ending

JOB: msgspec.json.Decoder[StepJob] = json_decoder(StepJob)
MESSAGE: msgspec.json.Decoder[Message] = json_decoder(Message)
