"""What somebody wrote as inputs of sizing: ``--set``, workload files and published cases."""

from __future__ import annotations

from collections.abc import Iterable

from sizeup.errors import UsageError
from sizeup.quantity import Origin
from sizeup.sizing.input_key import OPTION_SOURCE, InputKey
from sizeup.sizing.input_value import Value
from sizeup.sizing.keys import KEYS
from sizeup.text import nearest


def find_key(name: str, source: str) -> InputKey:
    """The key of that name; an unknown one is refused with the nearest, or with the keys of its group."""
    key = KEYS.get(name)
    if key is None:
        hint = nearest(name, KEYS)
        group = name[: name.rfind(".") + 1]
        alike = [each for each in KEYS if group and each.startswith(group)]
        there = f"; {group.removesuffix('.')} has: {', '.join(alike)}" if alike and not hint else ""
        raise UsageError(f"{source}: unknown key {name!r}{hint}{there}; list all keys with: sizeup size keys")
    return key


def parse_settings(
    settings: Iterable[str], origin: Origin = Origin.USER, source: str = OPTION_SOURCE
) -> dict[str, Value]:
    """Values of ``KEY=VALUE`` texts; a later one of the same key wins."""
    values: dict[str, Value] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise UsageError(f"{source}: expected KEY=VALUE, found {setting!r}")
        key = find_key(name.strip(), source)
        values[key.name] = key.parse(text, origin, source)
    return values
