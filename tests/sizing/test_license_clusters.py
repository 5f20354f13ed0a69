"""Licenses of several servers, and editions compared on them."""

import pytest

from sizeup.cli import run
from sizeup.sizing.design import design
from sizeup.sizing.keys import parse_settings
from sizeup.views.result.candidates import Candidate, candidate_sentences
from sizeup.views.result.design import alternatives_table
from sizing.license_cases import RULES, XEON, found, sized, units
from sizing.sized import card

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


def test_a_list_of_options_without_that_of_a_cluster_says_what_it_costs(capsys: pytest.CaptureFixture[str]) -> None:
    """4 x $23,000 with 3 x 22 % of support are $152,720; the price of a user, or the word none, leaves out nothing."""
    clause = "is not in the list of options: $152,720 more with --set license.options=rac,partitioning"
    cluster = [*CLUSTER, "license.product=ee"]

    assert run(["size", "--machine", "none", "--set", *cluster, "license.options=partitioning"]) == 0
    assert clause in " ".join(capsys.readouterr().out.split())
    machines = design(parse_settings([*cluster, "workload.cpu_cores=2.8", "license.options=partitioning"]), RULES)
    assert clause in alternatives_table(machines).note
    for more in ("none", "rac_one_node,partitioning"):
        assert (
            "is not in the list" not in found(sized(*cluster, f"license.options={more}"), "license.cost.term").verdict
        )
    own = found(sized(*cluster, "license.options=partitioning", "license.list_usd=9"), "license.cost.term")
    assert "is not in the list" not in own.verdict


def test_candidates_say_what_the_option_of_a_cluster_costs() -> None:
    [sentence] = candidate_sentences(
        [Candidate("a", sized(*CLUSTER, "license.options=diagnostics", "workload.cpu_cores=1"))]
    )

    assert sentence.endswith("$152,720 more with --set license.options=rac,diagnostics")


def test_the_count_names_the_options_that_it_counts_too() -> None:
    assert found(sized(*CLUSTER), "license.units").verdict == (
        "Oracle Database Enterprise Edition with Real Application Clusters: 4 licenses of each required"
    )


def test_several_options_are_listed() -> None:
    verdict = found(sized(*CLUSTER, "license.options=rac,diagnostics,tuning"), "license.units").verdict
    assert "with Real Application Clusters, Diagnostics Pack and Tuning Pack: 4 licenses" in verdict


def test_the_card_of_a_cluster_has_room_for_its_cost() -> None:
    card = next(card for card in sized(*CLUSTER).cards if card.resource == "license")
    assert card.demand == "4 x Oracle EE + RAC, $468,120 over 3 years"


def test_one_server_alone_needs_no_cluster_option() -> None:
    assert "Clusters" not in found(sized("machine.cores=4", XEON), "license.units").verdict


def test_hosts_of_a_cluster_of_guests_are_licensed_once() -> None:
    assert units("license.scope=soft", "license.host_cores=64", XEON, "cluster.nodes=2") == 32


@pytest.mark.parametrize(
    ("contract", "cores", "after"),
    [
        (("license.pack=oracle", "license.product=ee"), 12 / 42, 12 / 21),
        (("license.pack=oracle", "license.product=ee", "license.options=none"), 12 / 21, 12 / 21),
        (("license.pack=oracle", "license.product=ee", "license.options=rac_one_node"), 12 / 21, 12 / 21),
        (("license.pack=postgresql",), 12 / 21, 12 / 21),
        (("license.pack=mysql",), 12 / 21, 12 / 21),
        (("license.pack=sql-server", "license.product=enterprise"), 12 / 21, 12 / 21),
        ((), 12 / 42, 12 / 21),
        (("cluster.degraded_percent=30",), 12 / 42, 12 / 21 / 0.3),
        (("license.pack=postgresql", "cluster.degraded_percent=30"), 12 / 21, 12 / 21 / 0.3),
    ],
)
def test_only_servers_that_open_one_database_together_share_its_load(
    contract: tuple[str, ...], cores: float, after: float
) -> None:
    """12 busy cores of twice 21: 29 % with RAC, and 57 % where one server is the primary.

    What is left does the stated percentage of its linear share.
    """
    models = ("machine.cpu_model=Xeon Gold 6426Y", "workload.cpu_model=Xeon Gold 6426Y")
    found = card("cpu", "cluster.nodes=2", "machine.cores=21", "workload.cpu_cores=12", *models, *contract)

    assert found.share == pytest.approx(cores)
    assert found.n_plus_one == pytest.approx(after)


def test_the_ports_of_a_standby_carry_nothing_until_it_takes_over() -> None:
    """Each of two servers has 2 of the 4 ports of 3,200 MB/s: 1,000 / 6,400, and 1,000 / 3,200 without one of them.

    With one port each, the other server takes over.
    """
    load = ("workload.mb_s=1000", "cluster.nodes=2")
    paths = card("storage", *load, "license.pack=postgresql", "path.stages=hba:fc32*4@4")
    single = card("storage", *load, "license.pack=postgresql", "path.stages=hba:fc32*2@2")
    shared = card("storage", *load, "path.stages=hba:fc32*4@4")

    assert paths.share == pytest.approx(1000 / 6400)
    assert paths.n_plus_one == pytest.approx(1000 / 3200)
    assert (single.share, single.n_plus_one, single.outage) == (pytest.approx(1000 / 3200), single.share, False)
    assert shared.share == pytest.approx(1000 / 12800)
