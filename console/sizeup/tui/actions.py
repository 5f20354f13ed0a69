"""Every key of the console, once: bindings, footer, help and palette are all drawn from this list."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial

from msgspec import Struct
from textual.binding import Binding


class Action(Struct, frozen=True):
    """One thing a user can do, with the keys that do it."""

    id: str
    """Stable: what a configuration file remaps."""
    keys: str
    """Comma-separated, in Textual's spelling; the first is the one shown."""
    call: str
    """Textual's action string, resolved where the binding stands."""
    label: str
    """A word or two for the footer."""
    help: str
    """What happens, as a sentence."""
    footer: bool = False
    """Shown in the footer, where room is short."""
    palette: bool = True
    """Moving about is no entry of the palette."""


_footer = partial(Action, footer=True)
_move = partial(Action, palette=False)


def _workload(scope: str, *, footer: bool = False) -> Action:
    text = "Enter the workload, or a file that describes it."
    return Action(f"{scope}.workload", "w", "screen.workload", "Workload", text, footer)


SCOPES: dict[str, str] = {
    "app": "Everywhere",
    "summary": "Summary",
    "topology": "Topology",
    "measure": "Measure",
    "sizing": "Sizing",
    "sessions": "Sessions",
    "chart": "Chart",
    "list": "Lists and trees",
    "tree": "Trees",
    "dialog": "Dialogs",
}
"""Where actions hold, with the heading that help gives them."""

