"""What the plug-ins' tests share."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _affinity_restored() -> Iterator[None]:
    """A probe leaves the CPUs that it measures; the next test has them again."""
    before = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, before)
