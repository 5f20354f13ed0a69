"""What a measurement is evidence of: the two ends of each row of the table of sizing.md, worked by hand.

The figure is 40,000 IOPS at depth 64 and 39,000 at depth 32 (2.6 % less, so that the depth was no limit), its interval
39,000 to 41,000, where a row says nothing else.
"""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from sizeup.charts.chart import LineChart
from sizeup.model.advice import Bounds
from sizeup.model.machine import Machine, Platform
from sizeup.model.network import NfsMount
from sizeup.model.plan import Step
from sizeup.model.sample import Coordinates, Estimate
from sizeup.model.storage import NvmeNamespace
from sizeup.quantity import Quantity
from sizeup.session.value import Session, StepRun
from sizeup.sizing.advise import described, size
from sizeup.sizing.input_value import with_stated
from sizeup.sizing.inputs.measured import measured
from sizeup.sizing.keys import parse_settings
from sizeup.views.run.step import step_chart
from sizing.measured_sessions import ONE, drives, put, session
from sizing.storage_machines import fibre_channel, port

GIB = 1 << 30
NEW = {"mount_point": "/u00", "target_bytes": GIB}
"""A new file, of which no cache is known to be small enough."""
AT: Coordinates = {"workload": "oltp-read", "queue_depth": 64}
MIX: Coordinates = {"workload": "oltp-7030", "queue_depth": 64}
SECONDS = (36e3, 40e3, 44e3)


def guest(vendor: str | None) -> Machine:
    return replace(ONE, platform=Platform(is_guest=True, vendor=vendor))


EC2, VMWARE, UNNAMED = guest("Amazon EC2"), guest("VMware, Inc."), guest(None)
MOUNTED = Machine(nfs_mounts=(NfsMount("/u00", "filer:/vol"),))
ARRAY = replace(ONE, nvme_controllers=tuple(replace(one, transport="fc") for one in ONE.nvme_controllers))


def add(
    run: StepRun,
    at: Coordinates = AT,
    value: float = 40e3,
    *,
    ends: tuple[float, float] | None = (39e3, 41e3),
    samples: Sequence[float] = (),
    ramps: int = 3,
    converged: bool = True,
    series: str = "iops",
    **extra: str | float,
) -> None:
    """Put a figure, and a lower one at half its depth, into a step."""
    low, high = ends or (None, None)
    for depth, part in ((32, 0.975), (64, 1.0)):
        where = {**at, "queue_depth": depth}
        scaled = [None if end is None else end * part for end in (low, high)]
        put(run, Estimate(series, where, value * part, *scaled, ramps, converged, extra=extra))
        point = list(run.points.values())[-1]
        for second, one in enumerate(samples):
            point.t_ns.append(second * 10**9)
            point.values.append(one * part)
            point.flags.append(0)


def ends(found: Session, key: str = "capacity.iops", *stated: str) -> tuple[float, float | None]:
    value = measured(found, parse_settings(stated))[key]
    assert isinstance(value, Quantity)
    most = value.most
    return round(value.least, 1), None if most is None else round(most, 1)


COLD = {"workload": "cold-read", "queue_depth": 64}


