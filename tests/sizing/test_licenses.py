"""Licenses: what each vendor's rules count on one machine, and what they must never assume."""

import pytest

from sizeup.errors import UsageError
from sizeup.quantity import Origin
from sizeup.sizing.keys import KEYS
from sizeup.sizing.licensing.table import rows
from sizeup.units import base_unit
from sizing.license_cases import RULES, XEON, found, sized, units
from tiers import one_in


@pytest.mark.parametrize(
    ("pack", "index"), one_in(3, [(pack.pack, index) for pack in RULES.packs for index in range(len(pack.test))])
)
def test_a_pack_gives_the_figures_that_ride_with_it(pack: str, index: int) -> None:
    holder = RULES.pack(pack)
    test = holder.test[index]
    quantity = found(sized(*(f"{key}={value}" for key, value in test.set.items())), test.figure).quantity

    assert quantity.value / base_unit(test.unit)[1] == pytest.approx(test.value)


SE2 = "Oracle Database Standard Edition 2"


def test_an_option_is_refused_without_the_one_that_it_requires() -> None:
    with pytest.raises(
        UsageError, match=r"Tuning Pack requires Diagnostics Pack; use --set license.options=diagnostics,tuning"
    ):
        sized("machine.cores=8", XEON, "license.options=tuning")
    both = found(sized("machine.cores=2", XEON, "license.options=diagnostics,tuning"), "license.cost.list").quantity
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
        (("license.pack=db2", "license.metric=pvu"), "Db2 11.5 Advanced Edition is licensed by vpc, found 'pvu'"),
        (("license.product=se2", "license.metric=processor"), "Standard Edition 2 is licensed by socket, se2_nup"),
        (("license.pack=sql-server", "license.metric=server_cal"), "SQL Server Enterprise is licensed by packs"),
    ],
)
def test_a_metric_that_the_product_is_not_sold_by_is_refused(settings: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        sized("machine.cores=8", "machine.sockets=2", XEON, *settings)


def test_db2_is_counted_by_cores_and_its_standard_edition_uses_sixteen_of_them() -> None:
    sizing = sized(
        "license.pack=db2",
        "license.product=standard",
        "machine.cores=24",
        "machine.sockets=2",
        "machine.memory_gib=256",
    )

    assert units("license.pack=db2", "machine.cores=24", "machine.sockets=2") == 24
    assert found(sizing, "license.limit.db2.standard.cores").verdict == (
        "Cores that Standard Edition uses: 16 cores of 24 cores; 8 cores remain unused. "
        "16 cores require 16 VPC in place of 24"
    )
    assert found(sizing, "license.limit.db2.standard.memory").decision == "exceeded"


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
    earlier = sized(
        "license.pack=sql-server",
        "license.product=standard",
        "license.scope=vm",
        "machine.vcpus=48",
        "license.version=2022",
    )
    assert earlier.find("license.limit.sql.standard.vcpus") is None
    assert sizing.find("license.limit.sql.standard_2022.vcpus") is None
    assert any("version 2025 is assumed" in one for one in found(sizing, "license.limit.sql.standard.vcpus").caveats)
    assert found(earlier, "license.limit.sql.standard_2022.vcpus").verdict == (
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

    assert advice.quantity.value == 16
    assert any("unknown processor" in one for one in advice.caveats) is caveat


def test_odd_counts_round_up_over_all_servers_of_a_program_or_on_each() -> None:
    """Oracle's contract adds up the cores of a program before it multiplies: 27 x 0.5; for users 25 x 14."""
    cluster = ("machine.cores=9", XEON, "cluster.nodes=3")

    assert units(*cluster) == 14
    assert units(*cluster, "license.metric=nup", "license.users=1") == 350
    assert units(*cluster, "license.aggregate=server") == 15
    instances = ("license.scope=cloud", "machine.vcpus=3", "machine.threads_per_core=2", "cluster.nodes=3")
    assert units(*instances) == 3 * 2  # which the policy on clouds counts, and not the contract
    assert units(*instances, "license.aggregate=pool") == 5
    working = found(sized(*cluster), "license.units").working
    assert "3 servers x 9 cores = 27 cores" in [line.strip() for line in working]


def test_named_users_have_a_minimum_of_25_a_processor() -> None:
    nup = ("machine.cores=8", XEON, "license.metric=nup")

    assert (units(*nup, "license.users=30"), units(*nup, "license.users=300")) == (100, 300)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("license.pack=orcale", "did you mean oracle"),
        ("license.product=eee", "did you mean ee"),
        ("license.options=ract", "did you mean rac"),
        ("license.metric=procesor", "did you mean processor"),
        ("license.version=banana", "license.version: expected one of 2022, 2025, found 'banana'"),
        ("license.scope=vm", "has no rule for 'vm': expected one of bare, hard, soft, cloud"),
    ],
)
def test_what_the_pack_does_not_have_is_refused_with_the_nearest(setting: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        sized("machine.cores=8", "machine.vcpus=8", XEON, setting)


def test_the_versions_that_can_be_set_are_those_that_limits_tell_apart() -> None:
    versions = {limit.version for pack in RULES.packs for limit in pack.limit}

    assert set(KEYS["license.version"].choices) == versions - {""}


def test_every_vendor_is_counted_beside_the_chosen_one() -> None:
    settings = ["machine.sockets=2", "machine.cores=16", "machine.memory_gib=256", XEON, "license.options=rac"]
    table = {(row.pack, row.product): row for row in rows(sized(*settings).inputs, RULES)}

    assert {row.pack for row in table.values()} == {pack.pack for pack in RULES.license_packs()}
    oracle, windows, db2 = table["oracle", "ee"], table["windows", "standard"], table["db2", "standard"]
    assert oracle.list_price.value == 8 * 70500
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


SQL = "license.pack=sql-server"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (["machine.guest=yes", "machine.vcpus=64", "license.scope=hard", "license.pinned_cores=8"], [4, 8, 32]),
        # A virtual machine of 28 vCPUs is a guest to Oracle, which counts the hosts: 96 x 0.5.
        (["machine.vcpus=28", "machine.cores=28", "license.scope=vm", "license.host_cores=96", SQL], [48, 28, 14]),
        (["machine.vcpus=28", "machine.cores=28", "license.scope=soft", "license.host_cores=96"], [48, 28, 14]),
        (["machine.vcpus=28", "machine.cores=28", "license.scope=vm", SQL], [None, 28, 14]),
    ],
)
def test_a_scope_holds_for_every_vendor_that_has_a_rule_for_it(settings: list[str], expected: list[int | None]) -> None:
    table = {
        (row.pack, row.product): row for row in rows(sized(*settings, "machine.memory_gib=64", XEON).inputs, RULES)
    }
    counts = [table[name].units for name in (("oracle", "ee"), ("db2", "standard"), ("sql-server", "standard"))]

    assert [None if one is None else one.value for one in counts] == expected
