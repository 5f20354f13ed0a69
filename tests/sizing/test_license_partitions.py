"""Partitions of POWER and IBM Z, which are hard or soft by what the user knows of their processors."""

import pytest

from sizeup.model.machine import LogicalPartition, Machine, Platform
from sizeup.model.topology import Core, Package, Pu
from sizeup.sizing.advise import Sizing, described, size
from sizeup.sizing.keys import parse_settings
from sizeup.views.result.license_answer import is_about_licenses
from sizing.license_cases import found, sized

POWER = "POWER9 (architected), altivec supported"


def lpar(
    *settings: str, hypervisor: str | None = "phyp", model: str = POWER, partition: LogicalPartition | None = None
) -> Sizing:
    """Size a partition of sixteen cores with four threads each."""
    machine = Machine(
        packages=(Package(tuple(range(64)), 0),),
        cores=tuple(Core(tuple(range(core * 4, core * 4 + 4)), 0, 0, core) for core in range(16)),
        pus=tuple(Pu(cpu, online=True, allowed=True) for cpu in range(64)),
        platform=Platform(is_guest=True, hypervisor=hypervisor, partition=partition),
        cpu_model=model,
    )
    return size(described(machine, parse_settings(settings)))


def test_an_lpar_is_not_taken_for_soft_and_asks_for_its_kind() -> None:
    sizing = lpar()
    asked = found(sizing, "license.units")

    assert asked.quantity is None
    assert asked.verdict == (
        "License count: unknown until it is known whether this LPAR has processors of its own, a cap or none. Use "
        "--set license.partition=dedicated|capped|uncapped"
    )
    assert "license.partition" in {question.key for question in sizing.questions}
    kinds = ("partition=dedicated", "partition=capped license.pinned_cores=N", "partition=uncapped")
    assert [kind for kind in kinds if not any(kind in line for line in asked.working)] == []


@pytest.mark.parametrize(
    ("settings", "counted"),
    [
        (("license.partition=dedicated",), 16),
        (("license.partition=capped", "license.pinned_cores=4"), 4),
        (("license.partition=uncapped", "license.host_cores=48"), 48),
        (("license.host_cores=48",), 48),
        (("license.scope=soft", "license.host_cores=48"), 48),
        (("license.partition=dedicated", "license.metric=nup", "license.users=10"), 400),
    ],
)
def test_the_kind_of_partition_decides_what_counts(settings: tuple[str, ...], counted: float) -> None:
    quantity = found(lpar(*settings), "license.units").quantity

    assert quantity.value == counted


@pytest.mark.parametrize(("setting", "key"), [("capped", "license.pinned_cores"), ("uncapped", "license.host_cores")])
def test_a_cap_and_the_cores_of_the_hosts_are_asked_for(setting: str, key: str) -> None:
    sizing = lpar(f"license.partition={setting}")

    assert f"--set {key}=N" in found(sizing, "license.units").verdict


def test_a_limited_count_says_that_a_partition_that_moves_has_none() -> None:
    advice = found(lpar("license.partition=dedicated"), "license.units")

    assert any("Live Partition Mobility" in caveat for caveat in advice.caveats)
    assert not any("virtual CPUs of a guest" in caveat for caveat in advice.caveats)
    assert "oracle-partitioning-policy" in {source.id for source in advice.sources}


@pytest.mark.parametrize(
    ("hypervisor", "model", "key"),
    [
        ("phyp", POWER, "license.partition"),
        ("pr/sm", "IBM/S390", "license.partition"),
        (None, POWER, "license.partition"),
        ("kvm", POWER, "license.host_cores"),
        ("kvm", "IBM/S390", "license.host_cores"),
        ("vmware", "Intel(R) Xeon(R) Gold 6338", "license.host_cores"),
        (None, "Intel(R) Xeon(R) Gold 6338", "license.host_cores"),
    ],
)
def test_only_what_may_be_an_lpar_is_asked_for_its_kind(hypervisor: str | None, model: str, key: str) -> None:
    assert f"--set {key}=" in found(lpar(hypervisor=hypervisor, model=model), "license.units").verdict


@pytest.mark.parametrize(
    ("hypervisor", "settings", "said"),
    [
        ("vmware", ("license.host_cores=64",), True),
        ("phyp", ("license.scope=soft", "license.host_cores=64"), True),
        ("phyp", ("license.pack=sap-hana", "machine.memory_gib=64"), True),
        ("phyp", (), False),
    ],
)
def test_a_kind_of_partition_that_changes_nothing_is_named(
    hypervisor: str, settings: tuple[str, ...], said: bool
) -> None:
    sizing = lpar("license.partition=dedicated", *settings, hypervisor=hypervisor)
    caveats = found(sizing, "license.units").caveats

    assert any("license.partition changes nothing here" in caveat for caveat in caveats) is said