@pytest.mark.parametrize(
    ("machine", "figure", "least", "most"),
    [
        pytest.param(ONE, {}, 39e3, 41e3, id="converged: its interval"),
        pytest.param(ONE, {"converged": False, "ends": (30e3, 50e3)}, 30e3, 50e3, id="not converged: its interval"),
        pytest.param(ONE, {"ramps": 2, "samples": SECONDS}, 36e3, 44e3, id="two ramps: worst and best second"),
        pytest.param(ONE, {"stolen_share": 0.06}, 39e3, None, id="steal: open"),
        pytest.param(ONE, {"others_share": 0.4}, 39e3, None, id="others took CPUs: open"),
        pytest.param(ONE, {"others_io_share": 0.1}, 39e3, None, id="others took I/O: open"),
        pytest.param(ONE, {"others_share": 0.05}, 39e3, 41e3, id="others took little"),
        pytest.param(ONE, NEW, 39e3, 41e3, id="new file on a drive inside"),
        pytest.param(VMWARE, NEW, 0, 41e3, id="new file of a guest: nothing"),
        pytest.param(ARRAY, NEW, 0, 41e3, id="new file on an array: nothing"),
        pytest.param(ARRAY, {**NEW, "target_bytes": 4 * 3 * GIB}, 30e3, 41e3, id="4 times a cache of 3 GiB"),
        pytest.param(ARRAY, {**NEW, "target_bytes": 3 * GIB}, 0, 41e3, id="as large as that cache"),
        pytest.param(VMWARE, {}, 39e3, 41e3, id="a device itself"),
        pytest.param(EC2, {"samples": SECONDS}, 36e3 / 30, 41e3, id="credits: 1/30 of the worst second"),
        pytest.param(UNNAMED, {"samples": SECONDS}, 36e3 / 30, 41e3, id="a guest without DMI has credits, too"),
        pytest.param(EC2, {"samples": SECONDS, "seconds": 1800}, 39e3, 41e3, id="no credits after 30 min"),
    ],
)
def test_a_measured_figure_has_two_ends(
    machine: Machine, figure: dict[str, object], least: float, most: float | None
) -> None:
    """36,000 / 30 = 1,200; a cache of 3 GiB holds a quarter of 12 GiB, so 30,000 were misses."""
    found = session("io.direct", machine=machine)
    run = found.steps["io.direct"]
    run.step = replace(run.step, settings={**run.step.settings, "cache_size": 3 * GIB if machine is ARRAY else 0})
    add(run, **figure)

    assert ends(found) == (least, most)


@pytest.mark.parametrize(
    ("sampled", "database", "least"),
    [(16, "", 6100), (16, "db.gb=17", 6100), (16, "db.gb=18", 0), (32, "db.gb=4000", 6100), (31, "db.gb=4000", 0)],
)
def test_old_data_bound_a_new_file_below_for_a_database_of_at_most_their_size(
    sampled: int, database: str, least: float
) -> None:
    """16 GiB are 17.2 GB: enough for 17 GB, not for 18 GB; from 32 GiB on they stand for any.

    Of two reads the slower one counts, as the other may have come from a cache that the first has filled.
    """
    found = session("io.direct", machine=VMWARE)
    run = found.steps["io.direct"]
    add(run, **NEW)
    put(run, Estimate("iops", COLD, 6100, extra={**NEW, "sampled_bytes": sampled * GIB}))
    repeated = session("io.direct").steps["io.direct"]
    put(repeated, Estimate("iops", COLD, 60e3, extra={**NEW, "sampled_bytes": 16 * GIB}))
    found.steps["io.direct~2"] = repeated

    assert ends(found, "capacity.iops", *filter(None, [database])) == (least, 41e3)


@pytest.mark.parametrize(("mount", "failed"), [("/u01", ""), ("/u00", "direct")])
def test_old_data_of_another_drive_or_read_through_the_page_cache_bound_nothing(mount: str, failed: str) -> None:
    found = session("io.direct", machine=replace(drives(2, 4e9), platform=VMWARE.platform))
    run = found.steps["io.direct"]
    add(run, **NEW)
    put(run, Estimate("iops", COLD, 6100, extra={**NEW, "mount_point": mount, "sampled_bytes": 32 * GIB}))
    if failed:
        put(run, Estimate("validity", {**COLD, "part": failed}, 0))

    assert ends(found, "capacity.iops", "db.device=/u00") == (0, 41e3)


@pytest.mark.parametrize(("machine", "least", "reads"), [(VMWARE, 480.3, 40), (ARRAY, 1648.6, 10)])
def test_old_data_bound_a_mix_by_what_its_writes_may_take(machine: Machine, least: float, reads: int) -> None:
    """30 % writes cost 0.7 + 0.3 x 40 = 12.7 reads, on an array 0.7 + 0.3 x 10 = 3.7: 6,100 / 12.7 and / 3.7."""
    found = session("io.direct", machine=machine)
    run = found.steps["io.direct"]
    for at in (AT, MIX):
        add(run, at, **NEW)
    put(run, Estimate("iops", COLD, 6100, extra={**NEW, "sampled_bytes": 32 * GIB}))
    value = measured(found)["capacity.mixed_iops"]

    assert ends(found, "capacity.mixed_iops") == (least, 41e3)
    assert isinstance(value, Quantity)
    reason = f"old data gave 6,100 IOPS of reads, and a write may take as long as {reads} of them"
    action = {one.reason: one.action for one in value.uncertainties}[reason]
    assert action.endswith("or enter capacity.iops"), "which a mix follows from"


