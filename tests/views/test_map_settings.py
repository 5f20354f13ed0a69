"""The rows that a map leaves free: they hold the settings, as many as fit, and no other row moves for them."""

import pytest
from msgspec.structs import replace

from consoles import machine
from sizeup.model.machine import Machine, OsSettings, Platform
from sizeup.views.machine.facts import setting_texts
from sizeup.views.map.cells import Row, width_of
from sizeup.views.map.map import MapMaker
from sizeup.views.map.sections import settings_section

NAMES = ("vm.swappiness", "vm.dirty_ratio", "vm.dirty_background_ratio", "vm.overcommit_memory", "vm.max_map_count")


def tuned() -> Machine:
    settings = OsSettings(
        swappiness=60, dirty_ratio=20, dirty_background_ratio=10, overcommit_memory=0, max_map_count=65530
    )
    return machine(1, 2, 1, settings=settings, platform=Platform(hostname="db01"))


def text(rows: list[Row]) -> list[str]:
    return ["".join(cell.text for cell in row).rstrip() for row in rows]


def test_where_rows_are_few_settings_stand_side_by_side() -> None:
    drawn = text(settings_section(setting_texts(tuned()), 82, 3)[2])

    assert len(drawn) <= 3
    assert "60" in next(line for line in drawn if line.startswith("vm.swappiness"))
    assert all(name in "\n".join(drawn) for name in NAMES)


@pytest.mark.parametrize("width", [30, 40, 82, 146])
@pytest.mark.parametrize("rows", [0, 3, 4, 6, 10, 30])
def test_settings_never_take_more_than_the_room(width: int, rows: int) -> None:
    drawn = settings_section(setting_texts(tuned()), width, rows)[2]

    assert len(drawn) <= rows
    assert all(width_of(row) <= width for row in drawn)


def test_settings_fill_what_a_map_leaves_and_move_nothing() -> None:
    found, plain = tuned(), machine(1, 2, 1, platform=Platform(hostname="db01"))
    with_settings = MapMaker(found).draw(found.nodes, {}, 82, 35)
    without = MapMaker(plain).draw(plain.nodes, {}, 82, 35)

    assert with_settings.rows[: len(without.rows) - 1] == without.rows[:-1]
    assert text([with_settings.rows[len(without.rows) - 1]])[0].startswith("│ ─ Settings that matter for a database")
    assert len(with_settings.rows) <= 35


def test_nothing_stands_there_where_no_setting_is_known() -> None:
    assert settings_section(setting_texts(replace(tuned(), settings=OsSettings())), 82, 20)[2] == []


@pytest.mark.parametrize(("width", "rows", "advised"), [(82, 20, True), (82, 3, False), (40, 20, False)])
def test_beside_one_column_of_settings_stands_what_vendors_recommend(width: int, rows: int, *, advised: bool) -> None:
    _, basis, drawn = settings_section(setting_texts(tuned()), width, rows)
    swappiness = next(line for line in text(drawn) if line.startswith("vm.swappiness"))

    assert ("1 (SQL Server)" in swappiness) is advised
    assert ["".join(cell.text for cell in basis)] == ["recommended by vendors" if advised else ""]
