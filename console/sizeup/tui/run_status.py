"""Where a run stands, and how the status line says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from sizeup.session.value import Session, StepRun


class Standing(Struct, frozen=True):
    """Where a run stands, for a status line."""

    step: StepRun
    number: int
    """Which step of its plan, from 1."""
    of: int


def current(session: Session | None) -> Standing | None:
    """The step that is running, or else the last that ran; None before the first."""
    if session is None or not session.steps:
        return None
    step = list(session.steps.values())[-1]
    planned = [] if session.plan is None else [planned.id for planned in session.plan.steps]
    number = planned.index(step.step.id) + 1 if step.step.id in planned else 1
    return Standing(step, number, max(len(planned), 1))
