"""Arguments, exit status, and the hand-over to the console or to a run without it.

Each command is a module of this package, or a class in one: its docstring is its help text, ``ARGUMENTS`` are its
arguments and ``run`` does the work and returns the exit status. Only the module of the command that was
typed is imported, so that ``--help`` costs little more than argparse.
"""

from __future__ import annotations

import codecs
import importlib
import io
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, cast

from sizeup.cli.streams import OutputError, give_up_output
from sizeup.errors import ExitStatus, SizeupError, UsageError, needs_linux
from sizeup.text import ascii_fallback, nearest

if TYPE_CHECKING:
    import argparse

    from sizeup.cli.arguments import Arguments

COMMANDS = {
    "run": ("start", "measure without the console (also: sizeup --batch)"),
    "net": ("start:Net", "measure the network path to another host over ssh"),
    "detect": ("detect", "show sockets, cores, NUMA nodes, memory, disks, networks, findings"),
    "capture": ("detect:Capture", "save a masked capture that describes this machine"),
    "drift": ("detect:DriftCheck", "list what changed on this machine since a baseline"),
    "size": ("size", "size I/O, redo, memory, flash and licenses, with the working"),
    "size keys": ("size:Keys", "list every key of --set"),
    "size compare": ("size_compare", "size several servers and print them side by side"),
    "size cases": ("size:Cases", "list published cases, show one, or compare two"),
    "session list": ("sessions:List", "list saved sessions, or those that contain some words"),
    "session show": ("sessions:Show", "print a session as text or JSON"),
    "session export": ("export", "write a session as a report, as data, or masked for sharing"),
    "session compare": ("compare", "compare sessions with a baseline"),
    "session rank": ("compare:Rank", "rank a machine among like machines of shared sessions"),
    "session follow": ("console:Follow", "follow a run in the console"),
    "session note": ("sessions:Note", "add a note or tags to a session"),
    "session rename": ("sessions:Rename", "set the title of a session"),
    "session delete": ("sessions:Delete", "delete sessions permanently"),
    "session prune": ("sessions:Prune", "delete the oldest sessions that have no tag"),
    "session import": ("sessions:Import", "make a session from the output of fio, ORION, SLOB, SLB or lscpu"),
    "probe list": ("probes", "list the probes, or show the parameters of some"),
    "probe check": ("probes:CheckPlugin", "list the mistakes of a plug-in"),
    "probe new": ("probes:NewPlugin", "write the files of a new plug-in"),
    "fleet": ("fleet", "show many hosts as one table, with those that stand out"),
    "experiment": ("experiment", "compare two settings of this machine alternately"),
    "deploy": ("fleet:Deploy", "write files for Ansible, Slurm, Kubernetes or a container"),
    "doctor": ("doctor", "check what works on this machine and terminal"),
    "help": ("help", "print a page of the documentation, or shell completion"),
}
"""By path: the module of this package, with the class where it holds several, and one line of help."""

GROUPS = {
    "session": "list, show, export, compare, note, ... saved sessions",
    "probe": "list probes, check or begin one",
}
"""Words that only stand before others; alone they list."""

CONSOLE = "console"
"""The module behind ``sizeup`` without a command."""


_UNIX_MODULES = frozenset({"fcntl", "pwd", "resource", "termios"})
"""Parts of Python's standard library that only Unix systems have; showing sessions needs none of them."""


class Command(Protocol):
    """What each module of this package offers."""

    ARGUMENTS: Arguments

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """Do the work; the value is the exit status."""


def command(path: str) -> Command:
    """Return the module or the class behind a path of ``COMMANDS``."""
    target = CONSOLE if path == "" else COMMANDS[path][0]
    name, _, part = target.partition(":")
    module = importlib.import_module(f"sizeup.cli.{name}")
    return cast("Command", getattr(module, part) if part else module)


