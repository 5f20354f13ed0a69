"""How busy each CPU is."""

from __future__ import annotations

import psutil


def cpu_loads() -> dict[int, float]:
    """Percent of the time since the last call that each online CPU was busy; 0 for all at the first.

    Empty where there is no /proc to read it from.
    """
    try:
        return dict(enumerate(psutil.cpu_percent(percpu=True)))
    except (OSError, psutil.Error):
        return {}
