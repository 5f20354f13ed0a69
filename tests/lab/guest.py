"""What a guest of the lab gets: the program as it is here, what it needs, and this suite."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import shutil
from pathlib import Path

TESTS = Path(__file__).parents[1]
LAB = Path(os.environ.get("SIZEUP_LAB") or TESTS.parents[1] / "shared" / "lab")
DISTRIBUTIONS = (
    "sizeup", "msgspec", "cffi", "pycparser", "platformdirs", "psutil", "py-cpuinfo", "pyudev", "rich", "pygments",
    "markdown-it-py", "mdurl", "pytest", "pluggy", "iniconfig", "packaging", "pyte", "wcwidth",
)  # fmt: skip
"""What the program and the suite need there."""
PACKAGES = ("sizeup", "sizeup_null", "sizeup_memory", "sizeup_clock", "sizeup_direct_io")


def fill_site(site: Path) -> None:
    """Copy the program as it is here, and what it needs, for the Python of the guest."""
    site.mkdir(parents=True)
    for name in DISTRIBUTIONS:
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
    for hook in (*site.glob("_sizeup_editable.py"), *site.glob("*.pth")):
        hook.unlink()


def fill_guest(folder: Path) -> None:
    """The folder to hand to ``run-guest --in``."""
    fill_site(folder / "site")
    shutil.copytree(TESTS, folder / "tests", ignore=shutil.ignore_patterns("__pycache__", "machines", "recordings"))
