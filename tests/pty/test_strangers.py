"""Every mode on every kind of terminal that is met: what reaches it, what it then shows, and how it is left."""

import contextlib
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from consoles import ended, records
from played_runs import PlayedRunner
from terminal import Terminal

TERMS = ("xterm-256color", "xterm", "screen-256color", "tmux-256color", "linux", "vt100", "dumb")
LOCALES = ("C", "POSIX", "C.UTF-8", "de_DE.ISO-8859-1")
_DEBRIS = re.compile(r"\x1b|\ufffd|\[[?<>=]?\d+(?:;\d+)*[a-zA-Z$]|\d\$[py]")
_WEIGHTS = {b"", b"0", b"1", b"2", b"4", b"7", b"22", b"24", b"27", b"39", b"49"}
_SHOWN = ("Detected", "Socket 0", "Touches", "Share of capacity", "No sessions yet")
"""Words of each mode that no other has."""


def _cases() -> list[object]:
    """All of them; one in sixteen runs each time, so that each terminal, locale and switch has its turn."""
    cases = []
    for number, (term, locale, no_color, ascii_only) in enumerate(
        product(TERMS, LOCALES, (False, True), (False, True))
    ):
        each_time = number % 16 == (8 + number // 16 * 5) % 16
        words = [term, locale, *(["NO_COLOR"] if no_color else []), *(["--ascii"] if ascii_only else [])]
        marks = () if each_time else pytest.mark.long
        cases.append(pytest.param(term, locale, no_color, ascii_only, id=" ".join(words), marks=marks))
    return cases


@pytest.fixture(scope="session")
def locales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a locale that is no UTF-8, made here as few machines have one; empty where none can be made."""
    folder = tmp_path_factory.mktemp("locales")
    with contextlib.suppress(OSError):
        subprocess.run(["localedef", "-i", "de_DE", "-f", "ISO-8859-1", folder / LOCALES[3]], capture_output=True)
    return folder


def skip_without(locale: str, locales: Path) -> None:
    if locale == LOCALES[3] and not (locales / locale).exists():
        pytest.skip("no localedef, or no sources of locales, to make one that is no UTF-8")


@pytest.mark.parametrize(("term", "locale", "no_color", "ascii_only"), _cases())
def test_every_mode_is_whole(
    tmp_path: Path, locales: Path, term: str, locale: str, *, no_color: bool, ascii_only: bool
) -> None:
    skip_without(locale, locales)
    environment = {"XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "LOCPATH": str(locales)}
    environment |= {"NO_COLOR": "1"} if no_color else {}
    arguments = [sys.executable, "-m", "sizeup", *(["--ascii"] if ascii_only else [])]
    with Terminal(arguments, term=term, locale=locale, environment=environment, directory=tmp_path) as terminal:
        if term == "dumb":
            assert terminal.wait() == 2
            assert b"\x1b" not in terminal.output
            assert "TERM=dumb" in terminal.text
            assert "sizeup --batch" in terminal.text.replace("\n", " ")
            return
        plain = ascii_only or term == "linux" or locale != "C.UTF-8"
        terminal.wait_for("Detected")
        for number, words in enumerate(_SHOWN, start=1):
            terminal.press(str(number))
            terminal.wait_for(words)
            # The first screen has no borders on so few rows, but the line above it has the logo.
            terminal.wait_for(("+-" if plain else "╭─") if number > 1 else " _##" if plain else " ▁▄█")
            terminal.wait_quiet()

            assert words in terminal.text
            assert terminal.lines[-1].endswith("? Help  q Quit")
            assert _DEBRIS.findall(terminal.text) == []
            # A question mark is a key, or stands alone where a value is not known; else a glyph was lost.
            assert re.findall(r"\S\?|\?\S", terminal.text.replace("Is it balanced?", "")) == []
        terminal.press("q")

        assert terminal.wait() == 0
        assert terminal.output.isascii() == plain
        assert terminal.modes == {7, 25}
        assert terminal.attributes_now == terminal.attributes
        # Nothing is left where there is no second screen to leave, as pyte has none.
        assert terminal.text.strip() == ""
        if no_color:
            styles = re.findall(rb"\x1b\[([\d;]*)m", bytes(terminal.output))
            assert {part for style in styles for part in style.split(b";")} <= _WEIGHTS


@pytest.mark.parametrize(
    ("term", "locale", "marker"), [("screen", "de_DE.ISO-8859-1", "o"), ("vt100", "C", "o"), ("xterm", "C.UTF-8", "●")]
)
def test_a_command_prints_what_the_locale_can_show(
    tmp_path: Path, locales: Path, term: str, locale: str, marker: str
) -> None:
    skip_without(locale, locales)
    path = tmp_path / "one.sizeup.jsonl"
    PlayedRunner(path).write([*records(), *ended()])
    arguments = [sys.executable, "-m", "sizeup", "show", str(path)]
    environment = {"XDG_CONFIG_HOME": str(tmp_path), "LOCPATH": str(locales)}
    with Terminal(arguments, term=term, locale=locale, environment=environment, rows=300) as terminal:
        assert terminal.wait() == 0
        assert f"{marker} Latency" in terminal.text
        assert terminal.output.isascii() == (locale == "C")
