"""Which edition is permitted, and what the cheapest of them costs beside the chosen one."""

import pytest

from sizeup.model.advice import Advice
from sizeup.sizing import rules
from sizeup.sizing.advise import size
from sizeup.sizing.editions import related_editions, too_small
from sizeup.sizing.keys import parse_settings
from sizeup.views.result.licenses import license_table
from sizing.license_cases import found, sized

XEON = ("machine.sockets=2", "machine.cores=32", "machine.threads_per_core=2", "machine.cpu_model=Xeon Gold 6326")
SE2_YEARS = 2 * 17500 * (1 + 3 * 0.22)
EE_YEARS = 16 * 47500 * (1 + 3 * 0.22)


def edition(*settings: str) -> Advice | None:
    return size(parse_settings(settings)).find("license.edition")


def sentence(*settings: str) -> str:
    found = edition(*settings)
    return found.verdict


def test_the_cheapest_edition_stands_beside_the_chosen_one_with_what_it_rests_on() -> None:
    found = edition(*XEON)

    assert found.quantity.value == pytest.approx(SE2_YEARS)
    assert found.decision == "se2"
    for words in (
        f"Cheapest permitted: Oracle SE2, ${SE2_YEARS:,.0f} in place of ${EE_YEARS:,.0f} over 3 years",
        "Assumed: permitted only on servers built for at most two sockets, occupied or not",
        "--set machine.socket_capacity=N",
        "It uses 16 of 64 threads",
        "has none of the options and packs of Enterprise Edition",
    ):
        assert words in found.verdict


def test_threads_that_a_processor_may_not_have_are_used_at_most() -> None:
    assert "It uses at most 16 of its 8 to 64 threads" in sentence("machine.sockets=1", "machine.cores=8")


def test_an_edition_without_a_chosen_option_is_not_the_cheapest() -> None:
    assert "Cheapest permitted: Oracle SE2" in sentence(*XEON, "license.product=ee", "license.options=none")
    assert "SE2" not in sentence(*XEON, "license.product=ee", "license.options=partitioning")
    assert f"Oracle EE: ${EE_YEARS:,.0f} over 3 years" in sentence(*XEON, "license.product=se2")


def test_what_is_known_to_be_permitted_is_not_assumed() -> None:
    assert "ssumed" not in sentence(*XEON, "machine.socket_capacity=2", "license.product=ee")


def test_the_busy_cores_of_the_workload_stand_beside_the_threads_that_an_edition_uses() -> None:
    assert "It uses 16 of 64 threads" in sentence(*XEON, "workload.cpu_cores=13.2")
    assert "; 13.2 cores are busy" in sentence(*XEON, "workload.cpu_cores=13.2")


@pytest.mark.parametrize(
    ("busy", "said"),
    [
        ("5", "Cheapest permitted: Oracle SE2, $58,100"),
        ("10", "Cheapest permitted: Oracle SE2 (perhaps too few: 16 threads), $58,100"),
        ("17", "cheapest permitted edition whose limits carry the load. Oracle SE2: $58,100 over 3 years, too few: 16"),
        ("33", "cheapest permitted edition whose limits carry the load. Oracle SE2: $58,100 over 3 years, too few: 16"),
        ("15 workload.growth_percent=30", "Cheapest permitted: Oracle SE2 (perhaps too few: 16 threads), $58,100"),
        ("17 workload.growth_percent=30", "Oracle SE2: $58,100 over 3 years, too few: 16 threads"),
        ("7 workload.growth_percent=80", "Cheapest permitted: Oracle SE2, $58,100"),
    ],
)
def test_a_price_whose_edition_does_not_carry_the_load_says_so(busy: str, said: str) -> None:
    """16 threads are 8 to 16 cores: of 8 cores 5 are 63 % and 10 too many, of 16 cores 10 are 63 % and 17 too many.

    33 are too many of all 32 cores, too; what grows beyond all of them is no fault of an edition that carries today.
    """
    speed = ("workload.specrate_per_core=5", "machine.specrate_per_core=5")

    assert said in sentence(*XEON, *speed, *f"workload.cpu_cores={busy}".split())


def test_the_table_of_all_products_names_those_that_are_too_small() -> None:
    speed = ("workload.specrate_per_core=5", "machine.specrate_per_core=5", "workload.cpu_cores=17")
    table = license_table(size(parse_settings([*XEON, *speed])), rules.shipped())

    status = {row[1]: row[-1] for row in table.rows}
    assert status["Oracle Database Standard Edition 2"] == "ASSUMED; too few: 16 threads"
    assert status["Oracle Database Enterprise Edition"] == "PASS"
    assert status["Db2 11.5 Standard Edition"] == "too few: 16 cores"


def test_an_edition_that_one_server_of_a_cluster_carries_at_a_time_needs_the_cores_of_one() -> None:
    """14 busy cores on eight servers of 4: 44 % with RAC, and 350 % of one of them."""
    cluster = "cluster.nodes=8 machine.cores=4 machine.threads_per_core=2 machine.sockets=1 workload.cpu_cores=14"
    inputs = parse_settings([*cluster.split(), "workload.specrate_per_core=5", "machine.specrate_per_core=5"])

    assert too_small(inputs, rules.shipped(), "oracle", "se2") == ("too few", "4 cores of one server")
    assert too_small(inputs, rules.shipped(), "oracle", "ee") == ()


