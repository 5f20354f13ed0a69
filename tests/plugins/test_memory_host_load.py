"""Load of other processes is told with the latency of memory, and the probe's own is not."""

import os
from itertools import chain, repeat

import pytest

from fakes import HandContext
from plugins.told import MACHINE, Told
from sizeup.model.sample import Estimate
from sizeup.probing import native
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import load_registry
from sizeup.procfs.stat import HostStat
from sizeup_memory import binding, host_load, latency
from sizeup_memory.host_load import HostLoad, OthersUse, busy_caveats, others_use

TICK = os.sysconf("SC_CLK_TCK")


def stat(seconds: float, busy: float, steal: float = 0.0) -> HostStat:
    """So many seconds on four CPUs, of which ``busy`` CPUs were busy."""
    ticks = seconds * TICK
    return HostStat(int(busy * ticks), 0, 0, int((4 - busy - steal) * ticks), 0, 0, 0, int(steal * ticks))


@pytest.mark.parametrize(
    ("busy", "steal", "own_seconds", "share"),
    [(1.0, 0.0, 10.0, 0.0), (3.0, 0.0, 10.0, 0.5), (1.0, 2.0, 10.0, 0.0), (0.0, 0.0, 0.1, 0.0)],
    ids=["the probe alone", "two more CPUs", "steal time is no other process", "clocks that differ"],
)
def test_the_share_of_others_is_what_is_busy_beside_the_probe(
    busy: float, steal: float, own_seconds: float, share: float
) -> None:
    assert others_use(stat(0, 0), stat(10, busy, steal), own_seconds).cpu_share == pytest.approx(share)


def test_an_unknown_load_is_not_called_calm_or_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    assert others_use(None, stat(10, 4), 0.0) == OthersUse(None, None)
    assert others_use(stat(10, 4), None, 0.0) == OthersUse(None, None)
    assert others_use(stat(10, 4), stat(10, 4), 0.0) == OthersUse(None, None)
    monkeypatch.setattr(host_load, "read_stat", lambda: None)
    monkeypatch.setattr(host_load, "MIN_SECONDS", 0.0)
    assert busy_caveats(HostLoad().others()) == []


def test_a_few_ticks_tell_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter([stat(0, 0), stat(0.02, 4)])
    monkeypatch.setattr(host_load, "read_stat", lambda: next(readings))
    monkeypatch.setattr(host_load, "MIN_SECONDS", 3600.0)
    assert busy_caveats(HostLoad().others()) == []


@pytest.mark.parametrize(("busy", "told"), [(3.0, True), (1.0, False)])
def test_latency_under_the_load_of_others_has_a_caveat(
    busy: float, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings = chain([stat(0, 0)], repeat(stat(10, busy)))
    seconds = chain([5.0], repeat(15.0))
    monkeypatch.setattr(host_load, "read_stat", lambda: next(readings))
    monkeypatch.setattr(host_load.time, "process_time", lambda: next(seconds))
    monkeypatch.setattr(host_load, "MIN_SECONDS", 0.0)
    monkeypatch.setattr(native, "leave_cpus", lambda _: True)
    monkeypatch.setattr(binding, "lib", Told())
    step, *_ = make_plan(MACHINE, load_registry(), name=None, probes=["memory.latency"], settings={}).steps

    emissions = latency.MemoryLatency().run(step, HandContext())

    final = [e for e in emissions if isinstance(e, Estimate) and e.converged]
    expected = "other processes used 50 % of the CPUs during the measurement: their memory traffic adds to it"
    assert final
    assert all((expected in estimate.caveats) is told for estimate in final)


def test_steal_is_told_apart_from_the_load_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter([stat(0, 0), stat(10, busy=3.0, steal=1.0)])
    seconds = iter([0.0, 1.0])
    monkeypatch.setattr(host_load, "read_stat", lambda: next(readings))
    monkeypatch.setattr(host_load.time, "process_time", lambda: next(seconds))
    monkeypatch.setattr(host_load, "MIN_SECONDS", 0.0)

    others = HostLoad().others()

    assert others.stolen_share == pytest.approx(0.25)
    assert others.cpu_share == pytest.approx(0.725)
