"""How many keys another block size and queue depth take on a mount that was measured before."""

from collections.abc import Callable
from pathlib import Path

import pytest

from terminal import Terminal

pytestmark = pytest.mark.ci

MOST_KEYS = 6


@pytest.mark.parametrize(("block", "depth"), [("16", "16"), ("24k", "12")])
def test_another_block_size_and_depth_take_six_keys_with_the_confirmation(
    sizeup: Callable[..., Terminal], tmp_path: Path, block: str, depth: str
) -> None:
    target = tmp_path / "data"
    target.mkdir()
    with sizeup() as terminal:
        terminal.wait_for("Detected")
        terminal.press("3")
        terminal.wait_for("m Target")
        terminal.wait_quiet()
        terminal.press("m")
        terminal.wait_for("Take, next field")
        terminal.press(f"{target}\t")
        terminal.wait_quiet()
        keys = ("b", block, "d", depth, "r", "r")
        for key in keys[:-1]:
            terminal.press(key)
            terminal.wait_quiet()
        terminal.wait_for("r runs")
        asked = terminal.text
        terminal.press(keys[-1])
        terminal.wait_for("io.direct.custom", 60)

    size = block if block.endswith("k") else f"{block}k"
    assert len(keys) <= MOST_KEYS
    assert f"block = {size.removesuffix('k')}KiB, depth = {depth}" in asked
