"""The Summary screen by keys and content: what it leaves out where room is short, and what it offers."""

import fcntl
import gc
import os
import re
import warnings
from pathlib import Path

import pytest
from msgspec.structs import replace

from consoles import Console, MakeConsole, ended, machine, pressed, records, settled, until
from played_runs import PlayedRunner
from sizeup.charts.chart import LineChart
from sizeup.model.finding import Finding, Severity
from sizeup.model.machine import OsSettings, Platform
from sizeup.model.sample import Status
from sizeup.quantity import Origin
from sizeup.session.records import AdviceRecord, EndRecord
from sizeup.session.store import directory
from sizeup.sizing.advise import described, size
from sizeup.sizing.keys import KEYS
from sizeup.tui.actions import ACTIONS, first_key
from sizeup.tui.console import MODES
from sizeup.tui.options import Options
from sizeup.tui.runs import LiveSource
from sizeup.tui.screens.summary import SummaryScreen
from sizeup.tui.widgets.chart import ChartView
from sizeup.tui.widgets.lists import KeyList
from tui.sizing_inputs import CPU_DEMAND, MEASURED

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


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40), (200, 60)])
async def test_findings_are_all_listed_beside_the_rows_that_stay_in_view(
    make_console: MakeConsole, columns: int, rows: int
) -> None:
    console = make_console(machine(findings=FINDINGS))
    async with console.shown(columns, rows):
        assert _failing(console.entries("#findings")) == 12
        assert all(title in console.text for title in ("Storage", "CPU", "Memory", "Network", "Clock"))


async def test_a_finding_says_what_to_do_in_its_second_line(make_console: MakeConsole) -> None:
    console = make_console(machine(findings=FINDINGS))
    async with console.shown(120, 40):
        first = next(iter(console.entries("#findings").values()))

    assert first == "FAIL Disk 0 is failing Replace it."


async def test_as_many_findings_are_whole_as_there_are_rows_for(make_console: MakeConsole) -> None:
    words = " ".join(f"word{number}" for number in range(12))
    many = [Finding(f"f{number}", Severity.WARNING, words, (), "c", f"Mend {words}.") for number in range(6)]
    console = make_console(machine(findings=tuple(many)))
    async with console.shown(120, 40) as pilot:
        await settled(pilot)
        lines = [str(option.prompt) for option in console.app.screen.query_one("#findings", KeyList).options]

        assert " ".join(lines[0].split()).endswith(f"{words} Mend {words}.")
        *fact, action = lines[-1].splitlines()
        assert " ".join(" ".join(fact).split()).endswith(words)
        assert action.rstrip("….").split()[-1] in words.split(), "it is cut between words"
        assert words not in action
        assert console.app.screen.query_one("#findings").max_scroll_y == 0


async def test_the_facts_of_all_warnings_come_before_what_to_do_about_the_first(make_console: MakeConsole) -> None:
    words, action = " ".join(f"word{number}" for number in range(9)), " ".join(["mend"] * 90)
    many = [Finding(f"f{number}", Severity.WARNING, words, (), "c", action) for number in range(4)]
    console = make_console(machine(findings=tuple(many)))
    async with console.shown(120, 40) as pilot:
        await settled(pilot)
        lines = [str(option.prompt) for option in console.app.screen.query_one("#findings", KeyList).options]

    assert all(words in " ".join(line.split()) for line in lines)
    assert lines[-1].count("mend") < 90


async def test_notes_give_way_to_what_is_to_be_done_until_they_are_asked_for(make_console: MakeConsole) -> None:
    action = " ".join(["mend"] * 60)
    grave = Finding("grave", Severity.WARNING, "disk 1 is old", (), "c", f"{action}.")
    notes = [Finding(f"n{number}", Severity.INFO, f"note {number}", (), "c", "") for number in range(30)]
    console = make_console(machine(findings=(grave, *notes)))
    async with console.shown(120, 40, keys=("tab",)) as pilot:
        await settled(pilot)
        folded = list(console.entries("#findings").values())
        await pressed(pilot, "down", "enter")
        listed = list(console.entries("#findings").values())

    assert len(folded) == 2
    assert folded[0].count("mend") == 60
    assert "30 notes" in folded[1]
    assert [line for line in listed if "note " in line.lower()] == [f"INFO Note {number}" for number in range(30)]


