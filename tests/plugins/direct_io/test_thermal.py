"""Heat that slowed something is told with figures; a machine that shows none says so."""

from pathlib import Path

import pytest

from sizeup_direct_io.window_counters import (
    Temperature,
    ThermalState,
    read_thermal_state,
    thermal_caveats,
    thermal_summary,
)

COOL = ThermalState({"cpu0": 5, "cpu1": 0}, {"nvme0": Temperature(41.0, 80.0)})


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    for cpu, (core, package) in {"cpu0": (3, 2), "cpu1": (0, 2)}.items():
        folder = tmp_path / "devices/system/cpu" / cpu / "thermal_throttle"
        folder.mkdir(parents=True)
        (folder / "core_throttle_count").write_text(f"{core}\n")
        (folder / "package_throttle_count").write_text(f"{package}\n")
    (tmp_path / "devices/system/cpu/cpufreq").mkdir()
    for number, (name, device, values) in enumerate(
        [
            ("nvme", "nvme0", {"temp1_input": 41850, "temp1_max": 80850, "temp1_crit": 84850}),
            ("nvme", "nvme1", {"temp1_input": 39850, "temp1_max": 65261850, "temp1_crit": 85850}),
            ("coretemp", "coretemp.0", {"temp1_input": 55000}),
            ("drivetemp", "sda", {"temp1_input": 30000, "temp1_max": 150000, "temp1_crit": 149000}),
            ("k10temp", "sdb", {"temp1_input": 30000, "temp1_max": 1000, "temp1_crit": 2000}),
            ("acpitz", "thermal", {"temp1_input": 20000}),
        ]
    ):
        folder = tmp_path / f"class/hwmon/hwmon{number}"
        folder.mkdir(parents=True)
        (folder / "name").write_text(f"{name}\n")
        (tmp_path / "devices" / device).mkdir()
        (folder / "device").symlink_to(tmp_path / "devices" / device)
        for file, value in values.items():
            (folder / file).write_text(f"{value}\n")
    return tmp_path


def test_counters_and_sensors_are_read_and_limits_of_nonsense_passed_over(sysfs: Path) -> None:
    assert read_thermal_state(str(sysfs)) == ThermalState(
        {"cpu0": 5, "cpu1": 2},
        {"nvme0": Temperature(41.85, 80.85), "nvme1": Temperature(39.85, 85.85), "coretemp.0": Temperature(55.0, None)}
        | {"sda": Temperature(30.0, 149.0), "sdb": Temperature(30.0, 2.0)},
    )


def test_a_system_without_any_of_it_says_so(tmp_path: Path) -> None:
    assert read_thermal_state(str(tmp_path)) == ThermalState({}, {})
    assert thermal_caveats(ThermalState({}, {}), ThermalState({}, {})) == ()
    assert (
        thermal_summary(ThermalState({}, {}), ThermalState({}, {}))
        == "no temperature sensors or throttle counters available"
    )


def test_processors_slowed_by_heat_and_drives_at_their_limit_are_told_with_figures() -> None:
    hot = ThermalState({"cpu0": 17, "cpu1": 0, "cpu2": 3}, {"nvme0": Temperature(83.0, 80.0)})

    assert thermal_caveats(COOL, COOL) == ()
    assert thermal_caveats(COOL, hot) == (
        "thermal throttling of 2 of 3 CPUs, up to 12 times",
        "nvme0 reached its limit of 80 C: 41 C before, 83 C after",
    )
    assert thermal_summary(COOL, hot) == "3 throttle counters; hottest sensor nvme0: 41 C before, 83 C after"
    sensors = ThermalState({}, {"nvme0": Temperature(41.0, 80.0), "nvme1": Temperature(40.0, 80.0)})
    assert thermal_summary(sensors, sensors) == "hottest sensor nvme0: 41 C before, 41 C after"
    assert thermal_summary(sensors, ThermalState({"cpu0": 1}, {})) == "1 throttle counters"
    at_limit = ThermalState({}, {"nvme0": Temperature(80.0, 80.0), "nvme1": Temperature(79.9, 80.0)})
    assert thermal_caveats(sensors, at_limit) == ("nvme0 reached its limit of 80 C: 41 C before, 80 C after",)
