"""Every option of every preset either changes what runs or is refused, and a step records what it runs with.

The engine, the files and the time are stood in for: what is compared is what the workers would be told, what
would be opened, and what would be yielded.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fakes import HandContext
from sizeup.errors import RefusedError, UsageError
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import SettingValue, Step
from sizeup.model.sample import Estimate, Progress
from sizeup.probing.api import Emission
from sizeup.probing.manifest import Manifest
from sizeup.probing.planner import make_plan
from sizeup.probing.registry import load_registry
from sizeup.probing.settings import why_unused
from sizeup_direct_io import (
    binding,
    comparisons,
    point_verdict,
    window_counters,
)
from sizeup_direct_io import measure as measure_module
from sizeup_direct_io import run as run_module
from sizeup_direct_io import target as target_module
from sizeup_direct_io.measure import MeasuredPoint, Window
from sizeup_direct_io.probe import DirectIo
from sizeup_direct_io.slo import Objective
from sizeup_direct_io.sustained import CliffWatch
from sizeup_direct_io.target import OpenTarget, TargetKind, TargetSpec
from sizeup_direct_io.window_counters import Counters, CounterSource, ThermalState, WindowCounters
from sizeup_direct_io.worker import Engine, EnginePolicy, Worker
from tiers import in_gate

REGISTRY = load_registry()
MANIFEST: Manifest = REGISTRY.get("io.direct").manifest
PRESETS = next(parameter.choices for parameter in MANIFEST.parameter if parameter.name == "preset")
OTHER: dict[str, SettingValue] = {
    "engine": "aio",
    "size": 512 << 20,
    "seconds": 3.0,
    "budget": 200.0,
    "warmup": 0.7,
    "precision": 0.2,
    "ramps": 1,
    "threads": 3,
    "scale_threads": True,
    "more_depths": "32",
    "depth": 4,
    "pages": "4k",
    "block": 64 << 10,
    "pattern": "sequential",
    "read_percent": 40,
    "sync": "dsync",
    "rate": 100.0,
    "max_latency": 0.0001,
    "objective": 0.005,
    "search": 5.0,
    "confirm": 0.0,
    "most_written": 1 << 30,
    "most_seconds": 60.0,
    "p99_limit": 0.0001,
    "compare_engine": "threads",
    "path_limit": 1e3,
    "cache_size": 1 << 20,
    "reserve": 1 << 30,
    "largest_file": 64 << 20,
    "allow_write_to": "wwn-0x1",
    "check_concurrency": False,
    "cold_read": True,
    "remove_leftovers": True,
    "stall": 9.0,
}
"""Another value than the default of each option."""
CUSTOM_NEEDS: dict[str, dict[str, SettingValue]] = {
    "sync": {"read_percent": 0},
    "threads": {"depth": 8},
    "more_depths": {"more_paths": "/more"},
    "allow_write_to": {"read_percent": 0},
}
"""What must stand beside an option of ``custom`` for it to mean anything."""
EVERYWHERE = ("path", "more_paths", "preset")
ffi = vars(binding)["ffi"]
HOST = window_counters.HostCpu(0, 0, 0, 0, 0, 0, 0)


def interval(requests: int, block_bytes: int) -> binding.IoInterval:
    """So many reads and writes of 1 ms in a second."""
    native = ffi.new("struct sizeup_io_sample *")
    native.time_ns = 1_000_000_000
    native.reads = native.writes = native.usage_requests = requests
    native.read_bytes = native.written_bytes = native.usage_bytes = requests * block_bytes
    native.user_ns = native.system_ns = 1_000_000
    for kind in ("read_ns", "write_ns", "response_ns"):
        getattr(native, kind)[1000] = requests
    return binding.IoInterval(native)


def edge(seconds: float) -> WindowCounters:
    host = msgspec.structs.replace(HOST, idle_ns=int(seconds * 1e9))
    return WindowCounters(
        host, 0, None, None, Counters(None, None, None, None, 0, 0, 0), {}, ThermalState({}, {}), int(seconds * 1e9)
    )


class FakeSetup:
    """Stands in for files, engines and time, and notes what they were told."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.told: list[Any] = []
        self._file = folder / "file"
        self._file.write_bytes(bytes(4096))
        for module in (measure_module, comparisons):
            patch.setattr(module, "measure", self.measure)
        patch.setattr(run_module, "find_rate", self.find_rate)
        patch.setattr(window_counters, "BACKGROUND_SECONDS", 0.0)
        patch.setattr(window_counters, "read_host_cpu", lambda: HOST)
        patch.setattr(window_counters, "read_pressure", lambda _: None)
        patch.setattr(window_counters, "process_cpu_ns", lambda: 0)
        patch.setattr(point_verdict, "read_limits", lambda _: ())
        patch.setattr(target_module, "open_target", self.open_target)
        patch.setattr(target_module, "find_leftovers", lambda *_: [str(folder / "left")])
        patch.setattr(target_module.os, "unlink", lambda path, **_: self.told.append(("removed", path)))
        patch.setattr(target_module.TargetSetup, "fill", self.fill)
        patch.setattr(window_counters, "read_policy", lambda: EnginePolicy(dict.fromkeys(Engine, 0)))
        patch.setattr(binding, "alignment", lambda _: (512, 512))
        patch.setattr(target_module.TargetSetup, "usable_cpus", lambda _: 64)

    def open_target(self, wish: TargetSpec) -> OpenTarget:
        self.told.append(wish)
        size = wish.size_bytes or 1 << 30
        descriptor = target_module.os.open(self._file, target_module.os.O_RDWR)
        return OpenTarget(TargetKind.MADE, wish.path, descriptor, 0, size, None, 0)

    def find_rate(self, *given: object) -> Iterator[Emission]:
        self.told += [one for one in given if isinstance(one, Objective)]
        return iter(())

    def fill(self, *_: object) -> Iterator[Emission]:
        return iter(())

    def measure(
        self,
        workers: Sequence[Worker],
        streams: Sequence[str],
        at: Mapping[str, str | int | float],
        window: Window,
        context: HandContext,
        place: CounterSource,
        watch: CliffWatch | None = None,
    ) -> Generator[Emission, None, MeasuredPoint]:
        del context, place
        yield Progress(0.0)
        told = [{**msgspec.structs.asdict(worker), "seed": 0, "descriptor": 0} for worker in workers]
        self.told.append((told, window, dict(at), watch and watch._settings.most_written))
        seconds = window.seconds
        each = {name: interval(100 * len(workers), workers[0].block_bytes) for name in streams}
        return MeasuredPoint(
            at, each, (1.0,), 1.0, edge(0.0), edge(seconds), seconds, converged=True, huge_page_bytes=None
        )


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSetup:
    return FakeSetup(tmp_path, monkeypatch)


