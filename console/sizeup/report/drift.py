"""What drifted since a baseline, as lines of a terminal."""

from __future__ import annotations

from sizeup.compare.drift import Drift
from sizeup.report.table import table_lines, wrap
from sizeup.views.comparison.drift import drift_heading, fact_table, other_machine_sentence


def drift_text(found: Drift, width: int = 80) -> str:
    """Return the facts that drifted, then those that only one side knows."""
    lines = [*wrap(other_machine_sentence(found), width), drift_heading(found)]
    if found.drifted:
        lines += table_lines(fact_table(found.drifted), width)
    if found.undecided:
        lines += ["", "Not comparable, because one side does not know them"]
        lines += table_lines(fact_table(found.undecided), width)
    return "\n".join(lines) + "\n"
