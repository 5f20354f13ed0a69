"""Recorded machines of other projects, with what each project publishes for them.

They are looked for in ``$SIZEUP_CORPUS`` (a folder with ``expected.json`` and ``machines/`` or
``machines.tar.xz``), else beside the repository. They are never part of it, and tests that want
them skip with the reason where they are not there.
"""

import json
import os
import tarfile
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sizeup.discovery.machine import discover
from sizeup.model.machine import Machine

_BESIDE = Path(__file__).parents[2] / "shared" / "corpus"


@cache
def _folder() -> Path | None:
    folder = Path(os.environ.get("SIZEUP_CORPUS") or _BESIDE)
    return folder if (folder / "expected.json").exists() else None


@cache
def _machines() -> Path | None:
    folder = _folder()
    if folder is None:
        return None
    if (folder / "machines").is_dir():
        return folder
    archive = folder / "machines.tar.xz"
    if not archive.exists():
        return None
    unpacked = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sizeup-corpus"
    if not (unpacked / "machines").is_dir():
        unpacked.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=unpacked) as scratch:
            with tarfile.open(archive) as tar:
                tar.extractall(scratch, filter="fully_trusted")  # links that lead nowhere are part of it
            with suppress(OSError):  # where another process was faster, its folder is not empty
                (Path(scratch) / "machines").rename(unpacked / "machines")
        assert (unpacked / "machines").is_dir()
    return unpacked


@cache
def expectations() -> dict[str, dict[str, Any]]:
    """All recordings by name; empty where there are none."""
    folder = _folder()
    return {} if folder is None else json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def recorded(name: str) -> str:
    """The root of one recording; skips the test where it is not there."""
    machines = _machines()
    if machines is None:
        pytest.skip("the recorded machines are not here: set SIZEUP_CORPUS to their folder")
    return str(machines / expectations()[name]["root"])


@cache
def recorded_machine(name: str) -> Machine:
    """The machine of one recording, read once."""
    return discover(recorded(name))
