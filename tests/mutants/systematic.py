"""Draw faults from all operators, numbers and conditions of some sources, and tell which of them no test notices.

    .venv/bin/python tests/mutants/systematic.py AREA... --seed 1 [--not-of SEED...] [--count 60] [--slow]

The tests of an area are collected once. For each fault a copy of that process (fork) runs the tests that run its line,
with the code of its function, or the value of its module's name, replaced. So a fault is not seen by processes that a
test starts, and class bodies and the defaults of arguments are not drawn from.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import gc
import importlib
import os
import pickle
import random
import re
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

sys.path.insert(0, str(Path(__file__).parents[1]))

from mutants.areas import pytest_files_of

ROOT = Path(__file__).parents[2]
_DIRECT, _MEMORY, _CONSOLE = "plugins/sizeup_direct_io", "plugins/sizeup_memory", "console/sizeup"
AREAS = {
    "io.direct": (
        *(f"{_DIRECT}/{name}.py" for name in ("estimates", "point_verdict", "validity", "window_counters")),
        *(f"{_DIRECT}/{name}.py" for name in ("comparisons", "conclusions", "durations")),
    ),
    "io.commit": tuple(f"{_DIRECT}/{name}.py" for name in ("cold_read", "commit", "slo", "sustained")),
    "memory": tuple(
        f"{_MEMORY}/{name}.py"
        for name in (*("latency", "bandwidth", "loaded", "numa", "chase_patterns", "buffers"), "core_to_core", "hammer")
    ),
    "measure": (f"{_DIRECT}/measure.py",),
    "run": (f"{_DIRECT}/run.py",),
    "binding": (f"{_DIRECT}/binding.py", f"{_MEMORY}/binding.py"),
    "shm": (f"{_MEMORY}/shm.py",),
    "compare": tuple(
        f"{_CONSOLE}/compare/{name}.py" for name in ("statistics", "compare", "comparison", "drift", "figures")
    ),
    "fleet": tuple(f"{_CONSOLE}/fleet/{name}.py" for name in ("fleet", "outliers", "heat", "against")),
    "session": (f"{_CONSOLE}/session/validity.py",),
    "sizing": (f"{_CONSOLE}/sizing/inputs/uncertainty.py",),
}
_SLOW = "not alone and not lab and not long"
_LEAST_SECONDS, _PATIENCE = 60.0, 20.0
"""A copy may take this long, or this many times as long as its tests took without a fault."""

_OPPOSITE: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
_TEXT = (ast.JoinedStr, ast.Tuple, ast.List, ast.ListComp, ast.Dict)


def _numbers(value: float) -> tuple[float, ...]:
    if isinstance(value, int):
        return (value + 1, value - 1, value * 2) if abs(value) > 1 else (value + 1, value - 1)
    return (value * 2, value / 2)


def _changed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what a node may become."""
    match node:
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                for other in _OPPOSITE[type(op)]:
                    one = copy.deepcopy(node)
                    one.ops[at] = other()  # type: ignore[call-overload]
                    yield one
        case ast.BinOp(op=op, left=left, right=right) if type(op) in _OPPOSITE:
            text = any(
                isinstance(part, _TEXT) or (isinstance(part, ast.Constant) and isinstance(part.value, str))
                for side in (left, right)
                for part in (side,)
            )
            for other in () if text else _OPPOSITE[type(op)]:
                one = copy.deepcopy(node)
                one.op = other()  # type: ignore[assignment]
                yield one
        case ast.BoolOp(op=op):
            one = copy.deepcopy(node)
            one.op = _OPPOSITE[type(op)][0]()  # type: ignore[assignment]
            yield one
        case ast.Call(func=ast.Name(id="min" | "max" as name) as function):
            one = copy.deepcopy(node)
            one.func = ast.copy_location(ast.Name("max" if name == "min" else "min", ast.Load()), function)
            yield one
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            for number in _numbers(value):
                if number != value:
                    yield ast.copy_location(ast.Constant(number), node)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.Subscript(slice=ast.Slice() as part):
            for end in ("lower", "upper"):
                if getattr(part, end) is not None:
                    one = copy.deepcopy(node)
                    setattr(one.slice, end, None)
                    yield one
        case ast.If(test=test) | ast.IfExp(test=test):
            for value in (True, False):
                one = copy.copy(node)
                one.test = ast.copy_location(ast.Constant(value), test)
                yield one
        case ast.comprehension(ifs=[_, *_]):
            one = copy.copy(node)
            one.ifs = []
            yield one


