"""Busy cores of another server on this one: by published results of both processors, and how wide those are."""

from itertools import pairwise

import pytest
from msgspec.structs import replace

from sizeup.quantity import Origin, Quantity
from sizeup.sizing.advise import size
from sizeup.sizing.cards import open_cards, overall, verdict
from sizeup.sizing.keys import parse_settings
from sizeup.sizing.licensing.contract import is_named
from sizeup.sizing.rules import shipped
from sizing.sized import advice, card, sized
from tiers import one_in

BUSY = ("workload.cpu_cores=10",)
THEIRS = "workload.cpu_model=Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz"
OURS = ("machine.cpu_model=Intel(R) Xeon(R) Gold 6326 CPU @ 2.90GHz", "machine.ghz=2.9")
WORST_FIRST = ("fail", "uncertain", "warn", "pass")


@pytest.mark.parametrize(("cores", "status"), [(14, "pass"), (13, "warn"), (10, "warn"), (9, "uncertain"), (4, "fail")])
def test_published_results_of_both_processors_decide_by_their_ends(cores: int, status: str) -> None:
    """Haswell has 1.69, 2.22, 2.79 per GHz, at 2.5 GHz 4.225, 5.55, 6.975.

    Ice Lake has 2.55, 2.98, 3.38, at 2.9 GHz 7.395, 8.642, 9.802. 10 cores are 10 x 5.55 / 8.642 = 6.42 of these, at
    best 10 x 4.225 / 9.802 = 4.31, at worst 10 x 6.975 / 7.395 = 9.43: 67 % of 14, 73 % of 13, 94 % of 10, 48 to 105 %
    of 9, and at least 108 % of 4.
    """
    found = card("cpu", *BUSY, THEIRS, *OURS, f"machine.cores={cores}")

    assert found.facts is not None
    assert found.status == status
    assert found.share == pytest.approx(6.422 / cores, rel=1e-3)
    demand = found.facts.demand
    assert (demand.low, demand.high) == (pytest.approx(4.310, rel=1e-3), pytest.approx(9.432, rel=1e-3))
    assert found.ends == (pytest.approx(4.310 / cores, rel=1e-3), pytest.approx(9.432 / cores, rel=1e-3))
    assert bool(found.assumed) is (status == "warn")
    assert ("results of Haswell" in found.statement) is (status in ("warn", "uncertain"))


@pytest.mark.parametrize(
    ("cores", "status", "share"), [(64, "pass", 0.388), (32, "warn", 0.776), (16, "uncertain", None), (1, "fail", 1.02)]
)
def test_a_processor_that_nobody_named_may_be_the_slowest_or_the_fastest(
    cores: int, status: str, share: float | None
) -> None:
    """All results: 1.00 to 18.32 per core. Ice Lake at 2.9 GHz: 7.395 to 9.802.

    10 cores are 10 x 1.00 / 9.802 = 1.02 to 10 x 18.32 / 7.395 = 24.8 of these: at most 39 % of 64 and 77 % of 32,
    6.4 to 155 % of 16, at least 102 % of 1. The share is that of the end that decides; where none does there is none.
    """
    found = card("cpu", *BUSY, *OURS, f"machine.cores={cores}")

    assert (found.status, found.share) == (status, share if share is None else pytest.approx(share, rel=5e-3))
    assert found.demand == "1.02 to 24.8 cores"
    named = "Use --set workload.cpu_model=TEXT to decide" in found.statement
    assert named is (status == "uncertain")


def test_a_processor_that_nobody_named_is_no_faster_than_its_clock_allows() -> None:
    """At 1 GHz a core has 0.52 to 5.44, less than the 5.55 of the other: 10 x 4.225 / 5.44 to 10 x 6.975 / 0.52."""
    assert card("cpu", *BUSY, THEIRS, "machine.ghz=1", "machine.cores=16").demand == "7.77 to 134 cores"


def test_the_name_of_the_present_processor_narrows_what_is_known() -> None:
    unknown, known = (card("cpu", *BUSY, *OURS, "machine.cores=16", *more) for more in ((), (THEIRS,)))

    assert (unknown.status, known.status) == ("uncertain", "pass")


@pytest.mark.parametrize(("busy", "cores", "status"), [("0.3", 16, "pass"), ("20", 1, "fail"), ("5", 16, "uncertain")])
def test_of_two_processors_that_nobody_named_the_ends_still_decide(busy: str, cores: int, status: str) -> None:
    """A core of one is 1.00 / 18.32 = 0.0546 to 18.32 cores of the other.

    0.3 cores are at most 5.5, 34 % of 16; 20 are at least 1.09 of 1; 5 are 0.27 to 91.6 of 16.
    """
    found = card("cpu", f"workload.cpu_cores={busy}", f"machine.cores={cores}")

    assert found.status == status
    assert ("the processor of the present server is unknown" in found.statement) is (status == "uncertain")


