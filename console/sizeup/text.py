"""Strings made fit to be shown: from outside none may steer the screen, and a sentence begins with a capital."""

from __future__ import annotations

import re

# C0 and C1 controls, DEL, the bidirectional overrides, line separators and lone surrogates. The line feed stays:
# notes have lines, and it can move no cursor on its own that a view did not ask to move.
_UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


def clean(text: str) -> str:
    """The text with every character that could steer a terminal replaced: a tab by a space, the rest by U+FFFD."""
    return _UNSAFE.sub(lambda match: " " if match[0] == "\t" else "\ufffd", text)


_KEPT_IN_FILES = bytes((*range(0x20, 0x7F), *b"\0\t\n"))


def decode(data: bytes) -> str:
    """The text of a kernel's file, cleaned but for what parts it: tab, line feed and NUL."""
    text = data.decode("utf-8", "replace")
    if text.isascii() and not data.translate(None, _KEPT_IN_FILES):
        return text
    return _UNSAFE.sub(lambda match: match[0] if match[0] in "\0\t" else "\ufffd", text)


def one_line(text: str, limit: int = 300) -> str:
    """The text cleaned, on one line, and cut with an ellipsis at ``limit`` characters."""
    line = " ".join(clean(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def capitalised(text: str) -> str:
    """The text with a capital at its start; names such as io.direct stay as they are."""
    word = text.partition(" ")[0].rstrip(":,;")
    return text[0].upper() + text[1:] if word.isalpha() and word.islower() else text
