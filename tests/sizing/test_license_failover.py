"""Servers of a cluster that only take over, and what the vendors say of them."""

import pytest

from sizeup.errors import UsageError
from sizeup.sizing.licensing.table import rows
from sizeup.views.result.answer import answer_lines
from sizeup.views.result.candidates import Candidate, candidate_sentences
from sizing.license_cases import RULES, XEON, found, sized, units

PAIR = ("machine.cores=16", "machine.sockets=2", XEON, "cluster.nodes=2")
SQL = ("license.pack=sql-server", "license.product=enterprise")


def test_the_ten_day_rule_is_named_for_a_cluster_with_what_it_saves_and_its_source() -> None:
    advice = found(sized(*PAIR), "license.failover")

    assert advice.verdict == (
        "One server that only takes over needs no licenses where it runs on ten days a year at most. With --set "
        "license.passive_servers=1: 8 licenses in place of 16, $380,000 in place of $760,000; $1,128,000 with Real "
        "Application Clusters, which servers need that open one database together"
    )
    assert [source.url for source in advice.sources if source.id == "oracle-data-recovery"] == [
        "https://www.scribd.com/document/512972132/data-recovery-licensing-070587"
    ]
    assert any("one disk array in one data center" in caveat for caveat in advice.caveats)


def test_the_screen_of_a_cluster_names_the_rule() -> None:
    assert any(line.startswith("Failover ") for line in answer_lines(sized(*PAIR, *SQL)))


def test_one_server_has_nothing_to_take_over() -> None:
    assert sized("machine.cores=16", XEON).find("license.failover") is None


@pytest.mark.parametrize(
    ("settings", "counted"),
    [
        (("license.passive_servers=1",), 8),
        (("license.passive_servers=0",), 16),
        (("cluster.nodes=3", "license.passive_servers=1"), 16),
        (("license.passive_servers=1", "license.metric=nup"), 200),
        (("license.product=se2", "license.passive_servers=1"), 2),
        (("license.product=se2", "license.metric=se2_nup", "license.passive_servers=1"), 10),
        (("license.passive_servers=1", "license.aggregate=pool"), 8),
        ((*SQL, "cluster.nodes=3", "license.passive_servers=2"), 8),
    ],
)
def test_a_passive_server_is_not_counted(settings: tuple[str, ...], counted: float) -> None:
    assert units(*PAIR, *settings) == counted


def test_a_passive_server_needs_no_cluster_option_and_the_count_says_why() -> None:
    advice = found(sized(*PAIR, "license.passive_servers=1"), "license.units")

    assert "Clusters" not in advice.verdict
    assert "2 servers - 1 passive = 1 to license" in advice.working
    assert any(caveat.startswith("1 of 2 servers not counted: ") for caveat in advice.caveats)


def test_more_passive_servers_than_the_rule_leaves_out_are_refused() -> None:
    with pytest.raises(UsageError, match="passive_servers: expected at most 1 of 3 servers for Oracle Database Ent"):
        sized(*PAIR, "cluster.nodes=3", "license.passive_servers=2")
    with pytest.raises(UsageError, match="expected at most 0 of 1 servers"):
        sized(*PAIR, "cluster.nodes=1", "license.passive_servers=1")


def test_a_right_that_comes_with_support_is_refused_without_it() -> None:
    with pytest.raises(UsageError, match=r"expected a support above 0 \(license.support_percent\), found 0 %"):
        sized(*PAIR, *SQL, "license.passive_servers=1", "license.support_percent=0")
    assert units(*PAIR, "license.passive_servers=1", "license.support_percent=0") == 8


def test_a_screen_with_passive_servers_names_them_once() -> None:
    text = " ".join(answer_lines(sized(*PAIR, *SQL, "license.passive_servers=1")))

    assert text.count("not counted") == 1
    assert "Failover " not in text


def test_a_vendor_without_such_a_rule_counts_every_server_and_says_so() -> None:
    advice = found(sized(*PAIR, "license.pack=windows", "license.passive_servers=1"), "license.units")

    assert advice.quantity.value == 32
    assert any("no rule leaves out passive servers of Windows Server Standard" in one for one in advice.caveats)
    assert not [
        row for row in rows(sized(*PAIR, "license.passive_servers=1").inputs, RULES) if "passive" in row.missing
    ]


