"""What a step is compared with: the last run of it, and the same on hosts like this one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from sizeup.charts.chart import Axis, Bar, BarChart, Callout, Line, LineChart
from sizeup.model.machine import Machine
from sizeup.model.plan import Better
from sizeup.session.value import Session, StepRun, point_key
from sizeup.views.run.results import coordinates_text
from sizeup.views.run.step import step_chart
from sizeup.views.run.step_badge import headline_point, value_text

_VARYING = ("clock_hz", "seed")
"""Settings that differ from run to run and change nothing."""
_LEAST_HOSTS = 3
"""Fewer say nothing about a kind of host."""


class Earlier(Struct, frozen=True):
    """A step of a stored session."""

    host: str
    started: str
    run: StepRun
    machine: Machine | None


def earlier_steps(sessions: Iterable[Session], shown: Session | None) -> list[Earlier]:
    """Return the steps of the stored sessions by name, the latest first, without those of the one that is ``shown``."""
    return [
        Earlier(session.header.host, session.header.started, run, session.machine)
        for session in sessions
        if shown is None or session.header.id != shown.header.id
        for run in reversed(session.steps.values())
        if run.finished
    ]


def last_run(run: StepRun, host: str, stored: Iterable[Earlier]) -> Earlier | None:
    """Return the last run of a step on its host with the same settings; None where there is none."""
    return next((one for one in stored if one.host == host and one.run is not run and _same(run, one.run)), None)


def yardstick(run: StepRun, host: str, machine: Machine | None, stored: Sequence[Earlier]) -> BarChart | None:
    """Return what a step is compared with; None where there is nothing to compare it with."""
    found, last = headline_point(run), last_run(run, host, stored)
    same = None if found is None else found[1]
    before = None if last is None else headline_point(last.run, same)
    latest: dict[str, Earlier] = {}  # by other host with the same processor and as many cores
    kind = None if machine is None else (machine.cpu_model, machine.core_count)
    for other in stored:
        theirs = None if other.machine is None else (other.machine.cpu_model, other.machine.core_count)
        if kind is not None and theirs == kind and other.host != host and _same(run, other.run, "path"):
            latest.setdefault(other.host, other)
    like = [pair[1].value or 0.0 for other in latest.values() if (pair := headline_point(other.run, same))]
    series = next((pair[0] for pair in (found, before) if pair is not None), None)
    bars = []
    if last is not None and before is not None:
        bars.append(Bar(last.started[5:10], before[1].value or 0.0, role="s3"))
    if len(like) >= _LEAST_HOSTS:
        bars.append(Bar(f"{len(like)} like it", median(like), role="dim"))
    if series is None or not bars:
        return None
    if found is not None and run.outcome is not None:
        bars.insert(0, Bar("this run", found[1].value or 0.0))
    better = {Better.HIGHER: "higher is better", Better.LOWER: "lower is better"}.get(series.better, "")
    unit = series.title if series.unit == "1/s" else series.unit
    point = (found or before or (series, None))[1]
    name = coordinates_text(point.at, series) if point is not None and series.headline else series.short_title
    return BarChart("", Axis(", ".join(filter(None, (name, better))), unit), tuple(bars))


def compared(chart: LineChart, run: StepRun, last: Earlier | None) -> LineChart:
    """Return a curve with that of the last run behind it, and with its best point, or the newest, named."""
    other = None if last is None else step_chart(last.run, last.machine)
    lines: list[Line] = []
    is_curve = isinstance(other, LineChart) and (other.y.title, other.x.title) == (chart.y.title, chart.x.title)
    if last is not None and isinstance(other, LineChart) and is_curve:
        names = {line.label for line in chart.lines}
        found = [line for line in other.lines if line.label in names]
        lines = [replace(line, label=last.started[:10], title="", where="", earlier=True) for line in found[:1]]
    return replace(chart, lines=(*chart.lines, *lines), callouts=tuple(_callouts(chart, run)))


def _callouts(chart: LineChart, run: StepRun) -> Iterator[Callout]:
    """Yield words at the newest point of a step that goes on, then at the one that it is compared by."""
    shown = [point for line in chart.lines for point in line.points if point.key in run.points]
    if run.outcome is None:
        timed = [(found.t_ns[-1], point) for point in shown if point.key and (found := run.points[point.key]).t_ns]
        chosen, word = [max(timed, key=lambda pair: pair[0])[1]] if timed else [], "now"
    else:
        headline = headline_point(run)
        key = None if headline is None else point_key(headline[1].series, headline[1].at)
        chosen, word = [point for point in shown if point.key == key], ""
        if headline is not None and headline[0].better is Better.HIGHER:
            word = "best" if (headline[1].value or 0.0) >= max((point.y for point in shown), default=0.0) else "knee"
    for point in chosen:
        series = run.series[point.key[0]] if point.key else None
        if series is not None:
            yield Callout(point.x, point.y, tuple(filter(None, (value_text(point.y, series), word))))


def _same(run: StepRun, other: StepRun, *varying: str) -> bool:
    ours, theirs = (
        {key: value for key, value in one.step.settings.items() if key not in (*_VARYING, *varying)}
        for one in (run, other)
    )
    return run.base_id == other.base_id and ours == theirs
