"""Memory modules as a section: slots, sizes, speeds and channels, as in dmidecode, and errors that EDAC counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sizeup.discovery.findings.dimms import channel_sizes, speed_text
from sizeup.discovery.numa import SMBIOS_TABLE
from sizeup.model.machine import DimmSlot, EdacController, Machine
from sizeup.text import if_known, plural
from sizeup.units import format_bytes
from sizeup.views.machine.section import UNKNOWN, Section, size_or_unknown, table_section

_ROWS = 32
"""More slots than these are left to the JSON."""


def memory_modules_section(machine: Machine) -> Section | None:
    """Return the modules; None where neither the firmware nor a driver lists any, and nothing was refused."""
    slots, controllers = machine.dimm_slots, machine.memory_controllers
    refused = next((gap.reason for gap in machine.gaps if gap.subject == SMBIOS_TABLE), None)
    if not slots and not controllers and refused is None:
        return None
    facts: list[tuple[str, str]] = []
    if slots:
        facts += _slot_facts(slots)
    else:
        why = "the firmware lists none" if refused is None else f"{SMBIOS_TABLE}: {refused}"
        facts.append(("slots", f"{UNKNOWN}: {why}"))
    facts += _edac_facts(machine)
    if channels := channel_sizes(machine):
        counts = Counter(channels.values()).most_common()
        texts = (f"{count} × {format_bytes(size) if size else 'empty'}" for size, count in counts)
        facts.append(("channels", f"{plural(len(channels), 'channel')}: {', '.join(texts)}"))
    return table_section("Memory modules", _rows(slots), numeric=("size", "MT/s", "rated"), facts=tuple(facts))


def _slot_facts(slots: Sequence[DimmSlot]) -> list[tuple[str, str]]:
    populated = [slot for slot in slots if slot.populated]
    unknown = sum(slot.populated is None for slot in slots)
    sizes = Counter((slot.size_bytes or 0, slot.kind or "type unknown") for slot in populated)
    speeds = Counter(_speeds(slot) for slot in populated)
    return [
        (
            "slots",
            f"{len(populated)} of {len(slots)} populated" + (f", {unknown} of unknown size" if unknown else ""),
        ),
        (
            "modules",
            ", ".join(f"{count} × {format_bytes(size)} {kind}" for (size, kind), count in sizes.items()) or "-",
        ),
        ("speed", ", ".join(speeds) or "-"),
    ]


def _speeds(slot: DimmSlot) -> str:
    configured, rated = slot.configured_transfers_per_second, slot.rated_transfers_per_second
    if configured is None:
        return f"configured speed unknown{'' if rated is None else f' (rated {speed_text(rated)})'}"
    return speed_text(configured) + (" (rated speed unknown)" if rated is None else f" (rated {speed_text(rated)})")


def _edac_facts(machine: Machine) -> list[tuple[str, str]]:
    facts = []
    controllers = machine.memory_controllers
    modules = [module for controller in controllers for module in controller.dimms]
    if modules and not machine.dimm_slots:
        counts = Counter((module.size_bytes, module.kind or "type unknown") for module in modules)
        texts = [f"{count} × {size_or_unknown(size)} {kind}" for (size, kind), count in counts.items()]
        facts.append(("modules", f"{', '.join(texts)} (EDAC, which lists no empty slot and no speed)"))
    if controllers:
        facts.append(("errors", _error_text(controllers)))
    return facts


def _error_text(controllers: Sequence[EdacController]) -> str:
    corrected = [each.correctable_errors for each in controllers]
    lost = [each.uncorrectable_errors for each in controllers]
    return (
        f"{_total(corrected)} correctable, {_total(lost)} uncorrectable "
        f"({plural(len(controllers), 'memory controller')})"
    )


def _total(counts: Sequence[int | None]) -> str:
    return UNKNOWN if None in counts else str(sum(count or 0 for count in counts))


def _rows(slots: Sequence[DimmSlot]) -> list[dict[str, str | int | None]]:
    """Return a row for each slot that is not known to be empty; nothing for too many."""
    populated = [slot for slot in slots if slot.populated is not False]
    return [
        {
            "slot": slot.name,
            "bank": slot.bank,
            "size": size_or_unknown(slot.size_bytes),
            "type": slot.kind,
            "MT/s": if_known(slot.configured_transfers_per_second, _megatransfers),
            "rated": if_known(slot.rated_transfers_per_second, _megatransfers),
            "part": " ".join(filter(None, (slot.manufacturer, slot.part_number))),
        }
        for slot in populated
        if len(populated) <= _ROWS
    ]


def _megatransfers(transfers_per_second: int) -> str:
    return f"{transfers_per_second // 1_000_000:,}"
