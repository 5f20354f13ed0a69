"""What comes and goes while we look: the kernel's device events, through udev.

Events say only that something changed; what it is now, discovery says. Listeners are called from a
thread of udev's observer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

SUBSYSTEMS = ("block", "net", "scsi_host", "fc_host", "fc_remote_ports", "nvme", "pci", "memory", "cpu", "infiniband")
"""The classes that a machine is made of; input devices and the like stay quiet."""


class HotplugMonitor(Protocol):
    """What stops the events."""

    def stop(self) -> None:
        """End the thread."""


def follow(listener: Callable[[], object]) -> HotplugMonitor | None:
    """Call ``listener`` for each change until stopped; None where there is no udev, as in most containers."""
    try:
        import pyudev
        from pyudev._ctypeslib import utils

        # pyudev asks ldconfig, then a compiler, where the library is: processes, and on a small system no answer.
        # Its name is the same everywhere.
        utils.find_library = "lib{}.so.1".format
        monitor = pyudev.Monitor.from_netlink(pyudev.Context())
        for subsystem in SUBSYSTEMS:
            monitor.filter_by(subsystem)
        observer: HotplugMonitor = pyudev.MonitorObserver(monitor, callback=lambda _: listener(), name="hot-plug")
        observer.start()  # type: ignore[attr-defined]  # a thread; pyudev ships no types
    except (ImportError, OSError):
        return None
    return observer
