"""What clock figures mean."""

import pytest

from sizeup_clock.probe import PUBLISHED_CYCLES, io_timing_share, io_timing_statement, vdso_status


def costs(library: float, raw: float) -> dict[str, float]:
    return {"clock_gettime-monotonic": library, "syscall-clock_gettime": raw}


@pytest.mark.parametrize(
    ("library", "raw", "has_symbol", "source", "expected"),
    [
        (22.3, 246.0, True, "tsc", "vdso"),
        (22.3, 246.0, True, None, "vdso"),
        (240.0, 246.0, True, "xen", "system-call"),
        (900.0, 3000.0, True, "hpet", "system-call"),
        (22.3, 246.0, False, "tsc", "unclear"),
        (120.0, 246.0, True, "tsc", "unclear"),
    ],
)
def test_three_witnesses_decide_on_the_vdso(
    library: float, raw: float, has_symbol: bool, source: str | None, expected: str
) -> None:
    verdict, why = vdso_status(costs(library, raw), has_symbol=has_symbol, clock_source=source)

    assert verdict == expected
    assert f"a raw system call costs {raw / library:.1f}" in why


def test_timing_an_io_takes_two_readings() -> None:
    assert io_timing_share(25.0, 100_000) == pytest.approx(0.005)
    assert io_timing_statement("gettimeofday", 25.0, 100_000) == (
        "timing I/O costs 0.50 % of a core at 100,000 IOPS: 2 calls of gettimeofday, 25.0 ns each per I/O"
    )


def test_the_published_cycles_fall_by_31_8_per_cent() -> None:
    before, after = PUBLISHED_CYCLES.values()

    assert round((after / before - 1) * 100, 1) == -31.8
