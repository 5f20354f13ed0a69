"""A user's command runs in a shell, and what became of it is known, whatever it does."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fakes import CancelWhen, QuietControl
from sizeup.engine.experiment import OUTPUT_BYTES, execute
from terminal import PATIENCE_SECONDS


class Canceled(QuietControl):
    """Has been canceled."""

    def __init__(self) -> None:
        super().__init__()
        self.cancel_run = True


def quiet() -> QuietControl:
    return CancelWhen(lambda: False)


def runs(pid: int) -> bool:
    """Whether the process is there, and no zombie that nobody has collected yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_status_output_and_directory_are_those_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    done = execute("pwd; echo error >&2; cat; exit 3", PATIENCE_SECONDS, quiet())

    assert done.output == (str(tmp_path), "error"), "standard input is empty, both streams are kept"
    assert (done.exit_status, done.problem) == (3, "it exited with status 3")
    assert execute("true", PATIENCE_SECONDS, quiet()).problem == ""


def test_an_unknown_command_is_the_shells_error() -> None:
    done = execute("no-such-command-here", PATIENCE_SECONDS, quiet())

    assert (done.exit_status, done.problem) == (127, "it exited with status 127")
    assert "no-such-command-here" in done.output[-1]


def test_a_command_beyond_its_limit_is_ended_with_all_that_it_started() -> None:
    began = time.monotonic()
    for limit in (0.2, 2.0, 20.0, 200.0):  # on a busy host a shell may need longer to begin
        done = execute("(trap '' TERM; exec sleep 600) & echo $!; wait", limit, quiet())
        assert (done.exit_status, done.problem) == (None, f"it did not end within {limit:g} s")
        if done.output:
            break
    while runs(int(done.output[0])):
        assert time.monotonic() - began < 600
        time.sleep(0.01)


def test_a_command_that_a_signal_ends_says_so() -> None:
    done = execute("kill -9 $$", PATIENCE_SECONDS, quiet())

    assert (done.exit_status, done.problem) == (None, "it was ended by SIGKILL")


def test_a_canceled_command_ends_unless_it_restores() -> None:
    assert execute("sleep 600", PATIENCE_SECONDS, Canceled()).problem == "it was canceled"
    restored = execute("sleep 0.1; echo restored", PATIENCE_SECONDS, Canceled(), cancelable=False)
    assert (restored.output, restored.problem) == (("restored",), "")


def test_what_stays_in_the_background_does_not_hold_the_experiment_up() -> None:
    began = time.monotonic()
    done = execute("sleep 600 & echo $!", PATIENCE_SECONDS, quiet())
    os.kill(int(done.output[0]), signal.SIGKILL)

    assert done.problem == ""
    assert time.monotonic() - began < PATIENCE_SECONDS


def test_the_end_of_much_output_is_kept() -> None:
    done = execute(
        "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i + 1)); done; echo last", PATIENCE_SECONDS, quiet()
    )

    assert done.output[-1] == "last"
    assert sum(len(line) + 1 for line in done.output) <= OUTPUT_BYTES


def test_ctrl_c_on_the_terminal_does_not_reach_the_command() -> None:
    done = execute("ps -o pgid= -p $$ 2>/dev/null || cut -d' ' -f5 /proc/$$/stat", PATIENCE_SECONDS, quiet())

    assert int(done.output[0]) != os.getpgid(0), "the terminal signals the group of sizeup"


INTERRUPTED = r"""
import os, signal, subprocess, sys
from sizeup.engine.experiment import execute

class Control:
    cancel_run = False
    def __init__(self): self.pipe = os.pipe()
    def fileno(self): return self.pipe[0]
    def read_commands(self): pass

signal.signal(signal.SIGINT, lambda *_: None)
signals = f"import os, time\nwhile True: os.killpg({os.getpgid(0)}, {int(signal.SIGINT)}); time.sleep(0.0002)"
flood = subprocess.Popen([sys.executable, "-c", signals], process_group=0)
print({execute("true", 600, Control()).problem for _ in range(150)})
flood.kill()
"""


@pytest.mark.ci
def test_ctrl_c_before_the_command_has_a_group_of_its_own_does_not_end_it() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, process_group=0)

    assert done.stdout == "{''}\n", done.stderr
