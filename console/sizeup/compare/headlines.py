"""The figures that people name when they compare two machines, one per run: DRAM latency, IOPS at p99 of 1 ms.

Each is a point that the manifest of its probe declares as such a quantity, or the headline that it declares for a
series; never a mean over a curve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from sizeup.decoding import data_beside
from sizeup.model.plan import Better, Series
from sizeup.session.validity import Invalid, StepValidity
from sizeup.session.value import Point, StepRun
from sizeup.sizing.inputs.measured_figures import MeasuredFigure, at_same_point, figures

CARDS = ("storage", "cpu", "memory", "network", "clock")
"""The order in which figures are shown."""
CARD_ORDER = {card: number for number, card in enumerate(CARDS)}
P99_LIMIT_NS = 1e6
"""The response time that databases on flash are held to."""
_COMMIT_BYTES = 8192
"""A log write of a few small transactions."""
_TIMES_ABOVE = 4
"""Loads from a working set this many times a cache almost never hit the cache."""
_Pick = Callable[[Sequence[StepRun]], MeasuredFigure | None]


class Headline(Struct, frozen=True):
    """One named figure of one pass of the plan."""

    card: str
    """``storage``, ``memory``, ``cpu``, ``clock``; empty where the probe declares none."""
    name: str
    """Stable: quantity and probe."""
    series: Series
    value: float
    run: StepRun
    """The step that it is of."""
    invalid: str = ""
    """Why it is not valid; empty where it is."""
    scatter: bool = False
    """Whether it did not converge: it scatters more than was asked for, to no side."""
    interval: tuple[float, float] | None = None
    """The 95 % interval within the run; None where the run gave none."""
    unsteady: bool = False
    """Whether it is not valid for a comparison only because it was not steady, and has an interval that bounds it."""


class NamedFigure(Struct, frozen=True, forbid_unknown_fields=True):
    """What a figure of a machine or of a run is called."""

    title: str
    unit: str
    better: Better
    short: str = ""
    """The title of a narrow column; empty where no run has the figure."""
    card: str = ""
    input: str = ""
    """The input of sizing that it is, with its ends, which ``--set`` replaces; empty for none."""

    def series(self, name: str) -> Series:
        """The figure as a series of that name."""
        return Series(name, self.title, self.unit, self.better)


NAMED: Mapping[str, NamedFigure] = data_beside(__file__, "named_figures.toml", dict[str, NamedFigure])
"""By the quantity that a figure is of, in the order of their cards."""


def headlines(runs: Sequence[StepRun]) -> Iterator[Headline]:
    """Return the named figures of the steps of one pass, those of storage first."""
    finished = [run for run in runs if run.finished]
    probes = dict.fromkeys(run.step.probe for run in finished)
    for name, pick in _PICKS.items():
        named = NAMED[name]
        picked = ((probe, pick([run for run in finished if run.step.probe == probe])) for probe in probes)
        for number, (probe, figure) in enumerate((probe, one) for probe, one in picked if one is not None):
            title = f"{named.title} ({probe})" if number else named.title
            series = Series(name, title, named.unit, named.better)
            # An interval is that of the estimate, not of a figure beside it.
            ranged = None if figure.declared.extra else figure.point
            yield _headline(named.card, f"{name}@{probe}", series, figure.value, figure.run, figure.invalid, ranged)
    for run in finished:
        yield from _undeclared(run)


def _undeclared(run: StepRun) -> Iterator[Headline]:
    """Return the headline points of a probe that declares no quantities, and its series of a single point."""
    if any(series.quantities for series in run.series.values()):
        return
    validity = StepValidity(run)
    for name, series in run.series.items():
        points = [point for point in run.points.values() if point.series == name and point.value is not None]
        chosen = [point for point in points if series.headline and point.at == series.headline]
        if not chosen and len(points) == 1:
            chosen = points
        for point in chosen if series.unit != "verdict" else ():
            assert point.value is not None
            named = Series(series.name, series.title, series.unit, series.better)
            full_name = f"{run.step.probe}.{series.name}"
            yield _headline(run.declaration.card, full_name, named, point.value, run, validity.of(point), point)


def _headline(
    card: str, name: str, series: Series, value: float, run: StepRun, invalid: Invalid | None, ranged: Point | None
) -> Headline:
    scatter = invalid is not None and invalid.scatter
    estimate = None if ranged is None else ranged.estimate
    low, high = (None, None) if estimate is None else (estimate.low, estimate.high)
    cause = "" if invalid is None or scatter else invalid.cause
    interval = None if low is None or high is None else (low, high)
    unsteady = interval is not None and invalid is not None and invalid.parts == ("steady",)
    return Headline(card, name, series, value, run, cause, scatter, interval, unsteady)


def _valid(figure: MeasuredFigure) -> bool:
    return figure.invalid is None or figure.invalid.scatter


def _extreme(name: str, *, highest: bool) -> _Pick:
    """Return a choice of the highest or the lowest figure of a quantity, a valid one if there is any."""
    sign = 1 if highest else -1

    def pick(runs: Sequence[StepRun]) -> MeasuredFigure | None:
        return max(figures(runs, name), key=lambda one: (_valid(one), sign * one.value), default=None)

    return pick


def _within_p99(runs: Sequence[StepRun]) -> MeasuredFigure | None:
    """Return the highest random IOPS at which 99 % of the reads end within the limit."""
    quick = [other for other in figures(runs, "storage.read_latency_p99") if other.value <= P99_LIMIT_NS]
    found = [one for one in figures(runs, "storage.random_iops") if any(at_same_point(one, other) for other in quick)]
    return max(found, key=lambda one: (_valid(one), one.value), default=None)


def _single_depth(runs: Sequence[StepRun]) -> MeasuredFigure | None:
    """Return the p99 of random reads one at a time."""
    random = figures(runs, "storage.random_iops")
    single = (one for one in figures(runs, "storage.read_latency_p99") if one.load == 1)
    found = [one for one in single if any(at_same_point(one, other) for other in random)]
    return min(found, key=lambda one: (not _valid(one), one.value), default=None)


def _log_write_p99(runs: Sequence[StepRun]) -> MeasuredFigure | None:
    """Return the p99 of log writes, one at a time, of the size nearest to what databases write for a short commit."""

    def distance(one: MeasuredFigure) -> tuple[bool, float, float]:
        return not _valid(one), abs(one.coordinate(one.declared.size) - _COMMIT_BYTES), one.load

    return min(figures(runs, "storage.log_write_latency_p99"), key=distance, default=None)


def _dram(runs: Sequence[StepRun]) -> MeasuredFigure | None:
    """Return the latency of local memory: of a level, or of the largest working set far beyond the caches."""

    def near_caches(one: MeasuredFigure) -> bool:
        size = one.run.step.settings.get(one.declared.above)
        return isinstance(size, int) and one.coordinate(one.axis) < _TIMES_ABOVE * size

    found = [one for one in figures(runs, "memory.local_latency") if not near_caches(one)]
    first = next((one.point.series for one in found), None)
    of_first = [one for one in found if one.point.series == first]
    return max(of_first, key=lambda one: (_valid(one), one.coordinate(one.axis) if one.axis else 0.0, -one.value),
               default=None)  # fmt: skip


def _clock_read(runs: Sequence[StepRun]) -> MeasuredFigure | None:
    """Return the cost of the method that the probe declares as its headline."""
    found = figures(runs, "clock.read_cost", "clock.gettimeofday")
    return next((one for one in found if one.point.at == one.run.series[one.point.series].headline), None)


def _handoff(runs: Sequence[StepRun]) -> MeasuredFigure | None:
    """Return the pair of cores in the middle."""
    found = sorted(filter(_valid, figures(runs, "memory.core_to_core_latency")), key=lambda one: one.value)
    return found[len(found) // 2] if found else None


_PICKS: Mapping[str, _Pick] = {
    "storage.iops_within_p99": _within_p99,
    "storage.random_iops": _extreme("storage.random_iops", highest=True),
    "storage.read_latency_p99": _single_depth,
    "storage.bandwidth": _extreme("storage.bandwidth", highest=True),
    "storage.log_write_latency": _extreme("storage.log_write_latency", highest=False),
    "storage.log_write_latency_p99": _log_write_p99,
    "memory.local_latency": _dram,
    "memory.remote_latency": _extreme("memory.remote_latency", highest=True),
    "memory.read_bandwidth": _extreme("memory.read_bandwidth", highest=True),
    "memory.core_to_core_latency": _handoff,
    "clock.read_cost": _clock_read,
}
"""How each figure of a run is found, in the order of their cards."""


def named_figures() -> dict[str, Series]:
    """Return the figures that are looked for by their quantities, with title, unit and direction."""
    return {name: NAMED[name].series(name) for name in _PICKS}


def by_round(runs: Iterable[StepRun]) -> dict[str, list[StepRun]]:
    """Return the steps of each pass of the plan, by its number."""
    rounds: dict[str, list[StepRun]] = {}
    for run in runs:
        rounds.setdefault(run.step.id.partition("~")[2] or "1", []).append(run)
    return rounds
