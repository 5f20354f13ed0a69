"""The options that every command with a screen has, and the hand-over to the console."""

from __future__ import annotations

import argparse
import importlib
import os

from sizeup.errors import UsageError
from sizeup.tui.options import Options


def add_console_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare how to draw; what is not typed is left to the configuration."""
    group = parser.add_argument_group("screen")
    group.add_argument(
        "--ascii",
        action=argparse.BooleanOptionalAction,
        help="draw with ASCII alone, as without UTF-8 and on the Linux console",
    )
    group.add_argument(
        "--mouse", action=argparse.BooleanOptionalAction, help="take the mouse, or leave it to the terminal"
    )


def show_console(arguments: argparse.Namespace, *, sysroot: str = "/", session: str | None = None) -> int:
    """Show a machine or a session until the user leaves; without a terminal say what to do instead."""
    # The console draws on standard error, so that its output can be piped.
    if not (os.isatty(0) and os.isatty(2)):
        raise UsageError(
            "the console needs a terminal on standard input and standard error; without one use: sizeup --batch"
        )
    from sizeup.config import load

    configuration = load(os.environ)
    ascii_only = configuration.switch("console.ascii") if arguments.ascii is None else arguments.ascii
    mouse = configuration.switch("console.mouse") if arguments.mouse is None else arguments.mouse
    run_console = importlib.import_module("sizeup.tui.app").run_console
    options = Options(ascii=ascii_only, no_mouse=not mouse)
    return int(run_console(sysroot=sysroot, session=session, options=options))
