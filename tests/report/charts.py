"""One chart of each kind, with awkward text in every place that takes some."""

from sizeup.charts.chart import Axis, Bar, BarChart, Boundary, Chart, ChartPoint, HeatMap, Line, LineChart, Scale

KIB = 1024
AWKWARD = "<script>alert(1)</script> & \x1b[31m\"'\uffff"

CURVE = LineChart(
    f"Latency {AWKWARD}",
    Axis(f"Working set {AWKWARD}", "bytes", Scale.LOG2),
    Axis("Load-to-use latency", "ns", Scale.LOG10),
    (
        Line(
            "huge pages",
            (ChartPoint(4 * KIB, 1.2, 1.1, 1.3), ChartPoint(64 * KIB, 4), ChartPoint(512 * KIB * KIB, 96, 50, 130)),
        ),
        Line(f"base pages {AWKWARD}", (ChartPoint(4 * KIB, 1.2), ChartPoint(64 * KIB, 4.4, disturbed=True))),
    ),
    (Boundary(32 * KIB, f"L1d {AWKWARD}"), Boundary(40 * KIB, "TLB")),
    f"Latency climbs. {AWKWARD}",
)
BARS = BarChart(
    "Cost of reading the clock",
    Axis("Time per call", "ns"),
    (Bar("clock_gettime", 24, 23, 25, "vdso"), Bar(AWKWARD, 342)),
)
MATRIX = HeatMap(
    "Latency by node", "CPU node", f"memory node {AWKWARD}", ("0", "1"), ("0", AWKWARD), ((89, 131), (131, None)), "ns"
)
NOTHING = LineChart("Nothing yet", Axis("Time", "ns"), Axis("Rate", "1/s"), ())
CHARTS: tuple[Chart, ...] = (CURVE, BARS, MATRIX, NOTHING, BarChart("No bars", Axis("Rate", "1/s"), ()))
