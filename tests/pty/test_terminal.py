"""The terminal that the other tests of this folder look through is itself worth trusting."""

import shlex
import sys
import time

from terminal import PATIENCE_SECONDS, Terminal

SHELL = ["/bin/sh", "-c"]


def test_processes_are_found_in_sessions_of_their_own_and_end_with_the_terminal() -> None:
    with Terminal([*SHELL, "setsid sleep 600 & echo ready; wait"]) as terminal:
        terminal.wait_for("ready")
        terminal.pump(PATIENCE_SECONDS, lambda: len(terminal.processes()) == 2)

        assert len(terminal.processes()) == 2

    assert terminal.processes() == []


def test_cpu_time_counts_children_alive_and_gone() -> None:
    burn = "import time\nwhile time.process_time() < 0.2: pass\nprint('burnt', flush=True)"
    with Terminal([*SHELL, f'{shlex.quote(sys.executable)} -S -c "{burn}"; echo gone; sleep 600']) as terminal:
        terminal.wait_for("gone")

        assert 0.18 < terminal.cpu_seconds() < 1.0


def test_a_terminal_nobody_reads_stalls_its_writer() -> None:
    # It waits for a word before it floods the line: read in one go with the flood, the first line would be gone.
    with Terminal([*SHELL, "echo ready; read word; yes; exit 7"]) as terminal:
        terminal.wait_for("ready")
        terminal.press("go\n")
        time.sleep(0.5)
        before = terminal.cpu_seconds()
        time.sleep(0.3)

        assert terminal.process.poll() is None
        assert terminal.cpu_seconds() - before < 0.15
