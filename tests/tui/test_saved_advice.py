"""What the console shows of the advice of a saved session: the same on each screen, recorded until it is recomputed."""

from pathlib import Path

import pytest

from consoles import Console, pressed, settled, until
from sizeup.model.advice import Advice, AdviceSet
from sizeup.quantity import Origin, Quantity
from sizeup.session import store
from sizeup.session.records import AdviceRecord
from sizeup.tui.screens.sizing import AnswerTable
from tui.sizing_inputs import choose_input
from tui.stored_sessions import saved, stored

NEED = "io.demand.ghz-rule"
RECORDED = "777 MB/s by the rule of another day"


def recorded() -> AdviceRecord:
    quantity = Quantity(777e6, "bytes/s", Origin.RULE, NEED)
    headline = Quantity(777e6, "bytes/s", Origin.RULE, "io.demand.headline")
    return AdviceRecord(
        300,
        AdviceSet(
            (
                Advice("io.demand.headline", "I/O need", RECORDED, headline, (), (), ()),
                Advice(NEED, "I/O need by the GHz rule", RECORDED, quantity, (), (), ()),
            ),
            rules={"io-need": "2020-02-02"},
        ),
    )


def answers(console: Console) -> list[str]:
    return console.app.screen.query_one(AnswerTable).ids


def title(console: Console) -> str:
    return str(console.app.screen.query_one("#answers-pane").border_title)


async def test_each_screen_shows_what_was_recorded_until_a_key_recomputes_it(tmp_path: Path) -> None:
    console = saved(tmp_path, recorded())
    async with console.shown(120, 40) as pilot:
        assert console.app.header().states[0].endswith(", demand 777 MB/s")
        await pressed(pilot, "4")
        assert title(console) == "Answers, recorded"
        assert set(answers(console)) == {"io.demand.headline", NEED}

        await pressed(pilot, "ctrl+r")
        shown = console.app.advice
        assert title(console) == "Answers, recomputed"
        assert console.app.header().states[0].endswith("recomputed")  # a demand was recorded, and no workload
        assert "Recorded with the rules of 2020-02-02" in shown.label
        assert console.says("#answers-label").startswith("Recomputed with the rules of 20")
        assert len(answers(console)) > 3

        await pressed(pilot, "ctrl+r")
        assert title(console) == "Answers, recorded"


async def test_what_if_inputs_of_a_saved_session_are_labeled_as_recomputed(tmp_path: Path) -> None:
    console = saved(tmp_path, recorded())
    async with console.shown(120, 40, keys="4") as pilot:
        await choose_input(pilot, "machine.sockets")
        await pressed(pilot, "plus")

        assert title(console) == "Answers, compared with the detected machine, recomputed"
        assert console.app.header().states[0].endswith("recomputed")
        await pressed(pilot, "1")
        recomputed = "Recomputed with 1 input entered in the console and the rules of 20"
        await until(pilot, lambda: recomputed in console.says("#notice"))
        await pilot.press("4")
        await pressed(pilot, "backspace")
        assert title(console) == "Answers, recorded"


async def test_a_workload_typed_for_a_saved_session_gives_its_verdict(tmp_path: Path) -> None:
    console = saved(tmp_path, recorded())
    async with console.shown(120, 40, keys="w") as pilot:
        await pilot.press(*"2000", "enter")
        await until(pilot, lambda: bool(console.app.stated))
        await pilot.pause()
        verdict = console.says("#band")
        header = console.app.header().states[0]
        await pressed(pilot, "q")
        asked = console.says(".text Static")

    assert "NO VERDICT YET" not in verdict
    assert "demand " in header
    assert header.endswith(", recomputed")
    assert "are not saved" in " ".join(asked.split())


async def test_a_saved_session_without_advice_says_how_to_get_it(tmp_path: Path) -> None:
    console = saved(tmp_path)
    async with console.shown(120, 40, keys="4") as pilot:
        assert title(console) == "Answers, no advice recorded"
        assert "press 4, then ^r" in console.says("#answers-label")
        await pressed(pilot, "ctrl+r")
        assert "io.capacity" in answers(console)


async def test_a_machine_has_no_recorded_advice_to_choose(tmp_path: Path) -> None:
    console = Console(tmp_path)
    async with console.shown(120, 40, keys="4r"):
        assert title(console) == "Answers"
        assert "Recompute" not in console.text


@pytest.mark.parametrize("is_saved", [True, False])
async def test_a_saved_session_shows_no_measurement_of_another_one(tmp_path: Path, is_saved: bool) -> None:
    store.directory().mkdir(parents=True)
    stored(store.directory(), "other", day=9, host="db01")
    console = saved(tmp_path, probe="clock.cost") if is_saved else Console(tmp_path)
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "null")
        await settled(pilot)
        await console.app.workers.wait_for_complete()
        await settled(pilot)
        entry = console.entries("#probes")["null"]

    assert ("65 ns" in entry) is not is_saved
