"""The texts that users of sizeup read, each with where it comes from."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from sizeup.cli import COMMANDS
from sizeup.cli.parser import build_parser

ROOT = Path(__file__).parents[2]

Text = tuple[str, int, str]
"""Path relative to the root (or the command line), line, and the text with single spaces."""


def one_line(text: str) -> str:
    """Return the text with every run of white space as one space."""
    return " ".join(text.split())


def literals(source: str) -> Iterator[tuple[int, str]]:
    """Return the string literals with a space, but no docstrings; ``{}`` stands for what an f-string fills in."""
    tree = ast.parse(source)
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(value) for value in node.values}
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            text = node.value
        else:
            continue
        if " " in text.strip():
            yield node.lineno, one_line(text)


def toml_texts(source: str) -> Iterator[tuple[int, str]]:
    """Return the strings with a space of a manifest or a rule pack, and the line where each begins."""

    def strings(value: object) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from strings(child)

    for text in strings(tomllib.loads(source)):
        if " " in text.strip():
            start = text.strip().splitlines()[0]
            yield source[: max(source.find(start), 0)].count("\n") + 1, one_line(text)


def paragraphs(source: str) -> Iterator[tuple[int, str]]:
    """Return the paragraphs of a Markdown page; a table row or a list item is one of its own."""
    number, lines = 1, list[str]()
    for line_number, line in enumerate([*source.splitlines(), ""], 1):
        starts = re.match(r"\s*(?:[-*] |\d+\. |\||#|```)", line) is not None
        if lines and (starts or not line.strip()):
            yield number, one_line(" ".join(lines))
            lines = []
        if line.strip():
            number = number if lines else line_number
            lines.append(line)


def helps() -> Iterator[tuple[str, str]]:
    """Return what ``--help`` prints, by command."""
    for path in ("", *COMMANDS):
        yield f"sizeup {path} --help", one_line(build_parser(path).format_help())


def user_visible() -> Iterator[Text]:
    """Return every text that a user may read."""
    sources = [path for folder in ("console", "plugins") for path in sorted((ROOT / folder).rglob("*"))]
    pages = [ROOT / name for name in ("README.md", "CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md")]
    pages += sorted((ROOT / "docs").rglob("*.md"))
    readers = {".py": literals, ".toml": toml_texts, ".md": paragraphs}
    for path in (*sources, *pages):
        reader = readers.get(path.suffix)
        if reader is not None:
            for line, text in reader(path.read_text(encoding="utf-8")):
                yield path.relative_to(ROOT).as_posix(), line, text
    for command, text in helps():
        yield command, 0, text
