"""What the tests of probing share."""

import pytest

from fakes import HandContext


@pytest.fixture
def context() -> HandContext:
    return HandContext()
