"""An experiment executes what was agreed on in a balanced order, and restores the setting whatever happens."""

import shlex
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from sizeup.engine import experiment
from sizeup.engine.control import BatchControl
from sizeup.engine.experiment import ExperimentEnd, ExperimentSpec, PreparedExperiment, prepare, run_experiment
from sizeup.engine.run import ProgressDisplay, Result
from sizeup.engine.spec import RunSpec
from sizeup.errors import CommandError, ExitStatus, RefusedError, UsageError
from sizeup.model.plan import Plan, Step
from sizeup.session.reader import read_session
from sizeup.session.records import EndRecord, PlanRecord, Record
from sizeup.session.writer import Writer

pytestmark = pytest.mark.ci

STEP = Step("null", "null", "", {"samples": 5, "interval": 0.0001, "misbehave": "no"}, 1.0, 600.0)
Act = Callable[[int], Result | None]


class Quiet:
    """A display that keeps what it was asked to show."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def show(self, line: str) -> None:
        self.lines.append(line)

    def __call__(self, record: Record) -> None:
        pass


class Conducted:
    """An experiment whose commands write into a log, and whose runs write a line there instead of measuring."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log, self.path, self.runs = folder / "log", folder / "run", 0
        self.display = Quiet()
        self._patch = monkeypatch

    def conduct(self, act: Act = lambda number: None, **changes: object) -> ExperimentEnd:
        def run(spec: RunSpec, display: ProgressDisplay, *, control: BatchControl, plan: Plan) -> Result:
            assert spec.append == str(self.path)
            self.runs += 1
            label = plan.experiment_run
            assert label is not None
            with self.log.open("a") as log:
                log.write(f"run {label.setting}{label.round}\n")
            with Writer.append(str(self.path)) as writer:
                now_ns = read_session(str(self.path)).last_ns + 1
                writer.write(PlanRecord(now_ns, plan), EndRecord(now_ns, "complete"))
            return act(self.runs) or Result(str(self.path), ExitStatus.OK, 1)

        self._patch.setattr(experiment, "run", run)
        self._patch.setattr(Writer, "sync", lambda writer: None)  # a slow disk is not what is tested
        spec = ExperimentSpec(
            a=self.write("a"),
            b=self.write("b"),
            restore=self.write("restored"),
            rounds=3,
            settle_seconds=0.0,
            run=RunSpec(output=str(self.path)),
        )
        prepared = PreparedExperiment(replace(spec, **changes), Plan("custom", (STEP,)), 0.0)
        return run_experiment(prepared, self.display)

    def write(self, word: str) -> str:
        return f"echo {word} >> {shlex.quote(str(self.log))}"

    @property
    def logged(self) -> list[str]:
        return self.log.read_text().splitlines()


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Conducted:
    return Conducted(tmp_path, monkeypatch)


def test_each_run_follows_its_command_and_the_setting_is_restored(made: Conducted) -> None:
    end = made.conduct(rounds=4)

    order = ["a1", "b1", "b2", "a2", "b3", "a3", "a4", "b4"]
    assert made.logged == [line for run in order for line in (run[0], f"run {run}")] + ["restored"]
    assert (end.status, end.problems) == (ExitStatus.OK, ())
    session = read_session(str(made.path))
    assert [experiment.order for experiment in session.experiments] == ["abbabaab"]
    assert [command.setting for command in session.commands] == [*"abbabaab", "restore"]
    assert {(command.exit_status, command.problem) for command in session.commands} == {(0, "")}
    labels = [plan.experiment_run for plan in session.plans]
    assert [f"{label.setting}{label.round}" for label in labels if label is not None] == order
    assert session.end.status == "complete"
    assert session.damage.sentences() == ()


def test_without_a_restoring_command_a_is_executed_again(made: Conducted) -> None:
    made.conduct(restore=None)

    assert made.logged[-2:] == ["run a3", "a"] or made.logged[-2:] == ["run b3", "a"]
    assert read_session(str(made.path)).commands[-1].setting == "restore"


def test_a_command_that_fails_ends_the_experiment_after_restoring(made: Conducted) -> None:
    end = made.conduct(b=f"{made.write('b')}; echo no permission >&2; exit 4")

    assert made.logged == ["a", "run a1", "b", "restored"]
    assert end.status == ExitStatus.COMMAND_FAILED
    (problem,) = end.problems
    assert problem.startswith("the command of setting B failed: ")
    assert problem.endswith(": it exited with status 4 (no permission)")
    ended = read_session(str(made.path)).end
    assert (ended.status, ended.reason) == ("canceled", problem)


def test_a_setting_that_cannot_be_restored_is_the_last_thing_said(made: Conducted) -> None:
    end = made.conduct(restore="echo read-only; exit 1")

    assert end.status == ExitStatus.COMMAND_FAILED
    (problem,) = end.problems
    assert problem.startswith("the setting was not restored: echo read-only; exit 1: it exited with status 1 (read-onl")
    assert problem.endswith("; restore it by hand and check it before you go on")
    assert made.runs == 6


