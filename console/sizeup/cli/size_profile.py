"""A machine held against a requirement profile: the verdict, then a row for each requirement."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sizeup.charts.table import Column, Table
from sizeup.cli.arguments import decision_status
from sizeup.cli.results import write_text
from sizeup.compare.profile import (
    INPUT_KEYS,
    AcceptanceResult,
    Requirement,
    amount_text,
    ends_text,
    known_figures,
    machine_figures,
    read_profile,
    requirements,
)
from sizeup.errors import ExitStatus, UsageError
from sizeup.probing.registry import load_registry
from sizeup.report.table import table_lines, wrapped
from sizeup.sizing.keys import KEYS
from sizeup.text import plural

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from sizeup.cli.sizing_inputs import SizedSubject

SCHEMA = "sizeup.requirements/1"
_WIDTH = 80
_WORST_FIRST = ("FAIL", "unknown", "NOT CERTAIN")


def write_profile(arguments: argparse.Namespace, subject: SizedSubject, chosen: str) -> ExitStatus:
    """Write how what is sized stands to a profile; the status is 5 where it misses a limit, 6 where one is open."""
    profile = read_profile(arguments.profile, known_figures())
    relative = next((one.figure for one in profile.limits if one.worse_than_median is not None), None)
    if relative is not None:
        raise UsageError(
            f"--profile {arguments.profile}: {relative}.worse_than_median: expected min or max, found a limit that "
            "needs several machines; use sizeup fleet"
        )
    runs = () if subject.session is None else subject.session.steps.values()
    figures = machine_figures(subject.inputs, subject.machine, runs)
    found = [one for limit in profile.limits for one in requirements(limit, figures)]
    open_ = [one for one in found if one.result is not AcceptanceResult.PASS]
    decides = min(open_, key=lambda one: _WORST_FIRST.index(one.status), default=None)
    status = "PASS" if decides is None else decides.status.replace("unknown", "NO VERDICT")
    if decides is None:
        names = [one.limit.title for one in found if one.status == "unknown"]
        said = f"{plural(len(found) - len(names), 'requirement')} met"
        said += f". Not judged: {', '.join(names)}" if names else ""
    else:
        said = decides.sentence if status == "FAIL" else f"{decides.sentence}. {_action(decides)}"
    said = f"{profile.title}: {said}"
    if chosen == "json":
        data = {"schema": SCHEMA, "machine": subject.name, "profile": profile.title, "status": status}
        rows = {"statement": said, "requirements": [_data(one) for one in found]}
        write_text(json.dumps({**data, **rows}, indent=1) + "\n", arguments.output)
    else:
        write_text(
            "\n".join([*wrapped(said, _WIDTH, f"{status:8} ", "         "), *_rows(found)]) + "\n", arguments.output
        )
    undecided = status in ("NO VERDICT", "NOT CERTAIN")
    what = f"{status}; measure what is named, or add --allow-undecided" if undecided else ""
    return decision_status(arguments, different=status == "FAIL", undecided=what)


def _rows(found: Sequence[Requirement]) -> list[str]:
    """Return a row for each requirement, then the sources by their numbers, and what decides those that are open."""
    sources = list(dict.fromkeys((one.limit.source, one.limit.date) for one in found if one.limit.source))
    numbers = {source: f"[{number}]" for number, source in enumerate(sources, 1)}
    rows = tuple(
        (one.limit.title, one.text, _has(one), one.status, numbers.get((one.limit.source, one.limit.date), ""))
        for one in found
    )
    columns = tuple(map(Column, ("Requirement", "Required", "Has", "Status", "Source")))
    actions = dict.fromkeys(_action(one) for one in found if one.result is AcceptanceResult.UNDECIDED)
    return [
        "",
        *table_lines(Table("", columns, rows), _WIDTH),
        "",
        *(f"{number} {source}{f' ({date})' if date else ''}" for (source, date), number in numbers.items()),
        *(line for action in actions for line in wrapped(action, _WIDTH, "! ", "  ")),
    ]


def _data(one: Requirement) -> dict[str, Any]:
    """Return a requirement as plain data, in base units."""
    found, limit = one.found, one.limit
    return {
        "figure": limit.figure, "limit": one.kind, "required": one.bound, "unit": limit.unit,
        "value": None if found is None else found.value,
        "least": None if found is None else found.least,
        "most": None if found is None else found.most,
        "origin": None if found is None else found.origin.value,
        "status": one.status, "sentence": one.sentence,
        "action": _action(one) if one.result is AcceptanceResult.UNDECIDED else None,
        "source": limit.source or None, "date": limit.date or None,
    }  # fmt: skip


def _has(one: Requirement) -> str:
    """Return the figure, where it is from, and its ends where they decide: ``7.7 GiB (detected)``."""
    found = one.found
    if found is None:
        return "unknown"
    text = f"{amount_text(found.value, one.limit)} ({found.origin.value})"
    return f"{text}, {ends_text(found, one.limit)}" if one.status == "NOT CERTAIN" else text


def _action(one: Requirement) -> str:
    """Return what decides a requirement that is open, as a sentence without its end."""
    if one.uncertainty is not None and one.uncertainty.action:
        return f"{one.uncertainty.action} to decide"
    key = INPUT_KEYS.get(one.limit.figure)
    if one.limit.figure.startswith("machine.") or one.limit.figure == "storage.free_space":
        return f"Enter it: {KEYS[key].flag}" if key else "Bring up a link that reports its speed"
    return f"Measure it: {_measuring(one.limit.figure)}"


def _measuring(figure: str) -> str:
    """Return the command that measures a figure: a plan, or the probe with the settings that no plan has."""
    if INPUT_KEYS.get(figure, "").startswith("capacity."):
        return "sizeup run --plan quick --mount DIR"
    probe = load_registry().giving(figure)
    if probe is None or probe.manifest.target is None:
        return "sizeup run --plan standard"
    declared = probe.series_giving(figure).quantities
    settings = next(one.measure_with for one in declared if one.name == figure)
    given = (f"{probe.name}.{name}={value}" for name, value in settings.items())
    where = f"{probe.name}.{probe.manifest.target.setting}=DIR"
    return f"sizeup run -p {probe.name} --plan quick --set {' '.join((where, *given))}"