@dataclass(frozen=True)
class DrawnFault:
    """One change in a source."""

    file: str
    line: int
    last_line: int
    text: str
    """Before and after."""
    function: tuple[str, int] | None
    """Qualified name and first line; None: a statement of the module."""
    named: tuple[str, ...]
    """The names of the module that its statement sets."""
    statement: int
    """Which statement of the module it is in."""
    place: int
    variant: int
    """Which of all places of the source, and what it becomes there."""

    def tree(self) -> ast.Module:
        """Return the source with the fault."""
        tree = ast.parse((ROOT / self.file).read_text(encoding="utf-8"))
        parent, name, index, *_ = list(_places(tree))[self.place]
        value = getattr(parent, name)
        other = list(_changed(value if index is None else value[index]))[self.variant]
        if index is None:
            setattr(parent, name, other)
        else:
            value[index] = other
        return ast.fix_missing_locations(tree)


def _short(node: ast.AST) -> str:
    if isinstance(node, ast.comprehension):
        return " ".join(["for", ast.unparse(node.target), *(f"if {ast.unparse(one)}" for one in node.ifs)])
    if isinstance(node, ast.If):
        return f"if {ast.unparse(node.test)}"
    return ast.unparse(node)


def _places(tree: ast.Module) -> Iterator[tuple[ast.AST, str, Any, tuple[str, int] | None, int]]:
    """Yield each place of a node: its parent, field and index, the function it is in, and the module's statement."""

    def below(node: ast.AST, function: tuple[str, int] | None, scope: str, number: int) -> Iterator[Any]:
        for name, value in ast.iter_fields(node):
            if isinstance(node, ast.FunctionDef) and name in {"args", "decorator_list", "returns"}:
                continue
            if name in {"annotation", "format_spec", "returns", "keywords"} and not isinstance(node, ast.Call):
                continue
            for index, child in enumerate(value) if isinstance(value, list) else ((None, value),):
                if not isinstance(child, ast.AST):
                    continue
                inner, inside = function, scope
                if isinstance(child, ast.FunctionDef | ast.ClassDef):
                    inside = f"{scope}.{child.name}" if scope else child.name
                    if isinstance(child, ast.FunctionDef) and function is None:
                        first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                        inner = inside, first
                in_class = scope and function is None
                if not (in_class and not isinstance(child, ast.FunctionDef | ast.ClassDef)):
                    yield node, name, index, inner, number
                    yield from below(child, inner, inside, number)

    for number, statement in enumerate(tree.body):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        function, scope = None, ""
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            scope = statement.name
            if isinstance(statement, ast.FunctionDef):
                function = scope, min([statement.lineno, *(one.lineno for one in statement.decorator_list)])
        yield from below(statement, function, scope, number)


