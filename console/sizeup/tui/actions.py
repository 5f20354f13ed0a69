"""Every key of the console, once: bindings, footer, help and palette are all drawn from this list."""

from __future__ import annotations

from collections.abc import Collection, Iterable

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


SCOPES: dict[str, str] = {
    "app": "Everywhere",
    "overview": "Overview",
    "topology": "Topology",
    "probes": "Probes",
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
        Action("mode.overview", "1", "app.mode('overview')", "Overview", "Show what is wrong and what matters."),
        Action("mode.topology", "2", "app.mode('topology')", "Topology", "Show what this machine is."),
        Action("mode.probes", "3", "app.mode('probes')", "Probes", "Show and run measurements."),
        Action("mode.sizing", "4", "app.mode('sizing')", "Sizing", "Show what it should carry; try other inputs."),
        Action("mode.sessions", "5", "app.mode('sessions')", "Sessions", "Show and compare what was measured before."),
        Action("mode.next", "tab", "app.next_pane", "Next pane", "Move to the next pane.", palette=False),
        Action("app.help", "question_mark,f1", "app.help", "Help", "Show the keys that work here.", footer=True),
        Action(
            "app.palette", "colon,ctrl+p", "app.command_palette", "Palette", "Find an action by name.", palette=False
        ),
        Action("app.copy", "y", "app.copy", "Copy", "Copy what is shown as text, and keep it in a file."),
        Action("app.screenshot", "P", "app.picture", "Picture", "Write the screen as an SVG file."),
        Action("app.redraw", "ctrl+l", "app.redraw", "Redraw", "Draw the screen again, after something wrote on it."),
        Action("app.suspend", "ctrl+z", "app.suspend_process", "Suspend", "Go to the shell; fg comes back."),
        Action("app.quit", "q,ctrl+q", "app.leave", "Quit", "Leave; asks first while a run is on.", footer=True),
        Action("app.interrupt", "ctrl+c", "app.interrupt", "Quit now", "Pressed twice: cancel the run and leave."),
    ),
    "overview": (
        Action("overview.measure", "r", "screen.measure", "Measure", "Run the quick plan, staying here.", footer=True),
        Action(
            "overview.cancel", "x", "screen.cancel", "Cancel", "Cancel the run; what was measured stays.", footer=True
        ),
        Action(
            "overview.open",
            "enter",
            "screen.open",
            "Open",
            "Show what stands behind the line.",
            footer=True,
            palette=False,
        ),
    ),
    "topology": (
        Action("topology.map", "t", "screen.map", "Tree or map", "Show the map, or the tree again.", footer=True),
        Action("topology.find", "slash", "screen.find", "Find", "Search names and facts.", footer=True),
        Action("topology.diff", "d", "screen.diff", "Diff", "Hold it against the baseline or a session.", footer=True),
        Action("topology.against", "D", "screen.against", "Against", "Choose what to hold it against."),
        Action("topology.next", "n", "screen.find_next(1)", "Next", "Go to the next part found, or that differs."),
        Action("topology.previous", "N", "screen.find_next(-1)", "Previous", "Go to the one before."),
    ),
    "sizing": (
        Action(
            "sizing.more", "plus,equals_sign,right", "screen.step(1)", "More", "Raise the chosen input.", footer=True
        ),
        Action("sizing.less", "minus,left", "screen.step(-1)", "Less", "Lower the input.", footer=True),
        Action("sizing.reset", "backspace,delete", "screen.reset", "Undo", "Take a change back.", footer=True),
        Action("sizing.add", "a", "screen.add", "Add", "Choose any input by words, and type it.", footer=True),
        Action("sizing.tornado", "t", "screen.tornado", "Moves", "Show which input matters most.", footer=True),
        Action("sizing.licenses", "l", "screen.licenses", "License", "Show every vendor's licenses.", footer=True),
        Action(
            "sizing.recompute",
            "r",
            "screen.recompute",
            "Recompute",
            "Recompute a saved session's advice with today's rules, or show what it recorded.",
            footer=True,
        ),
        Action("sizing.presets", "b", "screen.presets", "Case", "Compare with a published case.", footer=True),
    ),
    "probes": (
        Action(
            "run.samples",
            "enter",
            "screen.samples",
            "Samples",
            "Show the samples behind the chosen point.",
            footer=True,
        ),
        Action("run.start", "r", "screen.run_probe", "Run", "Run the probe that is chosen.", footer=True),
        Action("run.plan", "p", "screen.next_plan", "Plan", "Choose quick, standard or full.", footer=True),
        Action("run.settings", "s", "screen.settings", "Settings", "Change the settings of the probe.", footer=True),
        Action("run.pause", "space", "screen.pause", "Pause", "Pause the run, or go on.", footer=True),
        Action("run.cancel", "x", "screen.cancel", "Cancel", "Cancel the run; what was measured stays.", footer=True),
        Action("run.back", "escape", "screen.back", "Back", "Leave samples, zoom or table; else cancel the run."),
        Action("run.view", "v", "screen.next_view(1)", "View", "Show the next picture of the step.", footer=True),
        Action("run.view-before", "V", "screen.next_view(-1)", "View before", "Show the picture before."),
        Action("run.step", "n", "screen.next_step(1)", "Step", "Show the next step of the probe.", footer=True),
        Action("run.step-before", "N", "screen.next_step(-1)", "Step before", "Show the step before."),
        Action("run.table", "t", "screen.table", "Table", "Show the points as a table, or the chart.", footer=True),
        Action("run.zoom", "z", "screen.zoom", "Zoom", "Give the chart the whole screen, or back.", footer=True),
    ),
    "sessions": (
        Action("sessions.compare", "c", "screen.compare", "Compare", "Compare with the baseline.", footer=True),
        Action("sessions.baseline", "m", "screen.baseline", "Baseline", "Mark it as the baseline.", footer=True),
        Action("sessions.note", "n", "screen.note", "Note", "Write a note into it.", footer=True),
        Action("sessions.export", "e", "screen.export", "Export", "Write a report or a masked copy.", footer=True),
        Action("sessions.find", "slash", "screen.find", "Find", "Search by words.", footer=True),
        Action("sessions.view", "v", "screen.next_view", "View", "Show the next picture of the comparison."),
        Action("sessions.back", "escape", "screen.back", "Back", "Leave the comparison, or the search."),
        Action("sessions.resume", "R", "screen.resume", "Resume", "Run what an unfinished one is missing."),
        Action("sessions.live", "u", "screen.live", "This box", "Show this machine again.", footer=True),
    ),
    "chart": (
        Action("chart.left", "left,h", "cursor(-1)", "Left", "Read the value to the left.", palette=False),
        Action("chart.right", "right,l", "cursor(1)", "Right", "Read the value to the right.", palette=False),
        Action("chart.up", "up,k", "cursor_row(-1)", "Up", "Read the row or line above.", palette=False),
        Action("chart.down", "down,j", "cursor_row(1)", "Down", "Read the row or line below.", palette=False),
        Action("chart.first", "home,g", "cursor_to(0)", "First", "Read the first value.", palette=False),
        Action("chart.last", "end,G", "cursor_to(-1)", "Last", "Read the last value.", palette=False),
    ),
    "list": (
        Action("list.down", "j", "cursor_down", "Down", "One line down.", palette=False),
        Action("list.up", "k", "cursor_up", "Up", "One line up.", palette=False),
        Action("list.first", "g", "first", "Top", "First line.", palette=False),
        Action("list.last", "G", "last", "Bottom", "Last line.", palette=False),
        Action("list.page-down", "ctrl+d,ctrl+f", "page_down", "Page down", "One page down.", palette=False),
        Action("list.page-up", "ctrl+u,ctrl+b", "page_up", "Page up", "One page up.", palette=False),
    ),
    "tree": (
        Action("tree.toggle", "enter,space", "toggle_node", "Fold", "Fold or unfold this part.", palette=False),
        Action("tree.fold", "h,left", "fold", "Fold", "Fold, or go to the part around.", palette=False),
        Action("tree.unfold", "l,right", "unfold", "Unfold", "Unfold, or go to the first part inside.", palette=False),
    ),
    "dialog": (
        Action(
            "dialog.close", "escape", "screen.dismiss_dialog", "Close", "Close without doing anything.", palette=False
        ),
    ),
}


def bindings(*scopes: str) -> list[Binding]:
    """The bindings of some scopes, with ids so that a keymap can replace their keys."""
    return [
        Binding(action.keys, action.call, action.label, show=action.footer, id=action.id)
        for scope in scopes
        for action in ACTIONS[scope]
    ]


_SPELLINGS = {
    "question_mark": "?",
    "colon": ":",
    "slash": "/",
    "escape": "Esc",
    "enter": "Enter",
    "space": "Space",
    "tab": "Tab",
    "left": "Left",
    "right": "Right",
    "up": "Up",
    "down": "Down",
    "home": "Home",
    "end": "End",
    "f1": "F1",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
    "backspace": "Bksp",
    "delete": "Del",
}


def key_text(key: str) -> str:
    """A key as it is printed on keyboards: ``^p``, ``?``, ``Esc``."""
    if key.startswith("ctrl+"):
        return "^" + key.removeprefix("ctrl+")
    return _SPELLINGS.get(key, key)


def first_key(action: Action, keymap: dict[str, str]) -> str:
    """The key that the footer shows for an action."""
    return key_text(keymap.get(action.id, action.keys).split(",")[0])


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