def test_a_passive_server_is_compared_with_servers_that_have_databases_of_their_own() -> None:
    cluster = ("license.product=ee", "machine.cores=32", "cluster.nodes=2", XEON)
    verdict = found(sized(*cluster), "license.failover").verdict

    assert "16 licenses in place of 32, $760,000 in place of $1,520,000; $2,256,000 with Real Application" in verdict
    tuned = found(sized(*cluster, "license.options=rac,diagnostics"), "license.failover").verdict
    assert tuned.count(" in place of ") == 2
    without = found(sized(*cluster, "license.options=none"), "license.failover").verdict
    assert without.endswith("16 licenses in place of 32, $760,000 in place of $1,520,000")


def test_a_passive_server_leaves_out_real_application_clusters_and_says_so() -> None:
    passive = ("license.product=ee", "machine.cores=32", "cluster.nodes=2", "license.passive_servers=1", XEON)
    said = found(sized(*passive), "license.units").caveats

    sentence = (
        "Real Application Clusters is not included: a passive server takes over, and does not open the database "
        "together with the other"
    )
    assert [one for one in said if "is not included" in one] == [sentence]


def test_a_server_that_opens_the_database_with_the_other_is_not_passive() -> None:
    pair = (*PAIR, "license.product=ee", "license.passive_servers=1")
    with pytest.raises(
        UsageError, match=r"passive_servers: expected 0 with Real Application Clusters, found 1: a pass"
    ):
        sized(*pair, "license.options=rac,diagnostics")

    assert units(*pair, "license.options=rac_one_node,diagnostics") == 8
    assert units(*pair, "license.options=rac", "cluster.nodes=3") == 16  # two open it, one takes over
    advised = found(sized(*PAIR, "license.product=ee", "license.options=rac,diagnostics"), "license.failover").verdict
    assert "license.passive_servers=1 license.options=diagnostics: 8 licenses in place of 16, $440,000 " in advised
    for options, hinted in ((), True), (("license.options=rac",), False), (("license.options=none",), True):
        screen = answer_lines(sized(*PAIR, "license.product=ee", "workload.cpu_percent=9", *options))
        assert any("Passive servers may need" in line for line in screen) == hinted


def test_a_passive_server_that_saves_no_license_is_not_priced_against_itself() -> None:
    by_users = ("license.metric=nup", "license.users=5000", "license.product=ee", "license.options=none")
    said = found(sized(*PAIR, *by_users), "license.failover").verdict

    assert said.endswith("With --set license.passive_servers=1: 5,000 users, which saves nothing")


def test_a_name_of_intel_alone_is_a_multicore_of_intel_and_says_so() -> None:
    named = "machine.cpu_model=Genuine Intel(R) CPU @ 2.66GHz"
    count = found(sized("machine.cores=96", "license.product=ee", named), "license.units")

    assert (count.quantity.value, count.quantity.low) == (48, None)
    assert any("one with a single core counts 1.0" in one for one in count.caveats)


def test_fewer_virtual_cpus_than_cores_are_refused() -> None:
    with pytest.raises(UsageError, match=r"machine.vcpus: expected at least machine.cores = 32, found 8; a core is a"):
        sized("machine.cores=32", "machine.vcpus=8")


@pytest.mark.parametrize("load", [(), ("workload.cpu_cores=4",)])
def test_the_conditions_of_a_passive_server_are_named_with_and_without_a_workload(load: tuple[str, ...]) -> None:
    sizing = sized(*PAIR, "license.product=ee", "license.options=none", "license.passive_servers=1", *load)
    said = "runs on ten days a year at most; only in a cluster that shares one disk array in one data center; any part"

    assert " ".join(" ".join(answer_lines(sizing)).split()).count(said) == 1
    assert " ".join(candidate_sentences([Candidate("pair", sizing)])).count(said) == 1


CLOUD = ("license.scope=cloud", "machine.vcpus=32", "machine.threads_per_core=2", "workload.cpu_cores=12")
SPEEDS = ("workload.specrate_per_core=10", "machine.specrate_per_core=10")


def test_the_cores_of_an_instance_are_its_virtual_cpus_by_the_threads_of_a_core() -> None:
    """32 virtual CPUs of two threads a core are 16 cores, of which 12 busy ones take 75 %."""
    sizing = sized(*CLOUD, *SPEEDS)

    assert "12 cores demand, 16 cores capacity (75 %)" in found(sizing, "verdict.cpu").verdict
    for cores in (32, 40):
        with pytest.raises(UsageError, match=rf"machine.vcpus / machine.threads_per_core = 16, found {cores}; leave"):
            sized(*CLOUD, f"machine.cores={cores}")
    sized(*CLOUD, "machine.cores=16")
    sized(*CLOUD[1:], "machine.cores=32")
