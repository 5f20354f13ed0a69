"""One part of a machine as the tree and the map show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from enum import Enum

from msgspec import Struct

from sizeup.compare.machines import Difference


class ItemChange(Enum):
    """How a part differs from the machine that it is compared with."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"

    @property
    def sign(self) -> str:
        """Return the sign that is shown with the word, never instead of it."""
        return {ItemChange.ADDED: "+", ItemChange.REMOVED: "-", ItemChange.CHANGED: "~"}[self]


class TopologyItem(Struct, frozen=True):
    """One part of the machine: a label, its facts, and the parts inside."""

    key: str
    """Stable for one machine: ``node:0``, ``core:3``, ``nic:eth0``; findings name their subjects so."""
    label: str
    facts: tuple[tuple[str, str], ...] = ()
    """Name and value, units included; what is unknown is left out or said to be unknown."""
    children: tuple[TopologyItem, ...] = ()
    expanded: bool = False
    """Whether the tree opens with this part expanded."""
    also: tuple[str, ...] = ()
    """Other subjects under which findings name it, such as ``pci:0000:3b:00.0``."""
    identity: str = ""
    """A persistent identity such as a serial number or a MAC address, because names may change between boots."""
    name: str = ""
    """What the map calls it; empty for what it does not show."""
    brief: tuple[str, ...] = ()
    """What the map says behind the name."""
    more: tuple[str, ...] = ()
    """What the map adds as far as there is room."""
    link: str = ""
    """Its link as the map says it."""
    up: bool = True
    """Whether it is in service; an interface without a link is not."""
    trouble: str = ""
    """Its fault in a word or two; also part of the label."""
    grave: bool = False
    """Whether a critical finding is about it; a fault alone is a warning."""
    change: ItemChange | None = None
    """How it differs from the compared machine."""
    changed: tuple[Difference, ...] = ()
    """What differs in a changed part; also the first of its facts."""
    number: int = 1
    """How many parts it stands for."""

    @property
    def marked_label(self) -> str:
        """The label behind sign and word of how it differs: ``+ added Core 8``."""
        return self.label if self.change is None else f"{self.change.sign} {self.change.value} {self.label}"


def find(root: TopologyItem, key: str) -> tuple[TopologyItem, ...]:
    """Return the parts from the root down to ``key``; empty if there is none."""
    if key in (root.key, *root.also):
        return (root,)
    for child in root.children:
        below = find(child, key)
        if below:
            return (root, *below)
    return ()


def unfolding(root: TopologyItem, rows: int) -> frozenset[str]:
    """Return the keys of the parts that are expanded when the tree opens in that many rows.

    Parts are expanded kind by kind from the top down, all sockets or none, so that equal parts look equal.
    """
    sight = list(_visible(root, None))
    opened = {item.key for item, _ in sight if item.expanded}
    tried: set[tuple[int, str]] = set()
    while folded := [(depth, _kind(item)) for item, depth in sight if item.children and item.key not in opened]:
        kind = min((kind for kind in folded if kind not in tried), key=lambda kind: kind[0], default=None)
        if kind is None:
            break
        tried.add(kind)
        more = opened.union(item.key for item, depth in sight if item.children and (depth, _kind(item)) == kind)
        grown = list(_visible(root, more))
        if len(grown) <= rows:
            sight, opened = grown, more
    return frozenset(opened)


def _kind(item: TopologyItem) -> str:
    return item.key.partition(":")[0]


def _visible(item: TopologyItem, opened: Set[str] | None, depth: int = 0) -> Iterator[tuple[TopologyItem, int]]:
    """Return the visible parts with their depth; ``opened`` None takes each part's ``expanded``."""
    yield item, depth
    if item.expanded if opened is None else item.key in opened:
        for child in item.children:
            yield from _visible(child, opened, depth + 1)


def holding(root: TopologyItem, words: Sequence[str]) -> tuple[TopologyItem, ...]:
    """Return the parts that contain every word, ignoring case; none without words.

    Parts whose label contains the words in sequence come first, then those whose label contains them all, then those
    whose facts do; each group from the top down.
    """
    wanted = [word.lower() for word in words]
    found: tuple[list[TopologyItem], ...] = ([], [], [])
    for item in every(root) if wanted else ():
        label = item.marked_label.lower()
        facts = " ".join(f"{name} {value}" for name, value in item.facts).lower()
        if all(word in label or word in facts for word in wanted):
            named = all(word in label for word in wanted)
            found[0 if " ".join(wanted) in label else 1 if named else 2].append(item)
    return tuple(item for rank in found for item in rank)


def every(item: TopologyItem) -> Iterator[TopologyItem]:
    """Return a part and all parts inside."""
    yield item
    for child in item.children:
        yield from every(child)


def label_of(name: str, about: str, trouble: str) -> str:
    """Return a label with its fault directly after the name, because a narrow screen cuts the end."""
    return f"{name}{f' ! {trouble}' if trouble else ''}{f': {about}' if about else ''}"
