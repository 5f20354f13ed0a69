"""The p99 of a workload, judged by the highest rate that a search found within it.

Found is 10,000 IOPS of reads at 1 ms, 10,500 missed, and nine tenths, 9,000, were confirmed, where a test says nothing
else. So 6,300 IOPS are 70 % at worst, 9,000 are 100 %, and from 10,500 on it fails at best.
"""

import pytest
from msgspec.structs import replace

from sizeup.model.advice import Card
from sizeup.model.machine import Machine, Platform
from sizeup.model.sample import Estimate
from sizeup.quantity import Quantity
from sizeup.session.value import Point, Session, point_key
from sizeup.sizing.advise import size
from sizeup.sizing.input_value import UnusedMeasurement
from sizeup.sizing.inputs.measured import measured
from sizeup.sizing.keys import parse_settings
from sizeup.views.cards.cards import CardView
from sizeup.views.cards.measured import measured_texts
from sizeup.views.cards.table import card_table
from sizing.measured_sessions import FIVE, ONE, put, session

FOUND, UNCONFIRMED, NONE_MISSED = (10e3, 9e3, 10.5e3), (10e3, 0.0, 10.5e3), (10e3, 9e3, None)
NOTHING_HELD = (0.0, 0.0, 20.0)
NEW: dict[str, str | float] = {"mount_point": "/u00", "target_bytes": 1 << 30}
GUEST = replace(ONE, platform=Platform(is_guest=True, vendor="VMware, Inc."))


def within(
    ends: tuple[float, float, float | None] = FOUND,
    limit_ms: float = 1.0,
    reads: int = 100,
    *,
    machine: Machine = ONE,
    **extra: str | float,
) -> Session:
    """A session of one search."""
    found = session("io.direct", machine=machine)
    value, low, high = ends
    at = {"workload": "slo", "limit_ms": limit_ms, "read_percent": reads}
    run = found.steps["io.direct"]
    put(run, Estimate("slo-iops", at, value, low=low, high=high, converged=low > 0, extra=extra))
    run.points[point_key("iops", {})] = Point("iops", {})  # samples alone
    return found


def judged(found: Session, iops: float, *settings: str) -> Card:
    """The storage, whose capacity is far beyond the demand otherwise."""
    rest = ("capacity.iops=9e6", "capacity.mb_s=90000", "workload.read_percent=100", "workload.io_kib=8")
    stated = parse_settings([*rest, f"workload.iops={iops:g}", "workload.p99_ms=1", *settings])
    return next(one for one in size({**measured(found, stated), **stated}).cards if one.resource == "storage")


@pytest.mark.parametrize(
    ("iops", "status"),
    [
        (6300, "pass"), (6301, "warn"), (9000, "warn"), (9001, "uncertain"), (10500, "uncertain"), (10501, "fail"),
    ],
)  # fmt: skip
def test_a_demand_is_judged_by_the_ends_of_what_was_found(iops: float, status: str) -> None:
    card = judged(within(), iops)

    assert (card.status, card.unmeasured, card.not_judged) == (status, (), "")
    assert card.share == pytest.approx(iops / 10e3)
    assert "bottleneck: requests within the p99" in card.statement


@pytest.mark.parametrize(
    ("found", "iops", "status", "said"),
    [
        (within(UNCONFIRMED), 1, "uncertain", "no rate was confirmed). Confirm one for a minute (preset slo) to"),
        (within(UNCONFIRMED), 10501, "fail", ""),
        (within(NONE_MISSED), 6300, "pass", ""),
        (within(NONE_MISSED), 90e3, "uncertain", "every rate that was tried held"),
        (within(NOTHING_HELD), 1, "uncertain", "no rate was confirmed"),
        (within(NOTHING_HELD), 20, "uncertain", ""),
        (within(NOTHING_HELD), 21, "fail", "(105 %, "),
        (within(others_share=0.4), 90e3, "uncertain", "others took 40 % of the CPUs"),
        (within(machine=GUEST, **NEW), 1, "uncertain", "a new file of 1 GiB). Measure a file larger than all caches"),
    ],
)  # fmt: skip
def test_what_a_search_left_open(found: Session, iops: float, status: str, said: str) -> None:
    """Where nothing held and 20 IOPS missed, the capacity is between 0 and 20: 21 are 105 % at best, 1 is no pass."""
    card = judged(found, iops)

    assert card.status == status
    assert said in card.statement


