"""Export of a session, or of the comparison with another one, from the list of sessions."""

from __future__ import annotations

from sizeup.session.value import Session
from sizeup.tui.exports import target, write_export
from sizeup.tui.screens.export_dialog import ExportChoice, ExportDialog, default_folder, unsaved_inputs
from sizeup.tui.screens.mode import ModeScreen

_SOON_SECONDS = 2.0
"""What takes longer than this says that it is at work."""


class SessionExport:
    """Asks what to write and where, writes it, and asks again where that failed."""

    def __init__(self, screen: ModeScreen) -> None:
        self._screen = screen
        self._folder = ""
        """Where the last export went; empty before the first."""

    def ask(self, path: str, session: Session, *, baseline: str = "", problem: str = "") -> None:
        """Ask; with a ``baseline``, the path of another session, the comparison with it is offered first."""

        def answered(answer: ExportChoice | None) -> None:
            if answer is not None:
                self._folder = answer.folder
                self._screen.run_worker(self._write(path, session, answer, baseline))

        folder, unsaved = self._folder or default_folder(path), unsaved_inputs(self._screen.host.typed, path)
        dialog = ExportDialog(folder, problem=problem, unsaved=unsaved, compared=bool(baseline))
        self._screen.app.push_screen(dialog, answered)

    async def _write(self, path: str, session: Session, choice: ExportChoice, baseline: str) -> None:
        screen = self._screen
        if choice.saves_inputs and not await screen.host.save_inputs(path):
            return
        kind, place = choice.kind, target(choice.folder, choice.kind, path, session)
        waits = screen.set_timer(_SOON_SECONDS, lambda: screen.notify(f"Writing {place}", markup=False))
        failed, words = await write_export(path, kind, place, baseline)
        waits.stop()
        if failed:
            screen.notify(words, severity="error", markup=False, timeout=10)
            if screen.is_current:
                self.ask(path, session, baseline=baseline, problem=words)  # such as for another disk
        else:
            screen.notify(words, markup=False, timeout=10)
