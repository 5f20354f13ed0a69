"""Read ``probe.toml``: its structure, then what its declarations say of each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_type_hints

import msgspec
from msgspec import Struct, inspect

from sizeup.decoding import TomlError, convert, toml_tables
from sizeup.errors import MalformedError
from sizeup.model.plan import NOT_REPORTED, Hazard, SettingValue
from sizeup.model.quantities import UNITS
from sizeup.probing.manifest import PLANS, Manifest, Parameter, SeriesEntry, accepts, expectation
from sizeup.text import nearest, one_line
from sizeup.units import base_unit

_WORDS: Mapping[type[inspect.Type], str] = {
    inspect.StrType: "text",
    inspect.IntType: "a whole number",
    inspect.FloatType: "a number",
    inspect.BoolType: "true or false",
}
_QUANTITY_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)*")
_LIMITS = {"cpus": (Hazard.CPU_LOAD,), "memory": (Hazard.MEMORY,), "space": (Hazard.DISK_SPACE, Hazard.IO_WRITE)}
"""Hazards that a user can judge only by the most that a step takes."""
Place = tuple[str | int, ...]
"""Keys and indexes from the root of a TOML file: ``("probe", 0, "series", 2, "unit")``."""
FILE_NAME = "probe.toml"


def structure_mistakes(data: dict[str, Any], struct: type[msgspec.Struct], place: Place = ()) -> Iterator[Mistake]:
    """Yield a mistake for each key of a table, and of the tables below it, that a struct does not take."""
    hints = get_type_hints(struct, include_extras=True)
    fields = {field.encode_name: field for field in msgspec.structs.fields(struct)}
    for name in data:
        if name not in fields:
            yield Mistake((*place, name), _key(place, name), "a known key", f"{name!r}{nearest(name, fields)}")
    for name, field in fields.items():
        if name not in data:
            if field.required:
                yield Mistake(place, _key(place, name), _described(inspect.type_info(hints[field.name])), "no such key")
            continue
        try:
            msgspec.convert(data[name], hints[field.name])
        except msgspec.ValidationError:
            kind, at = inspect.type_info(hints[field.name]), (*place, name)
            found = Mistake(at, _key(at), _described(kind), one_line(repr(data[name]), 80))
            yield from list(_below(data[name], kind, at)) or [found]


def _below(data: object, kind: inspect.Type, place: Place) -> Iterator[Mistake]:
    """Yield the mistakes inside a table or a list of tables; none where it is something else."""
    kind = kind.type if isinstance(kind, inspect.Metadata) else kind
    for option in kind.types if isinstance(kind, inspect.UnionType) else (kind,):
        if isinstance(option, inspect.StructType) and isinstance(data, dict):
            yield from structure_mistakes(data, option.cls, place)
        elif isinstance(option, inspect.VarTupleType) and isinstance(data, list):
            for index, item in enumerate(data):
                yield from _below(item, option.item_type, (*place, index))


def _described(kind: inspect.Type) -> str:
    match kind:
        case inspect.Metadata(extra_json_schema={"description": str(description)}):
            return description
        case inspect.LiteralType():
            return "one of " + ", ".join(str(value) or "nothing" for value in kind.values)
        case inspect.EnumType():
            return "one of " + ", ".join(str(member.value) for member in kind.cls)
        case inspect.VarTupleType():
            return f"a list, each {_described(kind.item_type)}"
        case inspect.UnionType():
            numbers = {inspect.IntType, inspect.FloatType} <= {type(option) for option in kind.types}
            options = [option for option in kind.types if not isinstance(option, inspect.NoneType)]
            return " or ".join(
                _described(option) for option in options if not (numbers and isinstance(option, inspect.IntType))
            )
        case inspect.DictType():
            return f"a table whose values are {_described(kind.value_type)}"
    return _WORDS.get(type(kind), "a table")


def _key(place: Place, name: str = "") -> str:
    """Return a place as TOML's readers write it: ``probe[0].series[2].unit``."""
    text = ""
    for part in (*place, name) if name else place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def mistakes(manifests: Sequence[Manifest]) -> Iterator[Mistake]:
    """Yield where the manifests of one file are wrong or contradict themselves."""
    yield from _repeated(((), "probe", [manifest.name for manifest in manifests]))
    for index, manifest in enumerate(manifests):
        place: Place = ("probe", index)
        yield from _repeated(
            ((*place, "series"), "series", [series.name for series in manifest.series]),
            ((*place, "parameter"), "parameter", [parameter.name for parameter in manifest.parameter]),
            ((*place, "parameter"), "key of a parameter", [parameter.key for parameter in manifest.parameter]),
        )
        known = [parameter.name for parameter in manifest.parameter]
        for below, key, names in _parameters_named(manifest):
            for name in filter(None, names):
                if name not in known:
                    found = f"{name!r}{nearest(name, known)}"
                    yield Mistake((*place, *below), key, f"a parameter of {manifest.name}", found)
        used = {series.axis for series in manifest.series if series.axis is not None}
        for name, axis in manifest.axes.items():
            at = (*place, "axes", name)
            if name not in used:
                yield Mistake(at, f"axes of {manifest.name}", "the axis of a series", f"{name!r}{nearest(name, used)}")
            yield from _unit(axis.unit, f"axis {name}", at)
        for number, series in enumerate(manifest.series):
            yield from _series(manifest, series, (*place, "series", number))
        for number, parameter in enumerate(manifest.parameter):
            yield from _parameter(manifest, parameter, (*place, "parameter", number))
        yield from _plans(manifest, place)