def test_old_data_bound_a_bandwidth_by_their_bytes() -> None:
    """6,100 blocks of 8 KiB a second are 50.0 MB/s."""
    found = session("io.direct", machine=VMWARE)
    run = found.steps["io.direct"]
    add(run, {"workload": "dss-rand"}, 500e6, ends=(490e6, 510e6), series="rate", **NEW)
    put(run, Estimate("iops", COLD, 6100, extra={**NEW, "sampled_bytes": 32 * GIB}))

    assert ends(found, "path.bandwidth_mb_s") == (6100 * 8192, 510e6)


@pytest.mark.parametrize(
    ("ramps", "failed", "reason"),
    [(2, "", "it was measured in few ramps"), (3, "steady", "throughput was not steady"),
     (2, "submitters", "it was measured in few ramps"), (3, "physical steady", "throughput was not steady")],
)  # fmt: skip
def test_the_worst_second_bounds_a_figure_of_few_ramps_or_of_unsteady_throughput(
    ramps: int, failed: str, reason: str
) -> None:
    found = session("io.direct")
    run = found.steps["io.direct"]
    add(run, ramps=ramps, samples=SECONDS)
    for part in failed.split():
        put(
            run,
            Estimate("validity", {**AT, "part": part}, 0, extra={"sizing": "left out"} if part == "physical" else {}),
        )
    value = measured(found, {})["capacity.iops"]

    assert isinstance(value, Quantity)
    assert {one.reason: one.end for one in value.uncertainties if not one.upper}[reason] == 36e3
    assert {one.reason: one.end for one in value.uncertainties if one.upper}[reason] == 44e3
    longer = "Measure for longer, on an idle host"
    assert {one.action for one in value.uncertainties if one.reason == reason} == {longer}
    assert shown_ends(found) == (36e3, 44e3)


def shown_ends(found: Session) -> tuple[float | None, float | None]:
    """The ends that a chart and its table show of the figure."""
    chart = step_chart(found.steps["io.direct"], None)
    assert isinstance(chart, LineChart)
    ((point,),) = ([point for point in line.points if point.x == AT["queue_depth"]] for line in chart.lines)
    return point.low, point.high


def test_the_interval_of_steady_ramps_is_what_is_shown_and_counts() -> None:
    found = session("io.direct")
    add(found.steps["io.direct"], samples=SECONDS)

    assert shown_ends(found) == ends(found) == (39e3, 41e3)


def test_requests_smaller_than_those_of_a_figure_that_is_open_above_stay_open() -> None:
    found = session("io.direct")
    add(found.steps["io.direct"], others_share=0.4)

    assert ends(found, "capacity.iops", "workload.io_kib=4") == (39e3, None)


@pytest.mark.parametrize(
    ("machine", "target_bytes", "cache", "reason"),
    [
        (VMWARE, GIB, 0, "the host of this guest may hold a new file of 1 GiB"),
        (ARRAY, GIB, 0, "the array or controller may hold a new file of 1 GiB"),
        (MOUNTED, GIB, 0, "the server of this mount may hold a new file of 1 GiB"),
        (ARRAY, 0, 0, "the array or controller may hold a new file"),
        (ARRAY, 12 * GIB, 3 * GIB, "a cache of 3 GiB may hold 25 % of a new file of 12 GiB"),
    ],
)
def test_what_may_hold_a_new_file_is_named(machine: Machine, target_bytes: int, cache: int, reason: str) -> None:
    found = session("io.direct", machine=machine)
    run = found.steps["io.direct"]
    run.step = replace(run.step, settings={**run.step.settings, "cache_size": cache})
    add(run, **{**NEW, "target_bytes": target_bytes})
    value = measured(found)["capacity.iops"]

    assert isinstance(value, Quantity)
    assert reason in {one.reason for one in value.uncertainties}


def test_a_rate_that_was_limited_is_a_lower_bound() -> None:
    found = session("io.direct")
    add(found.steps["io.direct"], rate_limit="rate_iops=40000")
    value = measured(found)["capacity.iops"]

    assert isinstance(value, Quantity)
    assert (value.least, value.most) == (39e3, None)
    told = [(one.reason, one.action) for one in value.uncertainties]
    assert told == [("its rate was limited (rate_iops=40000)", "Measure without that limit")]


