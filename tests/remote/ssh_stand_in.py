"""A stand-in for ssh that runs the command here, and a wheel or one file whose sizeup does what a test wants."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import pytest

from consoles import ended, records
from sizeup.session.records import ENCODER

_SIZEUP = """
import os, sys, time
def main():
    private = os.environ["TMPDIR"]
    sys.stdout.buffer.write(open(os.path.join(os.path.dirname(__file__), "session"), "rb").read())
    sys.stdout.flush()
    open(os.environ["TRACE"], "a").write(f"{private}\\n{sys.argv[1:]}\\n")
    {behavior}
    return {status}
"""
WAIT = "sys.stdin.read(); open(os.environ['TRACE'], 'a').write('input ended\\n')"
"""Wait for the end of the input, as a run under --control does."""


def session_lines(*, whole: bool = True) -> bytes:
    """Return a session as a run writes it; without its end if not ``whole``."""
    written = [*records(), *(ended() if whole else [])]
    return b"".join(ENCODER.encode(record) + b"\n" for record in written)


def _main(behavior: str, status: int) -> str:
    return _SIZEUP.replace("{behavior}", behavior).replace("{status}", str(status))


@cache
def _executable() -> bytes:
    """A program that becomes the one that $STAND_IN names."""
    source = "int execv(const char *, char **); char *getenv(const char *);"
    source += 'int main(int n, char **a) { return n + execv(getenv("STAND_IN"), a); }'
    if shutil.which("cc") is None:
        pytest.skip("no C compiler to build an executable with")
    with tempfile.TemporaryDirectory() as folder:
        built = os.path.join(folder, "built")
        subprocess.run(["cc", "-x", "c", "-", "-o", built], input=source, text=True, check=True)
        return Path(built).read_bytes()


def make_one_file(
    folder: Path, *, behavior: str = "pass", status: int = 0, content: bytes | None = None, size: int = 0
) -> Path:
    """Write an executable that behaves as ``make_wheel`` describes, where ``STAND_IN`` names ``script`` beside it."""
    folder.mkdir(exist_ok=True)
    script = folder / "script"
    script.write_text(f"#!{sys._base_executable}\n{_main(behavior, status)}\nsys.exit(main())\n")
    script.chmod(0o755)
    (folder / "session").write_bytes(session_lines() if content is None else content)
    path = folder / "sizeup-one"
    path.write_bytes(_executable() + bytes(size) + b"sizeup1\0")
    return path


def make_wheel(folder: Path, *, behavior: str = "pass", status: int = 0, content: bytes | None = None) -> Path:
    """Write a wheel of a sizeup that prints a session, records where it ran, and behaves as told."""
    folder.mkdir(exist_ok=True)
    path = folder / f"sizeup-9.0-py3-none-linux_{os.uname().machine}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("sizeup/__init__.py", "")
        wheel.writestr("sizeup/__main__.py", _main(behavior, status))
        wheel.writestr("sizeup/session", session_lines() if content is None else content)
    return path


def make_ssh(folder: Path, *, python: str | None = None, before: str = "") -> str:
    """Write a program that takes ssh's arguments and runs the last one; ``before`` is shell code that runs first.

    ``python`` is what the host finds as ``python3``: by default the interpreter of the tests, without its packages.
    """
    programs = folder / "programs"
    programs.mkdir(parents=True)
    for name in ("sh", "cat", "chmod", "df", "head", "mkfifo", "mktemp", "rm", "sleep", "uname", "wc"):
        (programs / name).symlink_to(shutil.which(name) or name)
    found = programs / "python3"
    found.write_text(f'#!/bin/sh\nexec "{sys._base_executable}" "$@"\n' if python is None else python)
    found.chmod(found.stat().st_mode | stat.S_IXUSR)
    ssh = folder / "ssh"
    ssh.write_text(
        f'#!/bin/sh\nPATH="{programs}"; export PATH\n{before}\nfor command; do :; done\neval "exec $command"\n'
    )
    ssh.chmod(0o755)
    return str(ssh)
