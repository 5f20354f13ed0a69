"""What the release script refuses: native files for another C library or machine, and wheels with a wrong tag."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

import sizeup

ROOT = Path(__file__).parents[2]
MANYLINUX = "manylinux_2_17_x86_64"


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release_wheels", ROOT / ".ci/wheels.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


wheels = _script()


def elf(*names: str, machine: int = 62) -> bytes:
    """An ELF header and a string table."""
    header = b"\x7fELF\x02\x01\x01".ljust(18, b"\0") + machine.to_bytes(2, "little")
    return header + b"\0" + b"".join(name.encode() + b"\0" for name in names)


def wheel(folder: Path, tag: str, files: dict[str, bytes], told: str | None = None, pure: str = "false") -> Path:
    path = folder / f"sizeup-1.0-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("sizeup-1.0.dist-info/WHEEL", f"Root-Is-Purelib: {pure}\nTag: {told or tag}\n")
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_versions_of_glibc_are_compared_as_numbers() -> None:
    assert wheels.glibc_versions(elf("GLIBC_2.2.5", "GLIBC_2.17", "XGLIBC_9.9")) == {(2, 2, 5), (2, 17)}
    assert wheels.native_faults(elf("libc.so.6", "GLIBC_2.9", "GLIBC_2.17"), MANYLINUX) == []


@pytest.mark.parametrize(
    ("content", "platform", "fault"),
    [
        (elf("libc.so.6", "GLIBC_2.34"), MANYLINUX, "needs glibc 2.34; the limit is 2.17"),
        (elf("libc.so.6", "GLIBC_PRIVATE"), MANYLINUX, "needs glibc a private symbol"),
        (elf("libc.so"), MANYLINUX, "does not link glibc"),
        (elf("libc.so.6", "GLIBC_2.17", machine=183), MANYLINUX, "built for aarch64"),
        (b"MZ", MANYLINUX, "built for an unknown machine type"),
        (elf("libc.so.6", "GLIBC_2.17"), "musllinux_1_2_x86_64", "uses glibc"),
        (elf("printf"), "musllinux_1_2_x86_64", "does not link musl's libc.so"),
    ],
)
def test_a_native_file_for_another_system_is_refused(content: bytes, platform: str, fault: str) -> None:
    assert any(found.startswith(fault) for found in wheels.native_faults(content, platform))


@pytest.mark.parametrize(
    ("tag", "files", "told", "fault"),
    [
        (f"cp311-abi3-{MANYLINUX}", {"p/_native.abi3.so": elf("libc.so.6", "GLIBC_2.17")}, None, ""),
        ("cp311-abi3-linux_x86_64", {"p/_native.abi3.so": elf("libc.so.6", "GLIBC_2.17")}, None, "no platform"),
        (f"cp311-abi3-{MANYLINUX}", {"p/_native.abi3.so": elf("libc.so.6", "GLIBC_2.30")}, None, "needs glibc 2.30"),
        (f"cp311-abi3-{MANYLINUX}", {"p/_native.cpython-311.so": elf("libc.so.6", "GLIBC_2.17")}, None, "stable ABI"),
        (f"cp311-abi3-{MANYLINUX}", {"p/_native.abi3.so": elf("libc.so.6", "GLIBC_2.17")}, "py3-none-any", "its tags"),
        (f"cp311-abi3-{MANYLINUX}", {}, None, "0 native files"),
        ("py3-none-any", {"p/_native.abi3.so": elf("libc.so.6", "GLIBC_2.17")}, None, "1 native files"),
    ],
)
def test_a_wheel_holds_what_its_tag_says(
    tmp_path: Path, tag: str, files: dict[str, bytes], told: str | None, fault: str
) -> None:
    pure = "true" if tag == "py3-none-any" else "false"
    found = wheels.wheel_faults(wheel(tmp_path, tag, files, told, pure))

    assert bool(found) == bool(fault)
    assert fault in "\n".join(found)


def test_an_sdist_holds_nothing_that_git_does_not_know(tmp_path: Path) -> None:
    path = tmp_path / "sizeup-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in ("PKG-INFO", "README.md", "env/bin/python"):
            archive.addfile(tarfile.TarInfo(f"sizeup-1.0/{name}"))

    assert wheels.stray_files(path, ["README.md", "LICENSE"]) == ["env/bin/python"]


def test_every_wheel_brings_the_pages_of_the_documentation() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["scikit-build"]

    assert settings["wheel"]["force-include"] == {"docs": "sizeup/docs"}
    assert all((ROOT / "docs" / each.removeprefix("sizeup/docs/")).is_dir() for each in settings["wheel"]["exclude"])


def test_the_versions_read_are_those_that_objdump_names() -> None:
    objdump = shutil.which("objdump")
    built = importlib.util.find_spec("sizeup_clock._native")
    if objdump is None or built is None or built.origin is None:
        pytest.skip("needs objdump and the built extension")
    shown = subprocess.run([objdump, "-p", built.origin], capture_output=True, text=True, check=True).stdout
    named = {tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([0-9.]+)$", shown, re.MULTILINE)}

    assert wheels.glibc_versions(Path(built.origin).read_bytes()) == named
    below = (*max(named)[:-1], max(named)[-1] - 1)
    faults = wheels.native_faults(Path(built.origin).read_bytes(), f"manylinux_2_17_{os.uname().machine}", below)
    assert any(fault.startswith("needs glibc") for fault in faults)


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert sizeup.__version__ == project["version"]


def _configured(tmp_path: Path, *options: str, **variables: str) -> str:
    if shutil.which("cmake") is None:
        pytest.skip("needs cmake")
    command = ["cmake", "-S", ROOT / "native", "-B", tmp_path / "build", *options]
    environment = {"PATH": os.environ["PATH"], **variables}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    return " ".join(done.stderr.split())


@pytest.mark.ci
def test_without_a_compiler_the_packages_to_install_are_named(tmp_path: Path) -> None:
    said = _configured(tmp_path, CC="absent-cc")

    assert "sizeup: no C compiler was found: absent-cc; install it and try again" in said
    for command in ("apt install gcc libc6-dev", "dnf install gcc", "zypper install gcc"):
        assert command in said


@pytest.mark.ci
def test_without_the_headers_of_python_the_packages_to_install_are_named(tmp_path: Path) -> None:
    said = _configured(tmp_path, f"-DPython_EXECUTABLE={sys.executable}", "-DPython_INCLUDE_DIR=/nonexistent")

    assert "sizeup: Python.h of" in said
    for package in ("python3-dev", "python3.11-devel", "python311-devel"):
        assert package in said


@pytest.mark.long
def test_the_release_is_built_and_passes_its_checks(tmp_path: Path) -> None:
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("needs .ci/wheels-requirements.txt installed")
    command = [sys.executable, ROOT / ".ci/wheels.py", "build", tmp_path / "dist"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "dist").glob("*.whl"))) == len(wheels.PLATFORMS) + 1


def test_one_command_collects_for_several_versions_of_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Into one folder, of which a host takes what fits it; tags of glibc are of no use to a host with musl."""
    wheel(tmp_path, f"cp311-abi3-{MANYLINUX}", {})
    commands: list[str] = []
    monkeypatch.setattr(wheels, "_run", lambda *command: commands.append(" ".join(map(str, command))))

    wheels.folder(tmp_path, tmp_path / "wheels", ["3.11", "3.13"], [MANYLINUX, "musllinux_1_2_aarch64"], "")

    found = [re.search(r"--python-version (\S+) --platform=(\S+)( --platform=manylinux)?", text) for text in commands]
    assert [match.groups() for match in found if match] == [
        ("3.11", MANYLINUX, " --platform=manylinux"),
        ("3.13", MANYLINUX, " --platform=manylinux"),
        ("3.11", "musllinux_1_2_aarch64", None),
        ("3.13", "musllinux_1_2_aarch64", None),
    ]
    assert all(f"-d {tmp_path}/wheels sizeup==1.0" in text for text in commands)
