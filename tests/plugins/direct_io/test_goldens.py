"""What io.direct and io.commit plan, and what they report of a storage whose every figure is made up.

The requests are those of a device with a knee, a cache and a cliff, on a host that is busy, warm and loses a path.
Whatever changes of a plan or a figure shows here, and in the commit that records it again.
"""

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

import goldens
from fakes import HandContext
from plugins.direct_io.hand_made import edge, host, interval, window
from plugins.direct_io.test_options import PRESETS, REGISTRY, FakeSetup
from plugins.direct_io.test_path_states import States
from sizeup.errors import RefusedError, SizeupError
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Gentle, SettingValue, Step
from sizeup.model.sample import Estimate, Progress
from sizeup.probing.api import Emission
from sizeup.probing.planner import make_plan
from sizeup.procfs.block import BlockStat
from sizeup.procfs.process import ProcessIo
from sizeup.text import plural
from sizeup_direct_io import binding, commit, comparisons, slo, window_counters
from sizeup_direct_io import run as run_module
from sizeup_direct_io import target as target_module
from sizeup_direct_io.call_with_timeout import CanceledError, StalledError
from sizeup_direct_io.cold_read import ColdRead
from sizeup_direct_io.commit import Commit
from sizeup_direct_io.disks import Disks, NearCpus
from sizeup_direct_io.durations import TimeBudget
from sizeup_direct_io.measure import MeasuredPoint, Window
from sizeup_direct_io.probe import DirectIo
from sizeup_direct_io.run import Run, TargetRun
from sizeup_direct_io.slo import Objective
from sizeup_direct_io.sustained import CliffWatch
from sizeup_direct_io.target import CLOSE_SECONDS_LIMIT, OpenTarget, TargetKind, TargetSpec
from sizeup_direct_io.window_counters import Counters, CounterSource, Temperature, ThermalState
from sizeup_direct_io.worker import Worker

GIB, MIB = 1 << 30, 1 << 20
SPREAD = {0.5: 0.3, 0.9: 0.3, 1.3: 0.3, 2.5: 0.08, 4.0: 0.018, 9.0: 0.002}
"""The share of the requests that take so many times the mean."""
NO_WINDOW = re.compile("^opening |^filling | written$")
LEFT_OUT = ("latency-p50", "latency-p90", "latency-p999", "written-iops", "response-p50", "response-p90")
PLANNED: tuple[dict[str, SettingValue], ...] = (
    {},
    {"budget": 200.0},
    {"size": 64 * GIB},
    {"more_paths": "/a:/b", "scale_threads": True, "compare_engine": "threads"},
    {"check_concurrency": True, "largest_file": 2 * GIB, "depth": 4},
)


