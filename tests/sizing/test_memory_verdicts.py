"""Verdicts on memory: shared memory, huge pages, small nodes, and what flash gains."""

from pathlib import Path

import pytest

from sizeup.discovery.machine import assessed, discover
from sizeup.model.advice import Card
from sizeup.model.machine import Machine
from sizeup.model.numa import HugePages, NumaNode
from sizeup.model.topology import Core
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.advise import described, size
from sizeup.sizing.inputs.detected import detected
from sizeup.sizing.keys import parse_settings
from sizeup.views.result.answer import answer_lines
from sizing.sized import advice, card, sized
from tiers import one_in


def test_memory_that_does_not_fit_is_a_failure_with_both_figures() -> None:
    settings = ("sga.mb=600000", "machine.memory_gib=512")
    found = card("memory", *settings)

    assert (found.status, found.share) == ("fail", pytest.approx(600_000 / 524_288))
    pages = advice("memory.huge-pages", *settings)
    assert pages.decision == "does-not-fit"
    assert "600,002 MiB and do not fit into the 524,288 MiB" in pages.verdict


@pytest.mark.parametrize(
    ("reserved", "decision", "said"),
    [
        (499, "short", "499 reserved: too few. The database"),
        (500, "enough", "500 reserved: enough if each segment fills its last page"),
        (501, "enough", "501 reserved: enough"),
    ],
)
def test_the_pages_to_reserve_have_one_to_spare_for_each_segment(reserved: int, decision: str, said: str) -> None:
    found = advice("memory.huge-pages", "sga.mb=1000", f"memory.huge_pages={reserved}", "machine.memory_gib=8")

    assert (found.decision, found.quantity.value) == (decision, 501)
    assert found.verdict.startswith(f"501 huge pages required for the shared memory, {said}")
    assert advice("memory.memlock", "sga.mb=1000").quantity.value == 501 * 2048 * 1024


@pytest.mark.parametrize(
    ("pack", "gib"),
    [("oracle", 100), ("postgresql", 103 + (24 + 2000 * 52 / 1024) / 1024), ("mysql", 110), ("mariadb", 110)],
)
def test_what_a_database_allocates_beside_its_buffers_counts(pack: str, gib: float) -> None:
    """100 GiB of buffers are 71 % of 140 GiB, 79 % with a tenth more and 74 % with what PostgreSQL allocates."""
    found = card("memory", "sga.mb=102400", "machine.memory_gib=140", f"license.pack={pack}")

    assert found.share == pytest.approx(gib / 140)


@pytest.mark.parametrize(
    ("pack", "gib", "status"),
    [("postgresql", 159, "warn"), ("postgresql", 160, "pass"), ("mysql", 159, "pass"), ("oracle", 159, "pass")],
)
def test_buffers_of_postgresql_leave_the_page_cache_what_its_manual_advises(pack: str, gib: int, status: str) -> None:
    found = card("memory", "sga.mb=65536", f"machine.memory_gib={gib}", f"license.pack={pack}")

    assert found.status == status
    assert ("advises 160 GiB for 64 GiB of shared_buffers" in found.statement) is (status == "warn")


def test_memory_that_a_kernel_reports_is_less_than_was_bought() -> None:
    """155.5 GiB of 160 are 2.8 % less."""
    memory = Quantity(155.5 * 2**30, "bytes", Origin.DETECTED, "/proc/meminfo")
    given = parse_settings(["sga.mb=65536", "license.pack=postgresql"])

    status = {one.resource: one.status for one in size({**given, "machine.memory_gib": memory}).cards}
    assert status["memory"] == "pass"


def test_reserved_huge_pages_beyond_the_memory_hold_nothing() -> None:
    pages = advice("memory.huge-pages", "sga.mb=1024", "memory.huge_pages=300000", "machine.memory_gib=512")

    assert pages.decision == "does-not-fit"


@pytest.mark.parametrize(
    ("settings", "gib", "status"),
    [
        (("sga.mb=102400", "db.gb=4000"), 100, "pass"),
        (("sga.advisory_mb=204800", "db.gb=4000"), 200, "pass"),
        (("db.hot_gb=107.3741824", "db.gb=4000"), 100, "pass"),
        (("db.gb=1073.741824", "workload.rules_of_thumb=yes"), 100, "assumed"),
    ],
)
def test_shared_memory_comes_from_a_size_an_advisory_the_hot_set_or_the_database(
    settings: tuple[str, ...], gib: float, status: str
) -> None:
    found = card("memory", *settings, "machine.memory_gib=512")

    assert found.share == pytest.approx(gib / 512)
    assert found.status == status


