"""What happens behind the splash: the machine is read while Textual is being imported."""

from __future__ import annotations

import gc
import os
import socket
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING

from sizeup.discovery.machine import discover, refreshed
from sizeup.errors import ExitStatus, SizeupError
from sizeup.live.host_load import measure_load
from sizeup.live.hotplug import follow
from sizeup.model.machine import Machine
from sizeup.session.store import new_path
from sizeup.tui.options import Options
from sizeup.tui.runs import LiveSource, Runs

if TYPE_CHECKING:
    from sizeup.views.machine.difference import OtherMachine


Show = Callable[[Options], int]
"""Shows the console until the user leaves; the value is the exit status."""


def _in_background(work: Callable[[], Machine]) -> Future[Machine]:
    """Start work in a thread that no end of the process waits for, and return its result to come."""
    promise: Future[Machine] = Future()

    def run() -> None:
        try:
            promise.set_result(work())
        except BaseException as error:  # noqa: BLE001  raised again by result()
            promise.set_exception(error)

    threading.Thread(target=run, daemon=True, name="discovery").start()
    return promise


def load(sysroot: str, session: str | None, compared_with: Callable[[], OtherMachine] | None = None) -> Show:
    """Read the machine or the session, and another one to compare it with, and import the console meanwhile."""
    promise = _in_background(lambda: discover(sysroot)) if session is None else None
    from sizeup.terminal.app import console_driver
    from sizeup.tui.console import ConsoleApp

    import_module("sizeup.tui.screens.summary")  # the first screen
    if promise is not None:
        runs = _runs_here()
        machine: Machine | None = promise.result()
    else:
        runs = Runs(session or "")
        runs.follow()
        machine = None if runs.session is None else runs.session.machine
    other = None if compared_with is None else compared_with()
    here = session is None and sysroot == "/"
    live_source = (
        LiveSource(follow, lambda: discover("/"), refreshed, _loads, lambda: measure_load().excess()) if here else None
    )

    def show(options: Options) -> int:
        measures = live_source is not None and not options.readonly and bool(runs.path)
        os.environ.pop("NO_COLOR", None)  # Textual asks the environment alone, and takes an empty one as set
        if options.no_color:
            os.environ["NO_COLOR"] = "1"
        app = ConsoleApp(runs, machine, options, measures=measures, live_source=live_source, compared_with=other)
        if (driver := console_driver()) is not None:
            driver.ascii_only = options.ascii
            # Closing the runner's input makes it cancel and save, unless it has been told that the terminal is lost.
            driver.on_hang_up = (runs.hang_up,)
            driver.before_exit = (app.report_cost, runs.release)
        gc.freeze()  # what the start made stays; from here on garbage is looked for about as often as Python does
        gc.set_threshold(10_000, 10, 10)
        status = app.run(mouse=not (options.no_mouse or options.low_bandwidth))
        runs.close()
        if app.exit_message:
            print(app.exit_message)  # noqa: T201  the terminal is the shell's again
        return ExitStatus.OK if status is None else status

    return show


def _runs_here() -> Runs:
    """The runs of this console; where no session can be kept it still shows the machine, and says why no more."""
    try:
        return Runs(str(new_path(socket.gethostname(), datetime.now(UTC))))
    except SizeupError as error:
        runs = Runs("")
        runs.problem = f"cannot measure, as no session can be saved (set XDG_STATE_HOME): {error}"
        return runs


def _loads() -> Mapping[int, float]:
    from sizeup.live.environment import cpu_loads  # whose psutil the start does without

    return cpu_loads()
