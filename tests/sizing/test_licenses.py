"""Licenses: what each vendor's rules count on one machine, and what they must never assume."""

from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace

from sizeup import cli
from sizeup.errors import MalformedError, UsageError
from sizeup.model.advice import Advice
from sizeup.model.machine import Machine
from sizeup.model.platform import Platform
from sizeup.model.topology import Core, Package, Pu
from sizeup.quantity import Origin
from sizeup.sizing import rules
from sizeup.sizing.advise import Sizing, described, size
from sizeup.sizing.formula import parse_formula
from sizeup.sizing.inputs.typed import parse_settings
from sizeup.sizing.licensing.table import rows
from sizeup.units import base_unit

RULES = rules.shipped()
XEON = "machine.cpu_model=Intel(R) Xeon(R) CPU E5320 @ 1.86GHz"
OVERRIDE = """
schema = "sizeup.rules/1"
[[override]]
target = "product.oracle.ee.price.processor"
value = 21000
reason = "contract"
date = 2026-11-20
"""


def sized(*settings: str) -> Sizing:
    return size(parse_settings(settings), RULES)


def found(sizing: Sizing, advice_id: str) -> Advice:
    advice = sizing.find(advice_id)
    assert advice is not None, advice_id
    return advice


def units(*settings: str) -> float:
    quantity = found(sized(*settings), "license.units").quantity
    assert quantity is not None
    return quantity.value


@pytest.mark.parametrize(
    ("pack", "index"), [(pack.pack, index) for pack in RULES.packs for index in range(len(pack.test))]
)
def test_a_pack_gives_the_figures_that_ride_with_it(pack: str, index: int) -> None:
    holder = RULES.pack(pack)
    assert holder is not None
    test = holder.test[index]
    quantity = found(sized(*(f"{key}={value}" for key, value in test.set.items())), test.figure).quantity

    assert quantity is not None
    assert quantity.value / base_unit(test.unit)[1] == pytest.approx(test.value)


@pytest.mark.parametrize(
    ("model", "factor"),
    [
        ("Intel(R) Xeon(R) CPU E5320 @ 1.86GHz", 0.5),
        ("AMD EPYC 9654 96-Core Processor", 0.5),
        ("Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz", 0.5),
        ("AMD Ryzen 9 7950X", 0.5),
        ("Ampere Altra Max M128-30", 0.25),
        ("Neoverse-V2", 1.0),
        ("Kunpeng-920", 1.0),
        ("POWER9 (architected), altivec supported", 1.0),
        ("SPARC-T5", 0.5),
        ("SPARC T3", 0.25),
        ("UltraSPARC-T2", 0.75),
        ("UltraSPARC T2+", 0.5),
    ],
)
def test_the_core_factor_follows_the_processors_name(model: str, factor: float) -> None:
    assert units("machine.cores=100", f"machine.cpu_model={model}") == 100 * factor


@pytest.mark.parametrize(("model", "low"), [("Frobnicator 9000", 50), ("Neoverse-N1", 25)])
def test_an_ambiguous_name_shows_both_factors_and_says_so(model: str, low: float) -> None:
    advice = found(sized("machine.cores=100", f"machine.cpu_model={model}"), "license.units")

    assert advice.quantity is not None
    assert (advice.quantity.low, advice.quantity.value, advice.quantity.high) == (low, 100, 100)
    assert any(caveat.startswith(model) for caveat in advice.caveats)


SE2 = "Oracle Database Standard Edition 2"
CLOUD_TERMS = (
    f"{SE2} is not permitted on this instance: in authorized clouds, only on instances of up to eight vCPUs; one "
    "source says four on Azure and Google"
)


