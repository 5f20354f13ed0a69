"""How hosts are grouped, which of their figures counts, how they stand, and what changed, in worked examples."""

import math
import zlib

import msgspec
import pytest
from msgspec.structs import replace

from fleet_sessions import server
from sizeup.compare.comparison import Conclusion
from sizeup.fleet.against import fleet_drift
from sizeup.fleet.fleet import UNKNOWN_TYPE, Fleet, FleetFiles, HostStatus, build_fleet
from sizeup.fleet.heat import HeatCell, by_status, fleet_band, heat_cell, normal_peer
from sizeup.fleet.host_session import HostFigure, HostFinding, HostSession
from sizeup.fleet.outliers import Spread, spread
from sizeup.model.finding import Severity
from sizeup.model.plan import Better
from sizeup.views.band import Number

GIB = 1 << 30
PACKED = zlib.compress(msgspec.json.encode(server()))
LATENCY = HostFigure("memory", "latency", "Latency", "ns", Better.LOWER, 100.0, "quick", 1.0)
IOPS = HostFigure("storage", "iops", "IOPS", "1/s", Better.HIGHER, 1000.0, "quick", 1.0)
SESSION = HostSession(
    "a", "1", "db01", "", 1.0, "sizeup", "R650", "Gold", 2, 64, 512 * GIB, PACKED, "PASS", "", "", (LATENCY,)
)  # fmt: skip


def latency(value: float, **more: object) -> HostFigure:
    return replace(LATENCY, value=value, **more)  # type: ignore[arg-type]


def sessions(*figures: HostFigure, first: int = 1, **more: object) -> list[HostSession]:
    """Return a session of a host of its own for each figure."""
    return [
        replace(SESSION, host=f"db{number}", path=f"s{number}", figures=(figure,), **more)  # type: ignore[arg-type]
        for number, figure in enumerate(figures, first)
    ]


def fleet(*some: HostSession) -> Fleet:
    return build_fleet(FleetFiles(some, ()))


@pytest.mark.parametrize(
    ("hosts", "sigma", "value", "out"),
    [
        (3, 0.0, 124.9, False),
        (3, 0.0, 125.1, True),
        (3, 0.0, 80.1, False),
        (3, 0.0, 79.9, True),
        (2, 0.0, 500.0, False),
        (3, 0.044, 125.1, True),
        (3, 0.045, 125.1, False),
        (7, 0.0, 124.9, False),
        (8, 0.0, 110.1, True),
        (8, 0.0, 109.9, False),
        (8, 0.0, 90.0, True),
        (8, 0.0109, 110.1, True),
        (8, 0.0111, 110.1, False),
        (34, 0.0174, 110.1, True),
        (34, 0.0176, 110.1, False),
        (8, 0.0, 0.0, False),
        (8, 0.0, -1.0, False),
    ],
)
def test_a_host_stands_out_from_a_share_and_a_number_of_deviations_on(
    hosts: int, sigma: float, value: float, out: bool
) -> None:
    """Of the median 100: a quarter and 5 deviations, or from 8 hosts on a tenth and 4.5 + 34 / hosts of them."""
    assert Spread(hosts, 100.0, sigma).stands_out(value) is out
    assert not Spread(hosts, 0.0, sigma).stands_out(value)


@pytest.mark.parametrize(
    ("value", "interval", "out"),
    [
        (150.0, (126.0, 170.0), True),
        (150.0, (120.0, 170.0), False),
        (60.0, (40.0, 79.0), True),
        (60.0, (40.0, 90.0), False),
        (150.0, (90.0, 300.0), False),
        (60.0, (0.0, 79.0), True),
    ],
)
def test_the_end_of_an_interval_that_is_nearest_to_the_median_has_to_be_far(
    value: float, interval: tuple[float, float], out: bool
) -> None:
    assert Spread(3, 100.0, 0.0).stands_out(value, interval) is out


def test_a_figure_is_far_by_a_quarter_whatever_the_scatter() -> None:
    limits = Spread(8, 100.0, 9.0)

    assert [limits.is_far(value) for value in (125.1, 124.9, 79.9, 80.1, 0.0)] == [True, False, True, False, False]
    assert not Spread(8, 0.0, 0.0).is_far(100.0)
    assert Spread(8, 0.5, 0.0).is_far(1.0)


