"""What a person types to have the console run something, and what becomes of it."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from sizeup.probing.manifest import Manifest
from terminal import PATIENCE_SECONDS, Terminal


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
    shown, both = ("RUNNING", "VALID"), "Run both at the same time"
    assert terminal.pump(PATIENCE_SECONDS, lambda: any(one in terminal.text for one in (*shown, both))), terminal.text
    if both in terminal.text:  # another console is not through with its run
        terminal.press("down", "enter")
        assert terminal.pump(PATIENCE_SECONDS, lambda: any(one in terminal.text for one in shown)), terminal.text


def wait_ended(terminal: Terminal, samples: int) -> None:
    """Wait until the run that Measure shows has ended: no dot in the first line, all samples in the band."""

    def ended() -> bool:
        header, badge, _, basis = terminal.lines[:4]
        return "●" not in header and "VALID" in badge and basis.strip().endswith(f"{samples} samples")

    assert terminal.pump(PATIENCE_SECONDS, ended), terminal.text


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
                terminal.press(text, "enter")
                terminal.wait_quiet(patience_seconds)
                terminal.press("escape")  # the question whether to measure it, which keeps the target
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
    folder, kept = tmp_path / "sizeup/sessions", b'"kind":"samples"'
    assert terminal.pump(PATIENCE_SECONDS, lambda: sum(path.read_bytes().count(kept) for path in folder.iterdir()) > 1)


@contextlib.contextmanager
def held(terminal: Terminal) -> Iterator[None]:
    """Stop the process that measures: its run is in progress meanwhile, however long the rest takes."""
    processes = terminal.processes()
    parents = {int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) for pid in processes}
    (worker,) = set(processes) - parents
    os.kill(worker, signal.SIGSTOP)
    yield
    os.kill(worker, signal.SIGCONT)


def gone(terminal: Terminal) -> bool:
    """Whether nobody is left soon, the run included."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while terminal.processes() and time.monotonic() < deadline:
        time.sleep(0.02)
    return not terminal.processes()
