"""What a screen may ask of the app; screens know this, and the app knows the screens."""

from __future__ import annotations

from typing import Protocol

from sizeup.model.machine import Machine
from sizeup.report.cells import Glyphs
from sizeup.tui.runs import Request, Runs


class Host(Protocol):
    """Holds what must survive a change of mode."""

    machine: Machine | None
    """None until it was read, or where a session has none."""
    runs: Runs
    glyphs: Glyphs
    measures: bool
    """Whether probes can be started: not on a saved session, nor on a recording of another machine."""
    keys: dict[str, str]
    """Keys that the user's configuration gives to actions, by the action's id."""

    def header(self) -> tuple[str, str]:
        """The line above every mode: what the machine is, and what it should carry."""

    def status(self) -> tuple[str, str]:
        """The line below every mode: the run, and how the terminal keeps up."""

    def start_run(self, request: Request) -> None:
        """Run a probe now or after the one that is on."""
