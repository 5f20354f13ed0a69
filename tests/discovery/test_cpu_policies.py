"""Governor and energy preference of all policies, not of the first CPU alone."""

from pathlib import Path

import pytest

from finding_checks import ids, only
from sizeup.discovery.machine import discover
from sizeup.discovery.os_settings import values_of
from sizeup.model.machine import Machine, OsSettings, Platform
from trees import machine

POLICY = "/sys/devices/system/cpu/cpufreq/policy{}/{} = {}"


def found(root: Path, name: str, *values: str) -> Machine:
    lines = [POLICY.format(number, name, value) for number, value in enumerate(values)]
    return discover(machine(root, "settings", "/sys/devices/system/cpu/cpufreq/boost = 1", *lines))


@pytest.mark.parametrize(
    ("values", "governor"),
    [
        ((), "powersave"),  # of the first CPU, where no policy is listed
        (("performance", "performance"), "performance"),
        (("performance", "powersave", "performance"), "performance (2 of 3 policies), powersave (1 of 3 policies)"),
        (("performance", ""), "performance"),
    ],
)
def test_a_governor_is_that_of_all_policies(tmp_path: Path, values: tuple[str, ...], governor: str) -> None:
    assert found(tmp_path, "scaling_governor", *values).platform.governor == governor


def test_a_preference_of_one_policy_is_found(tmp_path: Path) -> None:
    values = ("performance", "power", "performance")
    settings = found(tmp_path, "energy_performance_preference", *values).settings

    assert values_of(settings.energy_preference) == ("performance", "power")
    finding = only(Machine(settings=settings), "cpu.energy-preference")
    assert finding.remedy.endswith("To undo, write what the command shows now.")


@pytest.mark.parametrize(
    ("governor", "title"),
    [
        ("powersave", "The powersave governor holds the CPUs at their lowest frequency"),
        (
            "performance (2 of 3 policies), powersave (1 of 3 policies)",
            "The powersave governor holds some CPUs at their lowest frequency",
        ),
    ],
)
def test_some_cpus_at_their_lowest_frequency_are_not_all(governor: str, title: str) -> None:
    platform = Platform(governor=governor, frequency_driver="acpi-cpufreq")

    assert only(Machine(platform=platform), "cpu.powersave").title == title


@pytest.mark.parametrize("governor", ["performance", "performance (2 of 3 policies), ondemand (1 of 3 policies)", None])
def test_other_governors_are_no_finding(governor: str | None) -> None:
    platform = Platform(governor=governor, frequency_driver="acpi-cpufreq")

    assert ids(Machine(platform=platform, settings=OsSettings())) == []
