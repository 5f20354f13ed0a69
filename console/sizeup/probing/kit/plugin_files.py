"""The files of a plug-in that is not installed: its entry points, and the folders that hold its packages."""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from sizeup.decoding import TomlError, toml_tables
from sizeup.errors import UsageError
from sizeup.probing.manifest_file import FILE_NAME, Place
from sizeup.probing.registry import GROUP
from sizeup.text import clean, one_line

WHEEL_LIMIT_BYTES = 256 << 20
_SKIPPED = frozenset({"build", "dist", "node_modules", "__pycache__"})
_PYPROJECT = "pyproject.toml"
_TABLE = f'[project.entry-points."{GROUP}"]'


class Problem(Struct, frozen=True):
    """What does not agree with the contract of a probe."""

    file: str
    """Below the folder of the plug-in; empty where the run of a probe has it."""
    line: int
    """From 1; 0 where no line has it."""
    key: str
    """The key of a manifest, or what of the code is meant."""
    expected: str
    found: str
    action: str = ""
    """What to do; empty where what is expected says it."""

    def __str__(self) -> str:
        where = self.file + (f":{self.line}" if self.line else "") + (": " if self.file else "")
        action = f"; {self.action}" if self.action else ""
        # A plug-in is of a stranger: its names must not control the terminal.
        return clean(f"{where}{self.key}: expected {self.expected}, found {self.found}{action}")


_HEADER = re.compile(r"\s*(\[\[?)\s*([\w.\" -]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"\s*\"?([\w-]+)\"?\s*[=.]")


def line_of(text: str, place: Place) -> int:
    """Return the line of a TOML text that has a place, or what is nearest above it; 0 if nothing of it is found.

    The first key of a table stands for the table if the key itself is missing.
    """
    best, depth = 0, 0
    counts: dict[tuple[str, ...], int] = {}
    current: Place = ()
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.match(line)
        if header is not None:
            current = _indexed(tuple(part.strip('" ') for part in header[2].split(".")), counts, each=header[1] == "[[")
            found = current
        else:
            key = _KEY.match(line)
            if key is None:
                continue
            found = (*current, key[1])
        if len(found) > depth and found == place[: len(found)]:
            best, depth = number, len(found)
    return best


def _indexed(names: tuple[str, ...], counts: dict[tuple[str, ...], int], *, each: bool) -> Place:
    """Return the place of a table, with the number of each list of tables in it."""
    if each:
        counts[names] = counts.get(names, -1) + 1
        for below in [known for known in counts if known[: len(names)] == names and known != names]:
            del counts[below]
    place: list[str | int] = []
    for length, name in enumerate(names, start=1):
        place.append(name)
        if names[:length] in counts:
            place.append(counts[names[:length]])
    return tuple(place)


class DeclaredPoint(Struct, frozen=True):
    """One entry point as a file declares it."""

    name: str
    target: str
    """``package.module:Class``."""
    file: str
    line: int

    @property
    def package(self) -> str:
        """The top-level package, which has the manifest."""
        return self.target.partition(":")[0].partition(".")[0]


class PluginFiles(Struct):
    """What was found in the folder of a plug-in."""

    root: Path
    distribution: str = ""
    """The name of the distribution; empty where none is declared."""
    points: list[DeclaredPoint] = field(default_factory=list)
    import_roots: dict[str, Path] = field(default_factory=dict)
    """By package: the folder that holds it."""
    problems: list[Problem] = field(default_factory=list)

    def name(self, path: Path) -> str:
        """Return a path as problems name it."""
        return os.path.relpath(path, self.root)


def find_plugin(root: Path) -> PluginFiles:
    """Return the entry points and packages below a folder with sources, or one that a wheel was unpacked into."""
    found = PluginFiles(root)
    project = root / _PYPROJECT
    installed = [] if project.is_file() else list(distributions(path=[str(root)]))
    for distribution in installed:
        _read_installed(found, distribution)
    if project.is_file():
        _read_project(found, project)
    elif not installed:
        action = "check the folder with the sources of the distribution, a wheel, or a folder that pip installed into"
        found.problems.append(
            Problem(".", 0, "distribution", f"{_PYPROJECT}, or what pip installs (*.dist-info)", "neither", action)
        )
        return found
    if not found.points and not found.problems:
        file = "entry_points.txt" if installed else _PYPROJECT
        action = f'declare it: {_TABLE}, then "acme.rate" = "acme_rate.probe:Rate"'
        found.problems.append(Problem(file, 0, "entry points", f"one of group {GROUP} for each probe", "none", action))
    for package in dict.fromkeys(point.package for point in found.points):
        folder = next(_holding(root, package), None)
        if folder is not None:
            found.import_roots[package] = folder
            continue
        point = next(point for point in found.points if point.package == package)
        found.problems.append(
            Problem(point.file, point.line, f"entry point {point.name}", f"a package {package}", "no such folder")
        )
    return found


