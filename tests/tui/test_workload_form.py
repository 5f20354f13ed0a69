"""The form of a workload: from nothing to a verdict, refusals where they arise, and a file in place of figures."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.widgets import Input

from consoles import Console, pressed, until
from importers.workload_samples import AWR
from sizeup.quantity import Origin, Quantity
from sizeup.sizing.keys import KEYS
from sizeup.tui.console import ConsoleApp
from sizeup.tui.screens.sizing_state import SizingState
from sizeup.tui.screens.workload_form import FIELDS, WorkloadForm, names_file

CAPACITY = {"capacity.iops": KEYS["capacity.iops"].parse("50000", Origin.USER, "what-if")}


async def test_one_number_gives_the_verdict_of_a_known_capacity(console: Console) -> None:
    console.app.stated = CAPACITY
    async with console.shown(80, 24, keys="w") as pilot:
        shown = console.text
        await pilot.press(*"20000", "enter")
        await until(pilot, lambda: "workload.iops" in console.app.stated)
        await pilot.pause()
        verdict = console.says("#band")

    assert "Enter Verdict" in shown
    assert "Or from a file" in shown
    assert "PASS" in verdict
    assert sorted(console.app.stated) == ["capacity.iops", "workload.iops"]


async def test_a_figure_that_is_refused_keeps_the_form_and_says_what_is_expected(console: Console) -> None:
    async with console.shown(120, 40, keys="w") as pilot:
        await pressed(pilot, "down", "down", *"170", "enter")
        said, focused = console.says("#message"), console.app.focused
        assert isinstance(console.app.screen, WorkloadForm)
        await pressed(pilot, "escape")

    assert said == "! Share of reads: enter a number of %, 0 or more and at most 100."
    assert isinstance(focused, Input)
    assert focused.id == "workload-read_percent"
    assert not console.app.stated


async def test_w_opens_the_form_on_every_screen(console: Console) -> None:
    async with console.shown(80, 24) as pilot:
        for mode in "12345":
            await pressed(pilot, mode)
            await pressed(pilot, "w")

            assert isinstance(console.app.screen, WorkloadForm)
            await pressed(pilot, "escape")


async def test_the_form_shows_what_was_typed_and_an_emptied_field_takes_it_back(console: Console) -> None:
    console.app.stated = {**CAPACITY, "db.gb": KEYS["db.gb"].parse("500", Origin.USER, "what-if")}
    async with console.shown(120, 40, keys="w") as pilot:
        field = console.app.screen.query_one("#db-gb", Input)
        assert field.value == "500"
        field.value = ""
        await pilot.press(*"1000", "enter")
        await until(pilot, lambda: "workload.iops" in console.app.stated)

    assert sorted(console.app.stated) == ["capacity.iops", "workload.iops"]


@pytest.mark.ci
async def test_a_file_fills_in_the_figures_and_one_that_is_none_is_refused(console: Console, tmp_path: Path) -> None:
    file = tmp_path / "awr.txt"
    file.write_text(AWR)
    async with console.shown(120, 40, keys="w") as pilot:
        first, field = (console.app.screen.query_one(one, Input) for one in ("#workload-iops", "#file"))
        first.value = "/no/such"
        await pilot.press("enter")
        await until(pilot, lambda: console.says("#message").startswith("!"))
        said = console.says("#message")
        moved = first.value, field.value
        field.value = str(file)
        await pilot.press("enter")
        await until(pilot, lambda: bool(console.app.stated))

    assert "there is no such file" in said
    assert moved == ("", "/no/such")
    assert not set(FIELDS).isdisjoint(console.app.stated)
    assert all(value.origin is Origin.IMPORTED for value in console.app.stated.values())  # type: ignore[union-attr]


@pytest.mark.ci
@pytest.mark.parametrize("entry", ["first.txt;second.txt", "./first.txt; second.txt", "{}/first.txt;{}/second.txt"])
async def test_two_snapshots_in_the_first_field_are_an_interval_of_the_working_directory(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, time, reads in (("first", 100, 1_000), ("second", 110, 21_000)):
        lines = (
            f"now.time={time}",
            "now.block_size=8192",
            "now.wal_block_size=8192",
            f"sum.database.5.blks_read={reads}",
        )
        text = "\n".join(("sizeup.snapshot/1: postgresql", *lines, "sum.bgwriter.buffers_clean=0", "end.snapshot"))
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    async with console.shown(120, 40, keys="w") as pilot:
        assert "snapshots (first;second)" in console.text
        console.app.screen.query_one("#workload-iops", Input).value = entry.replace("{}", str(tmp_path))
        await pilot.press("enter")
        await until(pilot, lambda: bool(console.app.stated))

    found = console.app.stated["workload.iops"]
    assert isinstance(found, Quantity)
    assert found.value == 2000


@pytest.mark.parametrize(("key", "entry"), [("redo.mb_s", "500MB/s"), ("workload.iops", "many"), ("sga.mb", "64GiB")])
def test_what_is_a_figure_or_nothing_is_no_file(key: str, entry: str) -> None:
    assert not names_file(key, entry)


async def test_demand_and_capacity_give_a_verdict_from_nothing_in_five_keys(console: Console) -> None:
    async with console.shown(80, 24, keys="w") as pilot:
        await pilot.press(*"20,000", "down", *"50000", "enter")
        await until(pilot, lambda: bool(console.app.stated))
        await pilot.pause()
        verdict = console.says("#band")

    assert "PASS" in verdict


@pytest.mark.ci
async def test_the_file_field_is_on_the_smallest_screen(console: Console) -> None:
    async with console.shown(80, 24, keys="w") as pilot:
        await pressed(pilot, "up")
        focused = console.app.focused

        assert focused.id == "file"
        assert focused.region.bottom < 24


async def test_memory_and_cpu_get_a_demand_of_the_form(console: Console) -> None:
    async with console.shown(80, 24, keys="w") as pilot:
        for name, text in (("#workload-cpu_cores", "1"), ("#sga-mb", "1000")):
            console.app.screen.query_one(name, Input).value = text
        shown = console.text
        await pressed(pilot, "enter")
        await until(pilot, lambda: len(console.app.stated) == 2)

    assert "Or from a file" in shown
    assert sorted(console.app.stated) == ["sga.mb", "workload.cpu_cores"]


@pytest.mark.parametrize(
    ("value", "high", "typed", "columns", "words"),
    [
        (60418, 118419.0, False, 120, "measured about 60,420 IOPS"),
        (60418, None, True, 80, "measured about 60,420 IOPS"),
        (2635.088, None, False, 60, "measured about 2,635 IOPS"),
    ],
)
async def test_a_measured_figure_is_offered_with_its_doubt(
    console: Console,
    monkeypatch: pytest.MonkeyPatch,
    value: float,
    high: float | None,
    columns: int,
    words: str,
    *,
    typed: bool,
) -> None:
    """One that was typed in its place is what counts again without it."""
    wide = Quantity(value, "1/s", Origin.MEASURED, "io.direct", 2417.0, high)
    make = SizingState.__init__
    console.app.stated = CAPACITY if typed else {}

    def measured(state: SizingState, host: ConsoleApp) -> None:
        make(state, host)
        found = {**state.found, "capacity.iops": wide}
        state.found, state.sizing = found, replace(state.sizing, inputs={**found, **state.changed})

    monkeypatch.setattr(SizingState, "__init__", measured)
    async with console.shown(columns, 40, keys="w"):
        field = console.app.screen.query_one("#capacity-iops", Input)
        offered, room = field.placeholder, field.size.width

    assert offered == words
    assert len(words) <= room


async def test_of_two_wrong_figures_the_first_is_named_and_both_are_marked(console: Console) -> None:
    async with console.shown(80, 24, keys="w") as pilot:
        await pressed(pilot, *"lots", "down", *"many", "down")
        said = console.says("#message")
        wrong = [field.name for field in console.app.screen.query(Input) if field.has_class("-invalid")]
        colors = [console.app.screen.query_one(f"#{name}", Input).styles.color for name in ("workload-iops", "db-gb")]

    assert said == "! IOPS wanted: enter a number of IOPS, above 0."
    assert wrong == ["workload.iops", "capacity.iops"]
    assert colors[0] != colors[1]
