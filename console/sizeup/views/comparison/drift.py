"""What drifted since a baseline, as a table and for scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sizeup.charts.table import Column, Table
from sizeup.compare.drift import Drift
from sizeup.compare.parts import ComparedFact
from sizeup.text import plural
from sizeup.views.machine.section import UNKNOWN

SCHEMA = "sizeup.check/1"
_COLUMNS = (Column("fact"), Column("baseline"), Column("now"))


def fact_table(facts: Sequence[ComparedFact]) -> Table:
    """Return facts with both values."""
    return Table("", _COLUMNS, tuple((one.fact, one.baseline or UNKNOWN, one.now or UNKNOWN) for one in facts))


def undecided_sentence(found: Drift) -> str:
    """Return why a check is not decided, and what to do."""
    return (
        f"{plural(len(found.undecided), 'fact')} could not be compared; run it as the user who took the baseline (root "
        "reads more), take a new baseline, or add --allow-undecided"
    )


def drift_data(found: Drift) -> dict[str, Any]:
    """Return the document of ``--json``."""
    return {
        "schema": SCHEMA,
        "compared": found.compared,
        "other_host": bool(found.other_machine),
        "other_host_evidence": found.other_machine or None,
        "drifted": [_fact(one) for one in found.drifted],
        "undecided": [
            {**_fact(one), "reason": "unknown in the baseline" if one.baseline is None else "unknown now"}
            for one in found.undecided
        ],
    }


def _fact(one: ComparedFact) -> dict[str, str | None]:
    return {"fact": one.fact, "baseline": one.baseline, "now": one.now}
