"""The overview by keys and content: what it leaves out where room is short, and what it offers."""

from __future__ import annotations

import pytest
from textual.command import CommandList

from consoles import Console, MakeConsole, ended, machine, records, until
from sizeup.charts.chart import LineChart
from sizeup.model.finding import Finding, Severity
from sizeup.model.platform import Platform
from sizeup.model.sample import Estimate, Status
from sizeup.quantity import Origin
from sizeup.session.records import AdviceRecord, EstimateRecord
from sizeup.sizing.advise import described, size
from sizeup.sizing.keys import KEYS
from sizeup.tui.actions import ACTIONS
from sizeup.tui.live_source import LiveSource
from sizeup.tui.options import Options
from sizeup.tui.widgets.lists import KeyList

FINDINGS = tuple(
    Finding(
        f"f{number}",
        Severity.CRITICAL if number < 2 else Severity.WARNING,
        f"disk {number} is failing",
        tuple(f"evidence {line}" for line in range(12)),
        "It will be lost.",
        "Replace it.",
        command=f"smartctl -a /dev/sd{number}",
    )
    for number in range(12)
)


def _failing(entries: dict[str, str]) -> int:
    return sum("is failing" in line for line in entries.values())


async def test_findings_are_folded_so_that_the_screen_still_says_what_the_machine_should_carry(
    make_console: MakeConsole,
) -> None:
    console = make_console(machine(findings=FINDINGS))
    async with console.shown() as pilot:
        folded, seen = console.entries(), console.text
        count = _failing(folded)
        await pilot.press(*["down"] * (count + 1))
        await pilot.press("enter")
        await pilot.pause()
        unfolded = console.entries()
        await pilot.press("G", "g")
        await pilot.press(*["down"] * 13)
        await pilot.press("enter")
        await pilot.pause()
        again = console.entries()

    assert 0 < count < 12
    assert str(12 - count) in folded["rest Findings"]
    assert "No verdict yet: no workload. Press Enter to type its IOPS or MB/s" in seen
    assert "$630,800" in seen  # the last line
    assert (_failing(unfolded), _failing(again)) == (12, count)


async def test_with_room_for_all_no_finding_is_folded(make_console: MakeConsole) -> None:
    console = make_console(machine(findings=FINDINGS))
    async with console.shown(120, 40):
        assert _failing(console.entries()) == 12
        assert "rest Findings" not in console.entries()


