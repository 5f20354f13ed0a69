"""Facts of two machines side by side: by their names, and by the parts that they belong to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from msgspec import Struct

from sizeup.model.machine import Machine
from sizeup.units import format_bit_rate, format_bytes

MISSING, PRESENT = "missing", "present"

Facts = Mapping[str, str | None]
T = TypeVar("T")


class ComparedFact(Struct, frozen=True):
    """One fact on both sides; None where it is unknown."""

    fact: str
    baseline: str | None
    now: str | None


def number_text(value: int | None) -> str | None:
    """Return a number as a fact."""
    return None if value is None else str(value)


def size_text(size: int | None) -> str | None:
    """Return a size in bytes as a fact."""
    return None if size is None else format_bytes(size)


def speed_text(bits_per_second: int | None) -> str | None:
    """Return the speed of a link as a fact."""
    return None if bits_per_second is None else format_bit_rate(bits_per_second)


def switch_text(value: bool | None, words: tuple[str, str] = ("on", "off")) -> str | None:  # noqa: FBT001  a fact
    """Return a switch as a fact; ``words`` are what it is called when it is on and off."""
    return None if value is None else words[not value]


def listed_text(parts: Mapping[str, object]) -> str | None:
    """Return how many parts one side lists; None where it lists none, and so may not have been read."""
    return f"{len(parts)} listed" if parts else None


def pairs(baseline: Facts, now: Facts, part: str = "") -> Iterator[ComparedFact]:
    """Each fact that either side has, under the name of the part that it is of."""
    prefix = f"{part} " if part else ""
    for fact in dict.fromkeys((*baseline, *now)):
        yield ComparedFact(prefix + fact, baseline.get(fact), now.get(fact))


def former_names(
    before: Mapping[str, T], after: Mapping[str, T], identity: Callable[[T], str | None]
) -> dict[str, str]:
    """Which part of the baseline each is: by its identity where both sides know it once, else by its name."""
    old, new = _by_identity(before, identity), _by_identity(after, identity)
    was = {new[known]: old[known] for known in new.keys() & old.keys()}
    taken = set(was.values())
    return {**{name: name for name in after if name in before and name not in was and name not in taken}, **was}


def _by_identity(parts: Mapping[str, T], identity: Callable[[T], str | None]) -> dict[str, str]:
    names = {name: identity(part) for name, part in parts.items()}
    counts = Counter(names.values())
    return {known: name for name, known in names.items() if known and counts[known] == 1}


def both(sides: tuple[Machine, Machine], parts: Callable[[Machine], dict[str, T]]) -> tuple[dict[str, T], dict[str, T]]:
    """The parts of one kind of both machines, by name."""
    return parts(sides[0]), parts(sides[1])


class Kind(Struct, frozen=True):
    """One kind of parts of a machine."""

    name: str
    """Before the name of a part that came or went: ``disk``."""
    plural: str
    """Of all of them, where one side lists none: ``disks``."""
    prefix: str = ""
    """Before the name of a part in front of its facts."""
    on_every_machine: bool = False
    """Whether a machine without any has not been read: which of them came is not known then."""


def compare_parts(
    kind: Kind,
    sides: tuple[Mapping[str, T], Mapping[str, T]],
    facts: Callable[[T], Facts],
    identity: Callable[[T], str | None] = lambda _: None,
) -> Iterator[ComparedFact]:
    """Facts of each part, and parts that came or went, under the name that a part has now."""
    before, after = sides
    if kind.on_every_machine and not (before and after):
        yield ComparedFact(kind.plural, listed_text(before), listed_text(after))
        return
    was = former_names(before, after, identity)
    for name, part in after.items():
        former = was.get(name)
        if former is None:
            yield ComparedFact(f"{kind.name} {name}", MISSING, PRESENT)
        else:
            yield from pairs(facts(before[former]), facts(part), f"{kind.prefix}{name}")
    kept = set(was.values())
    for name in before:
        if name not in kept:
            yield ComparedFact(f"{kind.name} {name}", PRESENT, MISSING)
