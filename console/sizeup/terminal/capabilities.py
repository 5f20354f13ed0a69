"""What the terminal at the other end can show, by the environment, and how wide it is."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping

from sizeup.errors import UsageError


def output_columns(narrowest: int = 60) -> int | None:
    """Return the columns of the terminal that standard output is, ``narrowest`` or more; None where it is none."""
    return max(shutil.get_terminal_size((80, 25)).columns, narrowest) if sys.stdout.isatty() else None


def needs_ascii(environment: Mapping[str, str], glyphs: str = "auto") -> bool:
    """Whether only ASCII is safe: without UTF-8, and on the Linux console, whose font lacks most of the rest.

    Who names glyphs for the charts there is taken to know the font.
    """
    return not is_utf8(environment) or (environment.get("TERM") == "linux" and glyphs in ("auto", "ascii"))


_MONOCHROME = re.compile(r"vt\d|dumb$|.*-(?:m|mono)$|$")


def colors(environment: Mapping[str, str]) -> int:
    """How many colors the console draws in, by the rules of Rich; 0 where TERM names none, or none are wanted."""
    if environment.get("NO_COLOR"):
        return 0
    if environment.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        return 1 << 24
    term = environment.get("TERM", "")
    if _MONOCHROME.match(term):
        return 0
    return 256 if term.rpartition("-")[2] in ("256color", "kitty") else 16


def mouse_holds_escape(environment: Mapping[str, str]) -> bool:
    """Whether the mouse would cost the Esc key: GNU screen, while it reports the mouse, keeps Esc until the next key.

    tmux, which does not, may call itself by the same TERM.
    """
    return bool(environment.get("STY")) or (
        environment.get("TERM", "").startswith("screen") and not environment.get("TMUX")
    )


def locale(environment: Mapping[str, str]) -> str:
    """The user's locale for characters.

    Python cannot be asked: under the C locale it turns itself to UTF-8 and sets LC_CTYPE to C.UTF-8,
    though the terminal stays what it was. That one case is told by LANG saying nothing.
    """
    if environment.get("LC_ALL"):
        return environment["LC_ALL"]
    language = environment.get("LANG") or "C"
    category = environment.get("LC_CTYPE") or language
    return language if category == "C.UTF-8" and language in ("C", "POSIX") else category


def is_utf8(environment: Mapping[str, str]) -> bool:
    """Whether the user's locale is a UTF-8 one."""
    return "utf8" in locale(environment).lower().replace("-", "")


def require_terminal(environment: Mapping[str, str], *, has_input: bool, has_screen: bool) -> None:
    """Refuse in words what the console cannot be shown on."""
    if not has_input or not has_screen:
        missing = "standard input" if not has_input else "standard error"
        raise UsageError(f"the console needs a terminal, and {missing} is none; without one use: sizeup --batch")
    if environment.get("TERM", "dumb") in ("dumb", ""):
        raise UsageError(
            "the console needs a terminal that can move its cursor, and TERM says this one cannot "
            f"(TERM={environment.get('TERM', '')!s}); set TERM, or use: sizeup --batch"
        )
