"""Sizes and rates read and print as people in this field write them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizeup.errors import MalformedError
from sizeup.units import (
    format_bit_rate,
    format_bytes,
    format_decimal_bytes,
    format_in,
    format_ns,
    format_rate,
    format_value,
    parse_amount,
    parse_bytes,
    parse_seconds,
    whole_number,
)


@pytest.mark.parametrize(
    ("text", "count"),
    [("4096", 4096), ("8k", 8192), ("32K", 32768), ("1.5G", 1610612736), ("64KiB", 65536), ("64kB", 64000)],
)
def test_sizes_are_binary_unless_they_say_kb(text: str, count: int) -> None:
    assert parse_bytes(text) == count


@pytest.mark.parametrize("text", ["", "8q", "-1", "k", "1 2", "0x10"])
def test_what_is_no_size_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(MalformedError, match="expected a size"):
        parse_bytes(text)


def test_durations_carry_their_unit() -> None:
    assert [parse_seconds(text) for text in ("10", "250ms", "5m", "1h")] == [10, 0.25, 300, 3600]


def test_numbers_keep_three_digits_and_their_prefix() -> None:
    assert [format_bytes(n) for n in (512, 32768, 1 << 20, 1572864)] == ["512 B", "32 KiB", "1 MiB", "1.5 MiB"]
    assert format_bytes((1 << 20) - 1) == "1 MiB"
    assert format_decimal_bytes(350_078_754_816) == "350 GB"
    assert format_rate(266_000_000) == "266 MB/s"
    assert [format_ns(n) for n in (1.08, 54_000, 3.5e6, 2e9)] == ["1.08 ns", "54 us", "3.5 ms", "2 s"]


def test_a_small_share_does_not_print_as_nothing() -> None:
    assert [format_value(n, "1") for n in (0.0, 0.00182, 0.0302, 0.5, 7.544)] == [
        "0",
        "0.00182",
        "0.0302",
        "0.5",
        "7.54",
    ]


def test_a_verdict_is_a_word() -> None:
    assert [format_value(value, "verdict") for value in (0.0, 0.5, 0.75, 1.0)] == ["fail", "warn", "unknown", "pass"]


@pytest.mark.parametrize(
    ("speed", "text"), [(100e6, "100 Mb/s"), (2.5e9, "2.5 Gb/s"), (25e9, "25 Gb/s"), (400e9, "400 Gb/s")]
)
def test_the_speed_of_a_link_is_in_bits(speed: float, text: str) -> None:
    assert format_bit_rate(speed) == text


def test_shares_and_ratios_carry_their_unit() -> None:
    assert [format_value(0.0189, "share"), format_value(1.0, "share"), format_value(6.42, "ratio")] == [
        "1.89 %",
        "100 %",
        "6.42 x",
    ]


@pytest.mark.parametrize(
    ("text", "unit", "amount"),
    [
        ("150ns", "ns", 150),
        ("0.5 ms", "ns", 5e5),
        ("3\u00b5s", "ns", 3000),
        (".5us", "ns", 500),
        ("20 GB/s", "bytes/s", 20e9),
        ("1 Gb/s", "bytes/s", 125e6),
        ("8KiB", "bytes", 8192),
        ("100k", "1/s", 1e5),
        ("1.5 M IOPS", "1/s", 1.5e6),
        ("250 IOPS", "1/s", 250),
        ("100k/s", "1/s", 1e5),
        ("12", "1", 12),
        ("2.5x", "ratio", 2.5),
        ("5%", "share", 0.05),
        ("0.05", "share", 0.05),
        ("-3 ns", "ns", -3),
        ("2.6 GHz", "Hz", 2.6e9),
    ],
)
def test_an_amount_is_read_in_the_base_unit_that_is_asked_for(text: str, unit: str, amount: float) -> None:
    assert parse_amount(text, unit) == pytest.approx(amount)


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("100k", "ns", "ns, us, ms, s, min, h, d, y"),
        ("5", "bytes", "B, kB, MB"),
        ("8k", "bytes", "B, kB, MB"),
        ("5 ms", "1/s", "a number such as 250, 100k or 1.5M"),
        ("1e3", "1", "a number such as"),
        ("fast", "ratio", "a number such as"),
        ("", "ns", "ns, us"),
        ("5 furlongs", "share", "a share such as 0.05"),
        ("5", "pages", "pages, found"),
    ],
)
def test_an_amount_of_another_unit_is_refused_with_the_ones_that_fit(text: str, unit: str, expected: str) -> None:
    with pytest.raises(MalformedError) as refused:
        parse_amount(text, unit)
    assert str(refused.value).removeprefix("expected ").removeprefix("a value in ").startswith(expected)


UNITS = ("bytes", "bytes/s", "ns", "Hz", "share", "ratio", "verdict", "1", "", "1/s", "licenses", "USD")
SPELLINGS = ("", "1", "%", "MB/s", "MB/s/GHz", "GiB", "ns", "y", "pages")
EXTREMES = (1.7976931348623157e308, -1e308, 5e-324, math.inf, -math.inf, math.nan, 10**400, -(10**400), (1 << 63) - 1)


@given(value=st.floats() | st.integers() | st.sampled_from(EXTREMES))
def test_every_number_can_be_shown_in_every_unit(value: float) -> None:
    shown = [format_value(value, unit) for unit in UNITS] + [format_in(value, spelling) for spelling in SPELLINGS]

    assert all(shown)
    assert all(len(text) < 40 for text in shown)


def test_what_is_no_number_is_unknown_and_what_overflows_says_so() -> None:
    assert [format_value(math.nan, unit) for unit in ("1", "verdict", "bytes")] == ["unknown", "unknown", "unknown B"]
    assert [format_in(1e308, "MB/s/GHz"), format_value(-(10**400), "1")] == ["over 1e308 MB/s/GHz", "under -1e308"]
    assert format_value(5e-324, "1") == "4.94e-324", "only nothing prints as 0"


def test_whole_numbers_are_those_that_a_session_holds() -> None:
    assert [whole_number(text) for text in ("0", "007", "9" * 18)] == [0, 7, 10**18 - 1]
    assert [whole_number(text) for text in ("", "-1", "1.5", " 1", "9" * 19, "9" * 5000, "1_0")] == [None] * 7
