"""The way into the console: a picture first, then everything that takes time.

This module imports next to nothing, so that the splash is on the screen before the rest is read.
"""

from __future__ import annotations

import os
from dataclasses import replace

from sizeup.tui.options import Options
from sizeup.tui.splash import RESTORE, splash
from sizeup.tui.terminal import needs_ascii, require_terminal

_DEFAULT = Options()


def run_console(sysroot: str = "/", session: str | None = None, options: Options = _DEFAULT) -> int:
    """Show the console on this machine, on a recording of one, or on a session file; the value is the exit status."""
    require_terminal(os.environ, has_input=os.isatty(0), has_screen=os.isatty(2))
    if needs_ascii(os.environ):
        options = replace(options, ascii=True)
    columns, rows = os.get_terminal_size(2)
    os.write(2, splash(columns, rows, ascii_only=options.ascii))
    try:
        from sizeup.tui.loading import load

        show = load(sysroot, session)
    except BaseException:
        os.write(2, RESTORE)
        raise
    return show(options)
