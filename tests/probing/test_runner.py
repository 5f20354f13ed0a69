"""One step in a process of its own: whatever it does, its outcome is said and its samples are kept."""

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from fakes import CancelWhen, QuietControl
from sizeup.model.plan import Gentle, SettingValue, Step
from sizeup.model.records import EstimateRecord, ProgressRecord, SamplesRecord, StepRecord
from sizeup.model.sample import Estimate, Outcome, Status
from sizeup.probing import runner
from sizeup.probing.runner import HANGING_SECONDS, Control, coalesce, run_step
from terminal import PATIENCE_SECONDS
from tiers import one_in

NULL = "sizeup_null.probe:Null"


class Kept:
    """The records of a step."""

    def __init__(self) -> None:
        self.records: list[StepRecord] = []
        self.latest = 0.0
        """When something was yielded for the last time."""

    def __call__(self, records: Iterable[StepRecord]) -> None:
        self.records.extend(records)
        self.latest = time.monotonic()

    @property
    def samples(self) -> int:
        return sum(len(batch.values) for batch in self.records if isinstance(batch, SamplesRecord))


def run(
    kept: Kept,
    target: str = NULL,
    control: Control | None = None,
    limit: float = 600.0,
    clock: Callable[[], float] = time.monotonic,
    cpus: tuple[int, ...] = (),
    gentle: Gentle | None = None,
    **settings: SettingValue,
) -> Outcome:
    settings = {"samples": 20, "interval": 0.0005, "misbehave": "no"} | settings
    step = Step("null", "null", "", settings, 1.0, limit, cpus=cpus, gentle=gentle)
    origin_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    return run_step(step, target, origin_ns=origin_ns, control=control or QuietControl(), listener=kept, clock=clock)


def test_a_step_that_comes_to_its_end_is_ok_and_all_its_samples_arrive() -> None:
    kept = Kept()

    assert run(kept) == Outcome(Status.OK)
    assert kept.samples == 20
    assert [type(record) for record in kept.records if not isinstance(record, SamplesRecord)] == [EstimateRecord]


@pytest.mark.ci
def test_a_cpu_that_went_offline_is_named_and_its_figures_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    offline = (3,)
    monkeypatch.setattr(runner, "find_offline", lambda cpus: tuple(cpu for cpu in cpus if cpu in offline))

    assert run(Kept()) == Outcome(Status.OK), "the step does not use that CPU"
    assert run(Kept(), cpus=(2, 3)) == Outcome(
        Status.FAILED,
        "CPU 3 went offline during the step: the figures may be of other CPUs; bring it online and run the step again",
    )
    failed = run(Kept(), cpus=(3,), misbehave="fail")
    assert failed.status is Status.FAILED
    assert failed.reason.endswith("; CPU 3 went offline during the step")
    offline = (2, 3)
    assert run(Kept(), cpus=(2, 3)).reason.startswith("CPUs 2, 3 went offline during the step: ")


def test_a_crash_is_one_failed_step_with_its_signal_and_its_samples() -> None:
    kept = Kept()

    outcome = run(kept, misbehave="segfault")

    assert (outcome.status, outcome.signal) == (Status.CRASHED, "SIGSEGV")
    assert kept.samples == 20


@pytest.mark.ci
def test_what_a_probe_fails_with_on_purpose_is_told_in_its_own_words_alone() -> None:
    assert run(Kept(), misbehave="fail") == Outcome(Status.FAILED, "asked to fail")


@pytest.mark.parametrize(
    ("how", "status", "words"),
    one_in(
        2,
        [
            ("raise", Status.FAILED, "ValueError: asked to raise (probe.py:"),
            ("refuse", Status.REFUSED, "asked to refuse"),
            ("exit", Status.FAILED, "its worker ended with status 7 before its end"),
            ("garbage", Status.FAILED, "its worker wrote something that is no record: '\ufffd[2Jthis is no record'"),
        ],
    ),
)
def test_each_misbehavior_is_told_in_words(how: str, status: Status, words: str) -> None:
    kept = Kept()

    outcome = run(kept, misbehave=how)

    assert outcome.status is status
    assert words in outcome.reason
    assert kept.samples == 20


@pytest.mark.parametrize("how", one_in(2, ["hang", "spin"]))
def test_a_step_past_its_limit_is_ended_whatever_it_does(how: str) -> None:
    kept = Kept()

    def clock() -> float:
        """The limit passes when all samples are there, however long the worker took to start."""
        return time.monotonic() + (2000.0 if kept.samples == 20 else 0.0)

    outcome = run(kept, misbehave=how, limit=1000.0, clock=clock)

    assert outcome == Outcome(Status.TIMED_OUT, "it ran past its limit of 1000 s", temporary_files=None)
    assert kept.samples == 20


