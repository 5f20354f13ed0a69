"""The first line and the table: a PASS is one that a buyer can sign, and nothing vanishes from the table."""

import pytest
from msgspec.structs import replace

from sizeup.model.advice import Card
from sizeup.sizing.cards import resource_cards, verdict
from sizeup.views.cards.cards import card_views, cards_data
from sizeup.views.result.answer import answer_lines
from sizeup.views.result.verdict import unsettled_note
from sizing.sized import card, sized

LOAD = ("workload.iops=40000", "workload.read_percent=60", "workload.io_kib=8", "redo.mb_s=120")
YEARS = ("workload.growth_percent=20", "workload.horizon_years=3")
PATHS = ("path.stages=hba:fc16*2", "path.policy=active-active")
DRIVES = ("array.disks=24", "array.raid=10", "array.drive_iops=20000", "array.drive_mb_s=500", "array.disk_gb=960")
SERVER = ("machine.sockets=2", "machine.cores_per_socket=16", "machine.threads_per_core=2", "machine.memory_gib=512")


def screen(*settings: str) -> list[str]:
    lines = answer_lines(sized(*settings))
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 80
    return lines


def first(lines: list[str]) -> str:
    return " ".join(" ".join(lines[: lines.index("")]).split())


def row(lines: list[str], name: str) -> str:
    return next(line for line in lines if line.startswith(f"{name} "))


def test_a_failure_in_the_last_year_makes_a_pass_a_warning_that_names_the_year() -> None:
    load = ("workload.iops=100000", "workload.read_percent=60", "workload.io_kib=8", "redo.mb_s=300")
    found = card("storage", *load, *YEARS, *PATHS)

    assert found.n_plus_one == pytest.approx(1119.2e6 / 1600e6)
    assert (found.failures[0].last_year, found.status) == (pytest.approx(1119.2 / 1600 * 1.728), "warn")
    assert card("storage", *load, *PATHS).status == "uncertain"


def test_the_loss_of_a_server_in_the_last_year_warns_too() -> None:
    cluster = ("cluster.nodes=3", "machine.cores=16", "workload.cpu_percent=50", *YEARS)
    found = card("cpu", *cluster)

    assert (found.share, found.n_plus_one, found.last_year) == pytest.approx((0.5, 0.75, 0.864))
    assert (found.status, found.needs) == ("warn", "63 cores (130 % at worst, limit 100 %)")  # 48 x 0.75 x 1.728 = 62.2


def test_a_demand_without_a_capacity_is_no_pass_and_stays_in_the_table() -> None:
    lines = screen(*LOAD, *PATHS, *DRIVES, "db.gb=4000", "workload.rules_of_thumb=yes", "machine.cores=32")

    assert first(lines).startswith("NOT CERTAIN Memory: 372.5 GiB ")
    assert "Use --set machine.memory_gib=N" in first(lines)
    assert row(lines, "Memory").split() == ["Memory", "unknown", "372.5", "GiB", "–", "–", "NO", "VERDICT"]


def test_without_any_capacity_there_is_no_verdict() -> None:
    lines = screen("workload.cpu_cores=13.3")

    assert first(lines) == "NO VERDICT CPU: 13.3 cores demand, capacity unknown. Use --set machine.cores=N"


def test_a_demand_on_unknown_cores_is_no_pass() -> None:
    lines = screen(*LOAD, *PATHS, *DRIVES, "workload.cpu_cores=13.3")

    assert first(lines).startswith("NOT CERTAIN CPU: 13.3 cores ")
    assert "Use --set machine.cores=N" in first(lines)
    assert row(lines, "CPU").endswith("NO VERDICT")


def test_what_fails_decides_over_what_is_unknown() -> None:
    lines = screen("workload.mb_s=2000", "capacity.mb_s=1000", "sga.mb=4000")

    assert lines[0].startswith("FAIL     Storage: 2,000 MB/s ")
    assert row(lines, "Memory").endswith("NO VERDICT")


@pytest.mark.parametrize("settings", [(), LOAD, (*LOAD, *PATHS, *DRIVES), (*LOAD, *PATHS, *SERVER)])
def test_every_resource_has_a_row(settings: tuple[str, ...]) -> None:
    lines = screen(*settings)

    for name in ("CPU", "Memory", "License"):
        assert row(lines, name)
    assert sum(line.startswith(("Storage ", "Paths ")) for line in lines) == 1


def test_a_row_without_a_demand_says_what_gives_one() -> None:
    lines = screen(*LOAD, *PATHS, *DRIVES)

    assert "Unknown  CPU demand (workload.cpu_cores); memory demand (sga.mb or db.hot_gb);" in lines
    assert row(lines, "CPU").split()[1:] == ["unknown", "–", "–", "–", "–"]


def test_an_assumption_that_does_not_fit_fails() -> None:
    settings = (*LOAD, *PATHS, *DRIVES, "machine.memory_gib=96", "db.gb=4000", "workload.rules_of_thumb=yes")
    found = card("memory", *settings)
    lines = screen(*settings)

    assert (found.status, found.assumed) == ("fail", ("a buffer pool of 10 % of the database",))
    assert lines[0].startswith("FAIL (assumed) Memory: 372.5 GiB ")
    assert row(lines, "Memory").endswith("FAIL (assumed)")


def test_an_assumption_that_fits_is_assumed_and_no_pass() -> None:
    lines = screen(*LOAD, *PATHS, *DRIVES, *SERVER, "db.gb=2000", "workload.rules_of_thumb=yes")

    assert lines[0].startswith("ASSUMED  Memory: 186.3 GiB ")
    assert "assumed: a buffer pool of 10 % of the database" in first(lines).partition("Basis")[0]
    assert row(lines, "Memory").endswith("ASSUMED")