@pytest.mark.parametrize(("sessions", "status"), [(800, "pass"), (8192, "assumed"), (40000, "fail")])
def test_the_memory_of_a_session_is_named_where_its_default_decides(sessions: int, status: str) -> None:
    """250 GiB of 512, and 80 GiB for 8,192 sessions of 10 MiB: 64 %, but 80 % with 20 MiB. 800 take 8 or 16 GiB: 52 %.

    40,000 take 391 GiB: 125 %, but 87 % with 5 MiB.
    """
    settings = ("sga.mb=256000", f"memory.sessions={sessions}", "machine.memory_gib=512")
    found = card("memory", *settings)

    assert found.status == status
    assert found.assumed == (() if status == "pass" else ("10 MiB a session by default",))
    assert ("Use --set memory.session_mib=N" in " ".join(found.assumptions)) == (status != "pass")
    assert card("memory", *settings, "memory.session_mib=10").assumed == ()


def test_an_sga_beyond_the_memory_may_be_larger_than_it_needs_to_be() -> None:
    """600 of 512 GiB do not fit, and 200 GiB do, with which the advisory predicts as few reads: 39 to 117 %."""
    sizes = {"sga.mb": 600, "sga.advisory_mb": 200}
    given = {key: Quantity(gib * 2.0**30, "bytes", Origin.IMPORTED, "awr.txt") for key, gib in sizes.items()}
    found = next(one for one in size({**given, **parse_settings(["machine.memory_gib=512"])}).cards if one.demand)

    assert (found.resource, found.status, found.share) == ("memory", "uncertain", 600 / 512)
    because = "as low as 39 %: the advisory of the SGA predicts as few reads with 200 GiB"
    assert found.statement.endswith(f"{because}). Use --set sga.mb=N to decide")


@pytest.mark.parametrize(("gib", "status"), [(250, "pass"), (350, "warn"), (450, "uncertain"), (520, "fail")])
def test_memory_in_use_may_be_that_of_other_programs(gib: int, status: str) -> None:
    """Of 512 GiB 300 are available and 100 huge pages, so 112 are in use: 350 of 400 are 88 %, 450 are 112.5 %."""
    pages = HugePages(2 << 20, total=51_200, free=0)
    machine = Machine(memory_bytes=512 << 30, memory_available_bytes=300 << 30, huge_pages=(pages,))
    inputs = described(machine, parse_settings([f"sga.mb={gib * 1024}"]))
    found = next(one for one in size(inputs).cards if one.resource == "memory")

    assert (found.status, found.share) == (status, gib / 512)
    said = {
        "warn": "(68 %; at most 88 % of the 400 GiB that are certain: 112 GiB are in use now",
        "uncertain": "(88 %; 400 GiB are certain: 112 GiB are in use now",
    }
    assert said.get(status, "Memory: ") in found.statement
    typed = size({**inputs, **parse_settings(["machine.memory_gib=512"])})
    assert next(one for one in typed.cards if one.resource == "memory").facts.capacity.exact


def test_of_two_uncertainties_the_one_that_decides_is_named() -> None:
    """450 of 400 GiB are 112 %. With the 430 of the advisory alone they may be 84 %; with all 512 GiB they are 88 %."""
    sizes = {"sga.mb": 450, "sga.advisory_mb": 430}
    given = {key: Quantity(gib * 2.0**30, "bytes", Origin.IMPORTED, "awr.txt") for key, gib in sizes.items()}
    machine = Machine(memory_bytes=512 << 30, memory_available_bytes=400 << 30)
    found = next(one for one in size({**described(machine, {}), **given}).cards if one.resource == "memory")

    assert found.status == "uncertain"
    assert "(88 %; 400 GiB are certain: 112 GiB are in use now" in found.statement


def test_a_size_of_the_database_alone_asks_for_the_shared_memory_and_decides_nothing() -> None:
    found = sized("db.gb=400000", "machine.memory_gib=16", "workload.mb_s=100", "capacity.mb_s=1000")

    assert not any(card.demand for card in found.cards if card.resource == "memory")
    assert "sga.mb" in {question.key for question in found.questions}
    assert "memory demand (sga.mb or db.hot_gb)" in " ".join(answer_lines(found))


