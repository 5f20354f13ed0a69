"""The program in front of the one-file executable, compiled here before a small runtime of the tests."""

import gzip
import importlib.util
import json
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from remote.ssh_stand_in import make_ssh

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.ci


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release_one_file", ROOT / ".ci/one_file.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


one_file = _script()


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The program, by this host's compiler and zlib."""
    made = tmp_path_factory.mktemp("front") / "front"
    command = ["cc", "-O1", "-Wall", "-Wextra", "-Werror", str(ROOT / ".ci/one_file.c"), "-lz", "-o", str(made)]
    if shutil.which("cc") is None or b"zlib.h" in subprocess.run(
        ["cc", "-E", "-x", "c", "-"], input=b"#include <zlib.h>\n", capture_output=True, check=False
    ).stderr:  # fmt: skip
        pytest.skip("no C compiler, or no header of zlib (zlib1g-dev), to build the program with")
    subprocess.run(command, check=True)
    return made.read_bytes()


def runtime(folder: Path, says: str = "runs") -> Path:
    """A tree whose Python prints its arguments, with a long path, an empty file and one of many blocks."""
    base = folder / "tree"
    (base / "bin").mkdir(parents=True)
    (base / "bin/python3").write_text(f'#!/bin/sh\necho {says} "$@" from "$SIZEUP_ONE_FILE"\n')
    (base / "bin/python3").chmod(0o755)
    deep = base / "lib" / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    (deep / "empty").touch()
    (deep / "large").write_bytes(os.urandom(300_001))
    return base


