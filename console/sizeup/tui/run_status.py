"""What the lines around every screen say: the machine above, the run below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from sizeup.model.machine import Machine
from sizeup.sizing.advise import HEADLINE
from sizeup.text import counted, plural
from sizeup.tui.runs import Runs
from sizeup.tui.widgets.lines import Header
from sizeup.units import format_bytes, format_rate

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


def header(machine: Machine | None, session: Session | None, states: tuple[str, ...], *, running: bool) -> Header:
    """Return what the first line says: the machine's name, its size, and ``states``, the longest text first."""
    if machine is None:
        return Header("no machine in this session", states=states, running=running)
    host = machine.platform.hostname or ("capture" if session is None else session.header.host)
    cores = counted(machine.core_count, "core") if machine.core_count else plural(machine.pu_counts.online, "thread")
    memory = "" if machine.memory_bytes is None else format_bytes(machine.memory_bytes)
    return Header(host, " · ".join(filter(None, (cores, memory))), states, running)


def workload_text(shown: ShownAdvice | None) -> str:
    """Return the demand of the workload, of I/O if known, and what is to be known of the advice."""
    advice = None if shown is None else shown.given.find(HEADLINE)
    demand = None if advice is None else advice.quantity
    words = _demand_of(shown, "storage")
    if not words:
        words = _demand_of(shown) if demand is None else format_rate(demand.value)
    words = f"demand {words}" if words else _NO_WORKLOAD
    if shown is not None and shown.mark:
        return shown.mark if words == _NO_WORKLOAD else f"{words}, {shown.mark}"
    return words


def _demand_of(shown: ShownAdvice | None, resource: str = "") -> str:
    """Return the demand on a resource, or the first on any, such as the CPU; empty without a workload."""
    cards = () if shown is None else shown.given.cards
    wanted = [card for card in cards if card.resource == resource or (not resource and card.resource != "license")]
    return next((card.demand for card in wanted if card.demand), "")


def idle_states(
    runs: Runs, workload: str, *, watched: bool, measures: bool, readonly: bool, runs_elsewhere: bool = False
) -> tuple[str, ...]:
    """Return what is shown while no run is active, the longest text first; ``watched``: the machine is this one.

    ``runs_elsewhere`` is whether another console's run writes the session.
    """
    if not measures and not watched:
        kind = "capture" if runs.session is None else f"saved session of {runs.session.header.started[:10]}"
    else:
        kind = "measuring in the background" if runs_elsewhere else "read-only" if readonly else ""
    state = kind if workload == _NO_WORKLOAD else ", ".join(filter(None, (kind, workload)))
    return tuple(dict.fromkeys((state or "idle", kind or workload)))


def unmeasured_text(runs: Runs, live_source: LiveSource | None, *, readonly: bool) -> str:
    """Return why no probe can be started."""
    if readonly:
        return "sizeup was started read-only"
    if live_source is not None:
        return runs.problem
    return f"a {'capture' if runs.session is None else 'saved session'} is shown, not this machine"


def running_states(runs: Runs) -> tuple[str, ...]:
    """Return how a run stands, the longest text first."""
    now = position(runs.session)
    state = _state(runs, now)
    elapsed = "" if runs.followed else f" {runs.elapsed_seconds:.0f} s"
    if now is None or (runs.running and not runs.begun):  # the last step is of an earlier run
        return f"{state}, starting{elapsed}", elapsed.strip() or state
    from sizeup.views.run.live_figures import time_left

    progress, left = now.step.progress, ""
    if progress is not None:
        left = ", ".join(filter(None, (f" {progress.done:.0%}", time_left(progress))))
    queued = f", {len(runs.queue)} queued" if runs.queue else ""
    steps = f"{now.number}/{now.of}{elapsed}"
    return f"{state} {now.step.step.id} step {steps}{left}{queued}", f"{state} {steps}", elapsed.strip() or state


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
