"""What a session measured of each resource, as short texts: valid figures only, and why others do not count.

A figure is found by the quantity and the card that the manifest of its probe declared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from sizeup.quantity import Quantity
from sizeup.session.validity import StepValidity
from sizeup.session.value import Session, StepRun
from sizeup.sizing.inputs.measured import USUAL_COMMITTERS, headlines
from sizeup.sizing.inputs.measured_figures import MeasuredFigure, at_same_point, best, figures
from sizeup.text import capitalized
from sizeup.units import format_count, format_ns, format_range, format_rate, format_value
from sizeup.views.cards.measured_texts import MeasuredTexts
from sizeup.views.run.step import FigureStanding, headline_figure, mark

_HIGHER = 1.2
"""From so many times the valid figure on one that did not converge is named beside it."""
_CLOCK_READS = ("clock.read_cost", "clock.gettimeofday")
_RATES = ("storage.bandwidth", "storage.small_bandwidth")


class _Figure(Struct, frozen=True):
    text: str
    run: StepRun
    brief: str = ""
    further: bool = False
    rate: float = 0.0


def measured_texts(session: Session, resource: str) -> MeasuredTexts:
    """Return what a session measured of a resource; empty where it tried nothing."""
    find = _FINDERS.get(resource)
    found = list(find(session)) if find is not None else []
    runs = [run for run in session.steps.values() if run.declaration.card == resource]
    lacking = [run for run in runs if run.outcome is None or StepValidity(run).summary()]
    ended = [run for run in lacking if run.outcome is not None]
    if not found:
        # Figures that are of quantities are looked for by their names.
        plain = (run for run in runs if not any(series.quantities for series in run.series.values()))
        found = [_Figure(text, run) for run in plain if (text := _headline(run))]
    if found:
        notes = tuple(_note(run) for run in ended if _has_no_valid_figure(run))
        steps = tuple(dict.fromkeys(one.run.step.id for one in found))
        listed = max((one for one in found if one.brief), key=lambda one: one.rate, default=found[0])
        further, is_open = tuple(one.text for one in found if one.further), listed.rate > found[0].rate
        return MeasuredTexts(
            tuple(one.text for one in found),
            notes,
            steps,
            valid=True,
            open=is_open,
            brief=listed.brief,
            rate=listed.rate,
            further=further,
        )
    if not lacking:
        return MeasuredTexts()
    finished = [run for run in lacking if run.finished]
    named = finished or lacking
    storage = best(figures(named, "storage.random_iops") or figures(named, *_RATES))
    leading = named[-1] if storage is None else storage.run  # which sizing names
    steps = tuple(dict.fromkeys(run.step.id for run in (leading, *lacking)))  # that of the figure, whose chart is shown
    notes, standing = tuple(map(_note, ended)), _standing(leading)
    figure, brief, rate = _open_figure(leading)
    if standing is FigureStanding.INVALID or (standing is FigureStanding.UNCERTAIN and not figure):
        why = FigureStanding.INVALID.value if leading.finished else "no result yet"
        if leading.outcome is not None and not leading.finished:
            why = leading.outcome.status.words
        return MeasuredTexts((why,), notes, steps, void=bool(finished))
    text, is_open = f"{figure}{mark(standing)}" if figure else "did not converge", standing is FigureStanding.OPEN
    return MeasuredTexts((text,), notes, steps, void=True, open=is_open, brief=brief and f"{brief}?", rate=rate)


def _note(run: StepRun) -> str:
    validity = StepValidity(run)
    found = [invalid for point in run.points.values() if (invalid := validity.of(point)) is not None]
    remedy = capitalized(found[0].remedy) if found and run.finished else ""
    return ". ".join(filter(None, (f"{run.step.title}: {validity.summary()}", remedy)))


def _has_no_valid_figure(run: StepRun) -> bool:
    validity = StepValidity(run)
    points = [point for point in run.points.values() if not validity.is_verdict(point)]
    return validity.whole is not None or all(validity.of(point) is not None for point in points)


def _headline(run: StepRun) -> str:
    """Return the figure that stands for a step whose quantities are none of those above, where it is valid."""
    counts = run.outcome is not None and not _has_no_valid_figure(run)
    text, standing = headline_figure(run, spread=False) if counts else ("", FigureStanding.COUNTS)
    return text if standing is FigureStanding.COUNTS else ""


def _standing(run: StepRun) -> FigureStanding:
    """Return what is wrong with the figures of a step at most: uncertain ones of the storage still bound it."""
    if not run.finished:
        return FigureStanding.INVALID
    validity = StepValidity(run)
    found = [invalid for point in run.points.values() if (invalid := validity.of(point)) is not None]
    if all(one.scatter for one in found):
        return FigureStanding.OPEN
    uncertain = run.declaration.card == "storage" and all(one.still_bounds for one in found)
    return FigureStanding.UNCERTAIN if uncertain else FigureStanding.INVALID


def _open_figure(run: StepRun) -> tuple[str, str, float]:
    """Return the figure that a step would show had it converged, what a list has of it, and IOPS; empty if none."""
    rates = figures([run], "storage.random_iops", "storage.mixed_iops")
    if rates:
        count = format_count(most := max(one.value for one in rates), "")
        return f"{count} IOPS", count, most
    if speeds := figures([run], *_RATES):
        return format_rate(max(one.value for one in speeds)), "", 0.0
    found = [one for one in figures([run], "memory.local_latency", *_CLOCK_READS) if _leads(one)]
    text = format_ns(found[0].value) if found else ""
    return f"{text} per read" if found and found[0].declared.name in _CLOCK_READS else text, text, 0.0


def _leads(figure: MeasuredFigure) -> bool:
    """Return whether a figure is the one that its series leads with."""
    return figure.point.at == figure.run.series[figure.point.series].headline


def _best(runs: Sequence[StepRun], *names: str) -> MeasuredFigure | None:
    """Return the highest valid figure of the quantities, those named first before the others; None where none is."""
    for name in names:
        found = [one for one in figures(runs, name) if one.invalid is None]
        if found:
            return max(found, key=lambda one: one.value)
    return None


def _storage(session: Session) -> Iterable[_Figure]:
    runs = list(session.steps.values())
    most = _best(runs, "storage.random_iops", "storage.mixed_iops")
    if most is not None:
        at = f" at QD {most.load:g}" if most.load else ""
        count = format_count(most.value, "")
        yield _Figure(f"{count} IOPS{at}", most.run, count, rate=most.value)
        rates = figures(runs, "storage.random_iops", "storage.mixed_iops")
        higher = max((one.value for one in rates if one.invalid is not None and one.invalid.scatter), default=0.0)
        if higher > _HIGHER * most.value:
            count = format_count(higher, "")
            yield _Figure(f"{count} {FigureStanding.OPEN.value}", most.run, f"{count}?", rate=higher)
        for name, label in (("storage.read_latency_p99", "p99 "), ("storage.read_latency", "mean ")):
            latency = [one for one in figures([most.run], name) if one.invalid is None and at_same_point(one, most)]
            if latency:
                yield _Figure(f"{label}{format_ns(latency[0].value)}", most.run)
                break
    rate = _best(runs, *_RATES)
    if rate is not None and (most is None or rate.declared.name == _RATES[0]):
        yield _Figure(format_rate(rate.value), rate.run)
    log = [one for one in figures(runs, "storage.log_write_latency") if one.invalid is None]
    if log:
        least = min(log, key=lambda one: one.value)
        yield _Figure(f"log write {format_ns(least.value)}", least.run)
    within = best(figures(runs, "storage.iops_within_p99"))
    if within is not None and (within.invalid is None or (most is not None and within.invalid.still_bounds)):
        count, limit = format_count(within.value, ""), within.coordinate("limit_ms")
        yield _Figure(f"{count}{'?' if within.invalid else ''} IOPS at p99 <= {limit:g} ms", within.run, further=True)
    commits = [one for one in figures(runs, "storage.commits") if one.invalid is None and one.load <= USUAL_COMMITTERS]
    if commits:
        most = max(commits, key=lambda one: one.load)
        estimate = most.point.estimate
        bound = "at most " * (estimate is not None and "upper_bound" in estimate.extra)
        yield _Figure(f"{bound}{format_count(most.value, '')} commits/s at {most.load:g}", most.run, further=True)


def _memory(session: Session) -> Iterable[_Figure]:
    known = headlines(session)
    for key, where in (("memory.local_ns", "local"), ("memory.remote_ns", "remote")):
        value = known.get(key)
        run = session.steps.get(value.source.partition(" ")[0]) if isinstance(value, Quantity) else None
        if isinstance(value, Quantity) and run is not None:
            text = format_ns(value.value)
            yield _Figure(f"{text} {where}", run, text if where == "local" else "")
    read = _best(list(session.steps.values()), "memory.read_bandwidth")
    if read is not None:
        yield _Figure(f"read {format_rate(read.value)}", read.run)


def _cpu(session: Session) -> Iterable[_Figure]:
    found = figures(session.steps.values(), "memory.core_to_core_latency")
    pairs = [one for one in found if one.invalid is None]
    if pairs:
        low, high = min(one.value for one in pairs), max(one.value for one in pairs)
        text = format_ns(low) if low == high else format_range(low, high, "ns")
        yield _Figure(f"core to core {text}", pairs[0].run)


def _clock(session: Session) -> Iterable[_Figure]:
    found = figures(session.steps.values(), *_CLOCK_READS)
    leading = [one for one in found if _leads(one)]
    valid = [one for one in leading or found if one.invalid is None]
    if valid:
        least = min(valid, key=lambda one: one.value)
        method = "" if leading else f" ({', '.join(map(str, least.point.at.values()))})"
        yield _Figure(f"{format_value(least.value, 'ns')} per read{method}", least.run)


_FINDERS: dict[str, Callable[[Session], Iterable[_Figure]]] = {
    "storage": _storage,
    "memory": _memory,
    "cpu": _cpu,
    "clock": _clock,
}