def _repeated(*lists: tuple[Place, str, list[str]]) -> Iterator[Mistake]:
    for place, what, names in lists:
        for name, count in Counter(names).items():
            if name and count > 1:
                yield Mistake(place, f"{what} {name}", "a name of its own for each", f"{count} of this name")


def _parameters_named(manifest: Manifest) -> Iterator[tuple[Place, str, Iterable[str]]]:
    """Yield the names of parameters that the rest of a manifest refers to, by where it does."""
    for number, parameter in enumerate(manifest.parameter):
        below: Place = ("parameter", number)
        yield (*below, "used_with"), f"used_with of parameter {parameter.name}", parameter.used_with
        implied = [name for found in parameter.implies.values() for name in found]
        yield (*below, "implies"), f"implies of parameter {parameter.name}", implied
    yield ("precision",), "precision", [manifest.precision]
    yield ("gentle",), "gentle", manifest.gentle or ()
    for key in ("plans", "mount_plans"):
        yield (key,), key, [name for settings in getattr(manifest, key).values() for name in settings]
    yield ("limits", "space_setting"), "limits.space_setting", [manifest.limits.space_setting]
    if manifest.target is not None:
        yield ("target",), "target", [manifest.target.setting, manifest.target.more]
    for number, series in enumerate(manifest.series):
        for quantity in () if isinstance(series.quantity, str) else series.quantity:
            yield ("series", number, "quantity"), f"measure_with of series {series.name}", quantity.measure_with


def _series(manifest: Manifest, series: SeriesEntry, place: Place) -> Iterator[Mistake]:
    yield from _unit(series.unit, f"series {series.name}", place)
    if series.statistic and not series.family:
        yield Mistake((*place, "statistic"), f"statistic of series {series.name}", "a family beside it", "no family")
    sources = {name for other in manifest.series if other is not series for name in (other.name, other.family) if name}
    if series.samples and series.samples not in sources:
        found = f"{series.samples!r}{nearest(series.samples, sources)}"
        expected = "another series or family"
        yield Mistake((*place, "samples"), f"samples of series {series.name}", expected, found)
    if series.remedies and series.unit != "verdict":
        yield Mistake((*place, "remedies"), f"remedies of series {series.name}", "the unit verdict", repr(series.unit))
    for quantity in series.series({}).quantities:
        if quantity.name and not _QUANTITY_NAME.fullmatch(quantity.name):
            expected = "lower-case words joined by dots, such as storage.random_iops"
            yield Mistake((*place, "quantity"), f"quantity of series {series.name}", expected, repr(quantity.name))
        unit = UNITS.get(quantity.name, series.unit)
        if series.unit != unit:
            expected = f"{unit}, the unit of {quantity.name}"
            yield Mistake((*place, "unit"), f"unit of series {series.name}", expected, repr(series.unit))


def _unit(unit: str, of: str, place: Place) -> Iterator[Mistake]:
    base, factor = base_unit(unit)
    if (base, factor) != (unit, 1.0):
        action = f"multiply the values by {factor:g}" if factor != 1.0 else ""
        yield Mistake((*place, "unit"), f"unit of {of}", f"the base unit {base}", repr(unit), action)


def _parameter(manifest: Manifest, parameter: Parameter, place: Place) -> Iterator[Mistake]:
    def mistake(key: str, expected: str, found: object) -> Mistake:
        shown = found if isinstance(found, str) else repr(found)
        return Mistake((*place, key), f"{key} of parameter {parameter.name}", expected, shown)

    if (parameter.type == "choice") != bool(parameter.choices):
        expected = "the choices" if parameter.type == "choice" else "no choices with this type"
        yield mistake("choices", expected, ", ".join(parameter.choices) or "none")
    low, high = parameter.minimum, parameter.maximum
    if low is not None and high is not None and low > high:
        yield mistake("minimum", f"at most the maximum, {high:g}", low)
    if parameter.name == manifest.precision and parameter.type != "float":
        yield mistake("type", "float, as precision names it", parameter.type)
    if parameter.default is not None and not accepts(parameter, parameter.default):
        yield mistake("default", expectation(parameter), parameter.default)
    for value in parameter.suggestions:
        if not accepts(parameter, value):
            yield mistake("suggestions", expectation(parameter), value)