def test_old_data_of_which_slow_reads_alone_are_certain_say_what_was_measured() -> None:
    found = session("io.direct", machine=VMWARE)
    run = found.steps["io.direct"]
    add(run, **NEW)
    put(run, Estimate("iops", COLD, 2066, extra={**NEW, "all_iops": 9930, "sampled_bytes": 32 * GIB}))
    value = measured(found, {})["capacity.iops"]

    assert isinstance(value, Quantity)
    assert "old data gave 9,930 IOPS (2,066 IOPS count as certain)" in {one.reason for one in value.uncertainties}


def test_what_would_settle_a_new_file_is_named() -> None:
    """Without old data the quick plan, and where too little was found how much; a volume with credits says its time."""

    def lower(found: Session, *stated: str) -> dict[str, str]:
        value = measured(found, parse_settings(stated))["capacity.iops"]
        assert isinstance(value, Quantity)
        return {one.reason: one.action for one in value.uncertainties if not one.upper}

    found = session("io.direct", machine=VMWARE)
    run = found.steps["io.direct"]
    add(run, **NEW)
    new_file = "the host of this guest may hold a new file of 1 GiB"
    plan = "Measure its mount with the quick plan, which reads existing data too, or enter capacity.iops"
    assert lower(found) == {new_file: plan}
    run.step = replace(run.step, settings={**run.step.settings, "cold_read": True})
    none = "Measure where 4 GiB or more are older than a day (less was found), or enter capacity.iops"
    assert lower(found) == {new_file: none}
    put(run, Estimate("iops", COLD, 6100, extra={**NEW, "mount_point": "/u07", "sampled_bytes": 32 * GIB}))
    put(run, Estimate("iops", {**COLD, "queue_depth": 63}, 6100, extra={**NEW, "sampled_bytes": 32 * GIB}))
    assert lower(found) == {"old data gave 6,100 IOPS": "Measure a file larger than all caches, or enter capacity.iops"}

    burst = session("io.direct", machine=EC2)
    add(burst.steps["io.direct"], seconds=25)
    assert list(lower(burst)) == ["a volume with burst credits may fall to a 30th after these 25 s"]


def test_unsteady_reads_of_old_data_count_and_what_is_too_little_is_named() -> None:
    found = session("io.direct", machine=VMWARE)
    run = found.steps["io.direct"]
    add(run, **NEW)
    put(run, Estimate("iops", COLD, 6100, extra={**NEW, "sampled_bytes": 4 * GIB}))
    put(run, Estimate("validity", {**COLD, "part": "steady"}, 0))
    large = measured(found, parse_settings(["db.gb=10"]))["capacity.iops"]

    assert ends(found) == (6100, 41e3)
    assert isinstance(large, Quantity)
    assert "Measure where 9.31 GiB are older than a day (4 GiB were found)" in next(
        one.action for one in large.uncertainties
    )


@pytest.mark.parametrize(
    ("demand", "said"),
    [
        (
            90e3,
            "(225 %; as low as 18 %: it was measured at queue depth 64 alone). Measure at a queue",
        ),
        (30e3, "none of it certain: the host of this guest may hold a new file of 1 GiB). Measure its"),
    ],
)
def test_the_uncertainty_is_named_that_the_demand_hangs_on(demand: float, said: str) -> None:
    """Two uncertainties leave the upper end open and one the lower: none of them alone would decide on 90,000 IOPS."""
    found = session("io.direct", machine=VMWARE)
    put(found.steps["io.direct"], Estimate("iops", AT, 40e3, extra={**NEW, "others_share": 0.4}))
    known = parse_settings([f"workload.iops={demand:g}", "workload.read_percent=100", "capacity.mb_s=90000"])
    (card,) = [
        one for one in size(described(VMWARE, {**measured(found, known), **known})).cards if one.resource == "storage"
    ]

    assert said in card.statement


