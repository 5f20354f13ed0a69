"""The terminal that the other tests of this folder look through is itself worth trusting."""

import shlex
import sys
import time

from terminal import Terminal

SHELL = ["/bin/sh", "-c"]


def test_the_screen_is_what_a_person_would_see() -> None:
    with Terminal([*SHELL, r"printf 'one\033[3;5Htwo\033[?1049h'; sleep 5"], columns=20, rows=4) as terminal:
        terminal.wait_for("two")

        assert terminal.lines == ["one", "", "    two", ""]
        assert terminal.modes == {25, 1049}


def test_a_question_is_answered_and_leaves_nothing_on_the_screen() -> None:
    ask = r"stty raw -echo; printf '\033[?2026$p\033[>1u\033[6n'; dd bs=1 count=17 2>/dev/null | cat -v; sleep 5"
    with Terminal([*SHELL, ask]) as terminal:
        terminal.wait_for("R")

        assert terminal.lines[0] == "^[[?2026;0$y^[[1;1R"


def test_processes_are_found_in_sessions_of_their_own_and_end_with_the_terminal() -> None:
    with Terminal([*SHELL, "setsid sleep 60 & echo ready; wait"]) as terminal:
        terminal.wait_for("ready")
        terminal.pump(2, lambda: len(terminal.processes()) == 2)

        assert len(terminal.processes()) == 2

    assert terminal.processes() == []


def test_cpu_time_counts_children_alive_and_gone() -> None:
    burn = "import time\nwhile time.process_time() < 0.2: pass\nprint('burnt', flush=True)"
    with Terminal([*SHELL, f'{shlex.quote(sys.executable)} -S -c "{burn}"; echo gone; sleep 5']) as terminal:
        terminal.wait_for("gone")

        assert 0.18 < terminal.cpu_seconds() < 1.0


def test_a_dropped_line_is_a_hang_up() -> None:
    with Terminal([*SHELL, "echo ready; exec sleep 60"]) as terminal:
        terminal.wait_for("ready")
        terminal.hang_up()

        assert terminal.wait() == -1


def test_a_resize_reaches_the_program() -> None:
    with Terminal([*SHELL, "trap 'stty size' WINCH; echo ready; while :; do sleep 0.02; done"]) as terminal:
        terminal.wait_for("ready")
        terminal.resize(100, 30)

        terminal.wait_for("30 100")


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
