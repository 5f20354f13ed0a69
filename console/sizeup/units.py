"""Parse and format sizes, rates and times.

Memory and caches are shown with binary prefixes, rates and disks with decimal ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from sizeup.errors import MalformedError
from sizeup.text import one_line

_SCALE = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5, "e": 6}
_SIZE = r"\s*(\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})\s*([kmgtpe]?)(i?b?)\s*"
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_DURATION = r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(ns|us|ms|s|min|m|h|)\s*"


def whole_number(text: str) -> int | None:
    """Return the non-negative decimal number in ``text``, below 10^18; None for anything else.

    ``int`` alone takes numbers of more than 64 bits, which no session can hold, and raises beyond 4,300 digits.
    """
    return int(text) if len(text) < 19 and text.isdecimal() else None


def parse_bytes(text: str) -> int:
    """Return the bytes of ``8k``, ``1.5G`` or ``64KiB``; prefixes are binary as in the kernel, but ``kB`` is 1,000."""
    match = re.fullmatch(_SIZE, text, re.IGNORECASE)
    if match is None:
        raise MalformedError(f"expected a size such as 64k, 1.5G or 4096, found {text!r}")
    number, prefix, suffix = match[1], match[2].lower(), match[3].lower()
    base = 1000 if suffix == "b" and prefix else 1024
    return round(float(number) * float(base) ** _SCALE[prefix])


def parse_seconds(text: str) -> float:
    """Return the seconds of ``10``, ``250ms``, ``5m`` or ``1h``."""
    match = re.fullmatch(_DURATION, text, re.IGNORECASE)
    if match is None:
        raise MalformedError(f"expected a time such as 10, 250ms or 5m, found {text!r}")
    return float(match[1]) * _SECONDS[match[2].lower()]


def _scaled(value: float, base: float, prefixes: tuple[str, ...]) -> tuple[float, str]:
    scaled, index = _as_float(value), 0
    # 999.5 would print as 1000: the next prefix reads better.
    while abs(scaled) >= base * 0.9995 and index < len(prefixes) - 1:
        scaled /= base
        index += 1
    return scaled, prefixes[index]


def _as_float(value: float) -> float:
    """Return the value as a float, infinite if a whole number is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _not_finite(value: float) -> str | None:
    """Return the text for NaN or infinity; None for a finite value."""
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "over 1e308" if value > 0 else "under -1e308"
    return None


