"""The Topology mode: its tree, its map, and devices that come and go."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.topology import cpu_ms, looks_ms, unpacked
from consoles import Console, MakeConsole, ended, machine, pressed, records, until
from sizeup.discovery.machine import discover
from sizeup.model.machine import Machine
from sizeup.model.network import Nic
from sizeup.model.plan import Better, Plan, Series, Step
from sizeup.model.sample import Estimate
from sizeup.session.records import EstimateRecord, MachineRecord, PlanRecord, Record, SessionRecord, StepStartRecord
from sizeup.session.value import point_key
from sizeup.session.writer import Writer
from sizeup.tui.runs import LiveSource
from sizeup.tui.screens.topology import ItemTree, MapView
from sizeup.tui.widgets.chart import ChartView
from topology_mode import in_topology, map_of, tree_of
from trees import large_machine
from tui.sizing_inputs import choose_input


async def test_the_map_shows_sixteen_nodes_in_eighty_columns(make_console: MakeConsole) -> None:
    console = make_console(machine(16, 16, 2))
    async with in_topology(console) as pilot:
        seen = map_of(console)
        for _ in range(3):
            await pressed(pilot, "pagedown")
            seen += map_of(console)
        await pressed(pilot, "t")

        for node in range(16):
            assert any(f"S{node} N{node} " in row and "16 of 64 GiB" in row for row in seen)
        assert console.app.screen.query_one(ItemTree).has_focus
        assert {f"package:{number}" for number in range(16)} <= console.parts.keys()


class FakeDevices:
    """A source of events that a test plays, and the machine that is found after them."""

    def __init__(self) -> None:
        self.heard: Callable[[], object] | None = None
        self.reads = 0

    def follow(self, listener: Callable[[], object]) -> FakeDevices:
        self.heard = listener
        return self

    def stop(self) -> None:
        self.heard = None

    def discover(self) -> Machine:
        self.reads += 1
        return machine(nics=(Nic("eth9", "physical", "ixgbe", carrier=True, node=0),))

    def plug(self, times: int) -> None:
        assert self.heard is not None
        for _ in range(times):
            self.heard()


async def test_devices_that_come_at_once_are_read_once_and_only_while_the_topology_is_shown(
    make_console: MakeConsole,
) -> None:
    devices = FakeDevices()
    console = make_console(live_source=LiveSource(devices.follow, devices.discover, settle_seconds=0.01))
    async with in_topology(console) as pilot:
        await pilot.press("1")
        devices.plug(3)
        await pilot.pause(0.05)
        unseen = devices.reads
        await pilot.press("2")
        await pilot.pause(0.05)
        await console.app.workers.wait_for_complete()
        await pilot.pause()

        assert unseen == 0
        assert devices.reads == 1
        assert "nic:eth9" in console.parts
    assert devices.heard is None


async def test_devices_wait_for_the_end_of_a_run(make_console: MakeConsole) -> None:
    devices = FakeDevices()
    console = make_console(live_source=LiveSource(devices.follow, devices.discover, settle_seconds=0.01))
    async with console.shown() as pilot:
        await console.choose(pilot, "null")
        await pressed(pilot, "r", "2")
        await console.app.workers.wait_for_complete()
        devices.plug(1)
        await pilot.pause(0.05)
        during = devices.reads
        console.runner.write([*records(), *ended()])
        console.runner.end()
        console.tick()
        await pilot.pause(0.05)
        await console.app.workers.wait_for_complete()

        assert (during, devices.reads) == (0, 1)


FOLDED = "\u25b6"


@pytest.mark.parametrize(("columns", "rows", "folded"), [(80, 24, "Socket"), (120, 40, "Node"), (200, 60, "Node")])
async def test_the_tree_unfolds_whole_kinds_as_far_as_they_fit(
    make_console: MakeConsole, columns: int, rows: int, folded: str
) -> None:
    console = make_console(large_machine())
    async with in_topology(console, "t", columns=columns, rows=rows) as pilot:
        await pilot.pause()
        shown = tree_of(console)

        assert {line.partition(FOLDED)[2].split()[0] for line in shown if FOLDED in line} >= {folded}
        assert {FOLDED in line for line in shown if f" {folded} " in line} == {True}
        assert not console.app.screen.query_one(ItemTree).show_vertical_scrollbar


async def test_a_larger_terminal_unfolds_more_but_never_what_was_folded_and_a_smaller_one_folds_nothing(
    make_console: MakeConsole,
) -> None:
    console = make_console(large_machine())
    async with in_topology(console, "t", "j", "enter", "enter") as pilot:
        await pilot.resize_terminal(200, 90)
        await pilot.pause()
        await pilot.pause()
        large = tree_of(console)
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        await pilot.pause()
        small = tree_of(console)

    assert [FOLDED in line for line in large if "Socket" in line] == [True, *[False] * 7]
    assert [line[:20] for line in small] == [line[:20] for line in large[: len(small)]]


async def test_labels_that_are_too_long_end_in_dots_and_need_no_scroll_bar(make_console: MakeConsole) -> None:
    found = machine(nics=(Nic("eth0" + "long" * 20, "physical", node=0),))
    console = make_console(found)
    async with in_topology(console, "t") as pilot:
        tree = console.app.screen.query_one(ItemTree)
        await until(pilot, lambda: not tree.show_horizontal_scrollbar)  # once the labels are cut to the width

        assert any("eth0long" in line and line.endswith("…") for line in tree_of(console))


async def test_where_there_is_no_udev_nothing_is_followed(make_console: MakeConsole) -> None:
    devices = FakeDevices()
    console = make_console(live_source=LiveSource(lambda listener: None, devices.discover))
    async with in_topology(console):
        assert "package:0" in console.parts
        assert devices.reads == 0


async def test_words_find_parts_by_their_facts_and_the_title_says_how_many(console: Console) -> None:
    async with in_topology(console, "slash", *"cpus 1") as pilot:
        pane, field = (console.app.screen.query_one(name) for name in ("#tree", "#find"))
        found = [(str(pane.border_title), console.part, bool(field.display))]
        for keys in (["enter", ">"], ["slash", *"zz"], ["escape"]):
            await pressed(pilot, *keys)
            await pilot.pause()
            found.append((str(pane.border_title), console.part, bool(field.display)))

        titles, parts, asks = zip(*found, strict=True)
        assert ["1 of 10" in titles[0], "2 of 10" in titles[1], '"zz"' in titles[2]] == [True, True, True]
        assert titles[3] == "Parts"
        assert parts[:2] == ("core:1", "core:2")
        assert asks == (True, False, True, False)


async def test_what_is_looked_for_from_the_map_is_shown_in_the_tree(console: Console) -> None:
    async with in_topology(console, "slash", *"eth0", "enter"):
        tree = console.app.screen.query_one(ItemTree)

        assert (tree.has_focus, tree.cursor_node.data.key) == (True, "nic:eth0")
        assert "ixgbe" in console.says("#detail")


async def test_what_if_inputs_survive_a_machine_that_is_read_again(make_console: MakeConsole) -> None:
    devices = FakeDevices()
    console = make_console(live_source=LiveSource(devices.follow, devices.discover, settle_seconds=0.01))
    async with console.shown(keys="4") as pilot:
        await choose_input(pilot, "machine.sockets")
        await pressed(pilot, "plus")
        changed = {key: line for key, line in console.entries("#inputs").items() if line.startswith("● ")}
        await pilot.press("2")
        await console.app.workers.wait_for_complete()
        devices.plug(1)
        await pilot.pause(0.05)
        await console.app.workers.wait_for_complete()
        await pilot.pause()
        assert "nic:eth9" in console.parts
        await pressed(pilot, "4")

        assert list(changed) == ["machine.sockets"]
        assert changed.items() <= console.entries("#inputs").items()


@pytest.mark.parametrize(("last", "up"), [("G", "k"), ("end", "up")])
async def test_a_map_that_is_higher_than_the_screen_scrolls(make_console: MakeConsole, last: str, up: str) -> None:
    console = make_console(machine(48, 4, 1))
    async with in_topology(console) as pilot:
        seen = [map_of(console)]
        for key in (last, up):
            await pressed(pilot, key)
            seen.append(map_of(console))
        top, bottom, above = seen

        assert "S0 N0 " in "".join(top)
        assert "S47 N47 " not in "".join(top)
        assert "S47 N47 " in "".join(bottom)
        assert "S47 N47 " in "".join(above)
        assert re.search(r"╰─+ more rows: \d+ below ─╯", "".join(top))
        assert re.search(r"more rows: \d+ above", "".join(bottom))


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40), (200, 60)])
async def test_256_cores_on_16_nodes_are_legible(make_console: MakeConsole, columns: int, rows: int) -> None:
    console = make_console(large_machine())
    async with in_topology(console, columns=columns, rows=rows) as pilot:
        seen = map_of(console)
        for _ in range(3):
            await pressed(pilot, "pagedown")
            seen += map_of(console)
        subtitle = str(console.app.screen.query_one(MapView).border_subtitle)

    shown = "\n".join(dict.fromkeys(seen))
    nodes = {int(number) for number in re.findall(r"N(?:ode )?(\d+) +(?:(?:■ ?){16}|▄)", shown)}
    assert sorted(nodes) == list(range(16))
    assert "■ " * 15 in shown or "■" * 16 in shown or shown.count(" ".join(["▆▆"] * 8)) >= 4
    assert len(set(re.findall(r"(\d+)(?: of |/)(?:500|455|436|488) MiB", shown))) >= 8
    assert (subtitle == "") == (columns >= 120)


def made_matrix(nodes: int) -> list[Record]:
    """A session whose NUMA matrix nobody measured: 80 ns here, 140 ns next door, 10 ns more for each node between."""
    step = Step("memory.numa.matrix.thp", "memory.numa", "Made up: NUMA matrix", {}, 10.0, 60.0)
    series = Series("latency", "Made up: latency", "ns", Better.LOWER, "", "", "")
    found = large_machine()
    places = [(cpu, to) for cpu in range(nodes) for to in range(nodes)]
    cells = [
        Estimate("latency", {"cpu_node": cpu, "memory_node": to}, 130.0 + 10 * abs(cpu - to) - 50 * (cpu == to))
        for cpu, to in places
    ]
    return [
        SessionRecord(1, "made", "sizeup 0", "made-up", "2026-01-01T00:00:00Z"),
        MachineRecord(1, found),
        PlanRecord(2, Plan("custom", (step,))),
        StepStartRecord(3, step, "sizeup 0", (series,), "matrix"),
        *(EstimateRecord(4 + place, step.id, cell) for place, cell in enumerate(cells)),
        *ended(step.id),
    ]


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40), (200, 60)])
async def test_a_matrix_of_16_nodes_can_be_read_to_its_last_value(
    console: Console, tmp_path: Path, columns: int, rows: int
) -> None:
    path = str(tmp_path / "made.sizeup.jsonl")
    with Writer.create(path) as writer:
        writer.write(*made_matrix(16))
    async with console.shown(columns, rows) as pilot:
        console.app.show_session(path)
        await console.choose(pilot, "memory.numa")
        await pilot.pause()
        await pressed(pilot, "tab")
        chart = console.app.screen.query_one("#chart", ChartView)
        first = ["".join(row) for row in chart.drawing.rows]
        await pressed(pilot, "G")
        last = console.point
        await pressed(pilot, "z")
        zoomed = ["".join(row) for row in chart.drawing.rows]
        console.app.show_live()

    whole = any(re.search(r" 0 +80 .* 270 +280", row) for row in first)
    assert any(re.search(r" 0 +80 +140 +150", row) for row in first)
    assert whole == (columns >= 120)
    assert any(re.search(r"1\d of 16 rows, 1\d of 16 columns shown", row) for row in first) != whole
    assert last == point_key("latency", {"cpu_node": 15, "memory_node": 15})
    assert any(re.search("280 +270 +260.* 140 +80 *$", row) for row in zoomed)


@pytest.mark.alone
async def test_a_look_at_256_cores_costs_less_than_reading_the_machine(tmp_path: Path) -> None:
    """The budget is 50 ms, 0.9 of what reading takes on a CPU of 2.6 GHz; there a look took 20 ms, 0.4 of it."""
    root = unpacked(tmp_path)
    whole = statistics.median(cpu_ms(lambda: discover(root), 11))

    assert statistics.median(await looks_ms(tmp_path, root, 120, 40, 21)) < 0.9 * whole


@pytest.mark.parametrize(("rows", "air"), [(24, 0), (40, 1), (60, 1)])
async def test_a_row_parts_the_band_from_the_first_line_as_on_other_screens(
    console: Console, rows: int, air: int
) -> None:
    async with console.shown(120, rows, keys="2"):
        assert "socket" in console.text.splitlines()[1 + air]
        assert console.app.screen.query_one("#views").region.y == 4 + air
