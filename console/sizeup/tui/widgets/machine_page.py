"""What is known of a machine beyond its drawing, a page for each kind of part: the sections of ``sizeup detect``."""

from __future__ import annotations

from collections.abc import Mapping

from sizeup.charts.drawing import Drawing
from sizeup.model.machine import Machine
from sizeup.tui.widgets.scrolled import ScrolledRows

PAGES: Mapping[str, tuple[str, ...]] = {
    "CPU": ("cpu",),
    "Memory": ("memory", "numa"),
    "Storage": ("storage", "budget"),
    "Network": ("network", "nfs"),
    "Devices": ("devices",),
    "Settings": ("settings",),
    "Platform": ("platform",),
}
"""Names of the pages, and which parts of ``sizeup detect`` each of them shows."""


class MachinePage(ScrolledRows):
    """One page, as text that scrolls."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._shown: tuple[Machine, str] | None = None
        self._lines: tuple[object, list[tuple[str, str]]] = (None, [])
        """What the lines were made of, and text and role of each."""

    def show(self, machine: Machine, page: str) -> None:
        """Show a page of a machine, another one from its first line on."""
        if self._shown is None or self._shown[1] != page:
            self._top = 0
        self._shown = machine, page
        self._redraw()

    def _redraw(self) -> None:
        width, height = self.size
        if self._shown is None or not width or not height:
            return
        if self._lines[0] != (id(self._shown[0]), self._shown[1], width):
            self._lines = (id(self._shown[0]), self._shown[1], width), page_lines(*self._shown, width)
        drawing = Drawing(width, height)
        for y, (text, role) in enumerate(self._visible(self._lines[1], height)):
            drawing.put(0, y, text, role)
        self.present(drawing)


def page_lines(machine: Machine, page: str, width: int) -> list[tuple[str, str]]:
    """Return text and role of each line of a page."""
    from sizeup.report.machine import section_lines
    from sizeup.views.machine.machine import machine_sections

    lines: list[tuple[str, str]] = []
    for part in PAGES[page]:
        for section in machine_sections(machine, part):
            title, *rest = section_lines(section, width)
            lines += [("", "")] if lines else []
            lines += [(title, "title"), *((text, "text") for text in rest)]
    return lines or [("Nothing of this kind was found on this machine.", "text")]
