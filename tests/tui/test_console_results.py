"""What a step measured, in the console: its chart, its table and its samples."""

import time

import msgspec
import pytest
from textual.pilot import Pilot

from consoles import Console, ended, pressed, records, settled
from played_runs import PlayedRunner
from sizeup.charts.chart import LineChart
from sizeup.model.plan import Declaration, Plan, Step
from sizeup.model.sample import Estimate, Outcome, Status
from sizeup.probing.registry import Registry, load_registry
from sizeup.session import store
from sizeup.session.records import (
    EndRecord,
    EstimateRecord,
    OutcomeRecord,
    PlanRecord,
    ProgressRecord,
    SamplesRecord,
    StepStartRecord,
)
from sizeup.session.value import point_key
from sizeup.tui.runs import Runs
from sizeup.tui.screens import probe_page
from sizeup.tui.screens.probe_page import PointTable, ProbePage
from sizeup.tui.widgets.band import BandView
from sizeup.views.band import NextStep
from tui.stored_sessions import stored
from tui.test_tab_row import NAMES


async def test_the_readout_names_the_value_under_the_cursor_with_its_unit(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        await pressed(pilot, "enter", "home")

        assert console.point == point_key("latency", {"working_set_bytes": 16 << 10})
        assert console.readout == "16 KiB: Latency 1.02 ns"


async def test_zoom_gives_the_chart_the_screen_and_escape_gives_it_back_and_cancels_nothing(console: Console) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        await pressed(pilot, "z")
        screen = console.app.screen
        zoomed = [screen.query_one(name).region.height for name in ("#chart", "KeyLine", "#probes")]
        await pressed(pilot, "right")
        assert console.point == point_key("latency", {"working_set_bytes": 16 << 10})
        await pressed(pilot, "escape")

        assert zoomed == [23, 1, 0]
        assert screen.query_one("#probes").region.height > 0
        await pilot.press("escape")
        assert console.runner.stdin.words == []


async def test_a_run_without_news_says_for_how_long_in_place_of_the_time_left(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console.shown() as pilot:
        await console.measure(pilot)
        before = console.says("#standing")
        monkeypatch.setattr(Runs, "quiet_seconds", 15)
        console.app.screen.show_run()  # type: ignore[attr-defined]
        await pilot.pause()
        after = console.says("#standing")

    assert " left" in before
    assert "no sample for 15 s" in after
    assert " left" not in after


async def test_the_points_stand_in_a_table_that_is_sorted_and_scrolls(console: Console) -> None:
    async with console.shown(120, 16) as pilot:
        disturbed = Estimate(
            "latency", {"working_set_bytes": 1 << 14}, 2.0, 1.0, 3.0, replicates=7, disturbed_share=0.6, converged=False
        )
        await console.measure(pilot, [*records(), EstimateRecord(101, "null", disturbed)])
        await settled(pilot, "t")
        table = console.app.screen.query_one(PointTable)
        titles, first = table.shown.columns, [cell.text for cell in table.shown.rows[0]]
        notes = console.says("#notes")
        await pressed(pilot, "G")
        last = table.cursor_row
        await pressed(pilot, *"SSSS")
        largest = [str(cell) for cell in table.get_row_at(0)]
        await settled(pilot, "t")
        shown = table.display, console.chart is None

    assert titles == ("Working set", "Latency ns", "±", "Flag")
    assert first == ["16 KiB", "2.00", "50.0 %", "! 1-2"]
    assert "most samples were disturbed" in notes
    assert last == 12
    assert largest[:2] == ["64 MiB", "65.0"]
    assert shown == (False, False)


async def test_a_reason_too_long_for_a_line_is_folded_once_the_step_is_over(console: Console) -> None:
    reason = "the file system of /var/lib/database went away after 12 s: input/output error; look at dmesg"
    async with console.shown(80, 24) as pilot:
        failed = OutcomeRecord(200, "null", Outcome(Status.FAILED, reason))
        await console.measure(pilot, [*records(), failed, EndRecord(201, "complete")])
        await settled(pilot, "v")
        assert "The whole reason stands in Validity." in console.band
        await settled(pilot, "v")

        assert f"{reason};" in console.says("#validity SegmentRows")
        assert "stands in Validity" not in console.band, "it is what is shown"


async def test_the_next_picture_is_shown_and_the_one_before_again(console: Console) -> None:
    async with console.shown() as pilot:
        await _with_samples(console, pilot)
        words = console.says("#standing")
        tabs, charts = [_tab(console)], [console.chart]
        for keys in ("vvvv", "V", "VVV", "V"):
            await settled(pilot, *keys)
            tabs.append(_tab(console))
            charts.append(console.chart)

        assert tabs == ["Latency", "Distribution", "Validity", "Latency", "CDF"]
        assert console.app.screen.query_one(ProbePage).names == (
            "Latency", "Over time", "Table", "Validity", "Distribution", "CDF"
        )  # fmt: skip
        assert "3 samples, ! 1 disturbed" in words
        assert [type(chart).__name__ for chart in charts] == [
            "LineChart", "BarChart", "NoneType", "LineChart", "LineChart"
        ]  # fmt: skip
        assert [chart.x.title for chart in charts if isinstance(chart, LineChart)] == [
            "Working set",
            "Working set",
            "Latency",
        ]


def _tab(console: Console) -> str:
    """Name of the tab that is shown."""
    return console.app.screen.query_one(ProbePage).shown_tab


async def _with_samples(console: Console, pilot: Pilot[int]) -> None:
    """A running step of 13 figures, of which that at 16 KiB has three samples."""
    at = {"working_set_bytes": 1 << 14}
    samples = SamplesRecord("null", "latency", at, (110, 120, 130), (1.0, 2.0, 3.0), (0, 1, 0))
    await console.measure(pilot, [*records(), samples])


async def test_a_chosen_point_leads_to_its_samples_and_escape_leads_back_to_it(console: Console) -> None:
    async with console.shown() as pilot:
        await _with_samples(console, pilot)
        await pressed(pilot, "enter", "home")
        point, chosen, readout, keys = console.point, console.chart, console.readout, console.keys
        charts = []
        for key in ("enter", "v"):
            await settled(pilot, key)
            charts.append((type(console.chart).__name__, _tab(console)))
        await pressed(pilot, "escape")

        assert point == point_key("latency", {"working_set_bytes": 16 << 10})
        assert "Enter" in readout
        assert keys[0] == "Details"
        assert charts == [("BarChart", "Distribution"), ("LineChart", "CDF")]
        assert (console.chart, console.point) == (chosen, point)
        assert console.runner.stdin.words == []


async def test_a_figure_without_samples_says_so_and_stays(console: Console) -> None:
    async with console.shown() as pilot:
        await _with_samples(console, pilot)
        await pressed(pilot, "enter", "enter", "enter")

        assert [note.message for note in console.app._notifications] == ["no samples were recorded for this point"]
        assert console.point == point_key("latency", {"working_set_bytes": 64 << 20})
        assert console.readout == "64 MiB: Latency 65 ns"


async def test_the_last_line_has_the_keys_that_do_something_in_80_columns(console: Console) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        before = console.keys, console.text.splitlines()[-1]
        await console.measure(pilot)
        during = console.keys, console.text.splitlines()[-1]
        await console.end(pilot, ended())
        after = console.keys, console.text.splitlines()[-1]

    assert before[0] == ["Measure", "Plan", "Settings", "Commands"]
    assert during[0] == ["Pause", "Cancel", "Next view", "Table", "Zoom", "Commands"]
    assert after[0] == ["Measure", "Plan", "Settings", "Next view", "Table", "Zoom", "Commands"]
    assert all(label in line for keys, line in (before, during, after) for label in (*keys[:-1], "Help", "Quit"))


async def test_a_run_that_has_no_sample_yet_says_so(console: Console) -> None:
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pressed(pilot, "r")
        starting = console.says("#about")
        begun = [*records()[:4], ProgressRecord(5, "null", 0.0, 5.0, "filling the file")]
        await console.feed(pilot, begun)

        assert "no samples yet" in starting
        assert all(words in console.says("#standing") for words in ("no samples yet", "filling the file"))


@pytest.mark.parametrize("same_run", [True, False])
async def test_every_step_of_a_probe_can_be_looked_at_and_is_counted_in_its_run(
    console: Console, *, same_run: bool
) -> None:
    async with console.shown() as pilot:
        start, *figures = records()[3:]
        assert isinstance(start, StepStartRecord)
        step = msgspec.structs.replace(start.step, id="null.second", title="Second")
        again = [msgspec.structs.replace(figure, step=step.id) for figure in figures[:1]]
        plan = PlanRecord(3, Plan("custom", (start.step, step) if same_run else (step,)))
        await console.measure(pilot, [*records(), plan, msgspec.structs.replace(start, step=step), *again])
        last = console.says("#standing")
        await pressed(pilot, ">")
        first = console.says("#standing")

        assert last != first
        assert [f"step {number} of 2" in said for number, said in ((2, last), (1, first))] == [same_run, same_run]


@pytest.mark.parametrize(
    ("registry", "cursor"),
    [(load_registry().builtin_only(), "null"), (Registry({}), "acme.scan")],
    ids=["built-in probes only", "no probes"],
)
async def test_steps_of_a_probe_that_is_not_installed_have_a_line_and_a_chart(
    console: Console, registry: Registry, cursor: str
) -> None:
    declared = Declaration("memory", title="Scan rate")
    scan = [
        msgspec.structs.replace(record, distribution="acme 1.2", declaration=declared)
        if isinstance(record, StepStartRecord)
        else record
        for record in records("acme.scan")
    ]
    console.app.registry = registry
    async with console.shown() as pilot:
        await pilot.press("3", "end")
        console.save([*scan, *ended("acme.scan")[:1], *records("old.scan")[3:], *ended("old.scan")])
        await console.feed(pilot)
        assert console.entry == cursor
        lines = console.entries()
        await console.choose(pilot, "acme.scan")
        drawn = console.chart
        title = str(console.app.screen.query_one("#views").border_subtitle)
        await pressed(pilot, "r")

    assert lines.keys() - registry.probes.keys() == {"acme.scan", "old.scan"}
    assert lines["acme.scan"].startswith("● Scan rate")
    assert lines["old.scan"].startswith("● old.scan")
    assert isinstance(drawn, LineChart)
    assert title == "of 2026-01-01"
    assert console.told == ["not installed, or it cannot be used: acme 1.2; see: sizeup probe list"]
    assert console.runner.arguments == []


async def test_what_was_measured_last_on_this_machine_is_shown_until_it_is_measured_again(console: Console) -> None:
    store.directory().mkdir(parents=True)
    stored(store.directory(), "before", day=9, host="db01")
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "null")
        await settled(pilot)
        await console.app.workers.wait_for_complete()
        await settled(pilot)
        before = console.entries("#probes")["null"], console.band, type(console.chart)
        await pressed(pilot, "r")
        await console.feed(pilot, records()[:4])
        after = console.entries("#probes")["null"]

    assert "65 ns" in before[0]
    assert "last session 2026-01-09" in before[1]
    assert before[2] is LineChart
    assert "running" in after


@pytest.mark.parametrize(("last", "said"), [(True, "last session {}"), (False, "of {}")])
async def test_the_chart_names_its_session_and_the_numbers_that_it_was_measured_with(
    console: Console, *, last: bool, said: str
) -> None:
    now = time.strftime("%Y-%m-%dT%H:%M:00Z", time.gmtime())
    header, found, *_ = records("io.direct")
    step = Step("io.direct", "io.direct", "Random read", {"depth": 32, "block": 8192, "preset": "custom"}, 10.0, 60.0)
    rest = [msgspec.structs.replace(one, step=step) for one in records("io.direct") if isinstance(one, StepStartRecord)]
    other = records("io.direct")[4:]
    lines = [msgspec.structs.replace(header, started=now, id="n"), found, *rest, *other, *ended("io.direct")]
    if last:
        store.directory().mkdir(parents=True)
        PlayedRunner(store.directory() / f"n{store.SUFFIX}").write(lines)
    else:
        console.save(lines)
    async with console.shown() as pilot:
        await console.choose(pilot, "io.direct")
        await settled(pilot)
        title = str(console.app.screen.query_one("#views").border_subtitle)

    assert title == f"{said.format(now[11:16])}, depth 32, block 8KiB"


async def test_of_the_tabs_only_the_one_that_is_shown_is_bold(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await console.measure(pilot)
        views = console.app.screen.query_one("#views")

        assert not views.styles.border_title_style.bold


async def test_tabs_that_do_not_fit_beside_the_figures_are_left_out_whole(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe_page, "tabs", lambda entries, _: (*(entry.name for entry in entries), *NAMES))
    async with console.shown(120, 40) as pilot:
        await console.measure(pilot, [*records(), *ended()])
        await settled(pilot)
        (shown,) = [line for line in console.text.splitlines() if "▌Latency" in line]

    assert "  >  " in shown
    assert "…" not in shown


async def test_a_run_that_is_followed_and_a_saved_session_offer_no_key_that_measures(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    following = NextStep("Measure again.", "r", "measures")
    console.save(records())
    console.app.measures = False
    async with console.shown(120, 40) as pilot:
        with monkeypatch.context() as patch:
            patch.setattr(Runs, "going_on", True)
            await console.choose(pilot, "clock.cost")
            waits = console.band
        failed = [OutcomeRecord(200, "null", Outcome(Status.FAILED, "the device was reset")), EndRecord(201, "x")]
        await console.feed(pilot, failed)
        await console.choose(pilot, "null")
        band = console.app.screen.query_one(BandView).band

        assert "NOT HERE" not in waits
        assert waits.startswith("NOT PLANNED Clock read cost is not part of the run that is shown.")
        assert band is not None
        assert following.key not in [step.key for step in band.steps]