@pytest.mark.parametrize(
    ("settings", "sentence", "source"),
    [
        (
            ("machine.sockets=4", "machine.cores=32", XEON),
            f"{SE2} is not permitted on this server: only on servers built for at most two sockets, occupied or not",
            "oracle-se2",
        ),
        (
            ("license.scope=cloud", "machine.vcpus=10"),
            CLOUD_TERMS,
            "oracle-cloud-policy",
        ),
        (
            ("license.scope=cloud", "machine.vcpus=10", "license.metric=se2_nup", "license.users=50"),
            CLOUD_TERMS,
            "oracle-cloud-policy",
        ),
    ],
)
def test_what_the_policy_forbids_has_no_count_and_no_price_but_the_sentence_and_its_source(
    settings: tuple[str, ...], sentence: str, source: str
) -> None:
    sizing = sized("license.product=se2", "value.throughput=1000", *settings)
    allowed = found(sizing, "license.allowed")

    assert (allowed.verdict, allowed.decision) == (sentence, "forbidden")
    assert source in {one.id for one in allowed.sources}
    priced = (
        "license.units",
        "license.cost.",
        "license.break-even.oracle.se2_nup_below",
        "value.license-usd",
        "value.per-license",
    )
    assert [one.id for one in sizing.advice if one.id.startswith(priced)] == []
    card = next(card for card in sizing.cards if card.resource == "license")
    assert (card.status, card.statement) == ("fail", sentence)


def test_up_to_the_limits_of_the_policy_standard_edition_is_counted() -> None:
    assert units("license.product=se2", "license.scope=cloud", "machine.vcpus=8") == 2
    assert units("license.product=se2", "machine.sockets=2", "machine.cores=32") == 2


def test_empty_sockets_that_nobody_counted_are_an_assumption() -> None:
    sizing = sized("license.product=se2", "machine.sockets=2", "machine.cores=32")
    allowed = found(sizing, "license.allowed")

    assert allowed.decision == "assumed"
    assert allowed.verdict.startswith(f"{SE2} is assumed to be permitted on this server")
    assert allowed.verdict.endswith("--set machine.socket_capacity=N")
    assert next(card.status for card in sizing.cards if card.resource == "license") == "assumed"


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        (("license.product=se2", "machine.sockets=1", "machine.cores=4"), "license.host_sockets"),
        (("license.pack=vmware", "machine.sockets=1", "machine.cores=2"), "license.host_cores"),
    ],
)
def test_a_typed_guest_is_asked_for_its_host_as_a_detected_one_is(settings: tuple[str, ...], key: str) -> None:
    sizing = sized("machine.guest=yes", *settings)

    assert (found(sizing, "license.units").quantity, found(sizing, "license.units").decision) == (None, "host-unknown")
    assert key in {question.key for question in sizing.questions}


def test_an_option_is_refused_without_the_one_that_it_requires() -> None:
    with pytest.raises(
        UsageError, match=r"Tuning Pack requires Diagnostics Pack; use --set license.options=diagnostics,tuning"
    ):
        sized("machine.cores=8", XEON, "license.options=tuning")
    both = found(sized("machine.cores=2", XEON, "license.options=diagnostics,tuning"), "license.cost.list").quantity
    assert both is not None
    assert both.value == 47500 + 7500 + 5000