class Played(FakeSetup):
    """A storage that reaches 60,000 IOPS of 8 KiB, twice as many within an eighth of a GiB, and less after a while."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        find_rate = run_module.find_rate
        super().__init__(folder, patch)
        self.now, self.calls, self.noted = 100.0, 0, dict[str, None]()
        clock = SimpleNamespace(monotonic=lambda: self.now)
        patch.setattr(run_module, "find_rate", find_rate)
        patch.setattr(slo, "time", clock)
        patch.setattr(commit, "measure", self.measure)
        patch.setattr(run_module, "cold_read", self.cold)
        patch.setattr(run_module, "several_nodes", lambda: False)
        patch.setattr(commit.os, "cpu_count", lambda: 8)
        patch.setattr(comparisons, "available_bytes", lambda: 64 * GIB)
        patch.setattr(binding, "extents", lambda *_, flush: None)
        patch.setattr(binding, "cached_bytes", lambda *_: 0)
        patch.setattr(binding, "availability", lambda _: 0)
        patch.setattr(target_module.secrets, "randbits", lambda _: 1)
        patch.setattr(target_module.os, "posix_fadvise", lambda *_: None)
        patch.setattr(
            target_module.TargetSetup, "reopen", lambda setup, *_: target_module.os.dup(setup.target.descriptor)
        )
        patch.setattr(
            target_module.TargetSetup, "empty", lambda _, *files: files or self.noted.setdefault("empty file")
        )
        patch.setattr(target_module.TargetSetup, "keep_reserve", lambda _: None)
        patch.setattr(window_counters, "read_thermal_state", lambda: ThermalState({}, {}))
        patch.setattr(commit.os, "ftruncate", lambda *_: None)

    def cold(self, *_: object) -> Generator[Emission, None, ColdRead]:
        yield Progress(0.0)
        times = {200_000: 300, 3_000_000: 500, 9_000_000: 200}
        return ColdRead(interval(reads=times), 2.5, 16, 3, 9 * GIB, 0.125)

    def measure(
        self,
        workers: Sequence[Worker],
        streams: Sequence[str],
        at: Mapping[str, str | int | float],
        wanted: Window,
        context: HandContext,
        source: CounterSource,
        watch: CliffWatch | None = None,
    ) -> Generator[Emission, None, MeasuredPoint]:
        del context, source
        yield Progress(0.0)
        self.calls += 1
        seconds, wave = wanted.seconds or 1.0, 1.0 + 0.02 * (self.calls % 5)
        self.now += seconds + wanted.warmup_seconds
        self.noted[f"{len(workers)} workers {self.shown(workers[0], wanted)}"] = None
        if watch is not None:
            yield from self.watched(watch)
        each, read, written = {}, 0, 0
        for group, name in enumerate(streams):
            ours = [worker for worker in workers if worker.group == group]
            first, depth = ours[0], sum(worker.committers or worker.depth for worker in ours)
            most = 60_000.0 * (8192 / first.block_bytes) ** 0.7 * (2.0 if first.size_bytes <= GIB // 8 else 1.0)
            rate = most * depth / (depth + 6.0) * wave * (0.4 if first.fdatasync_each else 1.0) / len(streams)
            mean_ns = depth / rate * 1e9
            if first.interval_ns:
                rate = min(rate, 1e9 / first.interval_ns * len(ours))
            count = round(rate * seconds)
            reads = count * first.read_percent // 100
            late = round(count * min(0.5, 0.004 / max(1e-3, 1.02 - rate / most)))
            times = {round(mean_ns * times): share for times, share in SPREAD.items()}
            spread = [{ns: round(share * part) for ns, share in times.items()} for part in (reads, count - reads)]
            responses = (
                {400_000 * len(streams): count - late, 2_500_000: late} if first.interval_ns or first.committers else {}
            )
            each[name] = interval(*spread, responses, time_ns=round(seconds * 1e9))
            native = each[name].native
            native.read_bytes, native.written_bytes = (sum(part.values()) * first.block_bytes for part in spread)
            native.usage_requests, native.usage_bytes = count, count * first.block_bytes
            native.user_ns, native.system_ns, native.run_delay_ns = count * 900, count * 4100, count * 30
            native.voluntary_switches, native.submit_calls = count // 3, count // 4
            native.errors = int(self.calls % 11 == 7)
            read, written = read + int(native.read_bytes), written + int(native.written_bytes)
        cool, warm = (
            ThermalState({"cpu0": 3 * self.calls + hot}, {"nvme0": Temperature(40.0 + self.calls % 4 + 40 * hot, 75.0)})
            for hot in (0, self.calls % 13 == 12)
        )
        busy = seconds * (1 + self.calls % 3)
        return window(
            seconds,
            each,
            at=at,
            blocks=(1.0, 1.1),
            halves=1.0 + 0.03 * (self.calls % 9 - 4),
            converged=self.calls % 4 != 3,
            huge_page_bytes=2 * MIB,
            threads=len(workers),
            busiest_thread=min(1.0, 0.1 * (self.calls % 12)) or None,
            path_changes=("path sdk (SCSI device) went from running to offline at 06:17:51 UTC",) * (self.calls == 6),
            before=edge(
                5.0,
                host=host(10.0, 20.0, 1.0, 50.0, interrupts=100, switches=1000),
                process_s=1.0,
                waited_us=(1000, 2000),
                kernel_s={"kworker": 1.0, "loop0": 2.0},
                thermal=cool,
                counters=Counters(
                    ProcessIo(0, 0), BlockStat(0, 0), None, Disks(("sda",), BlockStat(0, 0), plain=True), 0, 0, 0
                ),
            ),
            after=edge(
                5.0 + seconds * 1.01,
                host=host(
                    10.0 + busy,
                    20.0 + 2 * busy,
                    1.0 + busy / 8,
                    50.0 + 4 * busy,
                    busy / 50,
                    interrupts=90_100,
                    switches=41_000,
                ),
                process_s=1.0 + busy,
                waited_us=(1000 + 90_000 * self.calls, 302_000),
                kernel_s={"kworker": 1.0 + busy / 4, "loop0": 2.0 + busy / 3, "md0": 0.001},
                thermal=warm,
                counters=Counters(
                    ProcessIo(read, written),
                    BlockStat(round(read * 1.02 * wave), written),
                    None,
                    Disks(
                        ("sda",),
                        BlockStat(round(read * (1.0 + 0.01 * (self.calls % 8))), written + 3 * MIB),
                        plain=True,
                    ),
                    read,
                    written,
                    read // 300,
                ),
            ),
        )

    @staticmethod
    def shown(worker: Worker, wanted: Window) -> str:
        """Return what a worker and the window have that is not the default."""
        plain = Worker(worker.engine, 0, 0, 0, 0)
        fields = {
            name: getattr(worker, name) for name in worker.__struct_fields__ if name not in {"seed", "descriptor"}
        }
        return f"{ {name: value for name, value in fields.items() if value != getattr(plain, name)} } {wanted}"

    def watched(self, watch: CliffWatch) -> Iterator[Emission]:
        """Yield what follows writes at 60,000 IOPS for 40 seconds, and at a third from then on."""
        done, left = 0, 500.0
        for second in range(500):
            following = yield from watch(self.now + second, done, left - second)
            if following == "end":
                return
            done += 60_000 + 500 * (second % 4) if second < 40 else 20_000 + 300 * (second % 5)


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Played:
    return Played(tmp_path, monkeypatch)


def steps(probe: str, chosen: Mapping[str, SettingValue], plan: str = "standard") -> list[Any]:
    made = make_plan(Machine(), REGISTRY, name=plan, probes=[probe], settings={probe: dict(chosen)})
    return [*made.refusals, *made.steps]


def recorded(emissions: Iterable[object], folder: Path) -> Iterator[str]:
    """Yield a line for the last estimate of each point, for each gap, and for each window that is begun."""
    last: dict[str, object] = {}
    begun: dict[str, None] = {}
    for one in emissions:
        if isinstance(one, Progress):
            if one.activity and not NO_WINDOW.search(one.activity):
                begun[f"{one.done:.3f} {one.activity}"] = None
        elif not isinstance(one, Estimate):
            last[repr(one)] = one
        elif one.series not in LEFT_OUT:
            last[f"{one.series} {one.at}"] = one
    for line in goldens.lines(last.values()):
        yield line.replace(str(folder), "/data")
    yield from (line.replace(str(folder), "/data") for line in begun)


@pytest.mark.parametrize("preset", PRESETS)
def test_figures_are_those_recorded(preset: str, played: Played, tmp_path: Path) -> None:
    chosen: dict[str, SettingValue] = {"path": str(tmp_path), "preset": preset}
    chosen |= {} if preset == "sustained" else {"ramps": 1 if preset == "normal" else 2}
    extra: dict[str, dict[str, SettingValue]] = {
        "oltp-read": {"cold_read": True, "scale_threads": True, "compare_engine": "threads", "depth": 64},
        "oltp-7030": {"more_paths": "/b", "more_depths": "2", "p99_limit": 0.0006, "depth": 16},
        "dss-scan": {"path_limit": 4e8, "depth": 16},
        "dss-rand": {"depth": 8},
        "load": {"depth": 2},
        "single-read": {"check_concurrency": True, "size": GIB, "cache_size": 512 * MIB},
        "calibrate": {"depth": 16},
        "simple": {
            "depth": 4,
            "cold_read": True,
            "compare_engine": "threads",
            "scale_threads": True,
            "more_paths": "/b",
        },
        "survey": {"depth": 8, "search": 20.0, "confirm": 5.0},
        "slo": {"depth": 16, "search": 30.0, "confirm": 5.0},
        "custom": {"rate": 900.0, "read_percent": 60, "depth": 4, "block": 16 << 10},
        "sustained": {"most_written": 64 * GIB},
        "working-set": {"size": GIB},
    }
    (step,) = steps("io.direct", chosen | extra.get(preset, {}))
    found = list(recorded(DirectIo().run(step, HandContext()), tmp_path))
    goldens.compare(f"io.direct.{preset}", [*found, *played.noted])


@pytest.mark.parametrize(
    ("preset", "gap"), [("working-set", "a cache behind the target"), ("dss-rand", "knee of dss-rand")]
)
def test_beside_the_load_of_others_neither_a_cache_nor_a_knee_is_concluded(
    preset: str, gap: str, played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window_counters.BackgroundLoad, "background_caveats", ("others used 90 %", "and waited"))
    (step,) = steps("io.direct", {"path": str(tmp_path), "preset": preset, "ramps": 1, "size": GIB})
    found = list(DirectIo().run(step, HandContext()))

    assert Gap(f"io.direct: {gap}", "others used 90 %; and waited") in found
    assert not [one for one in found if isinstance(one, Estimate) and one.series in ("working-set-gain", "knee")]


def begun(window: Window, p99_limit: float = 0.0, caveats: tuple[str, ...] = ()) -> Run:
    """Return a run of which no more is known than what its windows ask for."""
    found = object.__new__(Run)
    found._settings = SimpleNamespace(window=window, p99_limit=p99_limit)  # type: ignore[assignment]
    found._verdict = SimpleNamespace(background=SimpleNamespace(background_caveats=caveats))  # type: ignore[assignment]
    found._budget, found._measured_seconds = TimeBudget(0.0), []
    return found


@pytest.mark.parametrize(
    ("busy", "limit", "caveats", "why"),
    [
        (0.96, 0.0, (), "host CPU utilization was 96 %"),
        (0.95, 0.0, (), ""),
        (0.96, 0.0, ("others",), ""),
        (0.0, 0.001, (), "latency p99 of 2 ms exceeds p99_limit (1 ms)"),
        (0.0, 0.0021, (), ""),
    ],
)
def test_a_ramp_ends_where_the_host_is_full_or_a_latency_too_long(
    busy: float, limit: float, caveats: tuple[str, ...], why: str
) -> None:
    ends = {"before": edge(1.0, host=host(0, 0, 0, 0)), "after": edge(2.0, host=host(busy, 0, 0, 1 - busy))}
    measured = window(1.0, {"small": interval({1_000: 99}, {2_000_000: 9})}, **ends)
    found = begun(Window(1.0, 4.0, 0.0, 0.1, 5.0), limit, caveats)._why_to_stop(measured)

    assert found.replace("2.01 ms", "2 ms").replace("1.99 ms", "2 ms") == why


def test_what_is_left_is_as_long_as_the_windows_so_far() -> None:
    run = begun(Window(1.0, 4.0, 9.0, 0.1, 5.0))

    assert run._progress(3, "first") == Progress(0.0, 15.0, "first")
    run._measured_seconds += [5.0, 7.0]
    assert run._progress(2, "third") == Progress(0.5, 12.0, "third")
    run._budget = TimeBudget(1e6)
    left = run._progress(2, "third").remaining_seconds
    assert left is not None
    assert left > 12.0, "until its end"


def test_each_window_is_as_much_of_a_run_as_the_others(played: Played, tmp_path: Path) -> None:
    (step,) = steps("io.direct", {"path": str(tmp_path), "preset": "oltp-read", "ramps": 3, "depth": 2, "size": GIB})
    found = [one for one in DirectIo().run(step, HandContext()) if isinstance(one, Progress)]

    assert [one.done for one in found if "oltp-read: " in (one.activity or "")] == [window / 6 for window in range(6)]


@pytest.mark.parametrize(("budget", "left"), [(0.0, 37.0), (1e6, 1e6)])
def test_while_a_file_is_written_the_windows_to_come_are_left_too(budget: float, left: float) -> None:
    """7 s of writing and six windows of 5 s; with a budget until its end."""
    run = begun(Window(1.0, 4.0, 0.0, 0.1, 5.0))
    known: dict[str, Any] = {"ramps": 2, "warmup": 1.0, "seconds": 4.0, "remove_leftovers": False, "engine": "auto"}
    known["sweeps"] = (SimpleNamespace(points=range(3)),)
    run._settings, run._budget = SimpleNamespace(**known), TimeBudget(budget)  # type: ignore[assignment]
    writing = SimpleNamespace(prepare=lambda *_, **__: iter([Progress(0.5, 7.0), Progress(0.0)]))
    first, second = run._prepare(writing, SimpleNamespace(), ())  # type: ignore[arg-type]

    assert first.remaining_seconds == pytest.approx(left, abs=60.0 if budget else 0.0)  # type: ignore[union-attr]
    assert second == Progress(0.0)


def test_the_objective_of_a_search_is_in_nanoseconds(
    played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []
    monkeypatch.setattr(run_module, "find_rate", lambda *arguments: iter(told.append(arguments[4]) or ()))
    (step,) = steps(
        "io.direct", {"path": str(tmp_path), "preset": "slo", "objective": 0.003, "search": 7.0, "confirm": 2.0}
    )
    list(DirectIo().run(step, HandContext()))

    assert told == [Objective(3e6, 7.0, 2.0)]


@pytest.mark.parametrize("nodes", [True, False])
def test_where_a_host_has_nodes_it_is_told_that_none_is_near(
    nodes: bool, played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "several_nodes", lambda: nodes)
    monkeypatch.setattr(target_module, "find_near_cpus", lambda *_: NearCpus((), "no node is near"))
    (step,) = steps("io.direct", {"path": str(tmp_path), "preset": "simple", "ramps": 1, "depth": 1, "size": GIB})
    found = list(DirectIo().run(step, HandContext()))

    assert (Gap(f"io.direct: CPUs near {tmp_path}", "no node is near") in found) is nodes


@pytest.mark.parametrize(
    ("preset", "conclusion"),
    [("calibrate", "knee"), ("calibrate", "calibrate-iops"), ("slo", "slo-iops"), ("slo", "full-rate-cpus")],
)
def test_nothing_is_concluded_from_capped_figures(
    preset: str, conclusion: str, played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binding.IoJob, "gentle", None)  # also afterwards
    (step,) = steps("io.direct", {"path": str(tmp_path), "preset": preset, "ramps": 1, "depth": 4, "size": GIB})
    full, gentle = (
        {one.series for one in DirectIo().run(each, HandContext()) if isinstance(one, Estimate)}
        for each in (step, replace(step, gentle=Gentle()))
    )

    assert {"iops", conclusion} <= full
    assert {"iops", conclusion} & gentle == {"iops"}


def test_old_data_are_read_at_the_deepest_queue_of_small_reads(
    played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    depths = []
    monkeypatch.setattr(run_module, "cold_read", lambda _, depth, *rest: depths.append(depth) or played.cold())
    (step,) = steps("io.direct", {"path": str(tmp_path), "preset": "simple", "ramps": 1, "cold_read": True})
    list(DirectIo().run(step, HandContext()))

    assert depths == [256]


def test_paths_that_are_down_are_told_and_first_reads_only_of_the_first_target(
    played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The targets existed before; of each some blocks are read twice, to know its content."""
    opened, background, touched, devices = target_module.open_target, run_module.measure_background, [], []

    def touch(setup: target_module.TargetSetup) -> Generator[Emission, None, tuple[list[int], list[int]]]:
        yield from ()
        touched.append(setup.target.path)
        return [len(touched)] * 4, [1] * 4

    def noted(device: int, context: HandContext) -> Generator[Emission, None, window_counters.BackgroundLoad]:
        devices.append(device)
        return (yield from background(device, context))

    def existing(spec: TargetSpec) -> OpenTarget:
        return replace(opened(spec), kind=TargetKind.FILE, device_number=7 if spec.path == "/b" else 6)

    monkeypatch.setattr(run_module, "touch", touch)
    monkeypatch.setattr(run_module, "measure_background", noted)
    monkeypatch.setattr(run_module, "PathWatch", lambda _: States(sda="running", sdb="offline", sdc="failed").watch())
    monkeypatch.setattr(target_module, "open_target", existing)
    chosen = {"path": str(tmp_path), "preset": "simple", "ramps": 1, "depth": 1, "more_paths": "/b"}
    found = list(DirectIo().run(steps("io.direct", chosen)[0], HandContext()))

    assert Gap("io.direct: paths down before the run", "sdb: offline; sdc: failed") in found
    assert devices == [6], "the counters are those of the first target"
    assert touched == [str(tmp_path), "/b"]
    assert [e.extra["first_ns"] for e in found if isinstance(e, Estimate) and e.series == "first-touch"] == [1]


