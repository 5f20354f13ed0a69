"""Acceptance profiles: limits of named figures, absolute or relative to the median of like hosts, and who meets them.

[memory.local_latency]
max = "110 ns"
worse_than_median = "15 %"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from msgspec import Struct

from sizeup.compare.headlines import named_figures
from sizeup.decoding import parse_toml
from sizeup.errors import MalformedError, UsageError
from sizeup.fleet.fleet import Fleet, Host, usable
from sizeup.fleet.host_session import HostFigure
from sizeup.fleet.outliers import LEAST_HOSTS
from sizeup.input_file import read_text
from sizeup.model.plan import Better
from sizeup.text import nearest, one_line
from sizeup.units import format_value, parse_amount

_PROFILE_LIMIT = 1 << 20
_WHAT = "an acceptance profile"
_COUNTED = frozenset({"1/s", "1"})
"""Units of figures whose limits may be bare numbers, such as 100000 IOPS."""
_LIMITS = ("min", "max", "worse_than_median", "required")


class ProfileLimit(Struct, frozen=True):
    """What a profile demands of one figure."""

    figure: str
    """The quantity or the name of the figure: ``memory.local_latency``."""
    title: str
    unit: str
    least: float | None = None
    most: float | None = None
    worse_than_median: float | None = None
    """As a share of the median."""
    required: bool = True
    """Whether a host without a valid figure is undecided."""


class AcceptanceResult(Enum):
    """What became of a limit, or of a host."""

    PASS = "PASS"  # noqa: S105  a result, and no password
    FAIL = "FAIL"
    UNDECIDED = "UNDECIDED"
    """No valid figure, or its interval contains the limit."""


class LimitCheck(Struct, frozen=True):
    """One limit held against one host."""

    limit: ProfileLimit
    kind: str
    """``min``, ``max`` or ``worse_than_median``."""
    result: AcceptanceResult
    sentence: str


class Acceptance(Struct, frozen=True):
    """One host held against a profile."""

    host: str
    checks: tuple[LimitCheck, ...]

    @property
    def result(self) -> AcceptanceResult:
        """Return the worst result of its checks."""
        results = {check.result for check in self.checks}
        return next(
            (one for one in (AcceptanceResult.FAIL, AcceptanceResult.UNDECIDED) if one in results),
            AcceptanceResult.PASS,
        )


def read_profile(path: str, fleet: Fleet) -> tuple[ProfileLimit, ...]:
    """Return the limits of a profile; raises with the key, what was expected and what was found."""
    text = read_text(path, _WHAT, _PROFILE_LIMIT)
    tables = parse_toml(text, path, f"{_WHAT} in TOML")
    known = _known(fleet)
    limits = tuple(_limit(path, name, table, known) for name, table in _tables(path, tables, ""))
    if not limits:
        raise UsageError(f"{path}: expected a table for each figure, such as [memory.local_latency], found none")
    return limits


def _known(fleet: Fleet) -> dict[str, tuple[str, str, Better]]:
    """Return title, unit and direction of the figures that can have limits, by quantity or name."""
    known = {name: (series.title, series.unit, series.better) for name, series in named_figures().items()}
    for host in fleet.hosts:
        for figure in host.figures.values():
            known.setdefault(figure.name.partition("@")[0], (figure.title, figure.unit, figure.better))
    return known


def _tables(path: str, table: Mapping[str, Any], name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Return the innermost tables with their dotted names."""
    inner = {key: value for key, value in table.items() if isinstance(value, dict)}
    if name and len(inner) < len(table):
        if inner:
            raise UsageError(f"{path}: {name}: expected limits, found the table {next(iter(inner))!r} beside them")
        yield name, table
        return
    for key, value in table.items():
        if not isinstance(value, dict):
            raise UsageError(f"{path}: {key}: expected a table such as [memory.local_latency], found {value!r}")
        yield from _tables(path, value, f"{name}.{key}" if name else key)


