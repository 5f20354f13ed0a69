"""What a point's windows come to."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from sizeup_direct_io.binding import half_width
from sizeup_direct_io.estimates import throughput


def window(*blocks: float) -> Any:
    return cast("Any", SimpleNamespace(blocks=blocks, iops=blocks[-1], bytes_per_second=blocks[-1], converged=True))


@pytest.mark.parametrize(("count", "t95"), [(4, 3.182), (20, 2.093), (40, 2.023)])
def test_the_width_is_that_of_students_t_however_many_blocks(count: int, t95: float) -> None:
    assert half_width([0.0, 2.0] * (count // 2)) == pytest.approx(t95 / (count - 1) ** 0.5, rel=0.001)


@pytest.mark.parametrize(
    ("blocks", "low"),
    [((100.0, 100.0), None), ((99.0, 100.0, 101.0), 97.5), ((1.0, 1.0, 1000.0), 0.0)],
    ids=["two blocks tell no spread", "calm", "a rate is never below nothing"],
)
def test_the_interval_of_a_rate(blocks: tuple[float, ...], low: float | None) -> None:
    iops, rate = throughput({}, [window(*blocks)], (), {})

    assert iops.low == rate.low == (None if low is None else pytest.approx(low, abs=1.1))
    assert (iops.high is None) == (low is None)
