"""A sizing result as a file that stands alone: a web page, or Markdown."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sizeup.cli.conflicts import refuse_combination
from sizeup.errors import UsageError
from sizeup.portability import host_name

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from datetime import date

    from sizeup.model.machine import Machine
    from sizeup.session.value import Session
    from sizeup.sizing.advise import Sizing
    from sizeup.sizing.rules import Rules
    from sizeup.views.document.blocks import Block, DocumentPart
    from sizeup.views.document.sizing_document import Subject

_FORMATS = ("--html", "--markdown")
_OTHER_OUTPUT = ("--keys", "--candidates", "--against", "--explain", "--working", "--sources", "--json")
"""Options that print something else; a report has the working and the sources of every answer."""


def add_report_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a report."""
    formats = parser.add_mutually_exclusive_group()
    formats.add_argument(
        "--html",
        action="store_true",
        help="write the result as one web page: verdict, resources, licenses and cost with sources and dates, "
        "assumptions, inputs with their origin, working; with --licenses or --sensitivity, those too",
    )
    formats.add_argument("--markdown", action="store_true", help="write the same as Markdown")
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="with --html or --markdown: file to write (default: standard output)"
    )


def wants_report(arguments: argparse.Namespace) -> bool:
    """Return whether a report is to be written; ``UsageError`` where options contradict that."""
    out = arguments.output
    if not arguments.html and not arguments.markdown:
        if out is not None:
            raise UsageError("-o needs --html or --markdown; add one of them, or leave out -o")
        return False
    for flag in _FORMATS:
        refuse_combination(arguments, flag, _OTHER_OUTPUT)
    for read in (*arguments.workload, arguments.session, arguments.rules, arguments.sysroot):
        if out and read and os.path.exists(out) and os.path.exists(read) and os.path.samefile(out, read):
            raise UsageError(f"-o {out}: would overwrite a file that the result is worked out from; choose another one")
    return True


def report_subject(
    arguments: argparse.Namespace, machine: Machine | None, session: Session | None, name: str, label: str
) -> Subject:
    """Return what was sized; a machine goes by its host name."""
    from sizeup.views.document.sizing_document import Subject

    if session is not None:
        name = session.title or session.header.host
    elif machine is not None:
        given = arguments.sysroot
        where = host_name() if given == "/" else os.path.basename(os.path.abspath(given))
        name = machine.platform.hostname or where
    return Subject(name, machine, session, label)


def write_report(arguments: argparse.Namespace, sizing: Sizing, rules: Rules, today: date, of: Subject) -> None:
    """Write the result to the file that was named."""
    from sizeup.report import output
    from sizeup.views.document.sizing_document import sizing_document

    written = sizing_document(sizing, rules, today, of, tuple(_chapters(arguments, sizing, rules)))
    if arguments.html:
        from sizeup.report.html import page

        text = page(written)
    else:
        from sizeup.report.markdown import markdown

        text = markdown(written)
    content = text.encode("utf-8", "replace")
    output.write(arguments.output or "-", lambda file: file.write(content))


def _chapters(arguments: argparse.Namespace, sizing: Sizing, rules: Rules) -> Iterator[DocumentPart]:
    """Yield the chapters that were asked for by further options."""
    from sizeup.views.document.blocks import DocumentPart
    from sizeup.views.result.licenses import license_table

    if arguments.licenses:
        yield DocumentPart("Licenses of every vendor", (license_table(sizing, rules),), open=True)
    if arguments.sensitivity and (blocks := tuple(_sensitivity(sizing, rules))):
        yield DocumentPart("What would change the answer", blocks, open=True)


def _sensitivity(sizing: Sizing, rules: Rules) -> Iterator[Block]:
    from sizeup.sizing.sensitivity import flips, tornados
    from sizeup.views.inputs.sensitivity import flip_table, tornado_chart

    for target, swings in tornados(sizing.inputs, sizing.advice, rules):
        if swings:
            yield tornado_chart(target, swings)
    turns = flip_table(flips(sizing.inputs, sizing.advice, rules), sizing, rules)
    if turns.rows:
        yield turns
