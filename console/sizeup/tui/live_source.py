"""How this machine is watched while it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from sizeup.model.machine import Machine

if TYPE_CHECKING:
    from sizeup.live.hotplug import HotplugMonitor


class LiveSource(Struct, frozen=True):
    """Where events and figures of the moment come from, and how the machine is read again."""

    follow: Callable[[Callable[[], object]], HotplugMonitor | None]
    """Starts the events, which arrive in a thread of their own; None where there are none."""
    discover: Callable[[], Machine]
    refreshed: Callable[[Machine], Machine] = lambda machine: machine
    """The same machine with its memory and its links as they are now."""
    loads: Callable[[], Mapping[int, float]] = dict
    """Percent by CPU since the last call; what the first call says means nothing."""
    busy: Callable[[], str] | None = None
    """What others load more than a run should add to, after a moment, empty for nothing; None where nobody asks."""
    settle_seconds: float = 1.0
    """From the first event to reading the machine, which takes in all that came between: a controller brings
    a dozen devices."""
