"""The Sizing mode by keys and content."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from consoles import Console, MakeConsole, PlayedRunner, ended, machine, records, until
from declared import declaration_of, series_of
from importers.workload_samples import AWR
from sizeup.charts.chart import BarChart
from sizeup.model.plan import Plan, Step
from sizeup.model.sample import Estimate
from sizeup.session.records import EstimateRecord, PlanRecord, Record, StepStartRecord
from sizeup.tui.actions import ACTIONS
from sizeup.tui.options import Options
from sizeup.tui.screens.dialogs import PageDialog
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.screens.pick import PickDialog
from sizeup.tui.widgets.answers import AnswerTable
from sizeup.tui.widgets.lists import KeyList


def measured_io(*, cached: bool) -> list[Record]:
    """A finished session with two rates of direct I/O; their verdict says that it may be a cache's."""
    step = Step("io.direct.scan", "io.direct", "Direct I/O", {"path": "/dev/sda"}, 1.0, 2.0)
    series = tuple(series_of("io.direct").values())
    at = {"workload": "dss-scan", "queue_depth": 4}
    caveat = "physical: 9 GB/s exceeds the bandwidth of the path: probably a cache; not used for sizing"
    estimates = [Estimate("rate", {**at, "queue_depth": 2}, 8.9e9), Estimate("rate", at, 9e9)]
    if cached:
        verdicts = [{**one.at, "part": "physical"} for one in estimates]
        extra = {"sizing": "left out"}
        estimates += [Estimate("validity", verdict, 0.5, caveats=(caveat,), extra=extra) for verdict in verdicts]
    return [
        *records()[:2],
        PlanRecord(2, Plan("custom", (step,))),
        StepStartRecord(3, step, "sizeup 0", series, "curve", 0, declaration_of("io.direct")),
        *(EstimateRecord(4, step.id, estimate) for estimate in estimates),
        *ended(step.id),
    ]


async def set_input(pilot: Pilot[int], key: str, text: str) -> None:
    """Choose an input of the Sizing mode by its name, and type its value."""
    await pilot.press("a", *key, "enter", *text, "enter")
    await pilot.pause()
    await pilot.pause()


async def test_summary_and_sizing_take_the_same_measured_figure(console: Console) -> None:
    console.save(measured_io(cached=False))
    async with console.shown(120, 40) as pilot:
        card = console.entries()["storage"]
        await pilot.press("4")
        await pilot.pause()

        assert "9 GB/s" in card
        assert console.app.screen.query_one(AnswerTable).choose("io.capacity")
        await pilot.pause()
        row, working = console.entries("#answers")["io.capacity"], console.says("#working")

        assert all(words in f"{row} {working}" for words in ("9,000 MB/s", "sda", "measured"))


async def test_a_figure_that_is_not_taken_is_told_with_its_reason_and_what_to_do(console: Console) -> None:
    console.save(measured_io(cached=True))
    async with console.shown(120, 40) as pilot:
        card = console.entries()["storage"]
        await pilot.press("enter")
        await pilot.pause()
        why = console.says(".text Static")
        await pilot.press("escape", "4")
        await pilot.pause()
        answers = console.app.screen.query_one(AnswerTable)
        assert answers.choose("io.capacity")
        await pilot.pause()
        sizing = " ".join((*console.entries("#answers").values(), console.says("#working")))

        assert "not valid" in card
        assert "it may come from a cache" in why
        assert "measure with" not in why + sizing
        assert "was measured but is not used" in sizing
        assert "times the largest cache known" in " ".join(sizing.split())
        assert "! not used: 9,000 MB/s of io.direct.scan rate at" in sizing


