"""Cases of a test that are left to the gate."""

import re
from collections.abc import Iterable
from typing import Any

import pytest


def in_gate(pattern: str, names: Iterable[str]) -> list[Any]:
    """The names as parameters of a test; those in which the pattern occurs bear ``ci``."""
    return [pytest.param(name, marks=pytest.mark.ci) if re.search(pattern, name) else name for name in names]


def one_in(step: int, values: Iterable[Any]) -> list[Any]:
    """The values as parameters of a test; all but the first of each ``step`` bear ``ci``."""
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.ci) if at % step else value
        for at, value in enumerate(values)
    ]
