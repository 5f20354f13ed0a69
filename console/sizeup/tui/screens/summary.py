"""The first screen: the verdict, a card for each resource, the findings, and their details."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from sizeup.model.finding import Finding
from sizeup.tui.actions import bindings, first_key_of
from sizeup.tui.option_text import by_keys
from sizeup.tui.runs import spec_of
from sizeup.tui.screens.mode import ModeScreen
from sizeup.tui.screens.summary_pane import PANE_ROWS, SummaryPane
from sizeup.tui.screens.summary_text import (
    MORE,
    StatusStyles,
    card_content,
    finding_options,
    in_console,
    status_styles,
    verdict_content,
)
from sizeup.tui.widgets.lists import KeyList, hanging
from sizeup.views.cards.cards import CardView
from sizeup.views.cards.table import card_table
from sizeup.views.result.summary import (
    SEVERITY_WORDS,
    Summary,
    card_details,
    finding_line,
    finding_parts,
    finding_target,
    summary,
)

if TYPE_CHECKING:
    from sizeup.views.cards.panels import Panel

MEASURE_SECONDS = 40
"""What the quick plan takes with storage, as far as it is known before the probes are read."""
_BORDER_FROM_ROWS = 30
"""On a lower screen the lines need the rows of the borders."""
_WHOLE_VERDICT_FROM_ROWS = 16
"""On a lower screen the rows are left to the cards."""
_STATEMENT_ROWS, _STATEMENT_ROWS_LOW = 6, 4
"""Rows of what decides, before the rest of it waits for Enter on its card."""
_AROUND = 3
"""Rows of the lines above and below."""


class SummaryScreen(ModeScreen):
    """Verdict, cards, findings; charts or details below, where there are rows to spare."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")
    SCOPE = "summary"
    LEAST = (20, 5)
    VERTICAL_BREAKPOINTS = [(0, "-low"), (_BORDER_FROM_ROWS, "-bordered")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("summary")]

    def __init__(self) -> None:
        super().__init__()
        self._screen_size = self.app.size
        """Known before the first layout, so that everything is laid out and drawn once."""
        self._summary: Summary | None = None
        """What is known of the machine and the run; None before it was first asked for."""
        self._filled: tuple[object, ...] = ()
        """What the screen was filled with, and the size it was folded to."""
        self._unfolded = False
        """Whether all findings are listed though that takes more rows than there are."""
        self._cards: dict[str, CardView] = {}
        self._findings: dict[str, Finding] = {}
        self._mount: str | None = None
        """The directory whose storage is measured, as answered in this console; empty for none, None before that."""

    def body(self) -> Iterable[Widget]:
        """The verdict above the list of cards and findings; what there is to see of them below."""
        with Vertical(id="body"):
            yield Static(id="verdict", markup=False)
            yield KeyList(id="entries")
            yield SummaryPane(self.host.glyphs, id="below")

    def show_all(self) -> None:
        """Show the whole frame, and the body once: it is of the machine and the run."""
        super().show_run()
        self.show_machine()

    def show_machine(self) -> None:
        """Show the machine again."""
        super().show_machine()
        self._update()

    def show_run(self) -> None:
        """Show the run again."""
        super().show_run()
        self._update()

    def _update(self) -> None:
        """Compute the view and show it."""
        host = self.host
        shown = summary(host.machine, host.runs.session, host.stated_advice, self._actions())
        self._summary = in_console(shown, host.keys)
        self._fill()

    def _actions(self) -> tuple[str, ...]:
        """What a reader can do while there is no verdict."""
        host = self.host
        workload = f"{first_key_of('app.workload', host.keys)}: enter a workload, or an AWR file."
        if host.runs.running:
            return (workload, "Measuring.")
        if not host.measures:
            return (workload, f"Not measured: {host.unmeasured}.") if host.saved_session is None else (workload,)
        return (workload, f"{first_key_of('summary.measure', host.keys)}: measure (about {MEASURE_SECONDS} s).")

    def on_resize(self, event: events.Resize) -> None:
        """Wrap the lines again."""
        self._screen_size = event.size
        self._fill()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the details of a line."""
        self._show_preview(event.option_id)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Show the details of a line, and where they lead."""
        chosen = event.option_id or ""
        if chosen == MORE:
            self._unfolded = not self._unfolded
            self._filled = ()
            self._fill()
        elif chosen in self._cards:
            self._open_card(self._cards[chosen])
        elif chosen in self._findings:
            self._act_on(self._findings[chosen])

    def _open_card(self, card: CardView) -> None:
        from sizeup.tui.dialogs import ChoiceDialog, ask_which

        host = self.host
        shown = self._summary
        assert shown is not None
        lines = self._details(card, shown)
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

    def _details(self, card: CardView, shown: Summary) -> list[str]:
        return [by_keys(line, self.host.keys) for line in card_details(card, shown.given, self.host.machine)]

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
            "part": partial(host.go, "topology", finding_target(finding)),
            "probe": partial(host.go, "measure", name),
            "copy": copy,
        }
        ask_which(self.app, FindingDialog(finding, SEVERITY_WORDS[finding.severity], probe=name, reason=reason), ways)

    def action_measure(self) -> None:
        """Run the quick plan here, with storage on the mount that the user chose; asked for once in each console."""
        host = self.host
        if not host.measures:
            self.notify(f"Not measured: {host.unmeasured}.", markup=False)
        elif not host.runs.running:
            if self._mount is None or (self._mount and not Path(self._mount).is_dir()):
                self._choose_mount()
            else:
                self._measure(self._mount)

    def action_mount(self) -> None:
        """Choose another mount, and measure it."""
        if not self.host.measures:
            self.notify(f"Not measured: {self.host.unmeasured}.", markup=False)
        elif not self.host.runs.running:
            self._choose_mount()

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
        """Show the details of the line under the cursor, whatever has the focus."""
        self.query_one(KeyList).action_select()

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
        shown = self._summary
        listed = self.query_one(KeyList)
        width, rows = self._screen_size.width - 1, self._screen_size.height - _AROUND - self._notice_line.display + 1
        filled = shown, width, rows, self._unfolded, self.app.theme
        if shown is None or filled == self._filled:
            return
        self._filled = filled
        above = self._show_verdict(shown, width)
        table = card_table(shown.cards, width - 2)
        max_rows = rows - above - len(table.lines) - len(table.later) - 1
        options = [Option(Content.styled(f" {table.header}", "dim"), id="header", disabled=True)]
        options += [Option(card_content(line, self._styles), id=line.resource) for line in table.lines]
        options += [
            Option(Content(f" {line}"), id=f"later {number}", disabled=True) for number, line in enumerate(table.later)
        ]
        after_cards = len(options)
        options += finding_options(shown, max_rows, width, self._styles, unfolded=self._unfolded)
        left = rows - above - len(options)
        if left > PANE_ROWS or 1 < left < PANE_ROWS:
            options.insert(after_cards, Option("", id="gap", disabled=True))
            left -= 1
        before = listed.highlighted_option
        listed.set_options(options)
        names = [option.id for option in options]
        listed.highlighted = names.index(before.id) if before is not None and before.id in names else 1
        self._cards = {card.resource: card for card in shown.cards}
        self._findings = dict(shown.findings)
        listed.styles.height = len(options) if left >= PANE_ROWS else "1fr"
        self._show_below(width, left)

    def _show_verdict(self, shown: Summary, width: int) -> int:
        """Show the verdict; how many rows it takes."""
        verdict = self.query_one("#verdict", Static)
        most_rows = _STATEMENT_ROWS if self._screen_size.height >= _BORDER_FROM_ROWS else _STATEMENT_ROWS_LOW
        text = verdict_content(shown.verdict, width - 2, self._styles, most_rows)
        if shown.label:
            text = Content.assemble(text, "\n", (hanging(shown.label, width - 2, 1, 1), "dim"))
        if self._screen_size.height < _WHOLE_VERDICT_FROM_ROWS:
            text = text.split("\n")[0]
        verdict.update(text)
        session, host = self.host.runs.session, self.host
        title = host.header().host
        if not host.measures and session is not None:
            title += f", as of {session.header.started[:16].replace('T', ' ')} UTC"
        verdict.border_title = Content(title)
        return text.plain.count("\n") + 1 + (0 if self.has_class("-low") else 2)

    @property
    def _styles(self) -> StatusStyles:
        return status_styles(ansi=self.app.current_theme.ansi)

    def _show_below(self, width: int, rows: int) -> None:
        """Give the rows that are left to charts of what was measured, else to the machine and the next steps."""
        pane = self.query_one(SummaryPane)
        pane.display = rows >= PANE_ROWS
        shown, host = self._summary, self.host
        if not pane.display or shown is None:
            return
        found: tuple[Panel, ...] = ()
        if host.runs.session is not None:
            from sizeup.views.cards.panels import panels

            found = panels(host.runs.session, host.machine, shown.cards)
        if found:
            pane.show_charts(found, width, rows)
        else:
            pane.show_machine(host.machine, self._next_steps(), width, rows)
        option = self.query_one(KeyList).highlighted_option
        self._show_preview(None if option is None else option.id)

    def _next_steps(self) -> list[tuple[str, str]]:
        """What a reader can do next, each with its key."""
        host = self.host
        measure = f"Measure memory, the clock and a disk (about {MEASURE_SECONDS} s); asks for the directory"
        if self._mount is not None:
            measure = f"Measure memory, the clock and {self._mount or 'no disk (m: choose one)'}"
        steps = [("summary.measure", measure)] if host.measures and not host.runs.running else []
        steps += [
            ("app.workload", "Enter a workload, or an AWR file, for a verdict"),
            ("summary.licenses", "Choose what is licensed, for its cost"),
            ("mode.topology", "ScreenLook at sockets, caches, memory nodes and devices"),
            ("mode.sessions", "Open or compare what was measured before"),
        ]
        return [(first_key_of(action, host.keys), words) for action, words in steps]

    def _show_preview(self, key: str | None) -> None:
        """Show the details of a line where there is room for them."""
        shown, pane = self._summary, self.query_one(SummaryPane)
        if shown is None or not pane.display:
            return
        card, finding = self._cards.get(key or ""), self._findings.get(key or "")
        if finding is not None:
            parts = finding_parts(finding)
            lines = [line for part in parts for line in (part[0], *(f"  {one}" for one in part[1:]))]
            pane.show_details(finding_line(finding), lines)
        elif card is not None:
            # Of a card without a verdict nothing is known beyond what the machine is.
            title = card.title if card.judged.statement or not pane.lists_machine else ""
            pane.show_details(title, self._details(card, shown))
