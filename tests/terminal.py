"""A program on a pseudo-terminal, watched from outside: its screen, its bytes, its CPU time, its processes.

The reader is this process and it reads only inside ``pump`` and the waits built on it, so a terminal
that has stalled is one that nobody pumps.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import pyte

from marked_processes import marked_processes

KEYS = {
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "space": " ",
    "backspace": "\x7f",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "shift+tab": "\x1b[Z",
    "f1": "\x1bOP",
}
"""What a terminal sends for the keys that have a name; ``ctrl+x`` is worked out."""

_INHERITED = ("PATH", "HOME", "USER", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "TMPDIR")

_MARK = "PTY_TEST_MARK"
"""Inherited by every process a program starts, in whatever session, so that none is overlooked."""

PATIENCE_SECONDS = 180.0
"""What has to come is waited for as long as this: however loaded a host is, only what never comes is missed."""

_CHUNK_BYTES = 65536
_LINE_BYTES = 1 << 20
"""What a slow line holds before it makes the program wait: the window of an SSH session with a terminal."""
_MODE = re.compile(rb"\x1b\[\?([\d;]+)([hl])")
_ASKED_MODE = re.compile(rb"\x1b\[\?(\d+)\$p")
# Sequences that pyte does not know and would print in part: mode queries, the keyboard protocols, device control.
_FOREIGN = re.compile(rb"\x1b\[\?\d+\$p|\x1b\[[<>=][\d;]*[a-zA-Z]|\x1b\[\?u|\x1bP.*?\x1b\\", re.DOTALL)
_UNFINISHED = re.compile(rb"\x1b(?:\[[<>=?\d;$]*|P[^\x1b]*\x1b?)?\Z")


def faint_as_blink(attributes: Sequence[int]) -> Iterator[int]:
    """Yield the attributes of a cell with faint, which pyte does not know, as blink, which nobody uses."""
    left = list(attributes)
    while left:
        attribute = left.pop(0)
        if attribute in (38, 48):  # a color: 5 and its number, or 2 and three parts
            end = 2 if left[:1] == [5] else 4
            yield from (attribute, *left[:end])
            del left[:end]
        elif attribute == 2:
            yield 5
        else:
            yield from (22, 25) if attribute == 22 else (attribute,)


class _Screen(pyte.Screen):
    """Screen whose answers to questions (cursor position, device attributes) go back to the program."""

    def __init__(self, columns: int, rows: int, answer: Callable[[bytes], None]) -> None:
        super().__init__(columns, rows)
        self._answer = answer

    def write_process_input(self, data: str) -> None:
        """Send what a terminal would."""
        self._answer(data.encode())

    def select_graphic_rendition(self, *attributes: int, private: bool = False) -> None:
        """Ignore the private forms, which are questions of the keyboard protocols."""
        if not private:
            super().select_graphic_rendition(*faint_as_blink(attributes))


class Terminal:
    """A started program and the terminal it draws on."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        columns: int = 80,
        rows: int = 24,
        term: str = "xterm-256color",
        locale: str = "C.UTF-8",
        environment: Mapping[str, str] | None = None,
        directory: Path | None = None,
        answers: bool = True,
        controlling: bool = True,
    ) -> None:
        """Start ``arguments``; ``answers`` says whether questions are answered, ``controlling`` who gets SIGHUP."""
        self.mark = uuid.uuid4().hex
        self.output = bytearray()
        """Every byte the program wrote, in order."""
        self.modes: set[int] = {25}
        """DEC private modes now set; 25 is a visible cursor, 1049 the alternate screen."""
        self.first_byte_seconds: float | None = None
        self.last_byte_seconds = 0.0
        self.bytes_per_second: float | None = None
        """How fast the line to this terminal is; None for no limit."""
        self.in_flight = bytearray()
        """What the program has sent and the terminal has not got yet, on a slow line."""
        self._tokens = 0.0
        self._tokens_since = time.monotonic()
        self._held = b""
        self._master, slave = os.openpty()
        self._screen = _Screen(columns, rows, self._send if answers else lambda data: None)
        self._answers = answers
        # An old terminal ignores nothing but what it knows: the rest of a newer sequence is text to it.
        self._knows = not term.startswith(("linux", "vt"))
        self._stream = pyte.ByteStream(self._screen)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.attributes = termios.tcgetattr(slave)
        """Line discipline before the program touched it; compare with ``attributes_now``."""
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        inherited["SIZEUP_RUN_BUSY"] = "ignore"  # as conftest sets it: no run depends on the load of this host
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            arguments,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=directory,
            env={**inherited, "TERM": term, "LANG": locale, "LC_ALL": locale, **(environment or {}), _MARK: self.mark},
            start_new_session=True,
            preexec_fn=(lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) if controlling else None,
        )
        os.close(slave)
        os.set_blocking(self._master, False)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (left := self.processes()) and time.monotonic() < deadline:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.001)
        self.process.kill()  # the mark of a process cannot be read at every moment
        self.process.wait()
        self.hang_up()

    # What the program shows.

    @property
    def screen(self) -> pyte.Screen:
        """The screen by cells, with their colors."""
        return self._screen

    @property
    def lines(self) -> list[str]:
        """The screen, row by row, without trailing blanks."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def text(self) -> str:
        """The screen as one string."""
        return "\n".join(self.lines)

    def pump(self, seconds: float, until: Callable[[], bool] | None = None) -> bool:
        """Read and draw what arrives for ``seconds``, or until a condition holds; whether it came to hold."""
        deadline = time.monotonic() + seconds
        while True:
            if until is not None and until():
                return True
            left = deadline - time.monotonic()
            if left <= 0 or self._master < 0:
                return False
            if not self._read(min(left, 0.05)) and self.process.poll() is not None:
                return until is not None and until()

    def wait_for(self, text: str, seconds: float = PATIENCE_SECONDS) -> float:
        """Pump until the screen holds ``text``; the value is when, from the start."""
        if not self.pump(seconds, lambda: text in self.text):
            raise AssertionError(f"{text!r} did not appear within {seconds} s; the screen shows:\n{self.text}")
        return self.last_byte_seconds

    def wait_quiet(self, quiet_seconds: float = 0.2, seconds: float = PATIENCE_SECONDS) -> float:
        """Pump until nothing is written for a while from now on; the value is when the last byte came."""
        asked = time.monotonic()

        def quiet() -> bool:
            since = time.monotonic() - max(self.started + self.last_byte_seconds, asked)
            silent = self.first_byte_seconds is not None and since >= quiet_seconds
            return silent and not self._busy() and not self._read(0)

        if not self.pump(seconds, quiet):
            raise AssertionError(f"no pause of {quiet_seconds} s within {seconds} s; the screen shows:\n{self.text}")
        return self.last_byte_seconds

    # What a person at it, or the line to it, does.

    def press(self, *keys: str | bytes) -> None:
        """Send keys by name (``down``, ``ctrl+c``) or as the characters, or bytes, they are."""
        for key in keys:
            if isinstance(key, bytes):
                self._send(key)
            elif key.startswith("ctrl+"):
                self._send(bytes([ord(key[5:].upper()) & 0x1F]))
            else:
                self._send(KEYS.get(key, key).encode())

    def resize(self, columns: int, rows: int) -> None:
        """Change the size; the kernel sends SIGWINCH."""
        self._screen.resize(rows, columns)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def hang_up(self) -> None:
        """Drop the line: the kernel sends SIGHUP and every later read or write fails."""
        if self._master >= 0:
            os.close(self._master)
            self._master = -1

    def wait(self, seconds: float = PATIENCE_SECONDS) -> int:
        """Read until the program ends; its exit status, or minus the signal that ended it."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < deadline:
            if self._master >= 0:
                self._read(0.02)
            else:
                time.sleep(0.005)
        while self._master >= 0 and self._read(0):
            pass
        if self.process.poll() is None:
            raise AssertionError(f"still running after {seconds} s; the screen shows:\n{self.text}")
        return self.process.returncode

    # What it costs and leaves behind.

    @property
    def attributes_now(self) -> list[object]:
        """The line discipline as it is."""
        return termios.tcgetattr(self._master)

    def processes(self) -> list[int]:
        """Every live process that the program started, itself included, also in other sessions."""
        return marked_processes(_MARK, self.mark)

    def cpu_seconds(self) -> float:
        """CPU time of all live processes and of the children they have waited for.

        Live ones by their CPU clock, to the nanosecond; waited-for children from the fields cutime and
        cstime of proc_pid_stat(5), to one tick of the kernel.
        """
        total = 0.0
        ticks = os.sysconf("SC_CLK_TCK")
        for pid in self.processes():
            with contextlib.suppress(OSError):
                total += time.clock_gettime((~pid << 3) | 2)  # the clock of clock_getcpuclockid(3)
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                total += (int(fields[13]) + int(fields[14])) / ticks
        return total

    def proportional_bytes(self) -> int:
        """Memory of all live processes, a page that several share counted in parts (proc(5), smaps_rollup)."""
        total = 0
        for pid in self.processes():
            with contextlib.suppress(OSError):
                rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
                total += 1024 * int(rollup.partition("\nPss:")[2].split()[0])
        return total

    def resident_bytes(self) -> int:
        """Resident memory of all live processes, shared pages counted in each."""
        total = 0
        for pid in self.processes():
            with contextlib.suppress(OSError):
                total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return total

    def _busy(self) -> bool:
        """Whether the program works, or would if it had a CPU: silence says nothing then."""
        for path in Path(f"/proc/{self.process.pid}/task").glob("*/stat"):
            with contextlib.suppress(OSError):
                if path.read_text().rpartition(")")[2].split()[0] in ("R", "D"):
                    return True
        return False

    def _send(self, data: bytes) -> None:
        while data:
            select.select([], [self._master], [])
            data = data[os.write(self._master, data) :]

    def _read(self, seconds: float) -> bool:
        """Take one chunk if one arrives in time; whether one did, or is on its way."""
        if self.bytes_per_second is None and not self.in_flight:
            return self._arrive(self._take(seconds))
        idle = not self.in_flight
        if len(self.in_flight) < _LINE_BYTES:
            self.in_flight += self._take(min(seconds, 0.005))
        now = time.monotonic()
        rate = self.bytes_per_second or 1e9
        self._tokens += (now - self._tokens_since) * rate  # also for the time in which this reader had no CPU
        if idle:
            self._tokens = min(self._tokens, max(rate * 0.02, 1.0))
        self._tokens_since = now
        due = int(self._tokens)
        self._tokens -= due
        chunk = bytes(self.in_flight[:due])
        del self.in_flight[:due]
        self._arrive(chunk)
        return bool(chunk or self.in_flight)

    def _take(self, seconds: float) -> bytes:
        if not select.select([self._master], [], [], seconds)[0]:
            return b""
        try:
            return os.read(self._master, _CHUNK_BYTES)
        except BlockingIOError:
            return b""
        except OSError:  # EIO: the last holder of the other end has closed it
            if seconds:
                time.sleep(0.001)
            return b""

    def _arrive(self, chunk: bytes) -> bool:
        if not chunk:
            return False
        self.last_byte_seconds = time.monotonic() - self.started
        if self.first_byte_seconds is None:
            self.first_byte_seconds = self.last_byte_seconds
        self.output += chunk
        self._draw(self._held + chunk)
        return True

    def _draw(self, data: bytes) -> None:
        unfinished = _UNFINISHED.search(data)
        self._held = unfinished[0] if unfinished else b""
        data = data.removesuffix(self._held)
        for modes, switch in _MODE.findall(data):
            for mode in modes.split(b";"):
                (self.modes.add if switch == b"h" else self.modes.discard)(int(mode))
        for mode in _ASKED_MODE.findall(data) if self._answers else ():
            self._send(b"\x1b[?%s;0$y" % mode)  # "not recognized", as an old terminal over a slow line
        self._stream.feed(_FOREIGN.sub(b"", data) if self._knows else data)
