"""Colors of a status, and those of series, by role: tokens of the theme."""

from __future__ import annotations

from collections.abc import Mapping

from sizeup.charts.palette import SERIES

STATUS: Mapping[str, str] = {
    "status-pass": "bold $ok",
    "status-warn": "bold $warn",
    "status-fail": "bold $bad",
    "status-active": "bold $acc",
}
"""What status words look like, by role."""
_BADGES = {"pass": "$ok", "warn": "$warn", "fail": "$bad", "active": "$acc"}
BADGE = "badge-"
"""What begins the role of a status word on a color of its own."""


def badge_style(look: str) -> str:
    """Return what a status word on a color of its own looks like."""
    return f"bold $ink on {_BADGES[look]}"


def series_color(number: int) -> str:
    """Return the color of a series."""
    name = SERIES[number % len(SERIES)]
    return "$foreground" if name == "text" else f"${name}"
