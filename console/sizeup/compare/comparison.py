"""What a comparison of two sides is: figures of both with a verdict, answers to questions, warnings."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from sizeup.compare.conditions import Condition, Decision, Reading
from sizeup.compare.digest import Digest
from sizeup.compare.machines import Difference
from sizeup.model.plan import Better, Series
from sizeup.model.sample import Coordinates

LEVEL = 0.05
LEVEL_WITHOUT_TIMES = 0.02
"""The level where runs were not interleaved, and it is not known when each began: then no trend over time can be told
from a difference, and runs that follow each other resemble each other."""
EXCLUDED_CHANGE = 0.07
"""No difference was found only where the interval excludes changes of this size; otherwise the runs cannot decide."""
PLANNED_CHANGE = 0.10
"""The change that so many more runs would find."""
MINIMUM_EFFECT = 0.02


class Conclusion(Enum):
    """What can be said of one figure."""

    BETTER = "better"
    WORSE = "worse"
    HIGHER = "higher"
    """Different, where no direction is the better one."""
    LOWER = "lower"
    NOT_VALID = "not valid"
    """A side rests on figures that their own run calls invalid; nothing follows from them."""
    SAME = "none found"
    """The runs exclude a change of 7 % or more; a small one may still be there."""
    UNDECIDED = "cannot decide"
    """No difference was established, but a large one is not excluded."""
    TOO_FEW = "too few runs"
    """No outcome of so many runs could have decided."""


class Figure(Struct, frozen=True):
    """One metric, or one point of it, on both sides."""

    metric: str
    at: Coordinates | None
    """None for the metric as a whole."""
    points: int
    """How many points the figure stands for."""
    series: Series | None
    runs: tuple[int, int]
    """Runs of the new side and of the baseline."""
    medians: tuple[float, float]
    """Of the new side and of the baseline; for several points medians of geometric means."""
    ratio: float
    """New over baseline."""
    low: float | None
    high: float | None
    p: float
    corrected_p: float
    share_of_pairs_lower: float
    """Share of all pairs of runs in which the new side's was the smaller."""
    verdict: Conclusion
    invalid: tuple[str, str] = ("", "")
    """Why the figures of the new side and of the baseline do not count; empty where they do."""
    confirmatory: bool = False
    strict: tuple[float, float] | None = None
    """The interval where several questions are asked; None where the runs are too few for one."""
    more_runs: int | None = None
    """How many more runs a side would probably decide; None where nothing is left open, or for more than 100."""
    noise: float | None = None
    """The furthest that a run lies from the median of its side, as a share; None with a single run on a side."""
    card: str = ""
    """The card of a figure that people name; empty for what is none."""

    @property
    def invalid_text(self) -> str:
        """Which side has figures that do not count, and why; empty where all do."""
        new, baseline = self.invalid
        if new and new == baseline:
            return f"not valid on both sides: {new}"
        named = (("new side", new), ("baseline", baseline))
        return "; ".join(f"not valid on the {name}: {why}" for name, why in named if why)

    @property
    def different(self) -> bool:
        """Whether a difference was found."""
        return self.verdict not in (Conclusion.NOT_VALID, Conclusion.SAME, Conclusion.UNDECIDED, Conclusion.TOO_FEW)


class ConditionResult(Struct, frozen=True):
    """What became of one question."""

    question: Condition
    decision: Decision
    why: str
    """Why it is undecided; empty where it is decided."""
    figure: Figure | None = None
    """Of a change; None where the sides have no figure in common."""
    reading: Reading | None = None
    """Of an absolute bound: the point that decided, or kept it from being decided."""


class OtherWorkloads(Struct, frozen=True):
    """A probe that measured other workloads on each side, none of them on both."""

    probe: str
    new: tuple[str, ...]
    baseline: tuple[str, ...]


class Comparison(Struct, frozen=True):
    """Everything that was found, hardware first."""

    sides: tuple[tuple[Digest, ...], tuple[Digest, ...]]
    """The new side and the baseline, which is empty where only absolute bounds are asked about."""
    differences: tuple[Difference, ...]
    warnings: tuple[str, ...]
    metrics: tuple[Figure, ...]
    """One figure per metric that both sides have."""
    points: tuple[Figure, ...]
    """The single points of metrics with several; exploratory."""
    means: tuple[Mean, ...]
    only_new: tuple[str, ...]
    only_baseline: tuple[str, ...]
    conditions: tuple[ConditionResult, ...]
    level: float
    minimum_effect: float
    headlines: tuple[Figure, ...] = ()
    """The named figures that both sides have, in the order of their cards; without any, what both have not valid."""
    other_workloads: tuple[OtherWorkloads, ...] = ()
    """Probes whose figures are not compared, as their workloads differ."""
    interleaved: bool = False
    """Whether the runs of both sides took turns, so that drift fell on both alike."""
    other_settings: bool = False
    """Whether parameters or versions of a probe differ between the sides."""

    @property
    def condition_met(self) -> bool:
        """Whether a condition is met."""
        return any(answer.decision is Decision.MET for answer in self.conditions)

    @property
    def undecided(self) -> tuple[ConditionResult, ...]:
        """The conditions that could not be decided."""
        return tuple(answer for answer in self.conditions if answer.decision is Decision.UNDECIDED)


class Mean(Struct, frozen=True):
    """The geometric mean of the ratios of all metrics that share a direction."""

    better: Better
    ratio: float
    metrics: int