def test_sessions_alone_that_exceed_the_memory_fail() -> None:
    settings = ("memory.sessions=2048", "memory.session_mib=10", "workload.growth_percent=10")
    found = card("memory", *settings, "machine.memory_gib=16")

    assert (found.status, found.share) == ("fail", 20 / 16)
    assert "Memory: shared memory is not counted, because its size is unknown (--set sga.mb=N)" in found.sentences
    assert card("memory", *settings, "machine.memory_gib=32").status == "unknown"


@pytest.mark.parametrize(
    ("size_of", "gib"), [("sga.mb=102400", 100), ("sga.advisory_mb=102400", 100), ("db.hot_gb=107.3741824", 106)]
)
def test_pools_of_chosen_segments_are_part_of_an_sga_and_beside_a_hot_set(size_of: str, gib: float) -> None:
    found = card("memory", size_of, "sga.keep_mb=4096", "sga.recycle_mb=2048", "machine.memory_gib=512")

    assert found.share == pytest.approx(gib / 512)


def test_pools_beside_a_hot_set_are_in_its_ends_too() -> None:
    """90, 100 and 200 GiB and a pool of 4 GiB."""
    settings = ("db.hot_gb=96.63676416..107.3741824..214.7483648", "sga.keep_mb=4096", "machine.memory_gib=512")
    facts = card("memory", *settings).facts

    assert facts is not None
    demand = (facts.demand.low, facts.demand.value, facts.demand.high)
    assert demand == pytest.approx((94 << 30, 104 << 30, 204 << 30))


def test_the_share_of_the_reads_stands_beside_the_hot_set() -> None:
    known = advice("flash.use", *FLASH, "db.hot_percent=80").verdict
    unknown = advice("flash.use", *FLASH[:1], *FLASH[2:], "db.hot_percent=80").verdict

    assert "The hot set of 300 GB (80 % of the reads) fits" in known
    assert "The size of the hot set (80 % of the reads) is unknown. Use --set db.hot_gb=N" in unknown


def test_cores_of_different_threads_have_no_number_of_them() -> None:
    cores = (Core((0, 2), 0, 0, 0), Core((1,), 0, 0, 1))

    assert "machine.threads_per_core" not in detected(Machine(cores=cores))
    assert "machine.threads_per_core" in detected(Machine(cores=cores[:1]))


def test_a_node_without_memory_is_none_to_spread_over() -> None:
    nodes = (NumaNode(0, (0,), memory_bytes=1 << 30), NumaNode(1, (1,), memory_bytes=0))
    found = detected(Machine(nodes=nodes))["numa.nodes"]

    assert isinstance(found, Quantity)
    assert found.value == 1


def test_a_small_node_is_exhausted_by_its_even_share() -> None:
    even = ("sga.mb=8500", "machine.memory_gib=16")
    found = card("memory", *even, "numa.node_mb=12000,4095")

    assert found.status == "warn"
    assert (
        "4,250 MiB of shared memory per node, spread evenly, exhaust the smallest node with 4,095 MiB"
        in found.sentences[0]
    )
    assert card("memory", *even, "numa.node_mb=8192,8192").status == "pass"


def test_a_promised_gain_is_stated_in_both_directions() -> None:
    verdict = advice("value.throughput", "value.throughput=100", "value.uplift_percent=21").verdict

    assert verdict == "Throughput: 121 units, by a promise 21 % above the present, which is 17.36 % below it"


FLASH = ("db.gb=800", "db.hot_gb=300", "array.disks=4", "array.raid=10", "array.disk_gb=350")


@pytest.mark.parametrize(
    ("moved", "gain"),
    [
        ((), "1.14 to 4.1 times, by what is moved"),
        (("flash.moved=indexes",), "14 % more"),
        (("flash.moved=indexes-and-hottest-table",), "2.9 times"),
        (("flash.moved=indexes-and-hot-tables",), "4.1 times"),
    ],
)
def test_the_gain_of_flash_follows_its_case(moved: tuple[str, ...], gain: str) -> None:
    assert advice("flash.use", *FLASH, *moved).verdict.endswith(f"one system: {gain}")


