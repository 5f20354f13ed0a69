"""A directory in which somebody left modules for whoever starts Python there."""

import sys
from importlib.metadata import packages_distributions
from pathlib import Path


def package_names() -> set[str]:
    """Every module and package that an installed distribution brings."""
    return {name for name in packages_distributions() if name.isidentifier()}


def plant(folder: Path, names: set[str] | None = None) -> Path:
    """Leave a module of each name; the value is the file in which each of them writes its name when it runs.

    Without ``names`` all that a child could import: the standard library, every installed package, and what
    Python's start itself looks for.
    """
    ran = folder / "ran"
    every = sys.stdlib_module_names | package_names() | {"sitecustomize", "usercustomize"}
    for name in every if names is None else names:
        (folder / f"{name}.py").write_text(f"open({str(ran)!r}, 'a').write({name!r} + ' ')\n")
    return ran


def names_that_ran(ran: Path) -> str:
    """Which of them ran; empty for none."""
    return ran.read_text() if ran.exists() else ""