def test_the_scatter_is_that_of_the_hosts_or_of_their_runs() -> None:
    """Logarithms of 80, 90, 100, 125 and 200 lie 0.223, 0.105, 0, 0.223 and 0.693 from their median, the MAD 0.223."""
    found = spread([100.0, 80.0, 0.0, 125.0, 90.0, -1.0, 200.0])
    assert (found.hosts, found.median, found.sigma) == (5, 100.0, pytest.approx(1.4826 * math.log(1.25)))

    runs = [(50.0, 200.0), (100.0, 400.0), (1.0, 1.0), (0.0, 5.0), (9.0, 5.0)]
    assert spread([100.0] * 3, runs).sigma == pytest.approx(math.log(2.0) / 1.96)
    assert spread([100.0] * 3, [(0.0, 5.0)]).sigma == 0.0
    assert spread([0.0]) == Spread(0, 0.0, 0.0)


def test_hosts_are_of_one_type_where_sizes_of_memory_follow_one_another() -> None:
    """From 500 to 540 GiB in steps below 4 %, then one of 4.1 %; three unknowns."""
    sizes = [540 * GIB, 500 * GIB, 520 * GIB, int(562.2 * GIB), None, 512 * GIB]
    some = [replace(one, memory_bytes=size) for one, size in zip(sessions(*[LATENCY] * 6), sizes, strict=True)]
    unknown = replace(some[0], host="x1", model="", cpu_model="", sockets=None, cores=None, memory_bytes=None)
    empty = replace(some[0], host="x2", packed_machine=b"")
    found = {host.name: host.type.name for host in fleet(*some, unknown, empty).hosts}

    like = "R650, Gold, 2 sockets, 64 cores, 520 GiB"
    assert found == {
        **dict.fromkeys(("db1", "db2", "db3", "db6"), like),
        "db4": "R650, Gold, 2 sockets, 64 cores, 562 GiB",
        "db5": "R650, Gold, 2 sockets, 64 cores, memory unknown",
        "x1": "CPU unknown, memory unknown",
        "x2": UNKNOWN_TYPE,
    }


def test_the_figure_of_a_host_is_valid_of_the_usual_workload_and_the_newest() -> None:
    """Two measured quickly, one in full; the fourth did both, and has an older figure and one that is not valid."""
    three = (
        latency(90.0, when=1.0),
        latency(91.0, when=2.0),
        latency(92.0, when=3.0, invalid="drift"),
        latency(93.0, when=4.0, workload="full"),
    )
    others = sessions(latency(100.0), latency(101.0, workload="full"), latency(102.0))
    found = fleet(*others, replace(SESSION, host="db4", figures=three))
    figures = {host.name: (host.figures["latency"].value, sorted(host.other_workload)) for host in found.hosts}

    assert figures == {"db1": (100.0, []), "db2": (101.0, ["latency"]), "db3": (102.0, []), "db4": (91.0, [])}
    # Of equally many hosts the workload with the newest figure is the usual one.
    newer = fleet(*sessions(latency(1.0), latency(2.0, workload="full", when=2.0)))
    assert [sorted(host.other_workload) for host in newer.hosts] == [["latency"], []]


def finding(*ids: str) -> tuple[HostFinding, ...]:
    return tuple(HostFinding(id_, Severity.WARNING, id_) for id_ in ids)


@pytest.mark.parametrize(("hosts", "having", "told"), [(2, 1, 0), (3, 1, 1), (3, 2, 0), (20, 2, 2), (19, 2, 0)])
def test_a_finding_of_a_tenth_of_the_peers_or_of_one_host_is_told(hosts: int, having: int, told: int) -> None:
    some = sessions(*[LATENCY] * having, findings=finding("port", "port")) + sessions(
        *[LATENCY] * (hosts - having), first=having + 1
    )

    assert sum(host.status is HostStatus.FINDING for host in fleet(*some).hosts) == told