@pytest.mark.parametrize(
    ("number", "status", "ended"),
    [
        (signal.SIGINT, ExitStatus.INTERRUPTED, "canceled"),
        (signal.SIGTERM, ExitStatus.TERMINATED, "terminated"),
        (signal.SIGHUP, ExitStatus.HANGUP, "terminated"),
    ],
)
def test_a_signal_during_a_run_restores_at_once(
    made: Conducted, number: signal.Signals, status: ExitStatus, ended: str
) -> None:
    end = made.conduct(lambda run: signal.raise_signal(number) if run == 2 else None)

    assert made.logged == ["a", "run a1", "b", "run b1", "restored"]
    assert (end.status, end.problems) == (status, ())
    session = read_session(str(made.path))
    assert session.end.status == ended
    assert session.missing_steps == (), "a resumed run would not know its setting"


def test_a_signal_during_a_command_ends_it_and_restores(made: Conducted) -> None:
    began = f"{made.write('b')}; kill -INT $PPID; sleep 60"
    end = made.conduct(b=began, command_limit_seconds=50.0)

    assert made.logged == ["a", "run a1", "b", "restored"]
    assert end.status == ExitStatus.INTERRUPTED
    assert read_session(str(made.path)).commands[1].problem == "it was canceled"


def test_a_second_signal_does_not_keep_it_from_restoring(made: Conducted) -> None:
    slow = f"kill -INT $PPID; kill -TERM $PPID; kill -HUP $PPID; sleep 0.1; {made.write('restored')}"
    end = made.conduct(lambda run: signal.raise_signal(signal.SIGINT), restore=slow)

    assert made.logged == ["a", "run a1", "restored"]
    assert (end.status, end.problems) == (ExitStatus.INTERRUPTED, ())


def test_a_signal_while_it_waits_ends_the_wait(made: Conducted) -> None:
    end = made.conduct(a=f"(sleep 0.1; kill -INT $PPID) & {made.write('a')}", settle_seconds=600.0)

    assert made.logged == ["a", "restored"]
    assert end.status == ExitStatus.INTERRUPTED


def test_an_error_of_a_run_restores_and_is_reported(made: Conducted) -> None:
    def full(run: int) -> Result | None:
        raise UsageError("run: cannot write the session any further: No space left on device")

    end = made.conduct(full)

    assert made.logged == ["a", "run a1", "restored"]
    assert (end.status, len(end.problems)) == (ExitStatus.USAGE, 1)


def test_a_fault_of_sizeup_restores_too_and_does_not_hide_that_the_setting_was_not_restored(made: Conducted) -> None:
    def fault(run: int) -> Result | None:
        raise ZeroDivisionError("by accident")

    with pytest.raises(ZeroDivisionError):
        made.conduct(fault)
    assert made.logged == ["a", "run a1", "restored"]
    made.path.unlink()
    with pytest.raises(CommandError, match=r"^the setting was not restored: false: .* by ZeroDivisionError: by accid"):
        made.conduct(fault, restore="false")


def test_a_record_that_cannot_be_written_does_not_keep_it_from_restoring(made: Conducted) -> None:
    def gone(run: int) -> Result | None:
        made.path.unlink()
        return None

    end = made.conduct(gone)

    assert made.logged == ["a", "run a1", "b", "restored"]
    assert end.status == ExitStatus.USAGE
    assert "cannot continue the session" in end.problems[0]


def test_a_run_that_measures_nothing_ends_the_experiment(made: Conducted) -> None:
    end = made.conduct(lambda run: Result(str(made.path), ExitStatus.REFUSED, 0))

    assert made.logged == ["a", "run a1", "restored"]
    assert end.status == ExitStatus.PROBE_FAILED
    assert "the run under setting A of round 1 measured nothing" in end.problems[0]


def test_a_failed_probe_beside_others_is_the_status_and_no_end(made: Conducted) -> None:
    end = made.conduct(lambda run: Result(str(made.path), ExitStatus.PROBE_FAILED, 1) if run == 2 else None)

    assert made.runs == 6
    assert end.status == ExitStatus.PROBE_FAILED


def test_a_file_that_exists_is_refused_before_anything_is_executed(made: Conducted) -> None:
    made.path.write_text("kept")

    with pytest.raises(UsageError, match="already exists"):
        made.conduct()
    assert (made.log.exists(), made.path.read_text()) == (False, "kept")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"a": " "}, r"--a: expected a command for /bin/sh, found ' '"),
        ({"b": "echo \0"}, r"--b: expected a command"),
        ({"restore": ""}, r"--restore: expected a command"),
        ({"rounds": 2}, r"--rounds: expected a whole number from 3 to 100, found 2"),
        ({"settle_seconds": -1.0}, r"--settle: expected a number of seconds from 0 to 86,400, found -1"),
        ({"settle_seconds": float("nan")}, r"--settle: expected a number of seconds"),
        ({"command_limit_seconds": 0.0}, r"--command-limit: expected a number of seconds from 0.1"),
    ],
)
def test_bad_input_is_refused(changes: dict[str, object], words: str) -> None:
    spec = ExperimentSpec(a="true", b="true", run=RunSpec(probes=("null",)))

    with pytest.raises(UsageError, match=words):
        prepare(replace(spec, **changes))


def test_a_plan_that_measures_nothing_is_refused_before_anything_is_executed() -> None:
    run = RunSpec(probes=("io.direct",))  # lacks its target

    with pytest.raises(RefusedError, match=r"nothing can be measured, so nothing was executed: io\.direct"):
        prepare(ExperimentSpec(a="true", b="true", run=run))