def unpack_wheel(wheel: Path, into: Path) -> None:
    """Unpack a wheel; raise ``UsageError`` if it is none or implausibly large."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            size = sum(member.file_size for member in archive.infolist())
            if size > WHEEL_LIMIT_BYTES:
                limit = f"at most {WHEEL_LIMIT_BYTES >> 20} MiB of files"
                raise UsageError(f"{wheel}: expected {limit}, found {size >> 20} MiB; check a smaller wheel")
            archive.extractall(into)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        raise UsageError(f"{wheel}: expected a wheel: {one_line(str(error))}; build it with: pip wheel") from error


def _read_installed(found: PluginFiles, distribution: Distribution) -> None:
    file = "entry_points.txt"
    try:
        text, points = distribution.read_text(file) or "", distribution.entry_points.select(group=GROUP)
    except (TypeError, ValueError):
        expected = "lines in UTF-8 such as acme.rate = acme_rate.probe:Rate"
        found.problems.append(Problem(file, 0, "file", expected, "other text"))
        return
    if points:
        found.distribution = (distribution.metadata.get_all("Name") or [""])[0]
    for point in points:
        _add(found, DeclaredPoint(point.name, point.value, file, _line_of_point(text, point.name)))


def _read_project(found: PluginFiles, path: Path) -> None:
    try:
        text = path.read_text(encoding="utf-8")
        data = toml_tables(text)
    except (OSError, UnicodeDecodeError) as error:
        found.problems.append(Problem(_PYPROJECT, 0, "file", "a text in UTF-8", one_line(str(error))))
        return
    except TomlError as error:
        found.problems.append(Problem(_PYPROJECT, error.line, "file", "TOML", one_line(str(error))))
        return
    project = _table(data, "project")
    found.distribution = str(project.get("name", ""))
    for name, target in _table(project, "entry-points", GROUP).items():
        _add(found, DeclaredPoint(name, str(target), _PYPROJECT, _line_of_point(text, name)))
    for package in {point.package for point in found.points}:
        if not _packs_manifest(found.root, data, package):
            key = ("tool", "setuptools")
            action = f'add to [tool.setuptools]: package-data = {{ {package} = ["{FILE_NAME}"] }}'
            expected = f"{FILE_NAME} among the files of the package"
            problem = Problem(_PYPROJECT, line_of(text, key), "tool.setuptools.package-data", expected, "none", action)
            found.problems.append(problem)


def _line_of_point(text: str, name: str) -> int:
    """Return the line that begins with a name and an equals sign; 0 if there is none."""
    begins = re.compile(rf"\s*[\"']?{re.escape(name)}[\"']?\s*=")
    return next((number for number, line in enumerate(text.splitlines(), 1) if begins.match(line)), 0)


def _packs_manifest(root: Path, data: dict[str, Any], package: str) -> bool:
    """Whether a wheel will hold the manifest; assumed of other build systems, which take every file of a package."""
    build = _table(data, "build-system")
    if not str(build.get("build-backend", "setuptools")).startswith("setuptools"):
        return True
    listed = _table(data, "tool", "setuptools", "package-data")
    found = (listed.get(key) for key in (package, "*"))
    patterns = [pattern for each in found if isinstance(each, list) for pattern in each]
    if any(fnmatchcase(FILE_NAME, str(pattern)) for pattern in patterns):
        return True
    # setuptools may be told in other files than this one.
    others = any((root / name).exists() for name in ("MANIFEST.in", "setup.py", "setup.cfg"))
    return others or "scm" in str(build.get("requires", ""))


def _add(found: PluginFiles, point: DeclaredPoint) -> None:
    module, colon, attribute = point.target.partition(":")
    if colon and all(part.isidentifier() for part in (*module.split("."), attribute)):
        found.points.append(point)
        return
    key = f"entry point {point.name}"
    found.problems.append(Problem(point.file, point.line, key, "package.module:Class", repr(point.target)))


def _holding(root: Path, package: str) -> Iterator[Path]:
    """Yield the folders below a root, nearest first, that hold a package."""
    candidates = [root, root / "src", *sorted(path for path in root.iterdir() if path.is_dir())]
    for folder in dict.fromkeys(candidates):
        if folder.name in _SKIPPED or (folder.name.startswith(".") and folder != root):
            continue
        if (folder / package).is_dir():
            yield folder


def _table(data: dict[str, Any], *names: str) -> dict[str, Any]:
    for name in names:
        value = data.get(name)
        data = value if isinstance(value, dict) else {}
    return data