def test_a_step_whose_limit_passes_before_its_first_figure_is_timed_out_and_not_ok() -> None:
    outcome = run(Kept(), limit=0.0)

    # Whether the worker still tells its temporary files depends on how soon it ends.
    assert (outcome.status, outcome.reason) == (Status.TIMED_OUT, "it ran past its limit of 0 s")


@pytest.mark.ci
def test_a_gentle_step_that_got_no_cpu_in_time_says_why() -> None:
    caps = Gentle(cpu=min(os.sched_getaffinity(0)))
    assert run(Kept(), limit=0.0, gentle=caps).reason.endswith("a gentle step gets only what others leave of a CPU")


def test_a_canceled_step_stops_by_the_word_and_keeps_what_it_has() -> None:
    kept = Kept()

    outcome = run(kept, samples=100_000, control=CancelWhen(lambda: kept.samples > 0))

    assert outcome == Outcome(Status.CANCELED)
    assert 0 < kept.samples < 100_000


def test_cancel_before_the_worker_is_up_is_not_lost() -> None:
    assert run(Kept(), samples=100_000, control=CancelWhen(lambda: True)).status is Status.CANCELED


@pytest.mark.ci
def test_a_target_that_cannot_be_loaded_fails_its_step() -> None:
    outcome = run(Kept(), target="sizeup_null.nowhere:Null")

    assert outcome.status is Status.FAILED
    assert "No module named 'sizeup_null.nowhere'" in outcome.reason


def write_probe(folder: Path, body: str) -> str:
    folder.joinpath("stranger.py").write_text(
        "import os, sys, time\n"
        "from sizeup.model.sample import *\n"
        "class Probe:\n"
        "    def plan(self, machine, settings): return ()\n"
        "    def run(self, step, context):\n" + "".join(f"        {line}\n" for line in body.splitlines())
    )
    return "stranger:Probe"


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.ci
def test_the_worker_finds_what_its_parent_finds(stranger: Path) -> None:
    assert run(Kept(), target=write_probe(stranger, "yield Progress(1.0)")) == Outcome(Status.OK)


@pytest.mark.ci
def test_what_a_probe_prints_is_no_record_but_its_last_words(stranger: Path) -> None:
    body = (
        'print(\'{"kind":"ending","status":"ok"}\', flush=True)\n'
        "os.write(2, b'pool\\x1b[31m empty\\n')\n"
        "yield Progress(0.1)\n"
        "os._exit(3)"
    )

    outcome = run(Kept(), target=write_probe(stranger, body))

    assert outcome.reason == "its worker ended with status 3 before its end; it printed: pool\ufffd[31m empty"


@pytest.mark.ci
def test_a_record_of_another_step_is_none_of_this_one(stranger: Path) -> None:
    gap = r'{"kind":"gap","t_ns":1,"gap":{"subject":"a","reason":"b"}}'
    body = (
        "for descriptor in range(3, 64):\n"
        f"    try: os.write(descriptor, b'{gap}\\n')\n"
        "    except OSError: pass\n"
        "yield Progress(0.1)"
    )
    kept = Kept()

    outcome = run(kept, target=write_probe(stranger, body))

    assert outcome.status is Status.FAILED
    assert "a record of step 'None'" in outcome.reason
    assert not kept.records


@pytest.mark.ci
def test_printing_without_end_does_not_escape_the_limit(stranger: Path) -> None:
    body = "yield Progress(0.1)\nwhile True: os.write(2, b'x' * 65536)"

    assert run(Kept(), target=write_probe(stranger, body), limit=0.5).status is Status.TIMED_OUT


@pytest.mark.parametrize("value", one_in(2, ["float('nan')", "float('inf')"]))
def test_a_number_that_is_none_fails_the_step(stranger: Path, value: str) -> None:
    outcome = run(Kept(), target=write_probe(stranger, f"yield Samples('gap', {{}}, (1,), ({value},))"))

    assert outcome.status is Status.FAILED
    assert "not a finite number" in outcome.reason


def test_something_else_than_an_emission_fails_the_step(stranger: Path) -> None:
    assert "found int" in run(Kept(), target=write_probe(stranger, "yield 1")).reason


@pytest.mark.ci
def test_points_that_did_not_settle_are_counted(stranger: Path) -> None:
    body = (
        "yield Estimate('a', {'x': 1}, 1.0, converged=False)\n"
        "yield Estimate('a', {'x': 2}, 1.0, converged=True)\n"
        "yield Estimate('a', {'x': 3}, 1.0, converged=False)\n"
        "yield Estimate('a', {'x': 3}, 1.0, converged=True)"
    )

    outcome = run(Kept(), target=write_probe(stranger, body))

    assert outcome == Outcome(Status.NOT_CONVERGED, "1 of 3 points did not converge")