def _plans(manifest: Manifest, place: Place) -> Iterator[Mistake]:
    parameters = {parameter.name: parameter for parameter in manifest.parameter}
    for key in ("plans", "mount_plans", "estimated_seconds"):
        for plan in getattr(manifest, key):
            if plan not in PLANS:
                expected = f"one of {', '.join(PLANS)}"
                yield Mistake(
                    (*place, key, plan), f"{key} of {manifest.name}", expected, f"{plan!r}{nearest(plan, PLANS)}"
                )
    values: list[tuple[Place, Mapping[str, SettingValue]]] = [(("gentle",), manifest.gentle or {})]
    for key in ("plans", "mount_plans"):
        values += [((key, plan), settings) for plan, settings in getattr(manifest, key).items()]
    for below, settings in values:
        for name, value in settings.items():
            parameter = parameters.get(name)
            if parameter is not None and not accepts(parameter, value):
                words = ".".join(map(str, (*below, name)))
                yield Mistake((*place, *below), words, expectation(parameter), repr(value))
    for plan in manifest.plans:
        if plan not in manifest.estimated_seconds:
            expected = f"a number for plan {plan}"
            yield Mistake((*place, "estimated_seconds"), f"estimated_seconds of {manifest.name}", expected, "none")
    if manifest.mount_plans and manifest.target is None:
        yield Mistake((*place, "mount_plans"), f"mount_plans of {manifest.name}", "a target beside it", "no target")


def unreported_limits(manifests: Sequence[Manifest]) -> Iterator[Mistake]:
    """Yield each limit that a declared hazard needs and the manifest does not report; the registry asks for none."""
    for index, manifest in enumerate(manifests):
        for key, hazards in _LIMITS.items():
            declared = [hazard.value for hazard in hazards if hazard in manifest.hazards]
            if declared and getattr(manifest.limits, key) == NOT_REPORTED:
                expected = f"the most that a step takes, in words, as {declared[0]} is among its hazards"
                place: Place = ("probe", index, "limits", key)
                yield Mistake(place, f"limits.{key} of {manifest.name}", expected, NOT_REPORTED)


class Mistake(Struct, frozen=True):
    """What is expected at a place of a manifest, and what was found there."""

    place: Place
    key: str
    """The place in words: ``unit of series time``."""
    expected: str
    found: str
    action: str = ""
    """What to do; empty where what is expected says it."""

    def __str__(self) -> str:
        action = f"; {self.action}" if self.action else ""
        return f"{self.key}: expected {self.expected}, found {self.found}{action}"


class ManifestFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"format": "schema"}):
    """The whole file."""

    format: Literal["sizeup.probe/1"]
    probe: tuple[Manifest, ...]
    shared: tuple[Parameter, ...] = ()
    """Parameters that several of the probes have."""


def parse_manifest(text: str, where: str) -> tuple[Manifest, ...]:
    """Return the probes that a ``probe.toml`` declares; ``where`` names it in errors. The first mistake is raised."""
    try:
        manifests, found = manifest_mistakes(text)
    except TomlError as error:
        raise MalformedError(f"{where}: expected a sizeup.probe/1 manifest: {error}") from error
    if found:
        raise MalformedError(f"{where}: {found[0]}")
    return manifests


def manifest_mistakes(text: str) -> tuple[tuple[Manifest, ...], list[Mistake]]:
    """Return the probes of a ``probe.toml`` and every mistake in it; no probes if the structure is wrong.

    Raise ``TomlError`` if it is not TOML.
    """
    data = toml_tables(text)
    try:
        file = convert(data, ManifestFile)
    except msgspec.ValidationError as error:
        # msgspec stops at the first mistake, so each part is converted by itself.
        found = list(structure_mistakes(data, ManifestFile))
        return (), found or [Mistake((), "manifest", "the structure of sizeup.probe/1", str(error))]
    parameters = {parameter.name: parameter for parameter in file.shared}
    unknown = [*_repeated((("shared",), "shared", [one.name for one in file.shared]))]
    for index, manifest in enumerate(file.probe):
        for name in (name for name in manifest.shared if name not in parameters):
            missing, place = f"{name!r}{nearest(name, parameters)}", ("probe", index, "shared", name)
            unknown.append(Mistake(place, f"shared of {manifest.name}", "a parameter of [[shared]]", missing))
    manifests = file.probe if unknown else tuple(manifest.with_shared(parameters) for manifest in file.probe)
    return manifests, [*unknown, *mistakes(manifests)]
