"""Colours by the name a user knows them by."""

from __future__ import annotations

from textual.theme import Theme

TEXTUAL_NAMES = {
    "dark": "textual-dark",
    "light": "textual-light",
    "ansi-dark": "ansi-dark",
    "ansi-light": "ansi-light",
    "colour-blind": "sizeup-colour-blind",
}

# Blue and orange stay apart under every common kind of colour blindness, red and green do not (Okabe and Ito, 2008).
COLOUR_BLIND = Theme(
    name="sizeup-colour-blind",
    primary="#56B4E9",
    secondary="#0072B2",
    accent="#F0E442",
    success="#56B4E9",
    warning="#E69F00",
    error="#D55E00",
    dark=True,
)