def test_an_option_that_is_named_twice_is_bought_once() -> None:
    once, twice = (
        found(sized("machine.cores=2", XEON, f"license.options={names}"), "license.cost.list").quantity
        for names in ("partitioning", "partitioning, partitioning")
    )
    assert once == twice


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (("license.pack=db2", "license.metric=pvu"), "Db2 11.5 Standard Edition is licensed by vpc, found 'pvu'"),
        (("license.product=se2", "license.metric=processor"), "Standard Edition 2 is licensed by socket, se2_nup"),
        (("license.pack=sql-server", "license.metric=server_cal"), "SQL Server Enterprise is licensed by packs"),
    ],
)
def test_a_metric_that_the_product_is_not_sold_by_is_refused(settings: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        sized("machine.cores=8", "machine.sockets=2", XEON, *settings)


def test_db2_is_counted_by_cores_and_its_standard_edition_uses_sixteen_of_them() -> None:
    sizing = sized("license.pack=db2", "machine.cores=24", "machine.sockets=2", "machine.memory_gib=256")

    assert units("license.pack=db2", "machine.cores=24", "machine.sockets=2") == 24
    assert found(sizing, "license.limit.db2.standard.cores").verdict == (
        "Cores that Standard Edition uses: 16 cores of 24 cores; 8 cores remain unused. "
        "16 cores require 16 VPC in place of 24"
    )
    assert found(sizing, "license.limit.db2.standard.memory").decision == "exceeded"
    compared = found(sizing, "license.break-even.db2.advanced")
    assert compared.verdict.startswith(
        "Licenses: Db2 11.5 Advanced Edition 24 VPC, Db2 11.5 Standard Edition 24 VPC; prices are not public. "
        "Cores that Standard Edition uses: 16 cores of 24 cores"
    )


def test_access_licenses_come_with_a_license_of_every_server() -> None:
    by_users = ("license.pack=sql-server", "license.product=standard", "license.metric=server_cal", "license.users=50")
    server = ("machine.sockets=1", "machine.cores=16")
    one, two = sized(*by_users, *server), sized(*by_users, *server, "cluster.nodes=2")

    assert found(one, "license.units").verdict == "SQL Server Standard: 50 CALs and 1 server license required"
    assert found(two, "license.units").verdict == "SQL Server Standard: 50 CALs and 2 server licenses required"
    costs = [found(sizing, "license.cost.list").quantity for sizing in (one, two)]
    assert [cost.value for cost in costs if cost is not None] == [50 * 230 + 989, 50 * 230 + 2 * 989]


def test_a_virtual_machine_beyond_the_edition_says_what_a_smaller_one_costs() -> None:
    sizing = sized("license.pack=sql-server", "license.product=standard", "license.scope=vm", "machine.vcpus=48")

    assert units("license.pack=sql-server", "license.product=standard", "license.scope=vm", "machine.vcpus=48") == 24
    assert found(sizing, "license.limit.sql.standard.vcpus").verdict == (
        "Virtual CPUs that Standard 2025 uses: 32 vCPUs of 48 vCPUs; 16 vCPUs remain unused. "
        "32 vCPUs require 16 packs in place of 24, $63,120 in place of $94,680"
    )
    assert found(sizing, "license.limit.sql.standard_2022.vcpus").verdict == (
        "Virtual CPUs that Standard 2022 uses: 24 vCPUs of 48 vCPUs; 24 vCPUs remain unused. "
        "24 vCPUs require 12 packs in place of 24, $47,340 in place of $94,680"
    )


@pytest.mark.parametrize(
    ("settings", "price"),
    [
        (("machine.sockets=4",), (5000, None, None)),
        (("machine.sockets=8",), (10000, None, None)),
        (("machine.sockets=8", "cluster.nodes=3"), (30000, None, None)),
        ((), (5000, 5000, 10000)),
        (("machine.sockets=8", "machine.guest=yes"), (5000, 5000, 10000)),
    ],
)
def test_mysql_costs_more_on_more_than_four_sockets(settings: tuple[str, ...], price: tuple[float | None, ...]) -> None:
    advice = found(sized("license.pack=mysql", "license.product=enterprise", *settings), "license.cost.list")

    assert advice.quantity is not None
    assert (advice.quantity.value, advice.quantity.low, advice.quantity.high) == price
    assert any("tiers were not read at the vendor" in caveat for caveat in advice.caveats)


@pytest.mark.parametrize("model", ["SPARC T5", "POWER9", "POWER11", "IBM/S390", "Intel(R) Itanium(R) Processor 9560"])
def test_a_processor_that_no_cloud_offers_is_not_priced_there(model: str) -> None:
    advice = found(
        sized("machine.cores=16", "machine.threads_per_core=2", f"machine.cpu_model={model}"), "license.cloud"
    )

    assert (advice.quantity, advice.decision) == (None, "unavailable")
    assert advice.verdict == f"Authorized cloud: not comparable, because none offers {model}"


@pytest.mark.parametrize(("model", "caveat"), [("AMD EPYC 9654", False), ("Neoverse-V2", False), ("Waltrapp", True)])
def test_the_cloud_is_compared_for_processors_that_it_offers(model: str, caveat: bool) -> None:
    advice = found(
        sized("machine.cores=16", "machine.threads_per_core=2", f"machine.cpu_model={model}"), "license.cloud"
    )

    assert advice.quantity is not None
    assert advice.quantity.value == 16
    assert any("unknown processor" in one for one in advice.caveats) is caveat


CLUSTER = ("machine.cores=4", "machine.sockets=1", XEON, "cluster.nodes=2")


def test_servers_that_share_a_database_include_the_cluster_option_or_the_answer_says_why_not() -> None:
    prices = {}
    for options in ("", "license.options=none", "license.options=partitioning", "license.options=rac"):
        sizing = sized(*CLUSTER, *filter(None, (options,)))
        quantity = found(sizing, "license.cost.list").quantity
        assert quantity is not None
        prices[options] = quantity.value, [one for one in found(sizing, "license.units").caveats if "servers" in one]

    assert [price for price, _ in prices.values()] == [4 * 70500, 4 * 47500, 4 * 59000, 4 * 70500]
    assert prices[""][1] == [
        (
            "2 servers that open one database together need Real Application Clusters, so it is included; for servers "
            "with databases of their own, or one that takes over from another, use --set license.options=none"
        )
    ]
    without = "without Real Application Clusters or RAC One Node, these 2 servers cannot open one database together"
    assert prices["license.options=none"][1] == prices["license.options=partitioning"][1] == [without]
    assert prices["license.options=rac"][1] == []


def test_the_count_names_the_options_that_it_counts_too() -> None:
    assert found(sized(*CLUSTER), "license.units").verdict == (
        "Oracle Database Enterprise Edition with Real Application Clusters: 4 licenses of each required"
    )


def test_the_card_of_a_cluster_has_room_for_its_cost() -> None:
    card = next(card for card in sized(*CLUSTER).cards if card.resource == "license")
    assert card.demand == "4 x Oracle EE + RAC, $468,120 over 3 years"


def test_one_server_alone_needs_no_cluster_option() -> None:
    assert "Clusters" not in found(sized("machine.cores=4", XEON), "license.units").verdict


def test_standard_edition_on_several_servers_says_that_it_has_no_cluster_option() -> None:
    caveats = found(sized(*CLUSTER, "license.product=se2"), "license.units").caveats
    assert any("has no Real Application Clusters from 19c on" in caveat for caveat in caveats)


def test_hosts_of_a_cluster_of_guests_are_licensed_once() -> None:
    assert units("license.scope=soft", "license.host_cores=64", XEON, "cluster.nodes=2") == 32


def test_editions_are_compared_both_ways_with_what_the_lesser_one_cannot_use() -> None:
    server = ("machine.sockets=2", "machine.cores=48", "machine.memory_gib=512", "license.pack=sql-server")
    texts = {}
    for ours, theirs in (("enterprise", "standard"), ("standard", "enterprise")):
        advice = found(sized(*server, f"license.product={ours}"), f"license.break-even.sql.{theirs}")
        assert advice.decision == "standard"
        texts[ours] = advice.verdict

    unused = (
        "Cores that Standard 2025 uses: the lesser of 4 sockets or 32 cores: 32 cores of 48 cores; "
        "16 cores remain unused"
    )
    assert texts["enterprise"].startswith("List prices: SQL Server Standard $94,680, SQL Server Enterprise $362,952")
    assert texts["standard"].startswith("List prices: SQL Server Enterprise $362,952, SQL Server Standard $94,680")
    assert unused in texts["enterprise"]
    assert unused in texts["standard"]
    assert "256 GiB of 512 GiB; 256 GiB remain unused" in texts["enterprise"]


def test_standard_edition_2_leaves_threads_unused() -> None:
    server = ("machine.sockets=2", "machine.cores=16", "machine.threads_per_core=2", XEON)

    assert (
        "Threads that one Standard Edition 2 database uses at a time: 16 threads of 32 threads; "
        "16 threads remain unused" in found(sized(*server), "license.break-even.oracle.se2").verdict
    )


def test_odd_counts_round_up_on_each_server_or_over_the_pool() -> None:
    cluster = ("machine.cores=9", XEON, "cluster.nodes=3")

    assert units(*cluster) == 15
    assert units(*cluster, "license.aggregate=pool") == 14


def test_named_users_have_a_minimum_of_25_a_processor() -> None:
    nup = ("machine.cores=8", XEON, "license.metric=nup")

    assert (units(*nup, "license.users=30"), units(*nup, "license.users=300")) == (100, 300)


def test_standard_edition_is_forbidden_by_capacity_even_where_sockets_are_empty() -> None:
    se2 = ("license.product=se2", "machine.sockets=2", "machine.cores=16")

    assert found(sized(*se2, "machine.socket_capacity=4"), "license.allowed").decision == "forbidden"
    assert found(sized(*se2, "machine.socket_capacity=2"), "license.allowed").decision == "allowed"


def test_standard_edition_is_held_against_enterprise_edition_where_it_is_allowed() -> None:
    advice = found(sized("machine.sockets=2", "machine.cores=16", XEON), "license.break-even.oracle.se2")

    assert advice.verdict == (
        "List prices: Oracle Database Standard Edition 2 $35,000, Oracle Database Enterprise Edition $380,000. "
        "Oracle Database Enterprise Edition costs less only below 0.737 licenses. "
        "Oracle Database Standard Edition 2 has none of the options and packs of Enterprise Edition"
    )
    assert advice.working[-1] == "$35,000 / $47,500 a license = 0.736842 licenses"
    assert {source.id for source in advice.sources} >= {"oracle-se2", "oracle-price-list-2026-08-03"}
    assert {"oracle.ee.price.processor", "oracle.se2.price.socket"} <= {entry.key for entry in advice.inputs}
    assert "--set machine.socket_capacity=N" in advice.caveats[0]


def test_standard_edition_is_not_held_against_other_products_than_the_full_edition() -> None:
    other = sized("machine.sockets=2", "machine.cores=16", XEON, "license.product=timesten")

    assert found(other, "license.units")
    assert other.find("license.break-even.oracle.se2") is None


def test_standard_edition_is_not_permitted_on_a_server_built_for_four_sockets() -> None:
    four = sized("machine.sockets=2", "machine.socket_capacity=4", "machine.cores=16", XEON)
    advice = found(four, "license.break-even.oracle.se2")

    assert (advice.decision, advice.quantity) == ("forbidden", None)
    assert advice.verdict == (
        "Oracle Database Standard Edition 2 is not permitted on this server: "
        "only on servers built for at most two sockets, occupied or not"
    )
    assert advice.working == ("allowed where: socket_capacity <= 2 = 4 <= 2 = 0",)


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
        "License count: unknown without the number of cores of the physical host. Use --set license.host_cores=N"
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
            table += [row for row in rows({**inputs, **given}, RULES) if row.pack == pack.pack]
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
        (["license.pack=windows", "license.host_cores=24"], 24),
        (["license.pack=db2", "license.product=v11_1", "license.host_sockets=4"], 800),
        (["license.scope=bare", "license.host_cores=64"], 32),
        (["machine.cores=8", "machine.sockets=2", "license.pack=vmware"], 72),
    ],
)
def test_what_the_host_has_is_counted_once_it_is_stated(settings: list[str], counted: float) -> None:
    sizing = size(described(shown(1, 8), parse_settings(settings)))
    quantity = found(sizing, "license.units").quantity

    assert quantity is not None
    assert quantity.value == counted


