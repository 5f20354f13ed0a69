"""What the terminal at the other end can show, told from the environment alone."""

from __future__ import annotations

from collections.abc import Mapping

from sizeup.errors import UsageError


def needs_ascii(environment: Mapping[str, str], glyphs: str = "auto") -> bool:
    """Whether only ASCII is safe: without UTF-8, and on the Linux console, whose font lacks most of the rest.

    Who names glyphs for the charts there is taken to know the font.
    """
    return not is_utf8(environment) or (environment.get("TERM") == "linux" and glyphs in ("auto", "ascii"))


def few_colours(environment: Mapping[str, str]) -> bool:
    """Whether the terminal is not known to show more than 16 colours, told as Rich tells it.

    Of a theme in many colours such a terminal gets the nearest 16, and some words vanish into the background.
    """
    if environment.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        return False
    return environment.get("TERM", "").rpartition("-")[2] not in ("256color", "kitty")


def is_utf8(environment: Mapping[str, str]) -> bool:
    """Whether the user's locale is a UTF-8 one.

    Python cannot be asked: under the C locale it turns itself to UTF-8 and sets LC_CTYPE to C.UTF-8,
    though the terminal stays what it was. That one case is told by LANG saying nothing.
    """
    locale = environment.get("LC_ALL") or environment.get("LC_CTYPE") or environment.get("LANG") or "C"
    coerced = (
        locale == "C.UTF-8" and not environment.get("LC_ALL") and environment.get("LANG", "C") in ("", "C", "POSIX")
    )
    return "utf8" in locale.lower().replace("-", "") and not coerced


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
