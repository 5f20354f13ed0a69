"""What ``probe.toml`` says: read without importing any code of the plug-in."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import astuple

from sizeup.errors import MalformedError, UsageError
from sizeup.model import plan
from sizeup.text import one_line
from sizeup.units import format_bytes, format_ns, parse_bytes, parse_seconds

PLANS = ("quick", "standard", "full")
"""The named plans, the shortest first."""

ParameterType = Literal[
    "int", "float", "bool", "str", "choice", "bytes", "seconds", "cpulist", "path", "device", "host"
]
"""``device``: the name of one that may be overwritten, which the console asks for before a run; ``host``: for ssh."""


_Text = Annotated[str, Meta(pattern=r"\S", description="text")]
_DOTTED = Meta(
    pattern=r"^[a-z][a-z0-9_-]*(\.[a-z0-9][a-z0-9_-]*)*\Z",
    description="lower-case words joined by dots, such as acme.rate",
)
_WORD = Meta(pattern=r"^[a-z][a-z0-9_]*\Z", description="a lower-case word such as block_bytes, without dots")
_PLAIN = Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\Z", description="letters, digits, dots, hyphens and underscores")
_Seconds = Annotated[float, Meta(gt=0, description="more than 0 s")]
_TRUE, _FALSE = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}
_CPULIST = re.compile(r"\d+(-\d+(:\d+)?)?(,\d+(-\d+(:\d+)?)?)*")


class Parameter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One setting that a user may give as ``--set PROBE.NAME=VALUE``."""

    name: Annotated[str, _WORD]
    type: ParameterType
    help: str
    default: plan.SettingValue | None = None
    """None: the user must give it."""
    unit: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    used_with: dict[str, tuple[plan.SettingValue, ...]] = {}
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
    suggestions: tuple[plan.SettingValue, ...] = ()
    """Values that a form offers beside any other."""
    implies: dict[str, dict[str, plan.SettingValue]] = {}
    """Of a choice: what it does by itself in place of parameters that have no effect with it."""


class SharedParameter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a probe changes of a parameter that several probes of its file share."""

    default: plan.SettingValue | None = None
    minimum: float | None = None
    maximum: float | None = None
    help: str | None = None


class QuantityEntry(plan.SeriesQuantity, frozen=True, forbid_unknown_fields=True):
    """What points of a series are."""


class TargetEntry(plan.TargetDeclaration, frozen=True, forbid_unknown_fields=True):
    """Which parameters name what is measured."""


class SeriesEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One series; see ``model.plan.Series``."""

    name: Annotated[str, _PLAIN]
    title: str
    unit: str
    better: plan.Better
    axis: str | None = None
    headline: dict[str, str | int | float] = {}
    quantity: str | Annotated[tuple[QuantityEntry, ...], plan.FEW] = ()
    """What its points are, in a word where all are the same."""
    family: str = ""
    statistic: str = ""
    samples: str = ""
    boundaries: Literal["", "memory"] = ""
    findings_by: str = ""
    remedies: dict[str, str] = {}

    def series(self, axes: Mapping[str, AxisEntry]) -> plan.Series:
        """The model's value, with what the probe says of its axis."""
        values = msgspec.structs.asdict(self)
        if (axis := axes.get(self.axis or "")) is not None:
            values |= {"axis_unit": axis.unit, "axis_title": axis.title}
        quantity = values.pop("quantity")
        entries = (QuantityEntry(quantity),) if isinstance(quantity, str) else quantity
        return plan.Series(**values, quantities=tuple(plan.SeriesQuantity(*astuple(entry)) for entry in entries))


class AxisEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a coordinate is as the axis of series."""

    unit: str
    title: _Text


class Requires(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a machine must have; all of it checked without running the probe."""

    architectures: tuple[str, ...] = ()
    minimum_nodes: int = 0
    minimum_cpus: int = 1


class ProbeLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The most that a step may use: memory, space, CPUs and time."""

    memory: str = plan.NOT_REPORTED
    space: str = plan.NOT_REPORTED
    space_setting: str = ""
    """The parameter that sets how much space is used; empty where none does."""
    cpus: str = plan.NOT_REPORTED
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
    hazards: tuple[plan.Hazard, ...] = ()
    requires: Requires = Requires()
    limits: ProbeLimits = ProbeLimits()
    plans: dict[str, dict[str, plan.SettingValue]] = {}
    """Plans that include this probe (``quick``, ``standard``, ``full``) and what they set."""
    mount_plans: dict[str, dict[str, plan.SettingValue]] = {}
    """Plans that include this probe where the user names a mount to measure, and what they set besides it."""
    gentle: dict[str, plan.SettingValue] | None = None
    """What a gentle run sets besides its plan; None where the probe is left out of it."""
    not_gentle: str = ""
    """Why it is left out."""
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
    axes: dict[str, AxisEntry] = {}
    """Of the coordinates that series have as their axis; one that is no number has none."""
    shared: dict[str, SharedParameter] = {}
    """Parameters of the file that it has behind its own, with what it changes of each."""

    @property
    def peer_setting(self) -> str:
        """The parameter that names another host where that is the target; empty where it is not."""
        name = "" if self.target is None else self.target.setting
        return name if any((one.name, one.type) == (name, "host") for one in self.parameter) else ""

    def with_shared(self, parameters: Mapping[str, Parameter]) -> Manifest:
        """Return the manifest with those of the file's ``parameters`` that it shares behind its own."""
        found = []
        for name, changes in self.shared.items():
            changed = {key: value for key, value in msgspec.structs.asdict(changes).items() if value is not None}
            found.append(msgspec.structs.replace(parameters[name], **changed))
        return msgspec.structs.replace(self, parameter=(*self.parameter, *found))

    def declaration(self) -> plan.Declaration:
        """What is recorded with each step beside its series."""
        target = None if self.target is None else plan.TargetDeclaration(*astuple(self.target))
        return plan.Declaration(self.card, self.precision, target, self.title, self.diagnostic)


def parse_value(parameter: Parameter, text: str, where: str) -> plan.SettingValue:
    """One value, typed and checked; ``where`` names it in errors."""
    text = text.strip()
    try:
        value = _convert(parameter, text)
        if _in_range(parameter, value):
            return value
    except (ValueError, MalformedError):
        pass  # said below, in words that name what is expected
    raise UsageError(f"{where}: expected {expectation(parameter)}, found {one_line(text, 60)!r}")


def accepts(parameter: Parameter, value: plan.SettingValue) -> bool:
    """Whether a value that a manifest states is one that a user could give."""
    kinds = {"bool": (bool,), "int": (int,), "bytes": (int,), "float": (int, float), "seconds": (int, float)}
    if parameter.type in kinds:
        return type(value) in kinds[parameter.type] and _in_range(parameter, value)
    if not isinstance(value, str):
        return False
    try:
        _convert(parameter, value)
    except ValueError:
        return value == ""  # the default of a text may be that there is none
    return True


def _convert(parameter: Parameter, text: str) -> plan.SettingValue:
    match parameter.type:
        case "int":
            return int(text)
        case "float":
            return float(text)
        case "bytes":
            return parse_bytes(text)
        case "seconds":
            return parse_seconds(text)
        case "bool":
            if text.lower() not in _TRUE | _FALSE:
                raise ValueError(text)
            return text.lower() in _TRUE
        case "choice":
            fits = text in parameter.choices
        case "cpulist":
            fits = _CPULIST.fullmatch(text) is not None
        case "str" | "path" | "device":
            fits = text != "" and "\0" not in text
        case "host":
            from sizeup.probing.remote_python import host_name  # which loads what starts processes

            fits = host_name(text) != ""
    if not fits:
        raise ValueError(text)
    return text


def _in_range(parameter: Parameter, value: plan.SettingValue) -> bool:
    if isinstance(value, str | bool):
        return True
    low = -math.inf if parameter.minimum is None else parameter.minimum
    high = math.inf if parameter.maximum is None else parameter.maximum
    return math.isfinite(value) and low <= value <= high


def _format_value(parameter: Parameter, value: float) -> str:
    if parameter.type == "bytes":
        return format_bytes(value)
    if parameter.type == "seconds":
        return format_ns(value * 1e9) if value else "0 s"
    return f"{value:g}" if value < 1e6 else f"{value:,.0f}"


def expectation(parameter: Parameter) -> str:
    """What a parameter takes, in words: ``a whole number from 0 to 100``."""
    noun = {
        "int": "a whole number",
        "float": "a number",
        "bytes": "a size such as 64k or 1.5G",
        "seconds": "a time such as 10, 250ms or 5m",
        "bool": "yes or no",
        "choice": "one of " + ", ".join(parameter.choices),
        "cpulist": "a CPU list such as 0-3,8",
        "str": "some text",
        "path": "a path",
        "device": "the full name of a device",
        "host": "[USER@]HOST, as for ssh",
    }[parameter.type]
    low, high = parameter.minimum, parameter.maximum
    if low is not None and high is not None:
        return f"{noun} from {_format_value(parameter, low)} to {_format_value(parameter, high)}"
    if low is not None:
        return f"{noun} of at least {_format_value(parameter, low)}"
    if high is not None:
        return f"{noun} of at most {_format_value(parameter, high)}"
    return noun