@pytest.mark.parametrize(("gib", "status", "share"), [(6, "uncertain", 1.5), (2, "pass", 0.5), (30, "fail", 7.5)])
def test_a_total_that_detection_contradicts_fails_nothing_for_certain(gib: int, status: str, share: float) -> None:
    """The kernel tells 4 GiB in all, and its nodes have 24."""
    nodes = tuple(NumaNode(number, (number,), memory_bytes=12 << 30, free_bytes=11 << 30) for number in (0, 1))
    machine = assessed(Machine(nodes=nodes, memory_bytes=4 << 30, memory_available_bytes=4 << 30))
    cards = size(described(machine, parse_settings([f"sga.mb={gib * 1024}", "db.growth_percent=0"]))).cards
    found = next(one for one in cards if one.resource == "memory")

    assert (found.status, found.share) == (status, pytest.approx(share))
    assert ("all NUMA nodes together have 24 GiB" in found.statement) is (status != "pass")


def test_what_is_in_use_is_no_part_of_what_the_nodes_have() -> None:
    """Of 11 GiB of the nodes 1 is in use: 10.5 GiB are 105 % of the 10 that are certain."""
    nodes = (NumaNode(0, (0,), memory_bytes=11 << 30),)
    machine = assessed(Machine(nodes=nodes, memory_bytes=24 << 30, memory_available_bytes=23 << 30))
    cards = size(described(machine, parse_settings(["sga.mb=10752"]))).cards
    found = next(one for one in cards if one.resource == "memory")

    assert found.status == "uncertain"
    assert "10 GiB are certain: all NUMA nodes together have 11 GiB, of which 1 GiB are in use now" in found.statement


def test_what_the_nodes_do_not_add_up_to_is_kept_by_nobody() -> None:
    """64 / 0.7 = 91.43 GiB and the 2 in use, whatever memory the nodes tell."""
    machine = Machine(
        nodes=(NumaNode(0, (0,), memory_bytes=9 << 30),), memory_bytes=24 << 30, memory_available_bytes=22 << 30
    )
    cards = size(described(assessed(machine), parse_settings(["sga.mb=65536"]))).cards

    needs = next(one for one in cards if one.resource == "memory").needs
    assert needs == "93.43 GiB (limit 70 %, 2 GiB kept by others)"


@pytest.mark.parametrize("sga_gib", [9.7, 64, 200, 611.3, 9000, 11_000])
@pytest.mark.parametrize("in_use_gib", one_in(3, [0, 0.87, 2.9]))
def test_the_memory_to_buy_passes_and_a_gib_less_does_not(sga_gib: float, in_use_gib: float) -> None:
    """200 GiB / 70 % and 0.87 GiB that other programs keep of any memory: 286.6 GiB, where 100 GiB are there or 180."""

    def memory(gib: float) -> Card:
        machine = Machine(memory_bytes=round(gib * 2**30), memory_available_bytes=round((gib - in_use_gib) * 2**30))
        found = size(described(machine, parse_settings([f"sga.mb={sga_gib * 1024}"]))).cards
        return next(one for one in found if one.resource == "memory")

    needs = {memory(has).needs for has in (sga_gib / 2, sga_gib * 0.9)}
    assert len(needs) == 1
    assert (f", {in_use_gib:g} GiB kept by others)" in next(iter(needs))) is (in_use_gib > 0)
    figure = float(needs.pop().partition(" GiB")[0].replace(",", ""))
    assert figure == pytest.approx(sga_gib / 0.7 + in_use_gib, rel=1e-3)
    assert (memory(figure).status, memory(figure).needs) == ("pass", "")
    assert memory(figure - 1).status == "warn"


@pytest.mark.parametrize(("page_kib", "pages"), [(262_144, 33), (2048, 4097), (1024, 8193)])
def test_huge_pages_have_the_size_that_the_kernel_says(tmp_path: Path, page_kib: int, pages: int) -> None:
    """8,192 MiB and one page more, of 256 MiB on Itanium, 2 MiB on x86 and 1 MiB on IBM Z."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text(f"MemTotal: 999999999 kB\nHugepagesize: {page_kib} kB\n")
    found = size(described(discover(str(tmp_path)), parse_settings(["sga.mb=8192"])))

    (needed,) = (one for one in found.advice if one.id == "memory.huge-pages")
    assert needed.quantity is not None
    assert needed.quantity.value == pages