def test_a_child_the_probe_left_behind_goes_with_its_step(stranger: Path) -> None:
    body = "if (child := os.fork()) == 0:\n    time.sleep(600)\nyield Estimate('child', {}, float(child))"
    kept = Kept()

    assert run(kept, target=write_probe(stranger, body)) == Outcome(Status.OK)

    child = next(int(e.estimate.value) for e in kept.records if isinstance(e, EstimateRecord))
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().split(")")[1]:
            break
        time.sleep(0.01)
    else:
        os.kill(child, 9)
        pytest.fail("the grandchild outlived its step")


@pytest.mark.ci
def test_the_worker_dumps_no_core_and_goes_first_when_memory_ends(stranger: Path) -> None:
    body = (
        "import resource\n"
        "yield Estimate('core', {}, float(resource.getrlimit(resource.RLIMIT_CORE)[0]))\n"
        "yield Estimate('oom', {}, float(open('/proc/self/oom_score_adj').read()))"
    )
    kept = Kept()
    run(kept, target=write_probe(stranger, body))

    assert [e.estimate.value for e in kept.records if isinstance(e, EstimateRecord)] == [0.0, 1000.0]


def test_samples_of_a_point_are_joined_and_stay_before_their_estimate() -> None:
    a1, a2, b = (
        SamplesRecord("null", "s", {"x": x}, (t,), (float(t),), f) for x, t, f in ((1, 1, ()), (1, 3, (2,)), (2, 2, ()))
    )
    estimate = EstimateRecord(4, "null", Estimate("s", {"x": 1}, 2.0))
    early, late = ProgressRecord(1, "null", 0.1), ProgressRecord(5, "null", 0.2)

    joined = list(coalesce([a1, early, b, a2, estimate, a1, late]))

    assert joined == [SamplesRecord("null", "s", {"x": 1}, (1, 3), (1.0, 3.0), (0, 2)), b, estimate, a1, late]


def test_a_worker_dies_with_its_parent(stranger: Path) -> None:
    pid_file = stranger / "pid"
    target = write_probe(
        stranger,
        f"open({str(pid_file) + '.new'!r}, 'w').write(str(os.getpid()))\n"
        f"os.rename({str(pid_file) + '.new'!r}, {str(pid_file)!r})\n"
        "yield Progress(0.1)\n"
        "time.sleep(600)",
    )
    parent = os.fork()
    if parent == 0:
        run(Kept(), target=target, limit=600.0)
        os._exit(0)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not pid_file.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    worker = int(pid_file.read_text())

    os.kill(parent, 9)
    os.waitpid(parent, 0)

    while Path(f"/proc/{worker}/stat").exists() and time.monotonic() < deadline:
        if Path(f"/proc/{worker}/stat").read_text().split(") ")[1].startswith("Z"):
            return  # dead, and waiting for an init that does not reap
        time.sleep(0.01)
    assert not Path(f"/proc/{worker}").exists()


LINGER = """
def linger(status):
    {how}
    leave(status)
leave, os._exit = os._exit, linger
raise RuntimeError("the disk went away")
"""
# The parent of a vfork waits uninterruptibly until its child has its program; this child waits to open a pipe
# that nobody writes to.
IN_THE_KERNEL = (
    "os.posix_spawn('/bin/true', ['true'], {{}}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, {fifo!r}, os.O_RDONLY, 0)])"
)


@pytest.mark.ci
def test_a_worker_that_hangs_in_the_kernel_after_its_last_word_is_left_behind_soon(
    stranger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "EXIT_SECONDS", 600.0)  # for one that is merely slow
    fifo = stranger / "pipe"
    os.mkfifo(fifo)
    hang = IN_THE_KERNEL.format(fifo=str(fifo))
    body = "yield Progress(0.1)" + LINGER.format(how=hang)
    started, kept = time.monotonic(), Kept()

    outcome = run(kept, target=write_probe(stranger, body))

    (told,) = [record for record in kept.records if isinstance(record, ProgressRecord) and record.activity]
    assert told.activity.startswith("RuntimeError: the disk went away")
    assert told.done == 0.1
    assert time.monotonic() - kept.latest >= HANGING_SECONDS  # told before it is known that the process hangs
    assert outcome.status is Status.FAILED
    assert outcome.reason.startswith("RuntimeError: the disk went away")
    assert outcome.reason.endswith("; its process hangs in the kernel and was left behind")
    assert time.monotonic() - started < PATIENCE_SECONDS


@pytest.mark.ci
def test_a_worker_that_is_slow_to_go_is_waited_for(stranger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "EXIT_SECONDS", PATIENCE_SECONDS)
    body = "yield Progress(0.1)" + LINGER.format(how="time.sleep(0.8)")

    outcome = run(Kept(), target=write_probe(stranger, body))

    assert outcome.status is Status.FAILED
    assert "left behind" not in outcome.reason
