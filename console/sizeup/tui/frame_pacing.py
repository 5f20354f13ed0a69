"""When to draw during a run: once a second, and less often over a link that cannot keep up."""

from __future__ import annotations

import math

TICK_SECONDS = 0.5
"""Between two looks at the session file."""
_FRAME_SECONDS = 1.0
"""Between two frames at the usual rate; the end of a run is drawn with the tick that sees it."""
_LOW_BANDWIDTH_SECONDS = 2.0
_SLOWEST_SECONDS = 8.0
"""Between two frames on a link that is always busy."""


class FramePacing:
    """Counts ticks, and says with which of them a frame is drawn."""

    def __init__(self, *, low_bandwidth: bool = False) -> None:
        self._least_seconds = _LOW_BANDWIDTH_SECONDS if low_bandwidth else _FRAME_SECONDS
        self._frame_seconds = self._least_seconds
        self._waited_seconds = self._least_seconds
        """Since the last frame; the first is drawn at once."""
        self._busy_seconds = 0.0
        """How long the link has been at what it was sent last, a frame or the answer to a key."""

    def is_due(self, *, link_busy: bool, running: bool) -> bool:
        """Count one tick, and return whether to draw a frame with it."""
        self._waited_seconds += TICK_SECONDS
        if link_busy:
            # Once the link is through with what it was sent, it rests as long, so that a key finds it free.
            self._busy_seconds += TICK_SECONDS
            self._frame_seconds = max(self._frame_seconds, min(2 * self._busy_seconds, _SLOWEST_SECONDS))
            return False
        self._busy_seconds = 0.0
        if running and self._waited_seconds < self._frame_seconds:
            return False
        self._waited_seconds = 0.0
        return True

    def drawn(self) -> None:
        """Draw the next frame sooner, as the link was free for this one."""
        self._frame_seconds = max(self._frame_seconds / 2, self._least_seconds)

    @property
    def text(self) -> str:
        """Why frames are rare, and how rare; empty at the usual rate."""
        if self._frame_seconds <= _FRAME_SECONDS:
            return ""
        why = "slow link" if self._frame_seconds > self._least_seconds else "low bandwidth"
        return f"{why}, drawn every {math.ceil(self._frame_seconds / TICK_SECONDS) * TICK_SECONDS:g} s"
