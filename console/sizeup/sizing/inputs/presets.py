"""Published cases by name: their inputs as data, and what their authors printed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from sizeup.decoding import parse_toml
from sizeup.errors import MalformedError, UsageError
from sizeup.quantity import Origin
from sizeup.sizing.input_value import Value
from sizeup.sizing.keys import parse_settings
from sizeup.text import nearest


class Preset(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One published system or measurement."""

    name: str
    title: str
    source: str
    """Where it was published."""
    inputs: dict[str, str | int | float]
    """Keys of ``--set``."""
    note: str = ""
    """What the source leaves open, and what was inferred."""
    printed: dict[str, str] = {}
    """What the source states, by the id of an answer, or by another case and the id of a figure that both have."""

    def values(self) -> dict[str, Value]:
        """The inputs, marked as this preset's; rules of thumb fill in, as these cases are of the time of the rules."""
        settings = [f"{key}={value}" for key, value in {"workload.rules_of_thumb": "yes", **self.inputs}.items()]
        return parse_settings(settings, Origin.PRESET, f"preset {self.name}")


class _PresetFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"format": "schema"}):
    format: Literal["sizeup.presets/1"]
    preset: tuple[Preset, ...]


def parse_presets(text: str, where: str) -> dict[str, Preset]:
    """Presets by name; every key and value is checked."""
    file: _PresetFile = parse_toml(text, where, "sizeup.presets/1", _PresetFile)
    presets: dict[str, Preset] = {}
    for entry in file.preset:
        if entry.name in presets:
            raise MalformedError(f"{where}: preset {entry.name!r} is there twice")
        entry.values()
        presets[entry.name] = entry
    return presets


@cache
def shipped_presets() -> Mapping[str, Preset]:
    """The presets that come with the program."""
    return parse_presets(Path(__file__).with_name("presets.toml").read_text(encoding="utf-8"), "presets.toml")


def find_preset(name: str) -> Preset:
    """The preset of that name; an unknown one is refused with the nearest that exists."""
    presets = shipped_presets()
    if name not in presets:
        raise UsageError(f"unknown preset {name!r}{nearest(name, presets)}; see: sizeup size cases")
    return presets[name]


def unchanged_preset(inputs: Mapping[str, Value]) -> Preset | None:
    """The preset that these inputs are of, none of its own replaced."""
    if not any(getattr(value, "origin", None) is Origin.PRESET for value in inputs.values()):
        return None
    own = ((preset, preset.values()) for preset in shipped_presets().values())
    return next((preset for preset, values in own if all(inputs.get(key) == values[key] for key in values)), None)
