"""The search for the highest rate within a p99: on storage whose answer is known, and by hand."""

import math
import random
from collections.abc import Callable, Generator
from types import SimpleNamespace
from typing import Any

import pytest

from fakes import HandContext
from plugins.direct_io.test_options import edge
from sizeup.model.machine import Gap
from sizeup.model.sample import Estimate
from sizeup.probing.api import Emission
from sizeup_direct_io import measure as measure_module
from sizeup_direct_io import slo
from sizeup_direct_io._native import ffi, lib  # noqa: TID251  made-up histograms
from sizeup_direct_io.binding import IoInterval
from sizeup_direct_io.measure import MeasuredPoint, Window
from sizeup_direct_io.presets import STREAMS
from sizeup_direct_io.slo import Objective, Search, Tail, find_rate
from tiers import one_in


@pytest.mark.parametrize(
    ("requests", "beyond", "holds"),
    [
        (1500, 0, True),  # 375 bursts: at most 2.706 / (375 + 2.706) = 0.72 %
        (1000, 0, None),  # 250: at most 2.706 / 252.7 = 1.07 %
        (1500, 4, None),  # 1 of 375: 0.07 to 1.17 %
        (8000, 40, True),  # 10 of 2,000, 0.5 %: 0.30 to 0.83 %
        (8000, 64, None),  # 16 of 2,000, 0.8 %: 0.53 to 1.20 %
        (8000, 160, False),  # 40 of 2,000, 2 %: 1.55 to 2.58 %
        (0, 0, None),
    ],
)
def test_a_rate_holds_where_the_upper_bound_of_the_share_beyond_the_limit_does(
    requests: int, beyond: int, holds: bool | None
) -> None:
    assert Tail(requests, beyond).holds is holds


def test_a_rate_that_the_storage_does_not_keep_up_with_misses() -> None:
    assert Tail(8000, 0, keeps_up=False).holds is False
    assert (Tail(1000, 0) + Tail(8000, 0, keeps_up=False)).holds is False
    assert (Tail(1000, 0) + Tail(500, 0)).holds is True


def searched(most: float, share_beyond: Callable[[float, random.Random], float], seed: int) -> Search:
    """Search storage with windows of 2,000 requests, whose share beyond the limit depends on the rate."""
    search, rng = Search(most, seed), random.Random(seed)
    for _ in range(60):
        rate = search.next_rate()
        if rate is None:
            return search
        share = share_beyond(rate, rng)
        search.add(rate, Tail(2000, sum(rng.random() < share for _ in range(2000))))
    raise AssertionError("the search does not end")


@pytest.mark.parametrize("capacity", one_in(3, [0.02, 0.2, 0.37, 0.9]))
def test_the_rate_of_a_queue_of_known_capacity_is_found(capacity: float) -> None:
    """M/M/1 at a limit of 20 service times: p99 is 4.605 of them / (1 - use), so it holds up to 77 % of its rate."""
    limit = 20.0
    served = capacity / (1 - math.log(100) / limit)

    def beyond(rate: float, rng: random.Random) -> float:
        return math.exp(-limit * max(1 - rate / served, 0.0))

    found = sorted(searched(1.0, beyond, seed).held / capacity for seed in range(20))
    assert 0.9 < found[0] <= found[-1] < 1.0


def test_a_capped_volume_is_found_within_five_percent() -> None:
    """Below its cap nothing waits, above it everything does."""
    found = [searched(10_000.0, lambda rate, rng: float(rate > 4_321), seed) for seed in range(20)]

    assert all(4_321 / 1.06 < one.held <= 4_321 < one.missed for one in found)


def test_a_miss_below_a_rate_that_holds_is_looked_at_again_and_counts_where_it_stays() -> None:
    """A stall of the host hits any rate: again 1,500 requests at 250 a second, up to four times."""
    search = Search(1000.0, 1)
    for _ in range(5):
        rate = search.next_rate() or 0.0
        search.add(rate, Tail(1500, 150 if rate == 250 else 0))

    assert search.next_rate() == 250
    assert (search.held, search.missed) == (0.0, 250)
    for _ in range(3):
        search.add(250, Tail(1500, 150))
    assert (search.held, search.next_rate()) == (0.0, 125)
    search.tails[250] = Tail(20_000, 0)
    assert (search.held, search.missed, search.next_rate()) == (1000, math.inf, None)


def test_the_rates_are_tried_in_another_order_each_time() -> None:
    orders = {Search(1.0, seed).next_rate() for seed in range(20)}

    assert len(orders) > 2


def test_storage_that_holds_no_rate_ends_the_search() -> None:
    found = searched(1000.0, lambda rate, rng: 0.5, 1)

    assert (found.held, min(found.tails)) == (0.0, pytest.approx(1.95, rel=0.01))
    assert found.missed == min(found.tails)


def interval(seconds: float, **times: dict[float, int]) -> IoInterval:
    """Return requests by their milliseconds, of each kind."""
    native = ffi.new("struct sizeup_io_sample *")
    native.time_ns, native.reads = round(seconds * 1e9), sum(times["response"].values())
    middles = [int(lib.sizeup_histogram_middle_ns(bucket)) for bucket in range(lib.SIZEUP_HISTOGRAM_BUCKETS)]
    for kind, counts in times.items():
        for milliseconds, count in counts.items():
            nearest = min(range(len(middles)), key=lambda bucket: abs(middles[bucket] - milliseconds * 1e6))
            getattr(native, f"{kind}_ns")[nearest] = count
    return IoInterval(native)