def test_what_has_to_be_provided_has_no_doubt_of_what_was_measured() -> None:
    """50,000 / 70 % = 71,429 IOPS, although only 1,200 of those measured are certain."""
    found = session("io.direct", machine=EC2)
    add(found.steps["io.direct"], samples=SECONDS)
    known = parse_settings(["workload.iops=50000", "workload.read_percent=100", "capacity.mb_s=90000"])
    (card,) = [
        one for one in size(described(EC2, {**measured(found, known), **known})).cards if one.resource == "storage"
    ]

    assert (card.status, card.needs) == ("fail", "71,430 IOPS (limit 70 %)")


def storage_capacity_of(found: Session, *stated: str) -> Bounds:
    """The ends that a demand is judged by."""
    known = parse_settings(["workload.io_kib=8", "capacity.mb_s=90000", *stated])
    assert found.machine is not None
    cards = size(described(found.machine, with_stated(measured(found, known), known))).cards
    facts = next(card for card in cards if card.resource == "storage").facts
    assert facts is not None
    return facts.capacity


@pytest.mark.parametrize(
    ("kind", "reads", "mixed", "least"),
    [
        ("NVMe", 100, 0, 39e3),
        ("NVMe", 70, 0, 3070.9),
        ("HBA", 70, 0, 10540.5),
        ("NVMe", 70, 20e3, 2000),
        ("NVMe", 50, 20e3, 1239.0),
    ],
)
def test_what_was_measured_of_reads_or_another_mix_bounds_a_mix(
    kind: str, reads: int, mixed: float, least: float
) -> None:
    """A mix of 30 % writes costs 0.7 + 0.3 x 40 = 12.7 reads, on an array 0.7 + 0.3 x 10 = 3.7.

    39,000 / 12.7 = 3,070.9; 39,000 / 3.7 = 10,540.5. Of 20,000 of the mix a full drive keeps a tenth, 2,000. Half
    writes cost 0.5 + 0.5 x 40 = 20.5 reads: 2,000 x 12.7 / 20.5 = 1,239.0.
    """
    found = session("io.direct")
    add(found.steps["io.direct"])
    if mixed:
        add(found.steps["io.direct"], MIX, mixed, ends=None)

    wanted = ("workload.iops=100", f"workload.read_percent={reads}", f"path.kind={kind}")
    assert round(storage_capacity_of(found, *wanted).low, 1) == least


@pytest.mark.parametrize(
    ("mixes", "reads", "minutes", "least", "most"),
    [
        ({30: 20e3}, 70, 1, 2000, 20500),
        ({30: 20e3}, 70, 30, 19500, 20500),
        ({30: 20e3}, 100, 30, 19500, None),
        ({100: 20e3}, 70, 30, 19500, None),
        ({100: 20e3}, 0, 30, 19500, 20500),
        ({100: 20e3, 30: 30e3, 10: 40e3}, 70, 30, 29500, 30500),
        ({100: 20e3, 10: 40e3}, 70, 30, 19500, None),
        ({10: 40e3}, 70, 30, 15240.2, 40500),
    ],
)
def test_a_mix_alone_bounds_reads_and_what_writes_less_below(
    mixes: dict[int, float], reads: int, minutes: int, least: float, most: float | None
) -> None:
    """A tenth of writes costs 0.9 + 0.1 x 40 = 4.9 reads, 30 % cost 12.7: 39,500 / (12.7 / 4.9) = 15,240.2."""
    found = session("io.direct")
    for written, value in mixes.items():
        at = MIX if written == 30 else {**MIX, "workload": f"random-8k-{100 - written}r"}
        around, extra = (value - 500, value + 500), {"seconds": minutes * 60, "write_percent": written}
        add(found.steps["io.direct"], at, value, ends=around, **extra)

    known = storage_capacity_of(found, "workload.iops=100", f"workload.read_percent={reads}")
    assert (round(known.low, 1), known.high and round(known.high, 1)) == (least, most)


@pytest.mark.parametrize(
    ("measured_kib", "wanted_kib", "written", "least", "most"),
    [
        (4, 4, 0, 19500, 20500),
        (4, 8, 0, 9750, 20500),
        (16, 4, 0, 19500, 82000),
        (4, 4, 50, 19500, 20500),
    ],
)
def test_requests_of_any_one_size_count_as_their_own_and_are_converted(
    measured_kib: int, wanted_kib: int, written: int, least: float, most: float
) -> None:
    """One of 8 KiB costs at most two of 4 KiB; one of 4 KiB at least a quarter of one of 16 KiB: 20,500 x 4."""
    found = session("io.direct")
    at: Coordinates = {"workload": f"random-{measured_kib}k-{100 - written}r", "queue_depth": 64}
    extra = {"seconds": 1800, "write_percent": written, "block_bytes": measured_kib * 1024}
    add(found.steps["io.direct"], at, 20e3, ends=(19.5e3, 20.5e3), **extra)

    wanted = ("workload.iops=100", f"workload.io_kib={wanted_kib}", f"workload.read_percent={100 - written}")
    known = storage_capacity_of(found, *wanted)
    assert (known.low, known.high) == (pytest.approx(least), pytest.approx(most))