async def test_the_cursor_that_was_not_moved_goes_to_the_row_that_comes_first_now(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        before = console.entry
        console.app.stated = CPU_DEMAND
        console.app.screen.show_machine()
        await settled(pilot)
        after = console.entry

    assert before != "cpu"
    assert after == "cpu"


async def test_the_cursor_stays_on_its_line_while_figures_come_in_above_it(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("down", "down")
        chosen = console.entry
        await pilot.press("r", "enter")
        await console.feed(pilot, records("memory.latency"))

        assert chosen == "memory"
        assert console.entry == chosen


async def test_the_whole_of_a_long_finding_can_be_read_where_the_screen_is_low(make_console: MakeConsole) -> None:
    console = make_console(machine(findings=FINDINGS[:1]))
    async with console.shown(keys=("tab", "enter")) as pilot:
        await pilot.pause()
        text = console.app.screen.query_one(".text")
        most = text.max_scroll_y
        await pressed(pilot, "pagedown")
        answers = console.app.screen.query_one(KeyList)

        assert most > 0
        assert text.scroll_y == min(most, text.size.height - 1)
        assert "Scroll" in console.keys
        assert answers.region.bottom <= 24


async def test_at_80_columns_nothing_beside_a_dialog_shows_through(make_console: MakeConsole) -> None:
    console = make_console(machine(findings=FINDINGS[:1]))
    async with console.shown(keys=("tab", "enter")) as pilot:
        await pilot.pause()
        rows = console.text.splitlines()

    first = next(y for y, row in enumerate(rows) if row.startswith("╭─ FAIL"))
    assert all(row.startswith("│ ") and len(row) == 80 and row[79] == "│" for row in rows[first + 1 : first + 10])


async def test_a_finding_that_fits_offers_no_key_to_read_on(make_console: MakeConsole) -> None:
    console = make_console(machine(findings=FINDINGS[:1]))
    async with console.shown(120, 40, keys=("tab", "enter")) as pilot:
        await pilot.pause()

        assert console.app.screen.query_one(".text").max_scroll_y == 0
        assert "Scroll" not in console.keys


async def test_a_run_is_canceled_from_the_summary_by_the_key_that_stands_there(console: Console) -> None:
    async with console.shown() as pilot:
        idle = console.keys
        await pilot.press("r", "enter")
        await console.feed(pilot, records("memory.latency"))
        running = console.keys
        await pilot.press("x")
        words = list(console.runner.stdin.words)
        await console.end(pilot, ended("memory.latency"), 130)

        assert set(console.keys) ^ set(idle) == {"Last session", "Compare", "Export"}
    assert ("Measure" in idle, "Cancel" in idle) == (True, False)
    assert ("Measure" in running, "Cancel" in running) == (False, True)
    assert words == ["cancel"]


async def test_a_recording_offers_no_measurement_and_the_status_says_what_it_is(console: Console) -> None:
    console.app.measures = False
    async with console.shown():
        assert console.status == "capture"
        assert "w Enter a workload, or an AWR file" in " ".join(console.text.split())
        assert "Measure" not in console.keys


async def test_without_writing_this_machine_is_not_called_a_recording(make_console: MakeConsole) -> None:
    live_source = LiveSource(lambda changed: None, machine, lambda found: found, dict)  # type: ignore[arg-type, return-value]
    console = make_console(options=Options(readonly=True), live_source=live_source)
    console.app.measures = False
    async with console.shown():
        assert "read-only" in console.app.unmeasured
        assert "recording" not in console.app.unmeasured + console.status


def commands_here(console: Console) -> set[str]:
    """What the commands of the screen that is shown do, without those that lead to another."""
    return {command.name for command in console.app.commands() if command.group == "Summary"}


async def test_the_palette_finds_every_action_of_the_other_screens(console: Console) -> None:
    async with console.shown() as pilot:
        for mode in MODES:
            console.app.action_mode(mode)
            await pilot.pause()
            found = {(command.name, command.key): command for command in console.app.commands()}
            for action in [action for scope in MODES if scope != mode for action in ACTIONS[scope] if action.palette]:
                assert (action.help.removesuffix("."), first_key(action, {})) in found
            found["Show every vendor's licenses", "l"].run()
            await pilot.pause()
            await pilot.press("escape")

            assert console.mode == "sizing"


async def test_the_palette_offers_what_can_be_done_now(console: Console) -> None:
    async with console.shown() as pilot:
        idle = commands_here(console)
        await pilot.press("r", "enter")
        running = commands_here(console)

    changed = [action for action in ACTIONS["summary"] if action.id.endswith((".measure", ".mount", ".cancel"))]
    assert idle ^ running == {action.help.removesuffix(".") for action in changed}
    assert {name for name in idle if name.startswith("Measure everything")}
    assert not {name for name in running if name.startswith("Measure everything")}


async def test_a_saved_session_says_of_what_time_it_is(console: Console) -> None:
    console.save([*records("memory.latency"), *ended("memory.latency")])
    console.app.measures = False
    async with console.shown():
        assert console.app.header().states[-1] == "saved session of 2026-01-01"
        assert "r Measure memory" not in console.text


@pytest.mark.parametrize(("columns", "rows"), [(60, 20), (40, 12), (30, 8)])
async def test_on_a_low_screen_the_statuses_have_the_room(make_console: MakeConsole, columns: int, rows: int) -> None:
    console = make_console(found=machine(findings=FINDINGS))
    console.app.stated = CPU_DEMAND
    async with console.shown(columns, rows):
        first, *others = console.text.splitlines()

    assert any("CPU" in line and "97 %" in line and "WARN" in line for line in others)
    assert "db0" not in first or "db01" in first


@pytest.mark.parametrize(
    ("columns", "rows", "facts"),
    [(80, 24, ()), (120, 40, ("swappiness +60 +│$",)), (200, 60, (r"swappiness +60 +\d+ \(", "Kernel +6.1.0-test"))],
)
async def test_rows_that_the_findings_leave_hold_settings_and_facts(
    make_console: MakeConsole, columns: int, rows: int, facts: tuple[str, ...]
) -> None:
    found = machine(settings=OsSettings(swappiness=60), findings=FINDINGS[-1:])
    console = make_console(replace(found, platform=replace(found.platform, kernel="6.1.0-test")))
    async with console.shown(columns, rows):
        lines = console.text.splitlines()

    assert all(any(re.search(fact, line) for line in lines) for fact in facts)
    assert any("swappiness" in line for line in lines) is bool(facts)


async def test_without_bars_the_health_follows_what_it_is_of(console: Console) -> None:
    async with console.shown(200, 60):
        header = next(line for line in console.text.splitlines() if "Can deliver " in line)

    assert header.index("Health") - header.index("Can deliver") < 50


async def test_the_balance_is_shown_until_something_was_measured_and_then_its_chart(console: Console) -> None:
    async with console.shown(200, 60) as pilot:
        await pilot.pause()
        shown = [[str(widget.id) for widget in console.app.screen.query("#below > *") if widget.display]]
        await pilot.press("r", "enter")
        await console.feed(pilot, MEASURED)
        await pilot.pause()
        shown.append([str(widget.id) for widget in console.app.screen.query("#below > *") if widget.display])

        assert shown == [["side", "balance"], ["side", "proof"]]
        assert [type(view.chart) for view in console.app.screen.query(ChartView) if view.display] == [LineChart]


@pytest.mark.parametrize(("status", "marked"), [(Status.OK, False), (Status.FAILED, True)])
async def test_a_chart_of_figures_that_do_not_count_says_so(console: Console, status: Status, *, marked: bool) -> None:
    console.save([*MEASURED, *ended("io.direct.scan", status)])
    async with console.shown(120, 40):
        (title,) = [str(view.border_title) for view in console.app.screen.query(ChartView) if view.display]

    assert ("Not valid: " in title) is marked


async def test_a_recorded_verdict_leads_and_its_cards_are_worst_first(make_console: MakeConsole) -> None:
    said = {"workload.mb_s": "200", "capacity.mb_s": "1000", "workload.cpu_percent": "97"}
    given = {key: KEYS[key].parse(text, Origin.USER, "--set") for key, text in said.items()}
    console = make_console(machine())
    advice = size(described(machine(), given))
    console.save([*records()[:2], AdviceRecord(300, advice), *ended()[1:]])
    console.app.measures = False
    async with console.shown(80, 24):
        lines = [line for name, line in console.entries().items() if name in ("cpu", "storage")]
        verdict = console.says("#band")

    assert "WARN Next Provide at least 12 cores (limit 70 %)." in verdict
    assert verdict.startswith("CPU: 7.76 cores of 8 cores")
    assert [" ".join(word for word in line.split() if not set(word) & set("▄│")) for line in lines] == [
        "CPU 7.76 cores 97 % WARN",
        "Storage 200 MB/s 20 % ● PASS",
    ]


async def test_enter_on_a_card_shows_its_facts_and_its_working_and_leads_on(console: Console) -> None:
    console.app.stated = CPU_DEMAND
    async with console.shown(80, 24, keys=("g", "enter")) as pilot:
        shown, answers = console.says(".text Static"), console.answers
        await pilot.press("enter")
        await until(pilot, lambda: console.mode == "sizing")

    assert all(text in shown for text in ("CPU: 7.76 cores ", "Processor Test CPU", "8 cores x 97 % = 7.76 cores"))
    assert answers == ["sizing", "topology"]


async def test_a_measured_card_leads_to_its_charts(console: Console) -> None:
    async with console.shown(80, 24) as pilot:
        await pilot.press("r", "enter")
        await console.feed(pilot, MEASURED)
        await console.end(pilot, ended("io.direct.scan"))
        card = console.entries()["storage"]
        await pressed(pilot, "g", "enter")
        answers = console.answers
        await pilot.press("enter")
        await until(pilot, lambda: console.mode == "measure")

    assert "9 GB/s" in card
    assert answers[0] == "measure"


async def test_the_last_session_is_offered_and_opened(console: Console, tmp_path: Path) -> None:
    store = directory()
    store.mkdir(parents=True)
    PlayedRunner(store / "last.sizeup.jsonl").write([*records(), *ended()])
    async with console.shown(120, 40) as pilot:
        console.app._find_offered()
        await pilot.press("o")
        await until(pilot, lambda: not console.app.measures)
        shown = console.app.runs.path

    assert shown == str(store / "last.sizeup.jsonl")


async def test_a_run_that_another_console_left_going_is_no_idle_machine_until_it_ends(console: Console) -> None:
    store = directory()
    store.mkdir(parents=True)
    path = store / "last.sizeup.jsonl"
    PlayedRunner(path).write(records())
    with os.fdopen(os.open(path, os.O_RDONLY), "rb") as written:
        fcntl.flock(written, fcntl.LOCK_EX)
        async with console.shown(120, 40) as pilot:
            await until(pilot, lambda: "in progress" in console.status)
            during, notice = console.app.header().states[0], console.says("#notice")
            fcntl.flock(written, fcntl.LOCK_UN)
            console.app._show_offered()
            after, notice_after = console.app.header().states[0], console.says("#notice")

    assert notice == "Run of 2026-01-01 00:00 UTC in progress; o or sizeup session follow shows it"
    assert notice_after == "Run of 2026-01-01 00:00 UTC was interrupted; R runs its missing steps"
    assert during == "measuring in the background"
    assert after == "idle"


@pytest.mark.parametrize(
    ("status", "lost_ns", "notice"),
    [
        ("complete", 5, "finished without its terminal; o opens it"),
        ("canceled", 0, "was canceled without its terminal; o opens it"),
        ("complete", None, ""),
    ],
)
async def test_a_run_that_ended_without_its_terminal_is_spoken_of_above_all_until_another_one_runs(
    console: Console, status: str, lost_ns: int | None, notice: str
) -> None:
    store = directory()
    store.mkdir(parents=True)
    end = EndRecord(2_000_000_000, status, terminal_lost_ns=lost_ns)
    PlayedRunner(store / "last.sizeup.jsonl").write([*records(), *ended()[:-1], end])
    async with console.shown(80, 24) as pilot:
        await pilot.pause()
        line = console.app.screen.query_one("#notice")
        shown, rows = line.display, console.app.screen.query_one("#body").size.height
        said = console.says("#notice")
        await pilot.press("r", "enter")
        await console.feed(pilot, MEASURED)

        assert shown == bool(notice)
        assert said == (f"Run of 2026-01-01 00:00 UTC {notice}" if notice else "")
        assert rows == (16 if notice else 17)
        assert not line.display


async def test_the_header_names_a_demand_of_the_cpu_where_there_is_none_of_storage(console: Console) -> None:
    console.app.stated = CPU_DEMAND
    async with console.shown():
        assert console.app.header().states[0] == "demand 7.76 cores"


async def test_a_session_whose_machine_has_no_name_bears_that_of_its_host(make_console: MakeConsole) -> None:
    console = make_console(machine(platform=Platform()))
    console.save([*records("memory.latency"), *ended("memory.latency")])
    async with console.shown():
        assert "db01" in console.says("#header")
        assert "recording" not in console.status


async def test_without_color_the_chosen_command_is_underlined(
    make_console: MakeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    console = make_console(machine(findings=FINDINGS))
    async with console.shown() as pilot:
        findings = console.app.screen.query_one("#findings", KeyList).render_line(0)
        await pressed(pilot, "colon")
        listed = console.app.screen.query_one(KeyList)
        rows = [listed.render_line(y) for y in (1, 2)]

    chosen, other = ([segment.style for segment in row if segment.text.strip()] for row in rows)
    assert all(style is not None and style.underline for style in chosen)
    assert not any(style is not None and style.underline for style in other)
    assert not any(part.style is not None and part.style.underline for part in findings), "the rows have the cursor"


async def test_no_option_of_the_command_line_stands_on_the_first_screen(make_console: MakeConsole) -> None:
    finding = Finding(
        "memory.sum", Severity.CRITICAL, "t", (), "c", "Then: sizeup size --set machine.memory_gib=N.", ("memory",)
    )
    console = make_console(machine(findings=(finding,)))
    console.app.stated = {"workload.iops": KEYS["workload.iops"].parse("20000", Origin.USER, "what-if")}
    async with console.shown(120, 40) as pilot:
        seen = [console.text]
        for _ in range(9):
            await pressed(pilot, "enter")
            seen.append(console.text)
            await pilot.press("escape", "down")
    words = " ".join(" ".join(seen).split())

    assert "--set" not in words
    assert "enter Storage throughput (4, then a)" in words
    assert "enter Memory (4, then a)" in words


async def test_at_80_columns_the_verdict_is_one_line(make_console: MakeConsole) -> None:
    console = make_console()
    console.app.stated = {"workload.iops": KEYS["workload.iops"].parse("20000", Origin.USER, "what-if")}
    async with console.shown(80, 24):
        band = console.app.screen.query_one("#band").region
        assert band.height == 5
        assert "Status" in console.text.splitlines()[band.bottom]


async def test_before_anything_was_measured_the_band_says_what_to_do(make_console: MakeConsole) -> None:
    console = make_console(found=machine())
    async with console.shown(120, 40) as pilot:
        await pilot.pause()
        band, shown = console.says("#band"), console.text

    assert "NO WORKLOAD" in band
    assert "Next w Enter a workload, or an AWR file" in band
    assert "or r Measure memory, the clock and a disk" in band
    assert "Is it balanced?" in shown
    assert "CPU can use" in shown


async def test_what_changed_is_read_once_where_it_is_asked_for_twice(console: Console) -> None:
    async with console.shown(120, 40, keys="1") as pilot:
        screen = console.app.screen
        assert isinstance(screen, SummaryScreen)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            screen._start_reading()
            screen._start_reading()  # cancels the first before its first step
            await settled(pilot)
            gc.collect()

    assert [str(one.message) for one in told] == []
