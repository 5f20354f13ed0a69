"""Verdicts: demand over capacity at every stage, after a failure, and as it grows."""

import pytest

from sizeup.quantity import Origin, Quantity, Uncertainty, Words
from sizeup.sizing import rules
from sizeup.sizing.advise import size
from sizeup.sizing.inputs.presets import find_preset
from sizeup.sizing.io.response import waiting_share
from sizeup.sizing.keys import parse_settings
from sizing.sized import ARRAY, SERVER, advice, card, sized, value


def test_a_given_workload_replaces_the_rule_of_thumb() -> None:
    found = card("storage", *SERVER, "workload.iops=40000", "workload.io_kib=8", "path.stages=hba:fc8*1")

    assert found.share == pytest.approx(40000 * 8192 / 800e6)
    assert found.status == "warn"
    assert (found.demand, found.detected, found.not_judged) == ("327.7 MB/s", "800 MB/s (hba)", "the disks")
    assert [(one.lost, one.share) for one in found.failures] == [("the only path of hba", None)]
    assert any("IOPS of the disks are unknown and not judged" in note for note in found.sentences)
    assert "Nothing is left after losing the only path of hba" in found.sentences


def test_iops_are_balanced_beside_the_throughput() -> None:
    workload = ("workload.iops=40000", "workload.read_percent=60")
    found = card("storage", *SERVER, *workload, "path.stages=hba:fc32*2", *ARRAY)

    assert found.share == pytest.approx(40000 / 3120)
    assert found.status == "fail"
    assert (found.demand, found.detected) == ("40,000 IOPS", "3,120 IOPS (24 drives in RAID 10)")


def test_redo_writes_load_the_drives_with_the_penalty_of_writes() -> None:
    without = card("storage", "workload.iops=1000", "workload.read_percent=100", *ARRAY)
    redo = card(
        "storage", "workload.iops=1000", "workload.read_percent=100", "redo.mb_s=10", "redo.writes_s=500", *ARRAY
    )

    assert without.share == pytest.approx(1000 / (24 * 182))
    assert redo.share == pytest.approx((1000 + 2 * 500) / (24 * 182))


def test_without_a_workload_there_is_no_demand_no_share_and_no_verdict() -> None:
    sizing = sized(*SERVER, "path.stages=hba:fc8*2", "machine.memory_gib=512")

    assert {one.status for one in sizing.cards} <= {"unknown", "assumed"}
    assert all(one.share is None for one in sizing.cards)
    assert sizing.find("verdict.storage") is None
    headline = sizing.find("io.demand.headline")
    assert headline.quantity is None
    assert not [one.id for one in sizing.advice if one.id.startswith("io.demand.") and one.quantity is not None]


def test_rules_of_thumb_fill_in_on_request_and_are_never_a_pass() -> None:
    found = card("storage", *SERVER, "path.stages=hba:fc32*2", "workload.rules_of_thumb=yes")

    assert found.share == pytest.approx(1160 / 6400)
    assert found.status == "assumed"


def test_rules_of_thumb_do_not_add_to_a_workload() -> None:
    settings = (*SERVER, "workload.mb_s=100", "path.stages=hba:fc8*1")

    assert card("storage", *settings, "workload.rules_of_thumb=yes") == card("storage", *settings)


@pytest.mark.parametrize(("rate", "status"), [("560", "pass"), ("561", "warn"), ("800", "warn"), ("801", "fail")])
def test_the_limits_are_70_and_100_percent(rate: str, status: str) -> None:
    assert card("storage", f"workload.mb_s={rate}", "capacity.mb_s=800").status == status


def test_a_user_sets_the_limits_as_rules() -> None:
    mine = """schema = "sizeup.rules/1"
[[override]]
target = "figure.share.pass-to.value"
value = 30
reason = "house rule"
date = 2026-11-20
"""
    pack = rules.load(rules.shipped_texts(), ("rules.toml", mine))
    given = parse_settings(["workload.mb_s=400", "capacity.mb_s=800"])

    assert [size(given, which).cards[0].status for which in (rules.shipped(), pack)] == ["pass", "warn"]


