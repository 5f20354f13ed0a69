"""Answers of sizing as blocks of a document: each with its working and its inputs, and the sources behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sizeup.charts.table import Column, Table
from sizeup.model.advice import Advice, Source
from sizeup.views.document.blocks import Block, Heading, Items, Paragraph, Working
from sizeup.views.inputs.advice import confidence_text, input_text

_NO_ADDRESS = "no public address"


def advice_blocks(advice: Advice, recorded: str = "") -> Iterator[Block]:
    """Yield one answer with its working; ``recorded`` is what a session says in its place, where that differs."""
    yield Heading(advice.title)
    yield Paragraph(advice.verdict)
    if recorded:
        yield Paragraph(f"Recorded: {recorded}")
    if advice.working:
        yield Working(advice.working)
    if advice.caveats:
        yield Items(advice.caveats)
    if advice.inputs:
        yield Paragraph("From: " + "; ".join(map(input_text, advice.inputs)) + ".")


def cited(advice: Iterable[Advice]) -> tuple[Source, ...]:
    """Return the sources of all of these answers, each once."""
    return tuple({source.id: source for item in advice for source in item.sources}.values())


def sources_table(sources: Iterable[Source]) -> Table:
    """Return sources with their date, how sure they are, and where to read them."""
    return Table(
        "",
        (Column("Source"), Column("Date"), Column("Confidence"), Column("Address")),
        tuple(
            (source.title, source.date or "undated", confidence_text(source), source.url or _NO_ADDRESS)
            for source in sources
        ),
    )