def _three_digits(value: float) -> str:
    """Return three significant digits without trailing zeros; an exponent outside the prefixes; only zero is 0."""
    value = _as_float(value)
    if (not_finite := _not_finite(value)) is not None:
        return not_finite
    if abs(value) >= 1e9 or 0 < abs(value) < 1e-12:
        return f"{value:.3g}"
    if value == int(value) and abs(value) < 10_000:
        return str(int(value))
    digits = 2 - math.floor(math.log10(abs(value)))
    text = f"{value:.{min(max(digits, 0), 12)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_bytes(count: float) -> str:
    """Return a size of memory or cache: ``32 KiB``, ``1.5 GiB``."""
    value, prefix = _scaled(count, 1024, ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"))
    return f"{_three_digits(value)} {prefix}B"


def format_decimal_bytes(count: float) -> str:
    """Return a size of a disk: ``350 GB``."""
    value, prefix = _scaled(count, 1000, ("", "k", "M", "G", "T", "P", "E"))
    return f"{_three_digits(value)} {prefix}B"


def format_rate(bytes_per_second: float) -> str:
    """Return a transfer rate with a decimal prefix: ``266 MB/s``."""
    return f"{format_decimal_bytes(bytes_per_second)}/s"


def format_bit_rate(bits_per_second: float) -> str:
    """Return the speed of a link with a decimal prefix: ``25 Gb/s``, ``100 Mb/s``."""
    value, prefix = _scaled(bits_per_second, 1000, ("", "k", "M", "G", "T"))
    return f"{_three_digits(value)} {prefix}b/s"


def format_count(value: float, between: str = " ") -> str:
    """Return a count with a decimal prefix: ``62.5 k``, ``1.2 M``; with nothing ``between``, ``62.5k``."""
    scaled, prefix = _scaled(value, 1000, ("", "k", "M", "G", "T"))
    return f"{_three_digits(scaled)}{between}{prefix}".rstrip()


def format_ns(nanoseconds: float) -> str:
    """Return a duration: ``1.08 ns``, ``54 us``, ``3.5 ms``, ``2 s``."""
    nanoseconds = _as_float(nanoseconds)
    for limit, unit in ((1e3, "ns"), (1e6, "us"), (1e9, "ms")):
        if abs(nanoseconds) < limit * 0.9995:
            return f"{_three_digits(nanoseconds / (limit / 1e3))} {unit}"
    return f"{_three_digits(nanoseconds / 1e9)} s"


def format_hz(hertz: float) -> str:
    """Return a frequency: ``2.66 GHz``."""
    value, prefix = _scaled(hertz, 1000, ("", "k", "M", "G"))
    return f"{_three_digits(value)} {prefix}Hz"


VERDICTS = {0.0: "fail", 0.5: "warn", 0.75: "unknown", 1.0: "pass"}
"""The words of the unit ``verdict``, from the worst to the best."""


def format_verdict(value: float) -> str:
    """Return the word of a verdict: the worst whose value is not below it."""
    if math.isnan(_as_float(value)):
        return VERDICTS[0.75]
    return next((word for limit, word in VERDICTS.items() if value <= limit), "pass")


def as_percent(share: float, form: str = ".0f") -> str:
    """Return a share of 1 in percent, in whole ones unless ``form`` says otherwise: ``43 %``, ``+1.5 %``."""
    return f"{100 * share:{form}} %"


def format_share(value: float) -> str:
    """Return a share as a percentage: ``14.1 %``."""
    return f"{_three_digits(_as_float(value) * 100)} %"


_FORMATS: dict[str, Callable[[float], str]] = {
    "bytes": format_bytes,
    "bytes/s": format_rate,
    "ns": format_ns,
    "Hz": format_hz,
    "share": format_share,
    "ratio": lambda value: f"{_three_digits(value)} x",
    "verdict": format_verdict,
}


def format_value(value: float, unit: str) -> str:
    """Return a value in a base unit for people; an unknown unit is printed after the number."""
    formatter = _FORMATS.get(unit)
    if formatter is not None:
        return formatter(value)
    if unit in {"1", ""}:
        return _three_digits(value)
    if unit == "1/s":
        count = format_count(value)
        return f"{count}/s" if " " in count else f"{count} /s"
    return f"{format_count(value)} {one_line(unit, 24)}"


def number_and_unit(value: float, unit: str) -> tuple[str, str]:
    """Return a value for people in its two parts: ``54`` and ``us``; the second is empty for a bare number."""
    number, _, suffix = format_value(value, unit).partition(" ")
    return number, suffix


def format_range(low: float, high: float, unit: str, between: str = " to ") -> str:
    """Return two ends with their unit, once where both have the same: ``12 to 40 ns``."""
    (number, suffix), (last, last_suffix) = number_and_unit(low, unit), number_and_unit(high, unit)
    first = number if suffix == last_suffix else f"{number} {suffix}".rstrip()
    return f"{first}{between}{last} {last_suffix}".rstrip()


_IN_BASE_UNITS: dict[str, dict[str, float]] = {
    "1": {"": 1.0, "1": 1.0, "%": 0.01},
    "bytes": {
        "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
        "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40,
    },
    "bytes/s": {
        "B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "MiB/s": 2.0**20, "GiB/s": 2.0**30,
        "Mb/s": 125e3, "Gb/s": 125e6,
    },
    "Hz": {"Hz": 1.0, "MHz": 1e6, "GHz": 1e9},
    "ns": {
        "ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9,
        "min": 60e9, "h": 3600e9, "d": 86400e9, "y": 365.25 * 86400e9,
    },
    "1/s": {"MT/s": 1e6, "GT/s": 1e9, "IOPS": 1.0, "/s": 1.0},
    "bytes/Hz": {"bytes/Hz": 1.0, "MB/s/GHz": 1e-3},
}  # fmt: skip
_BASE_UNITS = {name: (base, factor) for base, names in _IN_BASE_UNITS.items() for name, factor in names.items()}


def base_unit(unit_name: str) -> tuple[str, float]:
    """Return the base unit of a unit and its factor: ``MiB`` is ``("bytes", 1048576.0)``.

    Decimal and binary prefixes differ, bits are not bytes (``Mb/s`` is 125,000 bytes/s),
    and a word that is no unit here, such as ``licenses`` or ``USD``, counts itself.
    """
    return _BASE_UNITS.get(unit_name, (unit_name, 1.0))


_AMOUNT = r"([+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30}))(.*)"
_DECIMAL = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_BARE_UNITS = {"1": ("",), "1/s": ("", "/s", "IOPS"), "ratio": ("", "x")}
"""Units of which a bare number and one with a decimal prefix are amounts, and what may follow the prefix."""


def parse_amount(text: str, unit: str) -> float:
    """The value in a base unit of ``150ns``, ``20 GB/s``, ``100k`` or ``0.5 ms``; raises where it is of another unit.

    A prefix alone (``k``, ``M``) is decimal, and only counts, rates of requests and ratios may have one.
    """
    match = re.fullmatch(_AMOUNT, text.strip(), re.ASCII)
    if match is not None:
        number, unit_name = float(match[1]), "".join(match[2].split()).replace("\u00b5", "u").replace("\u03bc", "u")
        base, factor = _BASE_UNITS.get(unit_name, ("", 0.0))
        if unit_name and base == unit:
            return number * factor
        if unit == "share" and unit_name in ("", "%"):
            return number * (0.01 if unit_name else 1.0)
        for ending in _BARE_UNITS.get(unit, ()):
            prefix = unit_name.removesuffix(ending)
            if unit_name.endswith(ending) and prefix in _DECIMAL:
                return number * _DECIMAL[prefix]
    if unit in _BARE_UNITS:
        expected = "a number such as 250, 100k or 1.5M"
    elif unit == "share":
        expected = "a share such as 0.05"
    else:
        known = [unit_name for unit_name, (base, _) in _BASE_UNITS.items() if base == unit]
        expected = f"a value in {', '.join(known)}" if known else f"a value in {one_line(unit, 24)}"
    raise MalformedError(f"expected {expected}, found {one_line(text, 40)!r}")


def format_in(value: float, unit_name: str) -> str:
    """Return a base value in the given unit with all its digits: ``255.36 MB/s``, ``3,792 pages``, ``1 page``."""
    number = _as_float(value) / base_unit(unit_name)[1]
    if (not_finite := _not_finite(number)) is not None:
        return f"{not_finite} {unit_name}".rstrip()
    if 0 < abs(number) < 1e-4 or abs(number) >= 1e15:
        return f"{number:.3g} {unit_name}".rstrip()
    # About six digits of a number below 100,000, and two decimals of a larger one.
    decimals = next((count for least, count in ((1000, 2), (100, 3), (1, 4)) if abs(number) >= least), 6)
    text = f"{round(number):,}" if abs(number - round(number)) < 5e-7 else f"{number:,.{decimals}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    if text == "1" and unit_name not in _BASE_UNITS:
        unit_name = unit_name.removesuffix("s")
    return f"{text} {unit_name}".rstrip()
