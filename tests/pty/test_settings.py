"""The form of a probe in a terminal, with all keys in one write."""

from collections.abc import Callable

from terminal import Terminal


def test_values_and_tabs_in_one_write_land_in_their_fields(sizeup: Callable[..., Terminal]) -> None:
    with sizeup() as terminal:
        terminal.wait_for("Detected")
        terminal.press("3")
        terminal.wait_for("Touches")
        terminal.press("G")
        terminal.wait_for("Measures nothing")
        terminal.press("s")
        terminal.wait_for("Number of samples")
        terminal.wait_quiet()
        terminal.press("12\t5ms\t")
        terminal.wait_quiet()

        assert terminal.pump(10, lambda: "Samples 12 " in terminal.text and "Interval 5ms " in terminal.text)
