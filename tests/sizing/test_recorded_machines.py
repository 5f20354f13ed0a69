"""Advice on machines that others recorded: the demand, the capacity and what limits it."""

import pytest
from msgspec.structs import replace

from recordings import recorded_machine
from sizeup.errors import UsageError
from sizeup.quantity import Origin, Words
from sizeup.sizing.advise import described, size
from sizeup.sizing.keys import parse_settings


@pytest.mark.parametrize(
    ("name", "demand_mb_s", "capacity_mb_s", "bottleneck"),
    [
        ("hwloc/32intel64-2p8co2t+8ve", 360, 117.7, "port enp96s0f0 (1 Gb/s Ethernet, MTU 1500)"),
        ("hwloc/fakepcilocalities", 1200, 3603.7, "link 0000:43:00.0 (8 GT/s x4)"),
        ("pcp/meminfo-root-008+links", 550, 7207.4, "link 0000:23:00.0 (8 GT/s x8)"),
        ("pcp/scsi-map-root-001+links", 95, 3603.7, "link 0000:04:00.0 (8 GT/s x4)"),
        ("prometheus-procfs/fixtures", 71.25, 3600, "port host11 (4 SAS end devices at their phys' rates)"),
        ("prometheus-node_exporter/fixtures", 95, 2400, "all 2 together, the slowest port host1 (8 Gb/s fc)"),
    ],
)
def test_a_recorded_machine_names_its_bottleneck(
    name: str, demand_mb_s: float, capacity_mb_s: float, bottleneck: str
) -> None:
    sizing = size(described(recorded_machine(name), {"workload.rules_of_thumb": Words("yes", Origin.USER, "--set")}))
    found = {advice.id: advice for advice in sizing.advice}

    demand, capacity = found["io.demand.headline"].quantity, found["io.capacity"]
    assert demand.value == pytest.approx(demand_mb_s * 1e6)
    assert capacity.decision == bottleneck
    assert round(capacity.quantity.value / 1e6, 1) == capacity_mb_s
    share = found["verdict.storage"].quantity
    assert share.value == pytest.approx(demand.value / capacity.quantity.value)


def test_ports_of_a_recorded_machine_that_are_down_add_nothing_and_are_named() -> None:
    capacity = size(described(recorded_machine("pcp/meminfo-root-008+links"), {})).find("io.capacity")

    assert "down, so counted as 0: host7 (Linkdown), host8 (Linkdown)" in capacity.caveats


def test_a_recording_without_links_or_adapters_has_an_unknown_capacity_and_says_what_to_do() -> None:
    sizing = size(described(recorded_machine("hwloc/offline-cpu0-node0"), {}))
    capacity = sizing.find("io.capacity")

    assert (capacity.decision, capacity.quantity, sizing.find("verdict.storage")) == ("unknown", None, None)
    assert capacity.verdict == (
        "Storage capacity: unknown, because no path reports its speed. Measure it with a storage probe"
    )
    assert all(key in " ".join(capacity.working) for key in ("sizeup probe list", "path.stages", "capacity.mb_s"))


def test_offline_cpus_are_a_caveat_about_the_licenses() -> None:
    sizing = size(described(recorded_machine("hwloc/offline-cpu0-node0"), {}))
    advice = sizing.find("license.units")

    assert advice is not None
    assert any("CPUs are offline and may hide cores" in caveat for caveat in advice.caveats)


BARE = {"machine.guest": Words("no", Origin.USER, "--set"), "license.product": Words("ee", Origin.USER, "--set")}


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        # 17 of 24 CPUs online, none of which has two threads: 8.5 and 12 Oracle licenses by a factor of 0.5.
        ("hwloc/offline-cpu0-node0", 9, 12),
        # 160 CPUs are 20 cores of eight threads on POWER8, and the first threads of 8, 14 and 20 of them are online.
        ("libvirt-hostcpu/ppc64-subcores2", 8, 20),
        ("libvirt-hostcpu/ppc64-subcores3", 14, 20),
        ("libvirt-hostcpu/ppc64-subcores1", None, None),
    ],
)
def test_offline_cpus_may_be_cores_that_licenses_count(name: str, low: int | None, high: int | None) -> None:
    """Nor does the word that this is no guest say anything of them."""
    sizing = size(described(recorded_machine(name), BARE))
    units, licenses = sizing.find("license.units"), next(card for card in sizing.cards if card.resource == "license")

    assert (units.quantity.low, units.quantity.high) == (low, high)
    assert licenses.status == ("pass" if low is None else "assumed")
    assert any("CPUs are offline and may hide cores" in caveat for caveat in units.caveats) is (low is not None)


@pytest.mark.parametrize(("smt", "cores"), [(None, 160), ("notsupported", 160), ("off", 80)])
def test_offline_cpus_of_x86_are_at_most_cores_of_their_own(smt: str | None, cores: int) -> None:
    """Where SMT is only switched off each core has two threads, of which one may be offline."""
    machine = recorded_machine("libvirt-hostcpu/ppc64-subcores1")  # 20 of 160 CPUs are online
    machine = replace(machine, cpu_model="Intel(R) Xeon(R)", platform=replace(machine.platform, smt=smt))
    found = described(machine, BARE)["machine.cores"]

    assert (found.value, found.high) == (20, cores)


@pytest.mark.parametrize(("busy", "status"), [("11", "pass"), ("20", "uncertain"), ("25", "fail")])
def test_cores_that_may_be_offline_bound_the_cpu_capacity(busy: str, status: str) -> None:
    """17 cores are online and 24 are there: 11 are 65 %, 20 are 118 or 83 %, 25 are 147 or 104 %."""
    machine = recorded_machine("hwloc/offline-cpu0-node0")
    load = parse_settings([f"workload.cpu_cores={busy}", f"workload.cpu_model={machine.cpu_model}"])
    cpu = next(card for card in size(described(machine, {**BARE, **load})).cards if card.resource == "cpu")

    assert cpu.status == status


def test_a_named_device_is_looked_for_among_those_of_the_machine() -> None:
    machine = recorded_machine("pcp/scsi-map-root-001+links")

    with pytest.raises(UsageError, match=r"db\.device: expected a block device or a directory on one of this machine"):
        size(described(machine, {"db.device": Words("/dev/sdzz", Origin.USER, "--set")}))
