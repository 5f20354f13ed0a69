"""What else went on is read from /proc at the borders of steps; what a kernel does not say is absent."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from sizeup.live.environment import EnvironmentWatch, cpu_loads

OWN = {"sizeup_cpu_seconds", "run_cpu_seconds", "run_peak_memory_bytes"}
"""What needs no /proc."""


def proc(folder: Path, *, idle: int, steal: int, ticks: int, name: str = "postgres: a (b)", waiting: int = 0) -> None:
    (folder / "pressure").mkdir(parents=True, exist_ok=True)
    (folder / "4242").mkdir(exist_ok=True)
    (folder / "loadavg").write_text("1.25 0.9 0.8 2/345 6789\n")
    (folder / "stat").write_text(f"cpu  100 0 50 {idle} {waiting} 0 0 {steal} 0 0\ncpu0 1 2 3\n")
    (folder / "pressure/cpu").write_text("some avg10=12.50 avg60=1.00 avg300=0.10 total=99\nfull avg10=0.00\n")
    fields = " ".join(["S", *("0" for _ in range(10)), str(ticks), "0", *("0" for _ in range(30))])
    (folder / "4242/stat").write_text(f"4242 ({name}) {fields}\n")


def test_load_pressure_steal_and_busy_processes_since_last_time(tmp_path: Path) -> None:
    proc(tmp_path, idle=1000, steal=100, ticks=0)
    before = time.monotonic()
    watch = EnvironmentWatch(str(tmp_path), str(tmp_path / "sys"))
    made = time.monotonic()
    proc(tmp_path, idle=1060, steal=120, ticks=100_000, waiting=20)
    asked = time.monotonic()

    facts = watch.facts()
    least, most = (max(seconds, 1e-3) for seconds in (asked - made, time.monotonic() - before))
    cpu_seconds = 100_000 / os.sysconf("SC_CLK_TCK")

    assert (facts["load_1min"], facts["psi_cpu_some_avg10_percent"]) == (1.25, 12.5)
    assert (facts["cpu_busy_percent"], facts["steal_percent"]) == (20.0, 20.0)
    assert 100 * cpu_seconds / most - 0.1 <= float(facts["others_busy_percent"] or 0) <= 100 * cpu_seconds / least + 0.1
    assert str(facts["others_busy"]).startswith("postgres: a (b) ")
    assert "psi_io_some_avg10_percent" not in facts
    assert "temperature_celsius" not in facts


def test_a_name_that_would_steer_the_terminal_is_cleaned(tmp_path: Path) -> None:
    proc(tmp_path, idle=1000, steal=0, ticks=0, name="\x1b[2J")
    watch = EnvironmentWatch(str(tmp_path), str(tmp_path / "sys"))
    proc(tmp_path, idle=1001, steal=0, ticks=100_000, name="\x1b[2J")

    assert "\x1b" not in str(watch.facts()["others_busy"])


def test_the_hottest_zone_counts_and_one_that_sleeps_is_passed_over(tmp_path: Path) -> None:
    proc(tmp_path, idle=1, steal=0, ticks=0)
    for zone, text in (("thermal_zone0", "41000\n"), ("thermal_zone1", "53500\n"), ("thermal_zone2", "asleep\n")):
        (tmp_path / "sys/class/thermal" / zone).mkdir(parents=True)
        (tmp_path / "sys/class/thermal" / zone / "temp").write_text(text)

    assert EnvironmentWatch(str(tmp_path), str(tmp_path / "sys")).facts()["temperature_celsius"] == 53.5


def test_this_machine_can_be_read() -> None:
    facts = EnvironmentWatch().facts()

    assert isinstance(facts["load_1min"], float)
    assert isinstance(facts["sizeup_cpu_seconds"], float)


def test_without_a_proc_what_others_do_is_unknown_and_not_nothing(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for folder in (empty, tmp_path / "none"):
        facts = EnvironmentWatch(str(folder), str(tmp_path / "sys")).facts()

        assert set(facts) == OWN


def test_loads_of_cpus_without_a_proc_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "PROCFS_PATH", "/nonexistent")

    assert cpu_loads() == {}


def test_numbers_without_end_are_left_out(tmp_path: Path) -> None:
    proc(tmp_path, idle=1, steal=0, ticks=0)
    watch = EnvironmentWatch(str(tmp_path), str(tmp_path / "sys"))
    long = "9" * 5000
    (tmp_path / "loadavg").write_text(f"{long} 1 1\n")
    (tmp_path / "stat").write_text(f"cpu {long} 0 1 1 1 1 1 1\n")
    (tmp_path / "pressure/cpu").write_text(f"some avg10={long} total={long}\n")
    (tmp_path / "4242/stat").write_text(f"4242 (x) S {' '.join([long] * 40)}\n")
    (tmp_path / "sys/class/thermal/thermal_zone0").mkdir(parents=True)
    (tmp_path / "sys/class/thermal/thermal_zone0/temp").write_text(long)

    assert set(watch.facts()) == OWN


def test_what_a_run_took_includes_the_workers_that_have_ended(tmp_path: Path) -> None:
    (tmp_path / "self").mkdir()
    (tmp_path / "self/io").write_text("rchar: 9\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n")
    watch = EnvironmentWatch(str(tmp_path), str(tmp_path / "sys"))
    before = watch.facts()

    burn = "import time; data = bytearray(64 << 20)\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-c", burn], check=True)
    after = watch.facts()

    assert float(after["run_cpu_seconds"] or 0) - float(before["run_cpu_seconds"] or 0) >= 0.3
    assert int(after["run_peak_memory_bytes"] or 0) >= 64 << 20
    assert (after["run_read_bytes"], after["run_written_bytes"]) == (4096, 8192)
