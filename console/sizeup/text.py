"""Make strings safe to show, and replace characters that a terminal or an encoding cannot show."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

# C0 and C1 controls, DEL, the bidirectional overrides, line separators and lone surrogates. The line feed stays:
# notes have lines, and it can move no cursor on its own that a view did not ask to move.
_UNSAFE = "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"


def clean(text: str) -> str:
    """Return the text with a tab as a space and other control characters as U+FFFD."""
    if text.isprintable():
        return text
    return re.sub(_UNSAFE, lambda match: " " if match[0] == "\t" else "\ufffd", text)


_SIMILARITY = 0.65
"""From this similarity on (1: equal), a known name is suggested."""

_KEPT_IN_FILES = bytes((*range(0x20, 0x7F), *b"\0\t\n"))


def decode(data: bytes) -> str:
    """Return the text of a kernel file, cleaned except for the separators tab, line feed and NUL."""
    text = data.decode("utf-8", "replace")
    if text.isascii() and not data.translate(None, _KEPT_IN_FILES):
        return text
    return re.sub(_UNSAFE, lambda match: match[0] if match[0] in "\0\t" else "\ufffd", text)


def one_line(text: str, limit: int = 300) -> str:
    """Return the cleaned text on one line, cut with an ellipsis at ``limit`` characters."""
    line = " ".join(clean(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def capitalized(text: str) -> str:
    """Return the text with a capital first letter, except for names such as io.direct."""
    word = text.partition(" ")[0].rstrip(":,;")
    return text[0].upper() + text[1:] if word.isalpha() and word.islower() else text


def uncapitalized(text: str) -> str:
    """Return the text as it stands within a sentence, with a small first letter; a word in capitals stays."""
    return text if text[1:2].isupper() else f"{text[:1].lower()}{text[1:]}"


_UNIT_SUFFIX = re.compile(r"_(bytes|ns|hz)$")


def words_of(name: str) -> str:
    """Return the name of a coordinate or setting in words, without its unit: ``working set``."""
    return _UNIT_SUFFIX.sub("", name).replace("_", " ")


def cell_len(text: str) -> int:
    """Return the columns that a text takes in a terminal, as Rich counts them."""
    if text.isascii():
        return len(text)
    from rich import cells  # 11 ms of the start of a small command that prints ASCII

    return cells.cell_len(text)


def padded(text: str, columns: int, *, right: bool = False) -> str:
    """Return a text with blanks on its left (``right``) or its right until it fills so many columns of a terminal."""
    blanks = " " * max(columns - cell_len(text), 0)
    return blanks + text if right else text + blanks


def clipped(text: str, columns: int) -> str:
    """Return a text in at most so many columns of a terminal, with dots in place of the words that do not fit."""
    if cell_len(text) <= columns:
        return text
    words = text[:columns].rpartition(" ")[0]
    return f"{(words if 2 * len(words) > columns else text[: max(columns - 1, 0)]).rstrip(' ,;:')}…"


def nearest(name: str, known: Iterable[str]) -> str:
    """Return `` (did you mean X?)`` for the most similar known name, or nothing if none is similar.

    Of names with dots, only the last part is compared where the group before it is known: that a group is the same
    does not make its names similar.
    """
    from difflib import get_close_matches  # for errors alone

    names = list(known)
    group = name[: name.rfind(".") + 1]
    if not any(each.startswith(group) for each in names):
        group = ""
    parts = {each.removeprefix(group): each for each in names if each.startswith(group)}
    matches = get_close_matches(name.removeprefix(group), parts, n=1, cutoff=_SIMILARITY)
    return f" (did you mean {parts[matches[0]]}?)" if matches else ""


def plural(count: int, noun: str) -> str:
    """Return ``1 core``, ``2 cores``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def listed(names: Sequence[str]) -> str:
    """Return ``a, b and c``; empty for no names."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def if_known(value: T | None, write: Callable[[T], str | None] = str) -> str | None:
    """Return a value as ``write`` puts it; None where it is unknown."""
    return None if value is None else write(value)


def switch_text(value: bool | None, words: tuple[str, str] = ("on", "off")) -> str | None:  # noqa: FBT001  a fact
    """Return a switch in words, those of on and off; None where it is unknown."""
    return None if value is None else words[not value]


def first_of(names: Sequence[str], most: int) -> str:
    """Return ``a, b and 3 more``: the first ``most`` names, and how many are left out."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def counted(count: int | None, noun: str) -> str:
    """Return ``2 cores``, or ``cores unknown``."""
    return f"{noun}s unknown" if count is None else plural(count, noun)


