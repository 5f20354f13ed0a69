"""The line between the console and its terminal: slow, deaf, or with bytes on it that nobody expected."""

import re
import shlex
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from sizeup.terminal.link import ASK
from terminal import Terminal
from typed import start_null

SIZEUP = [sys.executable, "-m", "sizeup"]


def elapsed(terminal: Terminal) -> int:
    found = re.search(r"step 1/1 (\d+) s", terminal.text)
    return int(found[1]) if found else -1


def test_on_a_slow_line_no_frame_is_sent_on_top_of_one_that_is_on_its_way(sizeup: Callable[..., Terminal]) -> None:
    with sizeup() as terminal:
        start_null(terminal, 100_000)
        terminal.wait_for("Over time")
        terminal.bytes_per_second = 100.0  # less than the run sends at times
        after_frames = []
        for _ in range(120):
            terminal.pump(0.1)
            _, question, after = bytes(terminal.in_flight).partition(ASK)
            if question:
                after_frames.append(after)

        assert len(after_frames) > 10
        assert not any(ASK in after for after in after_frames)
        # What may follow a frame that is on its way is less than would be worth another question.
        assert max(map(len, after_frames)) < 2048
        terminal.wait_for("slow link, drawn every")
        terminal.bytes_per_second = None
        terminal.pump(20, lambda: "slow link" not in terminal.text)
        assert "slow link" not in terminal.text


def test_a_key_waits_for_one_frame_at_most(sizeup: Callable[..., Terminal]) -> None:
    with sizeup() as terminal:
        start_null(terminal, 100_000)
        terminal.bytes_per_second = 5000.0
        questions = []
        for _ in range(2):
            terminal.pump(1.5)
            start = len(terminal.output)
            terminal.press("?")
            terminal.wait_for("Everywhere", 30)
            questions.append(bytes(terminal.output[start:]).count(ASK))
            terminal.press("escape")
            terminal.pump(30, lambda: "Everywhere" not in terminal.text)

        # That of the frame on its way, and that of the answer itself, which may come in two pieces.
        assert max(questions) <= 3, questions


def test_the_map_puts_no_look_on_top_of_one_that_is_on_its_way_and_moves_again_once_it_arrived(
    sizeup: Callable[..., Terminal],
) -> None:
    with sizeup() as terminal:
        terminal.wait_for("Detected")
        terminal.press("2")
        terminal.wait_for("Socket 0")
        terminal.wait_quiet()
        terminal.bytes_per_second = 300.0  # the map takes some seconds, and is looked at once a second
        terminal.press("t")
        behind_question = []
        while "GiB used" not in terminal.text or terminal.in_flight:
            assert terminal.pump(60, lambda: bool(terminal.in_flight))
            terminal.pump(0.1)
            behind_question.append(bytes(terminal.in_flight).partition(ASK)[2])
        still = " %" not in terminal.text

        assert len(behind_question) > 10
        assert not any(ASK in behind for behind in behind_question)
        assert max(map(len, behind_question)) < 4096  # the map itself, once
        assert still
        terminal.wait_for(" %")


def test_a_terminal_that_answers_nothing_is_drawn_on_all_the_same(sizeup: Callable[..., Terminal]) -> None:
    with sizeup(answers=False) as terminal:
        start_null(terminal, 100_000)

        assert terminal.pump(20, lambda: elapsed(terminal) >= 3), terminal.text
        assert "slow link" not in terminal.text


def test_bytes_that_are_no_utf_8_are_passed_over(sizeup: Callable[..., Terminal]) -> None:
    with sizeup() as terminal:
        terminal.wait_for("Detected")
        terminal.press(b"\xe9\xff", b"\xc3", b"\x80\x80", "3")
        terminal.wait_for("Touches")
        terminal.press("q")

        assert terminal.wait() == 0


def test_the_end_of_the_line_is_a_hang_up_also_without_a_signal(sizeup: Callable[..., Terminal]) -> None:
    with sizeup(controlling=False) as terminal:
        terminal.wait_for("Detected")
        terminal.hang_up()

        assert terminal.wait() == 128 + signal.SIGHUP
        assert terminal.processes() == []


def test_no_answer_is_left_for_the_shell_to_read(tmp_path: Path) -> None:
    shell = [
        "bash",
        "-c",
        f"{shlex.quote(sys.executable)} -m sizeup; read -rs -t 1 -n 99 typed; printf 'typed<%q>' \"$typed\"",
    ]
    with Terminal(shell, environment={"XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}) as terminal:
        terminal.wait_for("Detected")
        terminal.bytes_per_second = 20_000.0
        terminal.press("4", "2", "q")
        terminal.wait_for("typed<")

        assert "typed<''>" in terminal.text
