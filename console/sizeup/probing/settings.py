"""``PROBE.KEY=VALUE`` to checked values: type, range and choice as the manifest says."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable

from sizeup.errors import MalformedError, UsageError
from sizeup.model.plan import Settings, SettingValue
from sizeup.probing.manifest import Manifest, Parameter
from sizeup.probing.registry import Registry
from sizeup.text import nearest, one_line
from sizeup.units import format_bytes, format_ns, parse_bytes, parse_seconds

_TRUE, _FALSE = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}
_CPULIST = re.compile(r"\d+(-\d+(:\d+)?)?(,\d+(-\d+(:\d+)?)?)*")


def parse_assignments(assignments: Iterable[str], registry: Registry) -> dict[str, dict[str, SettingValue]]:
    """What the user set, by probe; a later assignment to the same key wins."""
    settings: dict[str, dict[str, SettingValue]] = {}
    for assignment in assignments:
        left, equals, value = assignment.partition("=")
        name, dot, key = left.strip().rpartition(".")
        if not equals or not dot or not name or not key:
            raise UsageError(f"--set {one_line(assignment, 80)}: expected PROBE.KEY=VALUE{_example(registry)}")
        manifest = registry.get(name).manifest
        settings.setdefault(name, {})[key] = parse_value(_parameter(manifest, key), value, f"--set {name}.{key}")
    return settings


def _example(registry: Registry) -> str:
    """An assignment that this installation takes, after a comma; empty without a probe that has one."""
    known = (
        f", such as {name}.{parameter.name}={parameter.default}"
        for name, probe in registry.probes.items()
        for parameter in probe.manifest.parameter
        if parameter.type == "int" and parameter.default is not None
    )
    return next(known, "")


def resolve(manifest: Manifest, plan: str | None, chosen: Settings) -> dict[str, SettingValue]:
    """Every parameter of a probe: its default, what the plan sets, what the user chose, the later winning.

    Parameters that have no default and were not chosen are missing from the result; see ``missing``.
    """
    known = {parameter.name: parameter.default for parameter in manifest.parameter}
    settings = {name: value for name, value in known.items() if value is not None}
    settings |= manifest.plans.get(plan or "", {})
    settings |= dict(chosen)
    return settings


def missing(manifest: Manifest, settings: Settings) -> tuple[Parameter, ...]:
    """The parameters that only the user can give, and has not."""
    return tuple(
        parameter
        for parameter in manifest.parameter
        if parameter.name not in settings and not why_unused(parameter, settings)
    )


def why_unused(parameter: Parameter, settings: Settings) -> str:
    """Return why a parameter has no effect beside these settings, such as ``preset=redo``; empty where it has one."""
    for other, values in parameter.used_with.items():
        if other in settings and settings[other] not in values:
            return f"{other}={_shown(settings[other])}"
    return ""


def how_used(parameter: Parameter, settings: Settings) -> str:
    """Return what to change so that a parameter without effect gets one, such as ``set preset to custom``."""
    other = why_unused(parameter, settings).partition("=")[0]
    values = [_shown(value) for value in parameter.used_with[other]]
    return f"set {other} to {'one of ' if len(values) > 1 else ''}{', '.join(values)}"


def used(manifest: Manifest, settings: Settings) -> dict[str, SettingValue]:
    """Return the settings that have an effect beside the others: what a step does, and so what it records."""
    without_effect = {parameter.name for parameter in manifest.parameter if why_unused(parameter, settings)}
    return {name: value for name, value in settings.items() if name not in without_effect}


def refuse_unused(manifest: Manifest, settings: Settings, chosen: Container[str]) -> None:
    """Raise UsageError for the first parameter that the user chose although it has no effect beside ``settings``."""
    for parameter in manifest.parameter:
        reason = why_unused(parameter, settings) if parameter.name in chosen else ""
        if reason:
            raise UsageError(
                f"{manifest.name}.{parameter.name} has no effect with {reason}: remove {parameter.name}, "
                f"or {how_used(parameter, settings)}"
            )


def parse_value(parameter: Parameter, text: str, where: str) -> SettingValue:
    """One value, typed and checked; ``where`` names it in errors."""
    text = text.strip()
    try:
        value = _convert(parameter, text)
    except (ValueError, MalformedError) as error:
        raise UsageError(f"{where}: expected {expectation(parameter)}, found {one_line(text, 60)!r}") from error
    if not _in_range(parameter, value):
        raise UsageError(f"{where}: expected {expectation(parameter)}, found {one_line(text, 60)!r}")
    return value


def _parameter(manifest: Manifest, key: str) -> Parameter:
    for parameter in manifest.parameter:
        if parameter.name == key:
            return parameter
    known = [parameter.name for parameter in manifest.parameter]
    listed = ", ".join(known) or "none"
    raise UsageError(
        f"probe {manifest.name} has no parameter {one_line(key, 60)!r}{nearest(key, known)}; it has: {listed}"
    )


def _convert(parameter: Parameter, text: str) -> SettingValue:
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
            if text not in parameter.choices:
                raise ValueError(text)
            return text
        case "cpulist":
            if not _CPULIST.fullmatch(text):
                raise ValueError(text)
            return text
        case "str" | "path" | "device":
            if not text or "\0" in text:
                raise ValueError(text)
            return text


def _in_range(parameter: Parameter, value: SettingValue) -> bool:
    if isinstance(value, str | bool):
        return True
    low = -math.inf if parameter.minimum is None else parameter.minimum
    high = math.inf if parameter.maximum is None else parameter.maximum
    return math.isfinite(value) and low <= value <= high


def _shown(value: SettingValue) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


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
    }[parameter.type]
    low, high = parameter.minimum, parameter.maximum
    if low is not None and high is not None:
        return f"{noun} from {_format_value(parameter, low)} to {_format_value(parameter, high)}"
    if low is not None:
        return f"{noun} of at least {_format_value(parameter, low)}"
    if high is not None:
        return f"{noun} of at most {_format_value(parameter, high)}"
    return noun
