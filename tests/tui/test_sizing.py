"""The answers of the Sizing mode: verdicts, their working, and what moves them."""

import pytest
from msgspec.structs import replace
from textual.widgets import Static

from consoles import Console, MakeConsole, pressed, settled
from sizeup.charts.chart import BarChart
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.keys import KEYS
from sizeup.tui.actions import footer
from sizeup.tui.options import Options
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.screens.sizing import AnswerTable
from sizeup.tui.screens.sizing_state import SizingState
from sizeup.tui.widgets.lines import MOST_KEYS
from tui.sizing_inputs import choose_input, measured_io, set_input


async def test_summary_and_sizing_take_the_same_measured_figure(console: Console) -> None:
    console.save(measured_io(cached=False))
    async with console.shown(120, 40) as pilot:
        card = console.entries()["storage"]
        await pressed(pilot, "4")

        assert "9 GB/s" in card
        assert console.app.screen.query_one(AnswerTable).choose("io.capacity")
        await pilot.pause()
        row, working = console.entries("#answers")["io.capacity"], console.says("#working")

        assert all(words in f"{row} {working}" for words in ("9,000 MB/s", "sda", "measured"))


async def test_a_figure_of_a_cache_is_told_with_its_reason_and_what_to_do(console: Console) -> None:
    console.save(measured_io(cached=True))
    async with console.shown(120, 40) as pilot:
        card = console.entries()["storage"]
        await pressed(pilot, "enter")
        why = console.says(".text Static")
        await pressed(pilot, "escape", "4")
        answers = console.app.screen.query_one(AnswerTable)
        assert answers.choose("io.capacity")
        await pilot.pause()
        sizing = " ".join((*console.entries("#answers").values(), console.says("#working")))

        assert "9 GB/s, uncertain" in card
        assert "it may come from a cache" in why
        assert "measure with" not in why + sizing
        assert "! nothing of it is certain, because the array or controller may hold a new file" in " ".join(
            sizing.split()
        )


async def test_what_is_typed_in_sizing_moves_the_verdict_of_the_summary(console: Console) -> None:
    async with console.shown(120, 40, keys="4") as pilot:
        await pressed(pilot, "a", *"workload.cpu_percent", "enter", *"97", "enter")
        await pressed(pilot, "1")
        verdict, card = console.says("#band"), console.entries()["cpu"]
        await pressed(pilot, "4", "backspace", "1")

        assert verdict.startswith("CPU reaches 97 %: 7.76 cores of 8 cores today. WARN")
        assert card.endswith("97 % WARN")
        assert "NO WORKLOAD" in console.says("#band")


async def test_five_keys_change_what_is_assumed_of_growth_and_show_the_verdict(console: Console) -> None:
    async with console.shown(120, 40, keys="4") as pilot:
        await set_input(pilot, "workload.cpu_percent", "60")
        await pressed(pilot, "1")
        before = console.says("#band")
        await pressed(pilot, *"4p+j+")

        assert "60 %" in before
        assert "63 % in year 1" in console.text
        assert "1 years" not in console.text


