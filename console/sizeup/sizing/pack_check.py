"""Checks of a rule pack beyond its shape: sources, numbers, defaults, formulas and patterns.

The packs that come with the program are checked by the tests; at run time only what a user changed is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

from sizeup.errors import MalformedError, UsageError
from sizeup.quantity import Origin
from sizeup.sizing.formula import Formula, parse_formula
from sizeup.sizing.keys import find_key
from sizeup.sizing.pack import Pack, short


def check(pack: Pack, where: str) -> None:
    """Refuse a pack whose sources, numbers, defaults, formulas or patterns cannot be used; ``where`` names it."""
    known = {entry.id for entry in pack.source}
    sources = [(entry.id, entry.source) for entry in (*pack.figure, *pack.entries)]
    for what, source in (*sources, *((f"default {default.key}", default.source) for default in pack.default)):
        if source not in known:
            raise MalformedError(f"{where}: {what}: expected the id of a [[source]] of this file, found {source!r}")
    _check_numbers(pack, where)
    for default in pack.default:
        try:
            find_key(default.key, default.source).parse(str(default.value), Origin.RULE, default.source)
        except UsageError as error:
            raise MalformedError(f"{where}: default: {error}") from error
    _refuse_cycles(pack, _formulas(pack, where), where)
    patterns = [(f"factor {factor.id}", factor.model or "") for factor in pack.factor]
    patterns += [(f"architecture {entry.id}", entry.model) for entry in pack.architecture]
    for name, pattern in patterns:
        try:
            re.compile(pattern, re.IGNORECASE)
        except re.error as error:
            raise MalformedError(f"{where}: {name}: expected a regular expression: {error}") from error


def _check_numbers(pack: Pack, where: str) -> None:
    """Refuse numbers that are not finite or not within their own range."""
    ranges = [(figure.id, figure.value, figure.low, figure.high) for figure in pack.figure]
    ranges += [(factor.id, factor.value, factor.low, factor.high) for factor in pack.factor]
    ranges += [
        (f"{product.id}, {metric}", value, product.price_low.get(metric), product.price_high.get(metric))
        for product in pack.product
        for metric, value in product.price.items()
    ]
    for name, value, low, high in ranges:
        ends = [value if end is None else end for end in (low, value, high)]
        if not all(math.isfinite(end) for end in ends) or ends != sorted(ends):
            raise MalformedError(f"{where}: {name}: expected low <= value <= high, all finite, found {ends}")


def _formulas(pack: Pack, where: str) -> dict[str, Formula]:
    """Every formula of a pack, checked."""
    texts: list[tuple[str, str]] = []
    for metric in pack.metric:
        texts += [(f"{where}: metric {metric.id}, {scope}", text) for scope, text in metric.formulas.items()]
    texts += [(f"{where}: condition {condition.id}", condition.formula) for condition in pack.condition]
    for entry in (*pack.limit, *pack.break_even):
        texts += [(f"{where}: {entry.id}", text) for text in (entry.formula, entry.of) if text]
    return {text: parse_formula(text, location) for location, text in texts}


def _refuse_cycles(pack: Pack, formulas: Mapping[str, Formula], where: str) -> None:
    """Metrics may build on each other, and must end somewhere."""
    graph = {
        short(metric.id): {name for text in metric.formulas.values() for name in formulas[text].names}
        for metric in pack.metric
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        path = " -> ".join(error.args[1])
        raise MalformedError(f"{where}: expected metrics that end in inputs, found a cycle: {path}") from error
