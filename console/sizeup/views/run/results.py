"""What a session measured, as plain data for programs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from sizeup.model.plan import Series
from sizeup.model.sample import Coordinates
from sizeup.session.effect import effect
from sizeup.session.validity import StepValidity
from sizeup.session.value import Point, Session, StepRun
from sizeup.units import as_percent, format_value
from sizeup.views.run.points import format_coordinate, point_text
from sizeup.views.run.run_status import run_status

RESULTS_SCHEMA = "sizeup.results/1"
_OF_ESTIMATE = ("value", "low", "high", "replicates", "minimum", "p10", "p90", "disturbed_share", "converged")
"""Fields of an estimate that are written as they are."""


def coordinates_text(at: Coordinates, series: Series | None) -> str:
    """Where a point lies, in words: ``16 KiB``, ``oltp-read, queue depth 4``; empty for a single value."""
    words = []
    for name, value in at.items():
        if series is None or name != series.axis or isinstance(value, str):
            words.append(format_coordinate(name, value))
        elif (series.axis_unit or "1") == "1":
            words.append(f"{(series.axis_title or point_text(name)).lower()} {format_value(value, '1')}")
        else:
            words.append(format_value(value, series.axis_unit or "1"))
    return ", ".join(words)


def caveats(point: Point) -> tuple[str, ...]:
    """Why to be careful with a point, the shortest words first."""
    estimate = point.estimate
    if estimate is None:
        return ("no estimate yet",)
    words = list(estimate.caveats)
    if estimate.converged is False:
        words.insert(0, "did not converge")
    if estimate.disturbed_share:
        words.append(f"{as_percent(estimate.disturbed_share)} disturbed")
    return tuple(words)


_FIGURES = re.compile(r"[-+]?\d[\d.,]*")


def without_figures(text: str) -> str:
    """Return a text with a sign in place of each figure: what texts have in common that differ in figures alone."""
    return _FIGURES.sub("#", text)


def stated_once(caveats: Iterable[str]) -> list[str]:
    """The caveats, each once; of those that differ in figures alone the first, with how many more there are."""
    groups: dict[str, list[str]] = {}
    for caveat in caveats:
        groups.setdefault(without_figures(caveat), []).append(caveat)
    return [
        alike[0] if len(set(alike)) == 1 else f"{alike[0]} ({len(set(alike)) - 1} similar)" for alike in groups.values()
    ]


def results_data(session: Session) -> dict[str, Any]:
    """Everything measured in base units, for ``--json``."""
    run = run_status(session)
    return {
        "schema": RESULTS_SCHEMA,
        "session": {
            **{name: getattr(session.header, name) for name in ("id", "host", "started", "tool")},
            "status": session.end.status if session.end is not None else "interrupted",
        },
        "used": effect(session),
        "run": {"status": run.grade.value, "cause": run.cause, "sentence": run.sentence},
        "steps": [_step_data(id_, step) for id_, step in session.steps.items()],
        "refused": [
            {"step": id_, "reason": outcome.reason}
            for id_, outcome in session.outcomes.items()
            if id_ not in session.steps
        ],
        "damage": list(session.damage.sentences()),
    }


def _step_data(id_: str, run: StepRun) -> dict[str, Any]:
    validity = StepValidity(run)
    return {
        "step": id_,
        "probe": run.step.probe,
        "distribution": run.distribution,
        "status": run.outcome.status.value if run.outcome is not None else "interrupted",
        "reason": run.outcome.reason if run.outcome is not None else "",
        "settings": dict(run.step.settings),
        "results": [
            {
                "metric": f"{run.step.probe}.{point.series}",
                "unit": series.unit if series is not None else "1",
                "better": series.better.value if series is not None else "neither",
                "at": dict(point.at),
                "samples": len(point.values),
                **{name: getattr(point.estimate, name, None) for name in _OF_ESTIMATE},
                "extra": {} if point.estimate is None else dict(point.estimate.extra),
                "caveats": list(caveats(point)),
                "invalid_reason": "" if (invalid := validity.of(point)) is None else invalid.sentence(),
            }
            for point in run.points.values()
            for series in (run.series.get(point.series),)
        ],
    }
