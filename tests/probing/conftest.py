"""What the tests of probing share."""

from __future__ import annotations

import pytest

from fakes import HandContext


@pytest.fixture
def context() -> HandContext:
    return HandContext()
