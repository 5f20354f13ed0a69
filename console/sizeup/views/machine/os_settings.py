"""Settings that matter to databases as sections: each with its value and what vendors recommend."""

from __future__ import annotations

from sizeup.charts.table import Column, Table
from sizeup.discovery.findings.settings import recommendations
from sizeup.discovery.setting_facts import DISK_SETTINGS, SETTING_FACTS, disk_setting
from sizeup.model.machine import Machine
from sizeup.model.storage import BlockDevice, BlockKind
from sizeup.text import first_of
from sizeup.views.machine.section import Section

_NO_DISKS = frozenset({BlockKind.OPTICAL, BlockKind.LOOP, BlockKind.RAM, BlockKind.NBD, BlockKind.PARTITION})
_NAMES_SHOWN = 4


def vendors_advice(setting: str) -> str:
    """What vendors recommend, those of one value together: ``1 (Microsoft SQL Server)``."""
    by_value: dict[str, list[str]] = {}
    for one in recommendations().get(setting, ()):
        by_value.setdefault(one.value, []).append(one.source.product)
    return "; ".join(f"{value} ({', '.join(products)})" for value, products in by_value.items())


def settings_section(machine: Machine) -> Section | None:
    """Return the settings whose value is known; None where none is."""
    rows = tuple(
        (fact.name, value, vendors_advice(fact.name) or "-")
        for fact in SETTING_FACTS
        if (value := fact.value(machine)) is not None
    )
    columns = (Column("setting"), Column("value"), Column("recommended by vendors"))
    return Section("Settings", (), Table("", columns, rows)) if rows else None


def disk_settings_section(machine: Machine) -> Section | None:
    """Return the queue settings of the disks, one row for those that are alike."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for device in machine.block_devices:
        values = _values(device)
        if device.kind not in _NO_DISKS and device.size_bytes != 0 and any(value != "-" for value in values):
            alike.setdefault(values, []).append(device.name)
    rows = tuple((first_of(names, _NAMES_SHOWN), *values) for values, names in alike.items())
    columns = (Column("disks"), *(Column(name, numeric=name.endswith("_kb")) for name in DISK_SETTINGS))
    return Section("Disk settings", (), Table("", columns, rows)) if rows else None


def _values(device: BlockDevice) -> tuple[str, ...]:
    return tuple(disk_setting(device, name) or "-" for name in DISK_SETTINGS)
