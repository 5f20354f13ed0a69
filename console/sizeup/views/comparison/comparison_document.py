"""A comparison as a document of its own: the conclusion first, then the figures, the machines and the conditions."""

from __future__ import annotations

from msgspec.structs import replace

from sizeup.compare.comparison import Comparison
from sizeup.views.comparison.comparison import answers_table, comparison_part, undecided_sentence
from sizeup.views.comparison.conclusion import conclusion_lines
from sizeup.views.document.blocks import Facts
from sizeup.views.document.document import Document
from sizeup.views.result.verdict import VerdictText
from sizeup.views.run.run_status import NO_RUN


def comparison_document(comparison: Comparison) -> Document:
    """Return the comparison in reading order; its status is that of its conditions, where there are any."""
    part, answers = comparison_part(comparison), answers_table(comparison)
    blocks = (answers, *part.blocks) if answers.rows else part.blocks
    status = "COMPARED"
    if answers.rows:
        status = "FAIL" if comparison.condition_met else "NOT CERTAIN" if comparison.undecided else "PASS"
    statement = next(iter(conclusion_lines(comparison)), undecided_sentence(comparison) or "See the conditions.")
    verdict, parts = VerdictText(status, statement), (replace(part, blocks=blocks, open=True),)
    return Document("Comparison", Facts(()), NO_RUN, verdict, (), {}, (), 0, (), (), (), parts)
