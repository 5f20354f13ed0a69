"""The C library's own tests, with and without sanitizers."""

import shutil
import subprocess
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "native"


def run(*command: str, cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"


@pytest.fixture
def cmake() -> str:
    found = shutil.which("cmake")
    if found is None:
        pytest.skip("no cmake on the path: the package's own build brings one, the C tests do not")
    return found


def build_and_test(cmake: str, folder: Path, *options: str) -> None:
    run(
        cmake,
        "-S",
        str(NATIVE),
        "-B",
        str(folder),
        "-DSIZEUP_EXTENSIONS=OFF",
        "-DSIZEUP_TESTS=ON",
        *options,
        cwd=folder,
    )
    run(cmake, "--build", str(folder), cwd=folder)
    run("ctest", "--output-on-failure", "--no-tests=error", cwd=folder)


@pytest.mark.ci
def test_c_tests_pass_under_address_and_undefined_behavior_sanitizers(cmake: str, tmp_path: Path) -> None:
    build_and_test(cmake, tmp_path, "-DSIZEUP_SANITIZE=address,undefined", "-DCMAKE_BUILD_TYPE=Debug")


@pytest.mark.ci
def test_c_tests_pass_as_released(cmake: str, tmp_path: Path) -> None:
    build_and_test(cmake, tmp_path, "-DCMAKE_BUILD_TYPE=Release")


@pytest.mark.ci
def test_c_tests_pass_on_aarch64(cmake: str, tmp_path: Path) -> None:
    """The Arm paths, cross-compiled and emulated; no timing of theirs means anything."""
    compiler, emulator = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64")
    if compiler is None or emulator is None:
        pytest.skip("no aarch64 compiler or emulator here (Debian: gcc-aarch64-linux-gnu, qemu-user)")
    build_and_test(
        cmake,
        tmp_path,
        "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_SYSTEM_NAME=Linux",
        "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
        f"-DCMAKE_C_COMPILER={compiler}",
        f"-DCMAKE_CROSSCOMPILING_EMULATOR={emulator};-L;/usr/aarch64-linux-gnu",
    )
