"""Whose cores a guest, a partition or a cloud instance is licensed by."""

import pytest
from msgspec.structs import replace

from sizeup.errors import UsageError
from sizeup.model.machine import Machine, Platform
from sizeup.model.topology import Core, Package, Pu
from sizeup.sizing.advise import described, size
from sizeup.sizing.keys import parse_settings
from sizeup.sizing.licensing.table import rows
from sizeup.views.result.answer import answer_lines
from sizing.license_cases import RULES, XEON, found, rows_of, sized, units

pytestmark = pytest.mark.ci


def test_a_guest_does_not_know_its_hosts_and_asks_for_them() -> None:
    guest = Machine(
        packages=(Package((0, 1), 0),),
        cores=(Core((0,), 0, 0, 0), Core((1,), 0, 0, 1)),
        platform=Platform(is_guest=True, hypervisor="vmware"),
        cpu_model="Intel(R) Xeon(R) Gold 6338",
    )
    sizing = size(described(guest, {}))

    said = found(sizing, "license.units")
    assert said.verdict == (
        "License count: unknown without the number of cores of all hosts that the guest may run on (with vMotion "
        "or live migration all of the cluster). Use --set license.host_cores=N"
    )
    assert [way for way in ("scope=hard", "scope=cloud") if not any(way in line for line in said.working)] == []
    assert "license.host_cores" in [question.key for question in sizing.questions]
    assert (
        found(size(described(guest, parse_settings(["license.host_cores=64"]))), "license.units").quantity is not None
    )


