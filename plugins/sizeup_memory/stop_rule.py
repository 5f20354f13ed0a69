"""When to stop measuring a point, by the settings of a step."""

from __future__ import annotations

from sizeup.model.plan import Settings
from sizeup_memory.binding import StopRule

STOP_SETTINGS = ("replicate", "warm_up", "budget", "replicates", "replicates_max", "target", "seed")
"""Of the probes whose points are measured until they converge; a step has them as the user set them."""


def invalid_replicates(settings: Settings) -> str:
    """Return why the numbers of replicates contradict each other; empty if they do not."""
    fewest, most = int(settings["replicates"]), int(settings["replicates_max"])
    if most >= fewest:
        return ""
    return (
        f"replicates_max={most}: expected at least replicates={fewest}; decrease replicates or increase replicates_max"
    )


def stop_rule(settings: Settings, batch_seconds: float = 0.001) -> StopRule:
    """Return the stop rule of a step's settings."""
    return StopRule(
        batch_seconds=batch_seconds,
        replicate_seconds=float(settings["replicate"]),
        warm_up_seconds=float(settings["warm_up"]),
        budget_seconds=float(settings["budget"]),
        replicates_min=int(settings["replicates"]),
        replicates_max=int(settings["replicates_max"]),
        target=float(settings["target"]),
        seed=int(settings["seed"]),
    )
