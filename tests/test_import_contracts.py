"""Each import contract of pyproject.toml fails on an import that violates it, and only then."""

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
CONTRACTS: dict[str, dict[str, Any]] = {contract["id"]: contract for contract in SETTINGS["contracts"]}

LINT = """
import sys
# An editable install finds sizeup before the path does; the copy is what must be linted.
sys.meta_path[:] = [finder for finder in sys.meta_path if not type(finder).__module__.startswith("_editable")]
from importlinter.cli import lint_imports_command
lint_imports_command()
"""

Import = tuple[str, str]
"""A module, and the module that it must not import."""


def layers(contract: dict[str, Any]) -> list[Import]:
    """The lowest layer imports the highest one."""
    names = [[name.strip("() ") for name in layer.split("|")] for layer in contract["layers"]]
    container = contract.get("containers", [""])[0]
    highest, lowest = (f"{container}.{name}".strip(".") for name in (names[0][0], names[-1][0]))
    return [(lowest, highest)]


def forbidden(contract: dict[str, Any]) -> list[Import]:
    """The last source imports the last forbidden module."""
    return [(contract["source_modules"][-1], contract["forbidden_modules"][-1])]


def acyclic_siblings(contract: dict[str, Any]) -> list[Import]:
    """Two new siblings import each other."""
    first, second = (f"{contract['ancestors'][0]}.model.planted_{name}" for name in ("first", "second"))
    return [(first, second), (second, first)]


def independence(contract: dict[str, Any]) -> list[Import]:
    """The first module imports the second one."""
    return [(contract["modules"][0], contract["modules"][1])]


def protected(contract: dict[str, Any]) -> list[Import]:
    """A new module, which nobody allows, imports the protected one."""
    return [("sizeup.model.planted", contract["protected_modules"][0])]


VIOLATIONS: dict[str, Callable[[dict[str, Any]], list[Import]]] = {
    kind.__name__: kind for kind in (layers, forbidden, acyclic_siblings, independence, protected)
}


def source_of(tree: Path, module: str) -> Path:
    """Return the file of a module, which need not exist."""
    base = tree.joinpath("console" if module.split(".", maxsplit=1)[0] == "sizeup" else "plugins", *module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the product, which keeps every contract."""
    root = tmp_path_factory.mktemp("tree")
    for name in ("console", "plugins"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", root)
    kept = lint(root, *CONTRACTS)
    assert kept.returncode == 0, kept.stdout + kept.stderr
    return root


@pytest.fixture
def plant(tree: Path) -> Iterator[Callable[[list[Import]], None]]:
    """Return a function that writes imports into the copy; they are removed after the test."""
    before: dict[Path, str | None] = {}

    def write(imports: list[Import]) -> None:
        for module, imported in imports:
            path = source_of(tree, module)
            text = path.read_text(encoding="utf-8") if path.exists() else '"""A planted module."""\n'
            before.setdefault(path, text if path.exists() else None)
            path.write_text(f"{text}\nimport {imported}  # noqa\n", encoding="utf-8")

    yield write
    for path, text in before.items():
        if text is None:
            path.unlink()
        else:
            path.write_text(text, encoding="utf-8")


def lint(tree: Path, *contracts: str) -> subprocess.CompletedProcess[str]:
    """Return the result of import-linter for some contracts."""
    return subprocess.run(
        [sys.executable, "-c", LINT, "--no-cache", *(word for name in contracts for word in ("--contract", name))],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": f"{tree / 'console'}:{tree / 'plugins'}", "PATH": "/usr/bin:/bin"},
    )


@pytest.mark.ci
@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_violation_breaks_its_contract(contract: str, tree: Path, plant: Callable[[list[Import]], None]) -> None:
    imports = VIOLATIONS[CONTRACTS[contract]["type"]](CONTRACTS[contract])

    plant(imports)
    broken = lint(tree, contract)

    assert broken.returncode == 1, broken.stdout + broken.stderr
    assert f"{CONTRACTS[contract]['name']} BROKEN" in broken.stdout
    assert all(module.rpartition(".")[2] in broken.stdout for module in imports[0]), broken.stdout


@pytest.mark.ci
def test_what_lies_in_a_forbidden_package_is_forbidden(tree: Path, plant: Callable[[list[Import]], None]) -> None:
    plant([("sizeup_direct_io.point_verdict", "sizeup.discovery.sysroot")])

    assert "sizeup_direct_io.point_verdict -> sizeup.discovery.sysroot" in lint(tree, "plugins-down").stdout


@pytest.mark.ci
def test_a_new_package_must_choose_its_floor(tree: Path) -> None:
    stray = tree / "console/sizeup/stray"
    stray.mkdir()
    (stray / "__init__.py").write_text('"""A package that is in no layer."""\n')
    linted = lint(tree, "layers")
    shutil.rmtree(stray)

    assert linted.returncode == 1, linted.stdout + linted.stderr
    assert "stray" in linted.stdout


def test_every_contract_can_be_violated() -> None:
    """A contract of a new type needs its violation here."""
    assert {contract["type"] for contract in CONTRACTS.values()} <= set(VIOLATIONS)
