"""One session file as a value: its run, its steps, every sample, and what was damaged."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from sizeup.model.advice import AdviceSet
from sizeup.model.finding import Finding
from sizeup.model.machine import Gap, Machine
from sizeup.model.plan import Declaration, Gentle, Plan, Series, SeriesQuantity, Step
from sizeup.model.sample import Coordinates, Estimate, Outcome, Progress
from sizeup.session import records

PointKey = tuple[str, tuple[tuple[str, str | int | float], ...]]
"""A series and the coordinates of one point, in the order of their names."""


IMPORTED = "imported from "
"""What begins the distribution of a step that was imported."""
WITHDRAWN = "-"
"""What begins a tag that takes another one back."""


def point_key(series: str, at: Coordinates) -> PointKey:
    """The key of a point: equal for equal coordinates, whatever their order."""
    return series, tuple(sorted(at.items()))


class Point(Struct):
    """One series at one set of coordinates: every sample, and the latest estimate."""

    series: str
    at: Coordinates
    t_ns: array[int] = field(default_factory=lambda: array("q"))
    values: array[float] = field(default_factory=lambda: array("d"))
    flags: array[int] = field(default_factory=lambda: array("B"))
    """``Disturbance`` bits, one byte a sample."""
    estimate: Estimate | None = None
    """None until the probe gave one; a probe may leave it at samples."""
    _middle: tuple[int, float] = (0, 0.0)
    """The median of so many samples: a picture asks for it again and again."""

    @property
    def undisturbed(self) -> Sequence[float]:
        """The samples that nothing disturbed."""
        if self.flags.count(0) == len(self.flags):
            return self.values
        return [value for value, flags in zip(self.values, self.flags, strict=True) if not flags]

    @property
    def value(self) -> float | None:
        """The estimate; without one the median of the undisturbed samples, of all where all were disturbed."""
        if self.estimate is not None:
            return self.estimate.value
        if len(self.values) != self._middle[0]:
            from statistics import median  # costs every start otherwise

            self._middle = len(self.values), median(self.undisturbed or self.values)
        return self._middle[1] if self.values else None


class StepRun(Struct):
    """One step as it was run."""

    step: Step
    distribution: str
    series: Mapping[str, Series]
    chart: str
    started_ns: int
    points: dict[PointKey, Point] = field(default_factory=dict)
    progress: Progress | None = None
    outcome: Outcome | None = None
    """None while it runs, and for good where the run was interrupted."""
    ended_ns: int | None = None
    declaration: Declaration = Declaration()
    start_delay_ns: int = 0
    """How long after the start agreed on it began; 0 without one."""

    def quantity(self, point: Point) -> SeriesQuantity | None:
        """What a point is, as the manifest of its probe declared it; None where it declared nothing."""
        series = self.series.get(point.series)
        return None if series is None else series.quantity(point.at)

    @property
    def base_id(self) -> str:
        """The step's id without the number of its round: ``memory.latency`` of ``memory.latency~2``."""
        return self.step.id.partition("~")[0]

    @property
    def imported(self) -> bool:
        """Whether the file of another tool holds the figures."""
        return self.distribution.startswith(IMPORTED)

    @property
    def finished(self) -> bool:
        """Whether it measured all it was going to."""
        return self.outcome is not None and self.outcome.status.finished


class Damage(Struct):
    """What the reader met and passed over."""

    torn: bool = False
    """The last line has no end: the writer was interrupted."""
    malformed: int = 0
    """Lines that are no record, in part or whole."""
    unknown: int = 0
    """Records of a kind that this version does not know."""
    too_long: int = 0
    duplicates: int = 0
    left_out: int = 0
    """Samples or records above ``session.limits``."""
    first: str = ""
    """Where and why, for the first malformed line."""

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence for each kind of damage; empty for an intact file."""
        return tuple(
            text
            for count, text in (
                (self.torn, "the last line is torn and was left out: the writer was interrupted"),
                (self.malformed, f"malformed lines skipped: {self.malformed}, the first at {self.first}"),
                (self.unknown, f"records skipped, of kinds this version does not know: {self.unknown}"),
                (self.too_long, f"lines skipped, longer than {records.LINE_LIMIT_BYTES >> 20} MiB: {self.too_long}"),
                (self.duplicates, f"repeated batches of samples left out: {self.duplicates}"),
                (self.left_out, f"samples and records left out, beyond the limits: {self.left_out:,}"),
            )
            if count
        )


class Session(Struct):
    """One session file as a value; only its reader adds to it, everyone else reads."""

    header: records.SessionRecord
    continued: list[records.ContinuedRecord] = field(default_factory=list)
    environment: list[records.EnvironmentRecord] = field(default_factory=list)
    machine: Machine | None = None
    """None where the run was interrupted before discovery ended."""
    plans: list[Plan] = field(default_factory=list)
    """One per run in this file, oldest first."""
    steps: dict[str, StepRun] = field(default_factory=dict)
    """By id, in order of their start; the last attempt where one was resumed."""
    earlier_attempts: list[StepRun] = field(default_factory=list)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    """By step, refused ones that never started included."""
    findings: list[Finding] = field(default_factory=list)
    advice: AdviceSet | None = None
    """The advice that was given last; None where the run ended before it gave any."""
    advice_ns: int = 0
    """When it was given."""
    stated: tuple[records.StatedInput, ...] = ()
    """The inputs that this advice rests on besides those of the machine and its measurements."""
    imported: tuple[records.StatedInput, ...] = ()
    """What files state of inputs that were entered in its place."""
    stated_at: str = ""
    """When they were recorded, ISO 8601, UTC; empty where there are none."""
    notes: list[records.NoteRecord] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    experiments: list[records.ExperimentRecord] = field(default_factory=list)
    commands: list[records.CommandRecord] = field(default_factory=list)
    """What experiments executed, in order."""
    end: records.EndRecord | None = None
    """None while a run is going on, and where the last one was interrupted."""
    damage: Damage = field(default_factory=Damage)
    last_ns: int = 0
    """The latest time in the file."""
    revision: int = 0
    """Grows with each record that can change what was measured: a machine, the start or end of a step, an estimate."""

    @property
    def plan(self) -> Plan | None:
        """What the latest run set out to do."""
        return self.plans[-1] if self.plans else None

    @property
    def gentle(self) -> Gentle | None:
        """The caps that the latest run keeps to; None for full load."""
        return self.plan.steps[0].gentle if self.plan is not None and self.plan.steps else None

    @property
    def title(self) -> str:
        """What its user calls it: the last title a note gave, or that of the header; often empty."""
        return next((note.title for note in reversed(self.notes) if note.title), self.header.title)

    @property
    def tags(self) -> tuple[str, ...]:
        """Every tag its notes carry, each once; one with a hyphen before it takes that tag back."""
        tags: dict[str, None] = {}
        for tag in (tag for note in self.notes for tag in note.tags):
            if tag.startswith(WITHDRAWN):
                tags.pop(tag.removeprefix(WITHDRAWN), None)
            else:
                tags[tag] = None
        return tuple(tags)

    @property
    def missing_steps(self) -> tuple[Step, ...]:
        """Steps of the latest plan that have not finished: what a resumed run would do.

        None of an experiment: a resumed run would not know which setting is in place.
        """
        if self.plan is None or self.plan.experiment_run is not None:
            return ()
        return tuple(step for step in self.plan.steps if (run := self.steps.get(step.id)) is None or not run.finished)
