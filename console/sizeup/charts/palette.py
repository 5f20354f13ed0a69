"""The colors of the console and of reports, by what they mean.

Green, amber and red say how something stands and nothing else. Magnitude is one blue ramp, iris is for keys and focus.
Text, labels, statuses and series have a contrast of 4.5 or more on every surface; ``faint`` only decorates. Any two
series and any two statuses also differ for those who do not tell red from green, or yellow from blue.
"""

from __future__ import annotations

from collections.abc import Mapping

DARK: Mapping[str, str] = {
    "bg": "#0d1117",
    "raise": "#18202c",
    "tile": "#171e2a",
    "track": "#222b37",
    "line": "#2d3745",
    "sel": "#1d2547",
    "faint": "#5a6675",
    "dim": "#8b98a7",
    "text": "#ccd4dd",
    "hi": "#f6f8fb",
    "acc": "#9db0ff",
    "ok": "#45d9b4",
    "warn": "#f0c24f",
    "bad": "#f05f69",
    "s1": "#56c8fa",
    "s2": "#d965ab",
    "s3": "#f3e9b8",
    "s4": "#9272f2",
    "ink": "#0d1117",
}
"""On a dark background."""
LIGHT: Mapping[str, str] = {
    "bg": "#fbfaf7",
    "raise": "#f3f1eb",
    "tile": "#f4f2ed",
    "track": "#e4e0d7",
    "line": "#d0ccc2",
    "sel": "#e8ebfd",
    "faint": "#8f969c",
    "dim": "#616a74",
    "text": "#2c3138",
    "hi": "#0b0e12",
    "acc": "#3f4fc4",
    "ok": "#0f6f56",
    "warn": "#875700",
    "bad": "#a80f2c",
    "s1": "#0a6fa8",
    "s2": "#9c1f66",
    "s3": "#7a6410",
    "s4": "#4b24a0",
    "ink": "#ffffff",
}
"""On a light background."""
DARK_256: Mapping[str, str] = {
    "bg": "#121212",
    "raise": "#262626",
    "tile": "#1c1c1c",
    "track": "#303030",
    "line": "#444444",
    "sel": "#00005f",
    "faint": "#626262",
    "dim": "#949494",
    "text": "#d0d0d0",
    "hi": "#eeeeee",
    "acc": "#afafff",
    "ok": "#5fd7af",
    "warn": "#ffd75f",
    "bad": "#ff5f5f",
    "s1": "#5fd7ff",
    "s2": "#d787af",
    "s3": "#ffffaf",
    "s4": "#875fff",
    "ink": "#121212",
}
"""On a dark background in the 256 fixed colors of terminals: each is one of them or, of the grays, next to one."""
RAMP_DARK = ("#14202e", "#143a56", "#15618a", "#2290bf", "#59bfe3", "#c4eefb")
"""Magnitude from low to high on a dark background."""
RAMP_LIGHT = ("#eef3f6", "#cfe4ef", "#9ccbe3", "#5ba6cc", "#23779f", "#0a4a6b")
"""Magnitude from low to high on a light background."""
SURFACES = ("bg", "raise", "tile", "sel")
"""What text stands on."""
SERIES = ("s1", "s3", "s2", "s4", "text", "dim")
"""The colors of series in their order: this run, an earlier one, and the others."""


def blend(color: str, ground: str, part: float) -> str:
    """Return a color mixed with its ground, ``part`` of it and the rest of the ground, as ``#rrggbb``."""
    pairs = zip(bytes.fromhex(color[1:]), bytes.fromhex(ground[1:]), strict=True)
    return "#" + bytes(round(one * part + other * (1 - part)) for one, other in pairs).hex()
