"""Measured figures by what they are: the quantity that the manifest of their probe declared, whatever its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from sizeup.model.plan import SeriesQuantity
from sizeup.model.quantities import UNITS
from sizeup.quantity import Origin, Quantity
from sizeup.session.validity import Invalid, StepValidity, measurement_key
from sizeup.session.value import Point, StepRun
from sizeup.sizing.input_value import UnusedMeasurement, Value


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
    low = low if low is not None and low <= estimate.value else None
    high = high if high is not None and estimate.value <= high else None
    where = ", ".join(f"{name}={value}" for name, value in point.at.items())
    declared = run.declaration.target
    target = "" if declared is None or declared.coordinate in point.at else figure.target
    source = f"{run.step.id} {point.series} at {where}{f' on {target}' if target else ''}"
    return Quantity(figure.value, unit, Origin.MEASURED, source, low=low, high=high, caveats=estimate.caveats)


def not_valid(figure: MeasuredFigure, unit: str) -> UnusedMeasurement:
    """A figure that is not valid, in the place of one that would be."""
    assert figure.invalid is not None
    return UnusedMeasurement(quantity(figure, unit), figure.invalid.clause, figure.invalid.remedy)


def taken(figure: MeasuredFigure, unit: str) -> Value:
    """The figure where it is valid, else why it is left out."""
    return quantity(figure, unit) if figure.invalid is None else not_valid(figure, unit)


def best(
    found: Sequence[MeasuredFigure], merit: Callable[[MeasuredFigure], float] = lambda figure: figure.value
) -> MeasuredFigure | None:
    """Return the valid figure of the highest merit, else the one of the highest that is not valid; None without any."""
    return max(found, key=lambda one: (one.invalid is None, merit(one)), default=None)


def measure_again(figure: MeasuredFigure) -> str:
    """How to run the probe of a figure so that it measures this quantity best."""
    settings = ", ".join(f"{name}={value}" for name, value in figure.declared.measure_with.items())
    return f"run {figure.run.step.probe}{f' with {settings}' if settings else ''}"


def at_same_point(one: MeasuredFigure, other: MeasuredFigure) -> bool:
    """Whether two figures of a session are of the same point of the same step."""
    return one.run.step.id == other.run.step.id and measurement_key(one.point) == measurement_key(other.point)