def plan(folder: Path, chosen: Mapping[str, SettingValue]) -> Step:
    """The step; raises RefusedError or UsageError where the options are refused."""
    settings = {"io.direct": {"path": str(folder), **chosen}}
    made = make_plan(Machine(), REGISTRY, name="standard", probes=["io.direct"], settings=settings)
    if made.refusals:
        raise RefusedError(made.refusals[0].reason)
    (step,) = made.steps
    return step


def trace(stage: FakeSetup, step: Step) -> list[Any]:
    """Everything that a step told its surroundings and what it yielded."""
    stage.told.clear()
    encode = msgspec.msgpack.Encoder().encode  # quicker than an object's own words
    yielded = [
        encode(emission) for emission in DirectIo().run(step, HandContext()) if not isinstance(emission, Progress)
    ]
    return [*map(repr, stage.told), *yielded]


def test_the_table_has_every_option() -> None:
    assert {*OTHER, *EVERYWHERE} == {parameter.name for parameter in MANIFEST.parameter}
    defaults = {parameter.name: parameter.default for parameter in MANIFEST.parameter}
    assert [name for name, value in OTHER.items() if defaults[name] == value] == []


@pytest.mark.parametrize("preset", in_gate("^(?!fsync)", PRESETS))
def test_an_option_changes_what_a_preset_runs_or_is_refused(preset: str, stage: FakeSetup, tmp_path: Path) -> None:
    ignored, refused = [], []
    plain = trace(stage, plan(tmp_path, {"preset": preset}))
    assert plain == trace(stage, plan(tmp_path, {"preset": preset})), "the stage adds nothing of its own"
    for name, value in OTHER.items():
        needs = CUSTOM_NEEDS.get(name, {}) if preset == "custom" else {}
        without = trace(stage, plan(tmp_path, {"preset": preset, **needs})) if needs else plain
        try:
            step = plan(tmp_path, {"preset": preset, **needs, name: value})
            changed = trace(stage, step) != without
        except (UsageError, RefusedError) as error:
            refused.append(name if name in str(error) else str(error))
            continue
        assert step.settings[name] == value
        if not changed:
            ignored.append(name)

    assert ignored == []
    assert set(refused) <= OTHER.keys(), "a refusal names the option"
    if preset == "custom":
        assert refused == [
            *("pages", "max_latency", "objective", "search", "confirm", "most_written", "most_seconds", "p99_limit"),
            *("allow_write_to", "cold_read"),
        ]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_step_records_no_option_that_its_preset_does_not_use(preset: str, tmp_path: Path) -> None:
    step = plan(tmp_path, {"preset": preset})

    recorded = [parameter for parameter in MANIFEST.parameter if parameter.name in step.settings]
    assert [parameter.name for parameter in recorded if why_unused(parameter, {"preset": preset})] == []
    assert ("block" in step.settings) is (preset == "custom")


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"preset": "oltp-read", "block": 65536}, "block has no effect with preset=oltp-read: remove block, or"),
        ({"preset": "oltp-read", "block": 8192}, "block has no effect"),
        ({"preset": "custom", "pattern": "sequential", "threads": 2}, "threads has no effect with pattern=sequential"),
        ({"preset": "custom", "engine": "threads", "threads": 2}, "threads has no effect with engine=threads"),
        ({"preset": "custom", "threads": 2}, "threads=2: the queue depth is at most 1"),
        ({"preset": "custom", "sync": "dsync"}, "sync=dsync has no effect with read_percent=100"),
        ({"preset": "custom", "read_percent": 0, "sync": "fdatasync", "engine": "aio"}, "engine has no effect"),
        ({"preset": "custom", "allow_write_to": "wwn-1"}, "allow_write_to has no effect with read_percent=100"),
        ({"preset": "dss-scan", "depth": 2}, "depth=2: each stream of dss-scan has queue depth 4"),
        ({"preset": "oltp-read", "depth": 1, "p99_limit": 0.1}, "p99_limit has no effect with depth=1"),
        ({"path": "/a", "preset": "oltp-read", "more_paths": "/b:/a"}, "expected other paths than /a, each once"),
        ({"path": "/a", "preset": "oltp-read", "more_paths": "/b:/b"}, "more_paths=/b:/b: expected other paths"),
        ({"preset": "oltp-read", "more_depths": "8"}, "more_depths=8 has no effect without more_paths"),
        ({"preset": "oltp-read", "more_paths": "/b:/c", "more_depths": "8"}, "for each of the 2 more_paths"),
        ({"preset": "oltp-read", "more_paths": "/b", "more_depths": "0"}, "expected one queue depth from 1 to 1024"),
        ({"preset": "oltp-read", "more_paths": "/b", "more_depths": "x"}, "expected one queue depth from 1 to 1024"),
        ({"preset": "oltp-read", "engine": "oracle-like", "compare_engine": "aio"}, "it is the same engine"),
    ],
)  # fmt: skip
def test_what_has_no_effect_is_refused_with_what_to_do(
    chosen: dict[str, SettingValue], words: str, tmp_path: Path
) -> None:
    with pytest.raises((UsageError, RefusedError)) as refused:
        plan(tmp_path, chosen)

    assert words in str(refused.value)


