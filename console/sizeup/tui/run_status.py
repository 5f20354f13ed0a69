"""What the lines around every screen say: the machine above, the run below."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from sizeup.model.machine import Machine
from sizeup.sizing.advise import HEADLINE
from sizeup.tui.runs import Runs
from sizeup.units import format_rate
from sizeup.views.machine.facts import machine_line

if TYPE_CHECKING:
    from sizeup.session.value import Session, StepRun
    from sizeup.sizing.session_advice import ShownAdvice
    from sizeup.tui.live_source import LiveSource


_NO_WORKLOAD = "no workload"


class RunPosition(Struct, frozen=True):
    """How far a run has come in its plan."""

    step: StepRun
    number: int
    """Which step of its plan, from 1."""
    of: int


def position(session: Session | None) -> RunPosition | None:
    """Return the step that is running, or else the last that ran; None before the first."""
    if session is None or not session.steps:
        return None
    step = list(session.steps.values())[-1]
    planned = [] if session.plan is None else [planned.id for planned in session.plan.steps]
    number = planned.index(step.step.id) + 1 if step.step.id in planned else 1
    return RunPosition(step, number, max(len(planned), 1))


def header_texts(machine: Machine | None, session: Session | None, shown: ShownAdvice | None) -> tuple[str, str, str]:
    """Return the machine's name, what it is, and the demand of its workload where there is one, of I/O if known."""
    if machine is None:
        return "no machine in this session", "", ""
    advice = None if shown is None else shown.given.find(HEADLINE)
    demand = None if advice is None else advice.quantity
    words = _demand_of(shown, "storage")
    if not words:
        words = _demand_of(shown) if demand is None else format_rate(demand.value)
    words = f"demand {words}" if words else _NO_WORKLOAD
    if shown is not None and shown.mark:
        words = shown.mark if words == _NO_WORKLOAD else f"{words}, {shown.mark}"
    host = machine.platform.hostname or ("capture" if session is None else session.header.host)
    return host, machine_line(machine), words


def _demand_of(shown: ShownAdvice | None, resource: str = "") -> str:
    """Return the demand on a resource, or the first on any, such as the CPU; empty without a workload."""
    cards = () if shown is None else shown.given.cards
    wanted = [card for card in cards if card.resource == resource or (not resource and card.resource != "license")]
    return next((card.demand for card in wanted if card.demand), "")


def idle_texts(
    runs: Runs, *, watched: bool, measures: bool, readonly: bool, offered: str = "", runs_elsewhere: bool = False
) -> tuple[str, str]:
    """Return both ends of the status line while no run is active; ``watched`` is whether the machine is this one.

    ``offered`` is what can be opened while nothing was measured, ``runs_elsewhere`` whether a run writes it.
    """
    if runs.problem:
        return f" ! {runs.problem}", ""
    name = f"{os.path.basename(runs.path)} "
    if not measures and not watched:
        return (" idle; capture", "") if runs.session is None else (" idle; saved session", name)
    last = position(runs.session)
    if last is None:
        state = " measuring in the background" if runs_elsewhere else " idle"
        return f"{state}, read-only" if readonly else state, f"{offered or 'no measurements yet'} "
    from sizeup.views.run.step import point_value

    return f" idle, last {last.step.step.id} {point_value(last.step)}", name


def unmeasured_text(runs: Runs, live_source: LiveSource | None, *, readonly: bool) -> str:
    """Return why no probe can be started."""
    if readonly:
        return "sizeup was started read-only"
    if live_source is not None:
        return runs.problem
    return f"a {'capture' if runs.session is None else 'saved session'} is shown, not this machine"


def running_texts(runs: Runs, *, low_bandwidth: bool) -> tuple[str, str]:
    """Return both ends of the status line during a run."""
    now = position(runs.session)
    link = "low bandwidth, drawn every 2 s " if low_bandwidth else ""
    state = _state(runs, now)
    elapsed = "" if runs.followed else f" {runs.elapsed_seconds:.0f} s"
    if now is None or (runs.running and not runs.begun):  # the last step is of an earlier run
        return f" {state}, starting{elapsed}", link
    step = f" {state} {now.step.step.id} step {now.number}/{now.of}{elapsed}"
    if link:  # what else would not fit beside it stands above the chart
        return step, link
    from sizeup.views.run.live_figures import time_left
    from sizeup.views.run.step import point_value

    progress, left = now.step.progress, ""
    if progress is not None:
        left = ", ".join(filter(None, (f" {progress.done:.0%}", time_left(progress))))
    queued = f", {len(runs.queue)} queued" if runs.queue else ""
    return f"{step}{left}{queued}", f"{point_value(now.step)} "


def _state(runs: Runs, now: RunPosition | None) -> str:
    if runs.canceling:
        return "canceling"
    if runs.followed:
        return "following"
    if not runs.paused:
        return "running"
    over = now is not None and now.step.outcome is not None
    return "paused" if over else "pausing"  # a step that has begun goes on to its end


def saved_text(path: str) -> str:
    """Return where a session is, and how to come back to it."""
    from sizeup.session.store import command_name

    return f"Session saved in {path}\nOpen it with: sizeup {command_name(path)}"