def shown(
    sockets: int, cores_each: int, *, guest: bool | None = True, hypervisor: str | None = None, threads: int = 1
) -> Machine:
    """A machine that shows these sockets and cores, whatever lies beneath."""
    cores, pus = sockets * cores_each, sockets * cores_each * threads
    each = pus // sockets
    return Machine(
        packages=tuple(Package(tuple(range(index * each, (index + 1) * each)), index) for index in range(sockets)),
        cores=tuple(
            Core(tuple(range(core * threads, (core + 1) * threads)), core // cores_each, core // cores_each, core)
            for core in range(cores)
        ),
        pus=tuple(Pu(cpu, online=True, allowed=True) for cpu in range(pus)),
        memory_bytes=256 << 30,
        platform=Platform(is_guest=guest, hypervisor=hypervisor),
        cpu_model="Intel(R) Xeon(R) Gold 6338",
    )


@pytest.mark.parametrize(
    ("guest", "cores", "counted"),
    [(True, 64, 32), (None, 64, None), (None, 96, 48), (False, 64, 36)],
)
def test_the_cores_of_hosts_are_not_those_of_a_machine_that_shows_more_and_may_be_no_guest(
    guest: bool | None, cores: int, counted: int | None
) -> None:
    """72 cores are 36 licenses on bare metal, and the cores of its hosts count for a guest."""
    machine = replace(shown(4, 18, guest=guest), cpu_model="Intel(R) Xeon(R) Gold 6338")
    said = found(size(described(machine, parse_settings([f"license.host_cores={cores}"]))), "license.units")

    assert (said.quantity and said.quantity.value) == counted
    assert counted is not None or "--set machine.guest=no or --set machine.guest=yes" in said.verdict


SCOPES = (None, "bare", "vm", "soft", "cloud")


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize(("guest", "hypervisor"), [(True, "kvm"), (True, None), (None, None), (None, "xen-dom0")])
def test_no_rule_counts_the_sockets_or_cores_that_a_guest_shows(
    guest: bool | None, hypervisor: str | None, scope: str | None
) -> None:
    """Sixteen virtual CPUs in any arrangement need the same licenses, or are asked for the same."""
    settings = [] if scope is None else [f"license.scope={scope}"]
    tables = []
    for sockets, cores_each in ((1, 16), (16, 1), (8, 2)):
        inputs = size(described(shown(sockets, cores_each, guest=guest, hypervisor=hypervisor), {})).inputs
        table = []
        for pack in RULES.license_packs():
            given = parse_settings([*settings, f"license.pack={pack.pack}"])
            table += rows_of(pack, {**inputs, **given})
        tables.append(table)

    assert tables[0] == tables[1] == tables[2]
    asked = {row.missing for row in tables[0] if row.missing and "has no rule" not in row.missing and not row.units}
    hosts = {"license.host_cores", "license.host_sockets"}
    assert asked - {"license.users"} <= (hosts if guest or hypervisor else {"machine.guest", *hosts})
    assert scope not in (None, "bare") or asked - {"license.users"}


@pytest.mark.parametrize(
    ("settings", "counted"),
    [
        (["license.host_cores=64"], 32),
        (["license.product=se2", "license.host_sockets=2"], 2),
        (["license.pack=vmware", "license.host_cores=32", "license.host_sockets=4"], 72),
        (["license.pack=windows", "license.host_cores=24", "license.host_sockets=1"], 24),
        (["license.pack=windows", "license.host_cores=20", "license.host_sockets=4"], 32),  # 8 a processor
        (["license.pack=windows", "license.host_cores=24", "license.host_sockets=1", "license.hosts=3"], 48),  # 16 each
        (["license.product=se2", "license.metric=nup", "license.hosts=3", "license.users=5"], 30),  # 10 each
        (["license.pack=db2", "license.product=v11_1", "license.host_sockets=4"], 560),  # a series for two sockets
        (["license.scope=bare", "license.host_cores=64"], 32),
        (["machine.cores=8", "machine.sockets=2", "license.pack=vmware"], 72),
    ],
)
def test_what_the_host_has_is_counted_once_it_is_stated(settings: list[str], counted: float) -> None:
    sizing = size(described(shown(1, 8), parse_settings(settings)))
    quantity = found(sizing, "license.units").quantity

    assert quantity.value == counted


@pytest.mark.parametrize(
    ("guest", "settings", "key", "needed"),
    [
        (None, [], "machine.guest", "until this machine is known to be bare metal or a guest"),
        (True, ["license.product=se2"], "license.host_sockets", "without the number of sockets of the physical host"),
        (
            True,
            ["license.pack=vmware"],
            "license.host_cores",
            "without the number of cores of all hosts that the guest may run on",
        ),
        (
            True,
            ["machine.sockets=2", "license.pack=vmware"],
            "machine.cores",
            "without the physical cores of one server",
        ),
        (
            True,
            ["machine.cores=8", "license.pack=vmware"],
            "machine.sockets",
            "without the occupied sockets of one server",
        ),
    ],
)
def test_what_is_missing_is_asked_for_with_the_flag_that_sets_it(
    guest: bool | None, settings: list[str], key: str, needed: str
) -> None:
    sizing = size(described(shown(1, 8, guest=guest), parse_settings(settings)))
    said = found(sizing, "license.units")

    assert said.decision == "host-unknown"
    assert said.verdict.startswith(f"License count: unknown {needed}")
    assert f"--set {key}=" in said.verdict
    assert key in {question.key for question in sizing.questions}


def test_bare_metal_counts_what_it_shows_also_with_other_sockets() -> None:
    bare = shown(2, 8, guest=False)

    assert (
        found(size(described(bare, {})), "license.units").quantity
        == found(
            size(described(shown(2, 8, guest=None), parse_settings(["machine.guest=no"]))), "license.units"
        ).quantity
    )
    more = found(size(described(bare, parse_settings(["machine.sockets=4"]))), "license.units").quantity
    assert more.value == 16


def test_bare_metal_stated_of_a_proven_guest_is_doubted() -> None:
    sizing = size(described(shown(2, 8, hypervisor="kvm"), parse_settings(["machine.guest=no"])))

    assert (
        "machine.guest=no is stated, but these are virtual CPUs of a guest by kvm"
        in found(sizing, "license.units").caveats
    )


def test_a_limit_of_the_product_holds_for_what_the_instance_sees() -> None:
    standard = parse_settings(["license.pack=sql-server", "license.product=standard"])
    one, many = size(described(shown(1, 48), standard)), size(described(shown(48, 1), standard))

    assert found(one, "license.limit.sql.standard.vcpus").decision == "exceeded"
    assert found(one, "license.limit.sql.standard.virtual_sockets").decision == "fits"
    assert found(many, "license.limit.sql.standard.virtual_sockets").verdict.startswith(
        "Virtual CPUs in the 4 virtual sockets that Standard uses: 4 vCPUs of 48 vCPUs; 44 vCPUs remain unused"
    )


def test_counts_that_contradict_each_other_are_a_caveat_beside_the_licenses() -> None:
    machine = replace(shown(1, 8, guest=False), contradictions=("socket 0 has 8 cores by its topology, 4 by cpuinfo",))

    caveats = found(size(described(machine, {})), "license.units").caveats
    assert any(caveat.startswith("socket 0 has 8 cores by its topology") for caveat in caveats)


def test_a_hard_partition_is_an_assumption_that_the_screen_names() -> None:
    lines = " ".join(" ".join(answer_lines(sized("machine.cores=64", XEON, *HARD))).split())

    assert "! Assumed: the vendor accepts the hard partition, and it is capped at its cores" in lines
    caveats = found(sized("machine.cores=64", XEON, *HARD), "license.units").caveats
    assert any("capped or dedicated LPAR of IBM" in caveat for caveat in caveats)
    card = next(card for card in sized("machine.cores=64", XEON, "license.product=ee", *HARD).cards)
    assert card.status == "assumed"


@pytest.mark.parametrize("hypervisor", ["vmware", "virtualbox", "hyperv", "Hyper-V", "kvm", "qemu"])
def test_a_hard_partition_is_refused_where_the_vendor_accepts_none(hypervisor: str) -> None:
    guest = ("machine.cores=64", XEON, *HARD, "machine.guest=yes")

    with pytest.raises(UsageError, match=f"under {hypervisor}, found 'hard': Oracle Database: only an accepted hard"):
        sized(*guest, f"machine.hypervisor={hypervisor}")
    assert units(*guest, "machine.hypervisor=oracle-linux-kvm") == 4
    assert units("machine.cores=64", XEON, *HARD, "machine.guest=no", f"machine.hypervisor={hypervisor}") == 4
    of_ibm = sized(*guest, f"machine.hypervisor={hypervisor}", "license.pack=db2")
    assert {row.missing for row in rows(of_ibm.inputs, RULES) if row.pack == "oracle"} == {
        "license.host_cores",
        "license.host_sockets",
    }


def test_a_hard_partition_has_no_more_cores_than_its_server() -> None:
    with pytest.raises(UsageError, match="pinned_cores: expected at most the 4 cores of the server, found 8"):
        sized("machine.cores=4", XEON, *HARD)
    assert units("machine.cores=4", "machine.guest=yes", XEON, *HARD) == 4


@pytest.mark.parametrize(("pinned", "status", "percent"), [(16, "fail", 238), (30, "fail", 127), (40, "warn", 95)])
def test_a_hard_partition_carries_what_its_own_cores_do(pinned: int, status: str, percent: int) -> None:
    scope = ("machine.cores=40", "workload.cpu_cores=38", "license.scope=hard", f"license.pinned_cores={pinned}")
    speed = ("workload.specrate_per_core=5", "machine.specrate_per_core=5")
    card = next(one for one in sized(XEON, *scope, *speed, "license.product=ee").cards if one.resource == "cpu")

    assert card.status == status
    said = f"38 cores demand, {pinned} cores capacity ({percent} %"
    assert said in card.statement
    assert (f"the partition has {pinned} of 40 cores" in card.statement) is (pinned < 40)


SE2_GUEST = ("machine.guest=yes", "license.product=se2", "license.host_sockets=2", "machine.socket_capacity=2")


@pytest.mark.parametrize(
    ("settings", "counted"),
    [
        (SE2_GUEST, 2),
        ((*SE2_GUEST, "license.hosts=3"), 6),
        ((*SE2_GUEST, "license.hosts=3", "cluster.nodes=2"), 6),
        (("machine.guest=yes", "license.pack=vmware", "license.host_cores=30", "license.host_sockets=2"), 72),
        (
            (
                "machine.guest=yes",
                "license.pack=vmware",
                "license.host_cores=90",
                "license.host_sockets=2",
                "license.hosts=3",
            ),
            96,
        ),
        (("machine.sockets=2", "license.product=se2", "license.hosts=3"), 2),
    ],
)
def test_the_sockets_of_every_host_of_a_guest_count(settings: tuple[str, ...], counted: float) -> None:
    assert units(XEON, *settings) == counted


def test_one_host_of_a_guest_is_an_assumption_that_the_screen_names() -> None:
    alone, stated = sized(XEON, *SE2_GUEST), sized(XEON, *SE2_GUEST, "license.hosts=1")
    cards = [next(card for card in one.cards if card.resource == "license") for one in (alone, stated)]

    assert [card.status for card in cards] == ["assumed", "pass"]
    assert "! Assumed: the guest runs on one host only" in " ".join(" ".join(answer_lines(alone)).split())
    assert found(sized(XEON, *SE2_GUEST, "license.hosts=3"), "license.allowed").decision == "allowed"


HARD = ("license.scope=hard", "license.pinned_cores=8")