@pytest.mark.parametrize("reported", [True, False], ids=["by statx", "by the device only"])
def test_redo_leaves_out_the_blocks_that_do_not_fit_the_sectors(
    stage: FakeSetup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, reported: bool
) -> None:
    monkeypatch.setattr(binding, "alignment", lambda _: (4, 4096) if reported else None)
    monkeypatch.setattr(target_module, "read_integer", lambda _: 4096)

    emitted = list(DirectIo().run(plan(tmp_path, {"preset": "redo"}), HandContext()))

    gaps = [gap.reason for gap in emitted if isinstance(gap, Gap) and "redo with blocks of 512 B" in gap.subject]
    assert gaps == [f"not measured: direct I/O to {tmp_path} needs a multiple of 4096 bytes"]
    sizes = {int(e.at["block_bytes"]) for e in emitted if isinstance(e, Estimate) and e.series == "redo-p50"}
    assert min(sizes) == 4096


def test_the_largest_sectors_of_several_targets_decide(
    stage: FakeSetup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    units = iter([(4, 512), (4, 4096)])
    monkeypatch.setattr(binding, "alignment", lambda _: next(units))
    emitted = list(DirectIo().run(plan(tmp_path, {"preset": "redo", "more_paths": "/b"}), HandContext()))

    left_out = "io.direct: redo with blocks of 512 B, 1 KiB, 2 KiB"
    assert Gap(left_out, "not measured: direct I/O to /b needs a multiple of 4096 bytes") in emitted


@pytest.mark.usefixtures("stage")
def test_requests_that_are_all_too_small_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_module.TargetSetup, "unit_bytes", 32 << 10)

    with pytest.raises(RefusedError, match=f"oltp-read: direct I/O to {tmp_path} needs a multiple of 32768 bytes"):
        list(DirectIo().run(plan(tmp_path, {"preset": "calibrate"}), HandContext()))


