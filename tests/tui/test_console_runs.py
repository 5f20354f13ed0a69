"""Runs in the console: started, followed, canceled and left by keys."""

import asyncio
import gc
import re
import threading
import time
import weakref
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from textual._compositor import Compositor
from textual.widgets import OptionList

from consoles import Console, ended, fill, pressed, records, settled, until
from sizeup.charts.chart import LineChart
from sizeup.errors import ExitStatus
from sizeup.live import storage_targets
from sizeup.live.storage_targets import TargetChoice
from sizeup.model.machine import Machine
from sizeup.model.plan import Plan
from sizeup.model.sample import Estimate, Outcome, Status
from sizeup.session.records import (
    EndRecord,
    EstimateRecord,
    OutcomeRecord,
    PlanRecord,
    ProgressRecord,
    Record,
    SamplesRecord,
)
from sizeup.session.value import StepRun
from sizeup.tui.screens import probe_forms, probe_page
from sizeup.tui.screens.mount_choice import remember_mount
from sizeup.views.run.chart_list import ChartEntry, chart_list


async def test_a_probe_runs_by_keys_alone_and_its_chart_moves(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot, records()[:8])
        arguments = console.runner.arguments[0]
        first = console.chart
        await console.feed(pilot, records()[8:])
        chart = console.chart

        assert arguments[:3] == ["--batch", "--quiet", "--control"]
        assert arguments[-2:] == ["-o", str(console.runner.path)] or "-p" in arguments
        assert isinstance(first, LineChart)
        assert isinstance(chart, LineChart)
        assert ((chart.x.title, chart.x.unit), chart.y.unit) == (("Working set", "bytes"), "ns")
        assert [len(shown.lines[0].points) for shown in (first, chart)] == [4, 13]
        assert [boundary.x for boundary in chart.boundaries][:2] == [32 << 10, 1 << 20]
        for part in ("null", "1/1", "50 %", "5 s"):
            assert part in console.status


