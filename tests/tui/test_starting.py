"""A run that was asked for and has not begun: what is shown of it, and what its key does meanwhile."""

from consoles import Console, ended, records


async def test_the_key_that_runs_a_probe_starts_it_once_and_hides_what_failed_before(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await console.measure(pilot, records())
        await console.end(pilot, ended())
        before, listed_before = console.chart, console.entries()["null"]
        await pilot.press("r")
        await console.feed(pilot)
        told = len(console.told)
        starting, listed = console.says("#about"), console.entries()["null"]
        await pilot.press("r")
        await console.feed(pilot)

        assert before is not None
        assert "starting" not in listed_before
        assert "starting" in listed
        assert "Starting: no samples yet." in starting
        assert console.runs.queue == []
        assert console.told[told:] == ["Null probe is starting already"]
