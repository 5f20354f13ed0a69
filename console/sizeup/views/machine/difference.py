"""Two machines as one tree: parts added, removed and changed, each with a sign and a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from sizeup.compare.machines import Difference, machine_differences
from sizeup.model.machine import Machine
from sizeup.text import plural
from sizeup.views.machine.topology import topology
from sizeup.views.machine.topology_item import ItemChange, TopologyItem

_OF_THE_MOMENT = frozenset({"Available", "Free", "Page cache", "Shared memory", "Huge pages free"})
"""Facts that differ between any two looks, and make no part a changed one."""
_ARROW, _REMOVED = " -> ", "removed/"
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
    sides = _Sides(topology(now), topology(before))
    root = sides.root(machine_differences([now], [before]))
    parts = tuple(_differing(root))
    return MachineComparison(_opened(root, keep=len(parts) <= _UNFOLDED), parts)


def parts_data(comparison: MachineComparison) -> list[dict[str, Any]]:
    """The parts below the machine as a whole, for ``--json``: what differs as ``before`` and ``after``."""
    sign = f"{ItemChange.CHANGED.sign} "
    return [
        {
            "part": part.key.removeprefix(_REMOVED),
            "change": None if part.change is None else part.change.value,
            "label": part.label.removeprefix("" if part.change is None else f"{_mark(part.change)} "),
            "facts": [
                {"name": name.removeprefix(sign), "before": value.split(_ARROW)[0], "after": value.split(_ARROW)[-1]}
                for name, value in part.facts
                if name.startswith(sign)
            ],
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
        self._was = _pairs(self._now, self._before)
        self._is = {was: key for key, was in self._was.items()}
        self._inside: dict[str, list[str]] = {}
        for key, part in self._now.items():
            self._inside.setdefault(part.parent, []).append(key)
        self._gone: dict[str, list[str]] = {}
        """Keys of removed parts by the key of what was around them."""
        for key, part in self._before.items():
            if key not in self._is:
                self._gone.setdefault(part.parent, []).append(key)

    def root(self, differences: tuple[Difference, ...]) -> TopologyItem:
        """The machine as a whole, with the facts that a buyer would ask for, and every part below it."""
        item = self._now["machine"].item
        old = dict(self._before["machine"].item.facts)
        facts = [(f"{ItemChange.CHANGED.sign} {one.what}", f"{one.baseline}{_ARROW}{one.new}") for one in differences]
        facts += [(name, value) for name, value in item.facts if old.get(name) == value]
        label = f"{_mark(ItemChange.CHANGED)} {item.label}" if differences else item.label
        return replace(
            item, label=label, facts=tuple(facts), children=self._children("machine", "machine"),
            change=ItemChange.CHANGED if differences else None,
        )  # fmt: skip

    def _children(self, key: str, was: str | None) -> tuple[TopologyItem, ...]:
        """The parts inside, and after them what is there no more."""
        inside = [self._present(name) for name in self._inside.get(key, ())]
        gone = [self._removed(name) for name in self._gone.get(was or "", ())] if was is not None else []
        return (*inside, *gone)

    def _present(self, key: str) -> TopologyItem:
        part, was = self._now[key], self._was.get(key)
        inside = self._children(key, was)
        if was is None:
            return replace(
                part.item,
                label=f"{_mark(ItemChange.ADDED)} {part.item.label}",
                children=inside,
                change=ItemChange.ADDED,
            )
        facts, differ = self._facts(part, self._before[was])
        if not differ:
            return replace(part.item, facts=facts, children=inside)
        label = f"{_mark(ItemChange.CHANGED)} {part.item.label}"
        return replace(part.item, label=label, facts=facts, children=inside, change=ItemChange.CHANGED)

    def _removed(self, key: str) -> TopologyItem:
        item = self._before[key].item
        inside = tuple(self._removed(name) for name in self._gone.get(key, ()))
        return replace(
            item, key=f"{_REMOVED}{key}", label=f"{_mark(ItemChange.REMOVED)} {item.label}", children=inside, also=(),
            change=ItemChange.REMOVED,
        )  # fmt: skip

    def _facts(self, part: _Part, was: _Part) -> tuple[tuple[tuple[str, str], ...], bool]:
        """What differs first, then what does not, then what changes all the time; and whether anything differs."""
        new, old = dict(part.item.facts), dict(was.item.facts)
        own, other = part.item.key.partition(":")[2], was.item.key.partition(":")[2]
        if own != other:
            new, old = {"Name": own, **new}, {"Name": other, **old}
        if self._was.get(part.parent) != was.parent:
            new["Inside"], old["Inside"] = part.parent_label, was.parent_label
        changed, same, moving = [], [], []
        for name in dict.fromkeys((*new, *old)):
            before, after = old.get(name), new.get(name)
            if before == after:
                same.append((name, after or ""))
                continue
            arrow = f"{before or 'not there'}{_ARROW}{after or 'not there'}"
            if name in _OF_THE_MOMENT:
                moving.append((name, arrow))
            else:
                changed.append((f"{ItemChange.CHANGED.sign} {name}", arrow))
        return (*changed, *same, *moving), bool(changed)


def _mark(change: ItemChange) -> str:
    return f"{change.sign} {change.value}"


def _flat(item: TopologyItem, parent: str = "", parent_label: str = "") -> Iterator[tuple[str, _Part]]:
    """Every part by its key, which is made unique where a machine repeats one."""
    taken: Counter[str] = Counter()

    def walk(one: TopologyItem, around: str, label: str) -> Iterator[tuple[str, _Part]]:
        taken[one.key] += 1
        key = one.key if taken[one.key] == 1 else f"{one.key}#{taken[one.key]}"
        yield key, _Part(replace(one, key=key, children=()), around, label)
        for child in one.children:
            yield from walk(child, key, one.label)

    return walk(item, parent, parent_label)


def _pairs(now: Mapping[str, _Part], before: Mapping[str, _Part]) -> dict[str, str]:
    """Which part of the one is which of the other, by identity where both sides know it once, else by key."""
    ours, theirs = _identities(now), _identities(before)
    pairs = {ours[identity]: theirs[identity] for identity in ours if identity in theirs}
    taken = set(pairs.values())
    for key in now:
        if key not in pairs and key in before and key not in taken:
            pairs[key] = key
    return pairs


def _identities(parts: Mapping[str, _Part]) -> dict[tuple[str, str], str]:
    """Keys by kind and identity; the paths to one LUN share theirs, so it identifies none of them."""
    found: dict[tuple[str, str], list[str]] = {}
    for key, part in parts.items():
        if part.item.identity:
            found.setdefault((key.partition(":")[0], part.item.identity), []).append(key)
    return {identity: keys[0] for identity, keys in found.items() if len(keys) == 1}


def _differing(item: TopologyItem) -> Iterator[TopologyItem]:
    if item.change is not None:
        yield item
    if item.change not in (ItemChange.ADDED, ItemChange.REMOVED):
        for child in item.children:
            yield from _differing(child)


def _opened(item: TopologyItem, *, keep: bool) -> TopologyItem:
    """Unfolded where something inside differs; elsewhere, and where too much does, folded."""
    children = tuple(_opened(child, keep=keep) for child in item.children)
    return replace(item, children=children, expanded=keep and any(map(_differs_inside, children)))


def _differs_inside(item: TopologyItem) -> bool:
    return next(_differing(item), None) is not None
