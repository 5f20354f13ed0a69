"""The kernel's byte counters against the workers' own, on a host where the reader waits for a CPU."""

import os
import threading
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from plugins.direct_io.evidence import DIRECT_EVIDENCE, Evidence, direct, physical
from sizeup.procfs.block import BlockStat
from sizeup.procfs.mounts import NfsBytes
from sizeup.procfs.stat import HostStat
from sizeup_direct_io import window_counters
from sizeup_direct_io.validity import Validity
from sizeup_direct_io.window_counters import (
    Counters,
    CounterSource,
    HostCpu,
    read_counters,
)

RATE = 100_000_000
WINDOW_SECONDS = 0.5
LATE = (0.03, 0.02)
"""Seconds until the counters are read, and from there until the workers are looked at."""
AT_ONCE = (0.0004, 0.0004)


def test_each_of_several_targets_has_the_counters_of_its_own_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_counters, "find_device_folder", lambda number: f"/sys/{number}" if number else None)
    monkeypatch.setattr(window_counters, "read_block_stat", lambda folder: BlockStat(int(folder[5:]) * 1000, 7))
    monkeypatch.setattr(window_counters, "read_disks", lambda _: None)
    monkeypatch.setattr(window_counters, "time", SimpleNamespace(monotonic=lambda: 0.0))
    samples = [
        {
            "/a": SimpleNamespace(read_bytes=100, written_bytes=10, in_flight=0),
            "/b": SimpleNamespace(read_bytes=5, written_bytes=0, in_flight=0),
        },
        {
            "/a": SimpleNamespace(read_bytes=300, written_bytes=30, in_flight=0),
            "/b": SimpleNamespace(read_bytes=5, written_bytes=0, in_flight=0),
        },
    ]
    source = CounterSource(0, targets={"/a": 1, "/b": 0})

    counters = read_counters(source, cast("Any", iter(samples).__next__))

    assert counters.targets == {
        "/a": Counters(None, BlockStat(1000, 7), None, None, 200, 20, 110),
        "/b": Counters(None, None, None, None, 5, 0, 0),
    }
    both = counters.of_targets(["/a", "/b"])
    assert (both.device, both.own_read_bytes, both.own_written_bytes) == (BlockStat(1000, 7), 205, 20)
    assert (both.uncertainty_bytes, both.accounting, both.disks) == (110, None, None)


