"""A screen, a list and a path in one write, as a slow line or a paste delivers them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from terminal import Terminal

pytestmark = pytest.mark.ci


@pytest.mark.parametrize("begin", ["m", "3m"])
@pytest.mark.parametrize("bytes_per_second", [None, 4000])
def test_a_path_right_behind_the_key_of_the_target_is_asked_about(
    sizeup: Callable[..., Terminal], tmp_path: Path, begin: str, bytes_per_second: int | None
) -> None:
    target = tmp_path / "tmp"
    target.mkdir()
    with sizeup(columns=120, rows=40) as terminal:
        terminal.wait_for("Detected")
        terminal.wait_quiet()
        if begin == "m":
            terminal.press("3")
            terminal.wait_for("m Target")
        terminal.bytes_per_second = bytes_per_second
        terminal.press(f"{begin}{target}\r")
        terminal.wait_for("Measure Direct I/O")
        terminal.wait_for(target.name)
