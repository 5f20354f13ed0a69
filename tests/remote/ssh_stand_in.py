"""A stand-in for ssh that runs the command here, and a wheel whose sizeup does what a test wants."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import zipfile
from pathlib import Path

from consoles import ended, records
from sizeup.session.records import ENCODER

_SIZEUP = """
import os, sys, time
def main():
    private = os.getcwd()
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


def make_wheel(folder: Path, *, behavior: str = "pass", status: int = 0, content: bytes | None = None) -> Path:
    """Write a wheel of a sizeup that prints a session, records where it ran, and behaves as told."""
    folder.mkdir(exist_ok=True)
    path = folder / f"sizeup-9.0-py3-none-linux_{os.uname().machine}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("sizeup/__init__.py", "")
        wheel.writestr("sizeup/__main__.py", _SIZEUP.replace("{behavior}", behavior).replace("{status}", str(status)))
        wheel.writestr("sizeup/session", session_lines() if content is None else content)
    return path


def make_ssh(folder: Path, *, python: str | None = None, before: str = "") -> str:
    """Write a program that takes ssh's arguments and runs the last one; ``before`` is shell code that runs first.

    ``python`` is what the host finds as ``python3``: by default the interpreter of the tests, without its packages.
    """
    programs = folder / "programs"
    programs.mkdir(parents=True)
    for name in ("sh", "cat"):
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
