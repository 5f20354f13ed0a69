"""Elements of HTML and SVG, with everything that is text escaped on the way in."""

from __future__ import annotations

import html
from importlib import resources

from sizeup.text import clean

# Legal in JSON, but no file of XML may hold them.
_NO_CHARACTERS = {0xFFFE: "\ufffd", 0xFFFF: "\ufffd"}


class Markup(str):
    """Finished markup; a plain string is text and is escaped."""

    __slots__ = ()


def escaped(text: str) -> Markup:
    """The text as content or as an attribute's value, control characters replaced."""
    if isinstance(text, Markup):
        return text
    return Markup(html.escape(clean(text).translate(_NO_CHARACTERS), quote=True))


def element(tag: str, /, *children: str, **attributes: str | float) -> Markup:
    """One element; ``class_`` stands for ``class``, and an underscore for a hyphen."""
    return Markup(f"<{tag}{_written(attributes)}>{joined(*children)}</{tag}>")


def empty(tag: str, /, **attributes: str | float) -> Markup:
    """An element without content: ``<path d="..."/>`` and the like."""
    return Markup(f"<{tag}{_written(attributes)}/>")


def joined(*parts: str) -> Markup:
    """The parts one after the other."""
    return Markup("".join(escaped(part) for part in parts))


def number(value: float) -> str:
    """A coordinate: a tenth of a pixel is finer than any screen."""
    return f"{value:.1f}".removesuffix(".0")


def style_sheet(package: str, name: str, **values: str) -> Markup:
    """Return a CSS file of a package as few bytes: rules are joined, and lines that are a comment are left out.

    Each of ``values`` stands for a comment of its name: ``/*light*/``.
    """
    lines = (resources.files(package) / name).read_text(encoding="utf-8").splitlines()
    text = "".join(line.strip() for line in lines if not line.startswith("/*"))
    for key, value in values.items():
        text = text.replace(f"/*{key}*/", value)
    return Markup(text)


def _written(attributes: dict[str, str | float]) -> str:
    return "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(value) if isinstance(value, str) else number(value)}"'
        for key, value in attributes.items()
    )