@pytest.mark.parametrize(
    ("guest", "settings", "key", "needed"),
    [
        (None, [], "machine.guest", "until this machine is known to be bare metal or a guest"),
        (True, ["license.product=se2"], "license.host_sockets", "without the number of sockets of the physical host"),
        (True, ["license.pack=vmware"], "license.host_cores", "without the number of cores of the physical host"),
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
    assert more is not None
    assert more.value == 16


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


def test_a_hard_partition_counts_its_pinned_cores_only() -> None:
    assert units("machine.cores=64", XEON, "license.scope=hard", "license.pinned_cores=8") == 4


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("license.pack=orcale", "did you mean oracle"),
        ("license.product=eee", "did you mean ee"),
        ("license.options=ract", "did you mean rac"),
        ("license.metric=procesor", "did you mean processor"),
        ("license.scope=vm", "has no rule for 'vm': expected one of bare, hard, soft, cloud"),
    ],
)
def test_what_the_pack_does_not_have_is_refused_with_the_nearest(setting: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        sized("machine.cores=8", "machine.vcpus=8", XEON, setting)


def test_costs_add_up_over_the_term_with_discount_and_increase() -> None:
    sizing = sized(
        "machine.cores=2",
        XEON,
        "license.discount_percent=50",
        "license.uplift_percent=10",
        "license.term_years=2",
    )
    net, support = 47500 * 0.5, 47500 * 0.5 * 0.22
    total = found(sizing, "license.cost.term").quantity

    assert total is not None
    assert total.value == pytest.approx(net + support + support * 1.1)


def test_an_overridden_price_is_the_users_wherever_it_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "rules.toml"
    mine.write_text(OVERRIDE)
    settings = ["machine.cores=2", XEON]

    assert cli.run(["size", "--blank", "--rules", str(mine), "--sources", "--set", *settings]) == 0
    text = capsys.readouterr().out
    assert "1 license x $21,000 = $21,000" in text
    assert "oracle.ee.price.processor = 21,000 USD (user, oracle.ee)" in text
    assert "overridden by the user on 2026-11-20: contract" in text


def test_a_rules_file_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["size", "--blank", "--rules", str(tmp_path / "none.toml")]) == 2
    assert "none.toml: expected a file of rule overrides" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ((), "(list of 2026-08-03)"),
        (("license.list_usd=30000",), "(your price)"),
        (("license.pack=windows", "machine.sockets=1"), "(list of 2026-07)"),
    ],
)
def test_every_cost_shows_the_date_of_its_price(settings: tuple[str, ...], text: str) -> None:
    sizing = sized("machine.cores=8", XEON, *settings)

    assert found(sizing, "license.cost.list").verdict.endswith(text)
    assert found(sizing, "license.cost.term").verdict.endswith(text)