@pytest.mark.parametrize(
    ("paths", "rate", "n_plus_one", "status"), [(2, 500, 0.625, "uncertain"), (2, 1000, 1.25, "warn")]
)
def test_a_failure_beyond_the_capacity_makes_a_pass_a_warning(
    paths: int, rate: float, n_plus_one: float, status: str
) -> None:
    stages = f"path.stages=hba:fc8*{paths}"
    found = card("storage", f"workload.mb_s={rate}", stages, "path.policy=active-active")

    assert found.n_plus_one == pytest.approx(n_plus_one)
    assert found.status == status
    assert ("Storage: 125 % after losing one of 2 paths" in found.sentences) == (status == "warn")


@pytest.mark.parametrize(
    ("paths", "rate", "statuses"), [(2, 500, ("pass", "pass")), (2, 1000, ("warn", "fail")), (1, 500, ("warn", "fail"))]
)
def test_a_failure_fails_where_the_user_requires_that_it_does_not(
    paths: int, rate: float, statuses: tuple[str, str]
) -> None:
    """500 of 800 MB/s are left of two paths (63 %); 1,000 are 125 % of it; of one path nothing is left."""
    given = (f"workload.mb_s={rate}", f"path.stages=hba:fc8*{paths}", "path.policy=active-active", "capacity.mb_s=9000")

    required = (*given, "policy.n_plus_one=required")
    assert (card("storage", *given).status, card("storage", *required).status) == statuses
    assert card("storage", *required).unmeasured == ("N+1",)  # of the storage behind the paths


@pytest.mark.parametrize(("paths", "active"), [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2)])
def test_of_active_and_passive_paths_half_count_and_the_others_take_over(paths: int, active: int) -> None:
    """A path carries 800 MB/s; of an odd number of them, either half may be the smaller one."""
    found = card("storage", "workload.mb_s=400", f"path.stages=hba:fc8*{paths}", "path.policy=active-passive")

    assert (found.share, found.n_plus_one) == (0.5 / active, 0.5 / active if paths > 1 else None)


def test_a_pass_that_needs_both_paths_is_assumed_until_their_policy_is_known() -> None:
    two = "path.stages=hba:fc8*2"
    drives = "capacity.mb_s=9000"
    passes, warns = (card("storage", f"workload.mb_s={rate}", two, drives) for rate in (720, 1000))

    assert passes.status == "assumed"
    assert "Assumed: all paths carry data (90 % if half are passive)" in passes.sentences
    assert warns.status == "warn"
    assert "Assumed: all paths carry data (125 % if half are passive)" in warns.sentences
    assert card("storage", "workload.mb_s=400", two, drives).status == "pass"


def test_the_verdict_names_the_year_in_which_the_capacity_is_exceeded() -> None:
    found = card(
        "storage",
        "workload.mb_s=500",
        "workload.growth_percent=20",
        "workload.horizon_years=3",
        "path.stages=hba:fc8*1",
    )

    assert found.last_year == pytest.approx(0.625 * 1.728)
    assert (found.horizon_years, found.status) == (3, "fail")
    assert "Storage: 100 % is exceeded in year 3 (+20 % a year)" in found.sentences


def test_growth_without_a_horizon_changes_nothing() -> None:
    settings = ("workload.mb_s=500", "path.stages=hba:fc8*1")

    assert card("storage", *settings, "workload.growth_percent=20") == card("storage", *settings)


def test_measured_iops_take_the_place_of_what_drives_are_good_for() -> None:
    workload = ("workload.iops=40000", "workload.read_percent=60", "workload.io_kib=8")
    found = card("storage", *workload, *ARRAY, "capacity.iops=100000")

    assert found.share == pytest.approx(0.4)
    assert found.status == "pass"


@pytest.mark.parametrize(("rate", "iops", "share"), [("100", "9000", 0.9), ("900", "1000", 0.9), ("500", "2000", 0.5)])
def test_of_throughput_and_iops_the_larger_share_counts(rate: str, iops: str, share: float) -> None:
    workload = (f"workload.mb_s={rate}", f"workload.iops={iops}")

    assert card("storage", *workload, "capacity.mb_s=1000", "capacity.iops=10000").share == pytest.approx(share)


