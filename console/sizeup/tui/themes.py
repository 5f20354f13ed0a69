"""Colors by the name a user knows them by."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from textual.theme import BUILTIN_THEMES, Theme

from sizeup.charts import palette
from sizeup.terminal.capabilities import colors
from sizeup.tui.options import THEMES

TEXTUAL_NAMES = {name: f"sizeup-{name}" for name in THEMES}
DARK_256_NAME = "sizeup-dark-256"
"""What stands in for dark where the terminal has 256 fixed colors."""
_PALE = 0.4
"""How much of its color the span of what is not certain has."""
_SHADE = 0.2
"""The same of an area behind text."""
_MIXED_TOKENS = ("ok", "warn", "bad", "s1", "s2")


def _variables(colors: Mapping[str, str], ramp: tuple[str, ...] = (), ground: str = "") -> dict[str, str]:
    """Return the tokens as variables of a style sheet, and what Textual's own widgets take from them."""
    mixed = {}
    for name in _MIXED_TOKENS:
        for ending, part in (("pale", _PALE), ("shade", _SHADE)):
            plain = colors[name] if ending == "pale" else "ansi_default"
            mixed[f"{name}-{ending}"] = palette.blend(colors[name], ground, part) if ground else plain
    tokens = {name: color for name, color in colors.items() if name not in ("text", "bg")}
    return {
        **tokens,
        **mixed,
        **{f"ramp-{level}": color for level, color in enumerate(ramp)},
        "text-success": colors["ok"],
        "text-warning": colors["warn"],
        "text-error": colors["bad"],
        "text-primary": colors["acc"],
        "text-muted": colors["dim"],
        "block-cursor-background": colors["sel"],
        "block-cursor-foreground": colors["hi"],
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": colors["sel"],
        "block-cursor-blurred-foreground": colors["text"],
        "block-hover-background": colors["tile"],
        "border": colors["acc"],
        "border-blurred": colors["line"],
        "scrollbar": colors["line"],
        "scrollbar-hover": colors["faint"],
        "scrollbar-active": colors["acc"],
        "scrollbar-background": colors["bg"],
        "scrollbar-corner-color": colors["bg"],
        "link-color": colors["acc"],
    }


def _theme(name: str, colors: Mapping[str, str], ramp: tuple[str, ...], *, dark: bool = True) -> Theme:
    return Theme(
        name=name,
        primary=colors["acc"],
        secondary=colors["s1"],
        accent=colors["acc"],
        foreground=colors["text"],
        background=colors["bg"],
        surface=colors["raise"],
        panel=colors["raise"],
        success=colors["ok"],
        warning=colors["warn"],
        error=colors["bad"],
        dark=dark,
        variables=_variables(colors, ramp, colors["bg"]),
    )


# Blue and orange stay apart under every kind of color blindness (Okabe and Ito, 2008).
_COLOR_BLIND = {**palette.DARK, "ok": "#56b4e9", "warn": "#e69f00", "bad": "#ff8142"}
# Of 16 colors every surface is the terminal's own, and there are no blends.
_SURFACE = dict.fromkeys(palette.SURFACES, "ansi_default")
_ANSI = {
    "sel": ("blue", "bright_cyan"),
    "track": ("bright_black", "white"),
    "line": ("bright_black", "bright_black"),
    "faint": ("bright_black", "bright_black"),
    "dim": ("white", "bright_black"),
    "text": ("white", "black"),
    "hi": ("bright_white", "black"),
    "acc": ("bright_blue", "blue"),
    "ok": ("green", "green"),
    "warn": ("yellow", "magenta"),
    "bad": ("bright_red", "red"),
    "s1": ("bright_cyan", "blue"),
    "s2": ("bright_magenta", "magenta"),
    "s3": ("bright_yellow", "cyan"),
    "s4": ("bright_blue", "bright_magenta"),
    "ink": ("black", "bright_white"),
}
"""What stands for each token on a dark ground, and on a light one."""
ANSI_DARK = {**_SURFACE, **{token: f"ansi_{dark}" for token, (dark, _) in _ANSI.items()}}
ANSI_LIGHT = {**_SURFACE, **{token: f"ansi_{light}" for token, (_, light) in _ANSI.items()}}
_ANSI_RAMP = ("ansi_blue", "ansi_blue", "ansi_bright_blue", "ansi_cyan", "ansi_bright_cyan", "ansi_bright_white")


def _ansi(name: str, base: str, colors: Mapping[str, str], ramp: tuple[str, ...]) -> Theme:
    built_in = BUILTIN_THEMES[base]
    return replace(
        built_in,
        name=name,
        primary=colors["acc"],
        secondary=colors["s1"],
        accent=colors["acc"],
        success=colors["ok"],
        warning=colors["warn"],
        error=colors["bad"],
        variables={**built_in.variables, **_variables(colors, ramp)},
    )


DARK = _theme(TEXTUAL_NAMES["dark"], palette.DARK, palette.RAMP_DARK)
OWN = (
    DARK,
    _theme(TEXTUAL_NAMES["light"], palette.LIGHT, palette.RAMP_LIGHT, dark=False),
    _theme(DARK_256_NAME, palette.DARK_256, palette.RAMP_DARK),
    _theme(TEXTUAL_NAMES["color-blind"], _COLOR_BLIND, palette.RAMP_DARK),
    _ansi(TEXTUAL_NAMES["ansi-dark"], "ansi-dark", ANSI_DARK, _ANSI_RAMP),
    _ansi(TEXTUAL_NAMES["ansi-light"], "ansi-light", ANSI_LIGHT, _ANSI_RAMP[::-1]),
)
# Known before the app is made, whose first style sheet is that of its theme.
BUILTIN_THEMES.update({theme.name: theme for theme in OWN})


def textual_name(name: str) -> str:
    """Return Textual's name of a theme, in the fixed colors of a terminal that has no others."""
    return DARK_256_NAME if name == "dark" and colors(os.environ) == 256 else TEXTUAL_NAMES[name]
