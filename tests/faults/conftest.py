"""The scene of a fault."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.scenes import Scene, compiled, namespaces


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """One run in a namespace of its own, ended with it; skipped where none can be made."""
    if not namespaces():
        pytest.skip("this kernel lets nobody make a namespace")
    made = Scene(tmp_path / "scene", compiled(tmp_path))
    yield made
    made.close()
