"""The run manager against a runner that is played by hand."""

import gc
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from consoles import ended, records
from played_runs import PlayedRunner
from sizeup.live.cost import ConsoleCost
from sizeup.session.records import Record, StepStartRecord
from sizeup.session.writer import Writer, writer_pid
from sizeup.tui import runs as console_runs
from sizeup.tui.console import running_states
from sizeup.tui.runs import CpuAffinity, Runs, spec_of
from sizeup.tui.startup import _runs_here


@pytest.fixture
def runner(tmp_path: Path) -> PlayedRunner:
    return PlayedRunner(tmp_path / "run.sizeup.jsonl")


@pytest.fixture
def moves() -> list[frozenset[int]]:
    """Where the console went, while it may run on 16 CPUs."""
    return []


@pytest.fixture
def runs(runner: PlayedRunner, moves: list[frozenset[int]]) -> Iterator[Runs]:
    affinity = CpuAffinity(lambda cpus: moves.append(frozenset(cpus)), lambda: frozenset(range(16)))
    made = Runs(str(runner.path), launcher=runner.launch, affinity=affinity)
    yield made
    made.close()


def _pinned() -> list[Record]:
    """The first lines of a run whose step measures on CPU 1."""
    *first, start = records()[:4]
    assert isinstance(start, StepStartRecord)
    return [*first, msgspec.structs.replace(start, step=replace(start.step, cpus=(1,)))]


def test_a_first_run_makes_the_file_and_the_next_continues_it(runs: Runs, runner: PlayedRunner) -> None:
    runs.start(spec_of("null", {"samples": "5"}))
    runner.write([*records(), *ended()])
    runner.end()
    runs.poll()
    runs.start(spec_of("clock.cost", {}, plan="full"))

    path = str(runner.path)
    assert runner.arguments == [
        ["--batch", "--quiet", "--control", "--plan", "quick", "-p", "null", "--set", "null.samples=5", "-o", path],
        ["--batch", "--quiet", "--control", "--plan", "full", "-p", "clock.cost", "--append", path],
    ]


def test_what_is_asked_for_during_a_run_waits_for_its_end(runs: Runs, runner: PlayedRunner) -> None:
    assert runs.start(spec_of("null", {}))
    assert not runs.start(spec_of("clock.cost", {}))
    runner.write([*records(), *ended()])
    runner.end()
    runs.poll()

    assert runs.running
    assert len(runner.arguments) == 2


def test_the_next_run_goes_into_a_session_of_its_own_but_not_during_a_run(runs: Runs, runner: PlayedRunner) -> None:
    runs.start(spec_of("null", {}))
    first = runs.path
    assert not runs.leave_session()
    runner.write([*records(), *ended()])
    runner.end()
    runs.poll()

    assert runs.leave_session()
    assert runs.session is None
    runs.start(spec_of("null", {}))
    assert runs.path != first
    assert runs.path in runner.arguments[-1]
    assert first not in runner.arguments[-1]


def test_commands_are_words_on_the_runners_input(runs: Runs, runner: PlayedRunner) -> None:
    runs.start(spec_of("null", {}))
    runs.toggle_pause()
    runs.toggle_pause()
    runs.cancel_step()
    runs.keep()
    runs.cancel()

    assert runner.stdin.words == ["pause", "resume", "cancel-step", "keep", "cancel"]


def test_letting_go_without_keep_closes_the_input_which_means_cancel_and_save(runs: Runs, runner: PlayedRunner) -> None:
    runs.start(spec_of("null", {}))
    runs.release()

    assert runner.stdin.closed
    assert runner.stdin.words == []


def test_the_standing_is_the_last_step_of_the_file(runs: Runs, runner: PlayedRunner) -> None:
    runs.start(spec_of("null", {}))
    runner.write(records())
    runs.poll()

    assert " null step 1/1 " in running_states(runs)[0]


def test_a_file_that_is_no_session_is_a_problem_in_words(runs: Runs, runner: PlayedRunner) -> None:
    runs.start(spec_of("null", {}))
    runner.path.write_text("rubbish\n")
    runs.poll()

    assert "expected a sizeup session" in runs.problem


def test_what_the_console_costs_is_told_to_the_run(runs: Runs, runner: PlayedRunner) -> None:
    runs.report_cost(ConsoleCost(0.5, 10))  # nobody listens yet
    runs.start(spec_of("null", {}))
    runs.report_cost(ConsoleCost(1.25, 20_480))

    assert runner.stdin.costs == [ConsoleCost(1.25, 20_480)]


def test_the_console_leaves_the_cpus_of_a_step_and_is_back_before_the_next_run(
    runs: Runs, runner: PlayedRunner, moves: list[frozenset[int]]
) -> None:
    runs.start(spec_of("null", {}))
    runner.write(_pinned())
    runs.poll()
    runs.start(spec_of("clock.cost", {}))
    before = list(moves)
    runner.write(ended())
    runner.end()
    runs.poll()

    assert before == [frozenset({4, 5, 6, 7, 12, 13, 14, 15})]
    assert moves[1:] == [frozenset(range(16))]
    assert len(runner.arguments) == 2


def test_a_run_of_another_process_is_followed_and_made_way_for(
    runs: Runs, runner: PlayedRunner, moves: list[frozenset[int]]
) -> None:
    with Writer.create(str(runner.path)) as writer:
        writer.write(*_pinned())
        runs.follow()
        runs.poll()
        during = (runs.followed, runs.going_on, runs.running)
    runs.poll()

    assert during == (True, True, False)
    assert (runs.followed, runs.going_on) == (False, False)
    assert moves == [frozenset({4, 5, 6, 7, 12, 13, 14, 15}), frozenset(range(16))]


def test_a_run_that_is_followed_is_canceled_by_a_signal_to_its_writer(
    runs: Runs, runner: PlayedRunner, request: pytest.FixtureRequest
) -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    with Writer.create(str(runner.path)) as writer:
        writer.write(*_pinned())
        runs.follow()
        if writer_pid(str(runner.path)) is None:
            pytest.skip("this file system does not tell who holds a lock")
        runs.cancel()

        assert writer_pid(str(runner.path)) == os.getpid()
        assert runs.canceling
    runs.poll()
    runs.cancel()

    assert heard == [signal.SIGINT]
    assert not runs.canceling
    assert writer_pid(str(runner.path)) is None


def test_a_console_whose_store_is_behind_a_planted_link_shows_the_machine_and_says_why_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o1777)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "state").symlink_to(tmp_path / "elsewhere")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    assert "state is a symbolic link in a world-writable directory" in _runs_here().problem
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_what_is_there_at_the_first_run_is_not_looked_through_for_garbage_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "Popen", lambda *arguments, **how: None)
    console_runs._keep.cache_clear()
    gc.unfreeze()
    try:
        with (tmp_path / "errors").open("wb") as errors:
            console_runs.launch([], errors)
            first = gc.get_freeze_count()
            later = [[number] for number in range(1000)]
            console_runs.launch([], errors)
        assert 0 < gc.get_freeze_count() < first + len(later)
    finally:
        gc.unfreeze()
