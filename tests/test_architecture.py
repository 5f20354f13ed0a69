"""The architecture is proved, not described: what the contracts list, and what no contract can say."""

import ast
import importlib
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tiers import one_in

ROOT = Path(__file__).parent.parent


def test_the_contract_forbids_a_probe_all_that_the_document_does_not_allow() -> None:
    """A package or a module of ``probing`` that is new must be put on one of the two lists."""
    document = (ROOT / "docs/reference/probe-contract.md").read_text(encoding="utf-8")
    allowed = set(
        re.findall(r"`(sizeup\.[\w.]+)`", document.partition("A probe may import ")[2].partition(" nothing else")[0])
    )
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    forbidden = set(next(each["forbidden_modules"] for each in contracts if each["id"] == "plugins-down"))
    package = ROOT / "console/sizeup"
    there = {
        f"sizeup.{path.stem}" for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    there |= {
        f"sizeup.probing.{path.stem}"
        for path in (package / "probing").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }

    assert allowed | forbidden == there - {"sizeup.__init__", "sizeup.probing", "sizeup.probing.__init__"}
    assert not allowed & forbidden


def test_the_compiled_modules_are_reached_through_their_binding_alone() -> None:
    """Compiled modules are no nodes of the import graph, so ruff's banned-api checks them; here they are counted."""
    importers = mentions(r"\._native import")
    assert all(path.endswith("/binding.py") for path in importers), importers


@cache
def sources(*folders: str) -> dict[str, str]:
    """The text of each module below some folders."""
    paths = [path for name in folders for path in (ROOT / name).rglob("*.py")]
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}


def mentions(pattern: str) -> set[str]:
    """The modules of the product in which the pattern occurs."""
    return {path for path, text in sources("console", "plugins").items() if re.search(pattern, text)}


def declared_classes(node: ast.AST) -> Iterator[str]:
    """The classes below a node, at any depth; only statements have some, so expressions are not looked into."""
    if isinstance(node, ast.ClassDef):
        yield node.name
    for part in ("body", "orelse", "handlers", "finalbody", "cases"):
        children = getattr(node, part, [])
        for child in children if isinstance(children, list) else []:
            yield from declared_classes(child)


CLASS_LINE = re.compile(r"^[ \t]*class (\w+)", re.MULTILINE)
"""Where a class may be declared; in a string, a line may look so as well."""


def repeated_classes(sources: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """The names of classes that several modules declare, from paths and sources."""
    texts = dict(sources)
    named: dict[str, set[str]] = {}
    for path, source in texts.items():
        for name in CLASS_LINE.findall(source):
            named.setdefault(name, set()).add(path)
    several = {name: paths for name, paths in named.items() if len(paths) > 1}
    declared = {path: set(declared_classes(ast.parse(texts[path]))) for path in set().union(*several.values())}
    found = {name: {path for path in paths if name in declared[path]} for name, paths in several.items()}
    return {name: paths for name, paths in found.items() if len(paths) > 1}


def test_a_class_name_has_one_meaning() -> None:
    assert repeated_classes(sources("console", "plugins", "tests").items()) == {}


def test_a_class_name_that_two_modules_declare_is_found() -> None:
    made = [("a.py", "class Point: ..."), ("b.py", "def f():\n    class Point: ..."), ("c.py", "class Points: ...")]
    made.append(("d.py", "try: x = 1 if y else 2\nexcept E:\n  match x:\n    case 1:\n      class Point: ..."))
    made.append(("e.py", "x = '''\nclass Point: ...\n'''"))

    assert repeated_classes(made) == {"Point": {"a.py", "b.py", "d.py"}}


def test_children_are_started_through_one_module() -> None:
    """Another one would have to keep the working directory off the child's path by itself."""
    starts = mentions(r"\bPopen\(|subprocess\.run\(|create_subprocess|os\.(exec|spawn|posix_spawn)|multiprocessing")

    elsewhere = {"console/sizeup/remote/host_program.py"}  # runs on another host, before sizeup is there

    assert mentions(r"sys\.executable") == {"console/sizeup/child_process.py"} | elsewhere
    assert starts - elsewhere <= mentions(r"from sizeup\.child_process import .*environment"), starts


def test_files_are_written_through_one_module() -> None:
    """Another one would have to look for planted links by itself."""
    writes = mentions(
        r"O_CREAT|\.write_(text|bytes)\(|\.mkdir\(|makedirs\(|import tempfile|mkstemp|os\.(rename|replace|mkdir)\("
        r"|\bopen\((?!os\.memfd_create)[^\n]*, [\"'][rb]*[wax+]"
    )

    assert writes == {
        "console/sizeup/files.py",
        "console/sizeup/procfs/process.py",  # to a file of the kernel
        "console/sizeup/remote/host_program.py",  # runs on another host, in a directory that it makes
        "plugins/sizeup_direct_io/target.py",  # in the directory that sizeup.files opened
    }


def test_the_layers_in_the_document_are_those_of_the_build() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    text = (ROOT / "docs/explanation/decisions/architecture.md").read_text(encoding="utf-8")

    assert "\n".join(layers) in text


def test_nothing_strays_into_the_top_level() -> None:
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("only git and a checkout can tell what belongs to it")
    # Another user may run the tests than the one who made the checkout, which git would not trust by itself.
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    top = {name.partition("/")[0] for name in listed.split("\0") if name}

    files, folders = (
        ["pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"],
        ["console", "native", "plugins"],
    )
    assert {name for name in top if not name.startswith(".")} == {*files, *folders, "tests", "docs"}


DOCUMENTED = ("_exit", "_replace")
"""Offered, whatever their names: os._exit, and what named tuples have."""


@cache
def private_parts(module: str) -> dict[str, frozenset[str]]:
    """By class of a module: names with an underscore that it defines, or reads from or sets in itself."""
    source = Path(importlib.import_module(module).__file__ or "").read_text(encoding="utf-8")
    return {
        node.name: frozenset(name for name in _names(node) if name.startswith("_") and not name.startswith("__"))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef)
    }


