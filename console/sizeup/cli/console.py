"""The options that every command with a screen has, and the hand-over to the console."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

    from sizeup.tui.options import Options
    from sizeup.views.difference import OtherMachine


def add_console_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare how to draw; what is not typed is left to the configuration."""
    from argparse import BooleanOptionalAction

    group = parser.add_argument_group("screen")
    group.add_argument(
        "--diff",
        metavar="OTHER",
        help="begin with the topology beside a session, a recording or a detect document",
    )
    group.add_argument("--theme", metavar="NAME", help="colors; see: sizeup doctor --keys")
    group.add_argument("--glyphs", metavar="NAME", help="what charts are drawn with: braille, block or ascii")
    for name, text in (
        ("ascii", "draw with ASCII alone, as without UTF-8 and on the Linux console"),
        ("color", "draw in color, or in none as with NO_COLOR"),
        ("mouse", "take the mouse, or leave it to the terminal"),
        ("low-bandwidth", "redraw every two seconds, and leave the mouse to the terminal"),
        ("readonly", "start no probe and write nothing"),
    ):
        group.add_argument(f"--{name}", action=BooleanOptionalAction, help=text)


def show_console(typed: Mapping[str, Any], *, sysroot: str = "/", session: str | None = None) -> int:
    """Show a machine or a session until the user leaves; without a terminal say what to do instead.

    ``typed`` holds the options by name; what is missing or None was not typed.
    """
    from sizeup.tui.app import run_console

    other = typed.get("diff")
    against = None if other is None else lambda: _against(other)
    return run_console(sysroot, session, lambda: options(typed), against)


def _against(name: str) -> OtherMachine:
    """The machine to hold the one that is shown against, with the name it was asked for."""
    from sizeup.cli.detect import load_machine
    from sizeup.views.difference import OtherMachine

    return OtherMachine(os.path.basename(name.rstrip("/")), load_machine(name))


def options(typed: Mapping[str, Any]) -> Options:
    """What was typed, and where nothing was, what is configured."""
    from sizeup.config import load
    from sizeup.tui.options import Options

    configuration = load(os.environ, {f"console.{name}": typed.get(name) for name in ("theme", "glyphs")})

    def switch(name: str) -> bool:
        said: bool | None = typed.get(name)
        return configuration.switch(f"console.{name}") if said is None else said

    return Options(
        theme=configuration.text("console.theme"),
        glyphs=configuration.text("console.glyphs"),
        ascii=switch("ascii"),
        no_color=not switch("color"),
        no_mouse=not switch("mouse"),
        low_bandwidth=switch("low_bandwidth"),
        readonly=switch("readonly"),
        keys=configuration.keymap,
    )