def test_a_host_without_like_ones_is_compared_with_its_family_and_what_it_lost_is_told() -> None:
    like = sessions(*[LATENCY] * 3)
    lost = replace(SESSION, host="x", sockets=1, cores=32, memory_bytes=256 * GIB)
    found = fleet(*like, lost).hosts[-1]

    assert found.compared_as == fleet(*like).hosts[0].type
    assert [(one.id, one.title) for one in found.findings] == [
        ("fleet.less-memory", "Memory: 256 GiB; 3 like hosts with 512 GiB"),
        ("fleet.less-sockets", "Sockets: 1; 3 like hosts with 2"),
        ("fleet.less-cores", "Cores: 32; 3 like hosts with 64"),
    ]
    more = replace(SESSION, host="x", sockets=3, cores=65, memory_bytes=int(512 / 1.039 * GIB))
    assert fleet(*like, more).hosts[-1].findings == ()
    assert [one.id for one in fleet(*like, replace(lost, cores=63)).hosts[-1].findings][-1] == "fleet.less-cores"
    three = sessions(*[LATENCY] * 3, first=11, memory_bytes=256 * GIB)
    assert {host.compared_as == host.type for host in fleet(*sessions(*[LATENCY] * 5), *three).hosts} == {True}
    pair = fleet(*sessions(LATENCY, LATENCY), lost).hosts[-1]
    assert (pair.compared_as, pair.findings) == (pair.type, ())


def test_each_host_stands_as_its_worst_figure_says() -> None:
    alike = [latency(100.0, interval=(99.0, 101.0))] * 8
    some = {
        "worse": (latency(170.0),),
        "better": (latency(50.0),),
        "wide": (latency(160.0, scatter=True, interval=(90.0, 170.0)),),
        "far": (latency(160.0, scatter=True, interval=(140.0, 170.0)),),
        "invalid": (latency(100.0, invalid="drift"),),
        "none": (),
        "other": (latency(160.0, workload="full"),),
        "both": (latency(50.0), replace(IOPS, value=100.0)),
    }
    rest = [replace(SESSION, host=name, figures=figures) for name, figures in some.items()]
    found = fleet(*sessions(*alike), *rest, *(replace(one, figures=(IOPS, *one.figures)) for one in sessions(*alike)))

    status = {host.name: host.status for host in found.hosts}
    assert {name: status[name] for name in some} == {
        "worse": HostStatus.OUTLIER,
        "better": HostStatus.BETTER,
        "wide": HostStatus.UNDECIDED,
        "far": HostStatus.OUTLIER,
        "invalid": HostStatus.NOT_VALID,
        "none": HostStatus.NO_RESULT,
        "other": HostStatus.NOT_COMPARED,
        "both": HostStatus.OUTLIER,
    }
    assert {status[f"db{number}"] for number in range(1, 9)} == {HostStatus.OK}
    both = next(host for host in found.hosts if host.name == "both")
    assert [(one.figure.name, one.conclusion, one.peers, one.median) for one in both.outliers] == [
        ("iops", Conclusion.WORSE, 8, 1000.0),
        ("latency", Conclusion.BETTER, 9, 100.0),
    ]
    assert (both.outliers[0].ratio, both.outliers[0].distance) == (0.1, pytest.approx(math.log(10.0)))
    assert [host.name for host in by_status(found.hosts)][:3] == ["both", "worse", "far"]
    peer = normal_peer(found, both)
    assert peer is not None
    assert peer.name == "db1"
    assert found.names == ("iops", "latency")


@pytest.mark.parametrize(
    ("value", "difference", "level"),
    [
        (101.9, "", 0),
        (102.1, "+2 %", -1),
        (105.9, "+6 %", -1),
        (106.1, "+6 %", -2),
        (111.9, "+12 %", -2),
        (112.1, "+12 %", -3),
        (97.9, "-2 %", 1),
        (87.9, "-12 %", 3),
    ],
)
def test_a_cell_says_how_far_from_the_median_it_is(value: float, difference: str, level: int) -> None:
    found = fleet(*sessions(*[latency(100.0)] * 8, latency(value)))
    cell = heat_cell(found, found.hosts[-1], "latency")

    assert (cell.difference, cell.level, cell.compared) == (difference, level, True)