def test_drives_alone_say_that_the_paths_are_not_judged() -> None:
    found = card("storage", *LOAD, *DRIVES)

    assert found.not_judged == "the paths"
    assert found.statement.startswith("Drives: ")
    assert any(
        note.startswith("The paths to the drives are not judged, because no path reports its speed")
        for note in found.sentences
    )
    assert card("storage", *LOAD, *DRIVES, *PATHS).not_judged == ""


CPU = (*SERVER, "machine.specrate_per_core=5", "workload.specrate_per_core=5")


@pytest.mark.parametrize(
    ("busy", "status", "assumed"),
    [("5", "pass", False), ("7", "warn", True), ("13.3", "uncertain", False), ("17", "fail", False)],
)
def test_standard_edition_2_bounds_the_cores(busy: str, status: str, assumed: bool) -> None:
    found = card("cpu", *CPU, f"workload.cpu_cores={busy}", "license.product=se2")

    assert found.detected == "16 of 32 cores"
    assert found.share == pytest.approx(float(busy) / 16)
    assert (found.status, bool(found.assumed)) == (status, assumed)  # of 16 cores at best, and of 8 at worst


def test_the_threads_of_an_edition_may_share_cores() -> None:
    found = card("cpu", *CPU, "workload.cpu_cores=13.3", "license.product=se2")

    assert found.assumed == ()
    assert "(83 % to 166 %, because threads that the edition uses may share cores; 16 threads" in found.statement
    assert found.statement.endswith("Turn off the second thread of each core (machine.threads_per_core=1) to decide")
    unknown = card(
        "cpu", *(one for one in CPU if "threads" not in one), "workload.cpu_cores=13.3", "license.product=se2"
    )
    assert unknown.statement.endswith("Use --set machine.threads_per_core=N to decide")


@pytest.mark.parametrize("product", [(), ("license.product=ee",)])
def test_an_edition_without_a_limit_or_that_nobody_chose_leaves_all_cores(product: tuple[str, ...]) -> None:
    assert card("cpu", *CPU, "workload.cpu_cores=13.3", *product).detected == "32 cores"


def test_a_warning_by_the_smallest_node_names_it_and_a_failure_names_the_memory() -> None:
    nodes = ("machine.memory_gib=16", "numa.node_mb=12000,4095")

    assert card("memory", *nodes, "sga.mb=8500").statement.endswith("exhaust the smallest node with 4,095 MiB)")
    assert "node" not in card("memory", *nodes, "sga.mb=17000").statement


def test_the_status_of_all_is_a_word_of_its_own_for_screens() -> None:
    views = card_views(
        sized(*LOAD, *PATHS, *DRIVES, "machine.memory_gib=96", "db.gb=4000", "workload.rules_of_thumb=yes"), None
    )

    assert {one["status"] for one in cards_data(views)} <= {"FAIL", "PASS", "ASSUMED", None}


def test_of_what_fails_the_highest_share_stands_first_and_the_others_are_named() -> None:
    """8 busy of 4 cores are 200 %; 48 GiB of 4 GiB are 1,200 %, told as more than 999 %."""
    same = ("workload.specrate_per_core=5", "machine.specrate_per_core=5")
    server = ("machine.cores=4", "machine.memory_gib=4", "sga.mb=49152", "workload.cpu_cores=8", *same)
    lines = screen(*server)

    assert lines[0].startswith("FAIL     Memory: 48 GiB demand, 4 GiB capacity (>999 %)")
    assert "CPU fails too" in first(lines)


def test_a_share_above_the_limit_never_reads_as_the_limit() -> None:
    """16.05 of 16 cores are 100.3 %."""
    same = ("workload.specrate_per_core=5", "machine.specrate_per_core=5")
    found = card("cpu", "machine.cores=16", "workload.cpu_cores=16.05", *same)

    assert (found.status, "(>100 %)" in found.statement) == ("fail", True)


@pytest.mark.parametrize("status", ["fail", "warn"])
def test_what_is_certain_goes_before_what_rests_on_a_default(status: str) -> None:
    judged = [Card("space", status, share=9.0, assumed=("all data in use",)), Card("memory", status, share=2.04)]

    assert [card.resource for card in resource_cards({}, [], judged, ())[:2]] == ["memory", "space"]


def test_of_what_may_fail_the_highest_share_decides() -> None:
    judged = [Card("storage", "uncertain", share=0.13), Card("memory", "uncertain", share=13.45)]
    decides = verdict(resource_cards({}, [], judged, ()))

    assert decides is not None
    assert decides.resource == "memory"


def test_where_all_pass_the_one_with_the_least_left_decides() -> None:
    """4.8 % of the storage, and 50 % of the CPU that are 98 % in the last year; what is judged in part goes first."""
    storage, cpu = Card("storage", "pass", share=0.048), Card("cpu", "pass", share=0.5, last_year=0.98)
    after = Card("storage", "pass", share=0.5, n_plus_one=0.99)

    assert verdict([storage, cpu]) is cpu
    assert verdict([after, cpu]) is after
    assert verdict([partly := replace(storage, not_judged="the disks"), cpu]) is partly


def test_what_may_not_fit_is_named_beside_what_decides() -> None:
    memory = Card("memory", "uncertain", share=13.45)
    space = Card("space", "fail", share=2.0)

    assert unsettled_note(space, [space, memory]) == ". Memory not certain"
    assert unsettled_note(space, [space, replace(memory, share=0.9)]) == ""