async def test_the_cursor_stays_on_its_line_while_figures_come_in_above_it(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("down")
        chosen = console.app.screen._detail_key  # type: ignore[attr-defined]
        await pilot.press("r")
        await console.feed(pilot, records("memory.latency"))

        assert chosen == "io.demand.headline"
        assert console.app.screen._detail_key == chosen  # type: ignore[attr-defined]


async def test_the_whole_of_a_long_finding_can_be_read_where_the_screen_is_low(make_console: MakeConsole) -> None:
    console = make_console(machine(findings=FINDINGS[:1]))
    async with console.shown() as pilot:
        await pilot.press("down", "enter")
        await pilot.pause()
        await pilot.pause()
        text, box = console.app.screen.query_one(".text"), console.app.screen.query_one(".dialog")
        most = text.max_scroll_y
        await pilot.press("pagedown")
        await pilot.pause()
        answers = console.app.screen.query_one(KeyList)

        assert most > 0
        assert text.scroll_y == min(most, text.size.height - 1)
        assert "PgDn" in str(box.border_subtitle)
        assert answers.region.bottom <= 24


async def test_at_80_columns_nothing_beside_a_dialog_shows_through(make_console: MakeConsole) -> None:
    console = make_console(machine(findings=FINDINGS[:1]))
    async with console.shown() as pilot:
        await pilot.press("down", "enter")
        await pilot.pause()
        await pilot.pause()
        rows = console.text.splitlines()

    first = next(y for y, row in enumerate(rows) if row.startswith("╭─ ! critical"))
    assert all(row.startswith("│ ") and len(row) == 80 and row[79] == "│" for row in rows[first + 1 : first + 10])


async def test_a_finding_that_fits_offers_no_key_to_read_on(make_console: MakeConsole) -> None:
    console = make_console(machine(findings=FINDINGS[:1]))
    async with console.shown(120, 40) as pilot:
        await pilot.press("down", "enter")
        await pilot.pause()
        await pilot.pause()

        assert console.app.screen.query_one(".text").max_scroll_y == 0
        assert "PgDn" not in str(console.app.screen.query_one(".dialog").border_subtitle)


async def test_a_run_is_canceled_from_the_overview_by_the_key_that_stands_there(console: Console) -> None:
    async with console.shown() as pilot:
        idle = console.keys
        await pilot.press("r")
        await console.feed(pilot, records("memory.latency"))
        running = console.keys
        await pilot.press("x")
        words = list(console.runner.stdin.words)
        await console.end(pilot, ended("memory.latency"), 130)

        assert console.keys == idle
    assert ("Measure" in idle, "Cancel" in idle) == (True, False)
    assert ("Measure" in running, "Cancel" in running) == (False, True)
    assert words == ["cancel"]


async def test_a_recording_offers_no_measurement_and_the_status_says_what_it_is(console: Console) -> None:
    console.app.measures = False
    async with console.shown():
        assert "idle; capture" in console.status
        assert "no measurements yet" not in console.status
        assert "Measure" not in console.keys


async def test_without_writing_this_machine_is_not_called_a_recording(make_console: MakeConsole) -> None:
    live_source = LiveSource(lambda changed: None, machine, lambda found: found, dict)  # type: ignore[arg-type, return-value]
    console = make_console(options=Options(readonly=True), live_source=live_source)
    console.app.measures = False
    async with console.shown():
        assert "read-only" in console.app.unmeasured
        assert "recording" not in console.app.unmeasured + console.status


async def test_the_palette_names_the_key_of_each_action(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("colon", "m", "e", "a")
        listed = console.app.screen.query_one(CommandList)
        await until(pilot, lambda: listed.option_count == 1)

        assert "Key: r" in str(listed.options[0].prompt)


async def test_the_palette_offers_what_can_be_done_now(console: Console) -> None:
    async with console.shown() as pilot:
        idle = {command.help for command in console.app.get_system_commands(console.app.screen)}
        await pilot.press("r")
        running = {command.help for command in console.app.get_system_commands(console.app.screen)}

    offered = {help_.partition(" Key:")[0] for help_ in idle ^ running}
    assert offered == {action.help for action in ACTIONS["overview"] if action.id.endswith((".measure", ".cancel"))}
    assert any("Key: r" in help_ for help_ in idle)
    assert not any("Key: r" in help_ for help_ in running)


async def test_a_saved_session_says_of_what_time_it_is(console: Console) -> None:
    console.save([*records("memory.latency"), *ended("memory.latency")])
    console.app.measures = False
    async with console.shown():
        assert str(console.app.screen.query_one("#left").border_title) == "db01, as of 2026-01-01 00:00 UTC"
        assert "saved session" in console.status
        assert not any("press 3" in line for line in console.entries().values())


async def test_even_five_rows_say_what_the_machine_is(console: Console) -> None:
    async with console.shown(30, 5) as pilot:
        await pilot.pause()

        assert "2 sockets, 8 cores" in console.text


@pytest.mark.parametrize(("columns", "rows"), [(60, 20), (40, 12)])
async def test_on_a_low_screen_the_lines_have_the_room_and_no_name_is_cut(
    console: Console, columns: int, rows: int
) -> None:
    async with console.shown(columns, rows):
        first, *others = console.text.splitlines()

    assert "I/O demand and capacity" not in "".join(others)
    assert "Findings" in "".join(others)
    assert "db0" not in first or "db01" in first


async def test_rows_to_spare_show_the_map_until_something_was_measured_and_then_its_chart(console: Console) -> None:
    async with console.shown(200, 60) as pilot:
        await pilot.pause()
        shown = [[bool(widget.display) for widget in console.app.screen.query("#map, #picture")]]
        await pilot.press("r")
        await console.feed(pilot, records("memory.latency"))
        await pilot.pause()
        shown.append([bool(widget.display) for widget in console.app.screen.query("#map, #picture")])

        assert shown == [[True, False], [False, True]]
        assert isinstance(console.chart, LineChart)


async def test_without_a_workload_enter_leads_to_the_input_to_type(console: Console) -> None:
    async with console.shown(80, 24) as pilot:
        entries = console.entries()
        listed = console.app.screen.query_one(KeyList)
        listed.highlighted = listed.get_option_index("io.demand.headline")
        await pilot.press("enter")
        await until(pilot, lambda: console.mode == "sizing")
        await pilot.pause()

        assert [name for name in entries if name.startswith(("verdict.", "io."))] == [
            "io.demand.headline",
            "io.capacity",
        ]
        assert console.app.focused is not None
        assert (console.app.focused.id, console.entry) == ("inputs", "workload.iops")


async def test_a_recorded_verdict_leads_the_advice_and_takes_the_place_of_demand_and_capacity(
    make_console: MakeConsole,
) -> None:
    said = {"workload.mb_s": "200", "capacity.mb_s": "1000", "workload.cpu_percent": "97"}
    given = {key: KEYS[key].parse(text, Origin.USER, "--set") for key, text in said.items()}
    console = make_console(machine())
    advice = size(described(machine(), given))
    console.save([*records()[:2], AdviceRecord(300, advice), *ended()[1:]])
    console.app.measures = False
    async with console.shown(80, 24):
        lines = [line for name, line in console.entries().items() if name.startswith(("verdict.", "io."))]

    assert lines == [
        "WARN CPU: 7.76 cores demand, 8 cores capacity (97%)",
        "PASS Storage: 200 MB/s demand, 1,000 MB/s capacity (20%, bottleneck: storage)",
    ]


async def test_behind_a_figure_stand_its_ends_and_behind_an_answer_its_working(console: Console) -> None:
    console.save([*records("memory.latency"), *ended("memory.latency")])
    async with console.shown(120, 40) as pilot:
        await pilot.press("down")
        await pilot.pause()
        pane = console.app.screen.query_one("#detail-pane")
        figure, ends = str(pane.border_title), console.says("#detail")
        await pilot.press("down", "down", "down")
        await pilot.pause()

        assert (figure, str(pane.border_title)) == ("Measured", "Working")
        assert "1.02 ns at 16 KiB" in ends
        assert "no workload is given" in console.says("#detail")


@pytest.mark.parametrize(("power", "told"), [(26, True), (14, False)])
async def test_a_figure_that_did_not_converge_says_so_in_its_line(console: Console, power: int, told: bool) -> None:
    moving = Estimate("latency", {"working_set_bytes": 1 << power}, 65.0, converged=False)
    late = [EstimateRecord(150, "memory.latency", moving), *ended("memory.latency", Status.NOT_CONVERGED)]
    console.save([*records("memory.latency"), *late])
    async with console.shown():
        (line,) = [line for name, line in console.entries().items() if name.startswith("memory.latency")]
        assert "65 ns at 64 MiB" in line
        assert ("not converged" in line) is told


async def test_a_session_whose_machine_has_no_name_bears_that_of_its_host(make_console: MakeConsole) -> None:
    console = make_console(machine(platform=Platform()))
    console.save([*records("memory.latency"), *ended("memory.latency")])
    async with console.shown():
        assert "db01" in console.says("#header")
        assert "recording" not in console.status


async def test_without_color_the_chosen_action_of_the_palette_is_underlined(
    make_console: MakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    console = make_console()
    async with console.shown() as pilot:
        await pilot.press("colon")
        listed = console.app.screen.query_one(CommandList)
        await until(pilot, lambda: listed.option_count > 1 and listed.highlighted is not None)
        await pilot.pause()
        rows = [listed.render_line(y) for y in (0, 2)]

    chosen, other = ([segment.style for segment in row if segment.text.strip()] for row in rows)
    assert all(style is not None and style.underline for style in chosen)
    assert not any(style is not None and style.underline for style in other)
