"""Arguments, exit status, and the hand-over to the console or the batch run.

Each command is a module of this package: its docstring is its help text, ``add_arguments``
declares its options and ``run`` does the work and returns the exit status. Only the module of
the command that was typed is imported, so that ``--help`` costs little more than argparse.
"""

from __future__ import annotations

import codecs
import importlib
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, cast

from sizeup.cli.streams import OutputError, give_up_output
from sizeup.errors import ExitStatus, SizeupError, UsageError, needs_linux
from sizeup.text import ascii_fallback, nearest

if TYPE_CHECKING:
    import argparse

COMMANDS = {
    "detect": "show sockets, cores, NUMA nodes, memory, disks, networks and findings",
    "capture": "save a masked capture that describes this machine",
    "size": "size I/O, redo, memory, flash and licenses, with the working",
    "presets": "list published cases, show one, or compare two",
    "probes": "list the probes, their parameters and whether they can run here",
    "open": "open a saved session in the console",
    "export": "write a session as a report, as data, or masked for sharing",
    "import": "make a session from the output of fio, ORION, SLOB, SLB or lscpu",
    "doctor": "check what works on this machine and terminal",
    "show": "print a session as text or JSON",
    "sessions": "list, search, tag, rename, delete or prune saved sessions",
    "note": "add a note to a session",
    "compare": "compare sessions with a baseline",
    "fleet": "show the sessions of many hosts as one table, with the hosts that stand out",
    "check": "list what drifted on this machine since a baseline",
    "experiment": "compare two settings of this machine alternately, and restore the setting",
    "schema": "print the JSON Schema of session files",
    "attach": "follow a batch run in the console",
    "deploy": "write files that let Ansible, Slurm or Kubernetes measure many hosts",
    "completion": "print shell completion for bash, zsh or fish",
    "manual": "print the manual page",
    "help": "print a page of the documentation",
}
"""Name and one line of help; ``sizeup.cli.NAME`` is the command."""

_REMOVED = {"serve": ", which was removed; use the console over ssh, or share a page: sizeup export FILE --html"}
"""What to do instead of a command of an earlier version."""

START = "start"
"""The module behind ``sizeup`` without a command: the console, or with ``--batch`` the run without one."""


_UNIX_MODULES = frozenset({"fcntl", "pwd", "resource", "termios"})
"""Parts of Python's standard library that only Unix systems have; showing sessions needs none of them."""


class Command(Protocol):
    """What each module of this package offers."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        """Declare the options."""

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """Do the work; the value is the exit status."""


def module(name: str) -> Command:
    """Return the module of a command."""
    return cast("Command", importlib.import_module(f"sizeup.cli.{name}"))


def _fit_output() -> None:
    """Print characters that the terminal's encoding lacks in ASCII; Python would raise ``UnicodeEncodeError``."""
    from sizeup.terminal.capabilities import is_utf8

    codecs.register_error("ascii-fallback", ascii_fallback)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Under the C locale Python writes UTF-8, which such a terminal may not draw; a file keeps it.
            lacks = stream.encoding == "utf-8" and stream.isatty() and not is_utf8(os.environ)
            stream.reconfigure(encoding="ascii" if lacks else None, errors="ascii-fallback")


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return the exit status; an error is printed as one line on standard error."""
    _fit_output()
    status = _guarded(lambda: _run(arguments) if arguments else _run_bare())
    return _guarded(sys.stdout.flush) or status


def _guarded(work: Callable[[], int | None]) -> int:
    """Return the status of the work, or that of its error, which is printed."""
    try:
        return work() or ExitStatus.OK
    except SystemExit as ended:  # argparse, after --help and --version
        return int(ended.code or 0)
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone (sizeup detect | head): not an error of ours.
        give_up_output()
        return ExitStatus.OK
    except ImportError as error:
        if error.name not in _UNIX_MODULES:
            raise
        print(f"sizeup: {needs_linux(f'Python has no module {error.name} here')}", file=sys.stderr)
        return ExitStatus.REFUSED
    except AttributeError as error:
        if error.obj not in (os, signal):
            raise
        print(f"sizeup: {needs_linux(f'Python has no {error.obj.__name__}.{error.name} here')}", file=sys.stderr)
        return ExitStatus.REFUSED
    except SizeupError as error:
        if isinstance(error, OutputError):
            give_up_output()
        print(f"sizeup: {error}", file=sys.stderr)
        return error.status
    except OSError as error:
        # Not handled closer to its cause; still one line, with the file if there is one.
        where = "" if error.filename is None else f"{error.filename}: "
        print(f"sizeup: {where}{error.strerror or error}", file=sys.stderr)
        return ExitStatus.USAGE


def _run(arguments: Sequence[str]) -> int:
    from sizeup.cli.parser import build_parser

    if not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        hint = _REMOVED.get(arguments[0]) or f"{nearest(arguments[0], COMMANDS)}; see: sizeup --help"
        raise UsageError(f"unknown command {arguments[0]!r}{hint}")
    command = arguments[0] if arguments[0] in COMMANDS else START
    parsed = build_parser(command).parse_args(arguments)
    if parsed.command not in (None, command):
        raise UsageError(f"options must follow the command {parsed.command}; try: sizeup {parsed.command} --help")
    return module(command).run(parsed)


def _run_bare() -> int:
    """Start the console without arguments, and without the 10 ms that argparse takes to load."""
    from sizeup.cli.console import show_console

    return show_console({})