def faults(file: str) -> Iterator[DrawnFault]:
    """Yield every fault of a source."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    for place, (parent, name, index, function, number) in enumerate(_places(tree)):
        value, statement = getattr(parent, name), tree.body[number]
        node = value if index is None else value[index]
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        named = tuple(one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))
        if function is None and not named:
            continue
        extent = node.target if isinstance(node, ast.comprehension) else getattr(node, "test", node)
        for variant, other in enumerate(_changed(node)):
            text = f"{_short(node)}  ->  {_short(other)}"
            yield DrawnFault(file, extent.lineno, extent.end_lineno, text, function, named, number, place, variant)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _put_in(fault: DrawnFault) -> None:
    """Replace the code of the function, or the values of the names, wherever they are used."""
    path = str(ROOT / fault.file)
    tree = fault.tree()
    if fault.function is not None:
        new = next(
            code
            for code in _codes(compile(tree, path, "exec"))
            if (code.co_qualname, code.co_firstlineno) == fault.function
        )
        gc.unfreeze()
        for one in gc.get_objects():
            if isinstance(one, FunctionType):
                code = one.__code__
                if code.co_filename == path and (code.co_qualname, code.co_firstlineno) == fault.function:
                    one.__code__ = new
        return
    module = next(one for one in list(sys.modules.values()) if getattr(one, "__file__", None) == path)
    before = {name: vars(module)[name] for name in fault.named}
    statement = ast.Module([tree.body[fault.statement]], [])
    exec(compile(statement, path, "exec"), vars(module))
    for other in list(sys.modules.values()):
        for name, value in before.items():
            if getattr(other, "__dict__", {}).get(name, object()) is value:
                vars(other)[name] = vars(module)[name]


class Runner:
    """A plug-in of pytest that runs the tests in copies of its process."""

    def __init__(self, files: Sequence[str], drawn: Sequence[DrawnFault]) -> None:
        self._files = {str(ROOT / file): file for file in files}
        self._drawn = drawn
        self.survived: list[DrawnFault] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run every test once, then those of each fault."""
        items = {item.nodeid: item for item in session.items}
        lines, seconds = self._lines(list(session.items))
        print(f"{len(seconds)} tests of {len(items)} pass in {sum(seconds.values()):.0f} s", flush=True)
        for number, fault in enumerate(self._drawn, 1):
            wanted = self._covering(fault, lines)
            chosen = sorted((name for name in wanted if name in seconds), key=seconds.__getitem__)
            started = time.monotonic()
            found = self._noticed(fault, [items[name] for name in chosen], sum(seconds[name] for name in chosen))
            if found is None:
                self.survived.append(fault)
            spent = time.monotonic() - started
            print(
                f"{number:3} {spent:5.1f} s  {fault.file}:{fault.line}  {fault.text}  "
                f"[{len(chosen)}]  {found or 'SURVIVED'}",
                flush=True,
            )
        for area, files in AREAS.items():
            if of_area := [fault for fault in self._drawn if fault.file in files]:
                left = sum(fault.file in files for fault in self.survived)
                print(f"{area}: {len(of_area) - left} of {len(of_area)} noticed", flush=True)
        return True

    def _covering(self, fault: DrawnFault, lines: dict[str, dict[str, set[int]]]) -> set[str]:
        span = range(fault.line, fault.last_line + 1)
        if fault.function is not None:
            return {name for name, seen in lines.items() if not seen.get(fault.file, set()).isdisjoint(span)}
        found: set[str] = set()
        word = re.compile("|".join(rf"\b{name}\b" for name in fault.named))
        for file in self._files.values():
            text = (ROOT / file).read_text(encoding="utf-8").splitlines()
            at = {number for number, line in enumerate(text, 1) if word.search(line)}
            found |= {name for name, seen in lines.items() if not seen.get(file, set()).isdisjoint(at)}
        return found

    def _lines(self, items: list[pytest.Item]) -> tuple[dict[str, dict[str, set[int]]], dict[str, float]]:
        """Return by test the lines that it runs and the seconds it takes; only of those that pass."""
        seen: dict[str, set[int]] = {}

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            file = self._files.get(frame.f_code.co_filename)
            if file is None:
                return None
            reached = seen.setdefault(file, set())
            reached.add(frame.f_lineno)

            def line(frame: FrameType, event: str, argument: object) -> Any:
                reached.add(frame.f_lineno)
                return line

            return line

        def measured() -> Any:
            lines, seconds = {}, {}
            for item, following in zip(items, [*items[1:], None], strict=True):
                seen.clear()
                started = time.monotonic()
                threading.settrace(trace)
                sys.settrace(trace)
                reports = runtestprotocol(item, nextitem=following, log=False)
                sys.settrace(None)
                if all(report.passed for report in reports):
                    lines[item.nodeid] = {file: set(reached) for file, reached in seen.items()}
                    seconds[item.nodeid] = time.monotonic() - started
            return lines, seconds

        found: tuple[dict[str, dict[str, set[int]]], dict[str, float]] | None = _copied(measured, 3600.0)
        if found is None:
            raise RuntimeError("the tests do not end")
        return found

    def _noticed(self, fault: DrawnFault, items: list[pytest.Item], seconds: float) -> str | None:
        """Return the test that fails with a fault, and passes without; None where none does."""

        def first_failing(put_in: bool, some: list[pytest.Item]) -> Callable[[], str]:
            def run() -> str:
                if put_in:
                    _put_in(fault)
                for item, following in zip(some, [*some[1:], None], strict=True):
                    if any(report.failed for report in runtestprotocol(item, nextitem=following, log=False)):
                        return item.nodeid
                return ""

            return run

        left = items
        while left:
            found = _copied(first_failing(True, left), max(_LEAST_SECONDS, _PATIENCE * seconds))
            if found is None:
                return "no end"
            if not found:
                return None
            failed = [item for item in left if item.nodeid == found]
            if not failed:
                return f"not applied: {found}"
            if _copied(first_failing(False, failed), _LEAST_SECONDS) == "":
                return str(found)
            left = left[left.index(failed[0]) + 1 :]  # it fails without the fault, too
        return None


