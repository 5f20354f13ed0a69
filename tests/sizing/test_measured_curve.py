"""The curve of response time over throughput that sizing takes from a ramp of io.direct."""

from sizeup.model.sample import Status
from sizeup.sizing.advise import described, size
from sizeup.sizing.inputs.measured import measured
from sizeup.sizing.keys import parse_settings
from sizing.measured_sessions import FIVE, ramp, session


def test_a_ramp_gives_the_curve_of_the_response_time() -> None:
    points = ramp("oltp-read", 10e3, 20e3, 19e3, 30e3, series="iops")
    latencies = [("latency-mean", {**at, "direction": "read"}, 1e5 * (n + 1)) for n, (_, at, _) in enumerate(points)]
    found = measured(session("io.direct", *points, *latencies))
    iops, latency = found["capacity.curve_iops"], found["capacity.curve_ms"]

    assert isinstance(iops, tuple)
    assert isinstance(latency, tuple)
    assert [one.value for one in iops] == [10e3, 20e3, 30e3]  # without the depth that gained nothing
    assert [one.value for one in latency] == [1e5, 2e5, 4e5]
    assert any("of one target on /u00/data (workload oltp-read)" in caveat for caveat in iops[0].caveats)


def test_a_point_that_is_not_valid_or_alone_makes_no_curve() -> None:
    points = ramp("oltp-read", 10e3, 20e3, series="iops")
    latencies = [("latency-mean", {**at, "direction": "read"}, 1e5) for _, at, _ in points]
    verdict = ("validity", {"workload": "oltp-read", "queue_depth": 2, "part": "x"}, 0.0)

    assert "capacity.curve_iops" in measured(session("io.direct", *points, *latencies))
    assert "capacity.curve_iops" not in measured(session("io.direct", *points, *latencies, verdict))
    assert "capacity.curve_iops" not in measured(session("io.direct", *points))
    assert "capacity.curve_iops" not in measured(
        session("io.direct", *points, *latencies, status=Status.FAILED, reason="x")
    )


def test_the_curve_of_a_part_of_the_storage_says_so() -> None:
    points = [*ramp("oltp-read", 10e3, 20e3, series="iops")]
    latencies = [("latency-mean", {**at, "direction": "read"}, 1e5) for _, at, _ in points]
    part = session("io.direct", *[(name, at, 9 * value) for name, at, value in points], *latencies, machine=FIVE)
    alone = size(described(FIVE, {})).find("io.response-time")
    answer = size({**described(FIVE, {}), **measured(part), **parse_settings(["workload.iops=90000"])})
    found = answer.find("io.response-time")

    assert alone is None
    assert "by the measured curve" in found.verdict
    assert any("of one target" in caveat for caveat in found.caveats)
