"""A mode that watches the machine while it is shown: load, memory, links, and devices that come and go."""

from __future__ import annotations

from collections.abc import Mapping

from textual.events import ScreenResume
from textual.message import Message
from textual.timer import Timer

from sizeup.errors import SizeupError
from sizeup.live.hotplug import HotplugChange, HotplugMonitor
from sizeup.model.machine import Machine
from sizeup.tui.live_source import LiveSource
from sizeup.tui.screens.mode import ModeScreen

_LOOK_SECONDS = 1.0
"""Between two looks at load, memory and links, while this mode is shown."""


class LiveMachineScreen(ModeScreen):
    """Looks at the machine once a second, and reads it again when devices have changed."""

    class DevicesChanged(Message):
        """Something was plugged in or out."""

    def __init__(self) -> None:
        super().__init__()
        self._devices: HotplugMonitor | None = None
        self._asked = self._stale = False
        self._settling: Timer | None = None
        self._timer: Timer | None = None
        self._looking = False
        self._moment: Machine | None = None
        """The machine with its memory as it was a second ago."""
        self._loads: Mapping[int, float] = {}

    @property
    def shows_loads(self) -> bool:
        """Whether the load of CPUs is on the screen."""
        raise NotImplementedError

    def show_loads(self) -> None:
        """Draw load and memory again."""
        raise NotImplementedError

    def show_memory(self, now: Machine) -> None:
        """Draw what memory is used now beside the map."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Look by the clock."""
        # Textual calls the handlers of the base classes, too.
        self._timer = self.set_interval(_LOOK_SECONDS, self.look, pause=True)

    def on_unmount(self) -> None:
        """Stop reading the load and watching devices."""
        if self._devices is not None:
            self._devices.stop()
        if self._timer is not None:
            self._timer.stop()

    def on_screen_suspend(self) -> None:
        """Stop reading the load while another mode is shown."""
        self.pause_looks()

    def pause_looks(self) -> None:
        """Stop the timer until this mode is shown again."""
        if self._timer is not None:
            self._timer.pause()

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Read the load again, and the devices if they changed."""
        del event
        live_source = self.host.live_source
        if not self._asked and live_source is not None:
            self._asked = True
            self.run_worker(self._follow, thread=True)
        self._settle()
        if self._timer is not None and live_source is not None:
            self.begin_loads()
            self._timer.resume()

    def begin_loads(self) -> None:
        """Drop the first figures: they cover the time while another mode was shown."""
        self._loads = {}
        if self.host.live_source is not None and self.shows_loads:
            self.host.live_source.loads()

    def on_live_machine_screen_devices_changed(self) -> None:
        """Read the machine again soon, if somebody is looking."""
        self._stale = True
        self._settle()

    def _follow(self) -> None:
        live_source = self.host.live_source

        def on_hotplug(change: HotplugChange) -> None:
            del change  # that something changed is all it says; discovery says what is there now
            self.post_message(self.DevicesChanged())

        if live_source is not None:
            self._devices = live_source.follow(on_hotplug)

    def _settle(self) -> None:
        live_source = self.host.live_source
        if live_source is not None and self._stale and self._settling is None and self.is_current:
            self._settling = self.set_timer(live_source.settle_seconds, self._settled)

    def _settled(self) -> None:
        self._settling = None
        live_source = self.host.live_source
        if live_source is None or not self.is_current:
            return
        if self.host.runs.running:
            # Reading the machine would disturb what is measured, and the console may stand aside just now.
            self._settle()
            return
        self._stale = False
        self.run_worker(lambda: self._read_again(live_source), thread=True)

    def _read_again(self, live_source: LiveSource) -> None:
        try:
            machine = live_source.discover()
        except SizeupError as error:
            self.app.call_from_thread(self.notify, str(error), severity="error", markup=False)
            return
        self.app.call_from_thread(self.host.renew_machine, machine)

    def look(self) -> None:
        """Take in the load, and in a thread of its own memory and links: a driver may let the reader wait.

        Nothing is drawn on top of what is still on its way.
        """
        host = self.host
        live_source = host.live_source
        if live_source is None or host.machine is None or host.link_busy:
            return
        if self.shows_loads:
            self._loads = live_source.loads()
        # A run is not disturbed: what a device answers may cost it time.
        if not self._looking and not host.runs.running:
            self._looking = True
            known = host.machine
            self.run_worker(lambda: self._looked(live_source, known), thread=True)
        elif self.shows_loads:  # else load and memory are drawn in one
            self.show_loads()

    def _looked(self, live_source: LiveSource, known: Machine) -> None:
        try:
            now = live_source.refreshed(known)
        except SizeupError:
            now = known  # what cannot be read now is told by the next discovery
        self.app.call_from_thread(self._show_moment, known, now)

    def _show_moment(self, known: Machine, now: Machine) -> None:
        self._looking = False
        if self.host.machine is not known or not self.is_current:
            return
        if _links_and_findings(now) != _links_and_findings(known):
            self.host.renew_machine(now)
            return
        self._moment = now
        if self.shows_loads:
            self.show_loads()
        self.show_memory(now)


def _links_and_findings(machine: Machine) -> object:
    """What must not change unnoticed by the other modes: links, and which findings there are."""
    findings = {(finding.id, finding.subjects) for finding in machine.findings}
    return machine.nics, machine.pci, findings
