"""What the command palette offers: the actions that hold on a screen, and the themes that the terminal can show."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import Any

from textual.app import SystemCommand

from sizeup.terminal.capabilities import colors
from sizeup.text import capitalized
from sizeup.tui.actions import ACTIONS, first_key
from sizeup.tui.options import SIXTEEN_COLORS, THEMES
from sizeup.tui.themes import TEXTUAL_NAMES


def action_commands(
    scopes: Iterable[str], idle: Collection[str], keymap: dict[str, str], run: Callable[[str], Any], screen: str = ""
) -> Iterable[SystemCommand]:
    """Yield the actions of some scopes but for those without anything to act on; ``run`` runs one by its call.

    ``screen`` names the screen that they lead to, empty for the one that is shown.
    """
    for scope in scopes:
        for action in ACTIONS[scope]:
            if action.palette and action.id not in idle:
                text = f"{action.help} Key: {first_key(action, keymap)}"
                yield SystemCommand(
                    f"{screen}: {action.label}" if screen else action.label, text, partial(run, action.call)
                )


def theme_commands(shown: str, draw_in: Callable[[str], None]) -> Iterable[SystemCommand]:
    """Yield the themes that a terminal can show, but for the one that is shown."""
    few = 0 < colors(os.environ) <= 16
    for name in THEMES:
        if TEXTUAL_NAMES[name] != shown and not (few and name in SIXTEEN_COLORS):
            text = f"Draw in this theme until the end. To keep it: console.theme or --theme {name}."
            yield SystemCommand(f"{capitalized(name)} theme", text, partial(draw_in, name))
