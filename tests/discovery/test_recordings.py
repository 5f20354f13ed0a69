"""Recorded machines: what their publishers say, and that none of them is too much."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from oracles import comparison
from recordings import expectations, recorded, recorded_machine
from sizeup.discovery.machine import discover
from sizeup.model.machine import Machine


@dataclass(frozen=True)
class KnownDifference:
    """Where we say otherwise on purpose."""

    cause: str
    ours: dict[str, Any]
    """Our value by field; every field that differs stands here."""


_NO_PROCESSORS = {"sockets": 0, "cores": 0, "threads": 0, "nodes": {}}

DELIBERATE = {
    "hwloc/allowed-test1": KnownDifference(
        "the recording has cgroup files alone; the counts come from an XML file beside it",
        {"threads": 0, "cpus": [], "nodes": {}, "memory": {}, "cores": 0},
    ),
    "hwloc/40intel64-4n10c+pci-conflicts": KnownDifference(
        "two masks were falsified to contradict the lists beside them; hwloc reads masks and drops the fourth "
        "socket and third cache, the lists are whole",
        {
            "sockets": 4,
            "socket_ids": [0, 1, 2, 3],
            "caches": {"L1d": {"32768": 40}, "L1i": {"32768": 40}, "L2": {"262144": 40}, "L3": {"31457280": 4}},
        },
    ),
    "hwloc/8em64t-2s2ca2c-buggynuma": KnownDifference(
        "all eight nodes claim all CPUs: hwloc merges them, we list them and warn",
        {
            "nodes": {str(node): "0-7" for node in range(8)},
            "memory": {str(node): "2047MiB" if node == 1 else "2048MiB" for node in range(8)},
        },
    ),
    "hwloc/nvidiagpunumanodes": KnownDifference(
        "cgroup version 1: hwloc reads cpuset.cpus, the kernel schedules by cpuset.effective_cpus and _mems",
        {
            "sockets": 1,
            "socket_ids": [0],
            "threads": 16,
            "cpus": list(range(16)),
            "nodes": {"0": "0-15"},
            "memory": {"0": "124GiB"},
            "cores": 4,
            "caches": {"L1d": {"32768": 4}, "L1i": {"32768": 4}, "L2": {"524288": 2}, "L3": {"10485760": 2}},
        },
    ),
    "libvirt-caps/x86_64-resctrl-cdp": KnownDifference(
        "sys/devices is empty: the processors were a link that was not recorded", _NO_PROCESSORS
    ),
    "libvirt-caps/x86_64-resctrl-cmt": KnownDifference(
        "sys/devices is empty: the processors were a link that was not recorded", _NO_PROCESSORS
    ),
    "pcp/fchost-root-001": KnownDifference(
        "PCP's in_bytes are the tx_frames of these hosts; received bytes are rx_words times four",
        {"in_bytes": {"host0": 0x8B0848 * 4, "host1": 0x848 * 4}},
    ),
    **{
        f"util-linux-lscpu/{name}": KnownDifference(
            "physical_package_id of every CPU is -1, the kernel's word for unknown; lscpu counts its sets of siblings",
            {"sockets": 0},
        )
        for name in ("ppc64-POWER7-64cpu", "rv64-linux", "s390-kvm", "sparc64")
    },
}

BORROWED = {
    "libvirt-caps/aarch64-basic-clusters": "libvirt-hostcpu/aarch64-with-clusters",
    "libvirt-caps/x86_64-basic-dies": "libvirt-hostcpu/x86_64-with-die",
}
"""Recordings whose cpu and node directories are links into another one; the test puts the two together."""

NOTHING_STATED = {"util-linux-chcpu/x86_64-i7-11th-2_8GHz"}
"""Its publisher says itself that it has no expectation of the topology."""


def _machine(name: str, scratch: Path) -> Machine:
    if name not in BORROWED:
        return recorded_machine(name)
    whole = scratch / "root"
    system = Path(recorded(BORROWED[name])) / "sys/devices/system"
    shutil.copytree(system, whole / "sys/devices/system", symlinks=True)
    return discover(str(whole))


WITH_EXPECTATION = [name for name, recording in expectations().items() if recording["expected"]]


@pytest.mark.parametrize("name", WITH_EXPECTATION or [pytest.param("", marks=pytest.mark.skip("no recordings"))])
def test_every_published_fact_is_ours_or_a_deliberate_difference(name: str, tmp_path: Path) -> None:
    machine = _machine(name, tmp_path)

    compared = 0
    for entry in expectations()[name]["expected"]:
        facts = comparison(machine, entry)
        compared += len(facts)
        deliberate = DELIBERATE[name].ours if name in DELIBERATE else {}
        wanted = {field: deliberate.get(field, theirs) for field, (_, theirs) in facts.items()}
        assert {field: ours for field, (ours, _) in facts.items()} == wanted
        assert all(facts[field][0] != facts[field][1] for field in deliberate if field in facts)
    assert (compared == 0) == (name in NOTHING_STATED)


def test_differences_are_few_and_each_has_its_cause() -> None:
    assert len({difference.cause for difference in DELIBERATE.values()}) <= 8
    assert all(difference.cause and difference.ours for difference in DELIBERATE.values())


def test_all_eighty_recordings_with_an_expectation_are_compared() -> None:
    if not expectations():
        pytest.skip("the recorded machines are not here: set SIZEUP_CORPUS to their folder")
    assert len(WITH_EXPECTATION) == 80


@pytest.mark.parametrize("name", list(expectations()) or [pytest.param("", marks=pytest.mark.skip("no recordings"))])
def test_no_recording_is_too_much_and_each_machine_keeps_in_a_session(name: str) -> None:
    machine = recorded_machine(name)

    assert msgspec.convert(msgspec.to_builtins(machine), Machine) == machine
    findings = [(finding.id, finding.subjects) for finding in machine.findings]
    assert len(findings) == len(set(findings))
