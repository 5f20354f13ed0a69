"""Colors of series, apart from those of a status and from each other for every kind of color vision.

Green, amber and red say how something stands and nothing else; series have blue, purple and gray of different
lightness, and markers of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.theme import Theme

_DARK = ("#6cb2ff", "#e29bf0", "#d0d7de", "#4378c8", "#a06cc8", "#8a949e")
_LIGHT = ("#0b5cad", "#8f3f9e", "#3d464f", "#2f81c7", "#b05fc0", "#6b7680")
_ANSI_DARK = (
    "ansi_bright_cyan",
    "ansi_bright_magenta",
    "ansi_bright_white",
    "ansi_bright_blue",
    "ansi_magenta",
    "ansi_white",
)
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
    dark, light = (_ANSI_DARK, _ANSI_LIGHT) if theme.ansi else (_DARK, _LIGHT)
    return (dark if theme.dark else light)[number % len(dark)]
