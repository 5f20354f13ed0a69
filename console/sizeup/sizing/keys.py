"""The inputs that a user can set for a machine, a workload and a contract: every key of ``--set``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sizeup.decoding import convert, toml_tables
from sizeup.sizing.input_key import InputKey


def _declared() -> dict[str, InputKey]:
    """Return the keys of ``keys.toml``, in its order."""
    # By path: importlib.resources takes longer to import than the file to read.
    tables = toml_tables(Path(__file__).with_name("keys.toml").read_text(encoding="utf-8"))
    return convert({name: {"name": name, **table} for name, table in tables.items()}, dict[str, InputKey])  # type: ignore[no-any-return]


KEYS: Mapping[str, InputKey] = _declared()
"""Every key by its name."""
