"""How the console is left: at once, or after a question during a run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from sizeup.errors import ExitStatus
from sizeup.terminal.app import TerminalApp
from sizeup.tui.run_status import saved_text
from sizeup.tui.runs import Runs
from sizeup.tui.unsaved_inputs import TypedInputs, unsaved_text

_CANCEL_SECONDS = 0.6
"""How long leaving waits for a canceled run to save; it saves by itself after that."""
_AGAIN_SECONDS = 2.0
"""A second interrupt leaves within these."""


class Leaving:
    """Ends the app, and keeps or cancels the run of this machine."""

    def __init__(
        self,
        app: TerminalApp,
        runs: Runs,
        report_cost: Callable[[], None],
        typed: TypedInputs,
        save_inputs: Callable[[], Awaitable[bool]],
    ) -> None:
        self._app = app
        self._runs = runs
        self._report_cost = report_cost
        self._typed = typed
        self._save_inputs = save_inputs
        self._interrupted = False
        self.exit_message = ""
        """What to print once the terminal is back."""

    def leave(self) -> None:
        """Leave; ask before typed inputs are lost, and then what becomes of the current run."""
        unsaved = self._typed.unsaved()
        if not unsaved:
            self._leave_run()
            return
        from sizeup.tui.screens.dialogs import ChoiceDialog

        question = f"Inputs entered in the console are not saved: {self._typed.names(unsaved) or 'removed inputs'}."
        answers = [("save", "Save and quit"), ("quit", "Quit without saving"), ("stay", "Stay")]
        if problem := self._typed.why_unsaveable(unsaved):
            question = f"{question}\n\n! They cannot be saved. {problem}"
            if commands := self._typed.commands(unsaved):
                question = "\n".join((f"{question}\n\nThese commands repeat them:", *commands))
            answers = [("stay", "Stay"), ("quit", "Quit without saving")]
        self._app.push_screen(ChoiceDialog(question, answers, title="Quit"), self._inputs_answered)

    def _inputs_answered(self, answer: str | None) -> None:
        if answer == "save":
            self._app.run_worker(self._save_and_leave(), exclusive=True)
        elif answer == "quit":
            self._leave_run()

    async def _save_and_leave(self) -> None:
        if await self._save_inputs():
            self._leave_run()

    def _leave_run(self) -> None:
        if not self._runs.running:
            self._report_cost()
            self._end(self._saved())
            return
        from sizeup.tui.screens.dialogs import ChoiceDialog

        answers = (("stay", "Stay"), ("keep", "Quit and keep it running"), ("cancel", "Cancel it, save, and quit"))
        self._app.push_screen(ChoiceDialog("A run is in progress.", answers), self._answered)

    def _saved(self) -> str:
        return saved_text(self._runs.path) if self._runs.session is not None else ""

    def _answered(self, answer: str | None) -> None:
        runs = self._runs
        self._report_cost()
        if answer == "keep":
            runs.keep()
            runs.release()
            self._end(f"The run continues and writes {runs.path}\nReattach with: sizeup attach {runs.path}")
        elif answer == "cancel":
            runs.cancel()
            runs.wait(_CANCEL_SECONDS)
            self._end(f"Canceled. {saved_text(runs.path)}")

    def _end(self, told: str) -> None:
        self.exit_message = "\n".join(filter(None, (told, unsaved_text(self._typed))))
        self._app.exit(ExitStatus.OK)

    def interrupt(self) -> None:
        """Leave on the second press; the first shows a hint."""
        if self._interrupted:
            self._report_cost()
            self._runs.cancel()
            self._runs.wait(_CANCEL_SECONDS)
            self.exit_message = "\n".join(filter(None, (self._saved(), unsaved_text(self._typed))))
            self._app.exit(ExitStatus.INTERRUPTED)
            return
        self._interrupted = True
        self._app.set_timer(_AGAIN_SECONDS, self._forget_interrupt)
        what = "cancel the run and quit" if self._runs.running else "quit"
        self._app.notify(f"Press ^c again to {what}.", markup=False)

    def _forget_interrupt(self) -> None:
        self._interrupted = False
