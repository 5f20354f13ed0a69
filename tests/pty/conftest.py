"""The program on a terminal, its files in a folder of the test's own."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from terminal import Terminal


@pytest.fixture
def sizeup(tmp_path: Path) -> Callable[..., Terminal]:
    """Starts ``sizeup`` with its state, its configuration and its current folder in the test's own."""

    def start(*arguments: str, **options: bool | str) -> Terminal:
        command = [sys.executable, "-m", "sizeup", *arguments]
        environment = {"XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
        return Terminal(command, environment=environment, directory=tmp_path, **options)  # type: ignore[arg-type]

    return start