@pytest.mark.parametrize("cores", [4, 10])
def test_the_cores_that_it_needs_pass_at_worst(cores: int) -> None:
    """9.432 cores at worst are 70 % of 13.47, so 14 whole cores pass and 13 do not."""
    assert card("cpu", *BUSY, THEIRS, *OURS, f"machine.cores={cores}").needs == "14 cores (limit 70 %)"


def test_a_clock_is_known_by_the_name_or_not_at_all() -> None:
    """EPYC 7003, without a clock: 5.79 to 11.45 per core, so 10 x 5.79 / 9.802 to 10 x 11.45 / 7.395 of Ice Lake."""
    facts = card("cpu", *BUSY, *OURS, "machine.cores=16", "workload.cpu_model=AMD EPYC 7543 32-Core Processor").facts

    assert facts is not None
    assert (facts.demand.low, facts.demand.high) == (pytest.approx(5.91, rel=5e-3), pytest.approx(15.48, rel=5e-3))


def test_published_results_are_not_scaled_by_the_maximum_clock() -> None:
    """Ice Lake without a base clock: 6.07 to 9.13 per core, so 10 x 4.225 / 9.13 to 10 x 6.975 / 6.07 cores."""
    maximum = Quantity(3.5e9, "Hz", Origin.DETECTED, "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")
    typed = parse_settings((*BUSY, THEIRS, OURS[0].replace(" CPU @ 2.90GHz", ""), "machine.cores=14"))
    facts = next(card for card in size({**typed, "machine.ghz": maximum}).cards if card.resource == "cpu").facts

    assert facts is not None
    assert (facts.demand.low, facts.demand.high) == (pytest.approx(4.628, rel=1e-3), pytest.approx(11.49, rel=1e-3))


def test_cores_of_the_same_processor_are_as_fast() -> None:
    same = "workload.cpu_model=intel(r) xeon(r) gold 6326  CPU @ 2.90GHz"
    found = card("cpu", *BUSY, same, *OURS, "machine.cores=16")

    assert (found.status, found.share) == ("pass", 0.625)
    assert found.statement == "CPU: 10 cores demand, 16 cores capacity (62 %)"


def test_the_processor_of_an_order_is_that_of_the_present_server_whatever_its_name() -> None:
    """9 cores of the same speed are half of 18."""
    order = ("machine.cores=18", "machine.cpu_model=that of the present server", "workload.cpu_cores=9")
    named = card("cpu", *order, "workload.cpu_model=Intel(R) Xeon(R) CPU E5-2690 v3 @ 2.60GHz")

    assert (named.status, named.share) == ("pass", 0.5)


def test_a_year_that_leaves_the_verdict_open_is_named_with_its_share_at_worst() -> None:
    """8 of an EPYC 9124's cores are 4.5 to 14.3 of another's: 89 % of 16 at most, and 1.25^3 times that in year 3."""
    growth = ("workload.growth_percent=25", "workload.horizon_years=3")
    models = ("machine.cpu_model=AMD EPYC 9254", "workload.cpu_model=AMD EPYC 9124 16-Core Processor")
    cpu = card("cpu", "machine.cores=16", "workload.cpu_cores=8", *models, *growth)

    assert cpu.status == "uncertain"
    assert "(28 % to 89 %, up to 174 % in year 3, because" in cpu.statement


def test_both_rates_count_before_the_processors_and_one_of_them_does_not() -> None:
    """10 cores x 5 / 8 are 6.25."""
    one = (*BUSY, THEIRS, *OURS, "machine.cores=10", "machine.specrate_per_core=8")
    both = card("cpu", *one, "workload.specrate_per_core=5")

    assert (both.share, both.status) == (0.625, "pass")
    assert card("cpu", *one).status == "warn"
    assert any(
        "machine.specrate_per_core counts only with that of the other" in text
        for text in advice("verdict.cpu", *one).caveats
    )


def test_one_instance_of_a_cluster_leaves_the_upper_end_open() -> None:
    instance = (*BUSY, "workload.scope=instance", "workload.cpu_model=x", "machine.cpu_model=x")
    open_end, beyond = (card("cpu", *instance, f"machine.cores={cores}") for cores in (100, 9))

    assert (open_end.status, open_end.demand) == ("uncertain", "10 cores or more")
    assert "(10 % or more, because the report covers one instance" in open_end.statement
    assert (beyond.status, beyond.ends[0]) == ("fail", pytest.approx(10 / 9))


