"""Every place where a manifest does not have the structure of its types: unknown keys, missing ones, other values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_type_hints

import msgspec
from msgspec import inspect

from sizeup.probing.mistake import Mistake, Place
from sizeup.text import nearest, one_line

_WORDS: Mapping[type[inspect.Type], str] = {
    inspect.StrType: "text",
    inspect.IntType: "a whole number",
    inspect.FloatType: "a number",
    inspect.BoolType: "true or false",
}


def structure_mistakes(data: object, struct: type[msgspec.Struct]) -> Iterator[Mistake]:
    """Yield a mistake for each key of a table, and of the tables below it, that a struct does not take."""
    if not isinstance(data, dict):
        yield Mistake((), "manifest", "a table", _shown(data))
        return
    yield from _table(data, struct, ())


def _table(data: dict[str, Any], struct: type[msgspec.Struct], place: Place) -> Iterator[Mistake]:
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
        yield from _value(data[name], hints[field.name], (*place, name))


def _value(data: object, hint: Any, place: Place) -> Iterator[Mistake]:
    try:
        msgspec.convert(data, hint)
    except msgspec.ValidationError:
        pass
    else:
        return
    kind = inspect.type_info(hint)
    below = list(_below(data, kind, place))
    if below:
        yield from below
        return
    yield Mistake(place, _key(place), _described(kind), _shown(data))


def _below(data: object, kind: inspect.Type, place: Place) -> Iterator[Mistake]:
    """Yield the mistakes inside a table or a list of tables; none where it is something else."""
    kind = kind.type if isinstance(kind, inspect.Metadata) else kind
    for option in kind.types if isinstance(kind, inspect.UnionType) else (kind,):
        if isinstance(option, inspect.StructType) and isinstance(data, dict):
            yield from _table(data, option.cls, place)
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


def _shown(value: object) -> str:
    return one_line(repr(value), 80)