ACTIONS: dict[str, tuple[Action, ...]] = {
    "app": (
        Action("mode.summary", "1", "app.mode('summary')", "Summary", "Show the verdict, the cards and the findings."),
        Action("mode.topology", "2", "app.mode('topology')", "Topology", "Show the parts of this machine."),
        Action("mode.measure", "3", "app.mode('measure')", "Measure", "Show and run measurements."),
        Action("mode.sizing", "4", "app.mode('sizing')", "Sizing", "Show demand and capacity; try other inputs."),
        Action("mode.sessions", "5", "app.mode('sessions')", "Sessions", "Show and compare what was measured before."),
        _move("mode.next", "tab", "app.focus_next", "Next pane", "Move to the next pane."),
        _footer("app.help", "question_mark,f1", "app.help", "Help", "Show the keys that work here."),
        _move("app.palette", "colon,ctrl+p", "app.command_palette", "Palette", "Find an action by name."),
        Action("app.copy", "y", "app.copy", "Copy", "Copy the screen as text, and save it to a file."),
        Action("app.screenshot", "P", "app.picture", "Picture", "Save the screen as an SVG file."),
        Action("app.redraw", "ctrl+l", "app.redraw", "Redraw", "Redraw the screen."),
        Action("app.gentle", "ctrl+g", "app.gentle", "Gentle", "Switch between gentle runs and runs at full load."),
        Action("app.suspend", "ctrl+z", "app.suspend_process", "Suspend", "Suspend to the shell; fg returns."),
        _footer("app.quit", "q,ctrl+q", "app.leave", "Quit", "Quit; asks first while a run is in progress."),
        Action("app.interrupt", "ctrl+c", "app.interrupt", "Quit now", "Pressed twice: cancel the run and quit."),
    ),
    "summary": (
        _footer("summary.measure", "r", "screen.measure", "Measure", "Run the quick plan from here."),
        _workload("summary", footer=True),
        _footer("summary.licenses", "l", "screen.licenses", "License", "Show every vendor's licenses."),
        _footer("summary.cancel", "x", "screen.cancel", "Cancel", "Cancel the run; results so far are kept."),
        _footer(
            "summary.open", "enter", "screen.open", "Details", "Show the details of the selected line.", palette=False
        ),
        _footer("summary.latest", "o", "screen.latest", "Last session", "Open the session that was written last."),
        Action("summary.resume", "R", "screen.resume", "Resume", "Run the missing steps of the interrupted session."),
        Action(
            "summary.mount", "m", "screen.mount", "Mount",
            "Choose the directory that will hold the database, and measure.",
        ),
    ),
    "topology": (
        _footer("topology.map", "t", "screen.map", "Tree or map", "Go to the map, or back to the tree."),
        _footer(
            "topology.view", "v", "screen.next_view(1)", "Next tab", "Show the next tab: the map, or a page of facts."
        ),
        Action("topology.view-before", "V", "screen.next_view(-1)", "Previous tab", "Show the previous tab."),
        _footer("topology.find", "slash", "screen.find", "Find", "Search names and facts."),
        _footer("topology.diff", "d", "screen.diff", "Diff", "Compare with the baseline or a session."),
        Action("topology.choose-other", "D", "screen.choose_other", "Diff with", "Choose what to compare it with."),
        _workload("topology"),
        Action("topology.next", "n", "screen.find_next(1)", "Next", "Go to the next match or difference."),
        Action("topology.previous", "N", "screen.find_next(-1)", "Previous", "Go to the previous match or difference."),
    ),
    "sizing": (
        _footer("sizing.more", "plus,equals_sign,right", "screen.step(1)", "Increase", "Increase the selected input."),
        Action("sizing.less", "minus,left", "screen.step(-1)", "Decrease", "Decrease the selected input."),
        _footer("sizing.reset", "backspace,delete", "screen.reset", "Undo", "Undo a change."),
        _footer(
            "sizing.save", "s", "screen.save", "Save",
            "Save the typed inputs in the session, with the verdict and the advice on them.",
        ),
        _footer("sizing.add", "a", "screen.add", "Add", "Search for any input, and set it."),
        _workload("sizing", footer=True),
        Action(
            "sizing.file", "f", "screen.workload_file", "File",
            "Take the workload from a file: AWR, Statspack, sar, iostat, vmstat, kSar or TOML.",
        ),
        _footer("sizing.tornado", "t", "screen.tornado", "Factors", "Show which input changes the answer most."),
        _footer("sizing.licenses", "l", "screen.licenses", "License", "Show every vendor's licenses."),
        _footer(
            "sizing.recompute", "r", "screen.recompute", "Recompute",
            "Recompute a saved session's advice with today's rules, or show what it recorded.",
        ),
        _footer("sizing.presets", "b", "screen.presets", "Case", "Compare with a published case."),
    ),
    "measure": (
        _footer("run.samples", "enter", "screen.samples", "Samples", "Show the samples of the selected point."),
        _footer("run.start", "r", "screen.run_probe", "Run", "Run the selected probe."),
        _footer("run.plan", "p", "screen.plan", "Plan", "Choose quick, standard or full."),
        _footer("run.settings", "s", "screen.settings", "Settings", "Show all settings of the probe."),
        _footer("run.pause", "space", "screen.pause", "Pause", "Pause or resume the run."),
        _footer("run.cancel", "x", "screen.cancel", "Cancel", "Cancel the run; results so far are kept."),
        Action("run.back", "escape", "screen.back", "Back", "Close samples, zoom or table, or go back to the list."),
        _footer("run.view", "v", "screen.next_view(1)", "Next tab", "Show the next tab of the step."),
        Action("run.view-before", "V", "screen.next_view(-1)", "Previous tab", "Show the previous tab."),
        _footer("run.step", "n", "screen.next_step(1)", "Step", "Show the next step of the probe."),
        Action("run.step-before", "N", "screen.next_step(-1)", "Previous step", "Show the previous step of the probe."),
        _footer("run.table", "t", "screen.table", "Table", "Switch between table and chart."),
        _footer("run.sort", "o", "screen.sort(1)", "Sort", "Sort the table by its next column."),
        Action("run.sort-reverse", "O", "screen.sort(0)", "Reverse", "Reverse the order of the table."),
        _footer("run.zoom", "z", "screen.zoom", "Zoom", "Switch full screen on or off."),
        _workload("run"),
    ),
    "sessions": (
        _footer("sessions.compare", "c", "screen.compare", "Compare", "Compare with the baseline, or another session."),
        _footer(
            "sessions.baseline", "m", "screen.baseline", "Baseline", "Mark it as the baseline, or remove the mark."
        ),
        _footer("sessions.note", "n", "screen.note", "Note", "Write a note into it."),
        _footer(
            "sessions.export", "e", "screen.export", "Export",
            "Write a report, the comparison that is shown, or a masked copy.",
        ),
        _footer("sessions.find", "slash", "screen.find", "Find", "Search the sessions."),
        Action(
            "sessions.statistics", "s", "screen.statistics", "Statistics",
            "Show every metric of the comparison with its interval.",
        ),
        Action("sessions.view", "v", "screen.next_view", "View", "Show the next chart of the comparison."),
        Action("sessions.fleet", "f", "screen.fleet", "Fleet", "Show many hosts: a row each, and which stand out."),
        Action("sessions.back", "escape", "screen.back", "Back", "Close the comparison or the search."),
        Action("sessions.resume", "R", "screen.resume", "Resume", "Run the missing steps of an unfinished session."),
        _workload("sessions"),
        _footer("sessions.live", "u", "screen.live", "This host", "Show this machine again."),
    ),
    "chart": (
        _move("chart.left", "left,h", "cursor(-1)", "Left", "Move the cursor to the left."),
        _move("chart.right", "right,l", "cursor(1)", "Right", "Move the cursor to the right."),
        _move("chart.up", "up,k", "cursor_row(-1)", "Up", "Move to the row or line above."),
        _move("chart.down", "down,j", "cursor_row(1)", "Down", "Move to the row or line below."),
        _move("chart.first", "home,g", "cursor_to(0)", "First", "Go to the first value."),
        _move("chart.last", "end,G", "cursor_to(-1)", "Last", "Go to the last value."),
    ),
    "list": (
        _move("list.down", "j", "cursor_down", "Down", "One line down."),
        _move("list.up", "k", "cursor_up", "Up", "One line up."),
        _move("list.first", "g", "first", "Top", "First line."),
        _move("list.last", "G", "last", "Bottom", "Last line."),
        _move("list.page-down", "ctrl+d,ctrl+f", "page_down", "Page down", "One page down."),
        _move("list.page-up", "ctrl+u,ctrl+b", "page_up", "Page up", "One page up."),
    ),
    "tree": (
        _move("tree.toggle", "enter,space", "toggle_node", "Fold", "Collapse or expand."),
        _move("tree.fold", "h,left", "fold", "Fold", "Collapse, or go to the parent."),
        _move("tree.unfold", "l,right", "unfold", "Unfold", "Expand, or go to the first child."),
    ),
    "dialog": (_move("dialog.close", "escape", "screen.dismiss_dialog", "Close", "Close without doing anything."),),
}  # fmt: skip


