"""The inputs that a user can set for a machine, a workload and a contract: every key of ``--set``."""

from __future__ import annotations

from collections.abc import Mapping

from sizeup.decoding import convert, data_beside
from sizeup.sizing.input_key import InputKey

KEYS: Mapping[str, InputKey] = convert(
    {name: {"name": name, **table} for name, table in data_beside(__file__, "keys.toml").items()}, dict[str, InputKey]
)
"""Every key by its name, in the order of ``keys.toml``."""