class Flow:
    """Workers that move bytes at a steady rate, and an NFS client that counts a share of them."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, waits: Sequence[tuple[float, float]], share: float = 1.0
    ) -> None:
        self.now = 0.0
        self.waits = list(waits)
        self._share = share
        monkeypatch.setattr(window_counters, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(window_counters, "read_nfs_bytes", self._read)

    def _read(self, mount_point: str) -> NfsBytes:
        before, after = self.waits.pop(0)
        self.now += before
        counted = round(self.now * RATE * self._share)
        self.now += after
        return NfsBytes(counted, 0, counted, 0)

    def counters(self) -> Counters:
        def take_samples() -> dict[str, Any]:
            return {"reads": SimpleNamespace(read_bytes=round(self.now * RATE), written_bytes=0, in_flight=0)}

        return read_counters(CounterSource(0, "/mnt"), cast("Any", take_samples))

    def window(self) -> Evidence:
        before = self.counters()
        self.now += WINDOW_SECONDS
        after = self.counters()
        return replace(
            DIRECT_EVIDENCE,
            file_system="nfs4",
            requested_bytes=after.own_read_bytes - before.own_read_bytes,
            uncertainty_bytes=before.uncertainty_bytes + after.uncertainty_bytes,
            charged_bytes=after.nfs.direct_read - before.nfs.direct_read,
            device_bytes=after.nfs.server_read - before.nfs.server_read,
        )


def test_a_reader_that_waits_for_a_cpu_reads_again_and_takes_the_closest(monkeypatch: pytest.MonkeyPatch) -> None:
    flow = Flow(monkeypatch, [LATE, AT_ONCE, LATE, LATE, AT_ONCE])

    seen = flow.window()

    assert flow.waits == []  # it stopped where it came close
    assert seen.charged_bytes == pytest.approx(seen.requested_bytes, abs=seen.uncertainty_bytes)
    assert seen.uncertainty_bytes < 0.002 * seen.requested_bytes
    assert direct(seen).verdict is Validity.PASS
    assert "100 % of the requested bytes were counted by the NFS client, as direct I/O" in direct(seen).reasons
    assert "100 % of the requested bytes were counted by the NFS client" in physical(seen).reasons


def test_where_no_reading_comes_close_nothing_is_held_against_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    early, late = (0.0, 0.06), (0.06, 0.0)
    seen = Flow(monkeypatch, [early] * window_counters.READINGS + [late] * window_counters.READINGS).window()

    part = direct(seen)

    assert seen.charged_bytes is not None
    assert seen.charged_bytes > 1.07 * seen.requested_bytes  # by when they were read alone
    assert part.verdict is Validity.UNKNOWN
    assert (
        "counted by the NFS client, as direct I/O: the counters were read too late to conclude" in part.caveats[0].text
    )
    assert physical(replace(seen, stated_cache_bytes=1)).verdict is Validity.PASS, "but for a cache of the server"


@pytest.mark.parametrize(("share", "verdict"), [(0.0, Validity.FAIL), (0.5, Validity.FAIL), (1.5, Validity.WARN)])
def test_bytes_that_are_missing_or_too_many_are_seen_however_late_the_reader_is(
    monkeypatch: pytest.MonkeyPatch, share: float, verdict: Validity
) -> None:
    seen = Flow(monkeypatch, [LATE] * 2 * window_counters.READINGS, share).window()

    assert direct(seen).verdict is verdict


def test_bytes_of_a_quiet_reader_are_judged_to_a_twentieth(monkeypatch: pytest.MonkeyPatch) -> None:
    assert direct(Flow(monkeypatch, [AT_ONCE] * 2, 0.94).window()).verdict is Validity.FAIL
    assert direct(Flow(monkeypatch, [AT_ONCE] * 2, 1.06).window()).verdict is Validity.WARN


def test_each_edge_has_the_time_of_its_host_counters_however_slow_the_others_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = SimpleNamespace(ns=1_000)

    def slowly(result: object) -> Any:
        def read(*_: object) -> object:
            clock.ns += 490_000_000
            return result

        return read

    monkeypatch.setattr(window_counters.time, "monotonic_ns", lambda: clock.ns)
    monkeypatch.setattr(window_counters, "read_kernel_threads_ns", slowly({}))
    monkeypatch.setattr(window_counters, "read_thermal_state", slowly(None))
    monkeypatch.setattr(window_counters, "read_counters", lambda *_: None)

    opening = window_counters.read_opening(CounterSource(0), dict)
    closing = window_counters.read_closing(CounterSource(0), dict)

    assert (opening.time_ns, closing.time_ns) == (980_001_000, 980_001_000)
    assert clock.ns > closing.time_ns


def test_host_time_is_in_nanoseconds_and_subtracts(monkeypatch: pytest.MonkeyPatch) -> None:
    stats = [
        HostStat(10, 2, 5, 100, 3, 1, 2, 4, interrupts=500, switches=900),
        HostStat(20, 2, 9, 150, 3, 1, 4, 4, interrupts=700, switches=1000),
    ]
    monkeypatch.setattr(window_counters, "read_stat", lambda: stats.pop(0))
    monkeypatch.setattr(window_counters, "os", SimpleNamespace(sysconf=lambda _: 100))
    first, later = window_counters.read_host_cpu(), window_counters.read_host_cpu()
    assert first is not None
    assert later is not None

    assert first == HostCpu(120_000_000, 50_000_000, 30_000_000, 1_030_000_000, 40_000_000, 500, 900)
    assert later.since(first) == HostCpu(100_000_000, 40_000_000, 20_000_000, 500_000_000, 0, 200, 100)
    assert later.since(first).busy_ns == 160_000_000


def test_the_closest_of_several_readings_has_the_bytes_of_its_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 3 readings, in which 300, 20 and 41 bytes of two streams are moved, the second is taken."""
    moved = iter([(0, 0), (200, 100), (300, 100), (308, 112), (400, 120), (431, 130)])

    def take_samples() -> dict[str, Any]:
        read, written = next(moved)
        return {
            "a": SimpleNamespace(read_bytes=read - 9, written_bytes=7, in_flight=3),
            "b": SimpleNamespace(read_bytes=9, written_bytes=written - 7, in_flight=1),
        }

    clock = iter(range(100))
    monkeypatch.setattr(window_counters, "READINGS", 3)
    monkeypatch.setattr(window_counters, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    counters = read_counters(CounterSource(0), take_samples)

    assert (counters.own_read_bytes, counters.own_written_bytes, counters.uncertainty_bytes) == (304, 106, 10)
    assert counters.in_flight == 4.0


def test_the_time_of_kernel_threads_adds_up_by_family(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = {
        number: SimpleNamespace(kernel_thread=kernel, name=name, cpu_ticks=ticks)
        for number, (kernel, name, ticks) in enumerate(
            [
                (True, "kworker/0:1", 200),
                (True, "kworker/u8:2-ext4", 100),
                (True, "loop0", 50),
                (True, "xfs-conv/vda1", 1),
                (False, "kworker", 7),
            ]
        )
    }
    monkeypatch.setattr(window_counters, "read_processes", lambda: threads)
    monkeypatch.setattr(window_counters.os, "sysconf", lambda _: 100)

    families = {"kworker": 3_000_000_000, "loop0": 500_000_000, "xfs-conv": 10_000_000}
    assert window_counters.read_kernel_threads_ns() == families


def test_the_cpu_time_of_a_process_has_that_of_its_threads() -> None:
    before, end = window_counters.process_cpu_ns(), time.thread_time_ns()

    def work() -> None:
        start = time.thread_time_ns()
        while time.thread_time_ns() < start + 20_000_000:
            os.stat("/proc/self")  # in both modes

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    own = time.thread_time_ns() - end
    assert window_counters.process_cpu_ns() - before >= 20_000_000 + own


def test_the_use_of_each_cpu_is_read_at_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    cpus = {3: HostStat(1, 2, 3, 4, 5, 6, 7, 8)}
    monkeypatch.setattr(window_counters, "read_cpu_stats", lambda: cpus)
    monkeypatch.setattr(window_counters, "read_counters", lambda *_: None)

    assert window_counters.read_opening(CounterSource(0), dict).cpus == cpus
    assert window_counters.read_closing(CounterSource(0), dict).cpus == cpus