async def test_a_frame_that_brings_samples_alone_draws_the_chart_and_lists_no_others(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[object] = []

    def count(run: StepRun, machine: Machine | None) -> tuple[ChartEntry, ...]:
        listed.append(run)
        return chart_list(run, machine)

    monkeypatch.setattr(probe_page, "chart_list", count)
    at = {"working_set_bytes": 1 << 30}
    async with console.shown(120, 40) as pilot:
        await console.measure(pilot, [*records(), SamplesRecord("null", "latency", at, (110,), (5e3,))])
        seen = []
        for second in (1, 2, 3):
            seen.append((len(listed), console.chart))
            await console.feed(pilot, [SamplesRecord("null", "latency", at, (110 + second,), (5e3 + 9e3 * second,))])

    assert [number for number, _ in seen] == [1, 1, 1]
    assert len({repr(chart) for _, chart in seen}) == 3


async def test_a_run_survives_a_change_of_mode_and_is_canceled_by_a_key(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        await pilot.press("1")
        console.tick()
        await pilot.pause()
        assert "running null" in console.status
        await pilot.press("3", "x")

        assert console.runner.stdin.words == ["cancel"]
        assert console.runner.stdin.costs[-1].cpu_seconds > 0
        await console.end(pilot, ended(), 130)
        assert "idle" in console.status


async def test_leaving_during_a_run_asks_and_can_let_it_go_on(console: Console) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pressed(pilot, "r", "q")
        assert console.answers == ["stay", "keep", "cancel"]
        await pressed(pilot, "enter")
        assert console.app.is_running
        assert console.runner.stdin.words == []
        await pressed(pilot, "q", "down", "enter")

    assert console.runner.stdin.words == ["keep"]
    assert console.app.return_value == ExitStatus.OK
    assert str(console.runner.path) in console.app.exit_message


async def test_what_a_run_leaves_behind_is_looked_for_when_it_has_ended(console: Console) -> None:
    class Cycle:
        def __init__(self) -> None:
            self.itself = self

    gc.disable()
    try:
        left = weakref.ref(Cycle())
        async with console.shown() as pilot:
            await console.measure(pilot)
            assert left() is not None, "looked for while a run is measured"
            await console.end(pilot, ended())
            await until(pilot, lambda: left() is None)
    finally:
        gc.enable()


class _KnownText(str):
    """A text that says when nobody holds it any more."""

    __slots__ = ("__weakref__",)


async def test_texts_of_which_a_run_took_the_width_are_let_go_when_it_has_ended(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        cell_len(text := _KnownText("p99 1.234 ms"))
        held = weakref.ref(text)
        del text
        assert held() is not None
        await console.end(pilot, ended())
        await until(pilot, lambda: held() is None)


async def test_work_beside_the_screen_starts_no_threads(console: Console) -> None:
    async with console.shown():
        before = threading.active_count()
        await asyncio.gather(*(asyncio.to_thread(time.sleep, 0.02) for _ in range(12)))

        assert threading.active_count() == before


async def test_a_failed_run_says_why(console: Console) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pilot.press("r")
        console.runner.end(2, f"sizeup: {console.runs.path}: cannot write the session [/tmp]\n")
        console.tick()
        await pilot.pause()

        assert console.status == "! cannot write the session [/tmp]"


@pytest.mark.parametrize(
    ("status", "written", "told"),
    [
        (3, [*records(), *ended()], "idle"),
        (3, [*records()[:2], PlanRecord(2, Plan("custom", ())),
             OutcomeRecord(3, "null.huge", Outcome(Status.REFUSED, "no free huge pages"))],
         "! null.huge refused: no free huge pages"),
        (1, [*records(), *ended(status=Status.CRASHED)], "! null crashed"),
        (9, [*records(), *ended()], "! the run ended with status 9"),
    ],
)  # fmt: skip
async def test_a_run_that_falls_short_says_of_what_in_the_words_of_its_file(
    console: Console, status: int, written: list[Record], told: str
) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot, written)
        console.runner.end(status)
        console.tick()

        await until(pilot, lambda: console.status.startswith(told))


async def test_a_step_whose_run_ended_without_a_word_was_cut_short_and_is_not_running(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        running = [console.entries()["null"], console.says("#standing")]
        console.runner.end(2, "sizeup: cannot write the session any further: No space left on device")
        console.tick()
        await pilot.pause()
        stopped = [console.entries()["null"], console.band]

        assert ["running" in words.lower() for words in (*running, *stopped, console.status)] == [
            True,
            True,
            *[False] * 3,
        ]
        assert ["interrupted" in words.lower() for words in (*running, *stopped)] == [False, False, True, True]
        assert "65 ns at 64 MiB" in stopped[1]


async def test_settings_are_checked_as_they_are_typed_and_reach_the_run(console: Console) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await settled(pilot, "s", "end", "x")
        words = console.hint
        await settled(pilot, "backspace", "0", "enter")

    assert words.startswith("! Samples: expected a whole number")
    assert ["--set", "null.samples=1000"] in [list(pair) for pair in pairwise(console.runner.arguments[0])]


async def test_a_probe_that_waits_says_so_and_is_taken_back(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        await console.choose(pilot, "clock.cost")
        await pressed(pilot, "r")
        assert console.told == ["clock.cost is queued until the current run ends; x removes it"]
        assert [spec.probes for spec in console.runs.queue] == [("clock.cost",)]
        assert "queued" in console.entries()["clock.cost"]
        assert "1 queued" in console.status
        await pressed(pilot, "x")

        assert console.runs.queue == []
        assert console.runs.running
        assert console.runner.stdin.words == []


async def test_a_refused_wish_says_why_where_the_probe_stands(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot, [])
        refused = OutcomeRecord(5, "null", Outcome(Status.REFUSED, "no room on /data"))
        await console.end(pilot, [*records()[:3], refused, EndRecord(6, "complete")], 3)

        assert console.says("#about").startswith("! refused: no room on /data")
        assert console.entries("#probes")["null"] == "▼ Null probe refused"


async def test_a_saved_session_says_what_was_refused(console: Console) -> None:
    refused = OutcomeRecord(5, "null", Outcome(Status.REFUSED, "no room on /data"))
    console.save([*records()[:3], refused, EndRecord(6, "complete")])
    async with console.shown() as pilot:
        await console.choose(pilot, "null")

        assert console.says("#about").startswith("! refused: no room on /data")
        assert console.entries("#probes")["null"] == "▼ Null probe refused"


async def test_a_new_figure_of_a_run_lays_nothing_out_again(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    passes = []
    reflow = Compositor.reflow

    def counted(*arguments: Any, **named: Any) -> Any:
        passes.append(1)
        return reflow(*arguments, **named)

    monkeypatch.setattr(Compositor, "reflow", counted)
    async with console.shown(120, 40) as pilot:
        await console.measure(pilot)
        await settled(pilot)
        before, shown = len(passes), console.says("#standing")
        tiles = console.app.screen.query_one("#tiles").display
        estimate = Estimate("latency", {"working_set_bytes": 1 << 25}, 33.0)
        await console.feed(pilot, [EstimateRecord(101, "null", estimate), ProgressRecord(102, "null", 0.6, 5.0, "big")])
        await settled(pilot)

        assert tiles
        assert console.says("#standing") != shown
        assert len(passes) == before


async def test_before_a_file_is_written_its_mount_size_time_and_changed_settings_are_told(
    console: Console, tmp_path: Path
) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        fill(console, "io.direct", {"path": str(tmp_path), "size": "256MiB", "depth": "8", "block": "16KiB"})
        await pressed(pilot, "r")
        asked, answers = console.says(".facts"), console.answers
        await pressed(pilot, "enter")

    assert answers == ["no", "yes"]
    assert str(tmp_path) in asked.replace(" ", "")  # a long path is folded
    assert re.search(r"Mounted /.* on .*[kMGT]?B free", asked)
    assert re.search(r"Space 256MiB, .* Takes about [\d.]+ s", asked)
    assert "Settings depth = 8, preset = custom, block = 16KiB" in asked
    assert console.runner.arguments == []


async def test_a_probe_without_its_target_offers_the_targets_and_runs_what_is_chosen(
    console: Console, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(probe_forms, "gettempdir", lambda: "/u02")
    offered = (TargetChoice(str(tmp_path), "ext4 on sda1, 1 TB free of 2 TB"), TargetChoice("/u02", "xfs on sdb"))
    monkeypatch.setattr(storage_targets, "storage_targets", lambda machine: offered)
    async with console.shown(120, 40) as pilot:
        await settled(pilot, "3", "r")
        lines = ["".join(str(option.prompt).split()) for option in console.app.screen.query_one(OptionList).options]
        await settled(pilot, "enter")

    assert lines == ["".join(target.line.split()) for target in offered]
    assert ["--set", f"io.direct.path={tmp_path}"] in [list(pair) for pair in pairwise(console.runner.arguments[0])]


async def test_targets_measured_before_mounts_and_the_directory_of_temporary_files_are_offered(
    console: Console, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    last = tmp_path / "last"
    last.mkdir()
    monkeypatch.setattr(storage_targets, "storage_targets", lambda machine: (TargetChoice("/u02", "xfs on sdb"),))
    monkeypatch.setattr(storage_targets, "keeps_reserve", lambda path: True)
    monkeypatch.setattr(probe_forms, "gettempdir", lambda: str(tmp_path))
    remember_mount(str(last))
    async with console.shown(120, 40) as pilot:
        await settled(pilot, "3", "r")
        offered = ["".join(str(one.prompt).split()) for one in console.app.screen.query_one(OptionList).options]
        await settled(pilot, "enter")

    assert offered == [f"{last}measuredlast", "/u02xfsonsdb", f"{tmp_path}temporaryfiles"]
    assert f"io.direct.path={last}" in console.runner.arguments[0]


async def test_a_second_run_of_the_probe_that_runs_says_that_it_waits(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        await pressed(pilot, "r")
        queued = [spec.probes for spec in console.runs.queue]
        status, listed = console.status, console.entries()["null"]

    assert console.told == ["null is queued until the current run ends; x removes it"]
    assert queued == [("null",)]
    assert "1 queued" in status
    assert "running" in listed


async def test_a_target_that_was_asked_for_and_is_typed_asks_before_the_run_once(
    console: Console, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(probe_forms, "gettempdir", lambda: "/u02")
    monkeypatch.setattr(storage_targets, "storage_targets", lambda machine: (TargetChoice("/u02", "xfs on sdb"),))
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "io.direct")
        await settled(pilot, "r")
        await settled(pilot, "escape", "m")
        await settled(pilot, *str(tmp_path), "enter")
        asked = console.answers
        await settled(pilot, "r")
        left = console.answers
        await console.feed(pilot)

    assert asked == ["no", "yes"]
    assert left == []
    assert len(console.runner.arguments) == 1


async def test_a_pause_is_called_one_once_the_step_is_over(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        await pressed(pilot, "space")
        during = console.status
        await console.feed(pilot, ended()[:1])

        assert during.startswith("pausing null ")
        assert console.status.startswith("paused null ")


async def test_a_run_that_starts_does_not_show_the_step_of_the_one_before(console: Console) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pilot.press("r")
        console.runner.write([*records(), *ended()])
        console.runner.end()
        console.tick()
        await pilot.press("r")
        console.tick()
        await pilot.pause()
        starting = console.status
        await console.feed(pilot, records()[2:])

        assert starting.startswith("running, starting")
        assert console.status.startswith("running null ")


async def test_a_chart_stays_where_it_is_when_the_first_figure_comes(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await console.measure(pilot, [record for record in records() if not isinstance(record, EstimateRecord)])
        await settled(pilot)
        chart, tiles = console.app.screen.query_one("#chart"), console.app.screen.query_one(probe_page.TileRow)
        before = chart.region, tiles.drawing.text().strip()
        await console.feed(
            pilot, [EstimateRecord(101, "null", Estimate("latency", {"working_set_bytes": 1 << 25}, 33.0))]
        )
        await settled(pilot)
        after = chart.region, tiles.drawing.text().strip()

    assert before == (after[0], "")
    assert after[1]
