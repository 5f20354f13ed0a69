"""Builds sizeup as one executable for each machine type: its own Python, the libraries and the probes in one file.

    python3 -m venv /tmp/build && /tmp/build/bin/pip install -r .ci/wheels-requirements.txt
    /tmp/build/bin/python .ci/wheels.py build dist       # the wheels that go into it
    /tmp/build/bin/python .ci/one_file.py dist           # dist/sizeup-x86_64 and dist/sizeup-aarch64; needs network
    /tmp/build/bin/python .ci/one_file.py dist --deb     # a Debian package of each of these

It holds a tree for glibc 2.17 or newer and one for musl, each a Python with the standard library linked into it, and
behind a small static program that unpacks the tree for this system once (``one_file.c``). Beside the file stands what
is in it, with versions and licenses, as CycloneDX (``sizeup-x86_64.cdx.json``). Python, zlib and libffi are built
from Debian's sources, of the version and hash below; the libraries are the wheels of the package index. The same
commit and the same wheels make the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import importlib.metadata
import importlib.util
import io
import json
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

PYTHON = "3.13.5"
SUITE = "trixie"
"""Of Debian, which has this version."""
SOURCES = {
    f"python3.13_{PYTHON}.orig.tar.xz": "93e583f243454e6e9e4588ca2c2662206ad961659863277afcdb96801647d640",
    "zlib_1.3.dfsg+really1.3.1.orig.tar.gz": "60dd315c07f616887caa029408308a018ace66e3d142726a97db164b3b8f69fb",
    "libffi_3.4.8.orig.tar.gz": "cbb7f0b3b095dc506387ec1e35b891bfb4891d05b90a495bc69a10f2293f80ff",
}
"""The unchanged archives of the authors, as Debian keeps them, and their SHA-256."""
LICENSES = {"python": "Python-2.0", "zlib": "Zlib", "libffi": "MIT", "musl": "MIT"}
"""Of what is linked in; a wheel says its own."""

LIBRARIES = {"glibc": ("linux-gnu.2.17", "manylinux_2_17"), "musl": ("linux-musl", "musllinux_1_2")}
"""What the compiler and the wheels call each C library."""
OLDER_TAGS = ("manylinux2014_{0}", "manylinux_2_12_{0}", "manylinux_2_5_{0}", "manylinux1_{0}", "musllinux_1_1_{0}")
MOST_BYTES = 45_000_000

_LEFT_OUT = (
    "_ssl", "_hashlib", "_lzma", "_bz2", "_sqlite3", "_curses", "_curses_panel", "_dbm", "_gdbm", "readline",
    "_tkinter", "_uuid", "nis", "_testcapi", "_testinternalcapi", "_testbuffer", "_testimportmultiple",
    "_testmultiphase", "_testsinglephase", "_testexternalinspection", "_testclinic", "_testclinic_limited",
    "_testlimitedcapi", "_xxtestfuzz", "xxlimited", "xxlimited_35", "xxsubtype", "_ctypes_test",
)  # fmt: skip
"""Modules of the standard library that sizeup does not use and that would need further libraries."""
_UNUSED = (
    "idlelib", "tkinter", "turtle.py", "turtledemo", "ensurepip", "lib2to3", "pydoc_data", "pydoc.py", "test",
    "unittest", "sqlite3", "curses", "dbm", "ssl.py", "config-*", "distutils", "venv", "wsgiref", "xmlrpc",
    "doctest.py", "antigravity.py", "this.py", "__phello__", "_pyrepl",
)  # fmt: skip
_FFI = {
    "x86_64": ("x86", "X86_64", ("ffi64.c", "unix64.S", "ffiw64.c", "win64.S")),
    "aarch64": ("aarch64", "AARCH64", ("ffi.c", "sysv.S")),
}
_FFI_CONFIG = """
#define EH_FRAME_FLAGS "a"
#define FFI_EXEC_STATIC_TRAMP 1
#define FFI_MMAP_EXEC_WRIT 1
#define HAVE_ALLOCA_H 1
#define HAVE_AS_CFI_PSEUDO_OP 1
#define HAVE_AS_X86_64_UNWIND_SECTION_TYPE 1
#define HAVE_AS_X86_PCREL 1
#define HAVE_HIDDEN_VISIBILITY_ATTRIBUTE 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_MEMCPY 1
#define HAVE_MMAP 1
#define HAVE_MMAP_ANON 1
#define HAVE_MMAP_FILE 1
#define HAVE_RO_EH_FRAME 1
#define HAVE_STDINT_H 1
#define HAVE_SYS_TYPES_H 1
#define SIZEOF_DOUBLE 8
#define SIZEOF_LONG_DOUBLE 16
#define SIZEOF_SIZE_T 8
#define STDC_HEADERS 1
#ifdef LIBFFI_ASM
#define FFI_HIDDEN(name) .hidden name
#else
#define FFI_HIDDEN __attribute__((visibility("hidden")))
#endif
"""
_ZLIB = (
    "adler32", "crc32", "deflate", "infback", "inffast", "inflate", "inftrees", "trees", "zutil", "compress",
    "uncompr",
)  # fmt: skip
_PLUGINS = '''"""Adds the plug-ins that a user installed to a program that ignores the other Pythons of its host."""
import os, sys
_data = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
_plugins = os.path.join(_data, "sizeup", "plugins")
try:
    _found = os.stat(_plugins)
except OSError:
    pass
else:
    if _found.st_uid in (0, os.geteuid()) and not _found.st_mode & 0o022:
        sys.path.append(_plugins)
'''
_LAUNCHER = """#!/bin/sh
SIZEUP_ONE_FILE=/usr/lib/sizeup/{name}
export SIZEUP_ONE_FILE
exec /usr/lib/sizeup/runtime/bin/python3 -I -m sizeup "$@"
"""
_CONTROL = """Package: sizeup
Version: {version}
Architecture: {machine}
Maintainer: The sizeup authors
Installed-Size: {kilobytes}
Section: admin
Priority: optional
Description: judge a Linux server before a database goes on it
 It shows what a server is, works out what it should carry, and measures what
 it does. Python, the libraries and the probes are inside.
