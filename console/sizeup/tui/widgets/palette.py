"""Colors of a status, and those of series on a theme, which are apart from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sizeup.charts.palette import DARK, LIGHT

if TYPE_CHECKING:
    from textual.theme import Theme

_ANSI_DARK = (
    "ansi_bright_cyan", "ansi_bright_magenta", "ansi_bright_white", "ansi_bright_blue", "ansi_magenta", "ansi_white",
)  # fmt: skip
_ANSI_LIGHT = ("ansi_blue", "ansi_magenta", "ansi_black", "ansi_cyan", "ansi_bright_magenta", "ansi_bright_black")

STATUS: Mapping[str, str] = {
    "status-pass": "bold $text-success",
    "status-warn": "bold $text-warning",
    "status-fail": "bold $text-error",
    "status-active": "bold $text-primary",
}
"""What status words look like, by role."""
_BADGES = {"pass": "$success", "warn": "$warning", "fail": "$error", "active": "$primary"}
_ANSI_BADGES = {
    "pass": "bold ansi_black on ansi_green",
    "warn": "bold ansi_black on ansi_yellow",
    "fail": "bold ansi_bright_white on ansi_red",
    "active": "bold ansi_black on ansi_cyan",
}
BADGE = "badge-"
"""What begins the role of a status word on a color of its own."""


def badge_style(theme: Theme, look: str) -> str:
    """Return what a status word on a color of its own looks like on a theme."""
    return _ANSI_BADGES[look] if theme.ansi else f"bold auto 95% on {_BADGES[look]}"


def series_color(theme: Theme, number: int) -> str:
    """Return the color of a series on a theme."""
    dark, light = (_ANSI_DARK, _ANSI_LIGHT) if theme.ansi else (DARK, LIGHT)
    return (dark if theme.dark else light)[number % len(dark)]