@pytest.mark.parametrize(("written", "size"), [(-10, 8192), (50, -1), (50, 1e-320)])
def test_a_share_or_size_that_cannot_be_is_no_traceback(written: float, size: float) -> None:
    found = session("io.direct")
    add(found.steps["io.direct"], {**MIX, "workload": "random-8k-50r"}, write_percent=written, block_bytes=size)

    assert 0 < storage_capacity_of(found, "workload.iops=100", "workload.read_percent=50").low < 40e3


@pytest.mark.parametrize(
    ("stated", "mixed", "least"),
    [
        ("workload.read_percent=100", 0, 2900),
        ("workload.iops=100", 0, 2900),
        ("workload.read_percent=50", 0, 141.5),
        ("workload.read_bytes_percent=50", 0, 141.5),
        ("workload.read_percent=50 path.kind=HBA", 0, 527.3),
        ("workload.read_percent=50", 60e3, 304.5),
        ("workload.read_percent=70", 60e3, 491.5),
    ],
)
def test_a_throughput_of_reads_bounds_one_with_writes_from_above(stated: str, mixed: float, least: float) -> None:
    """Half writes cost 20.5 reads, on an array 5.5: 2,900 / 20.5 = 141.5 MB/s and 2,900 / 5.5 = 527.3 MB/s.

    60,000 requests of the mix for half an hour are 491.5 MB/s, and 491.5 x 12.7 / 20.5 = 304.5 of half writes.
    A share of reads that nobody stated changes nothing.
    """
    found = session("io.direct")
    add(found.steps["io.direct"], {"workload": "dss-rand"}, 3e9, ends=(2.9e9, 3.1e9), series="rate")
    if mixed:
        add(found.steps["io.direct"], AT, 2 * mixed, ends=None)
        add(found.steps["io.direct"], MIX, mixed, ends=None, seconds=1800)
    known = parse_settings(["workload.io_kib=8", "workload.mb_s=100", "capacity.iops=1e9", *stated.split()])
    assert found.machine is not None
    cards = size(described(found.machine, with_stated(measured(found, known), known))).cards
    facts = next(card for card in cards if card.resource == "storage").facts

    assert facts is not None
    assert (round(facts.capacity.low / 1e6, 1), facts.capacity.high) == (least, 3.1e9)


def test_between_reads_and_a_mix_the_times_of_requests_count() -> None:
    """Of half as many writes as were measured half the requests take 1/40,000 s and half 1/20,000 s: 26,666.7 a s."""
    found = session("io.direct")
    add(found.steps["io.direct"])
    add(found.steps["io.direct"], MIX, 20e3, ends=None)

    assert round(storage_capacity_of(found, "workload.iops=100", "workload.read_percent=85").value, 1) == 26666.7


@pytest.mark.parametrize(
    ("kib", "rate", "least", "most"),
    [(8, 0, 39e3, 41e3), (64, 0, 4875, 41e3), (64, 3.9e9, 23559.8, 41e3), (4, 0, 39e3, 82e3)],
)
def test_requests_of_another_size_are_converted(kib: int, rate: float, least: float, most: float) -> None:
    """Without a bandwidth 64 KiB take 8 times as long: 39,000 / 8 = 4,875.

    With 3.9 GB/s each takes 1 / 39,000 s = 25.641 us and 65,536 / 3.9e9 s = 16.804 us, 42.445 us in all: 23,559.8 a
    second. 4 KiB take at least half: 82,000.
    """
    found = session("io.direct")
    add(found.steps["io.direct"])
    if rate:
        add(found.steps["io.direct"], {"workload": "dss-rand"}, rate, ends=None, series="rate")

    assert ends(found, "capacity.iops", f"workload.io_kib={kib}") == (least, most)


