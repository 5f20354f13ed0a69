"""``PROBE.KEY=VALUE`` to checked values: type, range and choice as the manifest says."""

from __future__ import annotations

from collections.abc import Container, Iterable

from sizeup.errors import UsageError
from sizeup.model.plan import Settings, SettingValue
from sizeup.probing.manifest import Manifest, Parameter, parse_value
from sizeup.probing.registry import Registry
from sizeup.text import nearest, one_line


def parse_assignments(assignments: Iterable[str], registry: Registry) -> dict[str, dict[str, SettingValue]]:
    """What the user set, by probe; a later assignment to the same key wins."""
    settings: dict[str, dict[str, SettingValue]] = {}
    for assignment in assignments:
        left, equals, value = assignment.partition("=")
        name, dot, key = left.strip().rpartition(".")
        if not equals or not dot or not name or not key:
            examples = (
                f", such as {probe}.{parameter.name}={parameter.default}"
                for probe, registered in registry.probes.items()
                for parameter in registered.manifest.parameter
                if parameter.type == "int" and parameter.default is not None
            )
            expected = f"expected PROBE.KEY=VALUE{next(examples, '')}"
            raise UsageError(f"--set {one_line(assignment, 80)}: {expected}")
        parameters = {parameter.name: parameter for parameter in registry.get(name).manifest.parameter}
        if key not in parameters:
            found, listed = f"{one_line(key, 60)!r}{nearest(key, parameters)}", ", ".join(parameters) or "none"
            raise UsageError(f"probe {name} has no parameter {found}; it has: {listed}")
        settings.setdefault(name, {})[key] = parse_value(parameters[key], value, f"--set {name}.{key}")
    return settings


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


def _shown(value: SettingValue) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
