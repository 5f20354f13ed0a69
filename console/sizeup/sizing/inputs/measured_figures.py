"""Measured figures by what they are: the quantity that the manifest of their probe declared, whatever its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sizeup.model.plan import SeriesQuantity
from sizeup.model.quantities import UNITS
from sizeup.quantity import Origin, Quantity
from sizeup.session.validity import Invalid, StepValidity, measurement_key
from sizeup.session.value import Point, StepRun
from sizeup.sizing.input_value import UnusedMeasurement, Value, WhyUnused
from sizeup.sizing.keys import KEYS


class MeasuredFigure(Struct, frozen=True):
    """One measured figure, with what keeps it out of every conclusion."""

    run: StepRun
    point: Point
    declared: SeriesQuantity
    invalid: Invalid | None

    @property
    def value(self) -> float:
        """The estimate, or the figure beside it that was declared."""
        estimate = self.point.estimate
        assert estimate is not None
        return float(estimate.extra[self.declared.extra]) if self.declared.extra else estimate.value

    @property
    def merit(self) -> tuple[bool, float]:
        """What the best of several figures has most of: that it is valid, then its value."""
        return self.invalid is None, self.value

    @property
    def axis(self) -> str:
        """The coordinate that the series names as its axis; empty where none."""
        series = self.run.series.get(self.point.series)
        return "" if series is None or series.axis is None else series.axis

    @property
    def load_name(self) -> str:
        """The coordinate that holds the offered load; empty where this point has none."""
        name = self.declared.load or self.axis
        return name if name in self.point.at else ""

    @property
    def load(self) -> float:
        """The offered load, such as the queue depth; 0 where its coordinates do not say."""
        return self.coordinate(self.load_name)

    def coordinate(self, name: str) -> float:
        """A coordinate that is a number; 0 where it is none."""
        value = self.point.at.get(name)
        return float(value) if isinstance(value, int | float) else 0.0

    @property
    def target(self) -> str:
        """What it was measured on, as the settings or the coordinates name it; empty where neither does."""
        target = self.run.declaration.target
        if target is None:
            return ""
        return str(self.point.at.get(target.coordinate, self.run.step.settings.get(target.setting, "")))


def figures(runs: Iterable[StepRun], *names: str) -> list[MeasuredFigure]:
    """Return the figures of these quantities, in the order of the steps; one in another unit is none of them."""
    found = []
    for run in runs:
        validity: StepValidity | None = None
        for point in run.points.values():
            declared = run.quantity(point)
            if point.estimate is None or declared is None or declared.name not in names:
                continue
            if run.series[point.series].unit != UNITS[declared.name]:
                continue  # a file may say anything
            if not declared.extra or isinstance(point.estimate.extra.get(declared.extra), int | float):
                validity = validity or StepValidity(run)
                found.append(MeasuredFigure(run, point, declared, validity.of(point)))
    return found


def quantity(figure: MeasuredFigure, unit: str) -> Quantity:
    """The figure with its interval, its source and its caveats."""
    run, point, estimate = figure.run, figure.point, figure.point.estimate
    assert estimate is not None
    low, high = (None, None) if figure.declared.extra else (estimate.low, estimate.high)
    ranged = low is not None and high is not None and low <= estimate.value <= high
    where = ", ".join(f"{name}={value}" for name, value in point.at.items())
    declared = run.declaration.target
    target = "" if declared is None or declared.coordinate in point.at else figure.target
    return Quantity(
        figure.value,
        unit,
        Origin.MEASURED,
        f"{run.step.id} {point.series} at {where}{f' on {target}' if target else ''}",
        low=low if ranged else None,
        high=high if ranged else None,
        caveats=estimate.caveats,
    )


def not_valid(figure: MeasuredFigure, unit: str) -> UnusedMeasurement:
    """A figure that is not valid, in the place of one that would be."""
    assert figure.invalid is not None
    invalid = figure.invalid
    why = WhyUnused.OPEN if invalid.scatter else WhyUnused.INVALID
    return UnusedMeasurement(quantity(figure, unit), invalid.cause, invalid.detail, invalid.remedy, why)


def taken(figure: MeasuredFigure, unit: str) -> Value:
    """The figure where it is valid, else why it is left out."""
    return quantity(figure, unit) if figure.invalid is None else not_valid(figure, unit)


def best(
    key: str,
    unit: str,
    found: Sequence[MeasuredFigure],
    merit: Callable[[MeasuredFigure], float] = lambda figure: figure.value,
) -> tuple[Value | None, MeasuredFigure | None]:
    """What a key is worth by the valid figure of the highest merit, which comes with it.

    A figure of more merit that is not valid becomes a caveat; where none is valid it stands in the key's place.
    """
    chosen = max((one for one in found if one.invalid is None), key=merit, default=None)
    out = max((one for one in found if one.invalid is not None), key=merit, default=None)
    if chosen is None:
        return (None if out is None else not_valid(out, unit)), None
    value = quantity(chosen, unit)
    if out is not None and merit(out) > merit(chosen):
        value = replace(value, caveats=(*value.caveats, not_valid(out, unit).evidence(KEYS[key].unit)))
    return value, chosen


def measure_again(figure: MeasuredFigure) -> str:
    """How to run the probe of a figure so that it measures this quantity best."""
    settings = ", ".join(f"{name}={value}" for name, value in figure.declared.measure_with.items())
    return f"run {figure.run.step.probe}{f' with {settings}' if settings else ''}"


def at_same_point(one: MeasuredFigure, other: MeasuredFigure) -> bool:
    """Whether two figures of a session are of the same point of the same step."""
    return one.run.step.id == other.run.step.id and measurement_key(one.point) == measurement_key(other.point)
