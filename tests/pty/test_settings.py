"""The form of settings in a terminal, with all keys in one write."""

from __future__ import annotations

from collections.abc import Callable

from terminal import Terminal


def test_values_and_tabs_in_one_write_land_in_their_fields(sizeup: Callable[..., Terminal]) -> None:
    with sizeup() as terminal:
        terminal.wait_for("Should carry")
        terminal.press("3")
        terminal.wait_for("Touches")
        terminal.press("G")
        terminal.wait_for("Measures nothing")
        terminal.press("s12\t5ms\t")
        terminal.wait_for("Settings of null")
        terminal.press(b"\r")
        terminal.pump(10, lambda: "Settings of null" not in terminal.text)
        terminal.press("s")
        terminal.wait_for("Settings of null")
        terminal.wait_quiet()

        lines = [line.strip(" │┃") for line in terminal.lines]
        fields = {lines[at].partition(":")[0]: lines[at + 1] for at in range(len(lines) - 1)}
        assert (fields["samples"], fields["interval"]) == ("12", "5ms")
