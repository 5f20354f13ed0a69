"""What the memory probes plan on some machines, and what they report of figures that the native code is said to find.

Whatever changes of it shows here, and in the commit that records it again.
"""

from collections.abc import Callable, Iterator
from itertools import count
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

import goldens
from fakes import HandContext
from large_machines import made
from plugins.told import MACHINE, Told
from sizeup.model.machine import Machine
from sizeup.model.plan import SettingValue
from sizeup.model.topology import Cache, CacheKind
from sizeup.probing import native
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import load_class, load_registry
from sizeup_memory import binding, durations, hammer, latency, shm
from sizeup_memory.binding import HammerResult, Placement
from sizeup_memory.host_load import OthersUse

MIB, GIB = 1 << 20, 1 << 30
REGISTRY = load_registry()
PROBES = ("latency", "numa", "bandwidth", "loaded", "hammer", "core-to-core", "shm")
LARGE_L3 = tuple(Cache(3, CacheKind.UNIFIED, 512 * MIB, 64, cpus) for cpus in ((0, 1), (2, 3)))
FAR = (
    replace(MACHINE.nodes[0], distances=(10, 21)),
    replace(MACHINE.nodes[1], memory_bytes=0, free_bytes=0, distances=(21, 10)),
)
MACHINES: dict[str, Callable[[], Machine]] = {
    "two nodes": lambda: MACHINE,
    "guest without a known cache": lambda: replace(
        MACHINE, caches=(), nodes=MACHINE.nodes[:1], platform=replace(MACHINE.platform, is_guest=True)
    ),
    "512 MiB of L3 and 12 GiB": lambda: replace(MACHINE, caches=LARGE_L3, memory_available_bytes=12 * GIB),
    "a node without memory": lambda: replace(MACHINE, nodes=FAR),
    "one core": lambda: made(1, 1, 1, 16 * MIB, node_bytes=8 * GIB),
    "three levels, SMT": lambda: made(1, 3, 1, 30 * MIB, threads=2, l2=(2 * MIB, 1), node_bytes=32 * GIB),
}
CHOSEN: dict[str, dict[str, dict[str, SettingValue]]] = {
    "as usual": {},
    "chosen": {
        "latency": {"patterns": "dram-4k,tlb-local,hugetlb-2m", "largest": 256 * MIB, "cpu": 1},
        "numa": {"span": 32 * MIB, "matrix_time": 5.0, "pages": "thp,4k"},
        "bandwidth": {"matrix_time": 3.0, "pages": "4k"},
        "hammer": {"pages": 4096, "loops": 5},
        "core-to-core": {"budget": 5.0},
        "shm": {"bytes": 64 * MIB, "matrix_time": 2.0},
    },
}


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> Told:
    """Take from this host what would show: its clock, CPUs, page size, memory and processes."""
    told, ticks = Told(growth=7.0), count()
    monkeypatch.setattr(binding, "lib", told)
    monkeypatch.setattr(native, "leave_cpus", lambda cpus: len(list(cpus)) < 4)
    monkeypatch.setattr(durations, "_BASE_PAGE_BYTES", 4096)
    monkeypatch.setattr(binding, "tlb_reach_bytes", lambda page_bytes: 2048 * page_bytes)
    monkeypatch.setattr(latency, "_PAGE_BYTES", dict.fromkeys(binding.Pages, 4096))
    monkeypatch.setattr(latency, "time", SimpleNamespace(monotonic=lambda: next(ticks) / 100))
    monkeypatch.setattr(latency, "HostLoad", lambda: SimpleNamespace(others=lambda: OthersUse(0.3, 0.02)))
    monkeypatch.setattr(binding.Latency, "core_hz", 3e9)
    frees = count(10)
    monkeypatch.setattr(shm, "read_free_by_node", lambda: {0: 10**9 // next(frees), 1: 10**9})
    mount = SimpleNamespace(f_bavail=1 << 20, f_frsize=4096)
    monkeypatch.setattr(shm.os, "statvfs", lambda _: mount)
    monkeypatch.setattr(shm.os, "open", lambda *_: -1)
    monkeypatch.setattr(shm.os, "close", lambda _: None)
    return told


def placement(index: int = 0) -> Placement:
    """The further down a list, the more pages are elsewhere, and the fewer are huge."""
    there = 1000 - index * 3
    verified, bound = index % 5 != 4, index % 2 == 0
    return Placement(1000, {0: there, 1: 1000 - there}, 0, 1.0 - index / 40, verified, bound)


def hammered(call: binding.Hammer) -> tuple[HammerResult, ...]:
    """Each process is slower than the one before, and the more there are, the slower is each."""
    processes = len(call._results)
    return tuple(
        HammerResult(1000, 10 * at, 10 * at + 2_000_000, 1000 + 200 * processes + 10 * at, 1_950_000 - 90_000 * at, at)
        for at in range(processes)
    )


def found(machine: Machine, name: str, chosen: dict[str, SettingValue]) -> Iterator[object]:
    probe = f"memory.{name}"
    plan = make_plan(machine, REGISTRY, name="standard", probes=[probe], settings={probe: chosen})
    yield from plan.refusals
    for step in plan.steps:
        yield step
        yield from load_class(REGISTRY.get(probe).target).run(step, HandContext())


def calls(told: Told) -> Iterator[str]:
    """Yield what the native code is told: the stop rule, and the first and last of each list."""
    for name, arguments in told.calls:
        shown = [[one[0], one[-1], len(one)] if isinstance(one, list) and one else one for one in arguments]
        yield f"{name} {goldens.plain(shown)}"
    told.calls.clear()


@pytest.mark.parametrize("probe", PROBES)
def test_plans_and_figures_are_those_recorded(probe: str, settled: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binding.NativeCall, "placement", lambda _, index=0: placement(index))
    monkeypatch.setattr(hammer.Hammer, "results", hammered)
    lines = []
    for title, make in MACHINES.items():
        for which, settings in CHOSEN.items():
            lines.append(f"# {title}, {which}")
            try:
                emissions = list(goldens.lines(found(make(), probe, settings.get(probe, {}))))
                lines += emissions[: 12 if probe == "loaded" else None]  # the other mixes and delays are like them
            except Exception as error:  # noqa: BLE001 - what is refused while it runs
                lines.append(f"{type(error).__name__}: {error}")
            lines += dict.fromkeys(calls(settled))
    goldens.compare(f"memory.{probe}", lines)


def test_large_machines_are_sampled_as_recorded() -> None:
    lines = []
    for title, machine in (
        ("8 sockets", made(8, 16, 1, 112 * MIB, nodes=2, node_bytes=256 * GIB, memory_only=(64 * GIB,))),
        ("2 sockets, SMT", made(2, 96, 12, 32 * MIB, nodes=4, threads=2, node_bytes=48 * GIB)),
    ):
        lines.append(f"# {title}")
        for name in PROBES:
            probe = f"memory.{name}"
            for step in make_plan(machine, REGISTRY, name="standard", probes=[probe], settings={}).steps:
                settings = {key: value for key, value in step.settings.items() if len(str(value)) < 200}
                lengths = {key: len(str(value)) for key, value in step.settings.items() if key not in settings}
                lines += goldens.lines([replace(step, settings={**settings, "long": str(lengths)}, cpus=step.cpus[:3])])
    goldens.compare("memory-large", lines)