def test_a_confirmed_rate_leaves_nothing_open() -> None:
    value = measured(within(), parse_settings(["workload.p99_ms=1"]))["capacity.iops_within_p99"]

    assert isinstance(value, Quantity)
    assert value.uncertainties == ()


def test_a_rate_counts_for_its_limit_and_for_looser_ones() -> None:
    """What is within 1 ms is within 5 ms; what missed 1 ms may be; and what is within 10 ms says nothing of 1 ms."""
    looser = judged(within(), 10501, "workload.p99_ms=5")
    stricter = judged(within(limit_ms=10), 1)

    assert judged(within(), 6300, "workload.p99_ms=5").status == "pass"
    assert looser.status == "uncertain"
    assert looser.statement.endswith("it is of a p99 of 1 ms). Measure it (preset slo, objective 0.005) to decide")
    assert stricter.unmeasured == ("p99 latency",)
    assert any(
        note.endswith("used, because it is of a p99 of 10 ms. Measure it (preset slo, objective 0.001)")
        for note in stricter.notes
    )
    assert judged(within(limit_ms=0.3), 9e3, "workload.p99_ms=0.3").status == "warn"


@pytest.mark.parametrize(
    ("had", "reads", "seconds", "least"),
    [(100, 70, 0, 0), (70, 70, 0, 1000), (70, 70, 1800, 9000), (70, 50, 0, 600), (70, 100, 0, 700), (70, 73, 0, 1000),
     (99, 99, 0, 1000)],
)  # fmt: skip
def test_another_mix_has_no_more_reads_and_no_more_writes(had: int, reads: int, seconds: float, least: float) -> None:
    """Of 10,000 IOPS with writes a full drive keeps a tenth, 1,000, unless it was measured for half an hour.

    With half writes in place of 30 % they hold up to 30 / 50 of it, reads alone up to 70 / 100; 73 % are the same mix.
    Reads alone tell nothing of writes.
    """
    found, wanted = within(reads=had, seconds=seconds), f"workload.read_percent={reads}"

    assert judged(found, least + 1, wanted).status == "uncertain"
    if least:
        assert judged(found, least, wanted).status == "warn"
        assert judged(found, 0.7 * least, wanted).status == "pass"
    assert judged(found, 10501, wanted).status == ("fail" if abs(had - reads) < 5 else "uncertain")


@pytest.mark.parametrize(("kib", "least", "most"), [(16, 0, 10.5e3), (4, 9e3, 21e3)])
def test_larger_requests_may_take_longer_alone_and_smaller_ones_may_be_more(
    kib: int, least: float, most: float
) -> None:
    statuses = {
        iops: judged(within(), iops, f"workload.io_kib={kib}").status for iops in (1, least or 1, most, most + 1)
    }

    assert statuses[1] == ("pass" if least else "uncertain")
    assert statuses[most] == "uncertain"
    assert statuses[most + 1] == "fail"
    assert not least or statuses[least] == "warn"


def test_of_several_the_nearest_limit_and_mix_count() -> None:
    found = within((20e3, 18e3, 21e3), 5.0)
    for number, other in enumerate((within(), within((4e3, 3.6e3, 4.2e3), reads=70), within((9e4, 8e4, 1e5), 10.0))):
        found.steps[f"io.direct~{number}"] = replace(other.steps["io.direct"])

    assert [judged(found, 8e3, f"workload.p99_ms={p99}").share for p99 in (1, 3, 5, 8, 10)] == [
        pytest.approx(share) for share in (0.8, 0.8, 0.4, 0.4, 8 / 90)
    ]
    assert judged(found, 8e3, "workload.read_percent=70").share == pytest.approx(2.0)


