"""The arithmetic that rule packs may write: ``ceil(max(cores, 4 * sockets) / 2)``.

Numbers, names (dotted ones too), ``+ - * /``, comparisons, ``a if test else b``, and ``ceil``, ``floor``,
``max``, ``min``. Nothing else is accepted, so a pack can compute and can do nothing besides.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable

from msgspec import Struct

from sizeup.errors import MalformedError
from sizeup.units import format_in

Resolve = Callable[[str], float]
"""The value of a name; it raises where there is none."""

_OPERATORS: dict[type[ast.operator], tuple[str, Callable[[float, float], float]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("x", operator.mul),
    ast.Div: ("/", operator.truediv),
}
_COMPARISONS: dict[type[ast.cmpop], tuple[str, Callable[[float, float], bool]]] = {
    ast.LtE: ("<=", operator.le),
    ast.Lt: ("<", operator.lt),
    ast.GtE: (">=", operator.ge),
    ast.Gt: (">", operator.gt),
}
_EXACT = 1e-12
"""A number nearer than so to a whole one, in relation, is that one: 21,000.000000000004 reads are no 21,001."""
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "ceil": lambda value: math.ceil(value - abs(value) * _EXACT),
    "floor": lambda value: math.floor(value + abs(value) * _EXACT),
    "max": max,
    "min": min,
}

_LARGEST_NODES = 60
"""A rule that needs more than this is not one a reader can check."""


class Formula(Struct, frozen=True):
    """One checked expression."""

    text: str
    tree: ast.expr
    names: tuple[str, ...]
    """In order of appearance, each once."""

    def evaluate(self, resolve: Resolve) -> float:
        """The value with every name resolved; only the branch of a condition that counts is looked at."""
        return _worked(self.tree, resolve)[0]

    def working(self, resolve: Resolve) -> str:
        """The expression with numbers for names: ``ceil(64 x 0.5)``."""
        return _worked(self.tree, resolve)[1]


def parse_formula(text: str, where: str) -> Formula:
    """Check an expression and keep it; ``where`` names it in errors."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise MalformedError(f"{where}: expected a formula such as ceil(cores * factor), found {text!r}") from error
    if sum(1 for _ in ast.walk(tree)) > _LARGEST_NODES:
        raise MalformedError(f"{where}: expected a formula of at most {_LARGEST_NODES} parts, found {text!r}")
    names: dict[str, None] = {}
    _check(tree, names, where, text)
    return Formula(text, tree, tuple(names))


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        parent = _dotted(node.value)
        return None if parent is None else f"{parent}.{node.attr}"
    return None


def _check(node: ast.expr, names: dict[str, None], where: str, text: str) -> None:
    """Refuse a node that is not permitted, and collect the names in it."""
    children: tuple[ast.expr, ...] = ()
    match node:
        case ast.Name() | ast.Attribute() if (name := _dotted(node)) is not None:
            names[name] = None
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            pass
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            children = (left, right)
        case ast.Compare(left=left, ops=[test], comparators=[right]) if type(test) in _COMPARISONS:
            children = (left, right)
        case ast.IfExp(test=ast.Compare() as condition, body=body, orelse=orelse):
            children = (condition, body, orelse)
        case ast.Call(func=ast.Name(id=function), args=[_, *_] as args, keywords=[]) if function in _FUNCTIONS:
            children = tuple(args)
        case _:
            raise MalformedError(
                f"{where}: expected numbers, names, + - * /, a comparison, ceil, floor, max, min; "
                f"found {ast.unparse(node)!r} in {text!r}"
            )
    for child in children:
        _check(child, names, where, text)


def _worked(node: ast.expr, resolve: Resolve) -> tuple[float, str]:
    """Return the value of a node, and how it is written with numbers for names."""
    name = _dotted(node)
    if name is not None:
        value = resolve(name)
        return value, format_in(value, "")
    match node:
        case ast.Constant(value=int() | float() as value):
            return value, format_in(float(str(value)), "")
        case ast.BinOp(left=left, op=op, right=right):
            sign, combined = _OPERATORS[type(op)]
            (one, first), (two, second) = (_operand(side, resolve) for side in (left, right))
            return combined(one, two), f"{first} {sign} {second}"
        case ast.Compare(left=left, ops=[test], comparators=[right]):
            sign, holds = _COMPARISONS[type(test)]
            (one, first), (two, second) = (_worked(side, resolve) for side in (left, right))
            return float(holds(one, two)), f"{first} {sign} {second}"
        case ast.IfExp(test=condition, body=body, orelse=orelse):
            return _worked(body if _worked(condition, resolve)[0] else orelse, resolve)
        case ast.Call(func=ast.Name(id=function), args=args):
            # Where a generator raises, CPython 3.11 loses the keywords of the call that unpacks it: 1 KiB a session.
            worked = [_worked(argument, resolve) for argument in args]
            values, texts = zip(*worked, strict=True)
            return _FUNCTIONS[function](*values), f"{function}({', '.join(texts)})"
    raise AssertionError(ast.dump(node))


def _operand(node: ast.expr, resolve: Resolve) -> tuple[float, str]:
    value, text = _worked(node, resolve)
    return value, f"({text})" if isinstance(node, ast.BinOp) else text