def split_path(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Return the command that a command line names, by its present name, and its arguments; ``""`` for the console.

    Words that name no command are files and options of the console.
    """
    words = list(arguments)
    options_only = words[0] in GROUPS and all(word.startswith("-") for word in words[1:2])
    if options_only and not {"-h", "--help"} & set(words):
        words.insert(1, "list")
    for length in (2, 1):
        path = " ".join(words[:length])
        if len(words) >= length and path in COMMANDS:
            return path, words[length:]
    if words[0].startswith("-") and {"--batch", "--target"} & set(words):
        return "run", [word for word in words if word != "--batch"]
    return "", words


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return the exit status; an error is printed as one line on standard error.

    Characters that the terminal's encoding lacks are printed in ASCII; Python would raise ``UnicodeEncodeError``.
    """
    from sizeup.terminal.capabilities import is_utf8

    codecs.register_error("ascii-fallback", ascii_fallback)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Under the C locale Python writes UTF-8, which a terminal or a pager of that locale may not draw.
            lacks = stream.encoding == "utf-8" and not is_utf8(os.environ)
            stream.reconfigure(encoding="ascii" if lacks else None, errors="ascii-fallback")
    status = _guarded(lambda: _run(arguments))
    return _guarded(sys.stdout.flush) or status


_LONG = re.compile(r"\S{400,}")


def _without_middle(word: re.Match[str]) -> str:
    """Return a word, such as the value of an option, without what no line has room for."""
    return f"{word[0][:200]}...{word[0][-100:]}"


def _guarded(work: Callable[[], int | None]) -> int:
    """Return the status of the work, or that of its error, which is printed."""
    try:
        return work() or ExitStatus.OK
    except SystemExit as ended:  # argparse, after --help and --version
        return int(ended.code or 0)
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except MemoryError:
        print("sizeup: out of memory: free some, or raise the limit of the process or its group", file=sys.stderr)
        return ExitStatus.USAGE
    except UnicodeEncodeError as error:  # an argument that goes into a document, which is UTF-8
        print(f"sizeup: {error.object[:80]!r}: expected text in UTF-8, found other bytes", file=sys.stderr)
        return ExitStatus.USAGE
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
        print(f"sizeup: {_LONG.sub(_without_middle, str(error))}", file=sys.stderr)
        return error.status
    except OSError as error:
        # Not handled closer to its cause; still one line, with the file if there is one.
        where = "" if error.filename is None else f"{_LONG.sub(_without_middle, str(error.filename))}: "
        print(f"sizeup: {where}{error.strerror or error}", file=sys.stderr)
        return ExitStatus.USAGE


def _run(arguments: Sequence[str]) -> int:
    if not arguments:  # without the 10 ms that argparse takes to load
        from sizeup.cli.console import show_console

        return show_console({})
    from sizeup.cli import renamed
    from sizeup.cli.parser import build_parser, group_help

    first = arguments[0]
    path, rest = renamed.modern(arguments)
    if not path and first in GROUPS:
        if rest[1] in ("-h", "--help"):
            print(group_help(first))
            return ExitStatus.OK
        names = [name.removeprefix(f"{first} ") for name in COMMANDS if name.startswith(f"{first} ")]
        raise UsageError(f"unknown command {first} {rest[1]!r}{nearest(rest[1], names)}; see: sizeup {first} --help")
    if first in renamed.REMOVED:
        raise UsageError(f"unknown command {first!r}, which was removed; {renamed.REMOVED[first]}")
    if not path and rest == list(arguments) and not first.startswith("-") and not _is_shown(first):
        grouped = [path for path in COMMANDS if path.endswith(f" {first}")]
        near = nearest(first, [*COMMANDS, *GROUPS])
        meant = f" (did you mean {' or '.join(grouped)}?)" if grouped else near
        raise UsageError(f"unknown command {first!r}{meant}, and no such file or saved session; see: sizeup --help")
    try:
        parsed = build_parser(path).parse_args(rest)
    except UsageError:
        of_run = () if path else [word for word in rest if word in build_parser("run")._option_string_actions]  # noqa: SLF001
        if of_run:
            raise UsageError(f"{of_run[0]} is an option of run; try: sizeup run {' '.join(rest)}") from None
        raise
    if not path and parsed.file in {name.split()[0] for name in (*COMMANDS, *renamed.COMMANDS)}:
        raise UsageError(f"options must follow the command {parsed.file}; try: sizeup {parsed.file} --help")
    return command(path).run(parsed)


def _is_shown(name: str) -> bool:
    """Whether the console can show what was named: a path that exists, or a saved session."""
    if os.path.exists(name):
        return True
    from sizeup.session.store import find

    try:
        return os.path.exists(find(name))
    except SizeupError:
        return False
