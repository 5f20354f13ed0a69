"""What can be said of a probe's code without running it: its class, its methods, what it imports and yields."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Collection, Iterator
from pathlib import Path

from sizeup.probing.kit.problem import Problem
from sizeup.text import nearest, one_line

ALLOWED_MODULES = (
    "sizeup.probing.api",
    "sizeup.probing.native",
    "sizeup.probing.devices",
    "sizeup.procfs",
    "sizeup.model",
    "sizeup.units",
    "sizeup.quantity",
    "sizeup.text",
    "sizeup.files",
    "sizeup.portability",
    "sizeup.errors",
)
"""What a probe may import of sizeup; the rest changes without notice."""
_METHODS = {"plan": ("machine", "settings"), "run": ("step", "context")}
_EMISSIONS = frozenset({"Samples", "Estimate"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def parse(path: Path, name: str) -> ast.Module | Problem:
    """Return the syntax tree of a file, or why it has none."""
    try:
        return ast.parse(path.read_bytes(), str(path))
    except (SyntaxError, ValueError, OSError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", 0) or 0
        return Problem(name, line, "code", "Python", one_line(getattr(error, "msg", "") or str(error)))


def class_problems(tree: ast.Module, file: str, class_name: str, parameters: Collection[str]) -> Iterator[Problem]:
    """Yield what is wrong with the class that an entry point names, its two methods, and what its module calls."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _called(call.func) == "signal.signal":
            action = "use context.on_cancel; Python runs no handler while native code does"
            yield Problem(file, call.lineno, "signal.signal", "no handlers of signals", "a call", action)
    node = next((found for found in tree.body if _defines(found, class_name)), None)
    if node is None:
        known = [found.name for found in tree.body if isinstance(found, ast.ClassDef)]
        found = f"no {class_name}{nearest(class_name, known)}"
        yield Problem(file, 0, f"class {class_name}", "its definition, as the entry point names it", found)
        return
    if not isinstance(node, ast.ClassDef):
        return  # imported from elsewhere, or made by a call
    functions = {found.name: found for found in node.body if isinstance(found, _Function)}
    constructor = functions.get("__init__")
    if constructor is not None and _required(constructor) > 1:
        key, found = f"{class_name}.__init__", f"{_required(constructor) - 1} required"
        yield Problem(file, constructor.lineno, key, "no required arguments besides self", found)
    for name, arguments in _METHODS.items():
        function = functions.get(name)
        if function is not None:
            yield from _method(function, file, f"{class_name}.{name}", arguments)
        elif not node.bases:
            yield Problem(
                file, node.lineno, f"{class_name}.{name}", f"a method ({', '.join(('self', *arguments))})", "none"
            )
    if "plan" in functions:
        yield from _settings(functions["plan"], file, parameters)


def file_problems(tree: ast.Module, file: str, series: Collection[str]) -> Iterator[Problem]:
    """Yield what is wrong with one file of the package: imports and names of series."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    if _is_sizeup(alias.name):
                        yield from _imported(file, node.lineno, alias.name, ())
            case ast.ImportFrom(module=str(module), names=names, level=0) if _is_sizeup(module):
                yield from _imported(file, node.lineno, module, [alias.name for alias in names])
            case ast.Call(func=function):
                name = _called(function)
                if name in _EMISSIONS:
                    yield from _emission(node, file, name, series)


def _defines(node: ast.stmt, name: str) -> bool:
    match node:
        case ast.ClassDef():
            return node.name == name
        case ast.ImportFrom(names=names):
            return any((alias.asname or alias.name) in (name, "*") for alias in names)
        case ast.Assign(targets=targets):
            return any(isinstance(target, ast.Name) and target.id == name for target in targets)
        case ast.If() | ast.Try():
            return any(_defines(below, name) for below in node.body)
    return False


def _required(function: _Function) -> int:
    """Return how many arguments a caller must give, self included."""
    arguments = function.args
    positional = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    return positional + sum(default is None for default in arguments.kw_defaults)


def _method(function: _Function, file: str, key: str, names: tuple[str, ...]) -> Iterator[Problem]:
    expected = f"a method ({', '.join(('self', *names))})"
    arguments = function.args
    decorators = {_called(decorator) for decorator in function.decorator_list}
    given = len(names) + ("staticmethod" not in decorators)
    most = len(arguments.posonlyargs) + len(arguments.args)
    if _required(function) > given or (most < given and arguments.vararg is None):
        found = f"({', '.join(argument.arg for argument in (*arguments.posonlyargs, *arguments.args))})"
        yield Problem(file, function.lineno, key, expected, found)
    if isinstance(function, ast.AsyncFunctionDef):
        yield Problem(file, function.lineno, key, expected, "async def", "write it as a plain function")
    gives = any(
        isinstance(node, ast.Yield | ast.YieldFrom) or (isinstance(node, ast.Return) and node.value is not None)
        for node in ast.walk(function)
    )
    raises = any(isinstance(node, ast.Raise) for node in function.body)
    if not gives and not raises:
        what = "Step or Refusal" if key.endswith(".plan") else "Samples, Estimate, Progress or Gap"
        yield Problem(file, function.lineno, key, f"a function that yields {what}", "one that yields nothing")


def _settings(function: _Function, file: str, parameters: Collection[str]) -> Iterator[Problem]:
    """Yield each parameter that ``plan`` reads and the manifest does not declare."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    name = arguments[-1].arg if arguments else ""
    for node in ast.walk(function):
        match node:
            case ast.Subscript(value=ast.Name(id=read), slice=ast.Constant(value=str(key))) if read == name:
                if key not in parameters:
                    found = f"{key!r}{nearest(key, parameters)}"
                    yield Problem(file, node.lineno, f"{name}[...]", "a parameter of the manifest", found)


def _imported(file: str, line: int, module: str, names: Collection[str]) -> Iterator[Problem]:
    for full in [f"{module}.{name}" for name in names] or [module]:
        if not any(full == allowed or full.startswith(f"{allowed}.") for allowed in ALLOWED_MODULES):
            action = f"import from {', '.join(ALLOWED_MODULES)} only"
            yield Problem(file, line, "import", "a module of the contract", full, action)
        elif not _exists(full):
            yield Problem(file, line, "import", "a name that this version of sizeup has", full)


def _exists(full: str) -> bool:
    """Whether a module of the contract, or a name in one, exists; these modules are sizeup's own and safe to import."""
    module, _, name = full.rpartition(".")
    if name == "*":
        return True
    try:
        return hasattr(importlib.import_module(module), name) or bool(importlib.import_module(full))
    except ImportError:
        return False


def _emission(node: ast.Call, file: str, name: str, series: Collection[str]) -> Iterator[Problem]:
    first: ast.expr | None = node.args[0] if node.args else None
    first = next((keyword.value for keyword in node.keywords if keyword.arg == "series"), first)
    if isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value not in series:
        found = f"{first.value!r}{nearest(first.value, series)}"
        yield Problem(file, node.lineno, f"series of {name}", "a series that the manifest declares", found)


def _called(function: ast.expr) -> str:
    match function:
        case ast.Name():
            return function.id
        case ast.Attribute(value=ast.Name(id=module)):
            return function.attr if function.attr in _EMISSIONS else f"{module}.{function.attr}"
    return ""


def _is_sizeup(module: str) -> bool:
    return module == "sizeup" or module.startswith("sizeup.")