"""
_HERE = Path(__file__).resolve().parent


class BuildError(Exception):
    """A step failed, or its result is not what it must be."""


@dataclass(frozen=True)
class Target:
    """A machine type with a C library, and where its parts are built."""

    machine: str
    library: str
    work: Path

    @property
    def tool(self) -> str:
        """What the compiler calls it."""
        return f"{self.machine}-{LIBRARIES[self.library][0]}"

    @property
    def wheels(self) -> str:
        """The platform tag of its wheels."""
        return f"{LIBRARIES[self.library][1]}_{self.machine}"

    @property
    def built(self) -> Path:
        """Where the Python is built."""
        return self.work / "python"


def run(*command: str | Path, cwd: Path | None = None, **variables: str) -> str:
    """Run a command; raise BuildError with the end of its output where it fails."""
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env={**os.environ, **variables}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise BuildError(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}")
    return done.stdout


def debian_mirror(settings: Path) -> str:
    """Return the address of Debian's archive in apt's settings, in the format of one line or of several."""
    for path in (settings / "sources.list", *sorted((settings / "sources.list.d").glob("*"))):
        text = path.read_text() if path.is_file() else ""
        found = re.search(r"^(?:deb|URIs:)\s(?:.*\s)?(\S+/debian)/?(?:\s|$)", text, re.MULTILINE)
        if found:
            return found[1]
    raise BuildError(f"{settings}: names no archive of Debian, whose sources are needed")


def fetch(folder: Path) -> None:
    """Fetch the sources that are not there by Debian's client, and check them."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(not (folder / name).exists() for name in SOURCES):
        lists = folder / "apt"
        (lists / "partial").mkdir(parents=True, exist_ok=True)
        mirror = debian_mirror(Path("/etc/apt"))
        keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
        (folder / "apt.list").write_text(f"deb-src [signed-by={keys}] {mirror} {SUITE} main\n")
        options = [
            f"-oDir::Etc::sourcelist={folder / 'apt.list'}", "-oDir::Etc::sourceparts=-",
            f"-oDir::State::lists={lists}", "-oAPT::Sandbox::User=root",
        ]  # fmt: skip
        run("apt-get", *options, "-q", "update")
        for name in SOURCES:
            if not (folder / name).exists():  # one by one: a signature may be gone from the mirror, the archive is not
                package = name.partition("_")[0]
                command = ["apt-get", *options, "-q", "--download-only", "source", f"{package}/{SUITE}"]
                subprocess.run(command, cwd=folder, check=False, capture_output=True)
    for name, known in SOURCES.items():
        if not (folder / name).exists():
            raise BuildError(f"{name}: not found by apt-get source; is {SUITE} still on the mirror?")
        found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        if found != known:
            raise BuildError(f"{name}: expected the SHA-256 {known}, found {found}")


