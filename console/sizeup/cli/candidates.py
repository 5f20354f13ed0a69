"""Candidates: servers to choose from, sized for one workload and printed side by side."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sizeup.errors import UsageError
from sizeup.input_file import read_text

if TYPE_CHECKING:
    from datetime import date

    from sizeup.sizing.input_value import Value
    from sizeup.sizing.rules import Rules
    from sizeup.sizing.sheet import Inputs
    from sizeup.views.result.candidates import Candidate

_WIDTH = 80
_TEXT_LIMIT = 1 << 20
"""Bytes read of a server written by hand."""


def candidates_text(
    names: Sequence[str], settings: dict[str, Value], rules: Rules, today: date, *, as_json: bool
) -> str:
    """Return the candidates side by side, the best first; as JSON the whole answer of each."""
    from sizeup.sizing.advise import size
    from sizeup.views.inputs.advice import sizing_data
    from sizeup.views.result.candidates import Candidate, best_first

    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles:
        raise UsageError(f"--candidates: expected every candidate once, found {', '.join(doubles)} more than once")
    found = [Candidate(name, size(candidate_inputs(name, settings), rules, today)) for name in names]
    ranked = best_first(found)
    if as_json:
        return json.dumps([sizing_data(one.sizing, rules, today, one.name) for one in ranked], indent=1)
    return "\n".join(_lines(ranked))


def _lines(candidates: Sequence[Candidate]) -> list[str]:
    from sizeup.report.table import table_lines, wrapped
    from sizeup.views.result.basis import basis_text
    from sizeup.views.result.candidates import candidate_sentences, candidate_table

    basis = basis_text(candidates[0].sizing.inputs)
    lines = [*wrapped(basis, _WIDTH, "Basis    ", " " * 9), ""] if basis else []
    lines += [*table_lines(candidate_table(candidates), _WIDTH), ""]
    return [*lines, *(line for text in candidate_sentences(candidates) for line in wrapped(text, _WIDTH, "", "  "))]


def candidate_inputs(name: str, settings: dict[str, Value]) -> Inputs:
    """Return the inputs of a candidate: a server written by hand, a session, or a capture.

    Settings are of all candidates, so what one of them states by itself counts before them.
    """
    from sizeup.sizing.advise import described

    if name.endswith(".toml"):
        from sizeup.sizing.inputs.imported import parse_candidate

        return {**settings, **parse_candidate(read_text(name, "a candidate", _TEXT_LIMIT), name)}
    if os.path.basename(name).endswith((".jsonl", ".jsonl.zst", ".jsonl.gz")):
        from sizeup.session.reader import read_session
        from sizeup.sizing.recorded_inputs import sized_inputs

        return sized_inputs(read_session(name), name, settings)
    from sizeup.discovery.machine import discover

    if not os.path.exists(name):
        raise UsageError(
            f"--candidates: expected a capture, a session (.jsonl) or a server in TOML (.toml), found nothing at {name}"
        )
    return described(discover(name), settings)
