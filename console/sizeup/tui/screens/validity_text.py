"""Whether the figures of a step count, in words: what was checked, what failed, and what to do."""

from __future__ import annotations

from textual.content import Content

from sizeup.session.validity import StepValidity, check_reasons
from sizeup.session.value import StepRun
from sizeup.tui.widgets.lists import hanging
from sizeup.units import format_verdict
from sizeup.views.run.results import coordinates_text, stated_once
from sizeup.views.run.step_badge import BadgeLook, invalid_points, step_badge

_LOOKS = {"pass": "bold $text-success", "warn": "bold $text-warning", "fail": "bold $text-error"}
_MARKS = {"pass": "✓", "warn": "!", "fail": "✗"}
_MOST_REASONS = 12


def validity_lines(run: StepRun, *, going_on: bool) -> list[tuple[str, str]]:
    """Return what is known of the validity of a step, each line with the status that it is of, or none."""
    badge = step_badge(run, going_on=going_on)
    if run.outcome is None:
        return [("", "Judged when the step ends.")]
    lines = list(_checks(run))
    reasons = stated_once(
        f"{coordinates_text(point.at, run.series.get(point.series)) or run.series[point.series].title}: {reason}"
        for point, reason in invalid_points(run)
        if StepValidity(run).whole is None
    )
    if reasons:
        lines += [*([("", "")] if lines else []), ("", "Figures that do not count:")]
        lines += [("warn", reason) for reason in reasons[:_MOST_REASONS]]
        if len(reasons) > _MOST_REASONS:
            lines.append(("", f"{len(reasons) - _MOST_REASONS} more: see the table"))
    if not lines:
        counted = "all figures count" if badge.look is BadgeLook.PASS else f"{badge.word}: {badge.text}"
        lines.append((badge.look.value, f"{counted}; this probe makes no further checks"))
    return lines


def _checks(run: StepRun) -> list[tuple[str, str]]:
    """Return each check with its verdict: the worst where it was made at several places, and its reasons."""
    validity = StepValidity(run)
    worst: dict[str, float] = {}
    places: dict[str, int] = {}
    reasons: dict[str, list[str]] = {}
    for point in run.points.values():
        value = point.value
        if not validity.is_verdict(point) or value is None:
            continue
        part = str(point.at.get("part", run.series[point.series].title))
        places[part] = places.get(part, 0) + 1
        worst[part] = min(worst.get(part, 1.0), value)
        if value < 1.0 and point.estimate is not None:
            found = zip(point.estimate.caveats, check_reasons(point.estimate.caveats), strict=True)
            reasons.setdefault(part, []).extend(reason if check == part else text for text, (check, reason) in found)
    lines = []
    for part, value in sorted(worst.items(), key=lambda pair: (pair[1], pair[0])):
        word = format_verdict(value)
        count = f" at {places[part]} places" if places[part] > 1 else ""
        if part == "all":
            continue
        lines.append((word, f"{part}: {word}{count}"))
        lines += [("", f"    {reason}") for reason in stated_once(reasons.get(part, ()))[:3]]
    return lines


def validity_text(run: StepRun, width: int, *, going_on: bool) -> Content:
    """Return those lines folded to a width, a mark beside each color."""
    parts: list[str | tuple[str, str]] = []
    for status, line in validity_lines(run, going_on=going_on):
        mark = f"{_MARKS[status]} " if status in _MARKS else "  " if line else ""
        if status in _MARKS:
            parts.append((mark, _LOOKS[status]))
        indent = len(mark) + len(line) - len(line.lstrip())
        words = hanging(line.strip(), width, indent, indent) if line else ""
        parts.append(f"{words[len(mark) if status in _MARKS else 0 :]}\n")
    return Content.assemble(*parts)
