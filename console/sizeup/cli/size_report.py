"""A sizing result as a file that stands alone: a web page, or Markdown."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sizeup.cli.results import document_text, write_document
from sizeup.portability import host_name

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from datetime import date

    from sizeup.cli.sizing_inputs import SizedSubject
    from sizeup.sizing.advise import Sizing
    from sizeup.sizing.rules import Rules
    from sizeup.views.document.blocks import Block, DocumentPart


def write_report(
    chosen: str, arguments: argparse.Namespace, sizing: Sizing, rules: Rules, today: date, of: SizedSubject, label: str
) -> None:
    """Write the result to the file that was named."""
    from sizeup.views.document.sizing_document import Subject, sizing_document

    about = Subject(_title(of), of.machine if of.session is None else None, of.session, label)
    written = sizing_document(sizing, rules, today, about, tuple(_chapters(arguments.show, sizing, rules)))
    write_document(arguments.output, document_text(written, chosen))


def _title(of: SizedSubject) -> str:
    """Return the name of what was sized; a machine goes by its host name."""
    if of.session is not None:
        return of.session.title or of.session.header.host
    if of.machine is None:
        return of.name
    where = host_name() if of.name == "this machine" else os.path.basename(os.path.abspath(of.name))
    return of.machine.platform.hostname or where


def _chapters(show: Sequence[str], sizing: Sizing, rules: Rules) -> Iterator[DocumentPart]:
    """Yield the chapters that were asked for by further options."""
    from sizeup.views.document.blocks import DocumentPart
    from sizeup.views.result.licenses import license_table

    if "licenses" in show:
        yield DocumentPart("Licenses of every vendor", (license_table(sizing, rules),), open=True)
    if "sensitivity" in show and (blocks := tuple(_sensitivity(sizing, rules))):
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