@pytest.mark.parametrize(
    ("settings", "today", "warned"),
    [
        ((), date(2027, 8, 3), ()),
        ((), date(2027, 8, 4), ("Oracle Database Enterprise Edition is of 2026-08-03",)),
        (
            ("license.options=partitioning",),
            date(2027, 8, 4),
            ("Oracle Database Enterprise Edition is of 2026-08-03", "Partitioning is of 2026-08-03"),
        ),
        (("license.list_usd=30000",), date(2027, 8, 4), ()),
        (("license.pack=mysql",), date(2027, 8, 4), ()),
        (("license.pack=sql-server", "machine.sockets=1"), date(2023, 12, 31), ()),
        (("license.pack=sql-server", "machine.sockets=1"), date(2024, 1, 1), ("SQL Server Enterprise is of 2022",)),
        (("license.pack=windows", "machine.sockets=1"), date(2027, 7, 31), ()),
        (("license.pack=windows", "machine.sockets=1"), date(2027, 8, 1), ("Windows Server Standard is of 2026-07",)),
    ],
)
def test_a_price_older_than_a_year_is_a_warning(
    settings: tuple[str, ...], today: date, warned: tuple[str, ...]
) -> None:
    sizing = size(parse_settings(["machine.cores=8", XEON, *settings]), RULES, today)

    prices = [warning for warning in sizing.warnings if warning.startswith("the list price of ")]
    assert prices == [
        f"the list price of {text}, more than a year old: compare it with the vendor's list" for text in warned
    ]


