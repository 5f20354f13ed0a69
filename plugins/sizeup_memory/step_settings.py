"""The settings of a step as a typed value."""

from __future__ import annotations

import json
from typing import Any, Self

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from sizeup.model.plan import Settings, SettingValue


class StepSettings(Struct, frozen=True, omit_defaults=True):
    """What a step's worker needs. Stored with lists and tables as JSON text, and without what has its default."""

    @classmethod
    def of(cls, settings: Settings, **more: Any) -> Self:
        """Return the value of settings, which may hold others as well; ``more`` are values instead of text."""
        found: dict[str, Any] = {}
        for field in fields(cls):
            value = settings.get(field.encode_name)
            if value is not None:
                is_json = isinstance(value, str) and field.type is not str
                found[field.encode_name] = json.loads(str(value)) if is_json else value
        return msgspec.convert(found | more, cls, str_keys=True)

    def stored(self) -> dict[str, SettingValue]:
        """Return the settings as a step holds them."""
        plain = msgspec.to_builtins(self, str_keys=True)
        return {
            name: value if isinstance(value, str | int | float) else json.dumps(value) for name, value in plain.items()
        }
