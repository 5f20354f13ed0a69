"""Rates come from two looks and a clock."""

from sizeup.live.rates import Counters, Rate, RateMeter, disk_counters, interface_counters


def test_rates_are_differences_over_the_time_between_looks() -> None:
    looks = iter(({"eth0": Counters(0, 0, 0, 0)}, {"eth0": Counters(1000, 500, 10, 5), "eth1": Counters(1, 1, 1, 1)}))
    times = iter((1.0, 3.0))
    meter = RateMeter(lambda: next(looks), lambda: next(times))

    assert meter.look() == ()
    assert meter.look() == (Rate("eth0", 500.0, 250.0, 5.0, 2.5),)


def test_counters_that_run_backwards_belong_to_another_device() -> None:
    looks = iter(({"sda": Counters(9, 9, 9, 9)}, {"sda": Counters(1, 1, 1, 1)}))
    times = iter((1.0, 2.0))
    meter = RateMeter(lambda: next(looks), lambda: next(times))

    assert (meter.look(), meter.look()) == ((), ())


def test_this_machine_has_counters() -> None:
    assert "lo" in interface_counters()
    assert all(counters.reads >= 0 for counters in disk_counters().values())
