"""CPU time per request and per megabyte, of known counts."""

from types import SimpleNamespace
from typing import Any

import pytest

from sizeup_direct_io.estimates import costs
from sizeup_direct_io.window_counters import BackgroundLoad

NO_COUNTERS: Any = SimpleNamespace(kernel_threads_ns={}, cpu_pressure=None, io_pressure=None)
RUN: Any = SimpleNamespace(
    before=NO_COUNTERS,
    after=NO_COUNTERS,
    host_cpu=None,
    io_cpu_ns=None,
    counter_seconds=1.0,
    seconds=1.0,
    requests=1000,
    transferred_bytes=8_000_000,
)
INTERVAL: Any = SimpleNamespace(
    usage_requests=1000,
    usage_bytes=8_000_000,
    user_ns=1_000_000,
    system_ns=3_000_000,
    run_delay_ns=500_000,
    voluntary_switches=2000,
    submit_calls=250,
)


def test_costs_are_per_request_and_per_million_bytes() -> None:
    found = {one.series: one for one in costs({}, [RUN], {"small": INTERVAL}, BackgroundLoad(None, None), 2e9)}

    each, megabyte = found["cpu-per-io"], found["cpu-per-mb"]
    assert each.value == 4000.0, "user and system time"
    assert (each.extra["user_ns"], each.extra["system_ns"], each.extra["run_delay_ns"]) == (1000.0, 3000.0, 500.0)
    assert (each.extra["voluntary_switches"], each.extra["submit_calls"]) == (2.0, 0.25)
    assert megabyte.value == 500_000.0, "of 10^6 bytes"
    # 4 ms for 8 MB: a core of 2 GHz moves 2 GB in a second.
    assert megabyte.extra["bytes_per_second_per_ghz"] == pytest.approx(1e9)


def test_the_three_families_of_kernel_threads_that_cost_most_are_named() -> None:
    ends = [
        SimpleNamespace(kernel_threads_ns=spent, cpu_pressure=None, io_pressure=None)
        for spent in ({"kworker": 10_000_000}, {"kworker": 40_000_000, "loop0": 2e8, "nfsiod": 2e7, "md0_raid1": 5e7})
    ]
    run: Any = SimpleNamespace(**{**vars(RUN), "before": ends[0], "after": ends[1]})
    first, _ = costs({}, [run], {"small": INTERVAL}, BackgroundLoad(None, None), 0.0)

    assert first.extra["kernel_threads"] == "loop0 20 %, md0_raid1 5 %, kworker 3 %"
