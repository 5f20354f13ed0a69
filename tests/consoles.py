"""A machine, a runner that is played by hand, a console under test, and its screen as text."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.segment import Segment
from textual._compositor import Compositor
from textual._wait import wait_for_idle
from textual.pilot import Pilot
from textual.widgets import Static

from played_runs import PlayedRunner
from sizeup.charts.latency_cells import Picture
from sizeup.model.machine import Machine, Platform
from sizeup.model.network import Nic
from sizeup.model.numa import HugePages, NumaNode
from sizeup.model.plan import Better, Plan, Series, Step
from sizeup.model.sample import Estimate, Outcome, Status
from sizeup.model.storage import BlockDevice, BlockKind
from sizeup.model.topology import Cache, CacheKind, Core, Die, Package, Pu
from sizeup.quantity import Origin, Quantity
from sizeup.session.records import (
    EndRecord,
    EstimateRecord,
    MachineRecord,
    OutcomeRecord,
    PlanRecord,
    ProgressRecord,
    Record,
    SessionRecord,
    StepStartRecord,
)
from sizeup.session.value import PointKey
from sizeup.tui.console import ConsoleApp
from sizeup.tui.dialogs import ChoiceDialog
from sizeup.tui.options import Options
from sizeup.tui.runs import LiveSource, Runs
from sizeup.tui.screens.probe_forms import ProbeForms, RunFormView
from sizeup.tui.screens.probe_page import PointTable
from sizeup.tui.screens.sizing import AnswerTable
from sizeup.tui.screens.topology import ItemTree
from sizeup.tui.widgets.band import BandView
from sizeup.tui.widgets.cells import SegmentRows
from sizeup.tui.widgets.chart import ChartView
from sizeup.tui.widgets.lines import KeyLine, ModeLine, NoticeLine
from sizeup.tui.widgets.lists import KeyList
from terminal import PATIENCE_SECONDS

GIB = 1 << 30


def machine(packages: int = 2, cores_each: int = 4, threads: int = 2, **changes: Any) -> Machine:
    """A regular machine: a node and a shared cache per package, a disk whose model looks like markup."""
    total = packages * cores_each
    pus_of = [tuple(core + total * thread for thread in range(threads)) for core in range(total)]
    in_package = [
        tuple(sorted(cpu for core in range(p * cores_each, (p + 1) * cores_each) for cpu in pus_of[core]))
        for p in range(packages)
    ]
    facts: dict[str, Any] = {
        "packages": tuple(Package(pus, index, "Test CPU") for index, pus in enumerate(in_package)),
        "dies": tuple(Die(pus, index, 0) for index, pus in enumerate(in_package)),
        "cores": tuple(Core(pus, core // cores_each, core // cores_each, core) for core, pus in enumerate(pus_of)),
        "pus": tuple(Pu(cpu, True, True, cpu % total) for cpu in range(total * threads)),
        "caches": (
            *(Cache(1, CacheKind.DATA, 32 << 10, 64, pus) for pus in pus_of),
            *(Cache(2, CacheKind.UNIFIED, 1 << 20, 64, pus) for pus in pus_of),
            *(Cache(3, CacheKind.UNIFIED, 32 << 20, 64, pus) for pus in in_package),
        ),
        "nodes": tuple(
            NumaNode(
                index,
                pus,
                (index,),
                memory_bytes=64 * GIB,
                free_bytes=48 * GIB,
                huge_pages=(HugePages(2 << 20, 512, 512),),
                distances=tuple(10 if other == index else 21 for other in range(packages)),
            )
            for index, pus in enumerate(in_package)
        ),
        "memory_bytes": packages * 64 * GIB,
        "cpu_model": "Test CPU",
        "base_clock": Quantity(2.66e9, "Hz", Origin.DETECTED, "/proc/cpuinfo"),
        "platform": Platform(hostname="db01", kernel="6.1.0", is_guest=False),
        "nics": (Nic("eth0", "physical", "ixgbe", speed_bits_per_second=10_000_000_000, carrier=True, node=0),),
        "block_devices": (
            BlockDevice("sda", BlockKind.SCSI, 10**12, model="[none] [/dev/sda] \\[red]", node=packages - 1),
        ),
    }
    return Machine(**{**facts, **changes})


def records(name: str = "null", found: Machine | None = None) -> list[Record]:
    """The first lines of a session with one step of a few points, still running."""
    step = Step(name, name, "Memory latency", {}, 10.0, 60.0)
    series = Series(
        "latency", "Latency", "ns", Better.LOWER, "working_set_bytes", "bytes", "Working set", boundaries="memory"
    )
    return [
        SessionRecord(1, "s", "sizeup 0", "db01", "2026-01-01T00:00:00Z"),
        MachineRecord(1, machine() if found is None else found),
        PlanRecord(2, Plan("custom", (step,))),
        StepStartRecord(3, step, "sizeup 0", (series,), "curve"),
        *(
            EstimateRecord(
                4 + power, name, Estimate("latency", {"working_set_bytes": 1 << power}, 1.0 + 2.0 ** (power - 20))
            )
            for power in range(14, 27)
        ),
        ProgressRecord(100, name, 0.5, 5.0, "64 MiB"),
    ]


def ended(name: str = "null", status: Status = Status.OK) -> list[Record]:
    """The last lines of that session."""
    return [OutcomeRecord(200, name, Outcome(status)), EndRecord(201, "complete")]


_OPTIONS = Options()

_SOON = 0.02
"""Seconds within which a timer that is set is waited for."""


async def _rested(min_sleep: float = 0.0, max_sleep: float = 1.0) -> None:
    """Wait until every task of the event loop waits for something, and no timer is due soon.

    Textual's own way takes spans of a fiftieth of a second in which the process hardly worked: two for each key, and
    on a busy host also where it was not its turn. Only a thread still has to be judged like that.
    """
    loop: Any = asyncio.get_running_loop()
    soon, end = loop.time() + max(min_sleep, _SOON), loop.time() + max_sleep
    while loop.time() < end:
        await asyncio.sleep(0)
        if loop._ready:
            continue
        due = min((timer.when() for timer in loop._scheduled if not timer.cancelled()), default=soon)
        if due < soon:
            await asyncio.sleep(due - loop.time())
        elif _at_work:
            await wait_for_idle(0, end - loop.time())
            if not loop._ready:
                return
        else:
            return


_at_work = set[asyncio.Future[Any]]()
"""What threads of the console do."""


def _note_threads(loop: asyncio.AbstractEventLoop) -> Callable[..., asyncio.Future[Any]]:
    """Return how to hand work to a thread so that it is known until it is done."""
    begin = loop.run_in_executor

    def begun(executor: Executor | None, work: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        future = begin(executor, work, *arguments)
        _at_work.add(future)
        future.add_done_callback(_at_work.discard)
        return future

    return begun


_draw = Compositor.render_update


def _draw_no_frame(compositor: Compositor, full: bool = False, **how: Any) -> Any:
    """A third of the time of a test would go into frames that no terminal shows; a picture is drawn (``full``)."""
    if full:
        return _draw(compositor, full, **how)
    compositor._dirty_regions.clear()
    return None


class Console:
    """A console under test, with the runner it believes in."""

    def __init__(
        self,
        tmp_path: Path,
        found: Machine | None = None,
        options: Options = _OPTIONS,
        live_source: LiveSource | None = None,
        *,
        frames: bool = False,
    ) -> None:
        """``frames`` draws each change, as a terminal would need it; else only what a test looks at is drawn."""
        self._frames = frames
        self.runner = PlayedRunner(tmp_path / "run.sizeup.jsonl")
        self.runs = Runs(str(self.runner.path), launcher=self.runner.launch)
        self.app = ConsoleApp(self.runs, machine() if found is None else found, options, live_source=live_source)
        self.told: list[str] = []
        """What it said in passing; the app forgets it after some seconds."""
        notify = self.app.notify

        def hear(message: str, **how: Any) -> None:
            self.told.append(message)
            notify(message, **how)

        self.app.notify = hear  # type: ignore[method-assign]

    @property
    def text(self) -> str:
        return screen_text(self.app)

    # What the screen means.

    @property
    def mode(self) -> str:
        """The mode that is shown."""
        return self.app.current_mode

    @property
    def _pictures(self) -> list[ChartView]:
        """The charts with a readout; those without one where none has."""
        found = list(self.app.screen.query(ChartView))
        return [view for view in found if view.can_focus] or found

    @property
    def chart(self) -> Picture | None:
        """The chart that is shown; None where a table or nothing is."""
        return next((view.chart for view in self._pictures if view.display), None)

    @property
    def point(self) -> PointKey | None:
        """The point under the readout of the chart."""
        return self._pictures[0].chosen

    @property
    def readout(self) -> str:
        """What stands below the chart: the point under the readout, its value and what can be done there."""
        return "".join(self._pictures[0].drawing.rows[-1]).strip()

    def entries(self, selector: str = "KeyList") -> dict[str, str]:
        """The entries of a list or a table that can be chosen, by id, each as one line."""
        listed = self.app.screen.query_one(selector)
        if isinstance(listed, AnswerTable):
            return {name: " ".join(" ".join(map(str, listed.get_row(name))).split()) for name in listed.ids}
        assert isinstance(listed, KeyList)
        return {
            option.id or "": " ".join(str(option.prompt).split()) for option in listed.options if not option.disabled
        }

    @property
    def entry(self) -> str:
        """Id of the entry under the cursor of the first list."""
        option = self.app.screen.query_one(KeyList).highlighted_option
        return "" if option is None else option.id or ""

    @property
    def parts(self) -> dict[str, str]:
        """The parts in the tree, folded ones too: the label of each by its key."""
        tree = self.app.screen.query_one(ItemTree)
        return {node.data.key: node.data.marked_label for node in tree._walk(tree.root) if node.data is not None}

    @property
    def part(self) -> str:
        """Key of the part under the cursor of the tree."""
        node = self.app.screen.query_one(ItemTree).cursor_node
        return "" if node is None or node.data is None else node.data.key

    @property
    def answers(self) -> list[str]:
        """Ids of the answers of the dialog that is open; empty where none asks."""
        listed = self.app.screen.query_one(KeyList) if isinstance(self.app.screen, ChoiceDialog) else None
        return [] if listed is None else [option.id or "" for option in listed.options]

    def says(self, selector: str) -> str:
        """What a widget says whatever room it has, as one line."""
        widget = self.app.screen.query_one(selector)
        if isinstance(widget, SegmentRows):
            return " ".join("".join(text for text, _ in row).strip() for row in widget.rows)
        if isinstance(widget, PointTable):
            shown = widget.shown
            return " ".join((*shown.columns, *(cell.text for row in shown.rows for cell in row)))
        content = widget.content if isinstance(widget, Static) else widget.render()
        lines = self.app.console.render_lines(content, pad=False)  # type: ignore[arg-type]
        return " ".join("".join(segment.text for line in lines for segment in (*line, Segment(" "))).split())

    @property
    def band(self) -> str:
        """What the band of the screen says; empty without one."""
        band = self.app.screen.query_one(BandView).band
        steps = () if band is None else (f"{step.text} {step.key} {step.does}" for step in band.steps)
        return "" if band is None else " ".join((band.word, band.sentence, *steps, band.basis))

    @property
    def hint(self) -> str:
        """What the form that is shown says below its fields."""
        views = [view for view in self.app.screen.query(RunFormView) if view.display]
        return str(views[0].query_one("#hint", Static).content) if views else ""

    @property
    def status(self) -> str:
        """What is said of the run: the notice, else what the first line says where there is room."""
        return self.app.screen.query_one(NoticeLine).text or self.app.screen.query_one(ModeLine).state

    @property
    def keys(self) -> list[str]:
        """Labels of the keys that the last line offers in this mode."""
        return [label for _, label in self.app.screen.query_one(KeyLine)._keys[0]]

    def tick(self) -> None:
        """What the timer does until the next frame."""
        for _ in range(3):
            self.app._tick()

    @asynccontextmanager
    async def shown(self, columns: int = 80, rows: int = 24, keys: Sequence[str] = ()) -> AsyncIterator[Pilot[int]]:
        """The console as a terminal of this size shows it, after some keys."""
        with pytest.MonkeyPatch.context() as patch:
            if not self._frames:
                patch.setattr(Compositor, "render_update", _draw_no_frame)
            _at_work.clear()  # of a test before, whose loop has ended
            loop = asyncio.get_running_loop()
            patch.setattr(loop, "run_in_executor", _note_threads(loop))
            for user in ("app", "pilot"):
                patch.setattr(f"textual.{user}.wait_for_idle", _rested)
            async with self.app.run_test(size=(columns, rows)) as pilot:
                await pilot.pause()
                try:
                    if keys:
                        await pressed(pilot, *keys)
                    yield pilot
                    if self.app.is_running:
                        screen_text(self.app)  # what the test left on the screen can be drawn
                finally:
                    self.runs.close()
                    self.app.runs.close()  # a saved session that is shown has a follower of its own

    async def choose(self, pilot: Pilot[int], probe: str) -> None:
        """Go to Measure and put the cursor on a probe, whatever else is installed."""
        await pilot.press("3")
        await pilot.pause()
        listed = self.app.screen.query_one(KeyList)
        listed.highlighted = listed.get_option_index(probe)
        await pilot.pause()

    async def measure(self, pilot: Pilot[int], lines: Sequence[Record] | None = None, *, probe: str = "null") -> None:
        """Start a probe by keys, and show what its runner wrote; without ``lines`` a step that is under way."""
        await self.choose(pilot, probe)
        await pilot.press("r")
        await self.feed(pilot, records() if lines is None else lines)

    async def feed(self, pilot: Pilot[int], lines: Sequence[Record] = ()) -> None:
        """Have the runner write some more, and the console look at it."""
        if lines:
            self.runner.write(lines)
        self.tick()
        await pilot.pause()

    async def end(self, pilot: Pilot[int], lines: Sequence[Record], status: int = 0) -> None:
        """Have the runner write its last lines and end."""
        self.runner.write(lines)
        self.runner.end(status)
        self.tick()
        await pilot.pause()

    def save(self, lines: Sequence[Record]) -> None:
        """Have a session, saved or under way, that the console shows when it starts."""
        self.runner.write(lines)
        self.runs.follow()


MakeConsole = Callable[..., Console]
"""A console in the test's folder; machine, options and live sources are arguments."""


async def until(pilot: Pilot[int], holds: Callable[[], bool]) -> None:
    """Let the console go on until a condition holds, and fail where it never does."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        await pilot.pause(0.02)


async def pressed(pilot: Pilot[int], *keys: str) -> None:
    """Press keys, and let the console take them in."""
    await pilot.press(*keys)
    await pilot.pause()


async def settled(pilot: Pilot[int], *keys: str) -> None:
    """Press keys, if any, and wait until what they ask for is made, and what that asks for in turn."""
    if keys:
        await pilot.press(*keys)
    for _ in range(3):
        await pilot.pause()
        await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def fill(console: Console, probe: str, values: Mapping[str, str]) -> None:
    """Put values into the form of a probe."""
    form = console.app.screen.query_one(ProbeForms).form_of(console.app.registry.probes[probe])
    for name, text in values.items():
        assert form.change(name, text).problem == ""


def screen_text(app: ConsoleApp) -> str:
    """What a person would read, without trailing blanks."""
    rows = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in row).rstrip() for row in rows)
