"""Ask for a directory, read its sessions in a thread, and show the fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizeup.errors import SizeupError
from sizeup.tui.dialogs import TextDialog

if TYPE_CHECKING:
    from sizeup.fleet.fleet import Fleet
    from sizeup.tui.screens.mode import ModeScreen


class FleetOpener:
    """Opens the fleet on top of the Sessions mode."""

    def __init__(self, screen: ModeScreen) -> None:
        self._screen = screen

    def ask(self, folder: str) -> None:
        """Ask which directory; ``folder`` stands in the field."""

        def answered(typed: str | None) -> None:
            if typed:
                self._screen.notify(f"Reading {typed}", markup=False, timeout=2)
                self._screen.run_worker(lambda: self._read(typed), thread=True, exclusive=True)

        self._screen.app.push_screen(TextDialog("Fleet: directory of session files", folder), answered)

    def _read(self, folder: str) -> None:
        from sizeup.fleet.files import fleet_paths, read_fleet
        from sizeup.fleet.fleet import build_fleet

        app = self._screen.app
        try:
            fleet = build_fleet(read_fleet(fleet_paths([folder])))
        except SizeupError as error:
            app.call_from_thread(self._screen.notify, str(error), severity="error", markup=False, timeout=10)
            return
        app.call_from_thread(self._show, fleet)

    def _show(self, fleet: Fleet) -> None:
        from sizeup.tui.screens.fleet_screen import FleetScreen

        def answered(path: str | None) -> None:
            if path is not None:
                self._screen.host.show_session(path)

        self._screen.app.push_screen(FleetScreen(fleet), answered)