class Ended(TargetRun):
    """A step on two targets that ends by an error, after one path came back and another one was lost."""

    def __init__(self, error: Exception) -> None:
        super().__init__(HandContext(), "/data")
        self._error, self.waited = error, list[float]()
        states = States(sda="running", sdb="offline")
        self._paths = states.watch()
        states.states = {"sda": "offline", "sdb": "running"}
        for loss in (None, "device sdx of /data was removed"):
            self._setups.append(SimpleNamespace(describe_loss=lambda loss=loss: loss, close=self.waited.append))

    def _emissions(self) -> Generator[Emission, None, None]:
        yield Progress(0.5)
        raise self._error


@pytest.mark.parametrize(
    ("raised", "told", "waits"),
    [
        (SizeupError("7 requests failed"), "/data: 7 requests failed", CLOSE_SECONDS_LIMIT),
        (SizeupError("opening /data: it is gone"), "opening /data: it is gone", CLOSE_SECONDS_LIMIT),
        (StalledError("stalled"), "/data: stalled", 0.0),
    ],
)
def test_what_ends_a_step_names_its_target_once_and_what_was_lost(raised: Exception, told: str, waits: float) -> None:
    step = Ended(raised)
    found = []
    with pytest.raises(type(raised)) as failed:
        found.extend(step.emissions())

    lost = "device sdx of /data was removed; path sda went from running to offline at 00:01:40 UTC"
    assert str(failed.value) == f"{told}; {lost}"
    assert step.waited == [waits] * 2