def _limit(
    path: str, name: str, table: Mapping[str, Any], known: Mapping[str, tuple[str, str, Better]]
) -> ProfileLimit:  # fmt: skip
    if name not in known:
        raise UsageError(
            f"{path}: {one_line(name, 60)}: expected a figure{nearest(name, known)}, one of {', '.join(sorted(known))}"
        )
    title, unit, better = known[name]
    for key in table:
        if key not in _LIMITS:
            raise UsageError(
                f"{path}: {name}.{one_line(key, 60)}: expected {', '.join(_LIMITS)}{nearest(key, _LIMITS)}"
            )
    required = table.get("required", True)
    if not isinstance(required, bool):
        raise UsageError(f"{path}: {name}.required: expected true or false, found {required!r}")
    least, most, relative = (
        _amount(path, f"{name}.{key}", table.get(key), of) for key, of in
        (("min", unit), ("max", unit), ("worse_than_median", "share"))
    )  # fmt: skip
    if relative is not None and better is Better.NEITHER:
        raise UsageError(
            f"{path}: {name}.worse_than_median: neither direction of this figure is better; use min or max"
        )
    if least is not None and most is not None and least > most:
        raise UsageError(f"{path}: {name}.min: expected at most max, {table['max']!r}, found {table['min']!r}")
    if (least, most, relative) == (None, None, None):
        raise UsageError(f"{path}: {name}: expected min, max or worse_than_median, found none")
    return ProfileLimit(name, title, unit, least, most, relative, required)


def _amount(path: str, key: str, value: object, unit: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UsageError(f"{path}: {key}: expected an amount, found {value!r}")
    if unit == "share" and not str(value).rstrip().endswith("%"):
        raise UsageError(f'{path}: {key}: expected a percentage such as "15 %", found {value!r}')
    if not isinstance(value, str) and unit not in _COUNTED:
        raise UsageError(f'{path}: {key}: expected an amount with its unit such as "110 ns", found {value!r}')
    try:
        amount = parse_amount(value, unit) if isinstance(value, str) else float(value)
    except MalformedError as error:
        raise UsageError(f"{path}: {key}: {error}") from error
    if not 0 < amount < float("inf"):
        raise UsageError(f"{path}: {key}: expected an amount above 0, found {value!r}")
    return amount


def accept(fleet: Fleet, limits: Sequence[ProfileLimit]) -> tuple[Acceptance, ...]:
    """Return how each host stands to a profile."""
    return tuple(
        Acceptance(host.name, tuple(check for limit in limits for check in _checks(fleet, host, limit)))
        for host in fleet.hosts
    )


def _checks(fleet: Fleet, host: Host, limit: ProfileLimit) -> Iterator[LimitCheck]:
    named = [figure for figure in host.figures.values() if figure.name.partition("@")[0] == limit.figure]
    figure = next(filter(usable, named), None)
    bounds = {"min": limit.least, "max": limit.most, "worse_than_median": limit.worse_than_median}
    for kind, bound in bounds.items():
        if bound is None:
            continue
        if figure is None:
            why = f"not valid: {named[0].invalid}" if named else "not measured"
            result = AcceptanceResult.UNDECIDED if limit.required else AcceptanceResult.PASS
            yield LimitCheck(limit, kind, result, f"{limit.title}: {why}")
        elif kind == "worse_than_median":
            yield _relative(fleet, host, figure, limit, bound)
        else:
            words = "at least" if kind == "min" else "at most"
            yield _held(limit, kind, figure, bound, f"{words} {format_value(bound, limit.unit)}", least=kind == "min")


def _relative(fleet: Fleet, host: Host, figure: HostFigure, limit: ProfileLimit, share: float) -> LimitCheck:
    limits = fleet.spreads.get((host.compared_as.name, figure.name))
    if limits is None or limits.hosts < LEAST_HOSTS or figure.name in host.other_workload:
        sentence = f"{limit.title}: fewer than {LEAST_HOSTS} like hosts with the same settings to compare with"
        return LimitCheck(limit, "worse_than_median", AcceptanceResult.UNDECIDED, sentence)
    higher = figure.better is Better.HIGHER
    bound = limits.median / (1 + share) if higher else limits.median * (1 + share)
    text = f"at most {share * 100:.3g} % worse than the median of {format_value(limits.median, limit.unit)}"
    return _held(limit, "worse_than_median", figure, bound, text, least=higher)


def _held(limit: ProfileLimit, kind: str, figure: HostFigure, bound: float, text: str, *, least: bool) -> LimitCheck:
    met = figure.value >= bound if least else figure.value <= bound
    result = AcceptanceResult.PASS if met else AcceptanceResult.FAIL
    if figure.scatter and figure.interval is not None and figure.interval[0] < bound < figure.interval[1]:
        result = AcceptanceResult.UNDECIDED
    open_ = " (not converged, and the limit is in its interval)" if result is AcceptanceResult.UNDECIDED else ""
    return LimitCheck(
        limit, kind, result, f"{limit.title}: {format_value(figure.value, limit.unit)}; limit: {text}{open_}"
    )
