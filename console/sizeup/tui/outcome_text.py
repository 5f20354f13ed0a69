"""How a step ended, in words for the screen."""

from __future__ import annotations

from collections.abc import Mapping

from sizeup.model.sample import Status

OUTCOME_WORDS: Mapping[Status, str] = {
    Status.OK: "done",
    Status.NOT_CONVERGED: "done, not converged",
    Status.REFUSED: "refused",
    Status.CANCELED: "canceled",
    Status.FAILED: "! failed",
    Status.CRASHED: "! crashed",
    Status.TIMED_OUT: "! timed out",
}
"""Failures lead with a mark."""
