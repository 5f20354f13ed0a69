"""Pressure is the first line of its file, in percent and microseconds."""

import pytest

from sizeup.procfs.stat import Pressure, parse_pressure

FULL = "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"


def test_pressure_is_the_some_line() -> None:
    text = f"some avg10=12.50 avg60=3.00 avg300=1.00 total=123456\n{FULL}"

    assert parse_pressure(text) == Pressure(12.5, 123456)


@pytest.mark.parametrize(
    "text", ["", FULL, "some avg10=nan total=1", f"some avg10={'9' * 400} total=1", "some avg10=1"]
)
def test_what_is_no_pressure_is_none(text: str) -> None:
    assert parse_pressure(text) is None
