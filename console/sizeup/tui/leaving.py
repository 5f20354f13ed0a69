"""How the console is left: at once, or after a question during a run."""

from __future__ import annotations

from collections.abc import Callable

from sizeup.errors import ExitStatus
from sizeup.terminal.app import TerminalApp
from sizeup.tui.run_status import saved_text
from sizeup.tui.runs import Runs

_CANCEL_SECONDS = 0.6
"""How long leaving waits for a canceled run to save; it saves by itself after that."""
_AGAIN_SECONDS = 2.0
"""A second interrupt leaves within these."""


class Leaving:
    """Ends the app, and keeps or cancels the run of this machine."""

    def __init__(
        self, app: TerminalApp, runs: Runs, report_cost: Callable[[], None], unsaved: Callable[[], str]
    ) -> None:
        self._app = app
        self._runs = runs
        self._report_cost = report_cost
        self._unsaved = unsaved
        self._interrupted = False
        self.exit_message = ""
        """What to print once the terminal is back."""

    def leave(self) -> None:
        """Leave; ask what becomes of the current run, and before inputs are lost that were typed."""
        unsaved = self._unsaved()
        if not self._runs.running and not unsaved:
            self._end(self._saved())
            return
        answers: tuple[tuple[str, str], ...] = (("stay", "Stay"), ("quit", "Quit without them"))
        if self._runs.running:
            answers = (("stay", "Stay"), ("keep", "Quit and keep it running"), ("cancel", "Cancel it, save, and quit"))
        from sizeup.tui.screens.dialogs import ChoiceDialog

        question = "\n\n".join(filter(None, ("A run is in progress." if self._runs.running else "", unsaved)))
        self._app.push_screen(ChoiceDialog(question, answers), self._answered)

    def _saved(self) -> str:
        return saved_text(self._runs.path) if self._runs.session is not None else ""

    def _answered(self, answer: str | None) -> None:
        runs = self._runs
        self._report_cost()
        if answer == "quit":
            self._end(self._saved())
        elif answer == "keep":
            runs.keep()
            runs.release()
            self._end(f"The run continues and writes {runs.path}\nReattach with: sizeup attach {runs.path}")
        elif answer == "cancel":
            runs.cancel()
            runs.wait(_CANCEL_SECONDS)
            self._end(f"Canceled. {saved_text(runs.path)}")

    def _end(self, told: str) -> None:
        self.exit_message = "\n".join(filter(None, (told, self._unsaved())))
        self._app.exit(ExitStatus.OK)

    def interrupt(self) -> None:
        """Leave on the second press; the first shows a hint."""
        if self._interrupted:
            self._report_cost()
            self._runs.cancel()
            self._runs.wait(_CANCEL_SECONDS)
            self.exit_message = "\n".join(filter(None, (self._saved(), self._unsaved())))
            self._app.exit(ExitStatus.INTERRUPTED)
            return
        self._interrupted = True
        self._app.set_timer(_AGAIN_SECONDS, self._forget_interrupt)
        what = "cancel the run and quit" if self._runs.running else "quit"
        self._app.notify(f"Press ^c again to {what}.", markup=False)

    def _forget_interrupt(self) -> None:
        self._interrupted = False
