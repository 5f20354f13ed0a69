"""What a person types to have the console run something, and what becomes of it."""

import time
from collections.abc import Mapping
from pathlib import Path

from sizeup.probing.manifest import Manifest
from terminal import Terminal


def start_null(terminal: Terminal, samples: int) -> None:
    """Run the probe that measures nothing, a sample each millisecond, by keys alone."""
    terminal.wait_for("Detected")
    terminal.press("3")
    terminal.wait_for("Touches")
    terminal.press("G")
    terminal.wait_for("Measures nothing")
    terminal.press("s")
    terminal.wait_for("Number of samples")
    terminal.wait_quiet()  # the first field is ready a moment after it is drawn
    terminal.press(str(samples), "enter")  # in place of what is selected; Enter runs
    # A short run may have ended before it is drawn.
    assert terminal.pump(30, lambda: "running null" in terminal.text or "last null" in terminal.text), terminal.text


def fill_form(
    terminal: Terminal, manifest: Manifest, wanted: Mapping[str, str], *, patience_seconds: float = 0.3
) -> None:
    """Fill in the form of the probe that is shown, by keys alone, and go back to the list."""
    target = "" if manifest.target is None else manifest.target.setting
    left = dict(wanted)
    for parameter in manifest.parameter:
        if parameter.key and parameter.name in left:
            text = left.pop(parameter.name)
            terminal.press(parameter.key)
            terminal.wait_quiet(patience_seconds)
            if parameter.name == target:
                terminal.press(*"other", "enter")
                terminal.wait_quiet(patience_seconds)
                terminal.press(text, "tab")
            else:
                terminal.press(*parameter.labels.get(text, text).partition(" ")[2][:6], "enter")
            terminal.wait_quiet(patience_seconds)
    if left:
        terminal.press("s")
        terminal.wait_for(next(parameter.help[:12] for parameter in manifest.parameter if not parameter.basic))
        terminal.wait_quiet(2 * patience_seconds)
        for parameter in manifest.parameter:
            if parameter.basic:
                continue
            if parameter.name in left:
                terminal.press(left.pop(parameter.name))  # in place of what is selected
                terminal.wait_quiet(patience_seconds)
            terminal.press("tab")
            terminal.wait_quiet(patience_seconds)
            if not left:
                break
    terminal.press("escape")
    terminal.wait_quiet(2 * patience_seconds)


def measure_a_little(terminal: Terminal, tmp_path: Path) -> None:
    """Wait until the file holds some batches of samples, however slow this machine is."""
    folder = tmp_path / "sizeup/sessions"
    assert terminal.pump(20, lambda: sum(path.read_bytes().count(b'"kind":"samples"') for path in folder.iterdir()) > 1)


def gone(terminal: Terminal) -> bool:
    """Whether nobody is left soon, the run included."""
    deadline = time.monotonic() + 5
    while terminal.processes() and time.monotonic() < deadline:
        time.sleep(0.02)
    return not terminal.processes()
