"""Judge a Linux server before a database goes on it. Without a command, start the console.

FILE is a session, by its file or its name, or a capture: the console shows it instead of this machine.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sizeup.cli.arguments import ON_OFF, Group, arg, sysroot
from sizeup.errors import ExitStatus, UsageError

if TYPE_CHECKING:
    import argparse

    from sizeup.tui.options import Options
    from sizeup.views.machine.difference import OtherMachine

_SWITCHES = {
    "ascii": "use ASCII characters only, even if the terminal supports UTF-8 (default: off)",
    "color": "use color; NO_COLOR also turns it off (default: on)",
    "mouse": "use the mouse; without it, the terminal selects text (default: on)",
    "low-bandwidth": "redraw every 2 s, without the mouse (default: off)",
    "readonly": "start no probe and write no file (default: off)",
}
CONSOLE = Group(
    "console",
    (
        arg(
            "--against", metavar="OTHER",
            help="compare the topology with OTHER: a session, a capture or the output of sizeup detect --json",
        ),
        arg(
            "--theme", metavar="NAME",
            help="color theme: dark, light, ansi-dark, ansi-light or color-blind (default: dark)",
        ),
        arg(
            "--glyphs", metavar="NAME",
            help="characters that charts are drawn with: auto, braille, block or ascii (default: auto)",
        ),
        *(arg(f"--{name}", action=ON_OFF, help=text) for name, text in _SWITCHES.items()),
    ),
)  # fmt: skip
"""The options of the console; one that is not typed is left to the configuration."""
ARGUMENTS = (
    arg("file", metavar="FILE", nargs="?", help="session or capture to show instead of this machine"),
    sysroot("show a capture (a directory or an archive) instead of this machine"),
    CONSOLE,
)


def run(arguments: argparse.Namespace) -> int:
    """Show this machine, a capture or a session."""
    if arguments.file is None:
        return show_console(vars(arguments), sysroot=arguments.sysroot)
    if arguments.sysroot != "/":
        raise UsageError("--sysroot and FILE both name what to show; leave out one of them")
    from sizeup.session.store import find

    path = find(arguments.file)
    if is_capture(path):
        return show_console(vars(arguments), sysroot=path)
    return show_session(path, arguments)


class Follow:
    """Follow a batch run in the console by reading its session file; the run is not disturbed.

    Without FILE, follow the unfinished session that was written to last.
    """

    ARGUMENTS = (arg("file", metavar="FILE", nargs="?", help="session file of the run, or its name"), CONSOLE)

    @staticmethod
    def run(arguments: argparse.Namespace) -> int:
        """Follow the run."""
        from sizeup.session.store import directory, find, unfinished

        path = find(arguments.file) if arguments.file else next(map(str, unfinished(directory())), None)
        if path is None:
            raise UsageError(f"no unfinished run in {directory()}; name its session file: sizeup session follow FILE")
        return show_session(path, arguments)


def show_session(path: str, arguments: argparse.Namespace) -> int:
    """The console on a session, or its summary so far."""
    from sizeup.session.reader import read_session

    session = read_session(path)  # errors are printed before the screen is cleared
    if os.isatty(0) and os.isatty(1) and os.isatty(2):
        return show_console(vars(arguments), session=path)
    if arguments.against is not None:
        raise UsageError("--against works only in the console; as text, use: sizeup detect --against OTHER")
    from sizeup.batch.standard_output import session_lines
    from sizeup.session.store import command_name

    print("\n".join(session_lines(session, name=command_name(path))))
    return ExitStatus.OK


def is_capture(path: str) -> bool:
    """Whether a path is a directory or an archive, and no session."""
    import tarfile

    return os.path.isdir(path) or (os.path.isfile(path) and tarfile.is_tarfile(path))


def show_console(typed: Mapping[str, Any], *, sysroot: str = "/", session: str | None = None) -> int:
    """Show a machine or a session until the user quits, and return the exit status.

    ``typed`` holds the options by name; what is missing or None was not typed.
    """
    from sizeup.tui.app import run_console

    other: str = typed.get("against") or ""

    def load_other() -> OtherMachine:
        from sizeup.cli.detect import load_machine
        from sizeup.views.machine.difference import OtherMachine

        return OtherMachine(os.path.basename(other.rstrip("/")), load_machine(other))

    return run_console(sysroot, session, lambda: options(typed), None if typed.get("against") is None else load_other)


def options(typed: Mapping[str, Any]) -> Options:
    """Return the console's options: what was typed, else what is configured."""
    from sizeup.config import load
    from sizeup.tui.options import Options

    configuration = load(os.environ, {f"console.{name}": typed.get(name) for name in ("theme", "glyphs")})

    def switch(name: str) -> bool:
        value: bool | None = typed.get(name)
        return configuration.switch(f"console.{name}") if value is None else value

    return Options(
        theme=configuration.text("console.theme"),
        glyphs=configuration.text("console.glyphs"),
        ascii=switch("ascii"),
        no_color=not switch("color"),
        no_mouse=not switch("mouse"),
        low_bandwidth=switch("low_bandwidth"),
        readonly=switch("readonly"),
        busy=configuration.text("run.busy"),
        keys=configuration.keymap,
    )