@pytest.fixture
def program(front: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "sizeup"
    one_file.write_file(path, front, {"musl": b"other", "glibc": one_file.pack(runtime(tmp_path))})
    return path


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    """Where the runtimes go; unmounted afterwards where a test mounts it."""
    path = tmp_path / "state/sizeup/runtime"
    yield path
    subprocess.run(["umount", "-l", tmp_path / "state"], check=False, capture_output=True)


def start(program: Path, folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *arguments], env={"XDG_STATE_HOME": str(folder / "state"), "PATH": os.environ["PATH"], **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The one line of a start that was refused."""
    assert (done.returncode, done.stdout) == (3, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("sizeup: ")
    return line


def test_it_unpacks_once_and_becomes_its_python(program: Path, state: Path, tmp_path: Path) -> None:
    done = start(program, tmp_path, "detect", "--json")
    assert (done.stdout, done.stderr) == (f"runs -I -m sizeup detect --json from {program}\n", "")
    [tree] = state.iterdir()
    for path in (tmp_path / "tree").rglob("*"):
        unpacked = tree / path.relative_to(tmp_path / "tree")
        assert path.is_dir() or unpacked.read_bytes() == path.read_bytes()
        assert bool(unpacked.stat().st_mode & stat.S_IXUSR) == bool(path.stat().st_mode & stat.S_IXUSR)
    assert stat.S_IMODE(state.stat().st_mode) == 0o700

    (tree / "bin/python3").write_text("#!/bin/sh\necho kept\n")
    assert start(program, tmp_path).stdout == "kept\n"


def test_first_starts_at_once_leave_one_tree(program: Path, state: Path, tmp_path: Path) -> None:
    environment = {"XDG_STATE_HOME": str(tmp_path / "state"), "PATH": os.environ["PATH"]}
    started = [
        subprocess.Popen([program, str(number)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for number in range(8)
    ]
    said = [process.communicate() for process in started]
    expected = [(f"runs -I -m sizeup {number} from {program}\n".encode(), b"") for number in range(8)]
    assert said == expected
    assert len(list(state.iterdir())) == 1


@pytest.mark.parametrize("place", [-100_000, -20], ids=["an archive", "the hash in the table"])
def test_a_damaged_file_is_refused_and_leaves_nothing(program: Path, state: Path, tmp_path: Path, place: int) -> None:
    content = bytearray(program.read_bytes())
    content[place] ^= 1
    program.write_bytes(content)
    assert "copy it again" in refused(start(program, tmp_path))
    assert not state.exists() or not list(state.iterdir())


def test_a_file_that_was_cut_is_refused(program: Path, tmp_path: Path) -> None:
    content = program.read_bytes()
    program.write_bytes(content[: len(content) // 2])
    assert "is cut or damaged; copy it again" in refused(start(program, tmp_path))


def test_an_archive_that_ends_early_leaves_nothing(front: bytes, state: Path, tmp_path: Path) -> None:
    """Its hash agrees: what was packed is already short."""
    path = tmp_path / "sizeup"
    one_file.write_file(path, front, {"glibc": one_file.pack(runtime(tmp_path))[:-5000]})
    assert "SIZEUP_RUNTIME" in refused(start(path, tmp_path))
    assert not list(state.iterdir())


def test_without_a_directory_for_it_the_variable_is_named(program: Path, tmp_path: Path) -> None:
    assert "SIZEUP_RUNTIME" in refused(start(program, tmp_path, XDG_STATE_HOME="", HOME=""))
    assert "absolute path" in refused(start(program, tmp_path, SIZEUP_RUNTIME="here"))
    (tmp_path / "file").touch()
    assert "SIZEUP_RUNTIME" in refused(start(program, tmp_path, SIZEUP_RUNTIME=str(tmp_path / "file/below")))
    assert start(program, tmp_path, SIZEUP_RUNTIME=str(tmp_path / "named")).returncode == 0
    assert len(list((tmp_path / "named").iterdir())) == 1


def test_a_directory_that_others_may_change_is_refused(program: Path, state: Path, tmp_path: Path) -> None:
    state.mkdir(parents=True)
    state.chmod(0o777)
    assert "another user could change" in refused(start(program, tmp_path))


def test_old_runtimes_are_removed_and_those_in_use_stay(program: Path, state: Path, tmp_path: Path) -> None:
    for name in ("a" * 32, "b" * 32, ".new-1-killed"):
        (state / name / "bin").mkdir(parents=True)
        (state / name / "bin/python3").touch()
    state.chmod(0o700)
    old = time.time() - 31 * 86400
    for name in ("a" * 32, ".new-1-killed"):
        os.utime(state / name, (old, old))
    assert start(program, tmp_path).returncode == 0
    kept = {path.name for path in state.iterdir()}
    assert len(kept) == 2
    assert "b" * 32 in kept

    own = state / (kept - {"b" * 32}).pop()
    os.utime(own, (old, old))
    assert start(program, tmp_path).returncode == 0
    assert own.stat().st_mtime > old + 1


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")
@pytest.mark.parametrize(
    ("options", "said"),
    [("size=64k", "No space left on device"), ("noexec", "is mounted noexec"), ("ro", "Read-only file system")],
)
def test_a_file_system_that_cannot_serve(program: Path, state: Path, tmp_path: Path, options: str, said: str) -> None:
    (tmp_path / "state").mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", f"mode=700,{options}", "none", str(tmp_path / "state")]
    if subprocess.run(mounted, check=False, capture_output=True).returncode:
        pytest.skip("no permission to mount here")
    line = refused(start(program, tmp_path))
    assert said in line
    assert "SIZEUP_RUNTIME" in line
    assert not state.exists() or not list(state.iterdir())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sources.list", "# deb http://old.example/debian bookworm main\ndeb http://m.example/debian/ bookworm main\n"),
        ("sources.list", "deb [arch=amd64 signed-by=/k.gpg] http://m.example/debian bookworm main\n"),
        ("sources.list.d/debian.sources", "Types: deb\nURIs: http://m.example/debian\nSuites: trixie\n"),
    ],
)
def test_the_archive_is_the_one_that_apt_uses(name: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(one_file.BuildError, match="names no archive of Debian"):
        one_file.debian_mirror(tmp_path)
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list.d/other.list").write_text("deb http://other.example/debian-security trixie main\n")
    (tmp_path / name).write_text(text)
    assert one_file.debian_mirror(tmp_path) == "http://m.example/debian"


def test_packed_twice_the_bytes_are_equal(tmp_path: Path) -> None:
    base = runtime(tmp_path)
    first = one_file.pack(base)
    for path in sorted(base.rglob("*"), reverse=True):
        os.utime(path, (0, 0))
    (base / "bin/python3").chmod(0o711)
    assert one_file.pack(base) == first
    assert b"tree" not in gzip.decompress(first)


def test_the_contents_name_versions_and_licenses(tmp_path: Path) -> None:
    def install(name: str, *lines: str) -> None:
        place = tmp_path / f"{name}-1.dist-info"
        place.mkdir()
        (place / "METADATA").write_text("\n".join(["Metadata-Version: 2.4", f"Name: {name}", "Version: 1", *lines, ""]))

    install("one", "License-Expression: MIT")
    install("two", "Classifier: License :: OSI Approved :: BSD License")

    parts = {part["name"]: part for part in json.loads(one_file.contents(tmp_path))["components"]}

    assert {name: part["licenses"][0]["license"]["name"] for name, part in parts.items()} == {
        "libffi": "MIT", "musl": "MIT", "one": "MIT", "python": "Python-2.0", "two": "BSD License", "zlib": "Zlib",
    }  # fmt: skip
    assert (parts["python"]["version"], parts["zlib"]["version"]) == (one_file.PYTHON, "1.3.1")

    install("three")
    with pytest.raises(one_file.BuildError, match="three: its metadata names no license"):
        one_file.contents(tmp_path)


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is not installed")
def test_the_package_for_debian_holds_the_tree_and_the_file(front: bytes, tmp_path: Path) -> None:
    """Its command starts the Python inside, and names the file for --target."""
    base = runtime(tmp_path)
    about = base / "lib/python3.13/site-packages/sizeup-1.5.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Name: sizeup\nVersion: 1.5\nLicense: Apache-2.0\n")
    machine = os.uname().machine
    path = tmp_path / f"sizeup-{machine}"
    one_file.write_file(path, front, {"musl": b"other", "glibc": one_file.pack(base)})

    made = one_file.debian_package(path)
    first = made.read_bytes()
    assert one_file.debian_package(path).read_bytes() == first

    unpacked = tmp_path / "unpacked"
    subprocess.run(["dpkg-deb", "--raw-extract", made, unpacked], check=True)
    assert "Version: 1.5\n" in (unpacked / "DEBIAN/control").read_text()
    home = unpacked / "usr/lib/sizeup"
    assert (home / path.name).read_bytes() == path.read_bytes()
    command = (unpacked / "usr/bin/sizeup").read_text().replace("/usr/lib/sizeup", str(home))
    shown = subprocess.run(["sh", "-c", command, "sh", "a b"], capture_output=True, text=True, check=True).stdout
    assert shown == f"runs -I -m sizeup a b from {home / path.name}\n"
    assert gzip.decompress((unpacked / "usr/share/man/man1/sizeup.1.gz").read_bytes()).startswith(b"runs -I -m sizeup")

    path.write_bytes(path.read_bytes()[:-3000] + b"?" + path.read_bytes()[-2999:])
    with pytest.raises(one_file.BuildError, match="is damaged"):
        one_file.debian_package(path)


@pytest.mark.long
def test_the_file_is_built_and_measures_a_host_without_python(tmp_path: Path) -> None:
    """SIZEUP_DIST names a directory with a file that is built already."""
    dist = Path(os.environ.get("SIZEUP_DIST") or tmp_path / "dist")
    machine = os.uname().machine
    if not (dist / f"sizeup-{machine}").exists():
        if importlib.util.find_spec("ziglang") is None:
            pytest.skip("needs .ci/wheels-requirements.txt installed, or SIZEUP_DIST")
        for script, *options in (["wheels.py", "build"], ["one_file.py", f"--machine={machine}"]):
            subprocess.run([sys.executable, ROOT / ".ci" / script, *options, dist], check=True)
    ssh = make_ssh(tmp_path / "bin")
    (tmp_path / "bin/programs/python3").unlink()
    (tmp_path / "host").mkdir()
    environment = {
        "HOME": str(tmp_path), "TMPDIR": str(tmp_path / "host"), "PATH": f"{Path(ssh).parent}:{os.environ['PATH']}",
    }  # fmt: skip

    done = subprocess.run(
        [dist / f"sizeup-{machine}", "run", "--target", "db01", "--plan", "quick", "--mount", tmp_path, "--full-load",
         "-o", tmp_path / "sessions"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert "of 1 host measured\n" in done.stdout, done.stderr
    [session] = (tmp_path / "sessions").iterdir()
    outcomes = {
        line["step"]: line["outcome"]["status"]
        for line in map(json.loads, session.read_text().splitlines())
        if line["kind"] == "outcome"
    }
    assert outcomes.keys() == {"clock.cost", "memory.latency.dram-thp", "io.direct.survey", "io.commit"}
    assert set(outcomes.values()) <= {"ok", "not-converged", "timed-out"}  # the last two on a busy host
    assert not list((tmp_path / "host").iterdir())
    [described] = tmp_path.glob(".local/state/sizeup/runtime/*/lib/python3.13/_sysconfigdata_*.py")
    assert "'CC': '/build/" in described.read_text(), "where it was built is no part of the file"
