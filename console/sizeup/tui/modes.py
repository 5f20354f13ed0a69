"""The modes and their screens."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from textual.screen import Screen

from sizeup.tui.screens.summary import SummaryScreen


def _imported_later(module: str, name: str) -> Callable[[], Screen[Any]]:
    """Return what makes a screen whose module is imported when it is first shown: the first need not wait for it."""

    def screen() -> Screen[Any]:
        made: Screen[Any] = getattr(importlib.import_module(f"sizeup.tui.screens.{module}"), name)()
        return made

    return screen


MODES: Mapping[str, Callable[[], Screen[Any]]] = {
    "summary": SummaryScreen,
    "topology": _imported_later("topology", "TopologyScreen"),
    "measure": _imported_later("measure", "MeasureScreen"),
    "sizing": _imported_later("sizing", "SizingScreen"),
    "sessions": _imported_later("sessions", "SessionsScreen"),
}
"""What makes the screen of each mode, by the mode's name."""
