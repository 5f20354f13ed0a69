"""Arguments of commands, as values: those that several commands share, and what all of them do with theirs.

Each command has a table ``ARGUMENTS`` of such values, which ``parser`` declares. Nothing here imports argparse, which a
start without arguments does without.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NamedTuple

from sizeup.errors import ExitStatus, RefusedError, UsageError

if TYPE_CHECKING:
    import argparse

ON_OFF = "on-off"
"""The action of an option that ``--no-`` turns off; one that is not typed is None."""


class Argument(NamedTuple):
    """One argument: its names, and what argparse takes about it."""

    names: tuple[str, ...]
    options: dict[str, Any]


class Group(NamedTuple):
    """Arguments under one title; without a title, arguments of which only one may be typed."""

    title: str
    arguments: tuple[Argument, ...]


Arguments = tuple[Argument | Group, ...]


def arg(*names: str, **options: Any) -> Argument:
    """Return an argument as ``add_argument`` of argparse takes it."""
    return Argument(names, options)


def switch(*names: str, **options: Any) -> Argument:
    """Return an option without a value."""
    return arg(*names, action="store_true", **options)


def one_of(*arguments: Argument) -> Group:
    """Return arguments of which only one may be typed."""
    return Group("", arguments)


JSON = switch("--json", help="print as JSON")
YES = switch("--yes", help="do not ask for confirmation")
QUIET = switch("-q", "--quiet", help="do not print progress")
SESSION = arg("file", metavar="FILE", help="session file, or name of a session in the state directory")
NEW_SESSION = arg(
    "-o", "--output", metavar="FILE", help="session file to write (default: a new one in the state directory)"
)
PLAN = (
    arg("--plan", choices=("quick", "standard", "full"), help="set of probes to run (default: standard)"),
    arg(
        "-p", "--probe", action="append", metavar="PROBE",
        help="run this probe only; repeatable; see: sizeup probe list",
    ),
    arg(
        "--set", dest="assignments", action="extend", nargs="+", metavar="PROBE.KEY=VALUE",
        help="set a parameter of a probe; repeatable",
    ),
)  # fmt: skip
"""What is measured."""
ONLY_BUILTIN = switch("--only-builtin", help="use only the probes that come with sizeup")
MINIMUM_EFFECT = arg(
    "--minimum-effect", type=float, default=2.0, metavar="PERCENT",
    help="treat smaller changes as no change (default: 2 %%)",
)  # fmt: skip


ALSO_MASK = arg(
    "--also-mask", metavar="NAME", action="append", default=[],
    help="mask this name too, such as that of a customer or project; can be repeated",
)  # fmt: skip


def also_masked(arguments: argparse.Namespace) -> list[str]:
    """Return the names of ``--also-mask``; raise UsageError for one that would be found inside ordinary words."""
    names: list[str] = arguments.also_mask
    for name in names:
        if len(name.strip()) < 3:
            raise UsageError(f"--also-mask: expected a name of at least 3 characters, found {name!r}")
    return names


def sysroot(help_text: str, *names: str) -> Argument:
    """Return the option, with other ``names`` of it, for the root directory or capture to read, not this machine."""
    return arg("--sysroot", *names, dest="sysroot", metavar="DIR", default="/", help=help_text)


def allow_undecided(condition: str) -> Argument:
    """Return the option that accepts no decision; ``condition`` says when nothing can be decided."""
    return switch("--allow-undecided", help=f"exit with status 0 instead of 6 if {condition}")


def decision_status(arguments: argparse.Namespace, *, different: bool, undecided: str) -> ExitStatus:
    """Return the exit status of a command that decides whether two sides differ.

    ``undecided`` is the sentence about what could not be decided, empty for nothing.
    """
    if different:
        return ExitStatus.DIFFERENT
    if undecided and not arguments.allow_undecided:
        print(f"sizeup: {undecided}", file=sys.stderr)
        return ExitStatus.UNDECIDED
    return ExitStatus.OK


def confirm(question: str, refusal: str) -> bool:
    """Return whether the user agrees; raise RefusedError where nobody can be asked."""
    if not sys.stdin.isatty():
        raise RefusedError(f"{refusal} needs confirmation, and standard input is not a terminal; add --yes to confirm")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def minimum_effect(arguments: argparse.Namespace) -> float:
    """Return the change that counts, as a share; raise UsageError for one that is none."""
    percent: float = arguments.minimum_effect
    if not 0 <= percent < 100:
        raise UsageError(f"--minimum-effect: expected a percentage from 0 to 100, found {percent:g}")
    return percent / 100


def refuse_combination(arguments: argparse.Namespace, flag: str, others: Collection[str]) -> None:
    """Raise UsageError where ``flag`` was typed together with one of ``others``, which would have no effect."""
    ignored = [other for other in others if typed(arguments, other)]
    if ignored and typed(arguments, flag):
        raise UsageError(f"{' and '.join(ignored)} cannot be combined with {flag}; leave out one or the other")


def refuse_without(arguments: argparse.Namespace, flag: str, needed: str) -> None:
    """Raise UsageError where ``flag`` was typed and ``needed``, which gives it an effect, was not."""
    if typed(arguments, flag) and not typed(arguments, needed):
        raise UsageError(f"{flag} needs {needed}; add {needed}, or leave out {flag}")


def typed(arguments: argparse.Namespace, flag: str) -> bool:
    """Return whether an option was typed; ``SECTION`` and the like are what stands without one."""
    name = {"--set": "assignments"}.get(flag, flag.lstrip("-").replace("-", "_").lower())
    return getattr(arguments, name) not in (None, False, [])
