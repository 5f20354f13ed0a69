"""Cases of a test that are left to the gate."""

import re
from collections.abc import Iterable
from typing import Any

import pytest


def in_gate(pattern: str, names: Iterable[str]) -> list[Any]:
    """The names as parameters of a test; those in which the pattern occurs bear ``ci``."""
    return [pytest.param(name, marks=pytest.mark.ci) if re.search(pattern, name) else name for name in names]
