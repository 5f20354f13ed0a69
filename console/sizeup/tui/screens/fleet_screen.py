"""Many hosts at once: a row per host, and what is known of the one under the cursor."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from sizeup.fleet.fleet import Fleet, HostStatus
from sizeup.fleet.table import fitting, headline, host_lines, hosts_table, problem_sentences
from sizeup.report.table import table_lines
from sizeup.tui.dialogs import Dialog
from sizeup.tui.widgets.lists import KeyList

_HEAD_LINES = 2
"""Titles and rule above the rows of a table."""


class FleetScreen(Dialog[str]):
    """The hosts of a fleet by machine type; choosing one gives the path of its newest session."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")
    BINDINGS: ClassVar[list[BindingType]] = [("q", "screen.dismiss_dialog", "Close")]

    def __init__(self, fleet: Fleet) -> None:
        super().__init__()
        self._fleet = fleet
        self._hosts = {host.name: host for host in fleet.hosts}

    def compose(self) -> ComposeResult:
        """The answer, the list, and the host."""
        with Vertical(id="fleet"):
            yield Static(headline(self._fleet), id="fleet-answer", markup=False)
            with Vertical(id="fleet-hosts") as hosts:
                hosts.border_title = "Hosts"
                hosts.border_subtitle = "Enter opens the newest session, Esc closes"
                yield KeyList()
            with VerticalScroll(id="fleet-host"):
                yield Static(markup=False)

    def on_resize(self) -> None:
        """Draw the table in the width that there is."""
        self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        listed = self.query_one(KeyList)
        before = listed.highlighted_option
        width, options = listed.size.width - 1, list[Option]()
        for name, hosts in self._fleet.types.items():
            shown = sorted(hosts, key=lambda host: list(HostStatus).index(host.status))  # the worst first, then by name
            lines = table_lines(fitting(hosts_table(self._fleet, hosts, shown), width), width)
            rows = lines[_HEAD_LINES : _HEAD_LINES + len(shown)]
            options += [Option(line, disabled=True) for line in (name, *lines[:_HEAD_LINES])]
            options += [Option(line, id=host.name) for line, host in zip(rows, shown, strict=True)]
            options += [Option(line, disabled=True) for line in (*lines[_HEAD_LINES + len(shown) :], "")]
        options += [Option(sentence, disabled=True) for sentence in problem_sentences(self._fleet)]
        listed.set_options(options)
        chosen = before.id if before is not None else next((each.id for each in options if each.id), None)
        if chosen is not None:
            listed.highlighted = listed.get_option_index(chosen)
        self._show(chosen)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show a host."""
        self._show(event.option_id)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer with its newest session."""
        if event.option_id is not None:
            self.dismiss(self._hosts[event.option_id].sessions[0].path)

    def _show(self, name: str | None) -> None:
        pane = self.query_one("#fleet-host")
        host = self._hosts.get(name or "")
        pane.border_title = "" if host is None else host.name
        text = [] if host is None else host_lines(self._fleet, host, max(pane.size.width - 1, 20))
        pane.query_one(Static).update("\n".join(text))
        pane.scroll_home(animate=False)
