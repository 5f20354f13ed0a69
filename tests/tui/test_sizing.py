"""The Sizing mode by keys and content."""

from __future__ import annotations

from pathlib import Path

from consoles import Console, PlayedRunner, ended, records
from sizeup.model.plan import Better, Plan, Series, Step
from sizeup.model.sample import Estimate
from sizeup.session.records import EstimateRecord, PlanRecord, Record, StepStartRecord
from sizeup.tui.widgets.lists import KeyList


def measured_io(*, cached: bool) -> list[Record]:
    """A finished session with one rate of direct I/O; its verdict says that it may be a cache's."""
    step = Step("io.direct.scan", "io.direct", "Direct I/O", {}, 1.0, 2.0)
    series = Series("rate", "Throughput", "bytes/s", Better.HIGHER, "outstanding", "1", "Requests out")
    at = {"workload": "dss-scan", "outstanding": 4}
    doubt = "physical: 9 GB/s is more than the way carries: cache? Kept out of sizing"
    estimates = [Estimate("rate", at, 9e9)]
    if cached:
        verdict = {**at, "part": "physical"}
        estimates.append(Estimate("honest", verdict, 0.5, doubts=(doubt,), extra={"sizing": "left out"}))
    return [
        *records()[:2],
        PlanRecord(2, Plan("custom", (step,))),
        StepStartRecord(3, step, "sizeup 0", (series,), "curve"),
        *(EstimateRecord(4, step.id, estimate) for estimate in estimates),
        *ended(step.id),
    ]


def console_on(tmp_path: Path, lines: list[Record]) -> Console:
    console = Console(tmp_path)
    PlayedRunner(console.runner.path).write(lines)
    console.runs.follow()
    return console


async def test_overview_and_sizing_take_the_same_measured_figure(tmp_path: Path) -> None:
    console = console_on(tmp_path, measured_io(cached=False))
    async with console.shown(120, 40) as pilot:
        overview = console.text
        await pilot.press("4")
        await pilot.pause()

        for shown in (overview, console.text):
            assert "The paths carry 9,000 MB/s; the limiter is storage" in shown


async def test_a_figure_that_is_not_taken_is_told_with_its_reason_and_what_to_do(tmp_path: Path) -> None:
    console = console_on(tmp_path, measured_io(cached=True))
    async with console.shown(120, 40) as pilot:
        overview = " ".join(console.text.split())
        await pilot.press("4", "tab", *["down"] * 11)
        await pilot.pause()
        assert console.app.screen.query_one("#answers", KeyList).highlighted_option is not None
        sizing = console.text

        assert "not taken: see Sizing" in overview
        assert "measure with the probe" not in overview + sizing
        assert "9,000 MB/s was measured and is not taken, as it may come from" in sizing
        assert "run io.direct with a size" in sizing
        assert "! not taken: 9,000 MB/s of io.direct.scan rate at" in sizing