def test_what_is_no_evidence_is_not_used_and_what_a_cache_may_have_held_is_none_below() -> None:
    cached, uncertain = within(), within()
    verdict = {"part": "direct"}
    for at in (verdict, {"part": "all"}):
        reasons = {"reasons": "direct: the page cache grew"}
        put(cached.steps["io.direct"], Estimate("validity", at, 0.0, caveats=("direct: x",), extra=reasons))
    at = {"workload": "slo", "queue_depth": 8, "part": "physical"}
    put(uncertain.steps["io.direct"], Estimate("validity", at, 0.5, caveats=("x",), extra={"sizing": "left out"}))
    elsewhere = within(machine=FIVE)
    stated = parse_settings(["workload.p99_ms=1"])

    for found, cause in ((cached, "the I/O did not bypass the page cache"), (elsewhere, "it is of nvme0n1 alone")):
        value = measured(found, stated)["capacity.iops_within_p99"]
        assert isinstance(value, UnusedMeasurement)
        assert value.cause.startswith(cause)
        assert judged(found, 1).unmeasured == ("p99 latency",)
    assert judged(uncertain, 1).status == "uncertain"
    assert judged(uncertain, 10501).status == "fail"
    assert "capacity.iops_within_p99" not in measured(within())


def test_a_capacity_that_was_typed_counts_and_judges_the_iops() -> None:
    typed = "capacity.iops_within_p99=10000"

    assert [judged(within(), iops, typed).status for iops in (7000, 7001, 10001)] == ["pass", "warn", "fail"]
    assert judged(within(reads=70), 7000, typed).status == "pass", "of whatever mix"
    stated = parse_settings([typed, "workload.iops=7000", "workload.io_kib=8", "workload.p99_ms=1"])
    (card,) = (one for one in size(stated).cards if one.resource == "storage")
    assert (card.status, card.not_judged, card.unmeasured) == ("pass", "", ())


def test_a_p99_without_a_load_or_a_measurement_says_what_is_missing() -> None:
    alone = size(parse_settings(["workload.p99_ms=5"])).cards[0].statement
    unmeasured = judged(session("io.direct"), 100, "workload.p99_ms=5")

    assert alone.endswith("not judged without workload.iops and its measurement (preset slo, objective 0.005)")
    assert (unmeasured.unmeasured, unmeasured.status) == (("p99 latency",), "pass")
    assert "not judged without workload.iops and its measurement (preset slo, objective 0.005)" in unmeasured.notes[-1]


@pytest.mark.parametrize(("ends", "rate"), [(FOUND, "10k"), (UNCONFIRMED, "10k?")])
@pytest.mark.parametrize("width", [78, 118])
def test_the_card_of_the_storage_names_the_rate_within_the_p99_and_the_commits_at_8(
    ends: tuple[float, float, float], rate: str, width: int
) -> None:
    found, log = within(ends), session("io.commit", ("commits", {"method": "fdatasync", "committers": 8}, 760.0))
    found.steps |= log.steps
    for depth in (1, 64):
        at = {"workload": "oltp-read", "queue_depth": depth}
        put(found.steps["io.direct"], Estimate("iops", at, 62.4e3))
        put(found.steps["io.direct"], Estimate("latency-p99", {**at, "direction": "read"}, 2.05e6))
    texts = measured_texts(found, "storage")
    table = card_table([CardView(Card("storage", "unknown"), ("8 cores, 2.66 GHz, 2 sockets",), texts)], width)

    assert texts.further == (f"{rate} IOPS at p99 <= 1 ms", "760 commits/s at 8")
    below = " ".join(table[2].split()).removeprefix("Measured Storage ")
    assert below == ", ".join(text for text in texts.further if text not in table[1])
    assert (below == ", ".join(texts.further)) == (width < 100)
    alone = measured_texts(log, "storage")
    assert card_table([CardView(Card("storage", "unknown"), (), alone)], width)[2:] == [], "the cell has it"