@pytest.mark.parametrize(
    ("memory", "has", "said"),
    [("100000", "1024", ""), ("400000", "1024", "too few: 256 GiB"), ("400000", "384", "too few: 256 GiB")],
)
def test_nor_does_an_edition_with_too_small_a_buffer_pool(memory: str, has: str, said: str) -> None:
    inputs = size(parse_settings([*XEON, f"sga.mb={memory}", f"machine.memory_gib={has}"])).inputs

    found = too_small(inputs, rules.shipped(), "sql-server", "standard")

    assert ": ".join(found) == said


def test_an_edition_that_is_not_permitted_is_named_with_the_rule() -> None:
    four = ("machine.sockets=4", "machine.cores=64", "machine.cpu_model=Xeon Gold 6326")

    assert "Oracle Database Enterprise Edition is the cheapest permitted edition. Oracle " in sentence(*four)
    assert "Standard Edition 2 is not permitted on this server: only on servers built for" in sentence(*four)
    chosen = edition(*four, "license.product=se2")
    assert chosen.decision == "ee"
    assert chosen.verdict.startswith("Cheapest permitted: Oracle EE, $2,523,200 over 3 years. Not judged: ")


def test_an_edition_that_is_not_judged_is_named_with_what_is_missing() -> None:
    guest = (*XEON, "machine.guest=yes", "license.host_cores=32", "license.product=ee")
    text = sentence(*guest)

    assert "is the cheapest permitted edition of those that are judged. Not judged: Oracle SE2 (needs" in text
    assert "Oracle SE2 (needs --set license.host_sockets=N), licenses by users (needs --set license.users=N)" in text
    known = sentence(*guest, "license.host_sockets=2", "license.users=900")
    assert "Not judged" not in known
    assert known.startswith("Cheapest permitted: Oracle SE2")


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (
            ("license.product=ee", "machine.sockets=4", "license.users=20"),
            "Cheapest permitted: Oracle EE by Oracle Named User Plus, $630,800 in place of $1,261,600 over 3 years",
        ),
        (
            ("license.pack=sql-server", "license.product=standard", "license.users=20", "db.gb=400"),
            (
                "Cheapest permitted: SQL Server Standard by SQL Server server license with client access licenses, "
                "$9,780.75 in place of $110,460 over 3 years"
            ),
        ),
        (
            ("license.product=ee", "license.metric=nup", "machine.sockets=4", "license.users=2000"),
            "Cheapest permitted: Oracle EE, $1,261,600 in place of $3,154,000 over 3 years",
        ),
    ],
)
def test_the_cheapest_is_looked_for_among_all_metrics(settings: tuple[str, ...], text: str) -> None:
    assert sentence(*XEON, *settings).startswith(text)


def test_servers_of_a_cluster_all_count_and_the_missing_option_is_named() -> None:
    text = sentence(*XEON, "cluster.nodes=2")

    assert f"${2 * SE2_YEARS:,.0f} in place of ${2 * 16 * 70500 * 1.66:,.0f}" in text
    assert "Standard Edition 2 has no Real Application Clusters from 19c on" in text


@pytest.mark.parametrize(
    ("size", "cheapest"), [(("db.gb=40",), "express"), (("db.gb=4000",), "standard"), ((), "standard")]
)
def test_a_free_edition_is_the_cheapest_only_for_a_database_that_it_is_known_to_permit(
    size: tuple[str, ...], cheapest: str
) -> None:
    assert edition(*XEON, "license.pack=sql-server", *size).decision == cheapest


def test_with_all_of_its_price_off_an_edition_costs_0_and_its_support_is_no_other_contract() -> None:
    cost = found(sized(*XEON, "license.product=ee", "license.discount_percent=100"), "license.cost.term").verdict

    assert "$0 = $0 after 100 % discount + $0 support" in cost


def test_a_discount_holds_for_both_editions_and_a_price_of_ones_own_for_the_chosen_one() -> None:
    assert f"${SE2_YEARS / 2:,.0f} in place of ${EE_YEARS / 2:,.0f}" in sentence(*XEON, "license.discount_percent=50")
    assert "is the cheapest permitted edition" in sentence(*XEON, "license.list_usd=1000")


@pytest.mark.parametrize("pack", ["postgresql", "sap-hana"])
def test_a_vendor_with_one_edition_has_nothing_to_compare(pack: str) -> None:
    assert edition(*XEON, "machine.memory_gib=512", f"license.pack={pack}") is None


def test_editions_are_related_over_any_distance_and_with_no_other_product() -> None:
    pack = rules.shipped().pack("sql-server")
    assert pack is not None
    names = {one.id: [other.id for other in related_editions(pack, one)] for one in pack.product}

    assert names["sql.express"] == ["sql.enterprise", "sql.standard"]
    assert names["sql.enterprise_subscription"] == ["sql.standard_subscription"]


def test_an_edition_that_costs_more_by_its_options_names_them() -> None:
    server = (*XEON, "machine.socket_capacity=2", "cluster.nodes=2", "license.product=se2")

    assert "Oracle EE + RAC: $3,744,960 over 3 years" in sentence(*server)


@pytest.mark.parametrize(("settings", "told"), [(("license.pack=sql-server",), True), ((), False)])
def test_subscriptions_that_were_not_compared_are_named(settings: tuple[str, ...], told: bool) -> None:
    verdict = found(sized("machine.cores=16", "machine.sockets=2", *settings), "license.edition").verdict

    assert ("subscriptions (--show licenses)" in verdict) is told