def apart(machine: Machine, *paths: tuple[str, float, tuple[float, float] | None], series: str = "iops") -> Session:
    """A session of several steps, each of which measured one path."""
    found = session("io.direct", machine=machine)
    for number, (path, value, both) in enumerate(paths):
        run = session("io.direct", path=path).steps["io.direct"]
        run.step = Step(f"io.direct~{number}", "io.direct", "", {"path": path}, 1.0, 2.0)
        workload = "oltp-read" if series == "iops" else "dss-rand"
        add(run, {"workload": workload}, value, ends=both, series=series)
        found.steps[run.step.id] = run
    return found


def two_namespaces() -> Machine:
    """Two namespaces of one drive on one link of 4 GB/s."""
    two = drives(2, 4e9)
    first = two.nvme_controllers[0]
    names = tuple(NvmeNamespace(f"nvme{n}n1", None, 1, 10**12, (first.name,)) for n in range(2))
    return replace(two, nvme_controllers=(first,), nvme_namespaces=names, budgets=two.budgets[:1])


def two_luns() -> Machine:
    """Two LUNs that two ports of 2 GB/s reach."""
    found = fibre_channel(port("host3"), port("host4"), luns=2)
    maps = [
        replace(one, mount_points=(f"/u0{one.name[-1]}",)) if one.name.startswith("dm-") else one
        for one in found.block_devices
    ]
    ports = [replace(one, limit_bytes_per_second=2e9) for one in found.budgets]
    return replace(found, block_devices=tuple(maps), budgets=tuple(ports))


PARTS = (("/u00", 10e3, (9e3, 11e3)), ("/u01", 30e3, (28e3, 33e3)))
RATES = (("/u00", 2e9, (1.9e9, 2.1e9)), ("/u01", 3e9, (2.8e9, 3.2e9)))


def test_iops_of_targets_that_were_not_measured_together_do_not_add_up_below() -> None:
    """At least the largest, 28,000; at most 11,000 + 33,000 = 44,000. One of two says nothing of the whole."""
    assert ends(apart(drives(2, 4e9), *PARTS)) == (28e3, 44e3)
    assert not isinstance(measured(apart(drives(2, 4e9), *PARTS[:1]))["capacity.iops"], Quantity)


@pytest.mark.parametrize(
    ("machine", "count", "least", "most"),
    [
        pytest.param(drives(2, 4e9), 2, 2.8e9, 5.3e9, id="two drives"),
        pytest.param(drives(2, 4e9), 1, 1.9e9, 6.1e9, id="one of two drives"),
        pytest.param(drives(1, 2.05e9), 1, 1.9e9, 2.05e9, id="an interval that its link cuts"),
        pytest.param(two_namespaces(), 2, 2.8e9, 4e9, id="two namespaces of one drive"),
        pytest.param(two_luns(), 2, 2.8e9, 4e9, id="two LUNs of one array behind ports of 4 GB/s"),
    ],
)
def test_paths_that_were_not_measured_together_add_up_to_what_they_share(
    machine: Machine, count: int, least: float, most: float
) -> None:
    """At least the largest of them, 2.8 GB/s; at most 2.1 + 3.2 = 5.3 GB/s, of one drive at most its link of 4 GB/s.

    Where the other of two drives was not measured its link bounds it, 2.1 + 4 = 6.1 GB/s, and nothing does below.
    """
    assert ends(apart(machine, *RATES[:count], series="rate"), "path.bandwidth_mb_s") == (least, most)


def test_a_lost_port_takes_its_part_of_what_was_measured_through_both() -> None:
    """3 GB/s through two ports of 2 GB/s leave 1.5 GB/s through one."""
    rates = (("/u00", 1.2e9, (1.1e9, 1.3e9)), ("/u01", 1.8e9, (1.7e9, 1.9e9)))
    left = measured(apart(two_luns(), *rates, series="rate"))["path.degraded_mb_s"]

    assert isinstance(left, Quantity)
    assert left.value == 1.5e9


