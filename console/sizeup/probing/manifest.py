"""What ``probe.toml`` says: read without importing any code of the plug-in."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from sizeup.model.plan import (
    FEW,
    NOT_REPORTED,
    Better,
    Declaration,
    Hazard,
    Series,
    SeriesQuantity,
    SettingValue,
    TargetDeclaration,
)

PLANS = ("quick", "standard", "full")
"""The named plans, the shortest first."""

ParameterType = Literal["int", "float", "bool", "str", "choice", "bytes", "seconds", "cpulist", "path", "device"]
"""``device``: the full name of a device that may be overwritten, which the console asks for before a run."""


_Text = Annotated[str, Meta(pattern=r"\S", description="text")]
_DOTTED = Meta(
    pattern=r"^[a-z][a-z0-9_-]*(\.[a-z0-9][a-z0-9_-]*)*\Z",
    description="lower-case words joined by dots, such as acme.rate",
)
_WORD = Meta(pattern=r"^[a-z][a-z0-9_]*\Z", description="a lower-case word such as block_bytes, without dots")
_PLAIN = Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\Z", description="letters, digits, dots, hyphens and underscores")
_Seconds = Annotated[float, Meta(gt=0, description="more than 0 s")]


class Parameter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One setting that a user may give as ``--set PROBE.NAME=VALUE``."""

    name: Annotated[str, _WORD]
    type: ParameterType
    help: str
    default: SettingValue | None = None
    """None: the user must give it."""
    unit: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    used_with: dict[str, tuple[SettingValue, ...]] = {}
    """Other parameters and the values of each with which this one has an effect; with any other value of one of
    them it has none: a user who sets it then is refused, and the step does not record it."""
    label: str = ""
    """What a form calls it; empty for its name in words."""
    basic: bool = False
    """Whether a form shows it at once and not among the advanced ones."""
    key: Annotated[str, Meta(max_length=1, description="one letter")] = ""
    """The letter that changes it in a form; empty for none."""
    labels: dict[str, str] = {}
    """What a form calls some of its values, such as the choices, each in one line."""
    suggestions: tuple[SettingValue, ...] = ()
    """Values that a form offers beside any other."""
    implies: dict[str, dict[str, SettingValue]] = {}
    """Of a choice: what it does by itself in place of parameters that have no effect with it."""


class QuantityEntry(SeriesQuantity, frozen=True, forbid_unknown_fields=True):
    """What points of a series are."""

    def quantity(self) -> SeriesQuantity:
        """The model's value."""
        return SeriesQuantity(*msgspec.structs.astuple(self))


class TargetEntry(TargetDeclaration, frozen=True, forbid_unknown_fields=True):
    """Which parameters name what is measured."""

    def target(self) -> TargetDeclaration:
        """The model's value."""
        return TargetDeclaration(*msgspec.structs.astuple(self))


class SeriesEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One series; see ``model.plan.Series``."""

    name: Annotated[str, _PLAIN]
    title: str
    unit: str
    better: Better
    axis: str | None = None
    axis_unit: str | None = None
    axis_title: str | None = None
    headline: dict[str, str | int | float] = {}
    quantity: str | Annotated[tuple[QuantityEntry, ...], FEW] = ()
    """What its points are, in a word where all are the same."""
    family: str = ""
    statistic: str = ""
    samples: str = ""
    boundaries: Literal["", "memory"] = ""
    findings_by: str = ""
    remedies: dict[str, str] = {}

    def series(self) -> Series:
        """The model's value."""
        values = msgspec.structs.asdict(self)
        quantity = values.pop("quantity")
        entries = (QuantityEntry(quantity),) if isinstance(quantity, str) else quantity
        return Series(**values, quantities=tuple(entry.quantity() for entry in entries))


class Requires(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a machine must have; all of it checked without running the probe."""

    architectures: tuple[str, ...] = ()
    minimum_nodes: int = 0
    minimum_cpus: int = 1


class ProbeLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The most that a step may use: memory, space, CPUs and time."""

    memory: str = NOT_REPORTED
    space: str = NOT_REPORTED
    space_setting: str = ""
    """The parameter that sets how much space is used; empty where none does."""
    cpus: str = NOT_REPORTED
    seconds: _Seconds = 60.0
    """The time limit of a step unless the step asks for less."""


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One probe."""

    name: Annotated[str, _DOTTED]
    title: _Text
    summary: _Text
    series: Annotated[tuple[SeriesEntry, ...], Meta(min_length=1, description="at least one series")]
    touches: _Text
    method: _Text
    """The page of the documentation that says how the figure can mislead."""
    parameter: tuple[Parameter, ...] = ()
    hazards: tuple[Hazard, ...] = ()
    requires: Requires = Requires()
    limits: ProbeLimits = ProbeLimits()
    plans: dict[str, dict[str, SettingValue]] = {}
    """Plans that include this probe (``quick``, ``standard``, ``full``) and what they set."""
    mount_plans: dict[str, dict[str, SettingValue]] = {}
    """Plans that include this probe where the user names a mount to measure, and what they set besides it."""
    estimated_seconds: dict[str, _Seconds] = {}
    """By plan."""
    chart: Literal["curve", "matrix", "bars", "scaling", "histogram", "none"] = "curve"
    card: Literal["", "cpu", "memory", "storage", "network", "clock"] = ""
    """What its results are about."""
    precision: str = ""
    """The parameter that holds the interval aimed at, as a share of the value."""
    target: TargetEntry | None = None
    """Which parameters name what is measured; None where none does."""
    diagnostic: bool = False
    """It tests sizeup itself and says nothing about the machine: it is listed, but no screen leads with it."""

    def declaration(self) -> Declaration:
        """What is recorded with each step beside its series."""
        target = None if self.target is None else self.target.target()
        return Declaration(self.card, self.precision, target, self.title, self.diagnostic)
