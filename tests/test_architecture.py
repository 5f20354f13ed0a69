"""The architecture is proved, not described: contracts that hold, and a breach that is caught."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


LINT = """
import sys
# An editable install finds sizeup before the path does; the copy is what must be linted.
sys.meta_path[:] = [finder for finder in sys.meta_path if not type(finder).__module__.startswith("_editable")]
from importlinter.cli import lint_imports_command
lint_imports_command()
"""


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LINT, "--no-cache"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": f"{root / 'console'}:{root / 'plugins'}", "PATH": "/usr/bin:/bin"},
    )


@pytest.fixture
def copy_of_the_tree(tmp_path: Path) -> Path:
    for name in ("console", "plugins"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.mark.ci
def test_a_deliberate_upward_import_breaks_the_contract(copy_of_the_tree: Path) -> None:
    assert lint_imports(copy_of_the_tree).returncode == 0
    victim = copy_of_the_tree / "console/sizeup/model/gap.py"
    victim.write_text(victim.read_text() + "\nfrom sizeup.session import records  # noqa\n")

    result = lint_imports(copy_of_the_tree)

    assert result.returncode == 1, result.stdout
    assert "sizeup.model" in result.stdout
    assert "BROKEN" in result.stdout


@pytest.mark.ci
def test_a_new_package_must_choose_its_floor(copy_of_the_tree: Path) -> None:
    stray = copy_of_the_tree / "console/sizeup/stray"
    stray.mkdir()
    (stray / "__init__.py").write_text('"""A package that is in no layer."""\n')

    assert lint_imports(copy_of_the_tree).returncode != 0


@pytest.mark.ci
@pytest.mark.parametrize("module", ["sizeup.discovery.sysroot", "sizeup.probing.worker", "sizeup.config"])
def test_a_probe_that_reaches_around_its_contract_breaks_it(module: str, copy_of_the_tree: Path) -> None:
    victim = copy_of_the_tree / "plugins/sizeup_direct_io/limits.py"
    victim.write_text(f"{victim.read_text()}\nimport {module}  # noqa\n")

    result = lint_imports(copy_of_the_tree)

    assert result.returncode == 1, result.stdout
    assert f"sizeup_direct_io.limits -> {module}" in result.stdout


def test_the_contract_forbids_a_probe_all_that_the_document_does_not_allow() -> None:
    """A package or a module of ``probing`` that is new must be put on one of the two lists."""
    document = (ROOT / "docs/writing-a-probe.md").read_text(encoding="utf-8")
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
    there |= {f"sizeup.probing.{path.stem}" for path in (package / "probing").glob("*.py")}

    assert allowed | forbidden == there - {"sizeup.__init__", "sizeup.probing", "sizeup.probing.__init__"}
    assert not allowed & forbidden


def test_the_compiled_modules_are_reached_through_their_binding_alone() -> None:
    """Compiled modules are no nodes of the import graph, so ruff's banned-api keeps the door; here it is counted."""
    importers = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "plugins").rglob("*.py")
        if "._native import" in path.read_text(encoding="utf-8")
    }
    assert all(path.endswith("/binding.py") for path in importers), importers


def mentions(pattern: str) -> set[str]:
    """The modules of the product in which the pattern occurs."""
    paths = [path for name in ("console", "plugins") for path in (ROOT / name).rglob("*.py")]
    return {str(path.relative_to(ROOT)) for path in paths if re.search(pattern, path.read_text(encoding="utf-8"))}


def test_children_are_started_through_one_door() -> None:
    """Another one would have to keep the working directory off the child's path by itself."""
    starts = mentions(r"\bPopen\(|subprocess\.run\(|create_subprocess|os\.(exec|spawn|posix_spawn)|multiprocessing")

    assert mentions(r"sys\.executable") == {"console/sizeup/child_process.py"}
    assert starts <= mentions(r"from sizeup\.child_process import .*environment"), starts


def test_files_are_written_through_one_door() -> None:
    """Another one would have to look for planted links by itself."""
    writes = mentions(
        r"O_CREAT|\.write_(text|bytes)\(|\.mkdir\(|makedirs\(|import tempfile|mkstemp|os\.(rename|replace|mkdir)\("
        r"|\bopen\((?!os\.memfd_create)[^\n]*, [\"'][rb]*[wax+]"
    )

    assert writes == {
        "console/sizeup/files.py",
        "console/sizeup/procfs/oom_score.py",  # to a file of the kernel
        "plugins/sizeup_direct_io/target.py",  # in the directory that the one door opened
    }


def test_the_layers_in_the_document_are_those_of_the_build() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")

    assert "\n".join(layers) in text


def test_nothing_strays_into_the_top_level() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("only a checkout can tell what belongs to it")
    # Another user may run the tests than the one who made the checkout, which git would not trust by itself.
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    top = {name.partition("/")[0] for name in listed.split("\0") if name}

    files, folders = (
        ["pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"],
        ["console", "native", "plugins"],
    )
    assert {name for name in top if not name.startswith(".")} == {*files, *folders, "tests", "docs"}
