"""Findings about memory modules: channels, speed and sizes, but not those that a guest is shown; errors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from sizeup.discovery.findings.catalog import finding
from sizeup.model.finding import Finding
from sizeup.model.machine import DimmSlot, EdacController, EdacDimm, Machine
from sizeup.procfs.smbios import NON_VOLATILE
from sizeup.text import plural
from sizeup.units import as_percent, format_bytes

_EDAC_CHANNEL = re.compile(r"\bchannel (\d{1,3})\b")
_MODULES_COMMAND = "dmidecode --type memory"
_EDAC = "/sys/devices/system/edac/mc/mc*"
_EDAC_NON_VOLATILE = "Non-volatile-RAM"
_LINES = 10
_DAY_SECONDS = 86400


def _modules(machine: Machine) -> list[DimmSlot]:
    """Slots that persistent memory does not occupy: it is no peer of the DRAM beside it."""
    return [slot for slot in machine.dimm_slots if slot.kind != NON_VOLATILE]


def speed_text(transfers_per_second: int) -> str:
    """Return ``2,933 MT/s``."""
    return f"{transfers_per_second // 1_000_000:,} MT/s"


def _listed(lines: Sequence[str]) -> tuple[str, ...]:
    more = len(lines) - _LINES
    return (*lines[:_LINES], f"and {more} more") if more > 0 else tuple(lines)


def channel_sizes(machine: Machine) -> dict[str, int]:
    """Return the memory of each channel, those without any included if the firmware lists them.

    Empty where a slot does not name its channel or its size is unknown: the others are not the machine.
    """
    slots = _modules(machine)
    sizes: dict[str, int] = {}
    for slot in slots:
        if slot.channel is None or slot.size_bytes is None:
            return _edac_channels(machine.memory_controllers)
        sizes[slot.channel] = sizes.get(slot.channel, 0) + slot.size_bytes
    return sizes or _edac_channels(machine.memory_controllers)


def _edac_modules(controllers: Sequence[EdacController]) -> list[EdacDimm]:
    """Modules without persistent memory, as for the slots."""
    return [each for controller in controllers for each in controller.dimms if each.kind != _EDAC_NON_VOLATILE]


def _edac_channels(controllers: Sequence[EdacController]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for controller in controllers:
        for module in _edac_modules((controller,)):
            match = _EDAC_CHANNEL.search(module.location or "")
            if match is None or module.size_bytes is None:
                return {}
            name = f"{controller.name} channel {match[1]}"
            sizes[name] = sizes.get(name, 0) + module.size_bytes
    return sizes


def unbalanced_channels(machine: Machine) -> Iterator[Finding]:
    """Channels of one socket or controller with different amounts of memory."""
    if machine.platform.is_guest:
        return
    sizes = channel_sizes(machine)
    groups: dict[str, list[str]] = {}
    for channel in sizes:
        # Channels of one socket or controller are compared: what their names begin with.
        groups.setdefault(re.sub(r"chan.*$", "", channel, flags=re.IGNORECASE), []).append(channel)
    uneven = [channel for group in groups.values() if len({sizes[each] for each in group}) > 1 for channel in group]
    if uneven:
        yield finding(
            "memory.unbalanced-channels",
            evidence=_listed(
                [f"{channel}: {format_bytes(sizes[channel]) if sizes[channel] else 'empty'}" for channel in uneven]
            ),
        )


def reduced_speed(machine: Machine) -> Iterator[Finding]:
    """Modules that the firmware runs below the speed that they are rated for."""
    if machine.platform.is_guest:
        return
    slower: dict[tuple[int, int], list[str]] = {}
    for slot in _modules(machine):
        configured, rated = slot.configured_transfers_per_second, slot.rated_transfers_per_second
        if configured is not None and rated is not None and configured < rated:
            slower.setdefault((configured, rated), []).append(slot.name or "slot without a name")
    if slower:
        configured, rated = min(slower, key=lambda pair: pair[0] / pair[1])
        yield finding(
            "memory.reduced-speed",
            f"Memory runs at {speed_text(configured)}, its modules are rated for {speed_text(rated)}",
            _listed(
                [
                    f"{plural(len(names), 'module')} at {speed_text(speeds[0])} of {speed_text(speeds[1])}: "
                    f"{', '.join(names[:_LINES])}{', ...' if len(names) > _LINES else ''}"
                    for speeds, names in slower.items()
                ]
            ),
            consequence=(
                f"At this speed, memory has at most {as_percent(configured / rated)} of the bandwidth that its modules "
                "are rated for."
            ),
        )


def mixed_sizes(machine: Machine) -> Iterator[Finding]:
    """Modules of several sizes."""
    if machine.platform.is_guest:
        return
    sizes = Counter(slot.size_bytes for slot in _modules(machine) if slot.size_bytes)
    command = _MODULES_COMMAND
    if not sizes:
        modules = _edac_modules(machine.memory_controllers)
        sizes = Counter(each.size_bytes for each in modules if each.size_bytes and each.name.startswith("dimm"))
        command = f"grep . {_EDAC}/dimm*/size"
    if len(sizes) > 1:
        counts = [f"{count} × {format_bytes(size or 0)}" for size, count in sorted(sizes.items(), key=str)]
        yield finding(
            "memory.mixed-modules",
            f"Memory modules have {len(sizes)} different sizes",
            (f"modules: {', '.join(counts)}",),
            command=command,
        )


def errors(machine: Machine) -> Iterator[Finding]:
    """Errors that the memory controllers counted."""
    for kind in ("uncorrectable", "correctable"):
        total, lines = 0, []
        for controller in machine.memory_controllers:
            count = getattr(controller, f"{kind}_errors")
            if not count:
                continue
            total += count
            since, seconds = "since an unknown time", controller.seconds_since_reset
            if seconds is not None:
                days = seconds / _DAY_SECONDS
                since = f"in {days:,.0f} days" if days >= 2 else f"in {seconds / 3600:.1f} hours"
            lines.append(f"{controller.name}: {count} {since}")
            for module in controller.dimms:
                label = module.label or module.location
                if errors := getattr(module, f"{kind}_errors"):
                    lines.append(f"{controller.name} {module.name}{f' ({label})' if label else ''}: {errors}")
        if total:
            yield finding(
                "memory.uncorrectable-errors" if kind == "uncorrectable" else "memory.correctable-errors",
                f"Memory had {plural(total, f'{kind} error')}",
                _listed(lines),
            )
