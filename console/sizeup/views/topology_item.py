"""One part of a machine, as trees and maps show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from enum import Enum

from msgspec import Struct


class ItemChange(Enum):
    """How a part differs from what it was on the other side."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"

    @property
    def sign(self) -> str:
        """Shown beside the word, never instead of it."""
        return {ItemChange.ADDED: "+", ItemChange.REMOVED: "-", ItemChange.CHANGED: "~"}[self]


class TopologyItem(Struct, frozen=True):
    """One part of the machine: a label, what is known of it, and the parts inside."""

    key: str
    """Stable for one machine: ``node:0``, ``core:3``, ``nic:eth0``; findings name their subjects so."""
    label: str
    facts: tuple[tuple[str, str], ...] = ()
    """Name and value, units included; what is unknown is left out or said to be unknown."""
    children: tuple[TopologyItem, ...] = ()
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
    change: ItemChange | None = None
    """How it differs from another machine, where two are held against each other; sign and word stand in the label."""


def find(root: TopologyItem, key: str) -> tuple[TopologyItem, ...]:
    """The parts from the root down to ``key``; empty where there is none."""
    if key in (root.key, *root.also):
        return (root,)
    for child in root.children:
        below = find(child, key)
        if below:
            return (root, *below)
    return ()


def unfolding(root: TopologyItem, rows: int) -> frozenset[str]:
    """Keys of the parts that a tree of so many rows opens with: those that always do, and more as far as there is room.

    More is unfolded kind by kind and from the top down, all sockets or none, so that likes look alike.
    """
    sight = list(_in_sight(root, None))
    opened = {item.key for item, _ in sight if item.expanded}
    tried: set[tuple[int, str]] = set()
    while folded := [(depth, _kind(item)) for item, depth in sight if item.children and item.key not in opened]:
        kind = min((kind for kind in folded if kind not in tried), key=lambda kind: kind[0], default=None)
        if kind is None:
            break
        tried.add(kind)
        more = opened.union(item.key for item, depth in sight if item.children and (depth, _kind(item)) == kind)
        grown = list(_in_sight(root, more))
        if len(grown) <= rows:
            sight, opened = grown, more
    return frozenset(opened)


def _kind(item: TopologyItem) -> str:
    return item.key.partition(":")[0]


def _in_sight(item: TopologyItem, opened: Set[str] | None, depth: int = 0) -> Iterator[tuple[TopologyItem, int]]:
    """The part and what is seen inside with these parts unfolded, each with how deep it lies; None: as parts say."""
    yield item, depth
    if item.expanded if opened is None else item.key in opened:
        for child in item.children:
            yield from _in_sight(child, opened, depth + 1)


def holding(root: TopologyItem, words: Sequence[str]) -> tuple[TopologyItem, ...]:
    """The parts that hold every word, whatever the case; none without words.

    First those so named, the words as they stand, then those named with them all, then those with such facts; each
    from the top down.
    """
    wanted = [word.lower() for word in words]
    found: tuple[list[TopologyItem], ...] = ([], [], [])
    for item in _every(root) if wanted else ():
        label = item.label.lower()
        facts = " ".join(f"{name} {value}" for name, value in item.facts).lower()
        if all(word in label or word in facts for word in wanted):
            named = all(word in label for word in wanted)
            found[0 if " ".join(wanted) in label else 1 if named else 2].append(item)
    return tuple(item for rank in found for item in rank)


def _every(item: TopologyItem) -> Iterator[TopologyItem]:
    yield item
    for child in item.children:
        yield from _every(child)


def marked(label: str, trouble: str) -> str:
    """A label with what is wrong, by sign and word, right behind the name: a narrow screen cuts the rest."""
    name, colon, rest = label.partition(": ")
    return f"{name} ! {trouble}{colon}{rest}" if trouble else label