@pytest.mark.parametrize(
    ("settings", "counted"),
    [
        (("license.partition=dedicated",), 16),
        (("license.partition=uncapped",), 16),
        (("license.partition=capped", "license.pinned_cores=3"), 3),
        (("license.product=v11_1", "license.partition=capped", "license.pinned_cores=3"), 210),
    ],
)
def test_a_cap_limits_what_other_vendors_count_of_an_lpar(settings: tuple[str, ...], counted: float) -> None:
    quantity = found(lpar("license.pack=db2", *settings), "license.units").quantity

    assert quantity.value == counted


def test_a_typed_server_of_power_is_no_partition() -> None:
    quantity = found(sized("machine.cores=16", "machine.cpu_model=POWER9"), "license.units").quantity

    assert quantity.value == 16


CAPPED = LogicalPartition(shared=True, capped=True, entitled_cores=3.5, max_entitled_cores=8.0, server_cores=48)
UNCAPPED = LogicalPartition(shared=True, capped=False, entitled_cores=3.5, server_cores=48)
OWN = LogicalPartition(shared=False, entitled_cores=16.0, server_cores=48)


@pytest.mark.parametrize(
    ("partition", "settings", "counted"),
    [
        (CAPPED, (), 4),
        (OWN, (), 16),
        (UNCAPPED, ("license.host_cores=96",), 96),
        (CAPPED, ("license.pinned_cores=6",), 6),
        (CAPPED, ("license.partition=dedicated",), 16),
        (CAPPED, ("license.partition=uncapped", "license.host_cores=96"), 96),
        (CAPPED, ("license.pack=db2",), 4),
        (UNCAPPED, ("license.pack=db2",), 16),
        (CAPPED, ("license.scope=hard",), 4),
    ],
)
def test_the_firmware_tells_the_kind_of_partition_and_its_cap(
    partition: LogicalPartition, settings: tuple[str, ...], counted: float
) -> None:
    units = found(lpar(*settings, partition=partition), "license.units")

    assert units.quantity.value == counted


def test_a_cap_names_its_file_and_what_it_can_be_raised_to() -> None:
    units = found(lpar(partition=CAPPED), "license.units")
    pinned = next(entry.quantity for entry in units.inputs if entry.key == "license.pinned_cores")

    assert (pinned.origin.value, pinned.source) == ("detected", "/proc/ppc64/lparcfg")
    raised = "its cap of 3.5 cores can be raised to 8 cores while it runs: licenses must cover what it is raised to"
    assert raised in units.caveats


def test_without_a_cap_the_hosts_are_asked_for_beside_the_cores_of_this_server() -> None:
    units = found(lpar(partition=UNCAPPED), "license.units")

    assert units.quantity is None
    assert units.verdict.endswith("Use --set license.host_cores=N; the server that this LPAR runs on has 48 cores")


def test_what_the_firmware_says_of_a_partition_is_no_question_about_licenses() -> None:
    assert not is_about_licenses(lpar(partition=CAPPED))
    assert not any("changes nothing here" in one for one in found(lpar(partition=CAPPED), "license.units").caveats)
    other_vendor = found(lpar("license.pack=sap-hana", "machine.memory_gib=64", partition=CAPPED), "license.units")
    assert not any("changes nothing here" in one for one in other_vendor.caveats)


def test_cores_that_a_user_sets_are_of_another_server_than_the_partition() -> None:
    sizing = lpar("machine.cores=32", "machine.cpu_model=POWER9", partition=CAPPED)

    assert not {"license.partition", "license.pinned_cores", "machine.server_cores"} & set(sizing.inputs)


def test_a_partition_that_may_be_capped_or_not_is_asked_for() -> None:
    unknown = LogicalPartition(shared=True, entitled_cores=3.5)

    assert "--set license.partition=" in found(lpar(partition=unknown), "license.units").verdict


@pytest.mark.parametrize(("partition", "status", "percent"), [(CAPPED, "fail", 114), (UNCAPPED, "pass", 25)])
def test_a_capped_partition_carries_what_its_cap_does(partition: LogicalPartition, status: str, percent: int) -> None:
    """4 cores of the sixteen that it sees are busy: of 3.5 that it may use they are 114 %."""
    speed = ("workload.cpu_cores=4", "workload.specrate_per_core=5", "machine.specrate_per_core=5")
    card = next(one for one in lpar(*speed, partition=partition).cards if one.resource == "cpu")

    assert card.status == status
    assert f"({percent} %" in card.statement
    assert ("the partition has 3.5 of 16 cores" in card.statement) is (partition is CAPPED)
