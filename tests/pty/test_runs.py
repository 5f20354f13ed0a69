"""A run under a console whose terminal goes, stalls or is left: what was measured stays, and nobody stays behind."""

import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sizeup.session.reader import read_session
from sizeup.session.value import Session
from terminal import PATIENCE_SECONDS, Terminal
from typed import gone, held, measure_a_little, start_null, wait_ended

WIDE = 200
"""Columns in which the first line has room for all it says of a run, whatever the host is called."""


def saved(tmp_path: Path) -> Session:
    (path,) = (tmp_path / "sizeup/sessions").iterdir()
    return read_session(str(path))


def gaps(session: Session) -> list[float]:
    return [value for point in session.steps["null"].points.values() for value in point.values]


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGTERM, "canceled"), (signal.SIGHUP, "terminated"), (signal.SIGINT, "canceled")],
)
def test_a_signal_during_a_run_saves_it_and_takes_everybody_along(
    sizeup: Callable[..., Terminal], tmp_path: Path, number: signal.Signals, status: str
) -> None:
    (tmp_path / "sizeup").mkdir()
    (tmp_path / "sizeup/config.toml").write_text('[run]\nhang_up = "cancel"\n')
    with sizeup() as terminal:
        start_null(terminal, 100_000)
        measure_a_little(terminal, tmp_path)
        terminal.process.send_signal(number)

        assert terminal.wait() == 128 + number
        assert 1049 not in terminal.modes
        assert terminal.attributes_now == terminal.attributes
        assert gone(terminal)
    session = saved(tmp_path)
    assert session.end.status == status
    assert len(gaps(session)) > 1


def test_a_console_that_is_killed_leaves_a_saved_session(sizeup: Callable[..., Terminal], tmp_path: Path) -> None:
    with sizeup() as terminal:
        start_null(terminal, 100_000)
        measure_a_little(terminal, tmp_path)
        terminal.process.kill()
        terminal.wait()

        assert gone(terminal)
    session = saved(tmp_path)
    assert session.end is not None
    assert len(gaps(session)) > 1


def _measure(sizeup: Callable[..., Terminal], tmp_path: Path, *, batch: bool) -> Terminal:
    """Start a run of some seconds, in the console or without it."""
    settings = ("--set", "null.samples=8000", "--set", "null.interval=1ms")
    terminal = sizeup("--batch", "-p", "null", *settings) if batch else sizeup()
    if batch:
        terminal.wait_for("[1/1]")
    else:
        start_null(terminal, 8000)
    measure_a_little(terminal, tmp_path)
    return terminal


@pytest.mark.parametrize("batch", [False, True])
def test_a_run_goes_on_when_the_line_drops_and_the_next_console_says_so(
    sizeup: Callable[..., Terminal], tmp_path: Path, *, batch: bool
) -> None:
    with _measure(sizeup, tmp_path, batch=batch) as terminal:
        with held(terminal):
            terminal.hang_up()
            second = sizeup()
            second.wait_for("in progress; o or sizeup session follow shows it")
            during = second.lines[-2]
        with second:
            second.wait_for("finished without its terminal; o opens it")
            after = second.lines[-2]
        assert gone(terminal)
        assert terminal.wait() == (2 if batch else 128 + signal.SIGHUP)  # its summary finds no standard output
    session = saved(tmp_path)
    assert "in progress; o or sizeup session follow shows it" in during
    assert "finished without its terminal; o opens it" in after
    assert session.end.status == "complete"
    assert session.end.terminal_lost_ns
    assert len(gaps(session)) == 8000


def test_a_run_that_was_left_goes_on_and_can_be_followed_again(sizeup: Callable[..., Terminal], tmp_path: Path) -> None:
    with sizeup() as first:
        start_null(first, 8000)
        with held(first):
            first.press("q")
            first.wait_for("Quit and keep it running")
            first.press("down", "enter")

            assert first.wait() == 0
            assert first.processes() != []
            with sizeup("attach", columns=WIDE) as second:
                second.wait_for("● following null step 1/1")
                second.press("q")
                assert second.wait() == 0
        assert gone(first)
    session = saved(tmp_path)
    assert session.end.status == "complete"
    assert len(gaps(session)) == 8000