def test_a_cancel_ends_a_step_and_a_refusal_is_told_as_it_is() -> None:
    for error in (CanceledError(), RefusedError("no")):
        step = Ended(error)
        with nullcontext() if isinstance(error, CanceledError) else pytest.raises(RefusedError, match=r"^no$"):
            assert list(step.emissions()) == [Progress(0.5)]
        assert step.waited == [CLOSE_SECONDS_LIMIT] * 2


@pytest.mark.parametrize("methods", ["all", "fdatasync"])
def test_commits_are_those_recorded(methods: str, played: Played, tmp_path: Path) -> None:
    chosen: dict[str, SettingValue] = {"path": str(tmp_path), "methods": methods, "rounds": 3, "most_committers": 64}
    (step,) = steps("io.commit", chosen)
    found = list(recorded(Commit().run(step, HandContext()), tmp_path))
    goldens.compare(f"io.commit.{methods}", [*found, *played.noted])


def test_plans_are_those_recorded() -> None:
    lines = []
    for name in ("quick", "standard", "full"):
        for probe, all_chosen in (("io.direct", PLANNED), ("io.commit", ({}, {"methods": "all", "rounds": 2}))):
            for preset in PRESETS if probe == "io.direct" else ("",):
                for chosen in all_chosen:
                    settings = {"path": "/data", **({"preset": preset} if preset else {}), **chosen}
                    lines.append(f"# {name} {preset} {chosen}")
                    try:
                        found = steps(probe, settings, name)
                    except Exception as error:  # noqa: BLE001 - an option that the preset does not have
                        lines.append(type(error).__name__)
                        continue
                    for one in found:
                        if isinstance(one, Step):
                            seconds, hazards = (
                                goldens.plain(one.estimated_seconds),
                                [each.value for each in one.hazards],
                            )
                            limit = goldens.plain(one.time_limit_seconds)
                            lines.append(f"{seconds} s, {limit} s, {one.touches}, {hazards}, {one.axis_ranges}")
                        else:
                            lines.append(one.reason)
    goldens.compare("io.plans", lines)


def test_gaps_are_recorded_too() -> None:
    assert list(goldens.lines([Gap("a", "b"), Progress(0.5)])) == ['Gap {"subject":"a","reason":"b"}']


def test_a_window_without_a_commit_is_a_gap_and_no_figure(
    played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(*_: object) -> Generator[Emission, None, MeasuredPoint]:
        yield Progress(0.0)
        return window(1.0, {"commit": interval()})

    monkeypatch.setattr(commit, "measure", nothing)
    (step,) = steps("io.commit", {"path": str(tmp_path), "methods": "fdatasync", "rounds": 2, "most_committers": 8})
    found = list(Commit().run(step, HandContext()))

    gaps = [one for one in found if isinstance(one, Gap) and one.reason == "no commit ended in time"]
    assert [gap.subject.rpartition(", ")[2] for gap in gaps] == [plural(count, "committer") for count in (1, 8, 8, 1)]
    assert not [one for one in found if isinstance(one, Estimate)]
    left = [one.remaining_seconds for one in found if isinstance(one, Progress) and "committer" in (one.activity or "")]
    assert left == sorted(left, reverse=True)
    assert len(left) == 4
