"""What steers or ends a run from outside: signals, the console, a full disk, a reader that goes away."""

import resource
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from batch.conftest import Run
from sizeup.model.sample import Status
from sizeup.session.reader import read_session
from terminal import PATIENCE_SECONDS

SLOW = ("-p", "null", "--set", "null.samples=100000", "--set", "null.interval=1ms")


class Running:
    """A batch run that is going on."""

    def __init__(self, arguments: tuple[str, ...], path: Path, environment: dict[str, str]) -> None:
        self.path = path
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sizeup", "--batch", "--quiet", *arguments],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def wait_for(self, text: bytes, count: int = 1) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self.path.exists() or self.path.read_bytes().count(text) < count:
            assert time.monotonic() < deadline, f"{text!r} never came"
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.01)

    def say(self, words: bytes) -> None:
        self.process.stdin.write(words)
        self.process.stdin.flush()

    def end(self) -> int:
        self.output, _ = self.process.communicate(timeout=PATIENCE_SECONDS)
        return self.process.returncode


@pytest.mark.parametrize(
    ("number", "code", "status"),
    [
        (signal.SIGINT, 130, "canceled"),
        (signal.SIGTERM, 143, "terminated"),
        (signal.SIGHUP, 129, "terminated"),  # as configured below
    ],
)
def test_a_signal_saves_and_ends(
    tmp_path: Path, environment: dict[str, str], number: signal.Signals, code: int, status: str
) -> None:
    environment = {**environment, "SIZEUP_RUN_HANG_UP": "cancel"}
    running = Running((*SLOW, "-o", str(tmp_path / "run")), tmp_path / "run", environment)
    running.wait_for(b'"samples","step"')

    running.process.send_signal(number)

    assert running.end() == code
    session = read_session(str(tmp_path / "run"))
    assert session.end.status == status
    assert session.outcomes["null"].status is Status.CANCELED
    assert f"Finish it with: sizeup run --resume {tmp_path / 'run'}\n" in running.output.decode()


@pytest.mark.parametrize("how", ["signal", "hang-up\n"])
def test_a_run_goes_on_without_its_terminal_and_says_so(tmp_path: Path, environment: dict[str, str], how: str) -> None:
    arguments = (*SLOW[:2], "--set", "null.samples=2000", "--set", "null.interval=1ms", "--repeat", "2", "--control")
    running = Running((*arguments, "-o", str(tmp_path / "run")), tmp_path / "run", environment)
    running.wait_for(b'"samples","step"')
    running.say(b"pause\n")  # so that it is going on when it loses its terminal, and until its input ends
    if how == "signal":
        running.process.send_signal(signal.SIGHUP)
    else:
        running.say(how.encode())
    time.sleep(0.2)  # a signal is no command: its order to the end of the input is not given otherwise
    running.process.stdin.close()
    running.process.stdin = None

    assert running.end() == 0
    session = read_session(str(tmp_path / "run"))
    assert session.end.status == "complete"
    assert 0 <= (session.end.terminal_lost_ns or -1) < session.end.t_ns
    assert [run.finished for run in session.steps.values()] == [True, True]


def test_a_hang_up_that_the_caller_ignores_ends_nothing(tmp_path: Path, environment: dict[str, str]) -> None:
    """``nohup`` does no more than to have it ignored."""
    arguments = ("-p", "null", "--set", "null.samples=500", "--set", "null.interval=1ms", "-o", str(tmp_path / "run"))
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        running = Running(arguments, tmp_path / "run", environment)
    finally:
        signal.signal(signal.SIGHUP, before)
    running.wait_for(b'"samples","step"')

    running.process.send_signal(signal.SIGHUP)

    assert running.end() == 0
    session = read_session(str(tmp_path / "run"))
    assert session.end.status == "complete"


def test_kill_9_loses_nothing_that_was_written_and_resume_completes_it(
    sizeup: Run, tmp_path: Path, environment: dict[str, str]
) -> None:
    path = tmp_path / "run"
    arguments = ("-p", "null", "--set", "null.samples=2000", "--repeat", "3", "-o", str(path))
    running = Running(arguments, path, environment)
    running.wait_for(b'"outcome"')
    running.wait_for(b'"samples","step":"null~2"')
    running.process.kill()
    running.end()
    before = read_session(str(path))
    assert before.end is None
    assert before.steps["null"].finished
    assert sum(len(p.values) for p in before.steps["null~2"].points.values()) > 0
    opened = sizeup("session", "show", str(path))
    assert opened.returncode == 0
    assert "interrupted" in opened.stdout

    done = sizeup("--batch", "--resume", str(path))

    assert f"Session saved in {path} (2 of 2 steps measured; run PASS)" in done.stdout
    assert done.returncode == 0, done.stderr
    session = read_session(str(path))
    assert [(id_, run.finished) for id_, run in session.steps.items()] == [
        ("null", True),
        ("null~2", True),
        ("null~3", True),
    ]
    assert [run.step.id for run in session.earlier_attempts] == ["null~2"]
    assert session.steps["null"].points == before.steps["null"].points
    assert session.last_ns > before.last_ns


