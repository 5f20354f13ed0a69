"""What drifted on a machine since a baseline: settings, memory modules, firmware, kernel, and the facts of each part.

Serial numbers and host names are not compared, so that none is shown; parts are matched by their persistent identity
where both sides know it. What only one side knows is not drift: it cannot be decided. What changes by itself is left
out: memory in use, counters, temperatures, and the CPUs that interrupts go to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from sizeup.compare.machines import configuration
from sizeup.compare.parts import MODULES, ComparedFact, Facts, listed_text, pairs, part_facts
from sizeup.discovery.setting_facts import setting_facts
from sizeup.model.machine import DimmSlot, Machine
from sizeup.text import if_known, switch_text
from sizeup.units import format_bytes

NONE, NOT_LISTED = "none", "not listed"
_IN_PARTS = frozenset({"mitigations"})
"""Facts of which each part is compared."""


class Drift(Struct, frozen=True):
    """The result of a comparison with a baseline."""

    compared: int
    """Facts that both sides know."""
    drifted: tuple[ComparedFact, ...] = ()
    undecided: tuple[ComparedFact, ...] = ()
    """Facts that only one side knows."""
    other_machine: str = ""
    """What shows that the baseline is of another machine; empty where nothing does."""


def drift(baseline: Machine, now: Machine) -> Drift:
    """Return what differs between the machine as it was and as it is."""
    populated, in_use = (
        f"{sum(bool(slot.populated) for slot in slots)} of {len(slots)} slots populated" if slots else None
        for slots in (baseline.dimm_slots, now.dimm_slots)
    )
    old, new = (
        {name: value for name, value in setting_facts(side).items() if name not in _IN_PARTS}
        for side in (baseline, now)
    )
    was, found = ({one.name: one.status for one in side.settings.vulnerabilities} for side in (baseline, now))
    facts = [
        *pairs(old, new),
        *part_facts(baseline, now),
        *_listed("memory slot", _slots(baseline), _slots(now), ComparedFact("memory modules", populated, in_use)),
        *MODULES.compared(MODULES.parts(baseline), MODULES.parts(now)),
        *_listed("mitigation", was, found, ComparedFact("mitigations", listed_text(was), listed_text(found))),
        *pairs(_configuration(baseline), _configuration(now)),
    ]
    known = [one for one in facts if one.baseline is not None and one.now is not None]
    return Drift(
        compared=len(known),
        drifted=tuple(one for one in known if one.baseline != one.now),
        undecided=tuple(one for one in facts if (one.baseline is None) is not (one.now is None)),
        other_machine=_other_machine(baseline, now),
    )


def _other_machine(baseline: Machine, now: Machine) -> str:
    """Return the first fact by which the two are different machines: the host name, else what is never exchanged.

    With both names, nothing else counts: a machine may get another processor, and its name is not shown.
    """
    before, after = baseline.platform.hostname, now.platform.hostname
    if None not in (before, after):
        return "another host name" if before != after else ""
    kept = (
        ("architecture", baseline.platform.architecture, now.platform.architecture),
        ("product", baseline.platform.model, now.platform.model),
        ("CPU model", baseline.cpu_model, now.cpu_model),
    )
    return next((f"{fact} {was}, now {found}" for fact, was, found in kept if was and found and was != found), "")


def _configuration(machine: Machine) -> Facts:
    """A fact without a value is none of its kind, such as no contradiction."""
    facts = {fact: NONE if value == "" else value for fact, value in configuration(machine).items()}
    facts["firmware"] = machine.platform.firmware
    if (found := machine.platform.partition) is not None:
        facts |= {
            "LPAR processors": switch_text(found.shared, ("shared", "dedicated")),
            "LPAR cap": switch_text(found.capped, ("capped", "uncapped")),
            "entitled cores": if_known(found.entitled_cores, "{:g}".format),
            "maximum entitled cores": if_known(found.max_entitled_cores, "{:g}".format),
            "active cores of the server": if_known(found.server_cores),
        }
    return facts


def _listed(part: str, before: Facts, after: Facts, whole: ComparedFact) -> Iterable[ComparedFact]:
    """Each entry of a list; the list as a ``whole`` where one side has none, and nothing is known of its entries."""
    if not before or not after:
        return [whole]
    names = dict.fromkeys((*before, *after))
    return [ComparedFact(f"{part} {name}", before.get(name, NOT_LISTED), after.get(name, NOT_LISTED)) for name in names]


def _slots(machine: Machine) -> Facts:
    found: dict[str, str | None] = {}
    names = Counter(map(_slot_name, machine.dimm_slots))
    seen: Counter[str] = Counter()
    for slot in machine.dimm_slots:
        name = _slot_name(slot)
        seen[name] += 1
        text = None if slot.size_bytes is None else "empty"
        if slot.size_bytes:
            speed = slot.configured_transfers_per_second
            at = None if speed is None else f"at {speed // 1_000_000} MT/s"
            text = " ".join(filter(None, (format_bytes(slot.size_bytes), slot.kind, slot.part_number, at)))
        found[f"{name} #{seen[name]}" if names[name] > 1 else name] = text
    return found


def _slot_name(slot: DimmSlot) -> str:
    return " ".join(filter(None, (slot.bank, slot.name))) or "without a name"
