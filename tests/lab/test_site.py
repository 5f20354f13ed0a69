"""What a guest gets is enough, and it is known without booting one."""

import subprocess
import sys
from pathlib import Path

import pytest

from lab.guest import TESTS, fill_site, with_dependencies

LOOK = """
import importlib, importlib.util, pathlib, pkgutil, sys
site, tests = sys.argv[1:]
sys.path[:0] = [site, tests]
packages = "sizeup", "sizeup_null", "sizeup_memory", "sizeup_clock", "sizeup_direct_io", "sizeup_net", "sizeup_nfs"
for package in packages:
    for module in pkgutil.walk_packages([f"{site}/{package}"], f"{package}."):
        if module.name != "sizeup.__main__":
            importlib.import_module(module.name)
import conftest
for file in sorted(pathlib.Path(tests, "plugins/direct_io").glob("*.py")):
    importlib.import_module(f"plugins.direct_io.{file.stem}")
print(sum(name.startswith("sizeup") for name in sys.modules))
"""


def test_what_a_dependency_needs_comes_with_it() -> None:
    names = with_dependencies(["sizeup"])

    assert {"sizeup", "tomli", "msgspec", "textual"} <= set(names)
    assert {"pycparser", "linkify-it-py"} <= set(names)  # of cffi, and of textual by an extra of markdown-it-py
    assert "ruff" not in names


@pytest.mark.ci
def test_the_program_and_its_staged_tests_import_from_what_a_guest_gets_alone(tmp_path: Path) -> None:
    fill_site(tmp_path / "site")

    done = subprocess.run(
        [sys.executable, "-I", "-S", "-W", "ignore", "-c", LOOK, tmp_path / "site", TESTS],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) > 100