def test_commands_on_standard_input_steer_the_run(tmp_path: Path, environment: dict[str, str]) -> None:
    path = tmp_path / "run"
    running = Running((*SLOW, "--control", "--repeat", "3", "-o", str(path)), path, environment)
    running.wait_for(b'"samples","step"')
    running.say(b"pause\ncancel-step\n")
    running.wait_for(b'"outcome"')
    time.sleep(0.2)
    assert b'"null~2","probe"' not in path.read_bytes().partition(b'"outcome"')[2], "started while paused"
    running.say(b"resume\n")
    running.wait_for(b'"samples","step":"null~2"')
    running.say(b"cancel\n")

    assert running.end() == 130
    session = read_session(str(path))
    assert {id_: outcome.status for id_, outcome in session.outcomes.items()} == {
        "null": Status.CANCELED,
        "null~2": Status.CANCELED,
    }


def test_what_the_console_costs_is_kept_with_the_environment(tmp_path: Path, environment: dict[str, str]) -> None:
    path = tmp_path / "run"
    running = Running((*SLOW, "--control", "-o", str(path)), path, environment)
    running.wait_for(b'"samples","step"')
    running.say(b'console {"cpu_seconds": 1.25, "bytes": 20480}\nconsole rubbish\ncancel\n')

    assert running.end() == 130
    first, *later = (record.facts for record in read_session(str(path)).environment)
    assert "console_cpu_seconds" not in first
    assert [(one["console_cpu_seconds"], one["console_bytes_sent"]) for one in later] == [(1.25, 20_480)] * 2


def test_the_end_of_the_console_cancels_the_run(tmp_path: Path, environment: dict[str, str]) -> None:
    running = Running((*SLOW, "--control", "-o", str(tmp_path / "run")), tmp_path / "run", environment)
    running.wait_for(b'"samples","step"')
    running.process.stdin.close()
    running.process.stdin = None

    assert running.end() == 130
    assert read_session(str(tmp_path / "run")).end is not None


def test_a_run_told_to_keep_on_outlives_its_console(tmp_path: Path, environment: dict[str, str]) -> None:
    arguments = ("-p", "null", "--set", "null.samples=600", "--control", "-o", str(tmp_path / "run"))
    running = Running(arguments, tmp_path / "run", environment)
    running.say(b"keep\n")
    running.process.stdin.close()
    running.process.stdin = None

    assert running.end() == 0


def test_a_full_disk_is_said_and_what_was_written_is_kept(tmp_path: Path, environment: dict[str, str]) -> None:
    # A limit on the size of files stands in for a full disk: the write fails in the middle of the run.
    def small_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))

    run = ("--batch", "-p", "null", "--set", "null.samples=5000", "-o", str(tmp_path / "run"))
    done = subprocess.run(
        [sys.executable, "-m", "sizeup", *run],
        env=environment, capture_output=True, text=True, check=False, preexec_fn=small_files, timeout=PATIENCE_SECONDS,
    )  # fmt: skip

    assert done.returncode == 2
    assert "cannot write the session any further: File too large; what was written before is kept" in done.stderr
    session = read_session(str(tmp_path / "run"))
    assert not session.damage.torn
    assert sum(len(p.values) for p in session.steps["null"].points.values()) > 0


def test_a_reader_that_goes_away_ends_the_run_quietly(environment: dict[str, str]) -> None:
    command = f"{shlex.quote(sys.executable)} -m sizeup --batch --quiet {' '.join(SLOW)} -o - | head -c 100 >/dev/null"
    done = subprocess.run(
        ["bash", "-c", command], env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS
    )

    assert "Traceback" not in done.stderr


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
from sizeup.cli import run
sys.exit(run(sys.argv[2:]))
"""


@pytest.mark.parametrize("has_plan", [False, True])
def test_what_is_advised_after_a_full_disk_works(
    sizeup: Run, tmp_path: Path, environment: dict[str, str], *, has_plan: bool
) -> None:
    run = ("--batch", "-q", "-p", "null", "--set", "null.samples=2000", "--set", "null.interval=0", "--repeat", "2")
    assert sizeup(*run, "-o", "whole").returncode == 0
    lines = (tmp_path / "whole").read_bytes().splitlines(keepends=True)
    planned = next(n for n, line in enumerate(lines) if line.startswith(b'{"kind":"plan"'))
    room = sum(map(len, lines[: planned + 1])) + 4000 if has_plan else len(lines[0]) + 10
    path = tmp_path / "a full disk"

    full = subprocess.run(
        [sys.executable, "-c", LIMITED, str(room), *run, "-o", str(path)],
        capture_output=True, text=True, check=False, env=environment, timeout=PATIENCE_SECONDS,
    )  # fmt: skip

    assert full.returncode == 2
    advice = full.stderr.strip().partition(" with: ")[2]
    assert f"{'--resume' if has_plan else '--append'} '{path}'" in advice
    chosen = () if has_plan else run[1:]
    done = sizeup(*shlex.split(advice)[1:], *chosen)
    assert done.returncode == 0, done.stderr
    session = read_session(str(path))
    assert not session.missing_steps
    assert session.end.status == "complete"
