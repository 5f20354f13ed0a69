"""The way into the console: a picture first, then everything that takes time.

This module imports next to nothing, so that the splash is on the screen before the rest is read.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from sizeup.terminal.capabilities import colors, mouse_holds_escape, needs_ascii, require_terminal
from sizeup.terminal.splash import RESTORE, splash

if TYPE_CHECKING:
    from sizeup.tui.options import Options
    from sizeup.views.machine.difference import OtherMachine


def run_console(
    sysroot: str = "/",
    session: str | None = None,
    choose: Callable[[], Options] | None = None,
    compared_with: Callable[[], OtherMachine] | None = None,
) -> int:
    """Show the console on this machine, on a recording of one, or on a session file; the value is the exit status.

    ``choose`` works out how to draw; it is called behind the splash, as reading a configuration takes its time;
    ``compared_with`` reads another machine; the console then starts with the comparison of the two.
    """
    require_terminal(os.environ, has_input=os.isatty(0), has_screen=os.isatty(2))
    columns, rows = os.get_terminal_size(2)
    os.write(2, splash(columns, rows))
    try:
        from msgspec.structs import replace

        from sizeup.tui.options import SIXTEEN_COLORS, Options
        from sizeup.tui.startup import load

        options = Options() if choose is None else choose()
        if needs_ascii(os.environ, options.glyphs):
            options = replace(options, ascii=True)
        shown = colors(os.environ)
        if shown <= 16:  # of a theme in many colors some words would vanish into the background
            options = replace(options, theme=SIXTEEN_COLORS.get(options.theme, options.theme))
        no_mouse = options.no_mouse or mouse_holds_escape(os.environ)
        options = replace(options, no_color=options.no_color or not shown, no_mouse=no_mouse)
        show = load(sysroot, session, compared_with)
        if options.keys:
            from sizeup.tui.actions import checked

            options = replace(options, keys=checked(options.keys))
    except BaseException:
        os.write(2, RESTORE)
        raise
    return show(options)
