"""What a screen may ask of the app; screens know this, and the app knows the screens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from sizeup.charts.drawing import Glyphs
from sizeup.engine.spec import RunSpec
from sizeup.model.machine import Machine
from sizeup.session.value import Session
from sizeup.sizing.session_advice import ShownAdvice
from sizeup.tui.live_source import LiveSource
from sizeup.tui.runs import Runs
from sizeup.tui.unfinished import OfferedSession

if TYPE_CHECKING:
    from sizeup.probing.registry import Registry
    from sizeup.sizing.input_value import Value
    from sizeup.tui.unsaved_inputs import TypedInputs
    from sizeup.views.machine.difference import OtherMachine


class AppProtocol(Protocol):
    """Holds what must survive a change of mode."""

    machine: Machine | None
    """None until it was read, or where a session has none."""
    runs: Runs
    glyphs: Glyphs
    offered: OfferedSession
    """What a user who comes back should know of."""
    measures: bool
    """Whether probes can be started: not on a saved session, nor on a recording of another machine."""

    @property
    def unmeasured(self) -> str:
        """Why no probe can be started; empty where one can."""

    readonly: bool
    """Nothing is written anywhere."""
    keys: dict[str, str]
    """Keys that the user's configuration gives to actions, by the action's id."""

    compared_with: OtherMachine | None
    """Another machine that this one is held against; None where it stands alone."""

    @property
    def registry(self) -> Registry:
        """Every probe of this installation."""

    @property
    def saved_session(self) -> Session | None:
        """The saved session that is shown; None where it is a machine."""

    @property
    def advice(self) -> ShownAdvice | None:
        """What a saved session recorded, or what is worked out now for a machine; None without either."""

    @property
    def stated_advice(self) -> ShownAdvice | None:
        """The advice with the inputs that the user typed; that of a saved session is labeled recomputed."""

    stated: Mapping[str, Value]
    """Inputs that the user entered in the console for what is shown."""
    typed: TypedInputs
    """The inputs entered in the console, for this machine and for saved sessions."""

    async def save_inputs(self, path: str = "") -> bool:
        """Record the inputs typed for all sessions, or one, with the advice on them; whether that succeeded."""

    def recompute_advice(self) -> None:
        """Recompute the advice of the saved session that is shown, or show what it recorded again."""

    @property
    def link_busy(self) -> bool:
        """Whether what was drawn last is still on its way; drawing more would only make the screen older."""

    @property
    def live_source(self) -> LiveSource | None:
        """How to watch the machine; None where a capture or a saved session is shown."""

    def renew_machine(self, machine: Machine) -> None:
        """Take this machine as it was read again."""

    def header(self) -> tuple[str, str, str]:
        """For the line above every mode: the machine's name, what it is, and what it should carry."""

    def status(self) -> tuple[str, str]:
        """The line below every mode: the run, and how the terminal keeps up."""

    def go(self, mode: str, target: str = "", action: str = "") -> None:
        """Show another mode, there the target, and do the action of that screen."""

    def show_session(self, path: str) -> None:
        """Show a saved session in all modes instead of this machine."""

    def resume_session(self, path: str) -> None:
        """Run what a saved session is missing."""

    def show_live(self) -> None:
        """Show this machine again."""

    def start_run(self, spec: RunSpec) -> None:
        """Run a probe now or after the current one."""