def test_the_published_cluster_counts_both_servers() -> None:
    sizing = size(find_preset("ault-aultdb").values())
    figures = {one.id: one.quantity.value for one in sizing.advice if one.quantity is not None}

    assert figures["io.demand.ghz-rule"] == pytest.approx(75e6)
    assert figures["io.capacity"] == pytest.approx(200e6)
    assert figures["observed.iops-per-core"] == 3000
    assert figures["verdict.storage"] == pytest.approx(75 / 200)
    assert figures["io.demand.class.oltp"] == 6000


CLUSTER = ("cluster.nodes=3", "machine.cores=16", "machine.memory_gib=256")


def test_a_cluster_loses_a_server() -> None:
    cpu = card("cpu", *CLUSTER, "workload.cpu_percent=60")
    memory = card("memory", *CLUSTER, "sga.mb=102400", "memory.sessions=1024", "memory.session_mib=32")
    paths = card("storage", *CLUSTER, "workload.mb_s=3000", "path.stages=hba:fc16*6,array:fc32*4")

    assert (cpu.share, cpu.n_plus_one) == pytest.approx((0.6, 0.9))
    assert (memory.share, memory.n_plus_one) == pytest.approx((132 / 256, (100 + 48) / 256))
    assert paths.n_plus_one == pytest.approx(3000 / 6400)


def test_cores_of_another_server_count_by_their_relative_performance() -> None:
    busy = ("machine.cores=32", "workload.cpu_cores=20")
    unknown = card("cpu", *busy)
    known = card("cpu", *busy, "workload.specrate_per_core=5", "machine.specrate_per_core=10")

    assert (unknown.status, unknown.share) == ("uncertain", None)
    assert known.share == pytest.approx(10 / 32)
    assert known.status == "pass"


@pytest.mark.parametrize(
    ("cores", "spread", "status"),
    [
        (32, ("workload.spread_cores=17.28",), "pass"),
        (24, ("workload.spread_cores=17.28",), "warn"),
        (24, (), "pass"),
        (10, ("workload.spread_cores=17.28",), "uncertain"),
        (8, ("workload.spread_cores=17.28",), "fail"),
    ],
)
def test_busy_threads_may_share_cores_or_not(cores: int, spread: tuple[str, ...], status: str) -> None:
    """17.28 cores are 54 % of 32, 72 % of 24 and 173 % of 10; 8.64 are 86 % of 10 and 108 % of 8."""
    same = ("workload.specrate_per_core=1", "machine.specrate_per_core=1")
    found = card("cpu", f"machine.cores={cores}", "workload.cpu_cores=8.64", *spread, *same)

    assert (found.status, found.share) == (status, pytest.approx(8.64 / cores))
    assert found.facts is not None
    assert (found.facts.demand.value, found.facts.demand.high) == (8.64, 17.28 if spread else 8.64)
    assert found.assumed == (("busy threads may share no core",) if status == "warn" else ())
    assert ("because busy threads may share no core" in found.statement) is (spread != () and cores in (24, 10))


@pytest.mark.parametrize(("cores", "status"), [(30, "pass"), (16, "uncertain"), (9, "uncertain"), (4, "fail")])
def test_busy_cores_that_are_a_range_have_both_ends(cores: int, status: str) -> None:
    """20 are 67 % of 30 and 125 % of 16; 5 are 56 % of 9 and 125 % of 4."""
    same = ("workload.specrate_per_core=1", "machine.specrate_per_core=1")
    found = card("cpu", f"machine.cores={cores}", "workload.cpu_cores=5..12..20", *same)

    assert found.status == status
    assert found.facts is not None
    assert (found.facts.demand.low, found.facts.demand.high) == (5, 20)


def test_the_network_is_judged_where_the_storage_is_behind_it() -> None:
    found = card("network", "workload.mb_s=100", "path.stages=nic:gbe-nfs*2", "path.policy=active-active")

    assert found.share == pytest.approx(100 / 228)
    assert found.status == "pass"


