"""Every key of the console, once: bindings, footer, help and palette are all drawn from this list."""

from __future__ import annotations

from collections.abc import Collection
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
    palette: bool = True
    """Moving about is no entry of the palette."""


_move = partial(Action, palette=False)


SCOPES: dict[str, str] = {
    "app": "Everywhere",
    "summary": "Summary",
    "topology": "Topology",
    "measure": "Measure",
    "sizing": "Sizing",
    "sessions": "Sessions",
    "compare": "Compare",
    "fleet": "Fleet",
    "chart": "Chart",
    "list": "Lists and trees",
    "tree": "Trees",
    "dialog": "Dialogs",
}
"""Where actions hold, with the heading that help gives them."""

ACTIONS: dict[str, tuple[Action, ...]] = {
    "app": (
        Action("mode.summary", "1", "app.mode('summary')", "Summary", "Show the verdict, resources and findings."),
        Action("mode.topology", "2", "app.mode('topology')", "Topology", "Show the parts of this machine."),
        Action("mode.measure", "3", "app.mode('measure')", "Measure", "Show and run measurements."),
        Action("mode.sizing", "4", "app.mode('sizing')", "Sizing", "Show demand and capacity; try other inputs."),
        Action("mode.sessions", "5", "app.mode('sessions')", "Sessions", "Show and compare what was measured before."),
        _move("mode.next", "tab", "app.focus_next", "Next pane", "Move to the next pane."),
        Action("app.workload", "w", "screen.workload", "Workload", "Enter the workload, or a file that describes it."),
        Action("app.compare", "c", "screen.compare", "Compare", "Compare with the baseline, or with another one."),
        Action("app.export", "e", "screen.export", "Export", "Write a report, a comparison or a masked copy."),
        Action("app.note", "n", "screen.note", "Note", "Write a note into the session."),
        Action("app.latest", "o", "screen.latest", "Last session", "Open the session that was written last."),
        Action("app.palette", "ctrl+p,colon", "app.command_palette", "Commands", "Find a command by its name."),
        Action("app.help", "question_mark,f1", "app.help", "Help", "Show the keys that work here."),
        Action("app.copy", "y", "app.copy", "Copy", "Copy the screen as text, and save it to a file."),
        Action("app.screenshot", "P", "app.picture", "Picture", "Save the screen as an SVG file."),
        Action("app.redraw", "ctrl+l", "app.redraw", "Redraw", "Redraw the screen."),
        Action("app.gentle", "ctrl+g", "app.gentle", "Gentle", "Switch between gentle runs and runs at full load."),
        Action("app.suspend", "ctrl+z", "app.suspend_process", "Suspend", "Suspend to the shell; fg returns."),
        Action("app.quit", "q,ctrl+q", "app.leave", "Quit", "Quit; asks first while a run is in progress."),
        Action("app.interrupt", "ctrl+c", "app.interrupt", "Quit now", "Pressed twice: cancel the run and quit."),
    ),
    "summary": (
        Action("summary.measure", "r", "screen.measure", "Measure", "Measure everything with the quick plan."),
        Action("summary.licenses", "l", "screen.licenses", "License", "Show every vendor's licenses."),
        Action("summary.cancel", "x", "screen.cancel", "Cancel", "Cancel the run; results so far are kept."),
        _move("summary.open", "enter", "screen.open", "Why", "Show the details of the selected line."),
        Action("summary.resume", "R", "screen.resume", "Resume", "Run the missing steps of the interrupted session."),
        Action(
            "summary.mount", "m", "screen.mount", "Target",
            "Choose the directory that will hold the database, and measure.",
        ),
    ),
    "topology": (
        Action("topology.map", "t", "screen.map", "Tree", "Go to the map, or back to the tree."),
        Action(
            "topology.view", "v", "screen.next_view(1)", "Next view", "Show the next tab: the map, or a page of facts."
        ),
        Action("topology.view-before", "V", "screen.next_view(-1)", "Previous view", "Show the previous tab."),
        Action("topology.open", "enter", "screen.open", "Details", "Show all that is known of the selected part."),
        Action("topology.find", "slash", "screen.find", "Find", "Search names and facts."),
        Action("topology.diff", "d", "screen.diff", "Diff", "Compare with the baseline or a session."),
        Action("topology.choose-other", "D", "screen.choose_other", "Diff with", "Choose what to compare it with."),
        Action(
            "topology.next", "greater_than_sign", "screen.find_next(1)", "Next",
            "Go to the next match or difference, or part with a finding.",
        ),
        Action(
            "topology.previous", "less_than_sign", "screen.find_next(-1)", "Previous",
            "Go to the previous match or difference, or part with a finding.",
        ),
    ),
    "sizing": (
        Action("sizing.more", "plus,equals_sign,right", "screen.step(1)", "Change", "Increase the selected input."),
        Action("sizing.less", "minus,left", "screen.step(-1)", "Decrease", "Decrease the selected input."),
        Action("sizing.reset", "backspace,delete", "screen.reset", "Undo", "Undo a change."),
        Action(
            "sizing.save", "s", "screen.save", "Save",
            "Save the typed inputs in the session, with their verdict.",
        ),
        Action("sizing.add", "a", "screen.add", "Any input", "Search for any input, and set it."),
        Action("sizing.tornado", "v", "screen.tornado", "Next view", "Show which input changes the answer most."),
        Action("sizing.licenses", "l", "screen.licenses", "License", "Show every vendor's licenses."),
        Action(
            "sizing.recompute", "ctrl+r", "screen.recompute", "Recompute",
            "Recompute a saved session's advice, or show what it recorded.",
        ),
    ),
    "measure": (
        Action("run.samples", "enter", "screen.samples", "Details", "Show the samples of the selected point."),
        Action("run.start", "r", "screen.run_probe", "Measure", "Measure with the selected probe."),
        Action("run.plan", "p", "screen.plan", "Plan", "Choose quick, standard or full."),
        Action("run.settings", "s", "screen.settings", "Settings", "Show all settings of the probe."),
        Action("run.pause", "space", "screen.pause", "Pause", "Pause or resume the run."),
        Action("run.cancel", "x", "screen.cancel", "Cancel", "Cancel the run; results so far are kept."),
        Action("run.back", "escape", "screen.back", "Back", "Close samples, zoom or table, or go back to the list."),
        Action("run.view", "v", "screen.next_view(1)", "Next view", "Show the next tab of the step."),
        Action("run.view-before", "V", "screen.next_view(-1)", "Previous view", "Show the previous tab."),
        Action("run.step", "greater_than_sign", "screen.next_step(1)", "Next", "Show the next step of the probe."),
        Action(
            "run.step-before", "less_than_sign", "screen.next_step(-1)", "Previous",
            "Show the previous step of the probe.",
        ),
        Action("run.table", "t", "screen.table", "Table", "Switch between table and chart."),
        Action("run.sort", "S", "screen.sort", "Sort", "Sort the table by its next column, up and down."),
        Action("run.zoom", "z", "screen.zoom", "Zoom", "Switch full screen on or off."),
    ),
    "sessions": (
        _move("sessions.open", "enter", "screen.open", "Open", "Show the session in all screens."),
        Action("sessions.baseline", "b", "screen.baseline", "Baseline", "Mark it as the baseline, or remove the mark."),
        Action("sessions.find", "slash", "screen.find", "Find", "Search the sessions."),
        Action("sessions.fleet", "f", "screen.fleet", "Fleet", "Show many hosts: a row each, and which stand out."),
        Action("sessions.back", "escape", "screen.back", "Back", "Close the search."),
        Action("sessions.resume", "R", "screen.resume", "Resume", "Run the missing steps of an unfinished session."),
        Action("sessions.live", "u", "screen.live", "This host", "Show this machine again."),
    ),
    "compare": (
        Action("compare.measure", "r", "screen.measure", "Measure", "Measure again what changed most."),
        Action("compare.swap", "b", "screen.swap", "Swap", "Swap the baseline and the new session."),
        Action("compare.view", "v", "screen.next_view", "Next view", "Show the next chart of the comparison."),
        Action("compare.table", "t", "screen.table", "Table", "Show every metric with its interval, and the caveats."),
        Action("compare.zoom", "z", "screen.zoom", "Zoom", "Switch full screen on or off."),
        Action("compare.back", "escape", "screen.back", "Back", "Leave the zoom, or the comparison."),
    ),
    "fleet": (
        _move("fleet.open", "enter", "screen.open", "Open", "Show the newest session of the host in all screens."),
        Action("fleet.table", "t", "screen.table", "Table", "Show all that is known of the host, or the strips."),
        Action("fleet.group", "g", "screen.group", "Group by", "Group the hosts by machine type, or not."),
        Action("fleet.sort", "S", "screen.sort", "Sort", "Put the worst hosts in the next figure first."),
        Action("fleet.find", "slash", "screen.find", "Find", "Go to a host by its name."),
        Action("fleet.back", "escape", "screen.back", "Back", "Leave the fleet."),
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

FOOTERS: dict[str, tuple[str, ...]] = {
    "app": ("app.palette", "app.help", "app.quit"),
    "summary": (
        "summary.cancel", "app.workload", "summary.measure", "summary.licenses", "summary.open", "app.latest",
        "app.compare", "app.export",
    ),
    "topology": (
        "topology.map", "topology.view", "topology.find", "topology.open", "topology.diff", "topology.next",
    ),
    "measure": (
        "run.samples", "run.start", "run.pause", "run.cancel", "run.plan", "run.settings", "run.view", "run.table",
        "run.sort", "run.zoom", "app.compare",
    ),
    "sizing": (
        "sizing.more", "sizing.reset", "app.workload", "sizing.add", "sizing.save", "sizing.licenses", "app.compare",
    ),
    "sessions": (
        "sessions.open", "app.compare", "app.note", "app.export", "sessions.find", "sessions.fleet", "sessions.live",
    ),
    "fleet": ("fleet.open", "app.compare", "fleet.group", "fleet.sort", "fleet.find", "fleet.table"),
    "compare": (
        "compare.measure", "compare.swap", "compare.view", "compare.table", "compare.zoom", "app.export", "app.note",
    ),
}  # fmt: skip
"""What the last line shows in each scope, the most important first; less what is idle, and never more than fit."""
_MOST_HERE = 6
"""Keys of a screen in the last line: nine with those of every screen."""


def bindings(*scopes: str) -> list[Binding]:
    """The bindings of some scopes, with ids so that a keymap can replace their keys."""
    return [
        Binding(action.keys, action.call, action.label, show=False, id=action.id)
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

_SIGNS = {"question_mark": "?", "colon": ":", "slash": "/", "plus": "+", "minus": "-", "equals_sign": "=",
          "greater_than_sign": ">", "less_than_sign": "<"}  # fmt: skip
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


def action_of(action_id: str) -> Action:
    """The action of this id."""
    return next(action for scope in ACTIONS.values() for action in scope if action.id == action_id)


def first_key_of(action_id: str, keymap: dict[str, str]) -> str:
    """The key that the footer shows for the action of this id."""
    return first_key(action_of(action_id), keymap)


def footer(scope: str, keymap: dict[str, str], without: Collection[str] = frozenset()) -> list[tuple[str, str]]:
    """Key and label of what the footer shows for a scope, but for the actions of some ids."""
    shown = [action_of(name) for name in FOOTERS[scope] if name not in without]
    return [(first_key(action, keymap), action.label) for action in shown[:_MOST_HERE]]


def modes(keymap: dict[str, str]) -> list[tuple[str, str]]:
    """Key and name of each mode, in their order."""
    return [
        (first_key(action, keymap), action.label) for action in ACTIONS["app"] if action.call.startswith("app.mode(")
    ]