class Volume:
    """A volume that answers 8 KiB in 0.3 ms up to a rate, and above it ever later, on a clock of its own."""

    def __init__(self, most: float, patch: pytest.MonkeyPatch) -> None:
        self.most, self.now, self.asked = most, 0.0, list[tuple[float, float]]()
        patch.setattr(slo, "time", SimpleNamespace(monotonic=lambda: self.now))
        patch.setattr(measure_module, "measure", self.measure)
        patch.setattr(slo, "rotating_disks", lambda _: 0)
        patch.setattr(slo, "location", lambda _: {"mount_point": "/u01"})

    def workers(self, stream: Any, depth: int, group: int) -> list[float]:
        assert stream.at_random
        return [stream.rate]

    def measure(
        self, workers: list[float], streams: Any, at: Any, window: Window, *_: object
    ) -> Generator[Emission, None, MeasuredPoint]:
        yield from ()
        rate, seconds = workers[0], window.seconds
        self.now += window.warmup_seconds + seconds + 0.1
        self.asked.append((rate, seconds))
        done = round(min(rate, self.most) * seconds)
        answer = {0.3: done} if rate <= self.most else {700.0: done}
        found = interval(seconds, response=answer, read={0.3: done})
        return MeasuredPoint(at, {"small": found}, (1.0,), 1.0, edge(0.0), edge(1.0), seconds, True, None)

    def search(self, limit_ns: float, seconds: float, confirm: float) -> list[Emission]:
        setup: Any = SimpleNamespace(
            target=SimpleNamespace(device_number=0, size_bytes=1 << 30), next_seed=lambda: 3, workers=self.workers
        )
        window, source = Window(2.0, 10.0, 10.0, 0.05, 5.0), SimpleNamespace()
        wanted, context = Objective(limit_ns, seconds, confirm), HandContext()
        return list(find_rate(setup, STREAMS["read"], "slo", 9_000.0, wanted, window, context, source))  # type: ignore[arg-type]


def test_the_rate_found_is_confirmed_at_nine_tenths_and_named_with_its_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    volume = Volume(4_321.0, monkeypatch)
    found = [one for one in volume.search(0.0, 30.0, 60.0) if isinstance(one, Estimate)]
    rate = found[-1]

    assert (rate.series, rate.at) == ("slo-iops", {"workload": "slo", "limit_ms": 1.0, "read_percent": 100})
    assert 4_321 / 1.06 < rate.value <= 4_321 < (rate.high or 0) < 4_321 * 1.06
    assert rate.low == pytest.approx(0.9 * rate.value)
    assert volume.asked[-1] == (pytest.approx(0.9 * rate.value, rel=0.01), 60.0)
    assert (rate.caveats, rate.converged) == ((), True)
    tried = {one.at["target_iops"]: one.value for one in found if one.series == "slo-p99"}
    assert all((p99 < 1e6) == (target <= 4_321) for target, p99 in tried.items())


def test_a_rate_that_was_not_confirmed_says_so_and_has_no_lower_end(monkeypatch: pytest.MonkeyPatch) -> None:
    *_, rate = Volume(4_321.0, monkeypatch).search(0.0, 30.0, 0.0)

    assert isinstance(rate, Estimate)
    assert (rate.low, rate.converged, len(rate.caveats)) == (0.0, False, 1)


def test_a_search_ends_in_time_with_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    volume = Volume(4_321.0, monkeypatch)
    *_, rate = volume.search(0.0, 6.0, 0.0)

    assert volume.now <= 6.0
    assert isinstance(rate, Estimate)
    assert rate.value <= 4_321


def test_where_no_rate_meets_the_limit_a_gap_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    *_, gap, rate = Volume(4_321.0, monkeypatch).search(2e5, 30.0, 60.0)

    assert isinstance(gap, Gap)
    assert isinstance(rate, Estimate)
    assert (rate.at["limit_ms"], rate.value, rate.low, rate.converged) == (0.2, 0.0, 0.0, False)
    assert rate.high == 140  # 9,000 x 0.25, and half of that four times; 1,500 requests at 70 IOPS take too long
    assert gap.subject == "io.direct: IOPS at p99 within 200 us"
    assert gap.reason.endswith("100.00 % of the requests took longer")


def test_requests_are_timed_from_their_intended_start_and_those_at_the_limit_are_within() -> None:
    found = slo._tail(interval(2.0, response={0.5: 1950, 1.5: 30, 9.0: 20}, read={0.5: 2000}), 1e6, 1000.0)

    assert (found.requests, found.beyond, found.keeps_up) == (2000, 50, True)
    assert not slo._tail(interval(2.0, response={0.5: 1800}), 1e6, 1000.0).keeps_up  # of 2,000, less 3 % and 3 x 45
    assert slo._tail(interval(2.0, response={0.5: 1810}), 1e6, 1000.0).keeps_up
    at_limit = interval(2.0, response={1.0: 2000})
    (middle_ns,) = at_limit.histogram("response")
    assert [slo._tail(at_limit, limit_ns, 1000.0).beyond for limit_ns in (middle_ns, middle_ns - 1)] == [0, 2000]