def unpack(sources: Path, work: Path) -> dict[str, Path]:
    """Unpack the sources; return the directory of each."""
    found = {}
    for name in SOURCES:
        with tarfile.open(sources / name) as archive:
            top = archive.next().name.partition("/")[0]
            if not (work / top).exists():
                archive.extractall(work, filter="tar")
        found[name.partition("_")[0].rstrip("3.1")] = work / top
    return found


def _zig() -> Path:
    """Return the compiler's program: started a thousand times, and through its Python package each costs more."""
    found = importlib.util.find_spec("ziglang")
    if found is None or found.origin is None:
        raise BuildError("the compiler is not installed; pip install -r .ci/wheels-requirements.txt")
    return Path(found.origin).with_name("zig")


def tools(target: Target) -> dict[str, str]:
    """Write the compiler and its helpers as commands; return them as make names them."""
    target.work.mkdir(parents=True, exist_ok=True)
    dates = "-Wno-builtin-macro-redefined -D__DATE__='\"built\"' -D__TIME__='\"once\"'"
    dynamic = " -dynamic" if target.library == "musl" else ""
    options = {"CC": f"cc -target {target.tool}{dynamic} -g0 {dates}", "AR": "ar", "RANLIB": "ranlib"}
    found = {}
    for name, option in options.items():
        path = target.work / name.lower()
        path.write_text(f'#!/bin/sh\nexec "{_zig()}" {option} "$@"\n')
        path.chmod(0o755)
        found[name] = str(path)
    return found


def build_libraries(target: Target, sources: dict[str, Path]) -> Path:
    """Build libffi and zlib as archives for Python; return the directory with include and lib."""
    made, objects = target.work / "libraries", target.work / "objects"
    for path in (made / "lib", made / "include", objects):
        path.mkdir(parents=True, exist_ok=True)
    commands = tools(target)
    folder, name, files = _FFI[target.machine]
    ffi = sources["libffi"]
    header = (ffi / "include/ffi.h.in").read_text()
    for mark, value in {
        "VERSION": "3.4.8", "TARGET": name, "HAVE_LONG_DOUBLE": "1", "FFI_EXEC_TRAMPOLINE_TABLE": "0",
        "FFI_VERSION_STRING": "3.4.8", "FFI_VERSION_NUMBER": "30408",
    }.items():  # fmt: skip
        header = header.replace(f"@{mark}@", value)
    (made / "include/ffi.h").write_text(header)
    shutil.copy(ffi / "src" / folder / "ffitarget.h", made / "include")
    (objects / "fficonfig.h").write_text(_FFI_CONFIG)
    common = ("prep_cif.c", "types.c", "raw_api.c", "java_raw_api.c", "closures.c", "tramp.c")
    parts = [ffi / "src" / name for name in common] + [ffi / "src" / folder / name for name in files]
    includes = (objects, made / "include", ffi / "include", ffi / "src" / folder, ffi / "src")
    _archive(commands, "ffi", parts, made, objects, "-D_GNU_SOURCE", *(f"-I{path}" for path in includes))
    zlib = sources["zlib"]
    for header_name in ("zlib.h", "zconf.h"):
        shutil.copy(zlib / header_name, made / "include")
    parts = [zlib / f"{name}.c" for name in _ZLIB]
    _archive(commands, "z", parts, made, objects, "-D_LARGEFILE64_SOURCE=1", "-DHAVE_UNISTD_H")
    return made


def _archive(commands: dict[str, str], name: str, parts: list[Path], made: Path, objects: Path, *options: str) -> None:
    built = []
    for part in parts:
        built.append(objects / f"{name}-{part.name}.o")
        run(commands["CC"], "-O2", "-fPIC", "-w", *options, "-c", part, "-o", built[-1])
    run(commands["AR"], "rcs", made / f"lib/lib{name}.a", *built)