def _names(node: ast.ClassDef) -> Iterator[str]:
    for part in ast.walk(node):
        match part:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.Attribute(value=ast.Name(id="self") | ast.Call(func=ast.Name(id="super")), attr=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                yield name


def taken_from_textual(module: str) -> set[str]:
    """Private parts of Textual that a module uses: imports, attributes, names that its classes share with Textual's."""
    loaded = importlib.import_module(module)
    source = Path(loaded.__file__ or "").read_text(encoding="utf-8")
    taken = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(module=str(origin), names=names) if origin.startswith("textual"):
                parts = [*origin.split("."), *(name.name for name in names)]
                taken |= {f"{origin} {part}" for part in parts if part.startswith("_")}
            case ast.Attribute(value=ast.expr() as owner, attr=name) if name.startswith("_") and name[1] != "_":
                if name not in DOCUMENTED and not (isinstance(owner, ast.Name) and owner.id in ("self", "cls")):
                    taken.add(ast.unparse(node))
    for name, own in private_parts(module).items():
        for base in getattr(loaded, name, object).__mro__:
            if base.__module__.startswith("textual."):
                taken |= {f"{name}.{part}" for part in own & private_parts(base.__module__).get(base.__name__, set())}
    return taken


def modules_of(package: str) -> list[str]:
    folder = ROOT / "console"
    paths = (folder / package.replace(".", "/")).rglob("*.py")
    return sorted(".".join(path.relative_to(folder).with_suffix("").parts) for path in paths if path.stem != "__init__")


@pytest.mark.ci
def test_private_parts_of_textual_are_used_in_terminal_alone() -> None:
    assert {module: taken for module in modules_of("sizeup.tui") if (taken := taken_from_textual(module))} == {}
    assert set().union(*map(taken_from_textual, modules_of("sizeup.terminal"))) == {
        "textual._compositor _compositor",
        "textual._xterm_parser _xterm_parser",
        "ConsoleDriver._debug",
        "ConsoleDriver._file",
        "ConsoleDriver._get_terminal_size",
        "ConsoleDriver._must_signal_resume",
        "ConsoleDriver._sigcont_application",
        "ConsoleDriver._writer_thread",
        "OnceStyledScreen._css_update_count",
        "TerminalApp._display",
        "TerminalApp._driver",
        "self._writer_thread._queue",
        "self.app._css_update_count",
        "screen._compositor",
        "super()._display",
        "super()._get_terminal_size",
        "super()._sigcont_application",
    }, "a private part may go with the next Textual: name the measured reason beside it, and add it here"


@pytest.mark.parametrize(
    "line",
    one_in(
        4,
        [
            "from textual._compositor import Compositor",
            "class Mode(Screen): _compositor = 1",
            "class Mode(Screen):\n    def on_mount(self): self._compositor.clear()",
            "class Mode(Screen):\n    async def _on_resize(self, event): ...",
            "def clear(screen): screen._compositor.clear()",
        ],
    ),
)
def test_a_private_part_of_textual_is_noticed(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path.name  # another one each time: what is known of a module is kept
    (tmp_path / f"{module}.py").write_text(f"from textual.screen import Screen\n{line}\n")
    monkeypatch.syspath_prepend(tmp_path)

    assert taken_from_textual(module)
    del sys.modules[module]
