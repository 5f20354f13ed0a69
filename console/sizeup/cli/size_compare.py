"""Size several servers for one workload and print them side by side, the best first.

    sizeup size compare server-x offer.toml --workload awr.txt

FILE is a capture, a session, a TOML file of a server that is offered, or a published case.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sizeup.cli.arguments import JSON, arg, refuse_combination
from sizeup.cli.sizing_inputs import SIZING, sized_subject, sizing_rules, workload_inputs
from sizeup.errors import ExitStatus, UsageError

if TYPE_CHECKING:
    from sizeup.charts.table import Table
    from sizeup.views.result.candidates import Candidate

_WIDTH = 80
ARGUMENTS = (
    arg("servers", metavar="FILE", nargs="+", help="servers to choose from; what one states counts before --set"),
    *SIZING,
    arg(
        "--editions", metavar="A,B",
        help="also what the licenses of these products cost on each server: ee,se2,postgresql; sizeup size --show "
        "licenses lists them",
    ),
    JSON,
)  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Size the candidates and print them, the best first; as JSON the whole answer of each."""
    from sizeup.sizing.advise import size
    from sizeup.views.inputs.advice import sizing_data
    from sizeup.views.result.candidates import Candidate, best_first, edition_table, price_table

    refuse_combination(arguments, "--json", ("--editions",))
    names = arguments.servers
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles:
        raise UsageError(f"size compare: expected every server once, found {', '.join(doubles)} more than once")
    rules, today, settings = sizing_rules(arguments.rules), datetime.now(UTC).date(), workload_inputs(arguments)
    subjects = [sized_subject(name, settings, own_first=True) for name in names]
    found, refused = list[Candidate](), list[str]()
    for one in subjects:
        try:
            found.append(Candidate(one.name, size(one.inputs, rules, today)))
        except UsageError as error:
            refused.append(str(error))
    if not found:
        raise UsageError(refused[0])
    ranked = best_first(found)
    if arguments.json:
        print(json.dumps([sizing_data(one.sizing, rules, today, one.name) for one in ranked], indent=1))
    else:
        editions = [name.strip() for name in (arguments.editions or "").split(",") if name.strip()]
        print("\n".join(_lines(ranked, (price_table(ranked), edition_table(ranked, editions, rules)))))
    for text in refused:
        print(f"sizeup: not compared: {text}", file=sys.stderr)
    return ExitStatus.USAGE if refused else ExitStatus.OK


def _lines(candidates: Sequence[Candidate], costs: Iterable[Table]) -> list[str]:
    from sizeup.report.table import table_lines, wrapped
    from sizeup.views.result.basis import basis_text
    from sizeup.views.result.candidates import candidate_sentences, candidate_table

    basis = basis_text(candidates[0].sizing.inputs)
    lines = [*wrapped(basis, _WIDTH, "Basis    ", " " * 9), ""] if basis else []
    lines += [*table_lines(candidate_table(candidates), _WIDTH), ""]
    for table in costs:
        lines += [*table_lines(table, _WIDTH), ""] if table.rows else []
    return [*lines, *(line for text in candidate_sentences(candidates) for line in wrapped(text, _WIDTH, "", "  "))]