def bindings(*scopes: str) -> list[Binding]:
    """The bindings of some scopes, with ids so that a keymap can replace their keys."""
    return [
        Binding(action.keys, action.call, action.label, show=action.footer, id=action.id)
        for scope in scopes
        for action in ACTIONS[scope]
    ]


CURSOR_KEYS = (
    Binding("down", "cursor_down", show=False),
    Binding("up", "cursor_up", show=False),
    Binding("pagedown", "page_down", show=False),
    Binding("pageup", "page_up", show=False),
    Binding("home", "first", show=False),
    Binding("end", "last", show=False),
)
"""What moves in a view of rows besides the keys of vi."""

_SIGNS = {"question_mark": "?", "colon": ":", "slash": "/", "plus": "+", "minus": "-", "equals_sign": "="}
_NAMED = ("enter", "space", "tab", "left", "right", "up", "down", "home", "end", "f1")
_SPELLINGS = {
    **_SIGNS,
    **{name: name.capitalize() for name in _NAMED},
    "escape": "Esc",
    "backspace": "Bksp",
    "delete": "Del",
}


def key_text(key: str) -> str:
    """A key as it is printed on keyboards: ``^p``, ``?``, ``Esc``."""
    if key.startswith("ctrl+"):
        return "^" + key.removeprefix("ctrl+")
    return _SPELLINGS.get(key, key)


def pressed_key(shown: str) -> str:
    """Return a key in Textual's spelling as it stands on the screen: the inverse of ``key_text``."""
    if len(shown) > 1 and shown.startswith("^"):
        return "ctrl+" + shown.removeprefix("^")
    return next((key for key, text in _SPELLINGS.items() if text == shown), shown)


def first_key(action: Action, keymap: dict[str, str]) -> str:
    """The key that the footer shows for an action."""
    return key_text(keymap.get(action.id, action.keys).split(",")[0])


def first_key_of(action_id: str, keymap: dict[str, str]) -> str:
    """The key that the footer shows for the action of this id."""
    return next(first_key(action, keymap) for scope in ACTIONS.values() for action in scope if action.id == action_id)


def footer(
    scopes: Iterable[str], keymap: dict[str, str], without: Collection[str] = frozenset()
) -> list[tuple[str, str]]:
    """Key and label of what the footer shows for some scopes, but for the actions of some ids."""
    return [
        (first_key(action, keymap), action.label)
        for scope in scopes
        for action in ACTIONS[scope]
        if action.footer and action.id not in without
    ]


def modes(keymap: dict[str, str]) -> list[tuple[str, str]]:
    """Key and name of each mode, in their order."""
    return [
        (first_key(action, keymap), action.label) for action in ACTIONS["app"] if action.call.startswith("app.mode(")
    ]
