"""Results in the format that is asked for, on standard output or in a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from sizeup.cli.arguments import Argument, Group, arg, one_of, typed
from sizeup.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from sizeup.views.document.document import Document

_SUFFIXES = {
    ".csv": "csv",
    ".gz": "share",
    ".html": "html",
    ".json": "json",
    ".md": "markdown",
    ".parquet": "tidy-parquet",
    ".prom": "openmetrics",
    ".svg": "svg",
    ".txt": "text",
}


_BINARY = frozenset({"share", "tidy-parquet"})
"""Formats that no program opens by the name of another."""


def format_arguments(formats: Sequence[str]) -> tuple[Group, Argument]:
    """Return the options of a command that writes these formats; one of them is text, the default."""
    listed = ", ".join(formats)
    return (
        one_of(
            arg(
                "--format",
                choices=formats,
                metavar="FORMAT",
                help=f"{listed} (default: by the suffix of -o, else text)",
            ),
            arg("--json", dest="format", action="store_const", const="json", help="same as --format json"),
        ),
        arg("-o", "--output", metavar="OUT", default="-", help="file to write (default: standard output)"),
    )


def chosen_format(
    arguments: argparse.Namespace,
    formats: Collection[str],
    inputs: Iterable[str | None],
    effects: Mapping[str, Collection[str]] | None = None,
) -> str:
    """Return the format that was named, else that of the suffix of ``-o``, else text.

    Raises UsageError where ``-o`` names one of the inputs, and for an option that was typed and has no effect:
    ``effects`` holds the formats that it has one on.
    """
    out: str = arguments.output
    for path in inputs:
        if out != "-" and path and os.path.exists(out) and os.path.exists(path) and os.path.samefile(out, path):
            raise UsageError(f"-o {out}: would overwrite a file that is read; choose another file")
    suffix = os.path.splitext(out)[1].lower()
    chosen: str = arguments.format or ("text" if out == "-" else _SUFFIXES.get(suffix, ""))
    if chosen not in formats:
        raise UsageError(f"-o {out}: expected a name that ends as its format does; add --format: {', '.join(formats)}")
    other = chosen if out == "-" else _SUFFIXES.get(suffix, chosen)
    if other != chosen and {other, chosen} & _BINARY:
        ending = next((suffix for suffix, name in _SUFFIXES.items() if name == chosen), ".txt")
        raise UsageError(f"-o {out}: expected a name that ends as the format {chosen} does ({ending}), found {suffix}")
    for flag, useful in (effects or {}).items():
        if chosen not in useful and typed(arguments, flag):
            raise UsageError(
                f"{flag} has no effect on the format {chosen}; leave out {flag}, or add --format {' or '.join(useful)}"
            )
    return chosen


def write_document(out: str, text: str) -> None:
    """Write text to a file or to standard output, in UTF-8 whatever the locale."""
    from sizeup.report import output

    output.write(out, lambda file: file.write(text.encode("utf-8", "replace")))


def document_text(written: Document, chosen: str, *, ascii_only: bool = False) -> str:
    """Return a document in a format that people read: html, markdown or text."""
    match chosen:
        case "html":
            from sizeup.report.html import page

            return page(written)
        case "markdown":
            from sizeup.report.markdown import markdown

            return markdown(written)
    from sizeup.report.text import text

    return text(written, ascii_only=ascii_only)


def list_masked(masked: Iterable[tuple[str, str]], where: str, *notes: str) -> None:
    """List stand-ins with their originals, for the sender only, before the file is written: ^C still stops it."""
    from sizeup.charts.table import Column, Table
    from sizeup.report.text import table_lines

    listed = Table("Masked", (Column(where), Column("Original")), tuple(sorted(masked)))
    print(*table_lines(listed, 100), *notes, sep="\n", file=sys.stderr, flush=True)


def write_text(text: str, out: str = "-") -> None:
    """Write text to standard output, in ASCII where the user's locale is not UTF-8: a pager may lack the rest too."""
    from sizeup.terminal.capabilities import is_utf8
    from sizeup.text import plain

    if out != "-":
        write_document(out, text)
    else:
        sys.stdout.write(text if is_utf8(os.environ) else plain(text))


def write_json(document: object, out: str = "-") -> None:
    """Write a document to standard output or to a file."""
    import msgspec

    write_document(out, msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n")
