"""How busy each CPU is."""

from __future__ import annotations

try:
    import psutil
except ImportError:  # a viewer is installed without it
    psutil = None


def cpu_loads() -> dict[int, float]:
    """Percent of the time since the last call that each online CPU was busy; 0 for all at the first.

    Empty where there is no /proc to read it from.
    """
    if psutil is None:
        return {}
    try:
        return dict(enumerate(psutil.cpu_percent(percpu=True)))
    except (OSError, psutil.Error):
        return {}