def test_a_cell_that_is_not_compared_says_why() -> None:
    more = (latency(100.0, invalid="drift"), latency(100.0, workload="full"), latency(101.0, scatter=True))
    found = fleet(*sessions(*[latency(100.0)] * 3, *more))
    cells = [heat_cell(found, host, "latency") for host in found.hosts[3:]]

    assert cells == [
        HeatCell("not valid"),
        HeatCell("100 ns ~"),
        HeatCell("101 ns ?", compared=True),
    ]
    assert heat_cell(found, found.hosts[0], "iops") == HeatCell("not measured")
    two = fleet(*sessions(latency(100.0), latency(200.0)))
    assert heat_cell(two, two.hosts[1], "latency") == HeatCell("200 ns")


def test_the_answer_of_a_fleet_says_what_it_has() -> None:
    like = fleet(*sessions(*[LATENCY] * 3))
    types = fleet(*sessions(*[LATENCY] * 3), replace(SESSION, host="x", model="R750"))

    assert (fleet_band(like).word, fleet_band(like).basis) == ("ALL NORMAL", "3 × R650, Gold · newest valid figures")
    assert fleet_band(types).basis == "2 machine types · newest valid figures"
    out = fleet_band(fleet(*sessions(*[LATENCY] * 3, latency(200.0))))
    assert (out.word, out.sentence) == ("1 OUTLIER", "db4 stands out: 2 times as long as its 3 peers in Latency.")
    assert out.number == Number("1", "", "of 4 hosts")


def test_the_furthest_figure_of_the_furthest_host_is_named_and_how_many_there_are() -> None:
    def rates(value: float) -> tuple[HostFigure, ...]:
        return tuple(replace(IOPS, name=f"rate{number}", title=f"Rate {number}", value=value) for number in range(4))

    like = [replace(one, figures=(LATENCY, IOPS, *rates(1000.0))) for one in sessions(*[LATENCY] * 3)]
    worst = replace(SESSION, host="x", figures=(latency(150.0), replace(IOPS, value=100.0), *rates(300.0)))
    worse = replace(SESSION, host="y", figures=(latency(100.0), replace(IOPS, value=200.0)))
    found = fleet(*like, worst, worse, *sessions(*[LATENCY] * 2, first=4))

    named = "x stands out in 6 figures: 90 % less than its 3 peers in IOPS."
    assert fleet_band(found).sentence == named
    assert [host.name for host in by_status(found.hosts)][:2] == ["x", "y"]


def test_what_changed_is_told_of_the_fleet_and_of_the_hosts_that_changed_beside_it() -> None:
    """All are a fifth slower, and db3 twice as slow."""
    before = fleet(*sessions(*[latency(100.0)] * 4), *sessions(latency(100.0), first=9))
    now = fleet(*sessions(latency(120.0), latency(120.0), latency(200.0), latency(120.0), latency(120.0)))
    found = fleet_drift(before, now)

    (all_hosts,) = found.of_fleet
    assert (all_hosts.before, all_hosts.now, all_hosts.hosts, all_hosts.host) == (100.0, 120.0, 4, "")
    assert [(one.host, one.ratio) for one in found.of_hosts] == [("db3", 2.0)]
    assert (found.hosts, found.figures, found.missing, found.new) == (4, 4, ("db9",), ("db5",))


@pytest.mark.parametrize(("hosts", "of_fleet", "of_hosts"), [(2, 0, 2), (3, 1, 0)])
def test_of_few_hosts_each_change_is_one_of_its_own(hosts: int, of_fleet: int, of_hosts: int) -> None:
    found = fleet_drift(fleet(*sessions(*[latency(100.0)] * hosts)), fleet(*sessions(*[latency(126.0)] * hosts)))
    small = fleet_drift(fleet(*sessions(*[latency(100.0)] * hosts)), fleet(*sessions(*[latency(109.0)] * hosts)))

    assert (len(found.of_fleet), len(found.of_hosts)) == (of_fleet, of_hosts)
    assert (small.of_fleet, small.of_hosts) == ((), ())


def test_figures_that_do_not_count_on_both_sides_have_not_changed() -> None:
    for old, new in (
        (LATENCY, latency(300.0, invalid="drift")),
        (latency(300.0, invalid="drift"), LATENCY),
        (LATENCY, latency(300.0, workload="full")),
    ):
        assert fleet_drift(fleet(*sessions(old)), fleet(*sessions(new))).figures == 0