_ASCII = {
    "-": "─━═╌┄┈╍┅┉▔▂▃╴╶╸╺‾–—",
    "|": "│┃║╎┆┊╏┇┋▏▎▍▌▐▕╵╷╹╻├┤",  # before a part of a tree a plus would say that the part was added
    "+": "┌┐┘┬┴┼╭╮╰╯╔╗╚╝╠╣╦╩╬┏┓┗┛┣┫┳┻╋┍┑┕┙┝┥┯┷┿╞╡╤╧╪✓✔",
    "`": "└",
    "_": "▁",
    "#": "█▉▊▋▓▒░▀▄▇▆▅▖▗▘▙▚▛▜▝▞▟",
    "o": "●○◉◎•°",
    ".": "·∙",
    "^": "▲△▴↑",
    "v": "▼▽▾↓",
    ">": "▶▷▸►→›»≥",
    "<": "◀◁◂◄←‹«≤",
    "*": "■◆◇◼▪♦",
    "x": "✗✘×",
    "~": "…±≈",
    "u": "µ",
    '"': "“”",
    "'": "‘’",
    " ": "\xa0",
}
"""Characters by their replacement, which has the same width, so the layout is kept."""


class _AsciiTable(dict[int, str]):
    """A translation table with a replacement for every character outside ASCII."""

    def __missing__(self, code: int) -> str:
        if code < 0x80:
            text = chr(code)
        elif 0x2800 <= code <= 0x28FF:
            text = "." if code > 0x2800 else " "
        else:
            letter, *marks = list(unicodedata.normalize("NFKD", chr(code)))
            bare = letter.isascii() and all(map(unicodedata.combining, marks))
            text = letter if bare and cell_len(chr(code)) == 1 else "?" * cell_len(chr(code))
        self[code] = text
        return text


_TABLE = _AsciiTable({ord(glyph): plain for plain, glyphs in _ASCII.items() for glyph in glyphs})


def plain(text: str) -> str:
    """Return ``text`` in ASCII, each character in as many columns as before; escape sequences are ASCII already."""
    return text if text.isascii() else text.translate(_TABLE)


def ascii_fallback(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return the ASCII replacement of what an encoding lacks; a handler for ``codecs.register_error``."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    if all("\udc80" <= character <= "\udcff" for character in lost):
        return bytes(ord(character) - 0xDC00 for character in lost), error.end  # of a file's name, as it is on the disk
    return plain(lost), error.end


_LIST = re.compile(r"[\w(]*\d(?:[\d\-:]*,[\d\-:]+)+[),.;]*")
"""A kernel list such as ``0-3,64-67``; it has no blanks, and a line may end behind each of its ranges."""


class _Wrapper(textwrap.TextWrapper):
    """Wraps between the ranges of a list of CPUs or nodes, never inside one, and never before a percent sign."""

    def _split(self, text: str) -> list[str]:
        parts: list[str] = []
        for chunk in super()._split(text):
            if chunk.startswith("%") and parts[-1:] == [" "] and len(parts) > 1:
                parts[-2:] = [f"{parts[-2]} {chunk}"]
            else:
                parts += re.split(r"(?<=,)(?=\d)", chunk) if len(chunk) > 20 and _LIST.fullmatch(chunk) else [chunk]
        return parts


def wrap(text: str, width: int, first: str = "", rest: str = "", *, break_words: bool = True) -> list[str]:
    """Wrap a text at ``width``, also behind the commas of long lists; ``first`` and ``rest`` start its lines."""
    return _Wrapper(
        width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False, break_long_words=break_words
    ).wrap(text)
