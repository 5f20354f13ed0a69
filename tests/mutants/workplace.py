"""A copy of the source tree with a build directory and a Python of its own, in which one mutant after another lives."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_EXTENSIONS = ("sizeup_clock", "sizeup_memory", "sizeup_direct_io")
_FAILED = re.compile(r"^(?:FAILED|ERROR) ([^\n]+?)(?: - |$)", re.MULTILINE)
_PATIENCE = 5
"""A test that takes this many times as long as without a mutant hangs."""
_LEAST_SECONDS = 60.0


class BuildError(Exception):
    """The tree does not compile."""


def _run(command: Sequence[str], cwd: Path, seconds: float, **environment: str) -> tuple[int | None, str]:
    """Return the exit status and the output; status None: not over after ``seconds``."""
    with subprocess.Popen(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, **environment},
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return None, process.communicate()[0]
        return process.returncode, output


class Workplace:
    """The copy. Building takes only what has changed since the last build."""

    def __init__(self, folder: Path, *, quick: bool = False) -> None:
        self._markers = "not ci and not lab and not long" if quick else "not lab and not long"
        self.tree, self._build, self._venv = folder / "tree", folder / "build", folder / "venv"
        self._usual_seconds: dict[str, float] = {}
        self._new_venv()
        self._copy()
        configure = ["cmake", "-S", self.tree / "native", "-B", self._build, "-DCMAKE_BUILD_TYPE=Release"]
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        options = ["-DSIZEUP_TESTS=ON", *self._python_options(folder / "tools")]
        status, output = _run([str(word) for word in (*configure, *generator, *options)], folder, 600)
        if status != 0:
            raise BuildError(output)
        self.build()

    def _new_venv(self) -> None:
        """Without the finder of the editable installation, which knows the checkout only."""
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self._venv], check=True)
        (site,) = self._venv.glob("lib/python3*/site-packages")
        folders = (self.tree / "console", self.tree / "plugins", sysconfig.get_path("purelib"))
        (site / "mutants.pth").write_text("".join(f"{folder}\n" for folder in folders))

    def _python_options(self, tools: Path) -> list[str]:
        """Return CMake's options that find this Python; CMake before 3.26 needs the build tool's module for it."""
        if not tools.exists():
            pip = [sys.executable, "-m", "pip", "install", "-q", "--target", str(tools), "scikit-build-core>=1.1,<2"]
            subprocess.run(pip, check=True)
        return [
            f"-DCMAKE_MODULE_PATH={tools / 'scikit_build_core' / 'resources' / 'find_python'}",
            f"-DPython_EXECUTABLE={sys.executable}",
            f"-DPython_ROOT_DIR={sys.base_prefix}",
            f"-DPython_INCLUDE_DIR={sysconfig.get_path('include')}",
        ]

    def _copy(self) -> None:
        listed = subprocess.run(
            ["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout
        names = [name for name in listed.split("\0") if (ROOT / name).is_file()]
        for name in names:
            source, copy = ROOT / name, self.tree / name
            if not copy.exists() or copy.read_bytes() != source.read_bytes():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, copy)  # with the time of the copy, so that it is compiled again
        for left in set(self.tree.rglob("*.[chp]*")) - {self.tree / name for name in names}:
            if left.suffix in {".c", ".h", ".py"}:
                left.unlink()

    def build(self) -> None:
        """Compile what has changed, and put the extensions beside their packages."""
        status, output = _run(["cmake", "--build", str(self._build)], self.tree, 600)
        if status != 0:
            raise BuildError(output)
        for package in _EXTENSIONS:
            for library in (self._build / package).glob("_native*.so"):
                shutil.copy2(library, self.tree / "plugins" / package)

    @contextmanager
    def mutated(self, file: str, text: str) -> Iterator[None]:
        """Replace a file for as long as the context lasts; raise BuildError if the tree does not compile then."""
        path = self.tree / file
        original = path.read_text(encoding="utf-8")
        try:
            path.write_text(text, encoding="utf-8")
            self.build()  # also what the last mutant has left
            yield
        finally:
            path.write_text(original, encoding="utf-8")

    def c_tests(self) -> list[str]:
        """Return the names of the C tests."""
        return sorted(path.name for path in self._build.glob("test_*") if os.access(path, os.X_OK) and path.is_file())

    def c_test(self, name: str) -> bool:
        """Return whether a C test passes, or cannot run here."""
        started = time.monotonic()
        limit = max(_LEAST_SECONDS, _PATIENCE * self._usual_seconds.get(name, 0))
        status, _ = _run([str(self._build / name)], self._build, limit)
        passed = status in (0, 77)
        if passed:
            self._usual_seconds.setdefault(name, time.monotonic() - started)
        return passed

    def pytest(self, names: Sequence[str]) -> str | None:
        """Return the first failing test; None if all pass. One that fails once and then passes is not a failure."""
        key = " ".join(names)
        passed: list[str] = []
        while True:
            started = time.monotonic()
            status, output = self._pytest([*names, *(f"--deselect={name}" for name in passed)], key)
            if status is None:
                return f"{key}: no end"
            if status == pytest.ExitCode.USAGE_ERROR and "usage:" in output:
                raise RuntimeError(output)  # nothing was run
            if status in (0, 5):
                self._usual_seconds.setdefault(key, time.monotonic() - started)
                return None
            found = _FAILED.search(output)
            if found is None:  # not even collected
                return f"{key}: exit status {status}"
            if self._pytest([found[1]], found[1])[0] not in (0, 5):
                return found[1]
            passed.append(found[1])

    def _pytest(self, names: Sequence[str], key: str) -> tuple[int | None, str]:
        options = ["-q", "-x", "-m", self._markers, "-p", "no:cacheprovider", "-n", "0"]
        limit = max(2 * _LEAST_SECONDS, _PATIENCE * self._usual_seconds.get(key, 0) or 1200.0)
        return _run(
            [str(self._venv / "bin" / "python"), "-m", "pytest", *options, *names],
            self.tree,
            limit,
            PYTHONDONTWRITEBYTECODE="1",
        )
