"""Two machines as one tree: parts added, removed and changed, each with a sign and a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from sizeup.compare.machines import Difference, machine_differences
from sizeup.compare.parts import former_names
from sizeup.model.machine import Machine
from sizeup.text import plural
from sizeup.views.machine.topology import topology
from sizeup.views.machine.topology_item import ItemChange, TopologyItem

_OF_THE_MOMENT = frozenset({"Available", "Free", "Page cache", "Shared memory", "Huge pages free"})
"""Facts that differ between any two looks, and make no part a changed one."""
_REMOVED = "removed/"
_UNFOLDED = 60
"""With more differences than these the tree opens folded."""


class OtherMachine(Struct, frozen=True):
    """The other machine, and how it is called."""

    name: str
    machine: Machine


class MachineComparison(Struct, frozen=True):
    """The tree of what is and what was, and the parts that differ, from the top down."""

    root: TopologyItem
    parts: tuple[TopologyItem, ...]
    """What lies inside a part that was added or removed is counted with it."""

    @property
    def counts(self) -> str:
        """How many parts differ, in all and by sign: ``4 differences: +1 ~3``."""
        kinds = Counter(part.change for part in self.parts)
        signs = " ".join(f"{kind.sign}{kinds[kind]}" for kind in ItemChange if kinds[kind])
        return f"{plural(len(self.parts), 'difference')}: {signs}" if self.parts else "no difference"


def compared(now: Machine, before: Machine) -> MachineComparison:
    """What ``now`` has, with what ``before`` had; a part is the same by its serial number or address, else by name."""
    root = _Sides(topology(now), topology(before)).root(machine_differences([now], [before]))
    parts = tuple(_differing(root))
    return MachineComparison(_opened(root, keep=len(parts) <= _UNFOLDED), parts)


def parts_data(comparison: MachineComparison) -> list[dict[str, Any]]:
    """The parts below the machine as a whole, for ``--json``: what differs as ``before`` and ``after``."""
    return [
        {
            "part": part.key.removeprefix(_REMOVED),
            "change": None if part.change is None else part.change.value,
            "label": part.label,
            "facts": [{"name": one.what, "before": one.baseline, "after": one.new} for one in part.changed],
        }
        for part in comparison.parts
        if part.key != "machine"
    ]


class _Part(Struct, frozen=True):
    """One part of one side, with where it is."""

    item: TopologyItem
    parent: str
    """Key of the part around it; empty at the top."""
    parent_label: str


class _Sides:
    """Both trees, flat, and which part of one is which of the other."""

    def __init__(self, now: TopologyItem, before: TopologyItem) -> None:
        self._now, self._before = dict(_flat(now)), dict(_flat(before))

        def identity(part: _Part) -> str | None:  # with its kind
            return f"{part.item.key.partition(':')[0]} {part.item.identity}" if part.item.identity else None

        self._was = former_names(self._before, self._now, identity)
        kept = set(self._was.values())
        self._inside = _by_parent(self._now)
        self._gone = _by_parent({key: part for key, part in self._before.items() if key not in kept})
        """Keys of removed parts by the key of what was around them."""

    def root(self, differences: tuple[Difference, ...]) -> TopologyItem:
        """The machine as a whole, with the facts that a buyer would ask for, and every part below it."""
        item, old = self._now["machine"].item, dict(self._before["machine"].item.facts)
        same = [(name, value) for name, value in item.facts if old.get(name) == value]
        return _changed(item, differences, same, self._children("machine", "machine"))

    def _children(self, key: str, was: str | None) -> tuple[TopologyItem, ...]:
        """The parts inside, and after them what is there no more."""
        found = []
        for name in self._inside.get(key, ()):
            part, old = self._now[name], self._was.get(name)
            children = self._children(name, old)
            if old is None:
                found.append(replace(part.item, children=children, change=ItemChange.ADDED))
            else:
                found.append(_changed(part.item, *self._facts(part, self._before[old]), children))
        return (*found, *(self._removed(name) for name in self._gone.get(was or "", ()) if was is not None))

    def _removed(self, key: str) -> TopologyItem:
        children = tuple(self._removed(name) for name in self._gone.get(key, ()))
        item = self._before[key].item
        return replace(item, key=f"{_REMOVED}{key}", also=(), children=children, change=ItemChange.REMOVED)

    def _facts(self, part: _Part, was: _Part) -> tuple[tuple[Difference, ...], list[tuple[str, str]]]:
        """What differs; and what does not, before what changes all the time."""
        new, old = dict(part.item.facts), dict(was.item.facts)
        own, other = part.item.key.partition(":")[2], was.item.key.partition(":")[2]
        if own != other:
            new, old = {"Name": own, **new}, {"Name": other, **old}
        if self._was.get(part.parent) != was.parent:
            new["Inside"], old["Inside"] = part.parent_label, was.parent_label
        differ = tuple(
            Difference(name, new.get(name) or "not there", old.get(name) or "not there")
            for name in dict.fromkeys((*new, *old))
            if new.get(name) != old.get(name)
        )
        same = [(name, value) for name, value in new.items() if old.get(name) == value]
        moving = [_shown(one) for one in differ if one.what in _OF_THE_MOMENT]
        return tuple(one for one in differ if one.what not in _OF_THE_MOMENT), [*same, *moving]


def _changed(
    item: TopologyItem,
    changed: tuple[Difference, ...],
    others: Sequence[tuple[str, str]],
    children: tuple[TopologyItem, ...],
) -> TopologyItem:
    """Return a part that was there before, what changed in it first."""
    facts = [(f"{ItemChange.CHANGED.sign} {name}", text) for name, text in map(_shown, changed)]
    change = ItemChange.CHANGED if changed else None
    return replace(item, facts=(*facts, *others), changed=changed, children=children, change=change)


def _shown(difference: Difference) -> tuple[str, str]:
    return difference.what, f"{difference.baseline} -> {difference.new}"


def _flat(item: TopologyItem) -> Iterator[tuple[str, _Part]]:
    """Every part by its key, which is made unique where a machine repeats one."""
    taken: Counter[str] = Counter()

    def walk(one: TopologyItem, around: str = "", label: str = "") -> Iterator[tuple[str, _Part]]:
        taken[one.key] += 1
        key = one.key if taken[one.key] == 1 else f"{one.key}#{taken[one.key]}"
        yield key, _Part(replace(one, key=key, children=()), around, label)
        for child in one.children:
            yield from walk(child, key, one.label)

    return walk(item)


def _by_parent(parts: Mapping[str, _Part]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, part in parts.items():
        found.setdefault(part.parent, []).append(key)
    return found


def _differing(item: TopologyItem) -> Iterator[TopologyItem]:
    if item.change is not None:
        yield item
    if item.change not in (ItemChange.ADDED, ItemChange.REMOVED):
        for child in item.children:
            yield from _differing(child)


def _opened(item: TopologyItem, *, keep: bool) -> TopologyItem:
    """Unfolded where something inside differs; elsewhere, and where too much does, folded."""
    children = tuple(_opened(child, keep=keep) for child in item.children)
    differs = any(True for child in children for _ in _differing(child))
    return replace(item, children=children, expanded=keep and differs)
