"""Settings that matter to databases as sections: each with its value and what vendors recommend."""

from __future__ import annotations

from sizeup.compare.parts import NO_DISKS
from sizeup.discovery.findings.settings import recommendations
from sizeup.discovery.setting_facts import DISK_SETTINGS, SETTING_FACTS, disk_setting
from sizeup.model.machine import Machine
from sizeup.text import first_of
from sizeup.views.machine.section import Section, table_section

_NAMES_SHOWN = 4


def vendors_advice(setting: str) -> str:
    """What vendors recommend, those of one value together: ``1 (Microsoft SQL Server)``."""
    by_value: dict[str, list[str]] = {}
    for one in recommendations().get(setting, ()):
        by_value.setdefault(one.value, []).append(one.source.product)
    return "; ".join(f"{value} ({', '.join(products)})" for value, products in by_value.items())


def settings_section(machine: Machine) -> Section | None:
    """Return the settings whose value is known; None where none is."""
    rows = [
        {"setting": fact.name, "value": value, "recommended by vendors": vendors_advice(fact.name)}
        for fact in SETTING_FACTS
        if (value := fact.value(machine)) is not None
    ]
    return table_section("Settings", rows)


def disk_settings_section(machine: Machine) -> Section | None:
    """Return the queue settings of the disks, one row for those that are alike."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for device in machine.block_devices:
        values = tuple(disk_setting(device, name) or "-" for name in DISK_SETTINGS)
        if device.kind not in NO_DISKS and device.size_bytes != 0 and any(value != "-" for value in values):
            alike.setdefault(values, []).append(device.name)
    rows = [
        {"disks": first_of(names, _NAMES_SHOWN), **dict(zip(DISK_SETTINGS, values, strict=True))}
        for values, names in alike.items()
    ]
    return table_section("Disk settings", rows, numeric=[name for name in DISK_SETTINGS if name.endswith("_kb")])