@pytest.mark.parametrize("theirs", [(), (THEIRS,)])
@pytest.mark.parametrize(
    ("key", "values", "better"),
    one_in(
        3,
        [
            ("machine.ghz", (0.2, 0.6, 1.0, 2.0, 2.9, 4.0, 6.0, 19.0), True),
            ("machine.cores", (1, 4, 9, 10, 13, 14, 32, 64), True),
            ("workload.cpu_cores", (0.1, 1, 5, 10, 14, 20, 60, 200), False),
        ],
    ),
)
def test_more_never_worsens_and_load_never_improves(
    key: str, values: tuple[float, ...], better: bool, theirs: tuple[str, ...]
) -> None:
    fixed = {"workload.cpu_cores": 10.0, "machine.cores": 14.0, "machine.ghz": 2.9}
    found = []
    for value in values:
        settings = (f"{name}={each}" for name, each in {**fixed, key: value}.items())
        found.append(WORST_FIRST.index(card("cpu", *settings, OURS[0], *theirs).status))

    assert all(a <= b if better else a >= b for a, b in pairwise(found))
    assert len(set(found)) > 1


def test_what_is_independent_multiplies() -> None:
    """10 busy cores are 15 if threads share none, and 0.431 to 0.943 of Ice Lake each: 4.31 to 14.1 of 15 cores.

    If threads share cores they are at most 9.43, 63 %, so that decides; of Haswell alone 11.3 cores, 75 %, are left.
    """
    found = card("cpu", *BUSY, "workload.spread_cores=15", THEIRS, *OURS, "machine.cores=15")

    assert (found.demand, found.status) == ("4.31 to 14.1 cores", "warn")
    assert found.statement.startswith(
        "CPU: 4.31 to 14.1 cores demand, 15 cores capacity (at most 94 %, because busy threads may share no core"
    )


def test_upper_ends_of_one_figure_do_not_multiply() -> None:
    """Threads that share no core and peaks above the average both end at 12 busy cores of 6: 12, not 24."""
    typed = parse_settings(("workload.spread_cores=12", THEIRS, *OURS, "machine.cores=15"))
    spread = replace(typed["workload.spread_cores"], origin=Origin.IMPORTED)
    busy = Quantity(6.0, "1", Origin.IMPORTED, "sar", low=6.0, high=12.0)
    found = size({**typed, "workload.spread_cores": spread, "workload.cpu_cores": busy})
    text = found.find("verdict.cpu").working

    assert "busy threads may share no core: x 2" in text
    assert "no peaks above the average: x 2 in all" in text


@pytest.mark.parametrize(
    ("name", "generation"),
    [
        ("Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz", "cascade-lake"),
        ("Intel(R) Xeon(R) Silver 4108 CPU @ 1.80GHz", "skylake"),
        ("Intel(R) Xeon(R) Platinum 8380HL CPU @ 2.90GHz", "cooper-lake"),
        ("Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz", "ice-lake"),
        ("INTEL(R) XEON(R) PLATINUM 8592+", "emerald-rapids"),
        ("Intel(R) Xeon(R) 6787P", "granite-rapids"),
        ("Intel(R) Xeon(R) CPU E5-2690 0 @ 2.90GHz", "sandy-bridge"),
        ("Intel(R) Xeon(R) CPU E5-2630 v4 @ 2.20GHz", "broadwell"),
        ("Intel(R) Xeon(R) CPU E7- 4870  @ 2.40GHz", "westmere-ex"),
        ("AMD EPYC 7R13 Processor", "epyc-7003"),
        ("AMD EPYC 9754 128-Core Processor", "epyc-97x4"),
        ("AMD EPYC 9654 96-Core Processor", "epyc-9004"),
        ("AMD Opteron(tm) Processor 6282 SE", "opteron-6200"),
        ("POWER9 (architected), altivec supported", "power9"),
        ("Intel(R) Xeon(R) CPU           X7550  @ 2.00GHz", None),
        ("Intel Xeon Processor (Skylake, IBRS)", None),
        ("QEMU Virtual CPU version 2.5+", None),
        ("Quad-Core AMD Opteron(tm) Processor 8347 HE", None),
    ],
)
@pytest.mark.parametrize("table", ["cpu.ghz", "cpu.core"])
def test_names_belong_to_their_generation(table: str, name: str, generation: str | None) -> None:
    entries = [one for pack in shipped().packs for one in pack.factor if one.table == table]
    found = next((one.id for one in entries if one.model and is_named(one.model, name)), None)

    assert found == (None if generation is None else f"{table}.{generation}")


def test_an_unknown_storage_leaves_the_verdict_open_before_what_is_not_certain() -> None:
    cards = sized(*BUSY, "machine.cores=16", "workload.iops=1000").cards

    assert (verdict(cards), overall(cards).value) == (None, "unknown")
    assert [one.resource for one in open_cards(cards)] == ["storage", "cpu"]
    assert overall(sized(*BUSY, "machine.cores=16").cards).value == "uncertain"
