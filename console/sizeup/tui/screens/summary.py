"""The first screen: the verdict, a row for each resource, what proves it, and the findings with what to do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial, partialmethod
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events, work
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from sizeup.errors import SizeupError
from sizeup.model.finding import Finding, Severity
from sizeup.text import plural
from sizeup.tui.actions import bindings, by_keys, first_key_of, in_console
from sizeup.tui.runs import spec_of
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.screens.summary_rows import (
    RowTable,
    bar_legend,
    change_lines,
    draw_balance,
    fact_lines,
    finding_lines,
    load_lines,
    stage_lines,
)
from sizeup.tui.widgets.cells import CellView
from sizeup.tui.widgets.lines import frame_title
from sizeup.tui.widgets.lists import KeyList
from sizeup.views.band import Band, NextStep
from sizeup.views.cards.balance import Balance, balance
from sizeup.views.cards.cards import CardView
from sizeup.views.machine.facts import machine_facts, setting_texts
from sizeup.views.result.band import summary_band
from sizeup.views.result.resource_rows import ResourceRow, license_text, resource_rows, warnings_text
from sizeup.views.result.summary import SEVERITY_WORDS, Summary, card_details, summary
from sizeup.views.result.verdict import first_card

if TYPE_CHECKING:
    from sizeup.charts.chart import Chart

MEASURE_SECONDS = 40
"""What the quick plan takes with storage, as far as it is known before the probes are read."""
_WIDE = 100
"""From so many columns on the proof stands beside the findings."""
_HIGH = 30
"""From so many rows on there are lines between the parts."""
_WIDEST = 160
"""From so many columns on the findings need a smaller part of them."""
_SIDE = {False: 0.48, True: 0.36}
"""The part of a wide screen that the findings take, and that of the widest."""
_FRAME = 4
_LEAST_FACTS = 5
"""Rows left from which on settings and facts stand below the findings."""
_FACTS = ("Model", "Processor", "NUMA nodes", "Available", "Runs on", "Evidence", "Cloud", "Container", "Kernel")
"""What the rows of the resources do not say."""
_AROUND = 11
"""Rows of the screen beside the rows of resources, the path and the findings with what stands below them."""
_CHANGES_SECONDS = 0.3
"""After the first frame, which does not wait for the session before."""
_BALANCED = 3
"""Parts beside the CPUs from which on their balance says more than a curve."""


class BalanceView(CellView):
    """What the CPUs can use against what the parts deliver."""

    found: Balance | None = None

    def show(self, found: Balance | None, columns: int) -> None:
        """Show a balance, its name in an edge of so many columns; None hides it."""
        self.found, self.display = found, found is not None
        self.border_title = frame_title("Is it balanced?", "rule of thumb, logarithmic", columns)
        self.on_resize()

    def _redraw(self) -> None:
        self.visible = not 0 < self.size.height <= 5  # nor its frame, until there is room for what it shows
        if self.found is not None and self.size:
            self.present(draw_balance(self.found, *self.size, self.app.look))  # type: ignore[attr-defined]


class SummaryScreen(ModeScreen):
    """Verdict and rows; the proof beside the findings."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")
    SCOPE = "summary"
    LEAST = (20, 5)
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_WIDE, "-normal"), (_WIDEST, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-low"), (_HIGH, "-high")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("summary")]

    def __init__(self) -> None:
        super().__init__()
        self._screen_size = self.app.size
        """Known before the first layout, so that everything is laid out and drawn once."""
        self._summary: Summary | None = None
        """What is known of the machine and the run; None before it was first asked for."""
        self._filled: tuple[object, ...] = ()
        """What the screen was filled with, and the size it was folded to."""
        self._cards: dict[str, CardView] = {}
        self._findings: dict[str, Finding] = {}
        self._lists_notes = False
        """Whether notes are listed where there is no room for them beside what is to be done."""
        self._mount: str | None = None
        """The directory whose storage is measured, as answered in this console; empty for none, None before that."""
        self._changed: tuple[str, Sequence[tuple[str, str, str]]] = "", ()
        """When the session before was started, and what changed since."""
        self._changed_of = ""
        """The session whose changes were looked for."""

    def body(self) -> Iterable[Widget]:
        """The rows; below them what proves the verdict, the path and the findings."""
        with Vertical(id="body"):
            yield KeyList(id="entries")
            with Horizontal(id="below"):
                with Vertical(id="side"):
                    yield Static(id="path", markup=False)
                    with Vertical(id="findings-pane"):
                        yield KeyList(id="findings")
                        yield Static(id="more", markup=False)
                yield BalanceView(id="balance")

    def band(self) -> Band | None:
        """Return the verdict, or what the machine is and what to do."""
        shown, keys = self._summary, self.host.keys
        if shown is None:
            return None
        return summary_band(
            shown,
            self._next_steps(),
            self.host.machine,
            why=first_key_of("summary.open", keys),
            tries=first_key_of("mode.sizing", keys),
            measures=first_key_of("mode.measure", keys),
        )

    def _next_steps(self) -> list[NextStep]:
        """What a reader can do while there is no verdict."""
        host = self.host
        steps = [NextStep(key=first_key_of("app.workload", host.keys), does="Enter a workload, or an AWR file")]
        if host.runs.running:
            return [*steps, NextStep("Measuring; the figures come in below.")]
        if not host.measures:
            return steps if host.saved_session is not None else [*steps, NextStep(f"Not measured: {host.unmeasured}.")]
        place = "a disk" if self._mount is None else self._mount
        does = f"Measure memory, the clock and {place} (about {MEASURE_SECONDS} s)"
        does = does if place else "Measure memory and the clock"
        return [*steps, NextStep(key=first_key_of("summary.measure", host.keys), does=does)]

    def show_all(self) -> None:
        """Show the whole frame, and the body once: it is of the machine and the run."""
        self._update()
        super().show_run()
        self._fill()

    def show_machine(self) -> None:
        """Show the machine again."""
        self._update()
        super().show_machine()
        self._fill()

    def show_run(self) -> None:
        """Show the run again."""
        self.show_all()

    def _update(self) -> None:
        host = self.host
        self._summary = in_console(summary(host.machine, host.runs.session, host.stated_advice), host.keys)

    def on_resize(self, event: events.Resize) -> None:
        """Wrap the lines again."""
        self._screen_size = event.size
        self._fill()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Show the details of a line, and where they lead."""
        chosen = event.option_id or ""
        if chosen in self._cards:
            self._open_card(self._cards[chosen])
        elif chosen in self._findings:
            self._act_on(self._findings[chosen])
        elif chosen == "notes":
            self._lists_notes, self._filled = True, ()
            self._fill()

    def _open_card(self, card: CardView) -> None:
        from sizeup.tui.dialogs import ChoiceDialog, ask_which

        host = self.host
        shown = self._summary
        assert shown is not None
        lines = (by_keys(line, host.keys) for line in card_details(card, shown.given, host.machine))
        answers = [("sizing", "Show its working in Sizing" if card.judged.advice else "Go to Sizing")]
        ways = {
            "sizing": partial(host.go, "sizing", card.judged.advice),
            "topology": partial(host.go, "topology", "machine"),
        }
        session = host.runs.session
        run = None if session is None or not card.found.steps else session.steps.get(card.found.steps[0])
        if run is not None:
            answers.insert(0, ("measure", "Show its charts in Measure"))
            ways["measure"] = partial(host.go, "measure", run.step.probe)
        answers.append(("topology", "Show the machine in Topology"))
        dialog = ChoiceDialog(Text("\n".join(lines)), answers, title=f"{card.title}  {card.label}")
        ask_which(self.app, dialog, ways)

    def _act_on(self, finding: Finding) -> None:
        from sizeup.probing.planner import unmet
        from sizeup.tui.dialogs import FindingDialog, ask_which

        host = self.host
        probe = host.registry.confirming(finding)
        reason = "" if probe is None or host.machine is None else unmet(host.machine, probe.manifest) or ""
        name = "" if probe is None else probe.name

        def copy() -> None:
            self.app.copy_to_clipboard(finding.command)
            self.notify("Copied, if the terminal allows it. Nothing was run.", markup=False)

        ways: dict[str, Callable[[], object]] = {
            "part": partial(host.go, "topology", finding.subjects[0] if finding.subjects else "machine"),
            "probe": partial(host.go, "measure", name),
            "copy": copy,
        }
        ask_which(self.app, FindingDialog(finding, SEVERITY_WORDS[finding.severity], probe=name, reason=reason), ways)

    def action_measure(self, *, afresh: bool = False) -> None:
        """Run the quick plan, with storage on the mount that the user chose: once in each console, or ``afresh``."""
        host = self.host
        if not host.measures:
            self.notify(f"Not measured: {host.unmeasured}.", markup=False)
        elif not host.runs.running:
            if afresh or self._mount is None or (self._mount and not Path(self._mount).is_dir()):
                self._choose_mount()
            else:
                self._measure(self._mount)

    action_mount = partialmethod(action_measure, afresh=True)

    def _choose_mount(self) -> None:
        from sizeup.tui.screens.mount_choice import ask_mount, remember_mount

        def chosen(mount: str) -> None:
            self._mount = mount
            remember_mount(mount)
            self._measure(mount)

        ask_mount(self.app, self.host.machine, chosen)

    def _measure(self, mount: str) -> None:
        self.host.start_run(spec_of("", {}, mount=mount))
        self.show_run()

    def action_open(self) -> None:
        """Show the details of the line under the cursor, of the resources unless the findings have the focus."""
        listed = self.query_one("#findings", KeyList)
        (listed if listed.has_focus else self.query_one("#entries", KeyList)).action_select()

    def action_resume(self) -> None:
        """Go to the interrupted session, and ask there whether to run what it is missing."""
        if (path := self.host.offered.interrupted) is not None:
            self.host.go("sessions", str(path), "screen.resume")

    def action_licenses(self) -> None:
        """Go to the licenses of every vendor."""
        self.host.go("sizing", "", "screen.licenses")

    def command_values(self) -> Mapping[str, str]:
        """What would be measured."""
        return {"summary.measure": f"about {MEASURE_SECONDS} s", "summary.mount": self._mount or ""}

    def idle_actions(self) -> Collection[str]:
        """Leave out measuring during a run or where nothing can be measured, canceling without a run."""
        runs = self.host.runs
        idle = [] if runs.going_on else ["summary.cancel"]
        if not self.host.measures or runs.running:
            idle += ["summary.measure", "summary.mount"]
        if self.host.saved_session is not None or runs.session is not None:
            idle.append("app.latest")
        else:
            idle += ["app.compare", "app.export"]
        if self.host.offered.interrupted is None:
            idle.append("summary.resume")
        return idle

    def _fill(self) -> None:
        """Show what is known, folded to the size of the screen; the cursor keeps to its line."""
        shown, host = self._summary, self.host
        width, rows = self._screen_size
        session = host.runs.session
        filled = shown, width, rows, self.app.theme, session is None or len(session.steps), self._changed
        if shown is None or filled == self._filled:
            return
        self._filled = filled
        self._cards = {card.resource: card for card in shown.cards}
        self._findings = dict(shown.findings)
        found = [finding for _, finding in shown.findings]
        supplies = balance(host.machine, session)
        years = max((card.judged.horizon_years for card in shown.cards), default=0.0)
        resources = resource_rows(shown.cards, found, supplies, host.machine)
        self._show_rows(resources, width - 4, years)
        alone = supplies is None and (session is None or not session.steps)
        self.query_one("#side").set_class(alone, "-alone")
        side = width if alone or width < _WIDE else int(width * _SIDE[width >= _WIDEST])
        self._show_side(shown, supplies, side - _FRAME)
        self._show_proof(supplies, side if width >= _WIDE else 0)
        self._find_changes()

    def _show_rows(self, resources: Sequence[ResourceRow], width: int, years: float) -> None:
        table = RowTable(resources, width, self.host.look, years)
        listed, high = self.query_one("#entries", KeyList), self.has_class("-high")
        options = [Option(table.header, id="header", disabled=True)]
        options += [Option(line, id=name) for name, line in table.lines()]
        if text := license_text(tuple(self._cards.values())):
            price = Content.assemble(("License  ", "bold $hi"), text)
            options.append(Option(price, id="license"))
        card = next((card.judged for card in self._cards.values() if card.judged.failures), None)
        bars = [row.bar for row in resources if row.bar is not None]
        legend = bar_legend(bars, self.host.look, years, "" if card is None else card.failures[0].lost)
        if legend and high:
            options += [Option("", id="gap", disabled=True), Option(legend, id="legend", disabled=True)]
        _replace_options(listed, options)

    def _show_side(self, shown: Summary, supplies: Balance | None, width: int) -> None:
        """Show the path to the storage, the findings, and what changed or what loads the storage could feed."""
        frame = width + _FRAME
        look, findings = self.host.look, self.query_one("#findings", KeyList)
        storage = next((card for card in shown.given.cards if card.resource == "storage"), None)
        path, more = self.query_one("#path", Static), self.query_one("#more", Static)
        path.display = storage is not None and len(storage.stages) > 1 and not self.has_class("-narrow")
        beside = [Content("")]
        if path.display and storage is not None:
            stages = sorted(storage.stages, key=lambda one: one.status != storage.status)  # what decides comes first
            path.border_title = frame_title("Path to the storage", f"bottleneck: {stages[0].name}", frame)
            beside.append(stage_lines(stages, width, look))
            path.update(beside[-1])
        since, changed = self._changed
        if changed:
            title = Content.styled(f"What changed since {since[:16].replace('T', ' ')} UTC", "bold $hi")
            beside.append(Content("\n").join([Content(""), title, change_lines(changed[:6], width)]))
        elif supplies is not None and first_card(shown.given.cards) is None and supplies.storage is not None:
            title = Content.assemble(("Could the storage feed it?", "bold $hi"), ("  rule of thumb", "$dim"))
            beside.append(Content("\n").join([Content(""), title, load_lines(supplies, width, look)]))
        below = [beside[-1]] if len(beside) > 1 + path.display and self.has_class("-high") else []
        listed, narrow = list(shown.findings), self.has_class("-narrow")
        rows = _AROUND + self.query_one("#entries", KeyList).option_count + 2 * path.display
        room = self._screen_size.height - rows - _rows_of(beside)
        if not (narrow or self._lists_notes) and room < _rows_of(
            finding_lines(one, look, width, 2) for _, one in listed
        ):
            listed = [one for one in listed if one[1].severity is not Severity.INFO]
        notes = len(shown.findings) - len(listed)
        lines = [finding_lines(finding, look, width) for _, finding in listed]
        spare = room - _rows_of(lines) - (notes > 0)
        for folded, (number, (_, finding)) in product((1, 2), () if narrow else (*enumerate(listed),)):
            whole = finding_lines(finding, look, width, folded)  # the facts of all before what to do
            further = whole.plain.count("\n") - lines[number].plain.count("\n")
            if further <= spare:
                lines[number], spare = whole, spare - further
        machine = None if narrow else self.host.machine
        if machine is not None and spare > _LEAST_FACTS:
            facts = [(name, value, "") for name, value in machine_facts(machine) if name in _FACTS]
            blocks = (("Settings that matter for a database", setting_texts(machine)), ("This machine", facts))
            for name, texts in blocks:
                if texts and spare > _LEAST_FACTS:
                    below += [Content(""), fact_lines(name, texts, width, spare - 1)]
                    spare -= len(texts) + 2
        more.display = bool(below)
        more.update(Content("\n").join(below))
        options = [Option(line, id=key) for line, (key, _) in zip(lines, listed, strict=True)]
        if notes:
            words = f" INFO  {plural(notes, 'note')}: {first_key_of('summary.open', self.host.keys)} lists them"
            options.append(Option(Content.styled(words, "$dim"), id="notes"))
        _replace_options(findings, options or [Option("Nothing to report", id="none", disabled=True)])
        counts = warnings_text([finding for _, finding in shown.findings])
        self.query_one("#findings-pane").border_title = frame_title("Findings", counts, frame)

    def _show_proof(self, supplies: Balance | None, frame: int) -> None:
        """Show the curve that the verdict rests on, else what was measured, else how the parts are balanced."""
        view, shown = self.query_one(BalanceView), self._summary
        is_judged = shown is not None and first_card(shown.given.cards) is not None
        is_listed = supplies is not None and len(supplies.supplies) >= _BALANCED and not is_judged
        title, note = "", ""
        chart: Chart | None = None
        session = self.host.runs.session
        if not is_listed and session is not None and session.steps:
            from sizeup.views.cards.panels import panels
            from sizeup.views.cards.proof import proof_chart

            if (proof := proof_chart(session, self._cards.get("storage"))) is not None:
                title, chart = "Measured: latency against throughput", proof[1]
                note = session.header.started[:16].replace("T", " ")
            elif (found := next(panels(session, self.host.machine, tuple(self._cards.values())), None)) is not None:
                title, chart, note = found.title, found.chart, found.note
        if chart is not None:
            from sizeup.tui.widgets.chart import ChartView  # which the first screen of a machine does without

            if not self.query("#proof"):
                self.mount(ChartView(self.host.glyphs, id="proof"), after=view)
            drawn = self.query_one("#proof", ChartView)
            drawn.border_title = frame_title(title, note, self._screen_size.width - frame)
            drawn.show(chart)
        for drawn_proof in self.query("#proof"):
            drawn_proof.display = chart is not None
        view.show(supplies if chart is None else None, self._screen_size.width - frame)

    def _find_changes(self) -> None:
        """Look for what changed since the session before, once for each session that is shown."""
        runs, machine = self.host.runs, self.host.machine
        if machine is None or runs.going_on or self._changed_of == (runs.path or "live"):
            return
        self._changed_of = runs.path or "live"
        self.set_timer(_CHANGES_SECONDS, self._start_reading)

    def _start_reading(self) -> None:
        if self.is_running and self.app.is_running:  # else nobody would wait for it
            self._read_changes()

    @work(exclusive=True)
    async def _read_changes(self) -> None:
        runs, machine = self.host.runs, self.host.machine
        session = runs.session
        host = (machine.platform.hostname if machine is not None else None) or ""
        started = "9" if session is None else session.header.started

        def found() -> tuple[str, Sequence[tuple[str, str, str]]] | None:
            from sizeup.views.result.changed import changes, session_before  # which the first frame does without

            before = session_before(host, started, runs.path)
            return (
                None
                if before is None or machine is None
                else (before.header.started, changes(before, machine, session))
            )

        with suppress(SizeupError):  # a store that cannot be read is the Sessions mode's to report
            changed = await asyncio.to_thread(found)
            if changed is not None and self.app.is_running:
                self._changed = changed
                self._fill()


def _replace_options(listed: KeyList, options: list[Option]) -> None:
    """Show options in place of the last, the cursor on the same one where it was moved, else on the first."""
    before, ahead = listed.highlighted_option, next((one for one in listed.options if not one.disabled), None)
    listed.set_options(options)
    names = [option.id for option in options]
    first = next((number for number, option in enumerate(options) if not option.disabled), None)
    listed.highlighted = names.index(before.id) if before and before is not ahead and before.id in names else first


def _rows_of(texts: Iterable[Content]) -> int:
    """Return how many rows texts take."""
    return sum(text.plain.count("\n") + 1 for text in texts)
