"""How the user wants the console drawn; filled by the command line and the configuration."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

THEMES = ("dark", "light", "ansi-dark", "ansi-light", "color-blind")
"""The first is the default; the ansi ones use the terminal's own 16 colors."""

SIXTEEN_COLORS = {"dark": "ansi-dark", "light": "ansi-light", "color-blind": "ansi-dark"}
"""What stands in for a theme where the terminal has no more colors."""

GLYPHS = ("auto", "braille", "block", "ascii")
"""What charts are drawn with; the first is braille, or ASCII where only that is safe."""


class Options(Struct, frozen=True):
    """One value for all of them."""

    theme: str = THEMES[0]
    glyphs: str = GLYPHS[0]
    ascii: bool = False
    """ASCII alone, also where UTF-8 seems to work."""
    no_color: bool = False
    no_mouse: bool = False
    low_bandwidth: bool = False
    """Redraw every two seconds and leave the mouse to the terminal."""
    readonly: bool = False
    """Start no probe and write nothing."""
    busy: str = "ask"
    """What a run does on a busy host: ``ask``, ``gentle`` or ``ignore``."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Keys by the id of an action, in Textual's spelling, commas between."""