def _copied(call: Callable[[], Any], limit_seconds: float) -> Any:
    """Return what a call returns in a copy of this process; None if it does not end, or the copy dies."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        os.setsid()
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        try:
            answer = pickle.dumps(call())
        except BaseException as error:  # noqa: BLE001 - whatever it is, the fault made it
            answer = pickle.dumps(f"{type(error).__name__}: {error}")
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(answer)
        os._exit(0)
    os.close(writing)
    parts, end = [], time.monotonic() + limit_seconds
    while select.select([reading], [], [], max(0.0, end - time.monotonic()))[0]:
        part = os.read(reading, 1 << 16)
        if not part:
            break
        parts.append(part)
    os.close(reading)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, 9)
    os.waitpid(child, 0)
    try:
        return pickle.loads(b"".join(parts))
    except (EOFError, pickle.UnpicklingError):
        return None


def drawn(area: str, seed: int, count: int, left_out: Sequence[int] = ()) -> list[DrawnFault]:
    """Return so many faults of an area, without those of other seeds."""
    every = [fault for file in AREAS[area] for fault in faults(file)]
    before = {id(fault) for other in left_out for fault in random.Random(other).sample(every, min(count, len(every)))}
    chosen = random.Random(seed).sample(every, len(every))
    print(f"{area}: {len(every)} faults")
    return [fault for fault in chosen if id(fault) not in before][:count]


def main() -> int:
    """Draw faults of an area, and print which of them no test notices; the exit status is 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("areas", choices=AREAS, nargs="+", metavar="AREA", help=", ".join(AREAS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--not-of", type=int, nargs="*", default=(), metavar="SEED", help="leave out what they draw")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--slow", action="store_true", help="with the tests that only the gate runs")
    parser.add_argument("--only", type=int, nargs="*", metavar="NUMBER", help="these of the draw")
    parser.add_argument("--like", nargs="*", metavar="TEXT", help="instead of a draw, all whose place and text have it")
    parser.add_argument("--tests", nargs="*", metavar="PATTERN", help="instead of those of the area")
    options = parser.parse_args()
    files = [file for area in options.areas for file in AREAS[area]]
    chosen = [one for area in options.areas for one in drawn(area, options.seed, options.count, options.not_of)]
    if options.like:
        every = [fault for file in files for fault in faults(file)]
        chosen = [one for one in every if any(like in f"{one.file} {one.text}" for like in options.like)]
    elif options.only:
        chosen = [chosen[number - 1] for number in options.only]
    patterns = options.tests or dict.fromkeys(pattern for file in files for pattern in pytest_files_of(file))
    tests = sorted({str(path) for pattern in patterns for path in ROOT.glob(pattern)})
    near = {path for file in files for path in (ROOT / file).parent.glob("*.py")}  # which may use a module's names
    runner = Runner(sorted(str(path.relative_to(ROOT)) for path in near), chosen)
    markers = ["-m", _SLOW] if options.slow else []
    for file in files:
        importlib.import_module(file.removesuffix(".py").split("/", 1)[1].replace("/", "."))
    os.chdir(ROOT)
    pytest.main(["-q", "-p", "no:cacheprovider", *markers, *tests], plugins=[runner])
    return 1 if runner.survived else 0


if __name__ == "__main__":
    sys.exit(main())
