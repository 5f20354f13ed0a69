"""Every screen at three sizes and in five looks, as pages to look at before a release.

Run by hand, from the root of the checkout; it measures once, about a minute with the storage step, then draws:

    PYTHONPATH=tests python -m benchmarks.appearances /tmp/sheets --mount /var/tmp

A page holds one screen at one size in each look: the themes dark and light, the terminal's own 16 colors on dark and
on light, no color, and ASCII.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.terminal_picture import DARK, LIGHT, Palette, frame, sheet, still
from terminal import Terminal

SIZES = ((80, 24), (120, 40), (200, 60))


@dataclass(frozen=True)
class Look:
    """How a terminal and the console's options make it look."""

    name: str
    options: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = (("COLORTERM", "truecolor"),)
    term: str = "xterm-256color"
    palette: Palette = DARK


LOOKS = (
    Look("dark"),
    Look("light", ("--theme", "light"), palette=LIGHT),
    Look("16 colors", environment=(), term="xterm"),
    Look("16 colors, light", ("--theme", "ansi-light"), environment=(), term="xterm", palette=LIGHT),
    Look("no color", environment=(("NO_COLOR", "1"),)),
    Look("ASCII", ("--ascii",)),
)


@dataclass(frozen=True)
class View:
    """A screen and the keys that lead to it, one step after the other."""

    name: str
    keys: tuple[str, ...]
    words: tuple[str, ...]
    """What stands on the screen after each key: a busy host draws late."""
    session: bool = True
    """Whether the measured session is open, or this machine without any."""


VIEWS = (
    View("1-summary", ("1",), ("Detected",)),
    View("1-summary-unmeasured", ("1",), ("Detected",), session=False),
    View("2-topology", ("2",), ("Parts",)),
    View("3-measure-memory", ("3", "j"), ("Direct I/O", "Pointer chase")),
    View("3-measure-storage", ("3",), ("Direct I/O",)),
    View("3-settings", ("3", "s"), ("Touches", "[-] Advanced"), session=False),
    View("4-sizing", ("4",), ("Inputs",)),
    View("4-licenses", ("4", "l"), ("Inputs", "Licenses, ")),
    View("5-sessions", ("5",), ("Started",), session=False),
    View("5-comparison", ("5", "c"), ("Started", "Change since"), session=False),
    View("help", ("?",), ("Everywhere",)),
    View("palette", (":",), ("Commands",)),
)


def measure(home: Path, mount: str, times: int = 2) -> None:
    """Save sessions of the quick plan below ``home``."""
    for _ in range(times):
        command = [sys.executable, "-m", "sizeup", "--batch", "--plan", "quick", *(("--mount", mount) if mount else ())]
        subprocess.run(command, env=_environment(home), check=True, capture_output=True, cwd=home)


def _environment(home: Path) -> dict[str, str]:
    return {**{name: str(home) for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")}, "PATH": "/usr/bin:/bin"} | {
        "SIZEUP_RUN_BUSY": "ignore"
    }


def draw(view: View, look: Look, columns: int, rows: int, home: Path) -> str:
    """Return a screen as SVG."""
    command = [sys.executable, "-m", "sizeup", *(("latest",) if view.session else ()), *look.options]
    environment = {**_environment(home), **dict(look.environment)}
    with Terminal(
        command, columns=columns, rows=rows, term=look.term, environment=environment, directory=home
    ) as terminal:
        terminal.wait_for("Detected")
        terminal.wait_quiet(0.4)
        for key, words in zip(view.keys, view.words, strict=True):
            terminal.press(key)
            terminal.wait_for(words)
            terminal.wait_quiet(0.4)
        return still(frame(terminal.screen, look.palette), look.name, look.palette.paper)


def main(arguments: Sequence[str]) -> None:
    """Draw the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the pages are written")
    parser.add_argument("--mount", default="", metavar="DIR", help="include the storage step on this directory")
    parser.add_argument("--only", nargs="+", default=[], metavar="VIEW", help="views whose names begin so")
    parser.add_argument("--columns", nargs="+", type=int, default=[], help="these widths alone")
    parser.add_argument("--home", type=Path, help="take the sessions that are saved below this directory")
    parsed = parser.parse_args(arguments)
    parsed.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        home = parsed.home or Path(scratch)
        if not any(home.glob("sizeup/sessions/*")):
            home.mkdir(parents=True, exist_ok=True)
            measure(home, parsed.mount)
        for view in VIEWS:
            if parsed.only and not view.name.startswith(tuple(parsed.only)):
                continue
            for columns, rows in SIZES:
                if parsed.columns and columns not in parsed.columns:
                    continue
                drawn = [(f"{view.name}, {look.name}", draw(view, look, columns, rows, home)) for look in LOOKS]
                path = parsed.folder / f"{view.name}-{columns}x{rows}.html"
                path.write_text(sheet(drawn), encoding="utf-8")
                print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
