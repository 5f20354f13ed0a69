"""Whether a run was in a steady state."""

from typing import Any

import pytest

from plugins.direct_io.evidence import steady
from plugins.direct_io.hand_made import edge, host, interval
from sizeup.procfs.block import BlockStat
from sizeup_direct_io import point_verdict
from sizeup_direct_io.disks import Disks, OtherIo
from sizeup_direct_io.estimates import caveats_of
from sizeup_direct_io.validity import Validity, check_writers
from sizeup_direct_io.window_counters import BackgroundLoad, Counters, Temperature, ThermalState, WindowCounters


def after(busy: float, stolen: float = 0.0) -> WindowCounters:
    """The end of a window in which other processes had this share of the CPUs, and the hypervisor the other."""
    return edge(2.0, host=host(busy, 0, 0, 1 - busy - stolen, stolen))


def disks(read: int, written: int, *, plain: bool = True) -> WindowCounters:
    """The end of a window in which the workers read 100 MB, and others read and wrote as much as given."""
    moved = Disks(("sda",), BlockStat(read + 100_000_000, written), plain)
    return edge(2.0, host=host(0, 0, 0, 1.0), counters=Counters(None, None, None, moved, 100_000_000, 0, 0))


OPENING = edge(
    1.0,
    host=host(0, 0, 0, 0),
    counters=Counters(None, None, None, Disks(("sda",), BlockStat(0, 0), plain=True), 0, 0, 0),
)


def test_a_calm_even_run_is_steady() -> None:
    assert steady().verdict is Validity.PASS


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        *(({"drift": drift}, Validity.PASS) for drift in (-0.05, 0.05)),
        *(({"drift": drift}, Validity.WARN) for drift in (-0.2, -0.06, 0.06, 0.2)),
        *(({"drift": drift}, Validity.FAIL) for drift in (-0.21, 0.21)),
        *(({"ramp_change": change}, Validity.PASS) for change in (-0.2, 0.2)),
        *(({"ramp_change": change}, Validity.WARN) for change in (-0.21, 0.21)),
        ({"background": BackgroundLoad(25.0, 0.05)}, Validity.PASS),
        ({"background": BackgroundLoad(26.0, 0.05)}, Validity.WARN),
        ({"background": BackgroundLoad(5.0, 0.5)}, Validity.PASS),
        ({"background": BackgroundLoad(5.0, 0.51)}, Validity.WARN),
        ({"after": after(0.14)}, Validity.PASS),
        ({"after": after(0.16)}, Validity.WARN),
        ({"after": after(0.0, stolen=0.05)}, Validity.PASS),
        ({"after": after(0.0, stolen=0.06)}, Validity.WARN),
        ({"after": edge(2.0), "background": BackgroundLoad(5.0, None)}, Validity.UNKNOWN),
        ({"intervals": {"small": interval({9: 1}, errors=1)}}, Validity.WARN),
        ({"path_changes": ("path sda went",)}, Validity.WARN),
    ],
)
def test_what_changed_meanwhile_is_said(changed: dict[str, Any], verdict: Validity) -> None:
    assert steady(**changed).verdict is verdict


def test_writes_without_preconditioning_are_no_steady_state_figure() -> None:
    part = steady(intervals={"small": interval(writes={9: 1})})

    assert part.verdict is Validity.WARN
    (caveat,) = caveats_of((part,))
    assert caveat == (
        "steady: not preconditioned: flash with erased blocks writes faster than it can sustain; not a steady-state "
        "figure"
    )


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (
            {
                "before": OPENING,
                "after": disks(40_000_000, 3_000_000),
                "background": BackgroundLoad(5.0, 0.05, OtherIo("sda", 0, 1e6, 0.0)),
            },
            (
                "other I/O, or the file system's own, during the run: 40 MB/s read and 3 MB/s written on sda; "
                "before it 0 B/s read and 1 MB/s written on sda"
            ),
        ),
        ({"after": after(0.4)}, "other processes used 40 % of the CPUs during the run, 5 % before it"),
        (
            {"after": edge(2.0, host=host(0, 0, 0, 1), thermal=ThermalState({"cpu0": 5, "cpu1": 2, "cpu2": 0}, {}))},
            "thermal throttling of 2 of 3 CPUs, up to 5 times",
        ),
        ({"ramp_change": -0.4}, "throughput of this ramp -40 % relative to the first"),
    ],
    ids=["disk", "processes", "heat", "ramps"],
)
def test_what_changed_around_the_run_is_doubted_with_its_figures(changed: dict[str, Any], reason: str) -> None:
    part = steady(**changed)

    assert (part.verdict, [caveat.text for caveat in part.caveats]) == (Validity.WARN, [reason])


def test_a_limit_of_a_control_group_is_a_caveat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(point_verdict, "read_limits", lambda _: ("io.max of /job: riops=500",))

    assert [caveat.text for caveat in steady().caveats] == ["limited by io.max of /job: riops=500"]


@pytest.mark.parametrize(
    ("alike", "reason"),
    [
        ({"before": OPENING, "after": disks(2_000_000, 1_000_000)}, "2 MB/s read and 1 MB/s written on sda"),
        ({"before": OPENING, "after": disks(2_000_000, 0, plain=False)}, "2 MB/s read on sda"),
        ({"after": after(0.12)}, "throughput drifted +1 %"),
        (
            {"after": edge(2.0, host=host(0, 0, 0, 1), thermal=ThermalState({}, {"nvme0": Temperature(41.0, 80.0)}))},
            "hottest sensor nvme0: 41 C before, 41 C after",
        ),
        ({"ramp_change": 0.1}, "throughput of this ramp +10 % relative to the first"),
    ],
    ids=["a little of the disk", "of it known", "processes as before", "no heat", "ramps alike"],
)
def test_what_was_watched_and_stayed_the_same_is_no_caveat(alike: dict[str, Any], reason: str) -> None:
    part = steady(**alike)

    assert part.verdict is Validity.PASS
    assert any(reason in each for each in part.reasons)


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [(0.9, Validity.PASS), (0.65, Validity.WARN), (0.1, Validity.FAIL)],
    ids=["yes", "partly", "no"],
)
def test_writers_that_extend_a_file_are_judged_apart(ratio: float, verdict: Validity) -> None:
    part = check_writers("extending", ratio, "aio")

    assert (part.name, part.verdict) == ("extending", verdict)
    assert "(aio)" in part.reasons[0]


def test_a_host_without_pressure_figures_is_judged_by_its_load() -> None:
    assert BackgroundLoad(None, 0.05).background_caveats == ()
    assert BackgroundLoad(None, 0.9).background_caveats == ("other processes used 90 % of the CPUs before the run",)
