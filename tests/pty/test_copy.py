"""What is copied goes to a terminal that may take it, and always into a file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from terminal import Terminal


@pytest.mark.parametrize(("term", "sent"), [("xterm-256color", True), ("linux", False)])
def test_a_copy_is_sent_to_no_terminal_that_would_print_it(
    sizeup: Callable[..., Terminal], tmp_path: Path, term: str, *, sent: bool
) -> None:
    with sizeup(term=term) as terminal:
        terminal.wait_for("Detected")
        terminal.press("y")
        terminal.wait_for("Wrote")
        terminal.press("q")

        assert terminal.wait() == 0
        assert (b"\x1b]52;c;" in terminal.output) is sent
    (kept,) = tmp_path.glob("sizeup-summary-*.txt")
    assert "Detected" in kept.read_text()
