"""The terminal's side of the console: ASCII where needed, a backlog that can be asked, a clean end on signals.

Textual's own driver dies of SIGHUP without a word and leaves mouse reporting on after SIGTERM.
"""

from __future__ import annotations

import os
import signal
import termios
from collections.abc import Callable, Sequence
from types import FrameType
from typing import ClassVar

from rich.cells import cell_len
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

_PLAIN = {
    **dict.fromkeys("─━═╌┄┈╍┅┉▔▁╴╶╸╺‾", "-"),
    **dict.fromkeys("│┃║╎┆┊╏┇┋▏▎▍▌▐▕╵╷╹╻", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯╔╗╚╝╠╣╦╩╬┏┓┗┛┣┫┳┻╋┍┑┕┙┝┥┯┷┿╞╡╤╧╪", "+"),
    **dict.fromkeys("█▉▊▋▓▒░▀▄▇▆▅", "#"),
    **dict.fromkeys("●○◉◎•·∙", "o"),
    **dict.fromkeys("▲△▴^", "^"),
    **dict.fromkeys("▼▽▾", "v"),
    **dict.fromkeys("▶▷▸►→›»", ">"),
    **dict.fromkeys("◀◁◂◄←‹«", "<"),
    **dict.fromkeys("■◆◼▪", "*"),
    **dict.fromkeys("✓✔", "+"),
    **dict.fromkeys("✗✘×", "x"),
    "↑": "^",
    "↓": "v",
    "…": ".",
    "–": "-",
    "—": "-",
    "±": "~",
    "µ": "u",
    "≤": "<",
    "≥": ">",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "\xa0": " ",
}
"""One column for one column, so that the layout stays whole."""


class _Plainer(dict[int, str]):
    """A translation table that knows an answer for every character outside ASCII."""

    def __missing__(self, code: int) -> str:
        if code < 0x80:
            text = chr(code)
        elif 0x2800 <= code <= 0x28FF:
            text = "." if code > 0x2800 else " "
        else:
            text = "?" * cell_len(chr(code))
        self[code] = text
        return text


_TABLE = _Plainer({ord(glyph): plain for glyph, plain in _PLAIN.items()})


def plain(text: str) -> str:
    """``text`` in ASCII, each character in as many columns as before; escape sequences are ASCII already."""
    return text if text.isascii() else text.translate(_TABLE)


_LEAVE = (
    b"\x1b[?2004l\x1b[?7h\x1b[?2048l"  # bracketed paste off, line wrap on, in-band resize off
    b"\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"  # every mouse mode off
    b"\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l\x1b[0m"  # keyboard protocol, screen, cursor, focus, colour
)


class ConsoleDriver(LinuxDriver):
    """Textual's Linux driver for strangers' terminals."""

    ascii_only: ClassVar[bool] = False
    """Set before the app starts; Textual makes its driver from the class alone."""
    before_exit: ClassVar[Sequence[Callable[[], None]]] = ()
    """Save what must be saved, within a few milliseconds and without the event loop."""

    def __init__(
        self, app: App[object], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self.bytes_sent = 0
        """To the terminal, since the start."""
        # Not loop.add_signal_handler: a loop that blocks on a stalled terminal would never run it.
        signal.signal(signal.SIGHUP, self._leave)
        signal.signal(signal.SIGTERM, self._leave)

    def write(self, data: str) -> None:
        """Send to the terminal; blocks once 30 writes wait, which is why charts ask ``backlog`` first."""
        shown = plain(data) if self.ascii_only else data
        self.bytes_sent += len(shown) if shown.isascii() else len(shown.encode())
        super().write(shown)

    @property
    def backlog(self) -> int:
        """Writes that the terminal has not taken yet."""
        return 0 if self._writer_thread is None else self._writer_thread._queue.qsize()  # noqa: SLF001  not offered

    def _leave(self, number: int, frame: FrameType | None) -> None:
        """Save, give the terminal back as far as it still takes bytes, and end without waiting for any thread."""
        del frame
        try:
            for save in self.before_exit:
                save()
        finally:
            self._restore()
            os._exit(128 + number)

    def _restore(self) -> None:
        try:
            # A stalled terminal must not hold us: what does not fit now is lost.
            os.set_blocking(2, False)
            os.write(2, _LEAVE)
        except OSError:
            pass  # the terminal has gone, and nobody is left to tell
        try:
            os.set_blocking(2, True)
            if self.attrs_before is not None:
                termios.tcsetattr(self.fileno, termios.TCSANOW, self.attrs_before)
        except (OSError, termios.error):
            pass
