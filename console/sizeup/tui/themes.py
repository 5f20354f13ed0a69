"""Colors by the name a user knows them by."""

from __future__ import annotations

from dataclasses import replace

from textual.theme import BUILTIN_THEMES, Theme

TEXTUAL_NAMES = {
    "dark": "textual-dark",
    "light": "textual-light",
    "ansi-dark": "sizeup-ansi-dark",
    "ansi-light": "sizeup-ansi-light",
    "color-blind": "sizeup-color-blind",
}

# Blue and orange stay apart under every common kind of color blindness, red and green do not (Okabe and Ito, 2008).
COLOR_BLIND = Theme(
    name="sizeup-color-blind",
    primary="#56B4E9",
    secondary="#0072B2",
    accent="#F0E442",
    success="#56B4E9",
    warning="#E69F00",
    error="#D55E00",
    dark=True,
)

# Textual's own draw in blue, which is next to invisible on the black of the Linux console, and under a cursor in bold
# black, which such terminals show as gray on gray.
_PLAIN_CURSOR = {"block-cursor-text-style": "none"}
_ANSI_DARK, _ANSI_LIGHT = BUILTIN_THEMES["ansi-dark"], BUILTIN_THEMES["ansi-light"]
OWN = (
    COLOR_BLIND,
    replace(
        _ANSI_DARK,
        name="sizeup-ansi-dark",
        primary="ansi_cyan",
        secondary="ansi_bright_blue",
        variables={**_ANSI_DARK.variables, **_PLAIN_CURSOR, "scrollbar": "ansi_cyan"},
    ),
    replace(_ANSI_LIGHT, name="sizeup-ansi-light", warning="ansi_magenta"),
)
"""Themes to register."""
