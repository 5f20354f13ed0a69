"""What is needed to notice devices that come and go."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from sizeup.live.hotplug import Change, Follower
from sizeup.model.machine import Machine


class Hotplug(Struct, frozen=True):
    """Where events come from, and how the machine is read again."""

    follow: Callable[[Callable[[Change], None]], Follower | None]
    """Starts the events, which arrive in a thread of their own; None where there are none."""
    discover: Callable[[], Machine]
    settle_seconds: float = 1.0
    """From the first event to reading the machine, which takes in all that came between: a controller brings
    a dozen devices."""
