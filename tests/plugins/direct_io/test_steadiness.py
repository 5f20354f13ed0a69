"""Whether a run was in a steady state."""

import pytest
from msgspec.structs import replace

from plugins.direct_io.evidence import CALM, steady
from sizeup_direct_io.disks import OtherIo
from sizeup_direct_io.estimates import caveats_of
from sizeup_direct_io.validity import Conditions, Validity, check_writers
from sizeup_direct_io.window_counters import BackgroundLoad


def test_a_calm_even_run_is_steady() -> None:
    assert steady(CALM).verdict is Validity.PASS


@pytest.mark.parametrize(
    ("conditions", "verdict"),
    [
        *((replace(CALM, drift=drift), Validity.PASS) for drift in (-0.05, 0.05)),
        *((replace(CALM, drift=drift), Validity.WARN) for drift in (-0.2, -0.06, 0.06, 0.2)),
        *((replace(CALM, drift=drift), Validity.FAIL) for drift in (-0.21, 0.21)),
        *((replace(CALM, ramp_change=change), Validity.PASS) for change in (-0.2, 0.2)),
        *((replace(CALM, ramp_change=change), Validity.WARN) for change in (-0.21, 0.21)),
        (replace(CALM, background=BackgroundLoad(25.0, 0.05)), Validity.PASS),
        (replace(CALM, background=BackgroundLoad(26.0, 0.05)), Validity.WARN),
        (replace(CALM, background=BackgroundLoad(5.0, 0.5)), Validity.PASS),
        (replace(CALM, background=BackgroundLoad(5.0, 0.51)), Validity.WARN),
        (replace(CALM, others_share=0.14), Validity.PASS),
        (replace(CALM, others_share=0.16), Validity.WARN),
        (replace(CALM, stolen_share=0.05), Validity.PASS),
        (replace(CALM, stolen_share=0.06), Validity.WARN),
        (replace(CALM, stolen_share=None, background=BackgroundLoad(5.0, None)), Validity.UNKNOWN),
        (replace(CALM, errors=1), Validity.WARN),
        (replace(CALM, path_changes=("path sda went",)), Validity.WARN),
    ],
)
def test_what_changed_meanwhile_is_said(conditions: Conditions, verdict: Validity) -> None:
    assert steady(conditions).verdict is verdict


def test_writes_without_preconditioning_are_no_steady_state_figure() -> None:
    part = steady(replace(CALM, not_preconditioned=True))

    assert part.verdict is Validity.WARN
    (caveat,) = caveats_of((part,))
    assert caveat == (
        "steady: not preconditioned: flash with erased blocks writes faster than it can sustain; not a steady-state "
        "figure"
    )


def other_io(read: float, written: float | None) -> OtherIo:
    return OtherIo("sda", read, written, own_bytes_per_second=1e8)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (
            replace(CALM, other_io=other_io(4e7, 3e6), background=BackgroundLoad(5.0, 0.05, other_io(0, 1e6))),
            (
                "other I/O, or the file system's own, during the run: 40 MB/s read and 3 MB/s written on sda; "
                "before it 0 B/s read and 1 MB/s written on sda"
            ),
        ),
        (replace(CALM, others_share=0.4), "other processes used 40% of the CPUs during the run, 5% before it"),
        (
            replace(CALM, thermal_caveats=("thermal throttling of 2 of 8 CPUs, up to 5 times",)),
            "thermal throttling of 2 of 8 CPUs, up to 5 times",
        ),
        (replace(CALM, ramp_change=-0.4), "throughput of this ramp -40% relative to the first"),
        (replace(CALM, limits=("io.max of /job: riops=500",)), "limited by io.max of /job: riops=500"),
    ],
    ids=["disk", "processes", "heat", "ramps", "a limit of a control group"],
)
def test_what_changed_around_the_run_is_doubted_with_its_figures(changed: Conditions, reason: str) -> None:
    part = steady(changed)

    assert (part.verdict, part.caveats) == (Validity.WARN, (reason,))


@pytest.mark.parametrize(
    "alike",
    [
        replace(CALM, other_io=other_io(2e6, 1e6)),
        replace(CALM, other_io=other_io(2e6, None)),
        replace(CALM, others_share=0.12),
        replace(CALM, thermal_summary="hottest sensor nvme0: 40 C before, 41 C after"),
        replace(CALM, ramp_change=0.1),
    ],
    ids=["a little of the disk", "of it known", "processes as before", "no heat", "ramps alike"],
)
def test_what_was_watched_and_stayed_the_same_is_no_caveat(alike: Conditions) -> None:
    part = steady(alike)

    assert part.verdict is Validity.PASS
    assert len(part.reasons) >= 1


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
    assert BackgroundLoad(None, 0.9).background_caveats == ("other processes used 90% of the CPUs before the run",)
