"""What drifted on a machine since a baseline: settings, disks, memory modules, firmware, kernel and parts.

Serial numbers and host names are not compared, so that none is shown; names of disks are matched by their persistent
identity where both sides know it. What only one side knows is not drift: it cannot be decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from msgspec import Struct

from sizeup.compare.machines import configuration
from sizeup.discovery.setting_facts import DISK_SETTINGS, SETTING_FACTS, disk_setting
from sizeup.model.dimms import DimmSlot
from sizeup.model.machine import Machine
from sizeup.model.storage import BlockDevice, BlockKind
from sizeup.units import format_bytes

NONE = "none"
MISSING, PRESENT, NOT_LISTED = "missing", "present", "not listed"
_NO_DISKS = frozenset({BlockKind.OPTICAL, BlockKind.LOOP, BlockKind.RAM, BlockKind.NBD, BlockKind.PARTITION})
_IN_PARTS = frozenset({"mitigations"})
"""Facts of which each part is compared."""

Facts = Mapping[str, str | None]


class ComparedFact(Struct, frozen=True):
    """One fact on both sides; None where it is unknown."""

    fact: str
    baseline: str | None
    now: str | None


class Drift(Struct, frozen=True):
    """The result of a comparison with a baseline."""

    compared: int
    """Facts that both sides know."""
    drifted: tuple[ComparedFact, ...] = ()
    undecided: tuple[ComparedFact, ...] = ()
    """Facts that only one side knows."""
    other_host: bool = False
    """The baseline is of a host of another name."""


def drift(baseline: Machine, now: Machine) -> Drift:
    """Return what differs between the machine as it was and as it is."""
    facts = [
        *_pairs(_settings(baseline), _settings(now)),
        *_disks(baseline, now),
        *_modules(baseline.dimm_slots, now.dimm_slots),
        *_vulnerabilities(baseline, now),
        *_pairs(_configuration(baseline), _configuration(now)),
    ]
    known = [one for one in facts if one.baseline is not None and one.now is not None]
    before, after = baseline.platform.hostname, now.platform.hostname
    return Drift(
        compared=len(known),
        drifted=tuple(one for one in known if one.baseline != one.now),
        undecided=tuple(one for one in facts if (one.baseline is None) is not (one.now is None)),
        other_host=None not in (before, after) and before != after,
    )


def _pairs(baseline: Facts, now: Facts) -> Iterator[ComparedFact]:
    for fact in dict.fromkeys((*baseline, *now)):
        yield ComparedFact(fact, baseline.get(fact), now.get(fact))


def _settings(machine: Machine) -> Facts:
    return {fact.name: fact.value(machine) for fact in SETTING_FACTS if fact.name not in _IN_PARTS}


def _configuration(machine: Machine) -> Facts:
    """A fact without a value is none of its kind, such as no disk."""
    facts = {fact: NONE if value == "" else value for fact, value in configuration(machine).items()}
    return {**facts, "firmware": machine.platform.firmware}


def _whole_disks(machine: Machine) -> dict[str, BlockDevice]:
    return {device.name: device for device in machine.block_devices if device.kind not in _NO_DISKS}


def _disks(baseline: Machine, now: Machine) -> Iterator[ComparedFact]:
    """Settings of each disk, and disks that came or went, under the name that a disk has now."""
    before, after = _whole_disks(baseline), _whole_disks(now)
    was = _former_names(before, after)
    for name, device in after.items():
        former = was.get(name)
        if former is None:
            yield ComparedFact(f"disk {name}", MISSING, PRESENT)
            continue
        for setting in DISK_SETTINGS:
            yield ComparedFact(
                f"{name} {setting}", disk_setting(before[former], setting), disk_setting(device, setting)
            )
    kept = set(was.values())
    for name in before:
        if name not in kept:
            yield ComparedFact(f"disk {name}", PRESENT, MISSING)


def _former_names(before: Mapping[str, BlockDevice], after: Mapping[str, BlockDevice]) -> dict[str, str]:
    """Which disk of the baseline each is: by its WWN where both sides know it once, else by its name."""
    old, new = _by_wwn(before), _by_wwn(after)
    was = {new[wwn]: old[wwn] for wwn in new.keys() & old.keys()}
    taken = set(was.values())
    return {**{name: name for name in after if name in before and name not in was and name not in taken}, **was}


def _by_wwn(disks: Mapping[str, BlockDevice]) -> dict[str, str]:
    counts = Counter(device.wwn for device in disks.values())
    return {device.wwn: name for name, device in disks.items() if device.wwn and counts[device.wwn] == 1}


def _modules(baseline: tuple[DimmSlot, ...], now: tuple[DimmSlot, ...]) -> Iterator[ComparedFact]:
    """Each slot; where one side lists none, nothing is known of all of them."""
    before, after = _slots(baseline), _slots(now)
    if not before or not after:
        yield ComparedFact("memory modules", _summary(baseline), _summary(now))
        return
    for slot in dict.fromkeys((*before, *after)):
        yield ComparedFact(f"memory slot {slot}", before.get(slot, NOT_LISTED), after.get(slot, NOT_LISTED))


def _summary(slots: tuple[DimmSlot, ...]) -> str | None:
    return f"{sum(bool(slot.populated) for slot in slots)} of {len(slots)} slots populated" if slots else None


def _slots(slots: tuple[DimmSlot, ...]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    names = Counter(_slot_name(slot) for slot in slots)
    seen: Counter[str] = Counter()
    for slot in slots:
        name = _slot_name(slot)
        seen[name] += 1
        found[f"{name} #{seen[name]}" if names[name] > 1 else name] = _slot_text(slot)
    return found


def _slot_name(slot: DimmSlot) -> str:
    return " ".join(filter(None, (slot.bank, slot.name))) or "without a name"


def _slot_text(slot: DimmSlot) -> str | None:
    if slot.size_bytes is None:
        return None
    if not slot.size_bytes:
        return "empty"
    speed = slot.configured_transfers_per_second
    return " ".join(
        filter(
            None,
            (
                format_bytes(slot.size_bytes),
                slot.kind,
                slot.part_number,
                None if speed is None else f"at {speed // 1_000_000} MT/s",
            ),
        )
    )


def _vulnerabilities(baseline: Machine, now: Machine) -> Iterator[ComparedFact]:
    before = {each.name: each.status for each in baseline.settings.vulnerabilities}
    after = {each.name: each.status for each in now.settings.vulnerabilities}
    if not before or not after:
        yield ComparedFact("mitigations", _listed(before), _listed(after))
        return
    for name in dict.fromkeys((*before, *after)):
        yield ComparedFact(f"mitigation {name}", before.get(name, NOT_LISTED), after.get(name, NOT_LISTED))


def _listed(statuses: Mapping[str, str]) -> str | None:
    return f"{len(statuses)} listed" if statuses else None