def test_without_a_license_cost_no_price_is_too_old() -> None:
    assert [one for one in size({}, RULES, date(2027, 11, 1)).warnings if "price" in one] == []


def test_the_users_own_price_is_as_old_as_the_override() -> None:
    mine = rules.load(rules.shipped_texts(), ("mine.toml", OVERRIDE))
    sizing = size(parse_settings(["machine.cores=2", XEON]), mine, date(2027, 11, 1))

    assert found(sizing, "license.cost.list").verdict.endswith("(list of 2026-11-20)")
    assert [one for one in sizing.warnings if "price" in one] == []


def test_rules_that_are_too_old_warn_beside_their_answers() -> None:
    sizing = size(parse_settings(["machine.cores=8", XEON]), RULES, date(2028, 1, 1))

    assert any("Oracle Database" in warning for warning in sizing.warnings)
    assert sizing.find("license.units") is not None


def test_every_vendor_is_counted_beside_the_chosen_one() -> None:
    settings = ["machine.sockets=2", "machine.cores=16", "machine.memory_gib=256", XEON, "license.options=rac"]
    table = {(row.pack, row.product): row for row in rows(sized(*settings).inputs, RULES)}

    assert {row.pack for row in table.values()} == {pack.pack for pack in RULES.license_packs()}
    oracle, windows, db2 = table["oracle", "ee"], table["windows", "standard"], table["db2", "standard"]
    assert oracle.list_price is not None
    assert oracle.list_price.value == 8 * 70500
    assert windows.list_price is not None
    assert windows.list_price.origin is Origin.RULE
    assert (db2.list_price, db2.missing) == (None, "license.list_usd")


