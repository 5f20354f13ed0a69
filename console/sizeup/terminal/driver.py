"""The terminal's side of the console: ASCII where needed, and a clean end on signals.

Textual's own driver dies of SIGHUP without a word, of a byte that is no UTF-8 with a traceback, spins at the end
of its input, and leaves mouse reporting on after SIGTERM.
"""

from __future__ import annotations

import os
import re
import select
import signal
import termios
from codecs import getincrementaldecoder
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import ClassVar

from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

from sizeup.text import plain

_LEAVE = (
    b"\x1b[?2004l\x1b[?7h\x1b[?2048l"  # bracketed paste off, line wrap on, in-band resize off
    b"\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"  # every mouse mode off
    b"\x1b[0m\x1b[H\x1b[2J\x1b[?1049l\x1b[?25h\x1b[?1004l"  # color, screen, cursor, focus
)
_LEAVE_KEYBOARD = b"\x1b[<u"

_OLD = re.compile(r"linux|ansi|vt\d|cons\d|sun\b")
_NEWER = re.compile(r"\x1b\[([<>=].*|.*\$p)|\x1b\]52;.*")
"""Questions, keyboard protocols and copies of which older terminals print the end as text."""


class ConsoleDriver(LinuxDriver):
    """Textual's Linux driver for strangers' terminals."""

    ascii_only: ClassVar[bool] = False
    """Set before the app starts; Textual makes its driver from the class alone."""
    before_exit: ClassVar[Sequence[Callable[[], None]]] = ()
    """Save what must be saved, within a few milliseconds and without the event loop."""
    on_hang_up: ClassVar[Sequence[Callable[[], None]]] = ()
    """Called before these where the terminal is lost."""

    def __init__(
        self, app: App[object], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self.bytes_sent = 0
        """To the terminal, since the start."""
        self._old = bool(_OLD.match(os.environ.get("TERM", "")))
        # Not loop.add_signal_handler: a loop that blocks on a stalled terminal would never run it.
        signal.signal(signal.SIGHUP, self._leave)
        signal.signal(signal.SIGTERM, self._leave)
        signal.signal(signal.SIGINT, self._leave)  # from kill alone: ^C is a key here

    @property
    def copies(self) -> bool:
        """Whether what is copied is sent at all; what the terminal does with it, it does not say."""
        return not self._old

    def write(self, data: str) -> None:
        """Send to the terminal; blocks once 30 writes wait, which is why what is drawn by itself asks ``busy``."""
        if self._old and _NEWER.fullmatch(data):
            return
        shown = plain(data) if self.ascii_only else data
        size = len(shown) if shown.isascii() else len(shown.encode())
        self.bytes_sent += size
        super().write(shown)

    @property
    def busy(self) -> bool:
        """Whether the terminal takes no output at the moment; Textual offers no measure of what is unwritten."""
        return self._writer_thread is not None and self._writer_thread._queue.qsize() > 0  # noqa: SLF001

    def run_input_thread(self) -> None:
        """Forward input until asked to stop; the end of the input counts as a hang-up."""
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")("replace").decode
        while not self.exit_event.is_set():
            if select.select([self.fileno], [], [], 0.1)[0]:
                try:
                    data = os.read(self.fileno, 4096)
                except OSError:  # EIO: the other end has closed
                    data = b""
                if not data:
                    os.kill(os.getpid(), signal.SIGHUP)
                    return
                text = decode(data)
                for message in parser.feed(text) if text else ():  # no text would be the end to it
                    self.process_message(message)
            for message in parser.tick():
                self.process_message(message)

    def _get_terminal_size(self) -> tuple[int, int]:
        """Of the terminal that is drawn on; Textual's asks for that of standard output, and loads shutil for it."""
        if self._file is not None and not {"COLUMNS", "LINES"} & os.environ.keys():
            with suppress(OSError):
                columns, rows = os.get_terminal_size(self._file.fileno())
                if columns and rows:
                    return columns, rows
        return super()._get_terminal_size()

    def _sigcont_application(self, *_: object) -> None:
        """Come back; after a stop that could not be heard (SIGSTOP) the terminal was never given up."""
        if self._must_signal_resume:
            super()._sigcont_application()
        else:
            self.send_message(self.SignalResume())

    def stop_application_mode(self) -> None:
        """Give the terminal back, cleared for one without a second screen to leave."""
        self.write("\x1b[0m\x1b[H\x1b[2J")
        super().stop_application_mode()

    def _leave(self, number: int, frame: FrameType | None) -> None:
        """Save, give the terminal back as far as it still takes bytes, and end without waiting for any thread."""
        del frame
        try:
            for save in (*(self.on_hang_up if number == signal.SIGHUP else ()), *self.before_exit):
                save()
        finally:
            self._restore()
            os._exit(128 + number)

    def _restore(self) -> None:
        with suppress(OSError):  # the terminal has gone, and nobody is left to tell
            # A stalled terminal must not hold us: what does not fit now is lost.
            os.set_blocking(2, False)
            os.write(2, _LEAVE if self._old else _LEAVE_KEYBOARD + _LEAVE)
        with suppress(OSError, termios.error):
            os.set_blocking(2, True)
            if self.attrs_before is not None:
                termios.tcsetattr(self.fileno, termios.TCSANOW, self.attrs_before)
