"""The colors of the console and of reports, by what they mean.

Green, amber and red say how something stands and nothing else. Magnitude is one blue ramp, iris is for keys and focus.
Text, labels, statuses and series have a contrast of 4.5 or more on every surface; ``faint`` only decorates. Any two
series and any two statuses also differ for those who do not tell red from green, or yellow from blue.
"""

from __future__ import annotations

_COLORS = {
    "bg": ("#0d1117", "#fbfaf7", "#121212"),
    "raise": ("#18202c", "#f3f1eb", "#262626"),
    "tile": ("#171e2a", "#f4f2ed", "#1c1c1c"),
    "track": ("#222b37", "#e4e0d7", "#303030"),
    "line": ("#2d3745", "#d0ccc2", "#444444"),
    "sel": ("#1d2547", "#e8ebfd", "#00005f"),
    "faint": ("#5a6675", "#8f969c", "#626262"),
    "dim": ("#8b98a7", "#616a74", "#949494"),
    "text": ("#ccd4dd", "#2c3138", "#d0d0d0"),
    "hi": ("#f6f8fb", "#0b0e12", "#eeeeee"),
    "acc": ("#9db0ff", "#3f4fc4", "#afafff"),
    "ok": ("#45d9b4", "#0f6f56", "#5fd7af"),
    "warn": ("#f0c24f", "#875700", "#ffd75f"),
    "bad": ("#f05f69", "#a80f2c", "#ff5f5f"),
    "s1": ("#56c8fa", "#0a6fa8", "#5fd7ff"),
    "s2": ("#d965ab", "#9c1f66", "#d787af"),
    "s3": ("#f3e9b8", "#7a6410", "#ffffaf"),
    "s4": ("#9272f2", "#4b24a0", "#875fff"),
    "ink": ("#0d1117", "#ffffff", "#121212"),
}
"""By token: on a dark background, on a light one, and on a dark one in the 256 fixed colors of terminals.

Each of the last is one of these or, of the grays, next to one.
"""
DARK, LIGHT, DARK_256 = ({token: colors[place] for token, colors in _COLORS.items()} for place in range(3))
RAMP_DARK = ("#14202e", "#143a56", "#15618a", "#2290bf", "#59bfe3", "#c4eefb")
"""Magnitude from low to high on a dark background."""
RAMP_LIGHT = ("#eef3f6", "#cfe4ef", "#9ccbe3", "#5ba6cc", "#23779f", "#0a4a6b")
"""Magnitude from low to high on a light background."""
SURFACES = ("bg", "raise", "tile", "sel")
"""What text stands on."""
SERIES = ("s1", "s2", "s4", "text", "dim", "s3")
"""The colors of series in their order; that of an earlier run comes last, which is drawn in it."""


def blend(color: str, ground: str, part: float) -> str:
    """Return a color mixed with its ground, ``part`` of it and the rest of the ground, as ``#rrggbb``."""
    pairs = zip(bytes.fromhex(color[1:]), bytes.fromhex(ground[1:]), strict=True)
    return "#" + bytes(round(one * part + other * (1 - part)) for one, other in pairs).hex()