def test_what_is_agreed_for_one_product_says_nothing_of_the_others() -> None:
    settings = ["machine.sockets=2", "machine.cores=16", XEON, "license.users=300"]
    agreed = ["license.metric=nup", "license.options=rac"]
    table = {(row.pack, row.product): row for row in rows(sized(*settings, *agreed).inputs, RULES)}
    found = [table["oracle", name].units for name in ("ee", "se2", "timesten")]

    assert [(units.value, units.unit) for units in found if units is not None] == [
        (300, "users"),
        (2, "sockets"),
        (8, "licenses"),
    ]


PACK = """
schema = "sizeup.rules/1"
pack = "x"
title = "X"
checked = 2026-11-20
[[source]]
id = "s"
title = "S"
confidence = "H"
[[metric]]
id = "x.a"
title = "A"
unit = "licenses"
source = "s"
formulas = { bare = "ceil(cores)" }
"""


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ('"ceil(cores)"', '"b + 1"', None),
        ('"ceil(cores)"', '"a + 1"', "expected metrics that end in inputs, found a cycle: a -> a"),
        ('"ceil(cores)"', '"open(cores)"', r"expected numbers, names.*found 'open\(cores\)'"),
        ('"ceil(cores)"', '"cores ** 9"', "expected numbers"),
        ('"ceil(cores)"', '"cores["', "expected a formula such as"),
        ('"ceil(cores)"', '"True"', "expected numbers"),
        ('"ceil(cores)"', f'"{"cores + " * 40}1"', "at most 60 parts"),
        ('source = "s"\nformulas', 'source = "t"\nformulas', r"x\.a: expected the id of a \[\[source\]\]"),
    ],
)
def test_a_formula_computes_and_can_do_nothing_besides(before: str, after: str, what: str | None) -> None:
    text = PACK.replace(before, after)
    if what is None:
        assert rules.load({"x.toml": text}).packs
        return
    with pytest.raises(MalformedError, match=f"x.toml.*{what}"):
        rules.load({"x.toml": text})


def test_a_formula_shows_its_numbers() -> None:
    names = {"cores": 7.0, "sockets": 1.0}
    formula = parse_formula("ceil(max(cores, 4 * sockets) / 2)", "x")

    assert formula.evaluate(names.__getitem__) == 4
    assert formula.working(names.__getitem__) == "ceil(max(7, 4 x 1) / 2)"
    assert formula.names == ("cores", "sockets")


def test_the_branch_of_a_condition_that_does_not_count_is_not_asked_for() -> None:
    formula = parse_formula("vcpus if threads < 2 else ceil(vcpus / 2)", "x")

    assert formula.evaluate({"threads": 2.0, "vcpus": 5.0}.__getitem__) == 3
