"""The forms of the probes, and the ways to their fields."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual.containers import Vertical

from sizeup.tui.run_form import RunForm, format_setting, label
from sizeup.tui.widgets.form import RunFormView

Targets = Callable[[], list[tuple[str, str]]]
"""Finds what a probe can measure, as lines and paths."""


class ProbeForms(Vertical):
    """Holds the controls that were made so far, of which those of one probe are shown at most."""

    def __init__(self) -> None:
        super().__init__(id="forms")
        self._views: dict[str, RunFormView] = {}
        """The controls by probe."""
        self._making = asyncio.Lock()

    @property
    def shown(self) -> RunFormView | None:
        """The controls that are shown; None where none are."""
        return next((view for view in self._views.values() if view.display), None)

    async def view(self, probe: str, form: RunForm, targets: Targets) -> RunFormView:
        """Return the controls of a probe, made when they are first needed."""
        async with self._making:
            view = self._views.get(probe)
            if view is None:
                view = RunFormView(form, targets())
                view.display = False
                await self.mount(view)
                self._views[probe] = view
        return view

    def show(self, view: RunFormView | None) -> None:
        """Show these controls and no others."""
        for other in self._views.values():
            other.display = other is view

    def choose_plan(self, plan: str) -> None:
        """Fill all forms with the values of a plan."""
        for view in self._views.values():
            view.form.plan = plan
            if view.display:
                view.sync()


def step_value(view: RunFormView, name: str, step: int) -> None:
    """Choose the next of the values that are offered."""
    form = view.form
    parameter = form.parameter(name)
    offered = [format_setting(parameter, value) for value in parameter.suggestions]
    now = form.text(name)
    at = offered.index(now) + step if now in offered else 0
    view.change(name, offered[at % len(offered)])


async def open_settings(view: RunFormView) -> None:
    """Show all settings, and go to the first of them."""
    view.display = True
    await view.unfold()
    first = next((one for one in view.form.manifest.parameter if not one.basic), None)
    field = None if first is None else view.field(first.name)
    if field is not None:
        field.control.focus()


async def ask_for(view: RunFormView, name: str) -> None:
    """Have a value chosen that only the user can give."""
    view.display = True
    field = view.field(name)
    if field is None:
        await view.unfold()
        field = view.field(name)
    view.say(f"Choose a {label(view.form.parameter(name)).lower()} first: it has none")
    if field is not None:
        field.open()
