"""The value of one parameter: typed, within its range and among its choices, as the manifest says."""

from __future__ import annotations

import math
import re

from sizeup.errors import MalformedError, UsageError
from sizeup.model.plan import SettingValue
from sizeup.probing.manifest import Parameter
from sizeup.text import one_line
from sizeup.units import format_bytes, format_ns, parse_bytes, parse_seconds

_TRUE, _FALSE = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}
_CPULIST = re.compile(r"\d+(-\d+(:\d+)?)?(,\d+(-\d+(:\d+)?)?)*")


def parse_value(parameter: Parameter, text: str, where: str) -> SettingValue:
    """One value, typed and checked; ``where`` names it in errors."""
    text = text.strip()
    try:
        value = _convert(parameter, text)
    except (ValueError, MalformedError) as error:
        raise UsageError(f"{where}: expected {expectation(parameter)}, found {one_line(text, 60)!r}") from error
    if not _in_range(parameter, value):
        raise UsageError(f"{where}: expected {expectation(parameter)}, found {one_line(text, 60)!r}")
    return value


def accepts(parameter: Parameter, value: SettingValue) -> bool:
    """Whether a value that a manifest states is one that a user could give."""
    match parameter.type:
        case "bool":
            return isinstance(value, bool)
        case "int" | "bytes":
            return isinstance(value, int) and not isinstance(value, bool) and _in_range(parameter, value)
        case "float" | "seconds":
            return isinstance(value, int | float) and not isinstance(value, bool) and _in_range(parameter, value)
    if not isinstance(value, str):
        return False
    try:
        _convert(parameter, value)
    except ValueError:
        return value == ""  # the default of a text may be that there is none
    return True


def _convert(parameter: Parameter, text: str) -> SettingValue:
    match parameter.type:
        case "int":
            return int(text)
        case "float":
            return float(text)
        case "bytes":
            return parse_bytes(text)
        case "seconds":
            return parse_seconds(text)
        case "bool":
            if text.lower() not in _TRUE | _FALSE:
                raise ValueError(text)
            return text.lower() in _TRUE
        case "choice":
            if text not in parameter.choices:
                raise ValueError(text)
            return text
        case "cpulist":
            if not _CPULIST.fullmatch(text):
                raise ValueError(text)
            return text
        case "str" | "path" | "device":
            if not text or "\0" in text:
                raise ValueError(text)
            return text


def _in_range(parameter: Parameter, value: SettingValue) -> bool:
    if isinstance(value, str | bool):
        return True
    low = -math.inf if parameter.minimum is None else parameter.minimum
    high = math.inf if parameter.maximum is None else parameter.maximum
    return math.isfinite(value) and low <= value <= high


def _format_value(parameter: Parameter, value: float) -> str:
    if parameter.type == "bytes":
        return format_bytes(value)
    if parameter.type == "seconds":
        return format_ns(value * 1e9) if value else "0 s"
    return f"{value:g}" if value < 1e6 else f"{value:,.0f}"


def expectation(parameter: Parameter) -> str:
    """What a parameter takes, in words: ``a whole number from 0 to 100``."""
    noun = {
        "int": "a whole number",
        "float": "a number",
        "bytes": "a size such as 64k or 1.5G",
        "seconds": "a time such as 10, 250ms or 5m",
        "bool": "yes or no",
        "choice": "one of " + ", ".join(parameter.choices),
        "cpulist": "a CPU list such as 0-3,8",
        "str": "some text",
        "path": "a path",
        "device": "the full name of a device",
    }[parameter.type]
    low, high = parameter.minimum, parameter.maximum
    if low is not None and high is not None:
        return f"{noun} from {_format_value(parameter, low)} to {_format_value(parameter, high)}"
    if low is not None:
        return f"{noun} of at least {_format_value(parameter, low)}"
    if high is not None:
        return f"{noun} of at most {_format_value(parameter, high)}"
    return noun