def build_python(target: Target, sources: dict[str, Path], builder: Path | None) -> None:
    """Configure and build Python with its modules linked in; ``builder`` runs what another machine type cannot."""
    made = build_libraries(target, sources)
    target.built.mkdir(exist_ok=True)
    machine = platform.machine()
    cross = [] if builder is None else [
        f"--host={target.machine}-linux-{'musl' if target.library == 'musl' else 'gnu'}",
        f"--build={machine}-linux-gnu", f"--with-build-python={builder}", "ac_cv_file__dev_ptmx=yes",
        "ac_cv_file__dev_ptc=no", "ac_cv_buggy_getaddrinfo=no",
    ]  # fmt: skip
    # The compiler's musl is 1.2.5; these are not in the older ones that Debian 12 and Alpine 3.19 have.
    newer = ["ac_cv_func_preadv2=no", "ac_cv_func_pwritev2=no"] if target.library == "musl" else []
    commands = tools(target)
    if target.library == "musl":  # by which configure tells musl, and which the compiler's own stdarg.h hides
        commands["CPP"] = f"{commands['CC']} -E -D__DEFINED_va_list"
    variables = {
        **commands, "MODULE_BUILDTYPE": "static", "LDFLAGS": f"-L{made / 'lib'} -s",
        "CPPFLAGS": f"-I{made / 'include'}", "LIBFFI_CFLAGS": f"-I{made / 'include'}",
        "LIBFFI_LIBS": str(made / "lib/libffi.a"), "ZLIB_CFLAGS": f"-I{made / 'include'}",
        "ZLIB_LIBS": str(made / "lib/libz.a"),
    }  # fmt: skip
    # By its relative path, which the program holds, so that the bytes are the same wherever it is built.
    configure = os.path.relpath(sources["python"] / "configure", target.built)
    run(
        configure, "-q", "--prefix=/sizeup", "--disable-test-modules", "--with-ensurepip=no",
        *cross, *newer, *(f"py_cv_module_{name}=n/a" for name in _LEFT_OUT), cwd=target.built, **variables,
    )  # fmt: skip
    # "platform" describes the build in a module of its own; the other targets are for tests and installation.
    run("make", f"-j{os.cpu_count()}", "python", "platform", cwd=target.built)


def license_texts(sources: dict[str, Path]) -> dict[str, Path]:
    """Return the text of the license of each part that is linked in."""
    return {name: sources[name] / "LICENSE" for name in sources} | {"musl": _zig().parent / "lib/libc/musl/COPYRIGHT"}


def tree(target: Target, sources: dict[str, Path], dist: Path, builder: Path) -> Path:
    """Return the directory that is packed: Python without what is not used, sizeup and its libraries."""
    base = target.work / "tree"
    shutil.rmtree(base, ignore_errors=True)
    library = base / "lib/python3.13"
    shutil.copytree(sources["python"] / "Lib", library, ignore=shutil.ignore_patterns("__pycache__", *_UNUSED))
    [described] = target.built.glob("build/lib.*/_sysconfigdata_*.py")
    (library / described.name).write_text(described.read_text().replace(str(target.work.parent), "/build"))
    (library / "lib-dynload").mkdir()  # by which Python tells where it is
    (base / "bin").mkdir()
    shutil.copy(target.built / "python", base / "bin/python3")
    (base / "licenses").mkdir()
    for name, text in license_texts(sources).items():
        shutil.copy(text, base / "licenses" / name)
    [version] = {path.name.split("-")[1] for path in dist.glob("sizeup-*.whl")}
    older = [tag.format(target.machine) for tag in OLDER_TAGS if tag.startswith(target.wheels[:6])]
    packages = library / "site-packages"
    packages.mkdir(exist_ok=True)
    run(
        sys.executable, "-m", "pip", "install", "-q", "--no-compile", "--only-binary=:all:", "--implementation", "cp",
        "--python-version", "3.13", *(f"--platform={tag}" for tag in (target.wheels, *older)),
        "--find-links", dist, "--target", packages, f"sizeup=={version}",
    )  # fmt: skip
    shutil.rmtree(packages / "bin", ignore_errors=True)  # scripts with a path of this machine
    (packages / "sitecustomize.py").write_text(_PLUGINS)
    # By hash and never checked again: a tree is complete or not there, and times of files are all the same.
    run(
        builder, "-I", "-m", "compileall", "-q", "-j0", "--invalidation-mode", "unchecked-hash", "-s", base,
        "-p", "/sizeup", library,
    )  # fmt: skip
    return base