@pytest.mark.parametrize(("low", "high"), [(59e3, 61e3), (10e3, 90e3)])
def test_steps_that_contradict_each_other_count_together_and_not_the_newest(low: float, high: float) -> None:
    """59,000 to 61,000 and 19,000 to 21,000 span 19,000 to 61,000, in either order; 10,000 to 90,000 hold the other."""
    runs = [("/u00", 60e3, (low, high)), ("/u00", 20e3, (19e3, 21e3))]
    alone = measured(apart(ONE, ("/u00", 60e3, (low, high)), ("/u00", high + 1, None)))["capacity.iops"]
    assert isinstance(alone, Quantity)
    assert (alone.least, alone.most) == (low, high + 1), "one ramp has no interval"
    for order in (runs, runs[::-1]):
        value = measured(apart(ONE, *order))["capacity.iops"]
        assert isinstance(value, Quantity)
        assert (value.least, value.most) == (min(low, 19e3), high)
        assert {one.action for one in value.uncertainties} == {"Measure again when idle"}


@pytest.mark.parametrize(
    ("typed", "figure", "low", "named"),
    [
        (41e3, {}, 41e3, False),
        (42e3, {}, 39e3, True),
        (5e3, {}, 5e3, False),
        (42e3, {"others_share": 0.4}, 42e3, False),
    ],
)
def test_what_was_measured_at_most_decides_against_what_is_typed(
    typed: float, figure: dict[str, float], low: float, named: bool
) -> None:
    """At most 41,000 were measured: 42,000 are refused, unless other load left that end open; less is as typed."""
    found = session("io.direct")
    add(found.steps["io.direct"], **figure)
    known = parse_settings([f"capacity.iops={typed:g}", "workload.iops=100", "workload.read_percent=100"])
    sizing = size(described(ONE, with_stated(measured(found, known), known)))
    conflict = "42,000 IOPS (--set) are more than the 41,000 IOPS measured at most, which count"

    assert (
        storage_capacity_of(found, f"capacity.iops={typed:g}", "workload.iops=100", "workload.read_percent=100").low
        == low
    )
    assert any(conflict in caveat for advice in sizing.advice for caveat in advice.caveats) is named


@pytest.mark.parametrize(("typed", "least"), [("", 0), ("capacity.mb_s=1000", 1e9), ("capacity.mb_s=5000", 2e9)])
def test_what_is_typed_settles_what_is_uncertain_of_a_path(typed: str, least: float) -> None:
    """2,000 MB/s of a new file prove nothing; 1,000 typed are as certain as typed, 5,000 no more than was measured."""
    found = session("io.direct", machine=VMWARE)
    add(found.steps["io.direct"], {"workload": "dss-rand"}, 2e9, ends=None, series="rate", **NEW)
    known = parse_settings([typed] if typed else [])
    uncertain = measured(found, known)["path.bandwidth_mb_s"]
    settled = with_stated(measured(found, known), known)["path.bandwidth_mb_s"]

    assert isinstance(uncertain, Quantity)
    assert "enter capacity.mb_s" in uncertain.uncertainties[0].action
    assert isinstance(settled, Quantity)
    assert (settled.least, settled.most) == (least, 2e9)


INTERVALS = st.tuples(st.floats(1e3, 1e5), st.floats(0, 0.5), st.floats(0, 0.5)).map(
    lambda one: (one[0] * (1 - one[1]), one[0], one[0] * (1 + one[2]))
)


@pytest.mark.ci
@settings(derandomize=True, max_examples=50)
@given(
    st.lists(INTERVALS, min_size=1, max_size=3), st.tuples(*[st.floats(0, 1)] * 3), st.sampled_from([ONE, EC2, ARRAY])
)
def test_more_agreeing_evidence_never_widens_a_figure(
    known: list[tuple[float, float, float]], inside: tuple[float, float, float], machine: Machine
) -> None:
    """What lies within the ends that are known moves neither of them outwards."""
    runs = [("/u00", value, (low, high)) for low, value, high in known]
    bottom, top = min(low for low, _, _ in known), max(high for _, _, high in known)
    low, value, high = sorted(bottom + (top - bottom) * part for part in inside)
    before = measured(apart(machine, *runs))["capacity.iops"]
    after = measured(apart(machine, *runs, ("/u00", value, (low, high))))["capacity.iops"]

    assert isinstance(before, Quantity)
    assert isinstance(after, Quantity)
    assert before.most is not None
    assert after.most is not None
    assert (after.least >= before.least, after.most <= before.most) == (True, True)
