"""Builds the release: an sdist, wheels for glibc and musl on x86_64 and aarch64, and a viewer in pure Python.

    python3 -m venv /tmp/build && /tmp/build/bin/pip install -r .ci/wheels-requirements.txt
    /tmp/build/bin/python .ci/wheels.py build dist      # all of them, each checked; needs no network
    /tmp/build/bin/python .ci/wheels.py check dist      # check once more what stands there
    /tmp/build/bin/python .ci/wheels.py folder dist wheels   # with all dependencies, for --wheels; needs network

Everything is built from the sdist, so the sdist is known to be complete. The compiler brings the headers and symbol
lists of each C library along, so no container and no other machine is needed, and no Python of the target is run:
the extensions use the stable ABI only, and `headers_fit` checks that this Python's headers describe the target.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from collections.abc import Collection
from pathlib import Path

GLIBC_LIMIT = (2, 17)
"""RHEL 7 and everything since."""

PLATFORMS = {
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "musllinux_1_2_x86_64": "x86_64-linux-musl",
    "musllinux_1_2_aarch64": "aarch64-linux-musl",
}
"""The platform tag of each wheel, and what the compiler calls that platform."""

OLDER_TAGS = ("manylinux2014_{0}", "manylinux_2_12_{0}", "manylinux_2_5_{0}", "manylinux1_{0}")
"""What also runs on glibc 2.17; pip download takes only the tags that it is told."""

PYTHONS = ["3.11", "3.12", "3.13"]
"""For which there are wheels of all dependencies."""

ELF_MACHINES = {62: "x86_64", 183: "aarch64"}
PURE_TAG = "py3-none-any"
NATIVE_TAG = "cp311-abi3"


class CheckError(Exception):
    """A built file is not what its name promises."""


def glibc_versions(elf: bytes) -> set[tuple[int, ...]]:
    """Return the versions of glibc that an ELF file asks for.

    Read from the names in its string table, so that no tool for the machine type of the file is needed. A version that
    cannot be compared, such as GLIBC_PRIVATE, counts as newer than any.
    """
    names = re.findall(rb"(?<=\0)GLIBC_([0-9A-Z_.]+)(?=\0)", elf)
    return {
        tuple(map(int, name.split(b"."))) if re.fullmatch(rb"\d+(\.\d+)+", name) else (sys.maxsize,) for name in names
    }


def native_faults(elf: bytes, platform: str, limit: tuple[int, ...] = GLIBC_LIMIT) -> list[str]:
    """Return why this ELF file cannot stand in a wheel for ``platform``; empty if it can."""
    faults = []
    machine = ELF_MACHINES.get(int.from_bytes(elf[18:20], "little")) if elf[:4] == b"\x7fELF" else None
    if machine is None or not platform.endswith(f"_{machine}"):
        faults.append(f"built for {machine or 'an unknown machine type'}")
    versions = glibc_versions(elf)
    if platform.startswith("musllinux"):
        if versions or b"\0libc.so.6\0" in elf:
            faults.append("uses glibc")
        if b"\0libc.so\0" not in elf:
            faults.append("does not link musl's libc.so")
    else:
        if versions and max(versions) > limit:
            newest = ".".join(map(str, max(versions))) if max(versions) != (sys.maxsize,) else "a private symbol"
            faults.append(f"needs glibc {newest}; the limit is {'.'.join(map(str, limit))}")
        if not versions or b"\0libc.so.6\0" not in elf:
            faults.append("does not link glibc")
    return faults


def wheel_faults(path: Path) -> list[str]:
    """Return what is wrong with the name, the tags or the native files of a wheel; empty if nothing is."""
    *_, python, abi, platform = path.name.removesuffix(".whl").split("-")
    tag = f"{python}-{abi}-{platform}"
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        [about] = [wheel.read(name).decode() for name in names if name.endswith(".dist-info/WHEEL")]
        native = {name: wheel.read(name) for name in names if re.search(r"\.so(\.\d+)*$", name)}
    faults = []
    if set(re.findall(r"^Tag: (.*)$", about, re.MULTILINE)) != {tag}:
        faults.append(f"{path.name}: its tags are not the {tag} of its name")
    pure = tag == PURE_TAG
    if not pure and (f"{python}-{abi}" != NATIVE_TAG or platform not in PLATFORMS):
        faults.append(f"{path.name}: {tag} is no platform that is released")
    if f"Root-Is-Purelib: {'true' if pure else 'false'}" not in about:
        faults.append(f"{path.name}: would be installed in the wrong directory")
    if pure != (not native):
        faults.append(f"{path.name}: {len(native)} native files")
    for name, elf in native.items():
        if not name.endswith(".abi3.so"):
            faults.append(f"{path.name}: {name} does not use the stable ABI")
        if not pure:
            faults += [f"{path.name}: {name} {fault}" for fault in native_faults(elf, platform)]
    return faults


def _run(*command: str | Path, cwd: Path | None = None, **variables: str) -> str:
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise CheckError(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def check(folder: Path) -> None:
    """Check every wheel in ``folder`` by its symbols, and by the tools of the Python Packaging Authority."""
    wheels = sorted(folder.glob("sizeup-*.whl"))
    faults = [fault for path in wheels for fault in wheel_faults(path)]
    if faults or not wheels:
        raise CheckError("\n".join(faults) or f"{folder}: no wheels")
    for path in wheels:
        newest, about = (), "pure Python"
        if not path.name.endswith(f"{PURE_TAG}.whl"):
            _run(sys.executable, "-m", "abi3audit", "--strict", path)
            with zipfile.ZipFile(path) as wheel:
                native = [wheel.read(name) for name in wheel.namelist() if name.endswith(".so")]
            newest = max(version for elf in native for version in glibc_versions(elf) or {()})
            about = f"needs glibc {'.'.join(map(str, newest))}" if newest else "needs musl"
        if "manylinux" in path.name and path.name.endswith("x86_64.whl"):
            shown = json.loads(_run(sys.executable, "-m", "auditwheel", "show", "--json", path))
            policy = str(shown.get("overall_tag") or shown)
            about += f", auditwheel: {policy}"
            fits = re.search(r"manylinux_(\d+)_(\d+)_x86_64", policy)
            if not fits or tuple(map(int, fits.groups())) > GLIBC_LIMIT:
                raise CheckError(f"{path.name}: auditwheel says {policy}")
        print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB, {about}")


def headers_fit(compiler: Path, work: Path) -> None:
    """Check that the sizes in this Python's configuration are those of the compiler's target."""
    header = sysconfig.get_config_h_filename()
    sizes = {"SHORT": "short", "INT": "int", "LONG": "long", "VOID_P": "void *", "WCHAR_T": "wchar_t"}
    lines = [f'_Static_assert(SIZEOF_{name} == sizeof({kind}), "{kind}");' for name, kind in sizes.items()]
    source = work / "headers.c"
    source.write_text(f'#include "{header}"\n#include <wchar.h>\n' + "\n".join(lines) + "\n")
    _run(compiler, "-c", source, "-o", work / "headers.o")


def _tools(target: str, work: Path) -> dict[str, Path]:
    """Write the compiler, archiver and indexer for ``target`` as commands without arguments, as CMake wants them."""
    options = {"cc": f" -target {target}", "ar": "", "ranlib": ""}
    tools = {}
    for name, option in options.items():
        tools[name] = work / f"{target}-{name}"
        tools[name].write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ziglang {name}{option} "$@"\n')
        tools[name].chmod(0o755)
    return tools


def build_native(source: Path, platform: str, dist: Path, work: Path) -> None:
    """Build one wheel with extensions and name its platform."""
    tools = _tools(PLATFORMS[platform], work)
    headers_fit(tools["cc"], work)
    machine = platform.rpartition("x86_64")[1] or "aarch64"
    settings = (
        "install.strip=false",  # the linker does it; the machine's strip knows one machine type
        f"build-dir={work / 'objects' / platform}",  # named after the tag otherwise, which all platforms share
    )
    _run(
        sys.executable, "-m", "build", "--wheel", "--no-isolation", "--skip-dependency-check",
        *(f"-C{setting}" for setting in settings), "-o", work / platform, source,
        CC=str(tools["cc"]), LDFLAGS="-Wl,-s",
        CMAKE_ARGS=f"-DCMAKE_AR={tools['ar']} -DCMAKE_RANLIB={tools['ranlib']} "
        f"-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR={machine}",
    )  # fmt: skip
    [built] = (work / platform).glob("*.whl")
    _run(sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", platform, built)
    [tagged] = (work / platform).glob("*.whl")
    tagged.replace(dist / tagged.name)


def stray_files(sdist: Path, tracked: Collection[str]) -> list[str]:
    """Return the files of an sdist that are not in the repository, such as an environment made in the checkout."""
    with tarfile.open(sdist) as archive:
        names = [member.name.partition("/")[2] for member in archive if not member.isdir()]
    return sorted(set(names) - set(tracked) - {"PKG-INFO"})


def build(dist: Path, platforms: list[str]) -> None:
    """Build the sdist, from it the wheels, and check them."""
    root = Path(__file__).resolve().parent.parent
    dist.mkdir(parents=True, exist_ok=True)
    if any(dist.glob("sizeup-*")):
        raise CheckError(f"{dist}: holds a release already; name an empty directory")
    committed = _run("git", "log", "-1", "--format=%ct", cwd=root).strip()
    os.environ.setdefault("SOURCE_DATE_EPOCH", committed)  # the same commit makes the same files
    _run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--skip-dependency-check", "-o", dist, root)
    [sdist] = dist.glob("sizeup-*.tar.gz")
    strays = stray_files(sdist, _run("git", "ls-files", "-z", cwd=root).split("\0"))
    if strays:
        raise CheckError(
            f"{sdist}: holds files that git does not know: {', '.join(strays[:5])}; remove them from {root}"
        )
    print(f"{sdist.name}: {sdist.stat().st_size / 1e3:.0f} kB")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        with tarfile.open(sdist) as archive:
            archive.extractall(work, filter="data")
        source = work / sdist.name.removesuffix(".tar.gz")
        _run(
            sys.executable, "-m", "build", "--wheel", "--no-isolation", "--skip-dependency-check",
            "-Cwheel.cmake=false", "-Cwheel.platlib=false", "-Cwheel.py-api=py3", "-o", dist, source,
        )  # fmt: skip
        for platform in platforms:
            build_native(source, platform, dist, work)
    check(dist)


def folder(dist: Path, target: Path, pythons: list[str], platforms: list[str], extras: str) -> None:
    """Collect the wheels for Python versions and platforms with all their dependencies, for hosts without network."""
    [version] = {path.name.split("-")[1] for path in dist.glob("sizeup-*.whl")}
    for platform in platforms:
        machine = platform.rpartition("x86_64")[1] or "aarch64"
        older = [tag.format(machine) for tag in OLDER_TAGS] if platform.startswith("manylinux") else []
        for python in pythons:
            _run(
                sys.executable, "-m", "pip", "download", "-q", "--only-binary=:all:", "--implementation", "cp",
                "--python-version", python, *(f"--platform={tag}" for tag in [platform, *older]),
                "--find-links", dist, "--find-links", target, "-d", target, f"sizeup{extras}=={version}",
            )  # fmt: skip
    wheels = list(target.glob("*.whl"))
    size = sum(path.stat().st_size for path in wheels)
    chosen = f"Python {', '.join(pythons)} on {', '.join(platforms)}"
    print(f"{target}: {len(wheels)} wheels for {chosen}, {size / 1e6:.1f} MB")


def main() -> int:
    """Run one of the three commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    building = commands.add_parser("build", help="build the sdist and all wheels, and check them")
    building.add_argument("dist", type=Path)
    building.add_argument("--platform", action="append", choices=PLATFORMS, help="only this one (default: all)")
    checking = commands.add_parser("check", help="check the wheels in a directory")
    checking.add_argument("dist", type=Path)
    collecting = commands.add_parser("folder", help="collect a wheel and its dependencies for hosts without network")
    collecting.add_argument("dist", type=Path)
    collecting.add_argument("target", type=Path)
    collecting.add_argument("--python", nargs="+", default=PYTHONS, metavar="3.N", help="default: %(default)s")
    collecting.add_argument("--platform", nargs="+", choices=PLATFORMS, default=["manylinux_2_17_x86_64"])
    collecting.add_argument("--extras", default="", metavar="[fleet]", help="optional parts, such as [fleet]")
    chosen = parser.parse_args()
    try:
        if chosen.command == "build":
            build(chosen.dist.resolve(), chosen.platform or list(PLATFORMS))
        elif chosen.command == "check":
            check(chosen.dist)
        else:
            folder(chosen.dist, chosen.target, chosen.python, chosen.platform, chosen.extras)
    except CheckError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