async def test_a_demand_without_a_capacity_has_no_verdict_and_says_why(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("4")
        await set_input(pilot, "workload.iops", "20000")
        name, line = next(iter(console.entries("#answers").items()))

        assert name == "verdict.storage"
        assert line.startswith("new Storage NO VERDICT assumed: ")
        assert "Storage: 163.8 MB/s " in console.says("#working")


async def test_verdicts_come_first_and_the_worst_of_them_decides(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("4")
        await set_input(pilot, "capacity.mb_s", "1000")
        await set_input(pilot, "workload.mb_s", "200")
        await set_input(pilot, "workload.cpu_percent", "97")
        lines = [*console.entries("#answers").items()][:3]

        assert [name for name, _ in lines] == ["verdict.cpu", "verdict.storage", "io.demand.measured"]
        assert "CPU WARN 97 %" in lines[0][1]
        assert "Storage PASS 20 %" in lines[1][1]


async def test_what_moves_an_answer_follows_the_cursor_also_to_one_without_a_figure(console: Console) -> None:
    async with console.shown(80, 24) as pilot:
        await pilot.press("4")
        await set_input(pilot, "workload.iops", "20000")
        await pressed(pilot, "v", "v")
        answers = console.app.screen.query_one(AnswerTable)
        assert answers.choose("io.demand.measured")
        await pilot.pause()
        await pilot.pause()
        need = console.chart
        assert answers.choose("io.capacity")
        await pilot.pause()
        await pilot.pause()

        assert isinstance(need, BarChart)
        (iops,) = [bar for bar in need.bars if bar.label.startswith("IOPS wanted ")]
        assert (iops.low, iops.value, iops.high) == pytest.approx((131.072e6, 163.84e6, 196.608e6))
        assert isinstance(console.chart, BarChart)
        assert console.chart.bars == ()
        assert console.chart.caption != need.caption


async def test_with_rows_to_spare_the_working_and_what_moves_it_are_shown_together(console: Console) -> None:
    async with console.shown(200, 60) as pilot:
        await pilot.press("4")
        await set_input(pilot, "workload.iops", "20000")
        await settled(pilot)

        assert "20,000 IOPS x 8 KiB = 163.84 MB/s" in console.says("#working")
        assert all(console.app.screen.query_one(name).region.height > 0 for name in ("#working", "#factors"))
        assert not console.app.screen.query_one("#tornado").display, "of the first answer the same bars twice"
        await pressed(pilot, "v", "v")
        assert isinstance(console.chart, BarChart)


@pytest.mark.parametrize(("columns", "missing"), [(80, ["License"]), (100, [])])
async def test_the_keys_of_the_mode_are_named_as_far_as_they_fit(
    console: Console, columns: int, missing: list[str]
) -> None:
    async with console.shown(columns, 24, keys="4"):
        last, screen = console.text.splitlines()[-1], console.app.screen
        assert isinstance(screen, ModeScreen)
        shown = [label for _, label in footer("sizing", {}, screen.idle_actions())]

        assert [label for label in shown[:MOST_KEYS] if label not in last] == missing


async def test_a_run_that_measures_is_sized_while_the_mode_is_shown(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "null")
        await pressed(pilot, "r", "4")
        before = console.entries("#answers")["io.capacity"]
        await console.feed(pilot, measured_io(cached=False))

        assert "MB/s" not in before
        assert "9,000 MB/s" in console.entries("#answers")["io.capacity"]


async def test_the_cursor_goes_to_what_a_change_does(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pressed(pilot, "4", "a", *"sga.mb", "enter", *"64G", "enter")
        await pilot.pause()

        chosen = console.app.screen.query_one(AnswerTable).chosen
        assert chosen == "verdict.memory"
        assert console.entries("#answers")[chosen].startswith("new Memory PASS 50 %")
        assert "Memory: 64 GiB " in console.says("#working")
        assert "sga.mb = 65,536 MiB" in console.says("#working")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_a_folded_line_is_indented_also_where_a_scroll_bar_takes_its_column(
    console: Console, size: tuple[int, int]
) -> None:
    async with console.shown(*size, keys="4") as pilot:
        await pilot.pause()
        answers = console.app.screen.query_one(AnswerTable)
        for answer in answers.ids:
            assert answers.choose(answer)
            await pilot.pause()
            shown = console.app.screen.query_one("#working", Static)
            rows = [strip.text.rstrip() for strip in shown.render_lines(shown.size.region)]
            assert [row for row in rows[1:] if row and not row.startswith("  ")] == []


@pytest.mark.parametrize("options", [Options(theme="ansi-dark"), Options(theme="ansi-light"), Options(no_color=True)])
async def test_the_cursor_of_the_list_without_the_focus_is_told_without_color(
    make_console: MakeConsole, monkeypatch: pytest.MonkeyPatch, options: Options
) -> None:
    if options.no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    console = make_console(options=options)
    async with console.shown(120, 40, keys="4v") as pilot:
        await pilot.pause()
        answers = console.app.screen.query_one(AnswerTable)

        def looks() -> set[bool | None]:
            line = answers.render_line(answers.cursor_row + 1)  # below the heading
            return {part.style.underline for part in line if part.style is not None and part.text.strip()}

        assert looks() == {True}
        await pressed(pilot, "tab")
        assert looks() != {True}


async def test_what_rests_on_an_input_that_nobody_chose_reads_assumed(console: Console) -> None:
    async with console.shown(200, 60) as pilot:
        await pilot.press("4")
        await set_input(pilot, "workload.mb_s", "200")
        before = console.entries("#answers")["license.units"]
        await set_input(pilot, "license.pack", "sql-server")
        after = console.entries("#answers")["license.units"]

        inputs = console.entries("#inputs")

    assert "assumed: vendor" in before
    assert "assumed: vendor" not in after
    assert inputs["workload.read_percent"].startswith("~ Share of reads 70 %")


async def test_the_verdict_before_a_change_has_all_that_a_file_states(console: Console) -> None:
    """An AWR report has sessions, whose private memory is part of the demand before a change, too."""
    mib = 2.0**20
    file = {"sga.mb": 1024 * mib, "memory.session_mib": 10 * mib}
    stated = {key: Quantity(size, "bytes", Origin.IMPORTED, "awr.txt") for key, size in file.items()}
    stated["memory.sessions"] = Quantity(100, "1", Origin.IMPORTED, "awr.txt")
    async with console.shown(120, 40, keys="4"):
        console.app.stated = {**stated, "machine.memory_gib": Quantity(8 * 2.0**30, "bytes", Origin.USER, "--set")}
        base = SizingState(console.app).base

    assert base is not None
    assert next(card for card in base.cards if card.resource == "memory").demand == "1.977 GiB"  # 1,024 + 1,000 MiB
    assert base.inputs["machine.memory_gib"].origin is Origin.DETECTED


async def test_a_verdict_moves_with_a_step_of_an_input(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("4")
        await set_input(pilot, "workload.mb_s", "200")
        await set_input(pilot, "capacity.mb_s", "1000")
        await pilot.press("1")
        await pressed(pilot, "4")
        before = console.entries("#answers")["verdict.storage"]
        await choose_input(pilot, "workload.mb_s")
        await pressed(pilot, "plus")
        after = console.entries("#answers")["verdict.storage"]

    assert "PASS 20 %" in before
    assert "PASS 21 %" in after


async def test_the_table_has_value_range_basis_and_confidence_by_group(console: Console) -> None:
    async with console.shown(120, 40, keys="4v") as pilot:
        await pilot.pause()
        table = console.app.screen.query_one(AnswerTable)
        columns = [str(column.label) for column in table.ordered_columns]
        headings = [str(key.value) for key in table.rows if str(key.value).startswith("group ")]

    assert columns == ["Answer", "Value", "Range", "Basis", "Confidence"]
    assert headings == ["group Verdict", "group Capacity", "group Licenses"]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_no_figure_of_an_answer_is_cut(console: Console, size: tuple[int, int]) -> None:
    """65,536 MiB and a page for the segment are 32,769 pages of 2,048 KiB."""
    async with console.shown(*size, keys="4") as pilot:
        await set_input(pilot, "sga.mb", "65536")
        await pressed(pilot, "v")
        await pilot.pause()
        row = console.entries("#answers")["memory.memlock"]
        table = console.app.screen.query_one(AnswerTable)
        free = table.size.width - sum(column.get_render_width(table) for column in table.ordered_columns)

    assert " 67,110,912 KiB" in row
    assert free >= 0


async def test_a_column_without_any_text_gives_up_its_width(console: Console) -> None:
    async with console.shown(120, 40, keys="4v") as pilot:
        await pilot.pause()
        table = console.app.screen.query_one(AnswerTable)
        widths = [column.width for column in table.ordered_columns]
        table.show([replace(row, range_="", confidence="") for row in table._answers], {})
        columns = [(str(column.label), column.width) for column in table.ordered_columns]

    assert [name for name, _ in columns] == ["Answer", "Value", "Basis"]
    assert columns[0][1] > widths[0]


async def test_no_option_of_the_command_line_is_shown_where_a_key_does_it(console: Console) -> None:
    async with console.shown(200, 60) as pilot:
        await pilot.press("4")
        await set_input(pilot, "workload.iops", "20000")
        answers, seen = console.app.screen.query_one(AnswerTable), ""
        for answer in answers.ids:
            assert answers.choose(answer)
            await pilot.pause()
            seen += console.says("#working")

    assert "--set" not in seen
    assert "enter Storage throughput (a)" in seen


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40), (200, 60)])
async def test_without_a_workload_the_balance_stands_in_the_place_of_what_would_change_the_answer(
    console: Console, columns: int, rows: int
) -> None:
    async with console.shown(columns, rows, keys="4") as pilot:
        await settled(pilot)
        before = [console.app.screen.query_one(name).display for name in ("#balance", "#factors")]
        console.app.stated = {"workload.iops": KEYS["workload.iops"].parse("20000", Origin.USER, "")}
        console.app._refresh_modes("show_machine")
        await settled(pilot)
        after = [console.app.screen.query_one(name).display for name in ("#balance", "#factors")]

    assert before == [True, False]
    assert after == [False, True]
