"""What every mode looks like: modes and machine and band above, its own body, the keys below."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.events import Resize, ScreenResume
from textual.widget import Widget
from textual.widgets import Static

from sizeup.session.store import latest
from sizeup.terminal.app import OnceStyledScreen
from sizeup.tui.actions import SCOPES, footer, key_text, modes
from sizeup.tui.widgets.band import BandView
from sizeup.tui.widgets.lines import Header, KeyLine, ModeLine, NoticeLine

if TYPE_CHECKING:
    from sizeup.tui.console import ConsoleApp
    from sizeup.views.band import Band


_LARGE_BAND_ROWS = 20
"""On a lower screen the band is small."""
_LONG_SECONDS = 10.0
"""A run that took so long is canceled only after a question."""


class ModeScreen(OnceStyledScreen):
    """A view of what the app holds; it owns nothing that must survive it."""

    SCOPE: ClassVar[str]
    """Whose actions hold here besides those that hold everywhere."""
    TAB: ClassVar[str] = ""
    """The mode that it belongs to; empty for its own."""
    LEAST: ClassVar[tuple[int, int]] = (40, 8)
    """Columns and rows below which only its borders would be left: it says so instead."""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]  # noqa: RUF012  Textual's own
    VERTICAL_BREAKPOINTS = [(0, "-low"), (36, "-medium"), (50, "-high")]  # noqa: RUF012  Textual's own

    def __init__(self) -> None:
        super().__init__()
        self._left = False
        # Kept here: to look for them in the tree costs more than to draw a frame.
        self._mode_line = ModeLine(id="header")
        self._band = BandView(id="band")
        self._notice_line = NoticeLine(id="notice")
        self._key_line = KeyLine()
        self._band.display = self._notice_line.display = False
        # Of its size from the start, so that what it shows is laid out once.
        for length, breakpoints in (
            (self.app.size.width, self.HORIZONTAL_BREAKPOINTS),
            (self.app.size.height, self.VERTICAL_BREAKPOINTS),
        ):
            self.add_class([name for least, name in breakpoints if length >= least][-1], update=False)

    @property
    def host(self) -> ConsoleApp:
        """The app, as far as screens know it."""
        return cast("ConsoleApp", self.app)

    def compose(self) -> ComposeResult:
        """Build the frame around the body."""
        yield self._mode_line
        yield self._band
        yield from self.body()
        yield self._notice_line
        yield self._key_line

    def body(self) -> Iterable[Widget]:
        """The mode's own widgets."""
        raise NotImplementedError

    def header(self) -> Header:
        """Return what the first line says of the machine and of the run."""
        return self.host.header()

    def band(self) -> Band | None:
        """Return what the screen answers first; None where it has no band."""
        return None

    def on_mount(self) -> None:
        """Show what the app holds already."""
        self.show_all()

    @on(Resize)
    async def check_size(self, event: Resize) -> None:
        """Say that the screen is too small where it is."""
        # Textual lays out a screen after this: the widgets take their places first, so that a new mode is drawn once.
        await asyncio.sleep(0)
        columns, rows = self.LEAST
        small = event.size.width < columns or event.size.height < rows
        self.set_class(small, "-small")
        self.show_band()
        if small and not self.query("#small"):
            words = f"Terminal too small:\nneeds {columns} x {rows}"
            self.mount(Static(words, id="small", markup=False), before="#notice")

    def on_screen_suspend(self) -> None:
        """Another mode is shown."""
        self._left = True

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Catch up with what happened while another mode was shown; a new mode has just been styled and filled."""
        event.refresh_styles = False  # another theme reaches every screen by itself; behind a dialog nothing changed
        if self._left and self._key_line.is_attached:  # no more once a dialog has ended the app
            self.show_all()

    def leave_input(self) -> None:
        """Escape was pressed in an input."""
        self.set_focus(None)

    def show_target(self, target: str) -> None:
        """Put the cursor on what another mode pointed at; a mode without such a thing shows itself."""

    def action_workload(self) -> None:
        """Ask for the workload in a form, and show the verdict on it."""
        from sizeup.tui.screens.workload_form import WorkloadForm  # which the first screen does without

        self.app.push_screen(WorkloadForm(self.host), lambda taken: self.show_machine() if taken else None)

    def action_compare(self) -> None:
        """Compare the session that is shown with another one."""
        self._in_sessions("screen.compare")

    def action_export(self) -> None:
        """Write a report of the session that is shown."""
        self._in_sessions("screen.export")

    def action_note(self) -> None:
        """Write a note into the session that is shown."""
        self._in_sessions("screen.note")

    def _in_sessions(self, action: str) -> None:
        self.host.go("sessions", self.host.runs.path, action)

    def action_latest(self) -> None:
        """Open the session that was written last; the one that is shown is none."""
        with self.host.telling_errors():
            path = latest()
            if path is None or str(path) == self.host.runs.path:
                self.notify("No other session is saved yet.", markup=False)
            else:
                self.host.show_session(str(path))

    def action_cancel(self) -> None:
        """Cancel the current run; a long one only after a question."""
        runs = self.host.runs
        if not runs.going_on:
            return
        if runs.running and runs.elapsed_seconds < _LONG_SECONDS:
            runs.cancel()
            self.show_run()
            return
        from sizeup.tui.dialogs import ChoiceDialog, ask_which

        step = (("step", "Cancel this step only"),) if runs.running else ()
        answers = (("stay", "Continue"), *step, ("cancel", "Cancel the run"))
        dialog = ChoiceDialog("Cancel? Results so far are kept.", answers)
        ask_which(self.app, dialog, {"cancel": runs.cancel, "step": runs.cancel_step})

    def show_all(self) -> None:
        """Redraw everything; a mode whose body shows both machine and run draws it once."""
        self.show_machine()
        self.show_run()

    def show_machine(self) -> None:
        """Redraw after the machine was read or changed."""
        self.show_status()
        self.show_band()
        self.show_keys()

    def show_run(self) -> None:
        """Redraw after the run got on."""
        self.show_status()
        self.show_band()
        self.show_keys()

    def show_band(self) -> None:
        """Redraw what the screen answers first."""
        self._band.set_class(self.app.size.height < _LARGE_BAND_ROWS, "-small")
        self._band.show(self.band(), self.host.look)

    def show_status(self) -> None:
        """Redraw the first line, and the notice where there is one."""
        host = self.host
        self._mode_line.show(modes(host.keys), SCOPES[self.TAB or self.SCOPE], self.header(), host.look)
        self._notice_line.show(host.notice(), wrong=bool(host.runs.problem))

    def show_keys(self) -> None:
        """Redraw the last line."""
        keys = self.host.keys
        here = [(key_text(key), label) for key, label in self.footer_keys()]
        commands, *everywhere = footer("app", keys)
        here = here or [*footer(self.SCOPE, keys, self.idle_actions()), commands]
        self._key_line.show(here, everywhere)

    def footer_keys(self) -> tuple[tuple[str, str], ...]:
        """Keys and labels of what has the focus, in place of those of the mode; empty for these."""
        return ()

    def idle_actions(self) -> Collection[str]:
        """Ids of actions that have nothing to act on now, and leave the last line to the others."""
        return ()

    def command_values(self) -> Mapping[str, str]:
        """What an action acts on, or what is set now, by its id."""
        return {}
