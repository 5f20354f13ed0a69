"""Response time near saturation: along a measured curve where there is one, else by a queue."""

import pytest

from sizeup.errors import UsageError
from sizeup.model.advice import Advice
from sizeup.sizing.advise import size
from sizeup.sizing.io.response import latency_at
from sizeup.sizing.keys import parse_settings

CURVE = ("capacity.curve_iops=10000,40000,60000", "capacity.curve_ms=0.2,0.4,1.2")
DISKS = ("array.disks=24", "array.drive=hdd-15k", "array.raid=10", "workload.read_percent=100")


def response(*settings: str) -> Advice | None:
    return size(parse_settings(settings)).find("io.response-time")


@pytest.mark.parametrize(
    ("iops", "milliseconds"), [("5000", 0.2), ("10000", 0.2), ("25000", 0.3), ("40000", 0.4), ("50000", 0.8)]
)
def test_latency_lies_between_the_measured_points(iops: str, milliseconds: float) -> None:
    answer = response(f"workload.iops={iops}", *CURVE)

    assert answer.quantity.value == pytest.approx(milliseconds * 1e6)
    assert answer.decision == "measured"
    assert "by the measured curve" in answer.verdict
    assert ("at most" in answer.verdict) == (iops == "5000")


def test_above_the_measured_curve_nothing_is_known() -> None:
    answer = response("workload.iops=60001", *CURVE)

    assert answer.quantity is None
    assert answer.decision == "unknown"
    assert "above the measured curve, which ends at 60,000 IOPS and 1.2 ms" in answer.verdict


def test_a_measured_curve_comes_before_the_estimate() -> None:
    measured, estimated = response("workload.iops=1000", *DISKS, *CURVE), response("workload.iops=1000", *DISKS)

    assert measured.decision == "measured"
    assert estimated.decision == "estimated"
    assert any("M/M/c" in caveat for caveat in estimated.caveats)


def test_the_estimate_uses_the_iops_of_the_drives_where_their_mb_s_are_the_bottleneck() -> None:
    answer = response("workload.iops=1000", "workload.mb_s=3800", *DISKS)

    assert "at 23 % of the drives" in answer.verdict


def test_the_wait_is_that_in_front_of_all_drives() -> None:
    """Two drives of 100 IOPS at half of their 200: one request in three waits, 10 / (2 x 0.5) ms on average."""
    answer = response("workload.iops=100", "workload.read_percent=100", "array.disks=2", "array.raid=0",
                      "array.drive_iops=100")  # fmt: skip

    assert answer.quantity.value == pytest.approx((10 + 10 / 3) * 1e6)


def test_latency_rises_between_points() -> None:
    curve = [(100.0, 1.0), (200.0, 3.0)]

    assert [latency_at(curve, load) for load in (50, 100, 150, 200, 201)] == [1.0, 1.0, 2.0, 3.0, None]


@pytest.mark.parametrize(
    "curve",
    [
        ("capacity.curve_iops=10,20", "capacity.curve_ms=1"),
        ("capacity.curve_iops=20,10", "capacity.curve_ms=1,2"),
        ("capacity.curve_iops=10,10", "capacity.curve_ms=1,2"),
    ],
)
def test_a_curve_that_is_none_is_refused(curve: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match=r"capacity\.curve_iops: expected rising IOPS, as many as"):
        response("workload.iops=15", *curve)