def pack(base: Path) -> bytes:
    """Return a directory as a compressed archive without times, owners and order of this machine."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile("", "wb", 8, packed, mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for path in sorted(base.rglob("*")):
            member = tarfile.TarInfo(path.relative_to(base).as_posix())
            member.mode = 0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644
            if path.is_dir():
                member.type = tarfile.DIRTYPE
                archive.addfile(member)
            else:
                member.size = path.stat().st_size
                with path.open("rb") as content:
                    archive.addfile(member, content)
    return packed.getvalue()


def contents(packages: Path) -> bytes:
    """Return the list of what is packed, as CycloneDX 1.6 in JSON: name, version and license of each part.

    Raises:
        BuildError: a package names no license.

    """
    parts = {"musl": "1.2.5"}
    for name in SOURCES:
        package, _, version = name.partition("_")
        parts[package.rstrip("3.1")] = version.partition(".orig")[0].rpartition("+really")[2].removesuffix(".dfsg")
    listed = [(name, version, f"pkg:generic/{name}@{version}", LICENSES[name]) for name, version in parts.items()]
    for found in importlib.metadata.distributions(path=[str(packages)]):
        told = found.metadata
        text = told.get("License-Expression") or (told.get("License") or "").strip().partition("\n")[0]
        classifiers = [line.rpartition(" :: ")[2] for line in told.get_all("Classifier", []) if "License ::" in line]
        if not (text or classifiers):
            raise BuildError(f"{told['Name']}: its metadata names no license")
        package = f"pkg:pypi/{told['Name'].lower()}@{told['Version']}"
        listed.append((told["Name"], told["Version"], package, text or ", ".join(classifiers)))
    components = [
        {"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url,
         "licenses": [{"license": {"name": license_name}}]}
        for name, version, url, license_name in sorted(listed, key=lambda part: part[0].lower())
    ]  # fmt: skip
    bill = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": components}
    return json.dumps(bill, indent=1).encode() + b"\n"


def front(machine: str, sources: dict[str, Path], work: Path) -> bytes:
    """Return the static program that stands first in the file."""
    zlib = sources["zlib"]
    parts = [zlib / f"{name}.c" for name in ("adler32", "crc32", "inffast", "inflate", "inftrees", "zutil")]
    made = work / f"front-{machine}"
    run(
        _zig(), "cc", "-target", f"{machine}-linux-musl", "-static", "-Os", "-s", "-w",
        f"-I{zlib}", _HERE / "one_file.c", *parts, "-o", made,
    )  # fmt: skip
    return made.read_bytes()


def write_file(path: Path, program: bytes, archives: dict[str, bytes]) -> None:
    """Write the front, the archives and their table."""
    offset, table = len(program), b""
    for name, content in archives.items():
        digest = hashlib.sha256(content).digest()
        table += struct.pack("<16sQQ32s", name.encode(), offset, len(content), digest)
        offset += len(content)
    with path.open("wb") as file:
        _write(file, program, *archives.values(), table, struct.pack("<Q8s", len(archives), b"sizeup1"))
    path.chmod(0o755)
    if path.stat().st_size > MOST_BYTES:
        raise BuildError(f"{path}: {path.stat().st_size:,} bytes, more than {MOST_BYTES:,}")


def _write(file: IO[bytes], *parts: bytes) -> None:
    for part in parts:
        file.write(part)


def read_archives(path: Path) -> dict[str, bytes]:
    """Return the archives in a file; raises BuildError where it is no file of ours or damaged."""
    content = path.read_bytes()
    count, magic = struct.unpack("<Q8s", content[-16:])
    if magic.rstrip(b"\0") != b"sizeup1":
        raise BuildError(f"{path}: is no executable of sizeup")
    found = {}
    for name, offset, size, digest in struct.iter_unpack("<16sQQ32s", content[-16 - 64 * count : -16]):
        archive = content[offset : offset + size]
        if hashlib.sha256(archive).digest() != digest:
            raise BuildError(f"{path}: is damaged")
        found[name.rstrip(b"\0").decode()] = archive
    return found


def debian_package(path: Path) -> Path:
    """Make a Debian package of a file: its tree for glibc, and the file itself, which ``--target`` sends."""
    date = os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct", cwd=_HERE).strip()
    machine = path.name.removeprefix("sizeup-")
    debian = {"x86_64": "amd64", "aarch64": "arm64"}[machine]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        home, about = root / "usr/lib/sizeup", root / "usr/share/doc/sizeup"
        for made in (home, about, root / "usr/bin", root / "usr/share/man/man1", root / "DEBIAN"):
            made.mkdir(parents=True)
        with tarfile.open(fileobj=io.BytesIO(read_archives(path)["glibc"])) as archive:
            archive.extractall(home / "runtime", filter="tar")
        shutil.copy(path, home)
        (root / "usr/bin/sizeup").write_text(_LAUNCHER.format(name=path.name))
        (root / "usr/bin/sizeup").chmod(0o755)
        packages = home / "runtime/lib/python3.13/site-packages"
        (about / "contents.cdx.json").write_bytes(contents(packages))
        shutil.copy(_HERE.parent / "LICENSE", about / "copyright")
        if machine == platform.machine():
            manual = run(home / "runtime/bin/python3", "-I", "-m", "sizeup", "help", "man")
            (root / "usr/share/man/man1/sizeup.1.gz").write_bytes(gzip.compress(manual.encode(), mtime=0))
        [version] = [found.name.split("-")[1].removesuffix(".dist") for found in packages.glob("sizeup-*.dist-info")]
        size = sum(file.stat().st_size for file in root.rglob("*") if file.is_file()) // 1024
        control = _CONTROL.format(version=version, machine=debian, kilobytes=size)
        (root / "DEBIAN/control").write_text(control)
        made = path.parent / f"sizeup_{version}_{debian}.deb"
        run("chmod", "-R", "u=rwX,go=rX", root)
        complete = made.with_suffix(".new")
        # Most of it is compressed already; xz takes minutes.
        run("dpkg-deb", "--root-owner-group", "-Zgzip", "--build", root, complete, SOURCE_DATE_EPOCH=date)
        complete.replace(made)
    return made


def main() -> int:
    """Build the files that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dist", type=Path, help="directory of the wheels, where the files are written")
    parser.add_argument("--machine", action="append", choices=list(_FFI), help="only this one (default: both)")
    parser.add_argument("--library", action="append", choices=list(LIBRARIES), help="only this one (default: both)")
    parser.add_argument("--work", type=Path, help="keep what is built here, and do not build it again")
    parser.add_argument("--deb", action="store_true", help="build nothing: make Debian packages of the files in DIST")
    chosen = parser.parse_args()
    dist = chosen.dist.resolve()
    if chosen.deb:
        try:
            for machine in chosen.machine or _FFI:
                package = debian_package(dist / f"sizeup-{machine}")
                print(f"{package}: {package.stat().st_size / 1e6:.1f} MB")
        except (BuildError, OSError) as error:
            print(error, file=sys.stderr)
            return 1
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        work = (chosen.work or Path(scratch)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        try:
            fetch(work / "sources")
            sources = unpack(work / "sources", work)
            native = Target(platform.machine(), "glibc", work / f"{platform.machine()}-glibc")
            builder = native.built / "python"
            if not builder.exists():
                build_python(native, sources, None)
            for machine in chosen.machine or _FFI:
                archives = {}
                for library in chosen.library or LIBRARIES:
                    target = Target(machine, library, work / f"{machine}-{library}")
                    if not (target.built / "python").exists():
                        build_python(target, sources, builder)
                    archives[library] = pack(tree(target, sources, dist, builder))
                    print(f"{machine} {library}: {len(archives[library]) / 1e6:.1f} MB")
                path = dist / f"sizeup-{machine}"
                path.with_suffix(".cdx.json").write_bytes(contents(target.work / "tree/lib/python3.13/site-packages"))
                write_file(path, front(machine, sources, work), archives)
                print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, {hashlib.sha256(path.read_bytes()).hexdigest()}")
        except (BuildError, OSError) as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