@pytest.mark.parametrize(("rate", "status"), [(100, "uncertain"), (1200, "fail")])
def test_the_network_rests_on_what_its_measurement_does(rate: int, status: str) -> None:
    """Nothing of 1,000 MB/s is certain from below, and 1,200 exceed them."""
    cached = Uncertainty(0.0, "the server of this mount may hold a new file", "Measure its mount")
    measured = {
        "path.bandwidth_mb_s": Quantity(1e9, "bytes/s", Origin.MEASURED, "NFS mount", uncertainties=(cached,)),
        "path.kind": Words("NFS", Origin.DETECTED, "mountstats"),
    }
    cards = size({**parse_settings([f"workload.mb_s={rate}"]), **measured}).cards
    network = next(one for one in cards if one.resource == "network")

    assert [one.status for one in cards if one.demand] == [status, status]
    assert network.statement.endswith(". Measure its mount to decide") == (status == "uncertain")


def test_a_pcie_link_carries_its_rate_less_packet_headers() -> None:
    found = advice("io.capacity", "path.stages=x:pcie3-x4")

    assert found.quantity.value == pytest.approx(3603.6e6)
    assert "3,603.6 MB/s (line rate: 3,938.4 MB/s)" in found.working[0]


@pytest.mark.parametrize(
    ("servers", "utilization", "waits"), [(1, 0.5, 0.5), (2, 0.5, 1 / 3), (10, 0.8, 0.4092), (24, 0.0, 0.0)]
)
def test_the_share_that_waits_follows_the_published_tables(servers: int, utilization: float, waits: float) -> None:
    assert waiting_share(servers, utilization) == pytest.approx(waits, abs=1e-4)


def test_reads_respond_slower_near_saturation_and_never_beyond() -> None:
    loads = [
        value("io.response-time", f"workload.iops={iops}", "workload.read_percent=100", *ARRAY) for iops in (10, 4300)
    ]
    beyond = advice("io.response-time", "workload.iops=5000", "workload.read_percent=100", *ARRAY)

    assert loads[0] == pytest.approx(1e9 / 182)
    assert loads[1] > 2 * loads[0]
    assert (beyond.quantity, beyond.decision) == (None, "unknown")


GROWN = ("workload.horizon_years=2", "workload.specrate_per_core=3", "machine.specrate_per_core=3")


@pytest.mark.parametrize(
    ("settings", "resource", "status"),
    [
        (("workload.cpu_cores=100", "machine.cores=169", "workload.growth_percent=30", *GROWN), "cpu", "pass"),
        (("workload.cpu_cores=100", "machine.cores=121", "workload.growth_percent=10", *GROWN), "cpu", "warn"),
        (("db.gb=4000", "capacity.gb=4840", "db.growth_percent=10", *GROWN), "space", "warn"),
        (("workload.iops=200000", "workload.io_kib=8", "redo.mb_s=0", "capacity.iops=200000"), "storage", "warn"),
    ],
)
def test_exactly_the_capacity_does_not_exceed_it(settings: tuple[str, ...], resource: str, status: str) -> None:
    """In floating point 100 x 1.3^2 is 169.00000000000003."""
    assert card(resource, *settings).status == status


@pytest.mark.parametrize(("servers", "ports", "left"), [(2, 4, 1), (2, 8, 2), (2, 2, 1), (3, 6, 2), (3, 7, 2)])
def test_passive_paths_of_the_servers_that_are_left_stay_passive(servers: int, ports: int, left: int) -> None:
    """Of two servers with two ports each two ports are left, of which one carries data; a last port is not passive."""
    stages = ("path.policy=active-passive", f"path.stages=hba:fc32*{ports}@{ports}", "capacity.mb_s=20000")
    found = card(
        "storage", "workload.mb_s=4000", "redo.mb_s=0", *stages, f"cluster.nodes={servers}", "license.product=ee"
    )

    assert max(one.share for one in found.failures if "servers" in one.lost) == pytest.approx(4000 / (3200 * left))


def test_what_is_later_stands_beside_the_share_that_it_grew_from() -> None:
    """1,000 of 800 MB/s are 125 %, and 216 % after three years of 20 %."""
    demand = ("workload.mb_s=700..1000..1500", "redo.mb_s=0", "workload.growth_percent=20", "workload.horizon_years=3")
    found = card("storage", *demand, "path.stages=hba:fc8*1")

    assert found.status == "fail"
    assert "151 %" not in found.statement
