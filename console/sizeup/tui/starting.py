"""Start of a run: at once, after the current one, or after a question where another console's run is in progress."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.app import App

from sizeup.errors import SizeupError
from sizeup.session.store import session_name
from sizeup.tui.unfinished import running_session

if TYPE_CHECKING:
    from sizeup.engine.spec import RunSpec
    from sizeup.tui.runs import Runs


def start_run(app: App[Any], runs: Runs, spec: RunSpec, started: Callable[[], None], cancel_key: str) -> None:
    """Start a run, and call ``started``; two at once would measure each other, so a second one is asked about."""

    def start() -> None:
        if not runs.start(spec):
            remedy = f"; {cancel_key} removes it" if spec.probes else ""
            what = ", ".join(spec.probes) or spec.plan
            app.notify(f"{what} is queued until the current run ends{remedy}", markup=False)
        started()

    other = None
    if not runs.going_on:
        with contextlib.suppress(OSError, SizeupError):  # a store that cannot be read holds no run that is known
            other = running_session(besides=runs.path)
    if other is None:
        start()
        return
    from sizeup.tui.screens.dialogs import ChoiceDialog

    question = (
        f"A run is in progress in session {session_name(str(other))}. A second run at the same time disturbs both: "
        "their figures would not be valid."
    )
    answers = (("no", "Cancel"), ("yes", "Run both at the same time"))
    app.push_screen(ChoiceDialog(question, answers), lambda answer: start() if answer == "yes" else None)