async def test_what_is_typed_in_sizing_moves_the_verdict_of_the_summary(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("w")
        await until(pilot, lambda: console.mode == "sizing")
        await pilot.pause()
        await pilot.press("a", *"workload.cpu_percent", "enter", *"97", "enter")
        await pilot.pause()
        await pilot.press("1")
        await pilot.pause()
        verdict, card = console.says("#verdict"), console.entries()["cpu"]
        await pilot.press("4", "backspace", "1")
        await pilot.pause()

        assert verdict.startswith("WARN CPU: 7.76 cores demand, 8 cores capacity (97%)")
        assert card.endswith("97% – WARN")
        assert "NO VERDICT YET" in console.says("#verdict")


async def test_a_workload_file_gives_the_inputs_and_moves_the_verdict(console: Console, tmp_path: Path) -> None:
    file = tmp_path / "awr.txt"
    file.write_text(AWR)
    async with console.shown(120, 40) as pilot:
        await pilot.press("4", "f", *str(file), "enter")
        await until(pilot, lambda: "workload.iops" in console.entries("#inputs"))
        await until(pilot, lambda: str(file) in console.says("#input-help"))
        helped, listed = console.says("#input-help"), console.entries("#inputs")["workload.iops"]
        await pilot.press("1")
        await pilot.pause()

        assert "imported" in helped
        assert listed.startswith("* ")
        assert "NO VERDICT YET No workload" not in console.says("#verdict")


@pytest.mark.parametrize(
    ("content", "words"), [("Dear diary\n", "expected an AWR or Statspack report"), (None, "there is no such file")]
)
async def test_a_file_that_is_no_workload_is_refused_with_the_reason(
    console: Console, tmp_path: Path, content: str | None, words: str
) -> None:
    file = tmp_path / "diary.txt"
    if content is not None:
        file.write_text(content)
    async with console.shown(120, 40) as pilot:
        await pilot.press("4", "f", *str(file), "enter")
        await until(pilot, lambda: console.says("#input-help").startswith("!"))

        assert words in " ".join(console.says("#input-help").split())
        assert not console.app.stated


async def test_an_input_that_is_not_listed_is_chosen_by_words_and_typed(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("4", "a", *"size of the database", "enter")
        await pilot.pause()
        await pilot.press(*"2T", "enter")
        await pilot.pause()

        assert console.app.focused is not None
        assert console.app.focused.id == "inputs"
        assert console.entries("#inputs")["db.gb"] == "* Database size 2,000 GB"
        assert "db.gb (detected: unknown): size of the database" in console.says("#input-help")
        assert "? array.disks" in console.entries("#answers")
        assert "missing: drives" in console.entries("#answers")["? array.disks"]


async def test_without_a_workload_the_first_line_says_what_to_type_and_enter_goes_there(console: Console) -> None:
    async with console.shown(80, 24) as pilot:
        await pilot.press("4", "tab")
        await pilot.pause()
        first = next(iter(console.entries("#answers").values()))
        shown, behind = console.text, console.says("#working")
        await pilot.press("enter", *"20000", "enter")
        await pilot.pause()

        assert first == "No verdict yet no workload"
        assert "Random IOPS" in shown
        assert "A verdict compares the demand of a workload with the capacity of this machine." in behind
        assert console.entries("#inputs")["workload.iops"] == "* Random IOPS 20,000 IOPS"
        assert not any("no workload" in line for line in console.entries("#answers").values())


async def test_a_demand_without_a_capacity_has_no_verdict_and_says_why(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("4")
        await set_input(pilot, "workload.iops", "20000")
        name, line = next(iter(console.entries("#answers").items()))

        assert name == "verdict.storage"
        assert line.startswith("new Storage NO VERDICT assumed: ")
        assert "Storage: 163.8 MB/s demand, capacity unknown." in console.says("#working")


async def test_verdicts_come_first_and_the_worst_of_them_decides(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("4")
        await set_input(pilot, "capacity.mb_s", "1000")
        await set_input(pilot, "workload.mb_s", "200")
        await set_input(pilot, "workload.cpu_percent", "97")
        lines = [*console.entries("#answers").items()][:3]

        assert [name for name, _ in lines] == ["verdict.cpu", "verdict.storage", "io.demand.headline"]
        assert "CPU WARN 97%" in lines[0][1]
        assert "Storage PASS 20%" in lines[1][1]


async def test_a_question_leads_to_the_input_that_it_waits_for(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("4", "a", *"db.gb", "enter", *"2T", "enter", "tab", "enter")
        await pilot.pause()
        await pilot.press("8", "enter")
        await pilot.pause()

        assert console.entries("#inputs")["array.disks"] == "* Drives 8"


async def test_inputs_whose_names_have_the_words_are_offered_first(console: Console) -> None:
    async with console.shown(80, 24) as pilot:
        await pilot.press("4", "a", *"flash")
        await pilot.pause()
        listed = console.app.screen.query_one(KeyList)

        assert [option.id for option in listed.options] == [
            "flash.moved",
            "flash.block_kib",
            "flash.cache_gib",
            "flash.rac",
            "sysstat.flash_hits",
            "sysstat.flash_inserts",
        ]


async def test_nothing_is_found_by_words_that_no_input_has(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("4", "a", *"zzz", "enter")
        await pilot.pause()
        assert isinstance(console.app.screen, PickDialog)
        assert not [option for option in console.app.screen.query_one(KeyList).options if not option.disabled]
        await pilot.press("escape")
        await pilot.pause()
        assert not isinstance(console.app.screen, PickDialog)


async def test_enter_on_an_unchanged_value_changes_nothing(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("4", "down", "down", "down", "enter", "enter")
        await pilot.pause()

        assert not any("*" in line for line in console.entries("#inputs").values())
        assert "From: detected, /proc/meminfo" in console.says("#input-help")


async def test_what_is_wrong_stands_out_and_goes_with_the_next_input(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("4", "enter", "ctrl+u", "0", "enter")
        await pilot.pause()
        assert console.says("#input-help").startswith("! machine.sockets: expected a whole number, 1 or more")
        assert console.app.screen.query_one("#input-help").has_class("-wrong")
        await pilot.press("escape", "down")
        await pilot.pause()
        assert not console.app.screen.query_one("#input-help").has_class("-wrong")


async def test_an_input_without_steps_says_how_to_change_it(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("4")
        await pilot.pause()
        listed = console.app.screen.query_one("#inputs", KeyList)
        listed.highlighted = listed.get_option_index("machine.cpu_model")
        await pilot.press("plus")
        await pilot.pause()

        assert "cannot be stepped from here; Enter edits a value" in console.says("#input-help")


async def test_what_moves_an_answer_follows_the_cursor_also_to_one_without_a_figure(console: Console) -> None:
    async with console.shown(80, 24) as pilot:
        await pilot.press("4")
        await set_input(pilot, "workload.iops", "20000")
        await pilot.press("t")
        await pilot.pause()
        answers = console.app.screen.query_one(AnswerTable)
        assert answers.choose("io.demand.headline")
        await pilot.pause()
        await pilot.pause()
        need = console.chart
        assert answers.choose("io.capacity")
        await pilot.pause()
        await pilot.pause()

        assert isinstance(need, BarChart)
        (iops,) = [bar for bar in need.bars if bar.label.startswith("workload.iops ")]
        assert (iops.low, iops.value, iops.high) == pytest.approx((131.072e6, 163.84e6, 196.608e6))
        assert isinstance(console.chart, BarChart)
        assert console.chart.bars == ()
        assert console.chart.caption != need.caption


async def test_with_rows_to_spare_the_working_and_what_moves_it_are_shown_together(console: Console) -> None:
    async with console.shown(200, 60) as pilot:
        await pilot.press("4")
        await set_input(pilot, "workload.iops", "20000")

        assert "20,000 IOPS x 8 KiB = 163.84 MB/s" in console.says("#working")
        assert console.app.screen.query_one("#working").region.height > 0
        assert isinstance(console.chart, BarChart)


async def test_licenses_say_what_is_not_allowed_here_and_what_has_no_public_price(make_console: MakeConsole) -> None:
    console = make_console(machine(packages=4))
    async with console.shown(120, 40) as pilot:
        await pilot.press("4", "l")
        await pilot.pause()
        assert isinstance(console.app.screen, PageDialog)
        lines = console.app.screen._lines

        assert "not allowed here" in next(line for line in lines if "Standard Edition 2" in line)
        assert "not public" in next(line for line in lines if "SAP HANA" in line)
        assert sum("No legal advice" in line for line in lines) == 1
        assert "1 server, 4 sockets, 16 cores" in console.says(".page Static")


async def test_a_published_case_is_a_table_with_its_source_and_both_directions(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("4", "right", "b", "enter")
        await pilot.pause()
        await pilot.pause()
        assert isinstance(console.app.screen, PageDialog)
        page = console.app.screen._lines

        assert "1 input changed compared with blade-480c-x5355" in console.app.screen._title
        assert any("K. Closson, Oracle performance archive" in line for line in page)
        assert any(re.search(r"machine.sockets +3 +2 +50% above +33.3% below", line) for line in page)
        assert not any(re.search(r"\d 1 ", line) for line in page)


async def test_pages_break_no_word_where_their_tables_have_no_room(make_console: MakeConsole) -> None:
    console = make_console(machine(packages=4))
    async with console.shown(80, 24) as pilot:
        await pilot.press("4", "b", "enter")
        await pilot.pause()
        await pilot.pause()
        pages = [console.app.screen]
        await pilot.press("escape", "l")
        await pilot.pause()
        await pilot.pause()
        pages.append(console.app.screen)
        beside, licenses = ([*page._lines] for page in pages if isinstance(page, PageDialog))

        assert any("machine.cores_per_socket" in line for line in beside)
        assert any("4 here, 2 there; this machine is 100% above, the case 50% below" in line for line in beside)
        assert any("not allowed here" in line for line in licenses)
        assert max(len(row) for line in (*beside, *licenses) for row in line.splitlines()) < 78


@pytest.mark.parametrize(("columns", "missing"), [(80, ["Case"]), (100, [])])
async def test_the_keys_of_the_mode_are_named_as_far_as_they_fit(
    console: Console, columns: int, missing: list[str]
) -> None:
    async with console.shown(columns, 24) as pilot:
        await pilot.press("4")
        await pilot.pause()
        last, screen = console.text.splitlines()[-1], console.app.screen
        assert isinstance(screen, ModeScreen)
        shown = [one.label for one in ACTIONS["sizing"] if one.footer and one.id not in screen.idle_actions()]

        assert [label for label in shown if label not in last] == missing


async def test_what_is_explained_of_an_input_is_never_cut(console: Console) -> None:
    async with console.shown(80, 24) as pilot:
        await pilot.press("4", "a", *"path.stages", "enter", "escape")
        await pilot.pause()
        await pilot.pause()

        explained = console.app.screen.query_one("#input-help")
        assert any("From: not known" in strip.text for strip in explained.render_lines(explained.outer_size.region))


async def test_a_published_case_with_nothing_in_common_says_so(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("4", "b")
        await pilot.pause()
        listed = console.app.screen.query_one(KeyList)
        listed.highlighted = listed.get_option_index("preset:netapp-nfs")
        await pilot.press("enter")
        await pilot.pause()
        await pilot.pause()

        assert "the two have no figure in common" in console.says(".page Static")


async def test_a_run_that_measures_is_sized_while_the_mode_is_shown(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await console.choose(pilot, "null")
        await pilot.press("r", "4")
        await pilot.pause()
        before = console.entries("#answers")["io.capacity"]
        await console.feed(pilot, measured_io(cached=False))

        assert "MB/s" not in before
        assert "9,000 MB/s" in console.entries("#answers")["io.capacity"]


@pytest.mark.parametrize("text", ["1e12", "", "words", "-3"])
async def test_what_cannot_be_is_refused_in_words_and_the_field_stays(console: Console, text: str) -> None:
    async with console.shown(80, 24) as pilot:
        await pilot.press("4", "down", "down", "enter")
        console.app.screen.query_one(Input).value = text
        await pilot.press("enter")
        await pilot.pause()

        assert f"expected a number of GHz, above 0 and at most 20, such as 2.5, found '{text}'" in console.says(
            "#input-help"
        )
        assert console.app.focused is console.app.screen.query_one(Input)


async def test_the_cursor_goes_to_what_a_change_does(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("4", "a", *"sga.mb", "enter", *"64G", "enter")
        await pilot.pause()
        await pilot.pause()

        chosen = console.app.screen.query_one(AnswerTable).chosen
        assert chosen == "verdict.memory"
        assert console.entries("#answers")[chosen].startswith("new Memory PASS 50%")
        assert "Memory: 64 GiB demand, 128 GiB capacity (50%)" in console.says("#working")
        assert "sga.mb = 65,536 MiB" in console.says("#working")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_a_folded_line_is_indented_also_where_a_scroll_bar_takes_its_column(
    console: Console, size: tuple[int, int]
) -> None:
    async with console.shown(*size) as pilot:
        await pilot.press("4")
        await pilot.pause()
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
    async with console.shown(120, 40) as pilot:
        await pilot.press("4")
        await pilot.pause()
        await pilot.pause()
        answers = console.app.screen.query_one(AnswerTable)

        def looks() -> set[bool | None]:
            line = answers.render_line(answers.cursor_row + 1)  # below the heading
            return {part.style.underline for part in line if part.style is not None and part.text.strip()}

        assert looks() == {True}
        await pilot.press("tab")
        await pilot.pause()
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
    assert inputs["workload.read_percent"].startswith("~ Share of reads 70%")


async def test_a_verdict_moves_three_keys_after_a_number_was_entered(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("4")
        await set_input(pilot, "workload.mb_s", "200")
        await set_input(pilot, "capacity.mb_s", "1000")
        await pilot.press("1")
        before = None
        for key in ("4", "w", "plus"):
            await pilot.press(key)
            await pilot.pause()
            before = before or console.entries("#answers")["verdict.storage"]
        after = console.entries("#answers")["verdict.storage"]

    assert before is not None
    assert "PASS 20%" in before
    assert "PASS 21%" in after


async def test_the_table_has_value_range_basis_and_confidence_by_group(console: Console) -> None:
    async with console.shown(120, 40) as pilot:
        await pilot.press("4")
        await pilot.pause()
        await pilot.pause()
        table = console.app.screen.query_one(AnswerTable)
        columns = [str(column.label) for column in table.ordered_columns]
        headings = [str(key.value) for key in table.rows if str(key.value).startswith("group ")]

    assert columns == ["Answer", "Value", "Range", "Basis", "Confidence"]
    assert headings == ["group Verdict", "group Demand", "group Capacity", "group Licenses"]


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


async def test_this_machine_stands_beside_that_of_another_session(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store = tmp_path / "state/sizeup/sessions"
    store.mkdir(parents=True)
    path = store / "other.sizeup.jsonl"
    PlayedRunner(path).write([*records(found=machine(4, 8, 2)), *ended()])
    async with console.shown(120, 40) as pilot:
        await pilot.press("4", "b")
        await pilot.pause()
        listed = console.app.screen.query_one(KeyList)
        listed.highlighted = listed.get_option_index(str(path))
        await pilot.press("enter")
        await pilot.pause()
        await pilot.pause()
        assert isinstance(console.app.screen, PageDialog)
        page = "\n".join(console.app.screen._lines)

    assert re.search(r"machine.sockets +2 +4 +50% below +100% above", page)