def test_a_run_that_was_left_is_canceled_where_it_is_followed(sizeup: Callable[..., Terminal], tmp_path: Path) -> None:
    with sizeup() as first:
        start_null(first, 100_000)
        measure_a_little(first, tmp_path)
        first.press("q")
        first.wait_for("Quit and keep it running")
        first.press("down", "enter")
        first.wait()
        with sizeup("attach", columns=WIDE) as second:
            second.wait_for("● following null")
            second.press("3", "x")
            second.wait_for("Cancel? Results so far are kept")
            second.press("down", "enter")
            second.wait_for("saved session of ")
            assert "following" not in second.text

        assert gone(first)
    session = saved(tmp_path)
    assert session.end.status == "canceled"
    assert len(gaps(session)) > 1


def test_a_run_canceled_on_leaving_is_saved_first(sizeup: Callable[..., Terminal], tmp_path: Path) -> None:
    with sizeup() as terminal:
        start_null(terminal, 100_000)
        measure_a_little(terminal, tmp_path)
        terminal.press("q")
        terminal.wait_for("Cancel it, save, and quit")
        terminal.press("enter")  # the first answer is to stay
        assert terminal.pump(PATIENCE_SECONDS, lambda: "Cancel it, save" not in terminal.text)
        terminal.press("q")
        terminal.wait_for("Cancel it, save, and quit")
        terminal.press("down", "down", "enter")

        assert terminal.wait() == 0
        assert "Canceled. Session saved in" in terminal.text
        assert gone(terminal)
    session = saved(tmp_path)
    assert session.end.status == "canceled"
    assert len(gaps(session)) > 1


def test_a_run_that_was_killed_is_spoken_of_and_resumed(sizeup: Callable[..., Terminal], tmp_path: Path) -> None:
    with sizeup() as first:
        start_null(first, 8000)
        measure_a_little(first, tmp_path)
        for pid in first.processes():  # as a power cut would: nobody gets to say a last word
            with contextlib.suppress(ProcessLookupError):  # one ends when another one has gone
                os.kill(pid, signal.SIGKILL)
        first.wait()
    assert saved(tmp_path).end is None

    with sizeup(columns=WIDE) as second:
        second.wait_for("was interrupted; R runs its missing steps")
        second.press("R")
        second.wait_for("Run what this session is missing?")
        second.wait_quiet()
        second.press("down", "enter")
        second.wait_for("● running null")
        assert second.pump(PATIENCE_SECONDS, lambda: second.lines[0].endswith(" idle")), second.text
        second.press("q")
        assert second.wait() == 0
    session = saved(tmp_path)
    assert session.end.status == "complete"
    assert len(gaps(session)) >= 8000
    assert session.missing_steps == ()


def test_a_line_that_stalls_for_ten_seconds_costs_no_sample_and_delays_none(
    sizeup: Callable[..., Terminal], tmp_path: Path
) -> None:
    with sizeup() as terminal:
        start_null(terminal, 14_000)
        for _ in range(40):  # repaints, so that there is something that the line does not take
            terminal.press("2", "3")
        since = time.monotonic()
        time.sleep(10)
        stalled_ns = (time.monotonic() - since) * 1e9
        wait_ended(terminal, 14_000)
        terminal.press("q")
        assert terminal.wait() == 0
    session = saved(tmp_path)
    assert session.end.status == "complete"
    assert len(gaps(session)) == 14_000
    assert max(gaps(session)) < 0.5 * stalled_ns, "a run that waits for the line has a hole as long as its stall"


def test_keys_for_no_action_are_refused_after_the_screen_is_given_back(
    sizeup: Callable[..., Terminal], tmp_path: Path
) -> None:
    (tmp_path / "sizeup").mkdir()
    (tmp_path / "sizeup/config.toml").write_text('[keys]\n"run.strat" = "f5"\n')
    with sizeup() as terminal:
        assert terminal.wait() == 2

        assert 1049 not in terminal.modes
        assert "unknown action (did you mean run.start?)" in " ".join(terminal.lines)


def test_a_key_of_the_configuration_replaces_the_one_of_the_registry(
    sizeup: Callable[..., Terminal], tmp_path: Path
) -> None:
    (tmp_path / "sizeup").mkdir()
    (tmp_path / "sizeup/config.toml").write_text('[keys]\n"app.quit" = "Z"\n[console]\nascii = true\n')
    with sizeup() as terminal:
        terminal.wait_for("Z Quit")
        terminal.press("q")
        terminal.wait_quiet()
        assert terminal.process.poll() is None
        terminal.press("Z")

        assert terminal.wait() == 0
        assert terminal.output.isascii()
