"""One part of a machine, as trees and maps show it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

from sizeup.units import format_bytes


class Change(Enum):
    """How a part differs from what it was on the other side."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"

    @property
    def sign(self) -> str:
        """Shown beside the word, never instead of it."""
        return {Change.ADDED: "+", Change.REMOVED: "-", Change.CHANGED: "~"}[self]


class Item(Struct, frozen=True):
    """One part of the machine: a label, what is known of it, and the parts inside."""

    key: str
    """Stable for one machine: ``node:0``, ``core:3``, ``nic:eth0``; findings name their subjects so."""
    label: str
    facts: tuple[tuple[str, str], ...] = ()
    """Name and value, units included; what is unknown is left out or said to be unknown."""
    children: tuple[Item, ...] = ()
    expanded: bool = False
    """Whether the tree opens with this part unfolded."""
    also: tuple[str, ...] = ()
    """Other names that findings have for it, such as ``pci:0000:3b:00.0`` for what sits there."""
    identity: str = ""
    """What it is known by on another day, when names may have changed: a serial number, a MAC address."""
    brief: str = ""
    """The label where room is short, as on the map."""
    trouble: str = ""
    """What is wrong with it, in a word or two; it stands in the label, too."""
    change: Change | None = None
    """How it differs from another machine, where two are held against each other; sign and word stand in the label."""


def find(root: Item, key: str) -> tuple[Item, ...]:
    """The parts from the root down to ``key``; empty where there is none."""
    if key in (root.key, *root.also):
        return (root,)
    for child in root.children:
        below = find(child, key)
        if below:
            return (root, *below)
    return ()


def holding(root: Item, words: Sequence[str]) -> tuple[Item, ...]:
    """The parts whose label and facts hold every word, whatever the case, from the top down; none without words."""
    if not words:
        return ()
    text = " ".join((root.label, *(f"{name} {value}" for name, value in root.facts))).lower()
    own = (root,) if all(word.lower() in text for word in words) else ()
    return (*own, *(item for child in root.children for item in holding(child, words)))


def marked(label: str, trouble: str) -> str:
    """A label with what is wrong, by sign and word, right behind the name: a narrow screen cuts the rest."""
    name, colon, rest = label.partition(": ")
    return f"{name} ! {trouble}{colon}{rest}" if trouble else label


def plural(count: int, noun: str) -> str:
    """``1 core``, ``2 cores``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def known(*facts: tuple[str, object]) -> tuple[tuple[str, str], ...]:
    """The facts that are known."""
    return tuple((name, _say(value)) for name, value in facts if value not in (None, "", ()))


def _say(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def optional_bytes(size: int | None) -> str | None:
    """A size in binary units; None where it is unknown."""
    return None if size is None else format_bytes(size)
