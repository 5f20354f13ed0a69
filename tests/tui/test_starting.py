"""A run that was asked for and has not begun: what is shown of it, and what its key does meanwhile."""

import pytest

from consoles import Console, MakeConsole, ended, machine, records, settled
from sizeup.tui.console import WAITS
from sizeup.tui.dialogs import ChoiceDialog
from sizeup.tui.options import Options
from sizeup.tui.runs import LiveSource, spec_of


async def test_the_key_that_runs_a_probe_starts_it_once_and_hides_what_failed_before(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await console.measure(pilot, records())
        await console.end(pilot, ended())
        before, listed_before = console.chart, console.entries()["null"]
        await pilot.press("r")
        await console.feed(pilot)
        told = len(console.told)
        starting, listed = console.says("#about"), console.entries()["null"]
        badge = console.app.screen.band().word
        await pilot.press("r")
        await console.feed(pilot)

        assert before is not None
        assert "starting" not in listed_before
        assert "starting" in listed
        assert badge == "STARTING"
        assert "Starting: no samples yet." in starting
        assert console.runs.queue == []
        assert console.told[told:] == ["Null probe is starting already"]


EXCESS = "CPU pressure 34 % (limit 20 %)"


@pytest.mark.parametrize(
    ("excess", "mode", "keys", "flag"),
    [
        ("", "ask", (), []),
        (EXCESS, "ignore", (), []),
        (EXCESS, "gentle", (), ["--gentle"]),
        (EXCESS, "ask", ("enter",), ["--gentle"]),
        (EXCESS, "ask", ("f",), ["--full-load"]),
        (EXCESS, "ask", ("end", "enter"), None),
        (EXCESS, "ask", ("escape",), None),
    ],
)
async def test_on_a_busy_host_a_run_starts_as_the_user_answers_by_one_key(
    make_console: MakeConsole, excess: str, mode: str, keys: tuple[str, ...], flag: list[str] | None
) -> None:
    live = LiveSource(lambda _: None, machine, busy=lambda: excess)
    console = make_console(options=Options(busy=mode), live_source=live)
    async with console.shown(80, 24) as pilot:
        console.app.start_run(spec_of("io.direct", {}))
        await settled(pilot)
        asked = isinstance(console.app.screen, ChoiceDialog)
        shown = console.text
        await settled(pilot, *keys)

    started = [[word for word in words if word in ("--gentle", "--full-load")] for words in console.runner.arguments]
    assert asked == bool(keys)
    assert (EXCESS in shown) == asked
    assert started == ([] if flag is None else [flag])


@pytest.mark.parametrize(
    ("probe", "answers", "flags"),
    [("memory.latency", [], [True]), ("clock.cost", [], [True]), ("memory.bandwidth", ["no", "full"], [])],
)
async def test_on_a_busy_host_what_loads_one_cpu_starts_gently_and_what_cannot_be_gentle_asks(
    make_console: MakeConsole, probe: str, answers: list[str], flags: list[bool]
) -> None:
    console = make_console(live_source=LiveSource(lambda _: None, machine, busy=lambda: EXCESS))
    async with console.shown(80, 24) as pilot:
        await console.choose(pilot, probe)
        await settled(pilot, "r")

        assert console.answers == answers
        assert ["--gentle" in words for words in console.runner.arguments] == flags
        assert all(EXCESS in text and WAITS in text for text in console.told)


async def test_gentle_runs_can_be_chosen_before_they_start(console: Console) -> None:
    async with console.shown(80, 24) as pilot:
        await pilot.press("ctrl+g")
        await console.choose(pilot, "null")
        await pilot.press("r")

    assert "--gentle" in console.runner.arguments[0]
    assert console.told[0] == "The next runs measure gently: at most 500 IOPS and 50 MB/s"