def test_the_engine_that_is_recorded_is_the_one_that_ran(stage: FakeSetup, tmp_path: Path) -> None:
    step = plan(tmp_path, {"preset": "fsync"})
    found = [e for e in DirectIo().run(step, HandContext()) if isinstance(e, Estimate) and e.series == "iops"]

    workers = [worker for told in stage.told if isinstance(told, tuple) and told[2] for worker in told[0]]
    used = {worker["engine"] for worker in workers}
    assert {str(estimate.extra["engine"]) for estimate in found} == {engine.value for engine in used} == {"threads"}


def test_without_the_cpu_time_of_the_host_its_figures_are_unknown_and_not_zero(
    stage: FakeSetup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = plan(tmp_path, {"preset": "oltp-read"})
    host_figures = {"host_ns", "host_interrupts", "host_switches", "host_kernel_percent"}

    def figures() -> tuple[dict[str, Estimate], list[Gap]]:
        emissions = list(DirectIo().run(step, HandContext()))
        estimates = {each.series: each for each in emissions if isinstance(each, Estimate)}
        return estimates, [each for each in emissions if isinstance(each, Gap)]

    known, _ = figures()
    monkeypatch.setattr(window_counters, "read_host_cpu", lambda: None)
    monkeypatch.setitem(globals(), "edge", partial(_without_host, edge))
    unknown, gaps = figures()

    assert host_figures <= known["cpu-per-io"].extra.keys()
    assert "full-rate-cpus" in known
    assert "host_io_ns_per_mb" in known["cpu-per-mb"].extra
    assert host_figures.isdisjoint(unknown["cpu-per-io"].extra)
    assert "host_io_ns_per_mb" not in unknown["cpu-per-mb"].extra
    assert "full-rate-cpus" not in unknown
    assert Gap("io.direct: CPUs that oltp-read takes", "the CPU time of this host cannot be read") in gaps
    assert unknown["cpu-per-io"].value == known["cpu-per-io"].value


def _without_host(edge: Callable[[float], WindowCounters], seconds: float) -> WindowCounters:
    return msgspec.structs.replace(edge(seconds), host=None)
