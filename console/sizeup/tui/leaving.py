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
_RUN_ANSWERS = [("keep", "Quit and keep it running"), ("cancel", "Cancel it, save, and quit")]
"""What becomes of a run."""
_INPUT_ANSWERS = [
    ("save keep", "Save the inputs, quit, and keep the run going"),
    ("save cancel", "Save the inputs, cancel the run, and quit"),
    ("keep", "Lose the inputs, quit, and keep the run going"),
    ("cancel", "Lose the inputs, cancel the run, and quit"),
]
"""What becomes of typed inputs and of a run."""


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
        """Leave; ask once where typed inputs would be lost or a run goes on."""
        unsaved, running = self._typed.unsaved(), self._runs.running
        if not unsaved and not running:
            self._answered("quit")
            return
        from sizeup.tui.screens.dialogs import ChoiceDialog

        problem = self._typed.why_unsaveable(unsaved)
        question = "\n\n".join(filter(None, ("A run is in progress." * running, self._question(unsaved, problem))))
        if not running:
            answers = [("save", "Save and quit"), ("quit", "Quit without saving"), ("stay", "Stay")]
            answers = answers[:0:-1] if problem else answers
        elif not unsaved:
            answers = [("stay", "Stay"), *_RUN_ANSWERS]
        else:
            answers = [("stay", "Stay"), *(_INPUT_ANSWERS[2:] if problem else _INPUT_ANSWERS)]
        self._app.push_screen(ChoiceDialog(question, answers, title="Quit"), self._answered)

    def _question(self, unsaved: list[str], problem: str) -> str:
        """Return which inputs would be lost, and how to repeat them where they cannot be saved."""
        if not unsaved:
            return ""
        question = f"Inputs entered in the console are not saved: {self._typed.names(unsaved) or 'removed inputs'}."
        if problem:
            question = f"{question}\n\n! They cannot be saved. {problem}"
            if commands := self._typed.commands(unsaved):
                question = "\n".join((f"{question}\n\nThese commands repeat them:", *commands))
        return question

    def _answered(self, answer: str | None) -> None:
        """Save where that was chosen, and then leave."""
        if answer in (None, "stay"):
            return
        save, _, then = answer.rpartition(" ")
        if answer == "save":
            save, then = "save", "quit"
        if save:
            self._app.run_worker(self._save_and_leave(then), exclusive=True)
        else:
            self._leave_run(then)

    async def _save_and_leave(self, then: str) -> None:
        if await self._save_inputs():
            self._leave_run(then)

    def _saved(self) -> str:
        return saved_text(self._runs.path) if self._runs.session is not None else ""

    def _leave_run(self, then: str) -> None:
        """Leave, and keep or cancel the run, which may have ended meanwhile."""
        runs = self._runs
        self._report_cost()
        if not runs.running:
            self._end(self._saved())
        elif then == "keep":
            runs.keep()
            runs.release()
            self._end(f"The run continues and writes {runs.path}\nReattach with: sizeup session follow {runs.path}")
        else:
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
