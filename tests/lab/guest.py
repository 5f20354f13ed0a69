"""What a guest of the lab gets: the program as it is here, what it needs, and this suite."""

import importlib
import importlib.metadata
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TESTS = Path(__file__).parents[1]
LAB = Path(os.environ.get("SIZEUP_LAB") or TESTS.parents[1] / "shared" / "lab")
NEEDED = ("sizeup", "pytest", "pyte", "hypothesis")
"""The program, and what of its ``test`` extra the suite needs there."""
PACKAGES = ("sizeup", "sizeup_null", "sizeup_memory", "sizeup_clock", "sizeup_direct_io", "sizeup_net", "sizeup_nfs")


def with_dependencies(names: Iterable[str]) -> tuple[str, ...]:
    """Return these distributions and all that they need, directly or not, as the metadata of each says."""
    found: set[tuple[str, str]] = set()
    waiting = [(name, "") for name in names]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in found:
            continue
        found.add((name, extra))
        for text in importlib.metadata.requires(name) or ():
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                waiting.extend((canonicalize_name(needed.name), one) for one in ("", *needed.extras))
    return tuple(sorted({name for name, _ in found}))


def fill_site(site: Path) -> None:
    """Copy the program as it is here, and what it needs, for the Python of the guest."""
    site.mkdir(parents=True)
    for name in with_dependencies(NEEDED):
        distribution = importlib.metadata.distribution(name)
        for file in distribution.files or ():
            source = Path(str(distribution.locate_file(file)))
            if ".." not in file.parts and source.is_file() and source.suffix != ".pyc":
                target = site / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
    for name in PACKAGES:
        source = Path(importlib.import_module(name).__file__ or "").parent
        shutil.copytree(source, site / name, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    for hook in (*site.glob("_editable_*.py"), *site.glob("*.pth")):
        hook.unlink()


def fill_guest(folder: Path) -> None:
    """The folder to hand to ``run-guest --in``."""
    fill_site(folder / "site")
    shutil.copytree(TESTS, folder / "tests", ignore=shutil.ignore_patterns("__pycache__", "machines", "recordings"))


def skip_without_lab() -> None:
    """Skip the test where the virtual machines are not."""
    if not (LAB / "run-guest").exists():
        pytest.skip("the lab is not here: set SIZEUP_LAB to its folder")


def run_guest(profile: str, given: Path, out: Path, *inside: str, lab: Path = LAB, minutes: int = 10) -> Path:
    """Run a command in a guest that finds ``given`` below ``/guest/in``; return where its ``$OUT`` came back."""
    command = [lab / "run-guest", "--in", given, "--out", out, "--timeout", str(60 * minutes), "--boot-timeout", "900"]
    asked = [*command, profile, "--", *inside]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=60 * minutes + 1200, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return out
