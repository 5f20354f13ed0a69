"""What ``probe.toml`` says: read without importing any code of the plug-in."""

from __future__ import annotations

from typing import Literal

import msgspec
import tomli

from sizeup.errors import MalformedError
from sizeup.model.plan import Better, Hazard, Series, SettingValue

ParameterType = Literal["int", "float", "bool", "str", "choice", "bytes", "seconds", "cpulist", "path"]


class Parameter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One setting that a user may give as ``--set PROBE.NAME=VALUE``."""

    name: str
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


class SeriesEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One series; see ``model.plan.Series``."""

    name: str
    title: str
    unit: str
    better: Better
    axis: str | None = None
    axis_unit: str | None = None
    axis_title: str | None = None
    headline: dict[str, str | int | float] = {}

    def series(self) -> Series:
        """The model's value."""
        return Series(
            self.name, self.title, self.unit, self.better, self.axis, self.axis_unit, self.axis_title, self.headline
        )


class Requires(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a machine must have; all of it checked without running the probe."""

    architectures: tuple[str, ...] = ()
    minimum_nodes: int = 0
    minimum_cpus: int = 1


class Ceilings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The most a step may take, in words or numbers a user can hold it to."""

    memory: str = "less than 64 MiB"
    space: str = "none"
    cpus: str = "one"
    seconds: float = 60.0
    """The time limit of a step unless the step asks for less."""


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One probe."""

    name: str
    title: str
    summary: str
    series: tuple[SeriesEntry, ...]
    touches: str
    method: str
    """The page of the documentation that says how the figure can mislead."""
    parameter: tuple[Parameter, ...] = ()
    hazards: tuple[Hazard, ...] = ()
    requires: Requires = Requires()
    ceilings: Ceilings = Ceilings()
    plans: dict[str, dict[str, SettingValue]] = {}
    """Plans that include this probe (``quick``, ``standard``, ``full``) and what they set."""
    estimated_seconds: dict[str, float] = {}
    """By plan."""
    chart: Literal["curve", "matrix", "bars", "scaling", "histogram", "none"] = "curve"


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"format": "schema"}):
    format: Literal["sizeup.probe/1"]
    probe: tuple[Manifest, ...]


def parse_manifest(text: str, where: str) -> tuple[Manifest, ...]:
    """The probes that a ``probe.toml`` declares; ``where`` names it in errors."""
    try:
        manifests = msgspec.convert(tomli.loads(text), _File).probe
    except (tomli.TOMLDecodeError, msgspec.ValidationError) as error:
        raise MalformedError(f"{where}: expected a sizeup.probe/1 manifest: {error}") from error
    for manifest in manifests:
        known = {parameter.name for parameter in manifest.parameter}
        for parameter in manifest.parameter:
            for other in parameter.used_with.keys() - known:
                raise MalformedError(
                    f"{where}: used_with of parameter {parameter.name}: expected a parameter of {manifest.name}, "
                    f"found {other!r}"
                )
    return manifests
