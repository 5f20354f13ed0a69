"""The pages of the reference that come from the code: commands, workload keys, exit statuses."""

import argparse
import re
from collections.abc import Iterator

from sizeup.cli import COMMANDS
from sizeup.cli.parser import build_parser
from sizeup.errors import ExitStatus
from sizeup.sizing.keys import KEYS

_FEW = 9
"""Options of a command that a page lists by name alone."""

_MOST = 7
"""Shared options that a page lists one by one."""

_ALIKE = frozenset({"--json", "--output", "--allow-undecided", "--yes"})
"""Options that mean the same to every command, in whatever words."""


def commands_page() -> str:
    """Return docs/reference/commands.md."""
    return "\n".join(_commands())


def _commands() -> Iterator[str]:
    yield "# Commands"
    yield ""
    yield "What does each command do? Options stand here in short, or by name; `--help` has the whole."
    yield "`sizeup --batch` is `sizeup run`. Where a command has them, `-o, --output` names the file to write, `--json`"
    yield "prints base units and `null` with a reason for what is unknown, `--allow-undecided` exits with 0 in place of"
    yield "6, `--yes` asks nothing. [Exit statuses](exit-statuses.md) are the same for all."
    console = build_parser()
    yield from _section("sizeup", console, frozenset())
    known = frozenset(
        (option, _short(action, console)) for action in console._actions for option in action.option_strings
    )
    for path in COMMANDS:
        parser = build_parser(path)
        yield from _section(f"sizeup {path}", parser, known)
        known |= {(option, _short(action, parser)) for action in parser._actions for option in action.option_strings}


def _section(name: str, parser: argparse.ArgumentParser, known: frozenset[tuple[str, str | None]]) -> Iterator[str]:
    places = [action for action in parser._actions if not action.option_strings]
    yield from ("", f"## {' '.join([name, *(_option(action).strip('`') for action in places)])}", "")
    yield re.split(r"[:.] |\.$", _words(re.split(r"\n\n", (parser.description or "").strip())[0]))[0] + "."
    rows, shared = [], []
    for group in parser._action_groups:
        for action in group._group_actions:
            options = action.option_strings
            if action.dest in ("help", "version") or action.help == argparse.SUPPRESS or _ALIKE.intersection(options):
                continue
            if not options:  # its name is in the heading
                continue
            if options and known.issuperset((option, _short(action, parser)) for option in options):
                shared.append(options[0] if options[0].startswith("--") else options[-1])
                continue
            rows.append((_option(action), _words(_short(action, parser))))
    if len(rows) > _FEW:
        yield ""
        yield from (f"- {option}: {text}" for option, text in rows)
        rows = []
    named = [*(option for option, _ in rows), *(f"`{option}`" for option in shared)]
    if len(shared) > _MOST:  # those of the console stand together
        named = [f"those of `sizeup` from `{shared[0]}` to `{shared[-1]}`"]
    if named:
        yield from ("", f"{'Options' if rows else 'Also'}: {', '.join(named)}.")


def _option(action: argparse.Action) -> str:
    value = " ".join(action.metavar) if isinstance(action.metavar, tuple) else action.metavar
    if value is None and action.choices:
        value = ", ".join(map(str, action.choices))
    if not action.option_strings:
        return f"`{value or action.dest}`"
    names = [name for name in action.option_strings if not name.startswith("--no-")] or action.option_strings
    switch = action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction)
    takes = "" if switch else f" {value or action.dest.upper()}"
    return f"`{', '.join(names)}{takes}`"


def _short(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    """The first clause of the help, without examples: what follows is for who types the command."""
    text = parser._get_formatter()._expand_help(action) if action.help else ""
    default = re.search(r" \(default: (?!by the suffix|rules.toml)[^()]*\)", text)
    text = re.sub(r" \((?!default)[^()]*\)", "", text)
    before, what, after = text.partition(": ") if text.startswith(("with ", "for ")) else ("", "", text)
    clause = re.split(
        r" \(|; |\. |: |, (?:such as|even if|so that|in seconds|plain or|labeled|which sizeup|in place)", after
    )[0]
    clause = clause.removesuffix(", or name of a session in the state directory")
    return (
        before
        + what
        + re.sub(r" instead of (?:showing|a summary|this machine).*", "", clause)
        + (default[0] if default else "")
    )


def _words(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def exit_statuses_table() -> str:
    """Return the table of docs/reference/exit-statuses.md."""
    rows = (
        f"| {status.value} | {clause} |"
        for status in ExitStatus
        for clause in (status.meaning.split("; ") if status.meaning.count("; ") > 1 else [status.meaning])
    )
    return "\n".join(("| exit status | meaning |", "|---|---|", *rows))


def workload_keys_table() -> str:
    """Return the table of docs/reference/workload-keys.md: what a workload may state."""
    detail = r", (?:at the percentile|as in its|such as|on each|for the number|random and)"
    rows = (
        f"| `{key.name}` | {re.split(detail, _words(key.help))[0].replace(' of the workload', '')} |"
        for key in KEYS.values()
        if key.name.partition(".")[0] in ("workload", "redo", "db", "sga", "memory")
    )
    return "\n".join(("| key | meaning |", "|---|---|", *rows))
