"""Command lines of version 0.2, which this version still takes, with a hint on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import tomli

from sizeup.cli import split_path

_NAMES: dict[str, dict[str, Any]] = tomli.loads(Path(__file__).with_name("renamed.toml").read_text(encoding="utf-8"))
COMMANDS, REMOVED, MOVED, OPTIONS = (_NAMES[name] for name in ("commands", "removed", "moved", "options"))


def modern(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Return the command that a command line names, by its present name, and its arguments in their present form."""
    path, rest = _renamed(arguments[0], list(arguments[1:])) if arguments[0] in COMMANDS else split_path(arguments)
    moving = MOVED.get(path, {})
    rest = [part for word in rest for part in (word.split("=", 1) if word.partition("=")[0] in moving else [word])]
    moved = next((word for word in rest if word in moving), None)
    if moved is not None:
        new_path = moving[moved]
        _hint(f"{path} {moved}".strip(), f"sizeup {new_path}")
        path, rest = new_path, _values_first(rest, moved)
    return path, list(_renamed_options(OPTIONS.get(path, {}), rest))


def _renamed(old: str, rest: list[str]) -> tuple[str, list[str]]:
    """Return the present command for an old name, and its arguments."""
    new = COMMANDS[old]
    if old == "sessions" and rest[:1] and not rest[0].startswith("-"):
        action, *rest = rest
        new = f"session {({'search': 'list', 'tag': 'note'}).get(action, action)}"
        if action == "tag":
            rest = [*rest[:1], *(part for tag in rest[1:] for part in ("--tag", tag))]
    _hint(old, f"sizeup {new or 'FILE'}")
    if new:
        return split_path([*new.split(), *rest])
    from sizeup.session.store import LATEST  # whose libraries the help of a command does without

    return "", rest if any(not word.startswith("-") for word in rest) else [LATEST, *rest]


def _values_first(words: list[str], option: str) -> list[str]:
    """Return the words without an option, with its values behind the arguments that come before all options."""
    at = words.index(option)
    first = next(number for number, word in enumerate(words) if word.startswith("-"))
    end = next((number for number in range(at + 1, len(words)) if words[number].startswith("-")), len(words))
    return [*words[:first], *words[at + 1 : end], *words[first:at], *words[end:]]


def _renamed_options(options: Mapping[str, str], words: Sequence[str]) -> Iterator[str]:
    """Yield the words with the present names of options."""
    rest = iter(words)
    for word in rest:
        if word == "--":
            yield from (word, *rest)
            return
        name, equals, value = word.partition("=")
        new = options.get(name, name)
        if new.endswith("-") and new != name:  # one word with its value
            new, equals, value = f"{new}{value if equals else next(rest, '')}", "", ""
        if new != name:
            _hint(name, new.replace("=", " "))
        yield f"{new}{equals}{value}"


def _hint(old: str, new: str) -> None:
    """Say on a terminal what an old name is called now."""
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"sizeup: {old} is now: {new}", file=sys.stderr)
