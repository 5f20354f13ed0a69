"""Whether others keep a host busy: by the pressure of a window, or by the use of CPUs and disks without PSI."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sizeup.live.host_load import LoadWindow, measure_load


def pressure(proc: Path, **total_us: int) -> None:
    (proc / "pressure").mkdir(exist_ok=True)
    for name, microseconds in total_us.items():
        # The average still holds what was before, such as the last run.
        text = f"some avg10=99.00 avg60=0.00 avg300=0.00 total={microseconds}\nfull avg10=0.00 total=0\n"
        (proc / "pressure" / name).write_text(text)


def stat(proc: Path, *busy_and_idle: tuple[int, int]) -> None:
    lines = [f"cpu{n} {busy} 0 0 {idle} 0 0 0 0 0 0" for n, (busy, idle) in enumerate(busy_and_idle)]
    (proc / "stat").write_text("cpu  1 0 0 1 0 0 0 0 0 0\n" + "\n".join(lines) + "\n")


def disks(proc: Path, busy_ms: int) -> None:
    (proc / "diskstats").write_text(f" 254       0 vda 9 8 7 6 5 4 3 2 0 {busy_ms} 77777 0 0 0 0 0 0\n")


def measured(proc: Path, change: Callable[[], None], seconds: float = 2.0) -> LoadWindow:
    def wait(_: float) -> float:
        change()
        return seconds

    return measure_load(str(proc), wait)


@pytest.mark.parametrize(
    ("waited_us", "excess"),
    [
        ({"cpu": 398_000, "io": 198_000, "memory": 98_000}, ""),
        ({"cpu": 402_000}, "CPU pressure 20 % (limit 20 %)"),
        ({"cpu": 2_020_000}, "CPU pressure 100 % (limit 20 %)"),  # more than the window, as reading takes time
        ({"io": 300_000}, "I/O pressure 15 % (limit 10 %)"),
        ({"memory": 120_000, "cpu": 1_000_000}, "CPU pressure 50 % (limit 20 %), memory pressure 6 % (limit 5 %)"),
    ],
)
def test_a_pressure_above_its_limit_in_the_window_makes_a_host_busy(
    tmp_path: Path, waited_us: dict[str, int], excess: str
) -> None:
    before = dict.fromkeys(("cpu", "io", "memory"), 5_000_000)
    pressure(tmp_path, **before)
    stat(tmp_path, (0, 0))
    disks(tmp_path, 0)

    def change() -> None:
        pressure(tmp_path, **{name: total + waited_us.get(name, 0) for name, total in before.items()})
        stat(tmp_path, (190, 10))  # CPUs in use are no reason where nobody waits for them
        disks(tmp_path, 1990)

    assert measured(tmp_path, change).excess() == excess


def test_without_pressure_the_use_of_all_cpus_and_of_each_disk_counts(tmp_path: Path) -> None:
    stat(tmp_path, (1000, 0), (1000, 0))
    disks(tmp_path, 500)

    def change() -> None:
        stat(tmp_path, (1190, 10), (1030, 170))
        disks(tmp_path, 2400)

    load = measured(tmp_path, change)

    assert load.percent == pytest.approx({"CPU use": 55.0, "use of vda": 95.0})
    assert load.excess() == "CPU use 55 % (limit 50 %), use of vda 95 % (limit 50 %)"


def test_what_no_kernel_reports_makes_no_host_busy(tmp_path: Path) -> None:
    assert measured(tmp_path, lambda: None).excess() == ""


def test_only_a_rise_by_more_than_the_limit_exceeds_what_was_before() -> None:
    before = LoadWindow({"CPU pressure": 40.0}, {})

    assert LoadWindow({"CPU pressure": 59.0}, {}).excess(before) == ""
    assert LoadWindow({"CPU pressure": 61.0}, {}).excess(before) == "CPU pressure 61 % (limit 60 %)"


def test_the_cpu_that_is_used_least_is_chosen_among_those_allowed(tmp_path: Path) -> None:
    stat(tmp_path, (0, 0), (0, 0), (0, 0), (900, 0))
    load = measured(tmp_path, lambda: stat(tmp_path, (100, 100), (20, 180), (0, 200), (910, 190)))

    assert load.quietest_cpu({0, 1, 3}) == 3
    assert load.quietest_cpu({0, 1}) == 1
    assert LoadWindow({}, {}).quietest_cpu({0, 1, 2}) == 2
